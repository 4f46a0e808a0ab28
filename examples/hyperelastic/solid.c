// SPDX-License-Identifier: BSD-2-Clause
/// A cube of rubber whose surface is stretched and sheared, by Newton's method and conjugate
/// gradients. The energy was written in Python; here is none: geometry.h and elasticity.h were made
/// by `python -m pyceedlike compile`. The exact displacement is linear, so the error is round-off.
#include <ceedlike.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "elasticity.h"
#include "geometry.h"

enum { N = 3, P = 3, Q = 4, LINE = N * (P - 1) + 1, NODES = LINE * LINE * LINE };

static const double stretch[3][3] = {{0.05, 0.02, 0}, {0, -0.03, 0.01}, {0.01, 0, 0.03}};

/* The context aborts on an error (main), so codes need no looking at. */
typedef struct {
  CeedElemRestriction rstr_u, rstr_q;
  CeedBasis basis;
  CeedOperator op;
  CeedVector u, qdata;
} Solid;

static int IsInside(int node) {
  int at[3] = {node % LINE, node / LINE % LINE, node / LINE / LINE};

  for (int d = 0; d < 3; d++) {
    if (at[d] == 0 || at[d] == LINE - 1) return 0;
  }
  return 1;
}

static void MakeSpaces(Ceed ceed, Solid *s) {
  CeedInt offsets[N * N * N][P * P * P];

  for (int e = 0; e < N * N * N; e++) {
    for (int k = 0; k < P * P * P; k++) {
      int x = e % N * (P - 1) + k % P, y = e / N % N * (P - 1) + k / P % P;
      int z = e / N / N * (P - 1) + k / P / P;
      offsets[e][k] = x + LINE * (y + LINE * z);
    }
  }
  CeedElemRestrictionCreate(ceed, N * N * N, P * P * P, 3, NODES, 3 * NODES, CEED_MEM_HOST,
                            CEED_COPY_VALUES, offsets[0], &s->rstr_u);
  CeedElemRestrictionCreateStrided(ceed, N * N * N, Q * Q * Q, 10, 10 * N * N * N * Q * Q * Q,
                                   CEED_STRIDES_BACKEND, &s->rstr_q);
  CeedBasisCreateTensorH1Lagrange(ceed, 3, 3, P, Q, CEED_GAUSS, &s->basis);
}

/* Coordinates of the nodes, which are Gauss-Lobatto points: equidistant for P <= 3. */
static CeedVector MakeCoordinates(Ceed ceed) {
  CeedVector x;
  CeedScalar *array;

  CeedVectorCreate(ceed, 3 * NODES, &x);
  CeedVectorGetArrayWrite(x, CEED_MEM_HOST, &array);
  for (int node = 0; node < NODES; node++) {
    int at[3] = {node % LINE, node / LINE % LINE, node / LINE / LINE};
    for (int d = 0; d < 3; d++) array[d * NODES + node] = (double)at[d] / (LINE - 1);
  }
  CeedVectorRestoreArray(x, &array);
  return x;
}

static void MakeGeometry(Ceed ceed, Solid *s, CeedVector x) {
  CeedQFunction qf;
  CeedOperator build;

  geometry_create(ceed, &qf);
  CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &build);
  CeedOperatorSetField(build, "dx", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(build, "weight", CEED_ELEMRESTRICTION_NONE, s->basis, CEED_VECTOR_NONE);
  CeedOperatorSetField(build, "qdata", s->rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  CeedVectorCreate(ceed, 10 * N * N * N * Q * Q * Q, &s->qdata);
  CeedOperatorApply(build, x, s->qdata, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&build);
  CeedQFunctionDestroy(&qf);
}

static void MakeOperator(Ceed ceed, Solid *s) {
  CeedQFunction residual, tangent;

  elasticity_create(ceed, &residual);
  elasticity_jvp_create(ceed, &tangent);
  CeedVectorCreate(ceed, 3 * NODES, &s->u);
  CeedOperatorCreate(ceed, residual, tangent, CEED_QFUNCTION_NONE, &s->op);
  CeedOperatorSetField(s->op, "du", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(s->op, "du_at", s->rstr_u, s->basis, s->u);
  CeedOperatorSetField(s->op, "qdata", s->rstr_q, CEED_BASIS_NONE, s->qdata);
  CeedOperatorSetField(s->op, "dv", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&residual);
  CeedQFunctionDestroy(&tangent);
}

/* Set the displacement of the surface, or of all nodes. */
static void Stretch(CeedVector u, CeedVector x, int is_inside_too) {
  const CeedScalar *at;
  CeedScalar *array;

  CeedVectorGetArrayRead(x, CEED_MEM_HOST, &at);
  CeedVectorGetArray(u, CEED_MEM_HOST, &array);
  for (int node = 0; node < NODES; node++) {
    if (IsInside(node) && !is_inside_too) continue;
    for (int c = 0; c < 3; c++) {
      array[c * NODES + node] = 0;
      for (int d = 0; d < 3; d++) array[c * NODES + node] += stretch[c][d] * at[d * NODES + node];
    }
  }
  CeedVectorRestoreArray(u, &array);
  CeedVectorRestoreArrayRead(x, &at);
}

static void ZeroSurface(CeedVector r) {
  CeedScalar *array;

  CeedVectorGetArray(r, CEED_MEM_HOST, &array);
  for (int i = 0; i < 3 * NODES; i++) {
    if (!IsInside(i % NODES)) array[i] = 0;
  }
  CeedVectorRestoreArray(r, &array);
}

static double Dot(CeedVector x, CeedVector y) {
  const CeedScalar *a, *b;
  double sum = 0;

  CeedVectorGetArrayRead(x, CEED_MEM_HOST, &a);
  CeedVectorGetArrayRead(y, CEED_MEM_HOST, &b);
  for (int i = 0; i < 3 * NODES; i++) sum += a[i] * b[i];
  CeedVectorRestoreArrayRead(x, &a);
  CeedVectorRestoreArrayRead(y, &b);
  return sum;
}

/* du = J^-1 r by conjugate gradients; work is two vectors, and r is spoiled. Returns the steps. */
static int SolveLinear(CeedOperator op, CeedVector r, CeedVector du, CeedVector *work) {
  CeedVector p = work[0], Ap = work[1];
  double rr = Dot(r, r), goal = 1e-20 * rr;
  int steps = 0;

  CeedVectorSetValue(du, 0);
  CeedVectorCopy(r, p);
  for (; rr > goal && steps < 1000; steps++) {
    double before = rr, alpha;
    CeedOperatorApplyJacobian(op, p, Ap, CEED_REQUEST_IMMEDIATE);
    ZeroSurface(Ap);
    alpha = rr / Dot(p, Ap);
    CeedVectorAXPY(du, alpha, p);
    CeedVectorAXPY(r, -alpha, Ap);
    rr = Dot(r, r);
    CeedVectorAXPBY(p, 1, rr / before, r);
  }
  return steps;
}

static int Solve(Ceed ceed, Solid *s) {
  CeedVector r, du, work[2];
  CeedScalar norm = 1;

  CeedVectorCreate(ceed, 3 * NODES, &r);
  CeedVectorCreate(ceed, 3 * NODES, &du);
  for (int k = 0; k < 2; k++) CeedVectorCreate(ceed, 3 * NODES, &work[k]);
  for (int step = 0; step < 20; step++) {
    CeedOperatorApply(s->op, s->u, r, CEED_REQUEST_IMMEDIATE);
    ZeroSurface(r);
    CeedVectorNorm(r, CEED_NORM_2, &norm);
    printf("step %d: residual %.2e", step, norm);
    if (!(norm > 1e-11)) break;
    printf(", %d CG steps\n", SolveLinear(s->op, r, du, work));
    CeedVectorAXPY(s->u, -1, du);
  }
  printf("\n");
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&du);
  for (int k = 0; k < 2; k++) CeedVectorDestroy(&work[k]);
  return norm < 1e-11;
}

int main(int argc, char **argv) {
  Ceed ceed;
  Solid s;
  CeedVector x, exact;
  CeedScalar error;
  int is_solved;

  if (CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed)) return EXIT_FAILURE;
  CeedSetErrorHandler(ceed, CeedErrorAbort);
  MakeSpaces(ceed, &s);
  x = MakeCoordinates(ceed);
  MakeGeometry(ceed, &s, x);
  MakeOperator(ceed, &s);
  CeedVectorSetValue(s.u, 0);
  Stretch(s.u, x, 0);
  is_solved = Solve(ceed, &s);
  CeedVectorCreate(ceed, 3 * NODES, &exact);
  CeedVectorSetValue(exact, 0);
  Stretch(exact, x, 1);
  CeedVectorAXPY(exact, -1, s.u);
  CeedVectorNorm(exact, CEED_NORM_MAX, &error);
  printf("%d unknowns, error %.1e\n", 3 * NODES, error);
  CeedVectorDestroy(&exact);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&s.u);
  CeedVectorDestroy(&s.qdata);
  CeedOperatorDestroy(&s.op);
  CeedBasisDestroy(&s.basis);
  CeedElemRestrictionDestroy(&s.rstr_u);
  CeedElemRestrictionDestroy(&s.rstr_q);
  CeedDestroy(&ceed);
  return is_solved && error < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
