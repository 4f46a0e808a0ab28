// Linear operators as numbers: the QFunction at every point, the diagonal, the matrix.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// The QFunction at every point
// ------------------------------------------------------------------------------------------------

void CeedActiveFieldsFind(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields,
                          CeedActiveFields *active) {
  active->count = active->num_comp = 0;
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    if (fields[i]->vec != CEED_VECTOR_ACTIVE) continue;
    active->index[active->count] = i;
    active->first_comp[active->count++] = active->num_comp;
    active->num_comp += qf_fields->field[i]->size;
  }
}

CeedSize CeedAssembledLength(CeedOperator op) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedActiveFields ins, outs;

  CeedActiveFieldsFind(&form->qf->in, form->in, &ins);
  CeedActiveFieldsFind(&form->qf->out, form->out, &outs);
  return (CeedSize)ins.num_comp * outs.num_comp * CeedOperatorNumPoints(op);
}

/* What the QFunction gives with the input component set to 1, copied to `column`. */
static int Probe(CeedOperator op, CeedVector q_in, CeedInt comp, const CeedActiveFields *outs,
                 CeedVector assembled, CeedSize column) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedSize n = CeedOperatorNumPoints(op);
  CeedScalar *to;

  CeedCall(CeedVectorSetValueStrided(q_in, comp * n, (comp + 1) * n, 1, 1));
  CeedCall(CeedQFunctionRun(form->qf, (CeedInt)n, form->q_in, form->q_out));
  CeedCall(CeedVectorAcquireWrite(assembled, CEED_MEM_HOST, true, &to, "Assemble"));
  to += column * outs->num_comp * n;
  for (CeedInt o = 0; o < outs->count; o++) {
    CeedVector q_out = form->q_out[outs->index[o]];
    const CeedScalar *from = q_out->buffer->memory[CEED_MEM_HOST].data;
    if (n) memcpy(to + outs->first_comp[o] * n, from, q_out->buffer->bytes);
  }
  CeedCall(CeedVectorReleaseWrite(assembled));
  return CeedVectorSetValueStrided(q_in, comp * n, (comp + 1) * n, 1, 0);
}

static int ProbeAll(CeedOperator op, CeedVector assembled) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedQFunction qf = form->qf;
  CeedActiveFields ins, outs;

  CeedCall(CeedRefSetUp(op, form));
  CeedActiveFieldsFind(&qf->in, form->in, &ins);
  CeedActiveFieldsFind(&qf->out, form->out, &outs);
  for (CeedInt i = 0; i < qf->in.count; i++) {
    if (form->in[i]->vec == CEED_VECTOR_ACTIVE) {
      CeedCall(CeedVectorSetValue(form->q_in[i], 0));
    } else {
      CeedCall(CeedRefToPoints(op, form->in[i], qf->in.field[i]->eval_mode, form->in[i]->vec,
                               form->e_in[i], form->q_in[i]));
    }
  }
  CeedCall(CeedVectorSetValue(assembled, 0));
  for (CeedInt i = 0; i < ins.count; i++) {
    for (CeedInt comp = 0; comp < qf->in.field[ins.index[i]]->size; comp++) {
      CeedCall(
          Probe(op, form->q_in[ins.index[i]], comp, &outs, assembled, ins.first_comp[i] + comp));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int CeedAssemblePoints(CeedOperator op, CeedVector assembled) {
  int code = ProbeAll(op, assembled);

  CeedRefTearDown(&op->form[FORM_APPLY]);
  return code;
}

/* Ready, of a QFunction, with active fields on both sides. */
static int CheckLinear(CeedOperator op) {
  CeedSize in, out;

  CeedCall(CeedOperatorCheckReady(op));
  CeedCheck(op->kind == OPERATOR_OF_QFUNCTION, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "Only operators of QFunctions can be assembled");
  CeedCall(CeedOperatorLengths(op, &in, &out));
  CeedCheck(in >= 0 && out >= 0, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "An operator without active input and output can't be assembled");
  return CEED_ERROR_SUCCESS;
}

static int CreateAssembledRestriction(CeedOperator op, CeedElemRestriction *rstr) {
  CeedInt n = CeedOperatorNumPoints(op), strides[3] = {1, n, op->num_qpts};
  CeedSize length = CeedAssembledLength(op);
  CeedInt num_comp = n ? (CeedInt)(length / n) : 1;

  return CeedElemRestrictionCreateStrided(op->base.ceed, op->num_elem, op->num_qpts, num_comp,
                                          length, strides, rstr);
}

int CeedOperatorLinearAssembleQFunctionBuildOrUpdate(CeedOperator op, CeedVector *assembled,
                                                     CeedElemRestriction *rstr,
                                                     CeedRequest *request) {
  CeedElemRestriction new_rstr = NULL;
  CeedVector vec = NULL;
  int code;

  (void)request;
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(assembled, op->base.ceed);
  CeedCheckOutput(rstr, op->base.ceed);
  CeedCall(CheckLinear(op));
  if (*assembled) {
    CeedCall(CeedObjectCheck(*assembled, CEED_KIND_VECTOR));
    CeedCall(CeedVectorLengthCheck(*assembled, CeedAssembledLength(op), "assembled"));
    return CeedAssemblePoints(op, *assembled);
  }
  CeedCall(CeedVectorCreate(op->base.ceed, CeedAssembledLength(op), &vec));
  code = CeedAssemblePoints(op, vec);
  if (!code) code = CreateAssembledRestriction(op, &new_rstr);
  if (code) {
    CeedVectorDestroy(&vec);
    return code;
  }
  *assembled = vec;
  *rstr = new_rstr;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssembleQFunction(CeedOperator op, CeedVector *assembled,
                                        CeedElemRestriction *rstr, CeedRequest *request) {
  if (assembled) *assembled = NULL;
  return CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, assembled, rstr, request);
}

// ------------------------------------------------------------------------------------------------
// Entries of the matrix of an element
// ------------------------------------------------------------------------------------------------

/* One side of the matrix: the nodes of the elements, and how each active field evaluates them. */
typedef struct {
  CeedActiveFields active;
  CeedElemRestriction rstr;
  CeedInt num_directions[CEED_MAX_FIELDS];
  const CeedScalar *matrix[CEED_MAX_FIELDS]; /* [direction][point][node]; NULL: the identity */
} Side;

typedef struct {
  Side in, out;
  CeedInt num_qpts;
  CeedSize num_points;
  CeedVector points; /* the assembled QFunction */
  const CeedScalar *D;
} Assembly;

static int SetSide(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields,
                   Side *side) {
  CeedActiveFieldsFind(qf_fields, fields, &side->active);
  side->rstr = fields[side->active.index[0]]->rstr;
  for (CeedInt k = 0; k < side->active.count; k++) {
    CeedOperatorField field = fields[side->active.index[k]];
    CeedEvalMode mode = qf_fields->field[side->active.index[k]]->eval_mode;
    CeedCheck(field->rstr == side->rstr, field->rstr->base.ceed, CEED_ERROR_UNSUPPORTED,
              "The active field \"%s\" has another restriction than those before", field->name);
    side->num_directions[k] = mode == CEED_EVAL_GRAD ? field->basis->dim : 1;
    side->matrix[k] = NULL;
    if (mode == CEED_EVAL_INTERP) CeedCall(CeedBasisGetInterp(field->basis, &side->matrix[k]));
    if (mode == CEED_EVAL_GRAD) CeedCall(CeedBasisGetGrad(field->basis, &side->matrix[k]));
  }
  return CEED_ERROR_SUCCESS;
}

static int Begin(CeedOperator op, Assembly *a) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  int code;

  CeedCall(SetSide(&form->qf->in, form->in, &a->in));
  CeedCall(SetSide(&form->qf->out, form->out, &a->out));
  a->num_qpts = op->num_qpts;
  a->num_points = CeedOperatorNumPoints(op);
  a->points = NULL;
  CeedCall(CeedVectorCreate(op->base.ceed, CeedAssembledLength(op), &a->points));
  code = CeedAssemblePoints(op, a->points);
  if (!code) code = CeedVectorAcquireRead(a->points, CEED_MEM_HOST, &a->D, "Assemble");
  if (code) CeedVectorDestroy(&a->points);
  return code;
}

static void End(Assembly *a) {
  CeedVectorReleaseRead(a->points);
  CeedVectorDestroy(&a->points);
}

static CeedScalar Evaluated(const Side *side, CeedInt field, CeedInt direction, CeedInt num_qpts,
                            CeedInt q, CeedInt node) {
  const CeedScalar *matrix = side->matrix[field];

  if (!matrix) return q == node;
  return matrix[((CeedSize)direction * num_qpts + q) * side->rstr->elem_size + node];
}

/* Sum over the points of (output field evaluated) D (input field evaluated). */
static CeedScalar PairEntry(const Assembly *a, CeedInt elem, CeedInt o, CeedInt out_direction,
                            CeedInt out_comp, CeedInt out_node, CeedInt i, CeedInt in_direction,
                            CeedInt in_comp, CeedInt in_node) {
  CeedInt row = a->in.active.first_comp[i] + in_direction * a->in.rstr->num_comp + in_comp;
  CeedInt column = a->out.active.first_comp[o] + out_direction * a->out.rstr->num_comp + out_comp;
  const CeedScalar *D = a->D + ((CeedSize)row * a->out.active.num_comp + column) * a->num_points +
                        (CeedSize)elem * a->num_qpts;
  CeedScalar sum = 0;

  for (CeedInt q = 0; q < a->num_qpts; q++) {
    sum += Evaluated(&a->out, o, out_direction, a->num_qpts, q, out_node) * D[q] *
           Evaluated(&a->in, i, in_direction, a->num_qpts, q, in_node);
  }
  return sum;
}

static CeedScalar Entry(const Assembly *a, CeedInt elem, CeedInt out_comp, CeedInt out_node,
                        CeedInt in_comp, CeedInt in_node) {
  CeedScalar sum = 0;

  for (CeedInt o = 0; o < a->out.active.count; o++) {
    for (CeedInt i = 0; i < a->in.active.count; i++) {
      for (CeedInt d = 0; d < a->out.num_directions[o]; d++) {
        for (CeedInt e = 0; e < a->in.num_directions[i]; e++) {
          sum += PairEntry(a, elem, o, d, out_comp, out_node, i, e, in_comp, in_node);
        }
      }
    }
  }
  return sum;
}

// ------------------------------------------------------------------------------------------------
// The diagonal, and the blocks on it
// ------------------------------------------------------------------------------------------------

/* Where the block of a node begins: components lie one behind the other, or far apart. */
static CeedSize BlockStart(CeedElemRestriction rstr, CeedInt elem, CeedInt node) {
  CeedSize first = CeedElemRestrictionIndex(rstr, elem, 0, node);
  CeedInt comp_stride = rstr->offsets ? rstr->comp_stride : rstr->strides[1];

  return first * rstr->num_comp * (comp_stride == 1 ? 1 : rstr->num_comp);
}

static void AddDiagonal(const Assembly *a, bool is_block, CeedScalar *to) {
  CeedElemRestriction rstr = a->in.rstr;
  CeedInt nc = rstr->num_comp;

  for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
    for (CeedInt node = 0; node < rstr->elem_size; node++) {
      for (CeedInt c = 0; c < nc; c++) {
        if (!is_block) {
          to[CeedElemRestrictionIndex(rstr, elem, c, node)] += Entry(a, elem, c, node, c, node);
        }
        for (CeedInt d = 0; is_block && d < nc; d++) {
          to[BlockStart(rstr, elem, node) + c * nc + d] += Entry(a, elem, c, node, d, node);
        }
      }
    }
  }
}

static int CheckBlocks(CeedElemRestriction rstr) {
  CeedSize length = rstr->l_size * rstr->num_comp,
           block = (CeedSize)rstr->num_comp * rstr->num_comp;

  CeedCheck(!rstr->lanes, rstr->base.ceed, CEED_ERROR_UNSUPPORTED,
            "Strides of the backend have no block diagonal");
  for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
    for (CeedInt node = 0; node < rstr->elem_size; node++) {
      CeedCheck(BlockStart(rstr, elem, node) + block <= length, rstr->base.ceed,
                CEED_ERROR_UNSUPPORTED, "The blocks of the nodes do not fit in the L-vector");
    }
  }
  return CEED_ERROR_SUCCESS;
}

/* The one restriction of all active fields. */
static int GetNodes(CeedOperator op, bool is_block, CeedElemRestriction *rstr) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  Side in, out;

  CeedCall(CheckLinear(op));
  CeedCall(SetSide(&form->qf->in, form->in, &in));
  CeedCall(SetSide(&form->qf->out, form->out, &out));
  CeedCheck(in.rstr == out.rstr, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The diagonal needs one restriction for active input and output");
  *rstr = in.rstr;
  return is_block ? CheckBlocks(in.rstr) : CEED_ERROR_SUCCESS;
}

static int AssembleDiagonal(CeedOperator op, bool is_block, CeedVector assembled) {
  CeedElemRestriction rstr;
  CeedScalar *to;
  Assembly a;
  int code;

  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedCall(AssembleDiagonal(op->sub[i], is_block, assembled));
  }
  if (op->kind == OPERATOR_COMPOSITE) return CEED_ERROR_SUCCESS;
  CeedCall(GetNodes(op, is_block, &rstr));
  CeedCall(CeedVectorLengthCheck(assembled, rstr->l_size * (is_block ? rstr->num_comp : 1),
                                 "assembled"));
  CeedCall(Begin(op, &a));
  code = CeedVectorAcquireWrite(assembled, CEED_MEM_HOST, true, &to, "AssembleDiagonal");
  if (!code) {
    AddDiagonal(&a, is_block, to);
    code = CeedVectorReleaseWrite(assembled);
  }
  End(&a);
  return code;
}

static int Diagonal(CeedOperator op, bool is_block, bool add, CeedVector assembled) {
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedObjectCheck(assembled, CEED_KIND_VECTOR));
  CeedCall(CeedOperatorCheckReady(op));
  if (!add) CeedCall(CeedVectorSetValue(assembled, 0));
  return AssembleDiagonal(op, is_block, assembled);
}

int CeedOperatorLinearAssembleDiagonal(CeedOperator op, CeedVector assembled,
                                       CeedRequest *request) {
  (void)request;
  return Diagonal(op, false, false, assembled);
}

int CeedOperatorLinearAssembleAddDiagonal(CeedOperator op, CeedVector assembled,
                                          CeedRequest *request) {
  (void)request;
  return Diagonal(op, false, true, assembled);
}

int CeedOperatorLinearAssemblePointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                 CeedRequest *request) {
  (void)request;
  return Diagonal(op, true, false, assembled);
}

int CeedOperatorLinearAssembleAddPointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                    CeedRequest *request) {
  (void)request;
  return Diagonal(op, true, true, assembled);
}

// ------------------------------------------------------------------------------------------------
// Places of entries
// ------------------------------------------------------------------------------------------------

static int AllocatePlaces(Ceed ceed, CeedSize count, CeedInt **rows, CeedInt **cols) {
  int code;

  CeedCall(CeedAllocate(ceed, count, sizeof **rows, rows));
  code = CeedAllocate(ceed, count, sizeof **cols, cols);
  if (code) free(*rows);
  return code;
}

static int CheckIndexable(CeedElemRestriction rstr) {
  CeedCheck(rstr->l_size <= INT32_MAX, rstr->base.ceed, CEED_ERROR_DIMENSION,
            "Rows of an L-vector of %td entries are no CeedInts", rstr->l_size);
  return CEED_ERROR_SUCCESS;
}

/* The restriction of the first part stands for all; they have the same active vectors. */
int CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(CeedOperator op, CeedSize *num_entries,
                                                         CeedInt **rows, CeedInt **cols) {
  CeedInt nc, *new_rows, *new_cols;
  CeedElemRestriction rstr;
  CeedSize count;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(num_entries, op->base.ceed);
  CeedCheckOutput(rows, op->base.ceed);
  CeedCheckOutput(cols, op->base.ceed);
  CeedCall(CeedOperatorCheckReady(op));
  CeedCall(GetNodes(op->kind == OPERATOR_COMPOSITE ? op->sub[0] : op, true, &rstr));
  CeedCall(CheckIndexable(rstr));
  nc = rstr->num_comp;
  count = rstr->l_size * nc;
  CeedCall(AllocatePlaces(op->base.ceed, count, &new_rows, &new_cols));
  for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
    for (CeedInt node = 0; node < rstr->elem_size; node++) {
      CeedSize start = BlockStart(rstr, elem, node);
      for (CeedInt k = 0; k < nc * nc; k++) {
        new_rows[start + k] = (CeedInt)CeedElemRestrictionIndex(rstr, elem, k / nc, node);
        new_cols[start + k] = (CeedInt)CeedElemRestrictionIndex(rstr, elem, k % nc, node);
      }
    }
  }
  *num_entries = count;
  *rows = new_rows;
  *cols = new_cols;
  return CEED_ERROR_SUCCESS;
}

/* How many entries the matrices of all elements of all parts have. */
static int CountEntries(CeedOperator op, CeedSize *count) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  Side in, out;

  *count = 0;
  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedSize part;
    CeedCall(CountEntries(op->sub[i], &part));
    CeedCheck(!__builtin_add_overflow(*count, part, count), op->base.ceed, CEED_ERROR_DIMENSION,
              "The matrix has too many entries");
  }
  if (op->kind == OPERATOR_COMPOSITE) return CEED_ERROR_SUCCESS;
  CeedCall(CheckLinear(op));
  CeedCall(SetSide(&form->qf->in, form->in, &in));
  CeedCall(SetSide(&form->qf->out, form->out, &out));
  CeedCall(CheckIndexable(in.rstr));
  CeedCall(CheckIndexable(out.rstr));
  return CeedSizeOf(op->base.ceed, "The matrix", count, op->num_elem, in.rstr->elem_size,
                    in.rstr->num_comp, out.rstr->elem_size, out.rstr->num_comp);
}

/* The entries of one element, rows slowest, components slower than nodes. */
typedef struct {
  CeedInt elem, out_comp, out_node, in_comp, in_node;
} Place;

static Place PlaceOf(CeedElemRestriction out, CeedElemRestriction in, CeedSize k) {
  Place p;

  p.in_node = (CeedInt)(k % in->elem_size), k /= in->elem_size;
  p.in_comp = (CeedInt)(k % in->num_comp), k /= in->num_comp;
  p.out_node = (CeedInt)(k % out->elem_size), k /= out->elem_size;
  p.out_comp = (CeedInt)(k % out->num_comp);
  p.elem = (CeedInt)(k / out->num_comp);
  return p;
}

static int FillPlaces(CeedOperator op, CeedInt *rows, CeedInt *cols) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedSize count;
  Side in, out;

  for (CeedInt i = 0; i < op->num_sub; i++, rows += count, cols += count) {
    CeedCall(CountEntries(op->sub[i], &count));
    CeedCall(FillPlaces(op->sub[i], rows, cols));
  }
  if (op->kind == OPERATOR_COMPOSITE) return CEED_ERROR_SUCCESS;
  CeedCall(CountEntries(op, &count));
  CeedCall(SetSide(&form->qf->in, form->in, &in));
  CeedCall(SetSide(&form->qf->out, form->out, &out));
  for (CeedSize k = 0; k < count; k++) {
    Place p = PlaceOf(out.rstr, in.rstr, k);
    rows[k] = (CeedInt)CeedElemRestrictionIndex(out.rstr, p.elem, p.out_comp, p.out_node);
    cols[k] = (CeedInt)CeedElemRestrictionIndex(in.rstr, p.elem, p.in_comp, p.in_node);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssembleGetNumEntries(CeedOperator op, CeedSize *num_entries) {
  CeedSize count;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(num_entries, op->base.ceed);
  CeedCall(CeedOperatorCheckReady(op));
  CeedCall(CountEntries(op, &count));
  *num_entries = count;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssembleSymbolic(CeedOperator op, CeedSize *num_entries, CeedInt **rows,
                                       CeedInt **cols) {
  CeedInt *new_rows, *new_cols;
  CeedSize count;
  int code;

  CeedCall(CeedOperatorLinearAssembleGetNumEntries(op, &count));
  CeedCheckOutput(num_entries, op->base.ceed);
  CeedCheckOutput(rows, op->base.ceed);
  CeedCheckOutput(cols, op->base.ceed);
  CeedCall(AllocatePlaces(op->base.ceed, count, &new_rows, &new_cols));
  code = FillPlaces(op, new_rows, new_cols);
  if (code) {
    free(new_rows);
    free(new_cols);
    return code;
  }
  *num_entries = count;
  *rows = new_rows;
  *cols = new_cols;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// The matrix
// ------------------------------------------------------------------------------------------------

static int FillValues(CeedOperator op, CeedScalar *values) {
  CeedSize count;
  Assembly a;

  for (CeedInt i = 0; i < op->num_sub; i++, values += count) {
    CeedCall(CountEntries(op->sub[i], &count));
    CeedCall(FillValues(op->sub[i], values));
  }
  if (op->kind == OPERATOR_COMPOSITE) return CEED_ERROR_SUCCESS;
  CeedCall(CountEntries(op, &count));
  CeedCall(Begin(op, &a));
  for (CeedSize k = 0; k < count; k++) {
    Place p = PlaceOf(a.out.rstr, a.in.rstr, k);
    values[k] = Entry(&a, p.elem, p.out_comp, p.out_node, p.in_comp, p.in_node);
  }
  End(&a);
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssemble(CeedOperator op, CeedVector values) {
  CeedScalar *to;
  CeedSize count;
  int code;

  CeedCall(CeedOperatorLinearAssembleGetNumEntries(op, &count));
  CeedCall(CeedObjectCheck(values, CEED_KIND_VECTOR));
  CeedCall(CeedVectorLengthCheck(values, count, "values"));
  CeedCall(CeedVectorAcquireWrite(values, CEED_MEM_HOST, false, &to, "LinearAssemble"));
  code = FillValues(op, to);
  if (code) {
    CeedVectorCancelWrite(values);
    return code;
  }
  return CeedVectorReleaseWrite(values);
}
