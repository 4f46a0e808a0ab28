// A field of a group of elements: from its vector to the points, and back.
// SPDX-License-Identifier: BSD-2-Clause
#include "group.h"

enum { W = CEED_LANES };

// ------------------------------------------------------------------------------------------------
// What it needs
// ------------------------------------------------------------------------------------------------

static CeedSize Product(CeedSize a, CeedSize b) {
  CeedSize product;

  return __builtin_mul_overflow(a, b, &product) || product > CeedArenaLimit ? CeedArenaLimit
                                                                            : product;
}

static CeedScalar *Take(CeedArena *arena, CeedSize count) {
  CeedScalar *memory = arena->next ? arena->next + arena->used : NULL;

  arena->used += (count + 31) / 32 * 32; /* at least 128 bytes: lanes are aligned */
  if (arena->used > CeedArenaLimit) arena->used = CeedArenaLimit;
  return memory;
}

void CeedLanesSpread(CeedScalar *q, CeedSize rows, CeedInt width) {
  for (CeedSize row = rows - 1; row >= 0; row--) {
    for (CeedInt lane = W - 1; lane >= 0; lane--) {
      q[row * W + lane] = q[row * width + CeedIntMin(lane, width - 1)];
    }
  }
}

void CeedLanesSqueeze(CeedScalar *q, CeedSize rows, CeedInt width) {
  for (CeedSize row = 0; row < rows; row++) {
    for (CeedInt lane = 0; lane < width; lane++) q[row * width + lane] = q[row * W + lane];
  }
}

void CeedLanesToElements(CeedInt rows, CeedInt Q, CeedInt width, const CeedScalar *q,
                         CeedSize stride, CeedScalar *all) {
  for (CeedInt row = 0; row < rows; row++, q += (CeedSize)Q * W, all += stride) {
    for (CeedInt lane = 0; lane < width; lane++) {
      for (CeedInt p = 0; p < Q; p++) all[(CeedSize)lane * Q + p] = q[(CeedSize)p * W + lane];
    }
  }
}

void CeedLanesFromElements(CeedInt rows, CeedInt Q, CeedInt width, const CeedScalar *all,
                           CeedSize stride, CeedScalar *q) {
  for (CeedInt row = 0; row < rows; row++, q += (CeedSize)Q * W, all += stride) {
    for (CeedInt lane = 0; lane < W; lane++) {
      const CeedScalar *from = all + (CeedSize)CeedIntMin(lane, width - 1) * Q;
      for (CeedInt p = 0; p < Q; p++) q[(CeedSize)p * W + lane] = from[p];
    }
  }
}

static void Transpose(CeedInt rows, CeedInt columns, const CeedScalar *from, CeedScalar *to) {
  for (CeedInt i = 0; i < rows; i++) {
    for (CeedInt j = 0; j < columns; j++)
      to[(CeedSize)j * rows + i] = from[(CeedSize)i * columns + j];
  }
}

/* The matrices, transposed for outputs. */
static void PlanAxes(CeedBasis basis, bool transpose, CeedArena *arena, CeedAxes *axes) {
  bool is_tensor = basis->is_tensor;
  CeedInt P = is_tensor ? basis->P_1d : basis->P, Q = is_tensor ? basis->Q_1d : basis->Q;
  CeedInt num_grad = is_tensor ? 1 : basis->dim;
  const CeedScalar *interp = is_tensor ? basis->interp_1d : basis->interp;
  const CeedScalar *grad = is_tensor ? basis->grad_1d : basis->grad;
  CeedSize size = Product(P, Q);
  CeedScalar *copy = transpose ? Take(arena, Product(1 + num_grad, size)) : NULL;

  *axes =
      (CeedAxes){.dim = basis->dim, .num_axes = is_tensor ? basis->dim : 1, .P_1d = P, .Q_1d = Q};
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
static CeedSize StageSize(const CeedAxes *axes) {
  CeedSize size = W;

  for (CeedInt d = 0; d < axes->num_axes; d++) size *= CeedIntMax(axes->m, axes->n);
  return size;
}

void CeedGroupFieldPlan(CeedQFunctionField qf_field, CeedOperatorField field, CeedInt Q,
                        bool is_output, CeedArena *arena, CeedGroupField *f) {
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

// ------------------------------------------------------------------------------------------------
// Nodes to points, and back
// ------------------------------------------------------------------------------------------------

/* Axis d alone: those before it have points, those behind it nodes. */
static void Along(const CeedAxes *axes, CeedInt d, const CeedScalar *A, bool add,
                  const CeedScalar *x, CeedScalar *y) {
  CeedSize before = 1, after = 1;

  for (CeedInt i = 0; i < d; i++) before *= axes->Q_1d;
  for (CeedInt i = d + 1; i < axes->num_axes; i++) after *= axes->P_1d;
  axes->contract(axes->m, axes->n, A, before, after, add, x, y);
}

/* The axes from `first` to `last` in turn, at most three of them; work holds what lies between. */
static void AlongAll(const CeedAxes *axes, CeedInt first, CeedInt last, const CeedScalar *x,
                     CeedScalar *y, CeedScalar *const *work) {
  CeedInt step = first <= last ? 1 : -1;

  for (CeedInt d = first, k = 0; d != last; d += step, k++) {
    Along(axes, d, axes->B, false, x, work[k]);
    x = work[k];
  }
  Along(axes, last, axes->B, false, x, y);
}

/* Values v with the axes before d at the points already; each direction goes on from there. */
static void Gradient(const CeedGroupField *f, CeedSize stride, const CeedScalar *x, CeedScalar *y) {
  const CeedAxes *axes = &f->axes;
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
static void GradientTranspose(const CeedGroupField *f, CeedSize stride, const CeedScalar *x,
                              CeedScalar *y) {
  const CeedAxes *axes = &f->axes;
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

static void ToPoints(const CeedGroupField *f, const CeedScalar *e) {
  CeedSize points = (CeedSize)f->Q * W, nodes = (CeedSize)f->P * W;

  for (CeedInt c = 0; c < f->num_comp; c++) {
    if (f->eval_mode == CEED_EVAL_GRAD) {
      Gradient(f, f->num_comp * points, e + c * nodes, f->q + c * points);
    } else {
      AlongAll(&f->axes, 0, f->axes.num_axes - 1, e + c * nodes, f->q + c * points, f->work);
    }
  }
}

static void FromPoints(const CeedGroupField *f) {
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
static void Gather(const CeedGroupField *f, CeedGroup group) {
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

static void ScatterAdd(const CeedGroupField *f, CeedGroup group) {
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
static void GatherOffsets(const CeedGroupField *f, CeedGroup group) {
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

static void ScatterAddOffsets(const CeedGroupField *f, CeedGroup group) {
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
const CeedScalar *CeedGroupLoad(const CeedGroupField *f, CeedGroup group) {
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

void CeedGroupStore(const CeedGroupField *f, CeedGroup group) {
  if (f->eval_mode != CEED_EVAL_NONE) FromPoints(f);
  (f->rstr->offsets ? ScatterAddOffsets : ScatterAdd)(f, group);
}
