// Private structs of restrictions, bases, QFunctions and operators, and what they have in common.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_FEM_H
#define CEEDLIKE_FEM_H

#include "../object.h"

// ------------------------------------------------------------------------------------------------
// Checks
// ------------------------------------------------------------------------------------------------

int CeedTransposeModeCheck(Ceed ceed, CeedTransposeMode t_mode);
/* A mode that this library has. */
int CeedEvalModeCheck(Ceed ceed, CeedEvalMode eval_mode);
int CeedVectorLengthCheck(CeedVector vec, CeedSize length, const char *what);

// ------------------------------------------------------------------------------------------------
// Restrictions
// ------------------------------------------------------------------------------------------------

/* Elements that the fast backend works on at once. */
enum { CEED_LANES = 8 };

struct CeedElemRestriction_private {
  CeedBase base;
  CeedInt num_elem, elem_size, num_comp, comp_stride;
  CeedSize l_size, e_size;
  const CeedInt *offsets; /* NULL: strided */
  CeedInt *own_offsets;
  CeedInt strides[3]; /* of node, component, element */
  CeedInt lanes;      /* 0, or CEED_STRIDES_BACKEND in groups of so many elements */
  int64_t readers;    /* offsets that are out */
};

/* In the backend's layout [group][component][node][lane] the last group may be narrower. */
static inline CeedSize CeedElemRestrictionBackendIndex(CeedElemRestriction rstr, CeedInt elem,
                                                       CeedInt comp, CeedInt node) {
  CeedInt first = elem - elem % rstr->lanes;
  CeedInt width = CeedIntMin(rstr->lanes, rstr->num_elem - first);
  CeedSize start = (CeedSize)first * rstr->elem_size * rstr->num_comp;

  return start + ((CeedSize)comp * rstr->elem_size + node) * width + (elem - first);
}

/* The entry of the L-vector that a component of a node of an element is. */
static inline CeedSize CeedElemRestrictionIndex(CeedElemRestriction rstr, CeedInt elem,
                                                CeedInt comp, CeedInt node) {
  const CeedInt *strides = rstr->strides;

  if (rstr->offsets) {
    CeedInt offset = rstr->offsets[(CeedSize)elem * rstr->elem_size + node];
    return offset + (CeedSize)comp * rstr->comp_stride;
  }
  if (rstr->lanes) return CeedElemRestrictionBackendIndex(rstr, elem, comp, node);
  return (CeedSize)node * strides[0] + (CeedSize)comp * strides[1] + (CeedSize)elem * strides[2];
}

// ------------------------------------------------------------------------------------------------
// Bases
// ------------------------------------------------------------------------------------------------

enum { CEED_MAX_DIM = 3 };

struct CeedBasis_private {
  CeedBase base;
  bool is_tensor;
  CeedElemTopology topo;
  CeedInt dim, num_comp, P, Q;
  CeedInt P_1d, Q_1d;              /* of a tensor product */
  CeedScalar *interp_1d, *grad_1d; /* [Q_1d][P_1d] of a tensor product */
  CeedScalar *interp, *grad;       /* [Q][P], [dim][Q][P]; of a tensor product when asked for */
  CeedScalar *q_ref, *q_weight;    /* of one direction of a tensor product */
};

/* Room that the evaluation of one component of one element needs. */
CeedSize CeedBasisWorkSize(CeedBasis basis);

/* Values of one component of one element, at the points or, transposed, at the nodes. */
void CeedBasisInterpOne(CeedBasis basis, bool transpose, bool add, const CeedScalar *x,
                        CeedScalar *y, CeedScalar *work);

/* The same of the gradient; its directions are `stride` entries apart. */
void CeedBasisGradOne(CeedBasis basis, bool transpose, bool add, CeedSize stride,
                      const CeedScalar *x, CeedScalar *y, CeedScalar *work);

/* Floating-point operations of one component of one element. */
CeedSize CeedBasisFlops(CeedBasis basis, CeedEvalMode eval_mode);

/* The weights of the points of one element. */
void CeedBasisWeightsOne(CeedBasis basis, CeedScalar *weights);

// ------------------------------------------------------------------------------------------------
// QFunctions
// ------------------------------------------------------------------------------------------------

enum { CEED_MAX_FIELDS = 16 };

struct CeedQFunctionContext_private {
  CeedBase base;
  size_t size;
  void *data;
  CeedMemoryKind kind; /* MEMORY_NONE: no data */
  CeedQFunctionContextDataDestroyUser destroy;
  int64_t readers; /* -1: a writer */
  CeedContextFieldLabel *labels;
  CeedInt num_labels;
};

/* Access without a handle check, until the release. */
int CeedQFunctionContextAcquire(CeedQFunctionContext ctx, bool writable, void **data);
void CeedQFunctionContextRelease(CeedQFunctionContext ctx);

/* The registered field of the name, or NULL. */
CeedContextFieldLabel CeedQFunctionContextFind(CeedQFunctionContext ctx, const char *name);

/* The address of the field that a label stands for, which has this type. */
int CeedQFunctionContextLocate(CeedQFunctionContext ctx, CeedContextFieldLabel label,
                               CeedContextFieldType type, void **address);
int CeedQFunctionContextSetField(CeedQFunctionContext ctx, CeedContextFieldLabel label,
                                 CeedContextFieldType type, const void *values);

/* A label with copies of its texts, or NULL without memory. */
CeedContextFieldLabel CeedLabelNew(const char *name, const char *description, size_t offset,
                                   size_t num_values, CeedContextFieldType type);
void CeedLabelFree(CeedContextFieldLabel label);

struct CeedQFunctionField_private {
  CeedBase base;
  CeedInt size;
  CeedEvalMode eval_mode;
  char name[];
};

typedef struct {
  CeedInt count;
  CeedQFunctionField field[CEED_MAX_FIELDS];
} CeedQFunctionFields;

struct CeedQFunction_private {
  CeedBase base;
  char *source; /* or the name in the gallery */
  CeedQFunctionUser f;
  CeedInt vec_length;
  CeedQFunctionFields in, out;
  CeedQFunctionContext ctx; /* or NULL */
  bool ctx_is_writable;
  CeedInt points_per_call;
  CeedSize flops; /* -1: not known */
  bool is_copy;   /* output = input, times the number in the context where there is one */
  bool is_open;   /* its fields can still be given anew */
  bool is_used;   /* by an operator: fields stay */
};

/* The context for calls, until the end of them; then calls for some points each. */
int CeedQFunctionBegin(CeedQFunction qf, void **ctx_data);
int CeedQFunctionCall(CeedQFunction qf, void *ctx_data, CeedInt Q, const CeedScalar *const *in,
                      CeedScalar *const *out);
void CeedQFunctionEnd(CeedQFunction qf);

typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode eval_mode;
} CeedGalleryField;

typedef struct {
  const char *name;
  CeedQFunctionUser f; /* NULL: a copy */
  CeedGalleryField in[2], out;
  CeedSize flops;
} CeedGalleryRow;

extern const CeedGalleryRow CeedGallery[]; /* ends with a NULL name */

// ------------------------------------------------------------------------------------------------
// Operators
// ------------------------------------------------------------------------------------------------

struct CeedOperatorField_private {
  CeedBase base;
  CeedOperatorField next;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vec;
  char name[];
};

/* One QFunction with its fields, and what the backends keep between applies: E- and Q-vectors of
   the reference one, memory of the fast one. */
typedef struct {
  CeedQFunction qf; /* or NULL */
  CeedOperatorField in[CEED_MAX_FIELDS], out[CEED_MAX_FIELDS];
  CeedVector e_in[CEED_MAX_FIELDS], q_in[CEED_MAX_FIELDS];
  CeedVector e_out[CEED_MAX_FIELDS], q_out[CEED_MAX_FIELDS];
  void *memory; /* of the fast backend */
  size_t bytes;
} CeedOperatorForm;

typedef enum { FORM_APPLY, FORM_JACOBIAN, FORM_TRANSPOSE, NUM_FORMS } CeedFormKind;

/* What happens to the outputs: all are set, all are added to, or only the active one is added to.
 */
typedef enum { APPLY_SET, APPLY_ADD, APPLY_ADD_ACTIVE } CeedApplyMode;

typedef enum { OPERATOR_OF_QFUNCTION, OPERATOR_COMPOSITE, OPERATOR_SHELL } CeedOperatorKind;

struct CeedOperator_private {
  CeedBase base;
  CeedOperatorKind kind;
  char *name;
  CeedOperatorForm form[NUM_FORMS];
  CeedOperatorField fields;   /* all that are set; forms have the same ones */
  CeedInt num_elem, num_qpts; /* -1: not known yet */
  CeedOperator *sub;          /* of a composite */
  CeedInt num_sub;
  bool is_sequential;
  CeedOperatorShellUser apply, apply_transpose; /* of a shell */
  void *shell_ctx;
  CeedSize shell_size[2];
  CeedContextFieldLabel *labels; /* of a composite */
  CeedInt num_labels;
};

int CeedOperatorFormCheckReady(CeedOperator op, const CeedOperatorForm *form);

/* The lengths of the active vectors, -1 for none. */
int CeedOperatorFormLengths(const CeedOperatorForm *form, CeedSize *input_size,
                            CeedSize *output_size);

/* The same of any operator, composites included. */
int CeedOperatorLengths(CeedOperator op, CeedSize *input_size, CeedSize *output_size);

/* Memory that stays until the operator ends or more is asked for. */
int CeedOperatorFormReserve(CeedOperator op, CeedOperatorForm *form, size_t bytes, void **memory);

CeedInt CeedOperatorNumPoints(CeedOperator op);

static inline CeedVector CeedOperatorFieldVector(CeedOperatorField field, CeedVector active) {
  return field->vec == CEED_VECTOR_ACTIVE ? active : field->vec;
}

/* The active vector of one side, where there is one, is a vector of this length. */
int CeedActiveVectorCheck(CeedOperator op, CeedVector vec, CeedSize length, const char *what);

/* The reference backend; the operator is ready and the vectors are checked. */
int CeedRefApply(CeedOperator op, CeedOperatorForm *form, CeedApplyMode mode, CeedVector in,
                 CeedVector out);

/* The fast backend; the same. */
int CeedOptApply(CeedOperator op, CeedOperatorForm *form, CeedApplyMode mode, CeedVector in,
                 CeedVector out);

/* Steps of the reference backend: make E- and Q-vectors; from a vector to the points and back,
 * where it adds. */
int CeedRefSetUp(CeedOperator op, CeedOperatorForm *form);
int CeedRefToPoints(CeedOperator op, CeedOperatorField field, CeedEvalMode eval_mode, CeedVector l,
                    CeedVector e, CeedVector q);
int CeedRefFromPoints(CeedOperator op, CeedOperatorField field, CeedEvalMode eval_mode,
                      CeedVector q, CeedVector e, CeedVector l);

/* The active fields of one side of a linear operator. */
typedef struct {
  CeedInt count, num_comp;        /* num_comp: of all fields together */
  CeedInt index[CEED_MAX_FIELDS]; /* in the QFunction */
  CeedInt first_comp[CEED_MAX_FIELDS];
} CeedActiveFields;

void CeedActiveFieldsFind(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields,
                          CeedActiveFields *active);

/* The derivatives [in][out][element][point] of the QFunction. */
int CeedAssemblePoints(CeedOperator op, CeedVector assembled);
CeedSize CeedAssembledLength(CeedOperator op);

#endif
