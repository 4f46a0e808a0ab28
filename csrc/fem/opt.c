// The fast backend: a group of elements at a time goes through restriction, basis, QFunction and
// their transposes, so that nothing but the vectors leaves the cache; or, for a QFunction that is
// called once, through the steps before it, and then through those behind it.
// SPDX-License-Identifier: BSD-2-Clause
#include "group.h"

enum { W = CEED_LANES };

static const char apply[] = "OperatorApply";

typedef struct {
  CeedQFunction qf;
  CeedInt num_elem, num_qpts; /* points of an element */
  CeedGroupField in[CEED_MAX_FIELDS], out[CEED_MAX_FIELDS];
} Plan;

static void PlanFields(CeedOperator op, const CeedOperatorForm *form, CeedArena *arena,
                       Plan *plan) {
  plan->qf = form->qf;
  plan->num_elem = op->num_elem;
  plan->num_qpts = op->num_qpts;
  for (CeedInt i = 0; i < form->qf->in.count; i++) {
    CeedGroupFieldPlan(form->qf->in.field[i], form->in[i], op->num_qpts, false, arena,
                       &plan->in[i]);
    if (form->qf->in.field[i]->eval_mode == CEED_EVAL_WEIGHT && arena->next) {
      CeedBasisWeightsOne(form->in[i]->basis, plan->in[i].q);
      CeedLanesSpread(plan->in[i].q, op->num_qpts, 1);
    }
  }
  for (CeedInt i = 0; i < form->qf->out.count; i++) {
    CeedGroupFieldPlan(form->qf->out.field[i], form->out[i], op->num_qpts, true, arena,
                       &plan->out[i]);
  }
}

static CeedGroup GroupFrom(const Plan *plan, CeedInt first) {
  return (CeedGroup){first, CeedIntMin(W, plan->num_elem - first)};
}

// ------------------------------------------------------------------------------------------------
// Fused: all steps for one group after the other
// ------------------------------------------------------------------------------------------------

/* A QFunction is called for the points of elements alone, which lie close together in the last group
   while it has them. */
static int CallQFunction(const Plan *plan, const CeedQFunctionCalls *calls, CeedGroup group,
                         const CeedScalar *const *in, CeedScalar *const *out) {
  CeedInt num_in = plan->qf->in.count, num_out = plan->qf->out.count, Q = plan->num_qpts;

  if (group.width == W) return CeedQFunctionCall(calls, Q * W, in, out);
  for (CeedInt i = 0; i < num_in; i++) {
    CeedLanesSqueeze(plan->in[i].q, (CeedSize)plan->in[i].size * Q, group.width);
  }
  CeedCall(CeedQFunctionCall(calls, Q * group.width, in, out));
  for (CeedInt i = 0; i < num_out; i++) {
    CeedLanesSpread(plan->out[i].q, (CeedSize)plan->out[i].size * Q, group.width);
  }
  return CEED_ERROR_SUCCESS;
}

static int RunGroup(const Plan *plan, const CeedQFunctionCalls *calls, CeedGroup group) {
  const CeedScalar *in[CEED_MAX_FIELDS];
  CeedScalar *out[CEED_MAX_FIELDS];

  for (CeedInt i = 0; i < plan->qf->in.count; i++) in[i] = CeedGroupLoad(&plan->in[i], group);
  for (CeedInt i = 0; i < plan->qf->out.count; i++) out[i] = plan->out[i].q;
  CeedCall(CallQFunction(plan, calls, group, in, out));
  for (CeedInt i = 0; i < plan->qf->out.count; i++) CeedGroupStore(&plan->out[i], group);
  return CEED_ERROR_SUCCESS;
}

static int RunFused(const Plan *plan, CeedRun *run) {
  CeedRunZeroOutputs(run);
  for (CeedInt first = 0; first < plan->num_elem; first += W) {
    CeedCall(RunGroup(plan, &run->calls, GroupFrom(plan, first)));
  }
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Unfused: a QFunction has all points in one call, and only values at the points are stored
// ------------------------------------------------------------------------------------------------

static int LoadAll(const Plan *plan, const CeedGroupField *f, CeedVector points) {
  CeedSize stride = (CeedSize)plan->num_elem * f->Q;
  CeedScalar *all;

  CeedCall(CeedVectorAcquireWrite(points, CEED_MEM_HOST, false, &all, apply));
  for (CeedInt first = 0; first < plan->num_elem; first += W, all += (CeedSize)f->Q * W) {
    CeedGroup group = GroupFrom(plan, first);
    CeedLanesToElements(f->size, f->Q, group.width, CeedGroupLoad(f, group), stride, all);
  }
  return CeedVectorReleaseWrite(points);
}

static int StoreAll(const Plan *plan, const CeedGroupField *f, CeedVector points) {
  CeedSize stride = (CeedSize)plan->num_elem * f->Q;
  const CeedScalar *all;

  CeedCall(CeedVectorAcquireRead(points, CEED_MEM_HOST, &all, apply));
  for (CeedInt first = 0; first < plan->num_elem; first += W, all += (CeedSize)f->Q * W) {
    CeedGroup group = GroupFrom(plan, first);
    CeedLanesFromElements(f->size, f->Q, group.width, all, stride, f->q);
    CeedGroupStore(f, group);
  }
  CeedVectorReleaseRead(points);
  return CEED_ERROR_SUCCESS;
}

static int RunUnfused(const Plan *plan, CeedRun *run) {
  CeedOperatorForm *form = run->form;
  CeedInt num_points = plan->num_elem * plan->num_qpts;

  for (CeedInt i = 0; i < plan->qf->in.count; i++) {
    CeedCall(LoadAll(plan, &plan->in[i], form->q_in[i]));
  }
  CeedCall(CeedQFunctionRun(&run->calls, num_points, form->q_in, form->q_out));
  CeedRunZeroOutputs(run);
  for (CeedInt i = 0; i < plan->qf->out.count; i++) {
    CeedCall(StoreAll(plan, &plan->out[i], form->q_out[i]));
  }
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// A whole operator
// ------------------------------------------------------------------------------------------------

/* Whether the QFunction can be called for groups of Q * W points; the rest of all points, which are a
   multiple of its vector length, is one then, too. */
static bool IsFused(CeedOperator op, const CeedOperatorForm *form) {
  if (form->qf->points_per_call == CEED_POINTS_ALL || op->num_qpts > INT32_MAX / W) return false;
  return op->num_qpts * W % form->qf->vec_length == 0;
}

int CeedOptSetUp(CeedOperator op, CeedOperatorForm *form) {
  CeedArena arena = {NULL, 0};
  Plan plan;

  if (!IsFused(op, form)) CeedCall(CeedPointsSetUp(op, form));
  if (!op->num_elem) return CEED_ERROR_SUCCESS;
  PlanFields(op, form, &arena, &plan);
  CeedCheck(arena.used < CeedArenaLimit, op->base.ceed, CEED_ERROR_DIMENSION,
            "The elements are too large");
  return CeedOperatorFormReserve(op, form, (size_t)arena.used * sizeof(CeedScalar));
}

int CeedOptApply(CeedRun *run) {
  CeedArena arena = {run->form->memory, 0};
  Plan plan;

  if (!run->op->num_elem) {
    CeedRunZeroOutputs(run);
    return CEED_ERROR_SUCCESS;
  }
  PlanFields(run->op, run->form, &arena, &plan);
  for (CeedInt i = 0; i < plan.qf->in.count; i++) plan.in[i].from = run->from[i];
  for (CeedInt i = 0; i < plan.qf->out.count; i++) plan.out[i].to = run->to[i];
  return (IsFused(run->op, run->form) ? RunFused : RunUnfused)(&plan, run);
}
