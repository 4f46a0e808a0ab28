// The fast backend: a group of elements at a time goes through restriction, basis, QFunction and
// their transposes, so that nothing but the vectors leaves the cache. In a group the elements are
// the fastest axis.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "contract.h"

enum { W = CEED_LANES };

/* One axis of a tensor product, or all nodes of another basis, with values B and derivatives G. */
typedef struct {
  CeedInt dim, num_axes; /* directions of the gradient; axes that are contracted */
  CeedInt m, n;          /* from n to m entries an axis */
  CeedInt P_1d, Q_1d;
  const CeedScalar *B, *G;
  CeedContract contract;
} Axes;

/* A field of a group: its entries in the vector, at the nodes, at the points. */
typedef struct {
  CeedElemRestriction rstr;
  CeedEvalMode eval_mode;
  CeedInt num_comp, size, P, Q;
  Axes axes;
  const CeedScalar *from;
  CeedScalar *to;
  CeedScalar *e, *q;
  CeedScalar *work[4];
} Field;

typedef struct {
  CeedInt first, width;
} Group;

typedef struct {
  CeedQFunction qf;
  CeedInt num_elem, num_qpts; /* points of an element */
  Field in[CEED_MAX_FIELDS], out[CEED_MAX_FIELDS];
} Plan;

// ------------------------------------------------------------------------------------------------
// Memory of a plan: one block, counted first and then handed out
// ------------------------------------------------------------------------------------------------

typedef struct {
  CeedScalar *next; /* NULL while counting */
  CeedSize used;
} Arena;

/* Sizes beyond this one are all the same: there is no such memory. */
static const CeedSize too_large = PTRDIFF_MAX / 64;

static CeedSize Product(CeedSize a, CeedSize b) {
  CeedSize product;

  return __builtin_mul_overflow(a, b, &product) || product > too_large ? too_large : product;
}

static CeedScalar *Take(Arena *arena, CeedSize count) {
  CeedScalar *memory = arena->next ? arena->next + arena->used : NULL;

  arena->used += (count + 31) / 32 * 32; /* at least 128 bytes: lanes are aligned */
  if (arena->used > too_large) arena->used = too_large;
  return memory;
}

/* From rows of `width` entries to rows of W, in place: the last entry fills the lanes that are over,
   so that they hold sound values; and back. */
static void Spread(CeedScalar *q, CeedSize rows, CeedInt width) {
  for (CeedSize row = rows - 1; row >= 0; row--) {
    for (CeedInt lane = W - 1; lane >= 0; lane--) {
      q[row * W + lane] = q[row * width + CeedIntMin(lane, width - 1)];
    }
  }
}

static void Squeeze(CeedScalar *q, CeedSize rows, CeedInt width) {
  for (CeedSize row = 0; row < rows; row++) {
    for (CeedInt lane = 0; lane < width; lane++) q[row * width + lane] = q[row * W + lane];
  }
}

static void Transpose(CeedInt rows, CeedInt columns, const CeedScalar *from, CeedScalar *to) {
  for (CeedInt i = 0; i < rows; i++) {
    for (CeedInt j = 0; j < columns; j++)
      to[(CeedSize)j * rows + i] = from[(CeedSize)i * columns + j];
  }
}

/* The matrices, transposed for outputs. */
static void PlanAxes(CeedBasis basis, bool transpose, Arena *arena, Axes *axes) {
  bool is_tensor = basis->is_tensor;
  CeedInt P = is_tensor ? basis->P_1d : basis->P, Q = is_tensor ? basis->Q_1d : basis->Q;
  CeedInt num_grad = is_tensor ? 1 : basis->dim;
  const CeedScalar *interp = is_tensor ? basis->interp_1d : basis->interp;
  const CeedScalar *grad = is_tensor ? basis->grad_1d : basis->grad;
  CeedSize size = Product(P, Q);
  CeedScalar *copy = transpose ? Take(arena, Product(1 + num_grad, size)) : NULL;

  *axes = (Axes){.dim = basis->dim, .num_axes = is_tensor ? basis->dim : 1, .P_1d = P, .Q_1d = Q};
  axes->m = transpose ? P : Q;
  axes->n = transpose ? Q : P;
  axes->B = copy ? copy : interp;
  axes->G = copy ? copy + size : grad;
  axes->contract = CeedContractGet(axes->m, axes->n);
  if (!copy) return;
  Transpose(Q, P, interp, copy);
  for (CeedInt d = 0; d < num_grad; d++) {
    Transpose(Q, P, grad + d * size, copy + (1 + d) * size);
  }
}

/* Room for one component at any stage of its evaluation. */
static CeedSize StageSize(const Axes *axes) {
  CeedSize size = W;

  for (CeedInt d = 0; d < axes->num_axes; d++) size *= CeedIntMax(axes->m, axes->n);
  return size;
}

static void PlanField(CeedQFunctionField qf_field, CeedOperatorField field, CeedInt Q,
                      bool is_output, Arena *arena, Field *f) {
  f->eval_mode = qf_field->eval_mode;
  f->size = qf_field->size;
  f->Q = Q;
  f->q = Take(arena, Product(f->size, (CeedSize)Q * W));
  if (f->eval_mode == CEED_EVAL_WEIGHT) return;
  f->rstr = field->rstr;
  f->num_comp = field->rstr->num_comp;
  f->P = field->rstr->elem_size;
  f->e = f->q;
  if (f->eval_mode == CEED_EVAL_NONE) return;
  f->e = Take(arena, Product(f->num_comp, (CeedSize)f->P * W));
  PlanAxes(field->basis, is_output, arena, &f->axes);
  for (int i = 0; i < 4; i++) f->work[i] = Take(arena, StageSize(&f->axes));
}

static void PlanFields(CeedOperator op, const CeedOperatorForm *form, Arena *arena, Plan *plan) {
  plan->qf = form->qf;
  plan->num_elem = op->num_elem;
  plan->num_qpts = op->num_qpts;
  for (CeedInt i = 0; i < form->qf->in.count; i++) {
    PlanField(form->qf->in.field[i], form->in[i], op->num_qpts, false, arena, &plan->in[i]);
    if (form->qf->in.field[i]->eval_mode == CEED_EVAL_WEIGHT && arena->next) {
      CeedBasisWeightsOne(form->in[i]->basis, plan->in[i].q);
      Spread(plan->in[i].q, op->num_qpts, 1);
    }
  }
  for (CeedInt i = 0; i < form->qf->out.count; i++) {
    PlanField(form->qf->out.field[i], form->out[i], op->num_qpts, true, arena, &plan->out[i]);
  }
}

// ------------------------------------------------------------------------------------------------
// Nodes to points, and back
// ------------------------------------------------------------------------------------------------

/* Axis d alone: those before it have points, those behind it nodes. */
static void Along(const Axes *axes, CeedInt d, const CeedScalar *A, bool add, const CeedScalar *x,
                  CeedScalar *y) {
  CeedSize before = 1, after = 1;

  for (CeedInt i = 0; i < d; i++) before *= axes->Q_1d;
  for (CeedInt i = d + 1; i < axes->num_axes; i++) after *= axes->P_1d;
  axes->contract(axes->m, axes->n, A, before, after, add, x, y);
}

/* The axes from `first` to `last` in turn, at most three of them; work holds what lies between. */
static void AlongAll(const Axes *axes, CeedInt first, CeedInt last, const CeedScalar *x,
                     CeedScalar *y, CeedScalar *const *work) {
  CeedInt step = first <= last ? 1 : -1;

  for (CeedInt d = first, k = 0; d != last; d += step, k++) {
    Along(axes, d, axes->B, false, x, work[k]);
    x = work[k];
  }
  Along(axes, last, axes->B, false, x, y);
}

/* Values v with the axes before d at the points already; each direction goes on from there. */
static void Gradient(const Field *f, CeedSize stride, const CeedScalar *x, CeedScalar *y) {
  const Axes *axes = &f->axes;
  CeedInt last = axes->num_axes - 1;

  for (CeedInt d = 0; d < last; d++, y += stride) {
    Along(axes, d, axes->G, false, x, f->work[2]);
    AlongAll(axes, d + 1, last, f->work[2], y, &f->work[3]);
    Along(axes, d, axes->B, false, x, f->work[d]);
    x = f->work[d];
  }
  for (CeedInt d = last; d < axes->dim; d++, y += stride) {
    Along(axes, last, axes->G + (CeedSize)(d - last) * axes->m * axes->n, false, x, y);
  }
}

/* The same from the end to the beginning. */
static void GradientTranspose(const Field *f, CeedSize stride, const CeedScalar *x, CeedScalar *y) {
  const Axes *axes = &f->axes;
  CeedInt last = axes->num_axes - 1;
  CeedScalar *to = last ? f->work[last - 1] : y;

  for (CeedInt d = last; d < axes->dim; d++) {
    Along(axes, last, axes->G + (CeedSize)(d - last) * axes->m * axes->n, d > last, x + d * stride,
          to);
  }
  for (CeedInt d = last - 1; d >= 0; d--) {
    CeedScalar *from = to;
    to = d ? f->work[d - 1] : y;
    AlongAll(axes, last, d + 1, x + d * stride, f->work[2], &f->work[3]);
    Along(axes, d, axes->B, false, from, to);
    Along(axes, d, axes->G, true, f->work[2], to);
  }
}

static void ToPoints(const Field *f, const CeedScalar *e) {
  CeedSize points = (CeedSize)f->Q * W, nodes = (CeedSize)f->P * W;

  for (CeedInt c = 0; c < f->num_comp; c++) {
    if (f->eval_mode == CEED_EVAL_GRAD) {
      Gradient(f, f->num_comp * points, e + c * nodes, f->q + c * points);
    } else {
      AlongAll(&f->axes, 0, f->axes.num_axes - 1, e + c * nodes, f->q + c * points, f->work);
    }
  }
}

static void FromPoints(const Field *f) {
  CeedSize points = (CeedSize)f->Q * W, nodes = (CeedSize)f->P * W;

  for (CeedInt c = 0; c < f->num_comp; c++) {
    if (f->eval_mode == CEED_EVAL_GRAD) {
      GradientTranspose(f, f->num_comp * points, f->q + c * points, f->e + c * nodes);
    } else {
      AlongAll(&f->axes, f->axes.num_axes - 1, 0, f->q + c * points, f->e + c * nodes, f->work);
    }
  }
}

// ------------------------------------------------------------------------------------------------
// Vectors to groups, and back
// ------------------------------------------------------------------------------------------------

/* Lanes without an element repeat the last one. */
static void Gather(const Field *f, Group group) {
  CeedElemRestriction rstr = f->rstr;
  CeedScalar *to = f->e;

  for (CeedInt c = 0; c < f->num_comp; c++) {
    for (CeedInt node = 0; node < f->P; node++) {
      for (CeedInt lane = 0; lane < W; lane++) {
        CeedInt elem = group.first + CeedIntMin(lane, group.width - 1);
        *to++ = f->from[CeedElemRestrictionIndex(rstr, elem, c, node)];
      }
    }
  }
}

static void ScatterAdd(const Field *f, Group group) {
  CeedElemRestriction rstr = f->rstr;

  for (CeedInt c = 0; c < f->num_comp; c++) {
    for (CeedInt node = 0; node < f->P; node++) {
      const CeedScalar *from = f->e + ((CeedSize)c * f->P + node) * W;
      for (CeedInt lane = 0; lane < group.width; lane++) {
        f->to[CeedElemRestrictionIndex(rstr, group.first + lane, c, node)] += from[lane];
      }
    }
  }
}

/* The same with offsets, a list of them a lane. */
static void GatherOffsets(const Field *f, Group group) {
  const CeedInt *offsets = f->rstr->offsets + (CeedSize)group.first * f->P;
  const CeedInt *lanes[W];

  for (CeedInt lane = 0; lane < W; lane++) {
    lanes[lane] = offsets + (CeedSize)CeedIntMin(lane, group.width - 1) * f->P;
  }
  for (CeedInt c = 0; c < f->num_comp; c++) {
    const CeedScalar *from = f->from + (CeedSize)c * f->rstr->comp_stride;
    CeedScalar *to = f->e + (CeedSize)c * f->P * W;
    for (CeedInt node = 0; node < f->P; node++, to += W) {
      for (int lane = 0; lane < W; lane++) to[lane] = from[lanes[lane][node]];
    }
  }
}

static void ScatterAddOffsets(const Field *f, Group group) {
  const CeedInt *offsets = f->rstr->offsets + (CeedSize)group.first * f->P;

  for (CeedInt c = 0; c < f->num_comp; c++) {
    CeedScalar *to = f->to + (CeedSize)c * f->rstr->comp_stride;
    const CeedScalar *from = f->e + (CeedSize)c * f->P * W;
    for (CeedInt node = 0; node < f->P; node++, from += W) {
      for (int lane = 0; lane < group.width; lane++) {
        to[offsets[(CeedSize)lane * f->P + node]] += from[lane];
      }
    }
  }
}

/* What the QFunction reads of a field; data in the layout of the backend are passed as they are. */
static const CeedScalar *Load(const Field *f, Group group) {
  const CeedScalar *e = f->e;

  if (f->eval_mode == CEED_EVAL_WEIGHT) return f->q;
  if (f->rstr->lanes == W && group.width == W) {
    e = f->from + (CeedSize)group.first * f->P * f->num_comp;
  } else {
    (f->rstr->offsets ? GatherOffsets : Gather)(f, group);
  }
  if (f->eval_mode == CEED_EVAL_NONE) return e;
  ToPoints(f, e);
  return f->q;
}

static void Store(const Field *f, Group group) {
  if (f->eval_mode != CEED_EVAL_NONE) FromPoints(f);
  (f->rstr->offsets ? ScatterAddOffsets : ScatterAdd)(f, group);
}

/* A QFunction is called for the points of elements alone, which lie close together in the last group
   while it has them. */
static int CallQFunction(const Plan *plan, const CeedQFunctionCalls *calls, Group group,
                         const CeedScalar *const *in, CeedScalar *const *out) {
  CeedInt num_in = plan->qf->in.count, num_out = plan->qf->out.count, Q = plan->num_qpts;

  if (group.width == W) return CeedQFunctionCall(calls, Q * W, in, out);
  for (CeedInt i = 0; i < num_in; i++) {
    Squeeze(plan->in[i].q, (CeedSize)plan->in[i].size * Q, group.width);
  }
  CeedCall(CeedQFunctionCall(calls, Q * group.width, in, out));
  for (CeedInt i = 0; i < num_out; i++) {
    Spread(plan->out[i].q, (CeedSize)plan->out[i].size * Q, group.width);
  }
  return CEED_ERROR_SUCCESS;
}

static int RunGroup(const Plan *plan, const CeedQFunctionCalls *calls, Group group) {
  const CeedScalar *in[CEED_MAX_FIELDS];
  CeedScalar *out[CEED_MAX_FIELDS];

  for (CeedInt i = 0; i < plan->qf->in.count; i++) in[i] = Load(&plan->in[i], group);
  for (CeedInt i = 0; i < plan->qf->out.count; i++) out[i] = plan->out[i].q;
  CeedCall(CallQFunction(plan, calls, group, in, out));
  for (CeedInt i = 0; i < plan->qf->out.count; i++) Store(&plan->out[i], group);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// A whole operator
// ------------------------------------------------------------------------------------------------

/* Groups have Q * W points, the last one fewer. */
bool CeedOptFits(CeedOperator op, const CeedOperatorForm *form) {
  CeedInt length = form->qf->vec_length, last = op->num_elem % W;

  if (form->qf->points_per_call == CEED_POINTS_ALL || op->num_qpts > INT32_MAX / W) return false;
  return op->num_qpts * W % length == 0 && op->num_qpts * last % length == 0;
}

int CeedOptSetUp(CeedOperator op, CeedOperatorForm *form) {
  Arena arena = {NULL, 0};
  Plan plan;

  if (!op->num_elem) return CEED_ERROR_SUCCESS;
  PlanFields(op, form, &arena, &plan);
  CeedCheck(arena.used < too_large, op->base.ceed, CEED_ERROR_DIMENSION,
            "The elements are too large");
  return CeedOperatorFormReserve(op, form, (size_t)arena.used * sizeof(CeedScalar));
}

int CeedOptApply(CeedRun *run) {
  Arena arena = {run->form->memory, 0};
  Plan plan;

  CeedRunZeroOutputs(run);
  if (!run->op->num_elem) return CEED_ERROR_SUCCESS;
  PlanFields(run->op, run->form, &arena, &plan);
  for (CeedInt i = 0; i < plan.qf->in.count; i++) plan.in[i].from = run->from[i];
  for (CeedInt i = 0; i < plan.qf->out.count; i++) plan.out[i].to = run->to[i];
  for (Group group = {0, 0}; group.first < plan.num_elem; group.first += group.width) {
    group.width = CeedIntMin(W, plan.num_elem - group.first);
    CeedCall(RunGroup(&plan, &run->calls, group));
  }
  return CEED_ERROR_SUCCESS;
}
