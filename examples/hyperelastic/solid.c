// SPDX-License-Identifier: BSD-2-Clause
/// A cube of rubber whose surface is stretched and sheared, by Newton's method and conjugate
/// gradients. The energy was written in Python; here is none: geometry.h and elasticity.h were made
/// by `python -m pyceedlike compile`. They and this program are for libCEED as they are for
/// libceedlike.
///
///     solid [RESOURCE [STIFFNESS SOLUTION]]
///
/// Where the cube is as stiff everywhere the exact displacement is linear, and the error round-off.
/// STIFFNESS is a file of NODES doubles; to SOLUTION go the displacement [3][NODES] and the forces
/// on the nodes [3][NODES].
#include <ceed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "elasticity.h"
#include "geometry.h"

#ifndef ELEMENTS
#define ELEMENTS 3 /* a direction */
#endif

enum { N = ELEMENTS, P = 3, Q = 4, LINE = N * (P - 1) + 1, NODES = LINE * LINE * LINE };

static const double stretch[3][3] = {{0.05, 0.02, 0}, {0, -0.03, 0.01}, {0.01, 0, 0.03}};

/* The context aborts on an error (main), so codes need no looking at. */
typedef struct {
  CeedElemRestriction rstr_u, rstr_stiffness, rstr_q;
  CeedBasis basis, basis_stiffness;
  CeedOperator residual, tangent;
  CeedVector x, u, stiffness, qdata;
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
  CeedElemRestrictionCreate(ceed, N * N * N, P * P * P, 1, 1, NODES, CEED_MEM_HOST,
                            CEED_COPY_VALUES, offsets[0], &s->rstr_stiffness);
  CeedElemRestrictionCreateStrided(ceed, N * N * N, Q * Q * Q, 10, 10 * N * N * N * Q * Q * Q,
                                   CEED_STRIDES_BACKEND, &s->rstr_q);
  CeedBasisCreateTensorH1Lagrange(ceed, 3, 3, P, Q, CEED_GAUSS, &s->basis);
  CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, P, Q, CEED_GAUSS, &s->basis_stiffness);
}

/* Coordinates of the nodes, which are Gauss-Lobatto points: equidistant for P <= 3. */
static void MakeCoordinates(Ceed ceed, Solid *s) {
  CeedScalar *array;

  CeedVectorCreate(ceed, 3 * NODES, &s->x);
  CeedVectorGetArrayWrite(s->x, CEED_MEM_HOST, &array);
  for (int node = 0; node < NODES; node++) {
    int at[3] = {node % LINE, node / LINE % LINE, node / LINE / LINE};
    for (int d = 0; d < 3; d++) array[d * NODES + node] = (double)at[d] / (LINE - 1);
  }
  CeedVectorRestoreArray(s->x, &array);
}

/* One everywhere, or what the file says. */
static int MakeStiffness(Ceed ceed, Solid *s, const char *path) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  CeedScalar *array;
  size_t num_read = 0;

  CeedVectorCreate(ceed, NODES, &s->stiffness);
  CeedVectorSetValue(s->stiffness, 1);
  if (!path) return 1;
  if (!file) {
    perror(path);
    return 0;
  }
  CeedVectorGetArray(s->stiffness, CEED_MEM_HOST, &array);
  num_read = fread(array, sizeof *array, NODES, file);
  CeedVectorRestoreArray(s->stiffness, &array);
  fclose(file);
  if (num_read != NODES) fprintf(stderr, "%s: %d numbers are wanted\n", path, NODES);
  return num_read == NODES;
}

static void MakeGeometry(Ceed ceed, Solid *s) {
  CeedQFunction qf;
  CeedOperator build;

  geometry_create(ceed, &qf);
  CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &build);
  CeedOperatorSetField(build, "dx", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(build, "weight", CEED_ELEMRESTRICTION_NONE, s->basis, CEED_VECTOR_NONE);
  CeedOperatorSetField(build, "qdata", s->rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  CeedVectorCreate(ceed, 10 * N * N * N * Q * Q * Q, &s->qdata);
  CeedOperatorApply(build, s->x, s->qdata, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&build);
  CeedQFunctionDestroy(&qf);
}

static CeedOperator MakeOperator(Ceed ceed, Solid *s, CeedQFunction qf, CeedVector u) {
  CeedOperator op;

  CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op);
  CeedOperatorSetField(op, "du", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  if (u) CeedOperatorSetField(op, "du_at", s->rstr_u, s->basis, u);
  CeedOperatorSetField(op, "qdata", s->rstr_q, CEED_BASIS_NONE, s->qdata);
  CeedOperatorSetField(op, "stiffness", s->rstr_stiffness, s->basis_stiffness, s->stiffness);
  CeedOperatorSetField(op, "dv", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  return op;
}

static void MakeOperators(Ceed ceed, Solid *s) {
  CeedQFunction residual, tangent;

  elasticity_create(ceed, &residual);
  elasticity_jvp_create(ceed, &tangent);
  CeedVectorCreate(ceed, 3 * NODES, &s->u);
  s->residual = MakeOperator(ceed, s, residual, NULL);
  s->tangent = MakeOperator(ceed, s, tangent, s->u);
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
static int SolveLinear(CeedOperator tangent, CeedVector r, CeedVector du, CeedVector *work) {
  CeedVector p = work[0], Ap = work[1];
  double rr = Dot(r, r), goal = 1e-20 * rr;
  int steps = 0;

  CeedVectorSetValue(du, 0);
  CeedVectorCopy(r, p);
  for (; rr > goal && steps < 1000; steps++) {
    double before = rr, alpha;
    CeedOperatorApply(tangent, p, Ap, CEED_REQUEST_IMMEDIATE);
    ZeroSurface(Ap);
    alpha = rr / Dot(p, Ap);
    CeedVectorAXPY(du, alpha, p);
    CeedVectorAXPY(r, -alpha, Ap);
    rr = Dot(r, r);
    CeedVectorScale(p, rr / before); /* AXPBY of libCEED 0.12 on the CPU adds y once more */
    CeedVectorAXPY(p, 1, r);
  }
  return steps;
}

/* r is left with the forces on the nodes. */
static int Solve(Ceed ceed, Solid *s, CeedVector r) {
  CeedVector rest, du, work[2];
  CeedScalar norm = 1;

  CeedVectorCreate(ceed, 3 * NODES, &rest);
  CeedVectorCreate(ceed, 3 * NODES, &du);
  for (int k = 0; k < 2; k++) CeedVectorCreate(ceed, 3 * NODES, &work[k]);
  for (int step = 0; step < 20; step++) {
    CeedOperatorApply(s->residual, s->u, r, CEED_REQUEST_IMMEDIATE);
    CeedVectorCopy(r, rest);
    ZeroSurface(rest);
    CeedVectorNorm(rest, CEED_NORM_2, &norm);
    printf("step %d: residual %.2e", step, norm);
    if (!(norm > 1e-11)) break;
    printf(", %d CG steps\n", SolveLinear(s->tangent, rest, du, work));
    CeedVectorAXPY(s->u, -1, du);
  }
  printf("\n");
  CeedVectorDestroy(&rest);
  CeedVectorDestroy(&du);
  for (int k = 0; k < 2; k++) CeedVectorDestroy(&work[k]);
  return norm < 1e-11;
}

static int Write(const char *path, CeedVector u, CeedVector r) {
  FILE *file = fopen(path, "wb");
  CeedVector both[2] = {u, r};
  size_t num_written = 0;

  if (!file) {
    perror(path);
    return 0;
  }
  for (int k = 0; k < 2; k++) {
    const CeedScalar *array;
    CeedVectorGetArrayRead(both[k], CEED_MEM_HOST, &array);
    num_written += fwrite(array, sizeof *array, 3 * NODES, file);
    CeedVectorRestoreArrayRead(both[k], &array);
  }
  return !fclose(file) && num_written == 6 * NODES;
}

/* How far the displacement is from the linear one, which is spoiled. */
static double Error(Ceed ceed, Solid *s) {
  CeedVector exact;
  CeedScalar error;

  CeedVectorCreate(ceed, 3 * NODES, &exact);
  CeedVectorSetValue(exact, 0);
  Stretch(exact, s->x, 1);
  CeedVectorAXPY(exact, -1, s->u);
  CeedVectorNorm(exact, CEED_NORM_MAX, &error);
  CeedVectorDestroy(&exact);
  return error;
}

static void DestroySolid(Solid *s) {
  CeedVectorDestroy(&s->x);
  CeedVectorDestroy(&s->u);
  CeedVectorDestroy(&s->stiffness);
  CeedVectorDestroy(&s->qdata);
  CeedOperatorDestroy(&s->residual);
  CeedOperatorDestroy(&s->tangent);
  CeedBasisDestroy(&s->basis);
  CeedBasisDestroy(&s->basis_stiffness);
  CeedElemRestrictionDestroy(&s->rstr_u);
  CeedElemRestrictionDestroy(&s->rstr_stiffness);
  CeedElemRestrictionDestroy(&s->rstr_q);
}

int main(int argc, char **argv) {
  int has_files = argc > 3, is_good;
  Ceed ceed;
  Solid s;
  CeedVector r;

  if (CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed)) return EXIT_FAILURE;
  CeedSetErrorHandler(ceed, CeedErrorAbort);
  MakeSpaces(ceed, &s);
  MakeCoordinates(ceed, &s);
  is_good = MakeStiffness(ceed, &s, has_files ? argv[2] : NULL);
  MakeGeometry(ceed, &s);
  MakeOperators(ceed, &s);
  CeedVectorSetValue(s.u, 0);
  Stretch(s.u, s.x, has_files);
  CeedVectorCreate(ceed, 3 * NODES, &r);
  is_good = is_good && Solve(ceed, &s, r);
  if (has_files) {
    is_good = is_good && Write(argv[3], s.u, r);
  } else {
    double error = Error(ceed, &s);
    printf("%d unknowns, error %.1e\n", 3 * NODES, error);
    is_good = is_good && error < 1e-10;
  }
  CeedVectorDestroy(&r);
  DestroySolid(&s);
  CeedDestroy(&ceed);
  return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
