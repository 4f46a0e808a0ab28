// Operators in several threads, one each, that share what they only read. For sanitizers, too.
// SPDX-License-Identifier: BSD-2-Clause
#include "multiply.h"

enum { THREADS = 4, N = 11 };

// Sanitizers see a race where there is no accident.
#ifdef UNDER_SANITIZER
enum { ROUNDS = 500 };
#else
enum { ROUNDS = 20000 };
#endif

typedef struct {
  pthread_t thread;
  CeedOperator op;
  CeedVector u, v;
  CeedBasis basis;
  CeedElemRestriction rstr;
  const CeedScalar *interp, *grad;
  int failures;
} Worker;

static Worker workers[THREADS];
static pthread_barrier_t barrier;

// All workers run `body`, from the same moment on; the sum of their failures is returned.
static int Run(void *(*body)(void *)) {
  int failures = 0;

  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&workers[i].thread, NULL, body, &workers[i])) return -1;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    failures += workers[i].failures;
  }
  pthread_barrier_destroy(&barrier);
  return failures;
}

// v = k w u
static int MultiplyByContext(void *ctx, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out) {
  CeedScalar k = (CeedScalar)(*(const double *)ctx);

  for (CeedInt i = 0; i < Q; i++) out[0][i] = k * in[0][i] * in[1][i];
  return 0;
}

static void *ApplyOften(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    worker->failures += CeedOperatorApply(worker->op, worker->u, worker->v, NULL) != 0;
    worker->failures += Entry(worker->v, N - 1) != 30;
  }
  return NULL;
}

TEST(operators_in_threads_share_what_they_read) {
  CeedVector w = Constant(N, 5);
  CeedQFunctionContext ctx = ContextOf(2);
  CeedElemRestriction rstr = Line(N);
  CeedQFunction qf = NULL;

  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, MultiplyByContext, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionSetContextWritable(qf, false));
  for (int i = 0; i < THREADS; i++) {
    Worker *worker = &workers[i];
    *worker = (Worker){.u = Constant(N, 3), .v = Constant(N, 0)};
    ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &worker->op));
    ASSERT_OK(CeedOperatorSetField(worker->op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
    ASSERT_OK(CeedOperatorSetField(worker->op, "w", rstr, CEED_BASIS_NONE, w));
    ASSERT_OK(CeedOperatorSetField(worker->op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  }
  ASSERT_EQ(Run(ApplyOften), 0);
  PASSES(IsFree(ctx));
  for (int i = 0; i < THREADS; i++) {
    ASSERT_OK(CeedOperatorDestroy(&workers[i].op));
    CeedVectorDestroy(&workers[i].u);
    CeedVectorDestroy(&workers[i].v);
  }
  ASSERT_OK(CeedVectorDestroy(&w));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  ASSERT_OK(CeedQFunctionDestroy(&qf));
  return TEST_PASSED;
}

// An operator that is used in two threads refuses one of them; it never mixes their numbers.
static void *ApplyWhereFree(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    int code = CeedOperatorApply(worker->op, worker->u, worker->v, NULL);
    worker->failures += code ? code != CEED_ERROR_ACCESS : Entry(worker->v, N - 1) != 15;
  }
  return NULL;
}

TEST(one_operator_in_threads_runs_in_one_at_a_time) {
  CeedVector w = Constant(N, 5), v = Constant(N, 0);
  CeedOperator op = NULL;

  PASSES(MultiplyCreate(w, Multiply, NULL, &op));
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.op = op, .u = Constant(N, 3), .v = Constant(N, 0)};
  }
  ASSERT_EQ(Run(ApplyWhereFree), 0);
  ASSERT_OK(CeedOperatorApply(op, workers[0].u, v, NULL));
  for (int i = 0; i < THREADS; i++) {
    CeedVectorDestroy(&workers[i].u);
    CeedVectorDestroy(&workers[i].v);
  }
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

static void *GetMatrices(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  worker->failures += CeedBasisGetInterp(worker->basis, &worker->interp) != 0;
  worker->failures += CeedBasisGetGrad(worker->basis, &worker->grad) != 0;
  return NULL;
}

TEST(threads_get_the_same_matrices_of_a_basis) {
  for (int round = 0; round < 20; round++) {
    CeedBasis basis = NULL;

    ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 3, 4, CEED_GAUSS, &basis));
    for (int i = 0; i < THREADS; i++) workers[i] = (Worker){.basis = basis};
    ASSERT_EQ(Run(GetMatrices), 0);
    for (int i = 1; i < THREADS; i++) {
      ASSERT_SAME(workers[i].interp, workers[0].interp);
      ASSERT_SAME(workers[i].grad, workers[0].grad);
    }
    ASSERT_OK(CeedBasisDestroy(&basis));
  }
  return TEST_PASSED;
}

static void *BorrowOffsets(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    const CeedInt *offsets = NULL;
    worker->failures += CeedElemRestrictionGetOffsets(worker->rstr, CEED_MEM_HOST, &offsets) != 0;
    worker->failures += CeedElemRestrictionRestoreOffsets(worker->rstr, &offsets) != 0;
  }
  return NULL;
}

TEST(offsets_that_threads_have_had_are_out_no_more) {
  CeedInt offsets[2] = {0, 1};
  CeedElemRestriction rstr = NULL;

  ASSERT_OK(CeedElemRestrictionCreate(ceed, 1, 2, 1, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                      &rstr));
  for (int i = 0; i < THREADS; i++) workers[i] = (Worker){.rstr = rstr};
  ASSERT_EQ(Run(BorrowOffsets), 0);
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  return TEST_PASSED;
}

int main(int argc, char **argv) {
  static const Behaviour behaviours[] = {
      BEHAVIOUR(operators_in_threads_share_what_they_read),
      BEHAVIOUR(one_operator_in_threads_runs_in_one_at_a_time),
      BEHAVIOUR(threads_get_the_same_matrices_of_a_basis),
      BEHAVIOUR(offsets_that_threads_have_had_are_out_no_more),
  };
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
