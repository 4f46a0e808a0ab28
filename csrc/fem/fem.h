// Private structs of restrictions, bases, QFunctions and operators, and what they have in common.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_FEM_H
#define CEEDLIKE_FEM_H

#include <pthread.h>

#include "../object.h"

CEED_CODES_BEGIN

// ------------------------------------------------------------------------------------------------
// Checks
// ------------------------------------------------------------------------------------------------

int CeedTransposeModeCheck(Ceed ceed, CeedTransposeMode t_mode);
/* A mode that this library has. */
int CeedEvalModeCheck(Ceed ceed, CeedEvalMode eval_mode);
int CeedVectorLengthCheck(CeedVector vec, CeedSize length, const char *what);

/* Copy all entries to an array. */
int CeedVectorCopyTo(CeedVector vec, CeedScalar *to, const char *what);

// ------------------------------------------------------------------------------------------------
// Arguments: the vectors that a call reads and writes
// ------------------------------------------------------------------------------------------------

enum { CEED_MAX_FIELDS = 16, CEED_MAX_ARGUMENTS = 2 * CEED_MAX_FIELDS + 1 };

typedef struct {
  CeedVector vec;
  const char *name; /* for texts */
  bool is_written, keeps_values;
  const CeedScalar *from; /* of one that is read */
  CeedScalar *to;         /* of one that is written */
} CeedArgument;

typedef struct {
  const char *what; /* who asks, for texts */
  CeedInt count;
  CeedArgument list[CEED_MAX_ARGUMENTS];
} CeedArguments;

static inline CeedArgument *CeedArgumentsAdd(CeedArguments *arguments, CeedVector vec,
                                             const char *name) {
  CeedArgument *argument = &arguments->list[arguments->count++];

  *argument = (CeedArgument){.vec = vec, .name = name};
  return argument;
}

static inline void CeedArgumentsAddRead(CeedArguments *arguments, CeedVector vec,
                                        const char *name) {
  (void)CeedArgumentsAdd(arguments, vec, name);
}

static inline void CeedArgumentsAddWrite(CeedArguments *arguments, CeedVector vec, const char *name,
                                         bool keeps_values) {
  CeedArgument *argument = CeedArgumentsAdd(arguments, vec, name);

  argument->is_written = true;
  argument->keeps_values = keeps_values;
}

/* Acquire all in host memory, or fail and leave all as they were. A vector that is written, and its
   memory, must be that of no other argument. */
int CeedArgumentsAcquire(Ceed ceed, CeedArguments *arguments);

/* Give all back, after writing or before. */
int CeedArgumentsRelease(CeedArguments *arguments);
void CeedArgumentsCancel(CeedArguments *arguments);

// ------------------------------------------------------------------------------------------------
// Restrictions
// ------------------------------------------------------------------------------------------------

/* Elements that the fast backend works on at once. */
enum { CEED_LANES = 8 };

/* For CeedClass. */
const char *CeedElemRestrictionOut(void *object);

struct CeedElemRestriction_private {
  CeedBase base;
  CeedInt num_elem, elem_size, num_comp, comp_stride;
  CeedSize l_size, e_size;
  const CeedInt *offsets; /* NULL: strided */
  CeedInt *own_offsets;
  CeedInt strides[3]; /* of node, component, element */
  CeedInt lanes;      /* 0, or CEED_STRIDES_BACKEND in groups of so many elements */
  int64_t readers;    /* offsets that are out; changed in one step */
};

/* In the backend's layout [group][component][node][lane] the last group may be narrower. */
static inline CeedSize CeedElemRestrictionBackendIndex(CeedElemRestriction rstr, CeedInt elem,
                                                       CeedInt comp, CeedInt node) {
  CeedInt first = elem - elem % rstr->lanes;
  CeedInt width = CeedIntMin(rstr->lanes, rstr->num_elem - first);
  CeedSize start = (CeedSize)first * rstr->elem_size * rstr->num_comp;

  return start + ((CeedSize)comp * rstr->elem_size + node) * width + (elem - first);
}

/* Add an E-vector to an L-vector; NULL stands for ones. */
void CeedElemRestrictionScatterAdd(CeedElemRestriction rstr, const CeedScalar *e, CeedScalar *l);

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

typedef struct {
  CeedContextFieldLabel *label;
  CeedInt count;
} CeedLabels;

/* Add a label with copies of the texts of another. */
int CeedLabelsAdd(Ceed ceed, CeedLabels *labels, const struct CeedContextFieldLabel_private *like,
                  CeedContextFieldLabel *label);
void CeedLabelsFree(CeedLabels *labels);
size_t CeedLabelBytes(CeedContextFieldLabel label);

typedef struct {
  size_t size;
  void *address;
  CeedMemoryKind kind; /* MEMORY_NONE: no data */
  CeedQFunctionContextDataDestroyUser destroy;
} CeedContextData;

struct CeedQFunctionContext_private {
  CeedBase base;
  CeedContextData data;
  int64_t readers; /* -1: a writer; changed in one step */
  CeedLabels labels;
};

/* For CeedClass. */
const char *CeedQFunctionContextOut(void *object);

/* Access without a handle check, until the release; `what` is who asks, for the text. */
int CeedQFunctionContextAcquire(CeedQFunctionContext ctx, bool writable, const char *what,
                                void **data);
void CeedQFunctionContextRelease(CeedQFunctionContext ctx);

/* The registered field of the name, or NULL. */
CeedContextFieldLabel CeedQFunctionContextFind(CeedQFunctionContext ctx, const char *name);

/* The address of the field that a label stands for, which has this type, in data that are
   acquired. */
int CeedQFunctionContextLocate(CeedQFunctionContext ctx, CeedContextFieldLabel label,
                               CeedContextFieldType type, void **address);

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

/* For CeedClass. */
const char *CeedQFunctionOut(void *object);

struct CeedQFunction_private {
  CeedBase base;
  char *source; /* or the name in the gallery */
  CeedQFunctionUser f;
  CeedQFunctionShellUser shell; /* or NULL */
  CeedInt vec_length;
  CeedQFunctionFields in, out;
  CeedQFunctionContext ctx; /* or NULL */
  bool ctx_is_writable;
  CeedInt points_per_call;
  CeedSize flops; /* -1: not known */
  bool is_copy;   /* output = input */
  bool is_scaled; /* times the number in the context */
  bool is_open;   /* its fields can still be given anew */
  bool is_used;   /* by an operator: fields stay */
};

/* What calls of a QFunction have from their beginning to their end. The references are counted: the
   function may destroy the QFunction, or give it another context. */
typedef struct {
  CeedQFunction qf;
  CeedQFunctionContext ctx; /* or NULL */
  void *ctx_data;
} CeedQFunctionCalls;

/* Calls for `num_points` points together, of some points each. */
int CeedQFunctionBegin(CeedQFunction qf, CeedSize num_points, CeedQFunctionCalls *calls);
int CeedQFunctionCall(const CeedQFunctionCalls *calls, CeedInt Q, const CeedScalar *const *in,
                      CeedScalar *const *out);
void CeedQFunctionEnd(CeedQFunctionCalls *calls);

/* Once for all points of vectors of an operator's own, whose memory a shell may replace. */
int CeedQFunctionRun(const CeedQFunctionCalls *calls, CeedInt Q, CeedVector *u, CeedVector *v);

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
  bool is_running; /* changed in one step */
} CeedOperatorForm;

typedef enum { FORM_APPLY, FORM_JACOBIAN, FORM_TRANSPOSE, NUM_FORMS } CeedFormKind;

/* All outputs are set, all are added to, or only the active one is added to. */
typedef enum { APPLY_SET, APPLY_ADD, APPLY_ADD_ACTIVE } CeedApplyMode;

typedef enum { OPERATOR_OF_QFUNCTION, OPERATOR_COMPOSITE, OPERATOR_SHELL } CeedOperatorKind;

/* Values of a context that are out for reading, with a counted reference. */
typedef struct {
  CeedQFunctionContext ctx;
  CeedContextFieldLabel label; /* of the operator */
  const void *values;
} CeedContextLoan;

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
  CeedLabels labels; /* copies, which stay when a QFunction gets another context */
  CeedContextLoan *loans;
  CeedInt num_loans;
  pthread_mutex_t lock; /* of calls from programs of XLA, which come from several threads */
};

int CeedOperatorFormCheckReady(CeedOperator op, const CeedOperatorForm *form);

/* What stands for the operator where it has to be linear: its Jacobian, where there is one. */
CeedFormKind CeedOperatorLinearKind(CeedOperator op);

/* The lengths of the active vectors, -1 for none. */
void CeedOperatorFormLengths(const CeedOperatorForm *form, CeedSize *input_size,
                             CeedSize *output_size);

/* The same of any operator, composites included. */
int CeedOperatorLengths(CeedOperator op, CeedSize *input_size, CeedSize *output_size);

/* The parts of an operator: itself, or those of a composite. */
static inline CeedInt CeedOperatorNumParts(CeedOperator op) {
  return op->kind == OPERATOR_COMPOSITE ? op->num_sub : 1;
}

static inline CeedOperator CeedOperatorPart(CeedOperator op, CeedInt i) {
  return op->kind == OPERATOR_COMPOSITE ? op->sub[i] : op;
}

/* What most functions begin with: an operator of this kind. */
int CeedOperatorCheckKind(CeedOperator op, CeedOperatorKind kind, const char *what);

/* Memory that stays until the operator ends or more is asked for. */
int CeedOperatorFormReserve(CeedOperator op, CeedOperatorForm *form, size_t bytes);

CeedInt CeedOperatorNumPoints(CeedOperator op);

static inline CeedVector CeedOperatorFieldVector(CeedOperatorField field, CeedVector active) {
  return field->vec == CEED_VECTOR_ACTIVE ? active : field->vec;
}

/* The active vector of one side, where there is one, is a vector of this length. */
int CeedActiveVectorCheck(CeedOperator op, CeedVector vec, CeedSize length, const char *what);

/* A run of a form of a ready operator. Whatever can be refused is so before it has written. */
typedef struct {
  CeedOperator op;
  CeedOperatorForm *form;
  CeedQFunctionCalls calls;
  CeedArguments arguments;
  bool has_written;
  CeedVector in;                           /* the active one */
  const CeedScalar *from[CEED_MAX_FIELDS]; /* L-vectors of inputs; NULL: quadrature weights */
  CeedScalar *to[CEED_MAX_FIELDS];         /* L-vectors of outputs */
} CeedRun;

int CeedRunBegin(CeedOperator op, CeedFormKind kind, const char *what, CeedRun *run);

/* The vectors of the inputs become arguments; those of active ones where `active` is not NULL. */
void CeedRunAddInputs(CeedRun *run, CeedVector active);

/* Set to 0 what is not added to. From here on outputs are written. */
void CeedRunZeroOutputs(CeedRun *run);

/* Give everything back; the result is `code`, or an error in doing so. */
int CeedRunEnd(CeedRun *run, int code);

/* A vector between two steps. It has its memory before anything is written, unless it is given some. */
int CeedRunVectorMake(CeedOperator op, CeedSize length, bool has_memory, CeedVector *vec);

/* The values of all fields at all points; a shell gives those of outputs, and lets go of them at the
   end. */
int CeedPointsSetUp(CeedOperator op, CeedOperatorForm *form);
void CeedPointsTearDown(CeedOperatorForm *form);

/* A backend: memory that its apply needs; outputs = or += what the inputs give. */
int CeedRefSetUp(CeedOperator op, CeedOperatorForm *form);
int CeedRefApply(CeedRun *run);
int CeedOptSetUp(CeedOperator op, CeedOperatorForm *form);
int CeedOptApply(CeedRun *run);

/* Steps of the reference backend: from a vector to the points and back, where it adds. */
int CeedRefToPoints(CeedOperator op, CeedOperatorField field, CeedEvalMode eval_mode, CeedVector l,
                    CeedVector e, CeedVector q);
int CeedRefFromPoints(CeedOperator op, CeedOperatorField field, CeedEvalMode eval_mode,
                      CeedVector q, CeedVector e, CeedScalar *l);

/* The active fields of one side of a linear operator. */
typedef struct {
  CeedInt count;
  CeedInt index[CEED_MAX_FIELDS]; /* in the QFunction */
  CeedSize num_comp;              /* of all fields together */
  CeedSize first_comp[CEED_MAX_FIELDS];
} CeedActiveFields;

void CeedActiveFieldsFind(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields,
                          CeedActiveFields *active);

/* The derivatives [in][out][element][point] of the QFunction, and how many they are. */
int CeedAssemblePoints(const CeedRun *run, CeedScalar *D);
int CeedAssembledLength(CeedOperator op, CeedSize *length);

/* Ready, of a QFunction, with active fields on both sides. */
int CeedAssemblyCheck(CeedOperator op);

/* A run with all that an assembly reads, and the vector that it is written to where that is not
   NULL: it may be none of the operator's own data. */
int CeedAssemblyBegin(CeedOperator op, CeedVector assembled, bool add, CeedRun *run);

CEED_CODES_END

#endif
