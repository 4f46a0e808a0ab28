// Linear operators as numbers: the diagonal and the matrix.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "fem.h"

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
  CeedScalar *D; /* the assembled QFunction */
} Assembly;

/* An entry of the matrix of an element. */
typedef struct {
  CeedInt elem, out_comp, out_node, in_comp, in_node;
} Place;

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

static int SetSides(CeedOperator op, Side *in, Side *out) {
  CeedOperatorForm *form = &op->form[CeedOperatorLinearKind(op)];

  CeedCall(CeedOperatorFormCheckReady(op, form));
  CeedCall(SetSide(&form->qf->in, form->in, in));
  return SetSide(&form->qf->out, form->out, out);
}

/* a->D is the caller's to free, on failure as well. */
static int Assemble(const CeedRun *run, Assembly *a) {
  CeedSize length;

  a->D = NULL;
  a->num_qpts = run->op->num_qpts;
  a->num_points = CeedOperatorNumPoints(run->op);
  CeedCall(SetSides(run->op, &a->in, &a->out));
  CeedCall(CeedAssembledLength(run->op, &length));
  CeedCall(CeedAllocate(run->op->base.ceed, length, sizeof *a->D, &a->D));
  return CeedAssemblePoints(run, a->D);
}

static CeedScalar Evaluated(const Side *side, CeedInt field, CeedInt direction, CeedInt num_qpts,
                            CeedInt q, CeedInt node) {
  const CeedScalar *matrix = side->matrix[field];

  if (!matrix) return q == node;
  return matrix[((CeedSize)direction * num_qpts + q) * side->rstr->elem_size + node];
}

/* Sum over the points of (output field o in direction d) D (input field i in direction e). */
static CeedScalar PairEntry(const Assembly *a, const Place *p, CeedInt o, CeedInt d, CeedInt i,
                            CeedInt e) {
  CeedSize in_comp = a->in.active.first_comp[i] + (CeedSize)e * a->in.rstr->num_comp + p->in_comp;
  CeedSize out_comp =
      a->out.active.first_comp[o] + (CeedSize)d * a->out.rstr->num_comp + p->out_comp;
  const CeedScalar *D = a->D + (in_comp * a->out.active.num_comp + out_comp) * a->num_points +
                        (CeedSize)p->elem * a->num_qpts;
  CeedScalar sum = 0;

  for (CeedInt q = 0; q < a->num_qpts; q++) {
    sum += Evaluated(&a->out, o, d, a->num_qpts, q, p->out_node) * D[q] *
           Evaluated(&a->in, i, e, a->num_qpts, q, p->in_node);
  }
  return sum;
}

static CeedScalar Entry(const Assembly *a, const Place *p) {
  CeedScalar sum = 0;

  for (CeedInt o = 0; o < a->out.active.count; o++) {
    for (CeedInt i = 0; i < a->in.active.count; i++) {
      for (CeedInt d = 0; d < a->out.num_directions[o]; d++) {
        for (CeedInt e = 0; e < a->in.num_directions[i]; e++) sum += PairEntry(a, p, o, d, i, e);
      }
    }
  }
  return sum;
}

// ------------------------------------------------------------------------------------------------
// The diagonal, and the blocks on it
// ------------------------------------------------------------------------------------------------

/* How far apart components lie. */
static CeedInt CompStride(CeedElemRestriction rstr) {
  return rstr->offsets ? rstr->comp_stride : rstr->strides[1];
}

/* Where the block of a node begins: components lie one behind the other, or far apart. */
static CeedSize BlockStart(CeedElemRestriction rstr, CeedInt elem, CeedInt node) {
  CeedSize first = CeedElemRestrictionIndex(rstr, elem, 0, node);

  return first * rstr->num_comp * (CompStride(rstr) == 1 ? 1 : rstr->num_comp);
}

static void AddPair(const Assembly *a, bool is_block, Place p, CeedScalar *to) {
  CeedElemRestriction rstr = a->in.rstr;
  CeedInt nc = rstr->num_comp;

  for (CeedInt c = 0; c < nc; c++) {
    p.out_comp = p.in_comp = c;
    if (!is_block) to[CeedElemRestrictionIndex(rstr, p.elem, c, p.out_node)] += Entry(a, &p);
    for (p.in_comp = 0; is_block && p.in_comp < nc; p.in_comp++) {
      to[BlockStart(rstr, p.elem, p.out_node) + (CeedSize)c * nc + p.in_comp] += Entry(a, &p);
    }
  }
}

/* A node that an element has twice, around a period of one element, makes pairs with itself. */
static void AddDiagonal(const Assembly *a, bool is_block, CeedSize *first, CeedScalar *to) {
  CeedElemRestriction rstr = a->in.rstr;
  CeedInt n = rstr->elem_size;

  for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
    for (CeedInt k = 0; k < n; k++) first[k] = CeedElemRestrictionIndex(rstr, elem, 0, k);
    for (CeedInt out = 0; out < n; out++) {
      for (CeedInt in = 0; in < n; in++) {
        if (first[in] == first[out]) AddPair(a, is_block, (Place){elem, 0, out, 0, in}, to);
      }
    }
  }
}

/* How long the vector of the blocks is, where they fit. */
static int CheckBlocks(CeedElemRestriction rstr, CeedSize *length) {
  CeedSize all, block = (CeedSize)rstr->num_comp * rstr->num_comp;

  CeedCheck(!rstr->lanes, rstr->base.ceed, CEED_ERROR_UNSUPPORTED,
            "Strides of the backend have no block diagonal");
  CeedCall(CeedSizeOf(rstr->base.ceed, "The blocks", &all, rstr->l_size, block));
  *length = rstr->l_size * rstr->num_comp;
  for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
    for (CeedInt node = 0; node < rstr->elem_size; node++) {
      CeedCheck(BlockStart(rstr, elem, node) <= *length - block, rstr->base.ceed,
                CEED_ERROR_UNSUPPORTED, "The blocks of the nodes do not fit in the L-vector");
    }
  }
  return CEED_ERROR_SUCCESS;
}

/* The one restriction of all active fields, and how long the vector of the diagonal is. */
static int GetNodes(CeedOperator op, bool is_block, CeedElemRestriction *rstr, CeedSize *length) {
  Side in, out;

  CeedCall(CeedAssemblyCheck(op));
  CeedCall(SetSides(op, &in, &out));
  CeedCheck(in.rstr == out.rstr, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The diagonal needs one restriction for active input and output");
  *rstr = in.rstr;
  *length = in.rstr->l_size;
  return is_block ? CheckBlocks(in.rstr, length) : CEED_ERROR_SUCCESS;
}

/* All parts have a diagonal of the same length, and blocks of the same components; the restriction
   of the first stands for all. */
static int CheckDiagonal(CeedOperator op, bool is_block, CeedElemRestriction *first,
                         CeedSize *length) {
  CeedCall(CeedOperatorCheckReady(op));
  CeedCall(GetNodes(CeedOperatorPart(op, 0), is_block, first, length));
  for (CeedInt i = 1; i < CeedOperatorNumParts(op); i++) {
    CeedElemRestriction rstr;
    CeedCall(GetNodes(CeedOperatorPart(op, i), is_block, &rstr, length));
    CeedCheck(!is_block || (rstr->num_comp == (*first)->num_comp &&
                            (rstr->num_comp == 1 || CompStride(rstr) == CompStride(*first))),
              op->base.ceed, CEED_ERROR_UNSUPPORTED,
              "The parts order the components of their nodes differently");
  }
  return CEED_ERROR_SUCCESS;
}

/* Whether every part can be assembled into the vector; nothing is written before. */
static int TryAssembly(CeedOperator op, CeedVector assembled, bool add) {
  for (CeedInt i = 0; i < CeedOperatorNumParts(op); i++) {
    CeedRun run;
    CeedCall(CeedAssemblyBegin(CeedOperatorPart(op, i), assembled, add, &run));
    CeedCall(CeedRunEnd(&run, CEED_ERROR_SUCCESS));
  }
  return CEED_ERROR_SUCCESS;
}

static int AssembleDiagonal(CeedOperator op, bool is_block, CeedVector assembled) {
  CeedSize *first = NULL;
  CeedRun run;
  Assembly a;
  int code;

  CeedCall(CeedAssemblyBegin(op, assembled, true, &run));
  code = Assemble(&run, &a);
  if (!code) code = CeedAllocate(op->base.ceed, a.in.rstr->elem_size, sizeof *first, &first);
  if (!code) {
    AddDiagonal(&a, is_block, first, run.arguments.list[run.arguments.count - 1].to);
    run.has_written = true;
  }
  free(first);
  free(a.D);
  return CeedRunEnd(&run, code);
}

static int DiagonalOfParts(CeedOperator op, bool is_block, bool add, CeedVector assembled) {
  CeedInt num_parts = CeedOperatorNumParts(op);

  CeedCall(TryAssembly(op, assembled, add));
  if (!add) CeedCall(CeedVectorSetValue(assembled, 0));
  for (CeedInt i = 0; i < num_parts; i++) {
    CeedCall(AssembleDiagonal(CeedOperatorPart(op, i), is_block, assembled));
  }
  return CEED_ERROR_SUCCESS;
}

/* The function of the user may destroy the operator and the vector, but not before the end. */
static int Diagonal(CeedOperator op, bool is_block, bool add, CeedVector assembled) {
  CeedElemRestriction rstr;
  CeedSize length;
  int code;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedObjectCheck(assembled, CEED_KIND_VECTOR));
  CeedCall(CheckDiagonal(op, is_block, &rstr, &length));
  CeedCall(CeedVectorLengthCheck(assembled, length, "assembled"));
  CeedObjectRefer(op);
  CeedObjectRefer(assembled);
  code = DiagonalOfParts(op, is_block, add, assembled);
  (void)CeedVectorDestroy(&assembled);
  (void)CeedOperatorDestroy(&op);
  return code;
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

static void SetBlockPlaces(CeedOperator op, CeedInt *rows, CeedInt *cols) {
  CeedOperatorForm *form = &op->form[CeedOperatorLinearKind(op)];
  CeedActiveFields ins;
  CeedElemRestriction rstr;
  CeedInt nc;

  CeedActiveFieldsFind(&form->qf->in, form->in, &ins);
  rstr = form->in[ins.index[0]]->rstr;
  nc = rstr->num_comp;
  for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
    for (CeedInt node = 0; node < rstr->elem_size; node++) {
      CeedSize start = BlockStart(rstr, elem, node);
      for (CeedSize k = 0; k < (CeedSize)nc * nc; k++) {
        rows[start + k] = (CeedInt)CeedElemRestrictionIndex(rstr, elem, (CeedInt)(k / nc), node);
        cols[start + k] = (CeedInt)CeedElemRestrictionIndex(rstr, elem, (CeedInt)(k % nc), node);
      }
    }
  }
}

/* Entries that no node has are 0, and at the place (0, 0). */
int CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(CeedOperator op, CeedSize *num_entries,
                                                         CeedInt **rows, CeedInt **cols) {
  CeedInt *new_rows, *new_cols;
  CeedElemRestriction rstr;
  CeedSize count;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(num_entries, op->base.ceed);
  CeedCheckOutput(rows, op->base.ceed);
  CeedCheckOutput(cols, op->base.ceed);
  CeedCall(CheckDiagonal(op, true, &rstr, &count));
  CeedCall(CheckIndexable(rstr));
  CeedCall(AllocatePlaces(op->base.ceed, count, &new_rows, &new_cols));
  for (CeedInt i = 0; i < CeedOperatorNumParts(op); i++)
    SetBlockPlaces(CeedOperatorPart(op, i), new_rows, new_cols);
  *num_entries = count;
  *rows = new_rows;
  *cols = new_cols;
  return CEED_ERROR_SUCCESS;
}

/* How many entries the matrices of all elements of all parts have. */
static int CountEntries(CeedOperator op, CeedSize *count) {
  Side in, out;

  *count = 0;
  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedSize part;
    CeedCall(CountEntries(op->sub[i], &part));
    CeedCheck(!__builtin_add_overflow(*count, part, count), op->base.ceed, CEED_ERROR_DIMENSION,
              "The matrix has too many entries");
  }
  if (op->kind == OPERATOR_COMPOSITE) return CEED_ERROR_SUCCESS;
  CeedCall(CeedAssemblyCheck(op));
  CeedCall(SetSides(op, &in, &out));
  CeedCall(CheckIndexable(in.rstr));
  CeedCall(CheckIndexable(out.rstr));
  return CeedSizeOf(op->base.ceed, "The matrix", count, op->num_elem, in.rstr->elem_size,
                    in.rstr->num_comp, out.rstr->elem_size, out.rstr->num_comp);
}

/* The entries of one element, rows slowest, components slower than nodes. */
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
  CeedSize count;
  Side in, out;

  for (CeedInt i = 0; i < op->num_sub; i++, rows += count, cols += count) {
    CeedCall(CountEntries(op->sub[i], &count));
    CeedCall(FillPlaces(op->sub[i], rows, cols));
  }
  if (op->kind == OPERATOR_COMPOSITE) return CEED_ERROR_SUCCESS;
  CeedCall(CountEntries(op, &count));
  CeedCall(SetSides(op, &in, &out));
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

static int AssembleMatrix(CeedOperator op, CeedSize start, CeedSize count, CeedVector values) {
  CeedRun run;
  Assembly a;
  int code;

  CeedCall(CeedAssemblyBegin(op, values, true, &run));
  code = Assemble(&run, &a);
  if (!code) {
    CeedScalar *to = run.arguments.list[run.arguments.count - 1].to + start;
    for (CeedSize k = 0; k < count; k++) {
      Place p = PlaceOf(a.out.rstr, a.in.rstr, k);
      to[k] = Entry(&a, &p);
    }
    run.has_written = true;
  }
  free(a.D);
  return CeedRunEnd(&run, code);
}

static int MatrixOfParts(CeedOperator op, CeedVector values) {
  CeedInt num_parts = CeedOperatorNumParts(op);
  CeedSize start = 0, count;

  CeedCall(TryAssembly(op, values, false));
  CeedCall(CeedVectorSetValue(values, 0));
  for (CeedInt i = 0; i < num_parts; i++, start += count) {
    CeedCall(CountEntries(CeedOperatorPart(op, i), &count));
    CeedCall(AssembleMatrix(CeedOperatorPart(op, i), start, count, values));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssemble(CeedOperator op, CeedVector values) {
  CeedSize count;
  int code;

  CeedCall(CeedOperatorLinearAssembleGetNumEntries(op, &count));
  CeedCall(CeedObjectCheck(values, CEED_KIND_VECTOR));
  CeedCall(CeedVectorLengthCheck(values, count, "values"));
  CeedObjectRefer(op);
  CeedObjectRefer(values);
  code = MatrixOfParts(op, values);
  (void)CeedVectorDestroy(&values);
  (void)CeedOperatorDestroy(&op);
  return code;
}
