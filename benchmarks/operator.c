// Mass and diffusion on a box of hexahedra with stored geometric factors, for any library that has
// libCEED's API: prints the million unknowns a second of the CPU; or, for "copy", the gigabytes a
// second that memcpy reads and writes.
// Usage: operator RESOURCE mass|diffusion|copy ORDER COUNT
// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 200112L
#include <ceed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  Ceed ceed;
  CeedInt p, n, line, num_elem, elem_size, num_qpts;
  CeedSize num_nodes;
  CeedInt *offsets;
  CeedElemRestriction rstr_x, rstr_u, rstr_q;
  CeedBasis basis_x, basis_u;
  CeedVector x, u, v, qdata;
  CeedOperator op;
} Box;

static double Now(void) {
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void MakeOffsets(Box *b) {
  CeedInt P = b->p + 1, *next;

  next = b->offsets = malloc(sizeof *next * (size_t)b->num_elem * (size_t)b->elem_size);
  for (CeedInt e = 0; e < b->num_elem; e++) {
    CeedInt ex = e % b->n, ey = e / b->n % b->n, ez = e / b->n / b->n;
    for (CeedInt k = 0; k < b->elem_size; k++) {
      CeedInt i = ex * b->p + k % P, j = ey * b->p + k / P % P, l = ez * b->p + k / P / P;
      *next++ = i + b->line * (j + b->line * l);
    }
  }
}

static void MakeVectors(Box *b) {
  CeedScalar nodes[32], *x, *u;

  CeedLobattoQuadrature(b->p + 1, nodes, NULL);
  CeedVectorCreate(b->ceed, 3 * b->num_nodes, &b->x);
  CeedVectorCreate(b->ceed, b->num_nodes, &b->u);
  CeedVectorCreate(b->ceed, b->num_nodes, &b->v);
  CeedVectorGetArrayWrite(b->x, CEED_MEM_HOST, &x);
  CeedVectorGetArrayWrite(b->u, CEED_MEM_HOST, &u);
  for (CeedSize at = 0; at < b->num_nodes; at++) {
    CeedSize rest = at;
    for (int d = 0; d < 3; d++, rest /= b->line) {
      CeedInt i = (CeedInt)(rest % b->line), e = i / b->p < b->n ? i / b->p : b->n - 1;
      x[d * b->num_nodes + at] = (e + (nodes[i - e * b->p] + 1) / 2) / b->n;
    }
    u[at] = 1 + 0.001 * (CeedScalar)(at % 17);
  }
  CeedVectorRestoreArray(b->x, &x);
  CeedVectorRestoreArray(b->u, &u);
}

static void MakeSpaces(Box *b, CeedInt q, CeedInt size) {
  CeedSize length = (CeedSize)size * b->num_elem * b->num_qpts;

  CeedElemRestrictionCreate(b->ceed, b->num_elem, b->elem_size, 1, 1, b->num_nodes, CEED_MEM_HOST,
                            CEED_USE_POINTER, b->offsets, &b->rstr_u);
  CeedElemRestrictionCreate(b->ceed, b->num_elem, b->elem_size, 3, (CeedInt)b->num_nodes,
                            3 * b->num_nodes, CEED_MEM_HOST, CEED_USE_POINTER, b->offsets,
                            &b->rstr_x);
  CeedElemRestrictionCreateStrided(b->ceed, b->num_elem, b->num_qpts, size, length,
                                   CEED_STRIDES_BACKEND, &b->rstr_q);
  CeedBasisCreateTensorH1Lagrange(b->ceed, 3, 1, b->p + 1, q, CEED_GAUSS, &b->basis_u);
  CeedBasisCreateTensorH1Lagrange(b->ceed, 3, 3, b->p + 1, q, CEED_GAUSS, &b->basis_x);
  CeedVectorCreate(b->ceed, length, &b->qdata);
}

static void MakeOperator(Box *b, int is_mass) {
  CeedQFunction qf_build, qf_apply;
  CeedOperator build;

  CeedQFunctionCreateInteriorByName(b->ceed, is_mass ? "Mass3DBuild" : "Poisson3DBuild", &qf_build);
  CeedOperatorCreate(b->ceed, qf_build, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &build);
  CeedOperatorSetField(build, "dx", b->rstr_x, b->basis_x, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(build, "weights", CEED_ELEMRESTRICTION_NONE, b->basis_x, CEED_VECTOR_NONE);
  CeedOperatorSetField(build, "qdata", b->rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  CeedOperatorApply(build, b->x, b->qdata, CEED_REQUEST_IMMEDIATE);
  CeedQFunctionCreateInteriorByName(b->ceed, is_mass ? "MassApply" : "Poisson3DApply", &qf_apply);
  CeedOperatorCreate(b->ceed, qf_apply, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &b->op);
  CeedOperatorSetField(b->op, is_mass ? "u" : "du", b->rstr_u, b->basis_u, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(b->op, "qdata", b->rstr_q, CEED_BASIS_NONE, b->qdata);
  CeedOperatorSetField(b->op, is_mass ? "v" : "dv", b->rstr_u, b->basis_u, CEED_VECTOR_ACTIVE);
  CeedOperatorDestroy(&build);
  CeedQFunctionDestroy(&qf_build);
  CeedQFunctionDestroy(&qf_apply);
}

static void Destroy(Box *b) {
  CeedOperatorDestroy(&b->op);
  CeedVectorDestroy(&b->x);
  CeedVectorDestroy(&b->u);
  CeedVectorDestroy(&b->v);
  CeedVectorDestroy(&b->qdata);
  CeedElemRestrictionDestroy(&b->rstr_x);
  CeedElemRestrictionDestroy(&b->rstr_u);
  CeedElemRestrictionDestroy(&b->rstr_q);
  CeedBasisDestroy(&b->basis_x);
  CeedBasisDestroy(&b->basis_u);
  free(b->offsets);
}

static double Rate(Ceed ceed, CeedInt p, int is_mass, double unknowns) {
  Box b = {.ceed = ceed, .p = p, .n = 1};
  double best = 1e30;

  while ((double)(b.n * p + 1) * (b.n * p + 1) * (b.n * p + 1) < unknowns) b.n++;
  b.line = b.n * p + 1;
  b.num_nodes = (CeedSize)b.line * b.line * b.line;
  b.num_elem = b.n * b.n * b.n;
  b.elem_size = (p + 1) * (p + 1) * (p + 1);
  b.num_qpts = (p + 2) * (p + 2) * (p + 2);
  MakeOffsets(&b);
  MakeVectors(&b);
  MakeSpaces(&b, p + 2, is_mass ? 1 : 6);
  MakeOperator(&b, is_mass);
  for (int repeat = 0; repeat < 6; repeat++) {
    double start = Now(), time;
    CeedOperatorApply(b.op, b.u, b.v, CEED_REQUEST_IMMEDIATE);
    time = Now() - start;
    if (time < best) best = time;
  }
  Destroy(&b);
  return 1e-6 * (double)b.num_nodes / best;
}

static double CopyRate(size_t count) {
  double *from = malloc(count * sizeof *from), *to = malloc(count * sizeof *to), best = 1e30;

  memset(from, 1, count * sizeof *from);
  memset(to, 2, count * sizeof *to);
  for (int repeat = 0; repeat < 6; repeat++) {
    double start = Now(), time;
    memcpy(to, from, count * sizeof *to);
    time = Now() - start;
    if (time < best) best = time;
    from[repeat] += to[count - 1];
  }
  free(from);
  free(to);
  return 2e-9 * (double)(count * sizeof(double)) / best;
}

int main(int argc, char **argv) {
  Ceed ceed;

  if (argc != 5) return EXIT_FAILURE;
  CeedInit(argv[1], &ceed);
  if (!strcmp(argv[2], "copy")) {
    printf("%.3f\n", CopyRate((size_t)atof(argv[4])));
  } else {
    printf("%.3f\n", Rate(ceed, atoi(argv[3]), !strcmp(argv[2], "mass"), atof(argv[4])));
  }
  CeedDestroy(&ceed);
  return EXIT_SUCCESS;
}
