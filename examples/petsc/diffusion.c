// SPDX-License-Identifier: BSD-2-Clause
/// Solve -div (1 + a u^2) grad u = f on many processes, by PETSc's SNES without a matrix.
///
///     mpirun -n 4 ./diffusion -mesh da -a 1
///
/// u is given on the sides of the unit square; with a = 0 it is Poisson's equation. The mesh is a
/// DMDA of quads or a DMPlex of triangles; PETSc divides it, and each process applies the operator
/// to its elements. The physics is that of laws.py: diffusion.h was made by `python -m pyceedlike
/// compile`, and the program needs no Python. It fails unless the solution is right.
#include "diffusion.h"

#include <ceedlike.h>
#include <petscdmda.h>
#include <petscdmplex.h>
#include <petscsnes.h>
#include <string.h>

#if defined(PETSC_USE_COMPLEX)
#error "this PETSc computes with complex numbers: use one configured --with-scalar-type=real"
#elif !defined(PETSC_USE_REAL_DOUBLE)
#error "this PETSc computes in another precision: use one configured --with-precision=double"
#endif

/* Call a function of ours as PETSc's are called. */
#define CeedTry(call)                                      \
  do {                                                     \
    if (call) {                                            \
      const char *text = "";                               \
      (void)CeedGetErrorMessage(NULL, &text);              \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", text); \
    }                                                      \
  } while (0)

typedef struct {
  DM dm;
  Vec local; /* works in the memory of the vectors below */
  CeedOperator op;
  CeedVector u, v, state;
  PetscInt nfixed, nrows;
  PetscInt *fixed;     /* places of given values in a local vector */
  PetscInt *rows;      /* rows of this process where values are given, */
  PetscInt *row_fixed; /* and which of them */
  PetscScalar *values;
} App;

static PetscReal Exact(const PetscReal x[2]) { return PetscSinReal(x[0] + 2 * x[1]); }

/* ---- Meshes -------------------------------------------------------------------------------- */

static PetscErrorCode CreateQuads(PetscInt n, DM *dm) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX,
                         n + 1, n + 1, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMDASetElementType(*dm, DMDA_ELEMENT_Q1));
  PetscCall(DMDASetUniformCoordinates(*dm, 0, 1, 0, 1, 0, 1));
  PetscFunctionReturn(0);
}

/* Process 0 gives n x n quads, cut in two, and PETSc distributes them. */
static PetscErrorCode CreateTriangles(PetscInt n, DM *dm) {
  const PetscInt side = n + 1;
  PetscInt *cells, ncells = 0, nnodes;
  PetscReal *nodes;
  PetscMPIInt rank;
  PetscSection section;
  DM whole;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  nnodes = rank ? 0 : side * side;
  PetscCall(PetscMalloc2(rank ? 0 : 6 * n * n, &cells, 2 * nnodes, &nodes));
  for (PetscInt i = 0; i < nnodes; i++) {
    nodes[2 * i] = (PetscReal)(i % side) / n;
    nodes[2 * i + 1] = (PetscReal)(i / side) / n;
    if (i % side == n || i / side == n) continue;
    PetscInt two[6] = {i, i + 1, i + side + 1, i, i + side + 1, i + side};
    memcpy(cells + 3 * ncells, two, sizeof two);
    ncells += 2;
  }
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, ncells, nnodes, 3, PETSC_TRUE, cells,
                                          2, nodes, &whole));
  PetscCall(PetscFree2(cells, nodes));
  PetscCall(DMPlexDistribute(whole, 0, NULL, dm));
  if (*dm) {
    PetscCall(DMDestroy(&whole));
  } else {
    *dm = whole;
  }
  const PetscInt ncomp[1] = {1}, ndof[3] = {1, 0, 0};
  PetscCall(DMSetNumFields(*dm, 1));
  PetscCall(DMPlexCreateSection(*dm, NULL, ncomp, ndof, 0, NULL, NULL, NULL, NULL, &section));
  PetscCall(DMSetLocalSection(*dm, section));
  PetscCall(PetscSectionDestroy(&section));
  PetscFunctionReturn(0);
}

/* ---- Elements ------------------------------------------------------------------------------ */

/* Quads of a DMDA, by places in local vectors, x fastest. */
static PetscErrorCode GetQuads(DM dm, CeedInt *count, CeedInt **offsets) {
  const CeedInt order[4] = {0, 1, 3, 2};
  const PetscInt *elements;
  PetscInt n, size;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetElements(dm, &n, &size, &elements));
  PetscCall(PetscMalloc1(4 * n, offsets));
  for (PetscInt i = 0; i < 4 * n; i++) {
    (*offsets)[i] = (CeedInt)elements[i / 4 * 4 + order[i % 4]];
  }
  *count = (CeedInt)n;
  PetscCall(DMDARestoreElements(dm, &n, &size, &elements));
  PetscFunctionReturn(0);
}

/* Triangles of a DMPlex, by places in local vectors: its vertices are numbered one by one. */
static PetscErrorCode GetTriangles(DM dm, CeedInt *count, CeedInt **offsets) {
  PetscInt first, last, begin, end;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &first, &last));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &begin, &end));
  PetscCall(PetscMalloc1(3 * (end - begin), offsets));
  for (PetscInt cell = begin; cell < end; cell++) {
    PetscInt n, *points = NULL, k = 0;
    PetscCall(DMPlexGetTransitiveClosure(dm, cell, PETSC_TRUE, &n, &points));
    for (PetscInt i = 0; i < n; i++) {
      PetscInt point = points[2 * i];
      if (point < first || point >= last) continue;
      (*offsets)[3 * (cell - begin) + k++] = (CeedInt)(point - first);
    }
    PetscCall(DMPlexRestoreTransitiveClosure(dm, cell, PETSC_TRUE, &n, &points));
  }
  *count = (CeedInt)(end - begin);
  PetscFunctionReturn(0);
}

static int CreateBasis(Ceed ceed, bool is_quad, CeedInt ncomp, CeedBasis *basis) {
  static const CeedScalar points[6] = {1. / 6, 2. / 3, 1. / 6, 1. / 6, 1. / 6, 2. / 3};
  static const CeedScalar weights[3] = {1. / 6, 1. / 6, 1. / 6};
  static const CeedScalar interp[9] = {2. / 3, 1. / 6, 1. / 6, 1. / 6, 2. / 3,
                                       1. / 6, 1. / 6, 1. / 6, 2. / 3};
  static const CeedScalar grad[18] = {-1, 1, 0, -1, 1, 0, -1, 1, 0, -1, 0, 1, -1, 0, 1, -1, 0, 1};

  if (is_quad) return CeedBasisCreateTensorH1Lagrange(ceed, 2, ncomp, 2, 3, CEED_GAUSS, basis);
  return CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, ncomp, 3, 3, interp, grad, points, weights,
                           basis);
}

/* ---- The operator -------------------------------------------------------------------------- */

/* How the elements read a field: of one component, or of the two of the nodes' places. */
typedef struct {
  CeedElemRestriction restriction;
  CeedBasis basis;
} Space;

static PetscErrorCode CreateSpaces(App *app, Ceed ceed, bool is_quad, PetscInt n, Space *unknown,
                                   Space *place) {
  CeedInt count = 0, size = is_quad ? 4 : 3, *offsets;

  PetscFunctionBeginUser;
  PetscCheck(n <= INT32_MAX / 2, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "a process has more unknowns than a CeedInt counts");
  PetscCall(is_quad ? GetQuads(app->dm, &count, &offsets)
                    : GetTriangles(app->dm, &count, &offsets));
  CeedTry(CeedElemRestrictionCreate(ceed, count, size, 1, 1, n, CEED_MEM_HOST, CEED_COPY_VALUES,
                                    offsets, &unknown->restriction));
  for (CeedInt i = 0; i < count * size; i++) offsets[i] *= 2;
  CeedTry(CeedElemRestrictionCreate(ceed, count, size, 2, 1, 2 * n, CEED_MEM_HOST, CEED_COPY_VALUES,
                                    offsets, &place->restriction));
  PetscCall(PetscFree(offsets));
  CeedTry(CreateBasis(ceed, is_quad, 1, &unknown->basis));
  CeedTry(CreateBasis(ceed, is_quad, 2, &place->basis));
  PetscFunctionReturn(0);
}

static int DestroySpace(Space *space) {
  int code = CeedElemRestrictionDestroy(&space->restriction);

  return code ? code : CeedBasisDestroy(&space->basis);
}

static PetscErrorCode CreateVectors(App *app, Ceed ceed, PetscInt n, CeedVector *x) {
  Vec coordinates;
  const PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinatesLocal(app->dm, &coordinates));
  CeedTry(CeedVectorCreate(ceed, 2 * n, x));
  PetscCall(VecGetArrayRead(coordinates, &array));
  CeedTry(CeedVectorSetArray(*x, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)array));
  PetscCall(VecRestoreArrayRead(coordinates, &array));
  CeedTry(CeedVectorCreate(ceed, n, &app->u));
  CeedTry(CeedVectorCreate(ceed, n, &app->v));
  CeedTry(CeedVectorCreate(ceed, n, &app->state));
  PetscFunctionReturn(0);
}

static int SetFields(const App *app, const Space *unknown, const Space *place, CeedVector x) {
  const struct {
    const char *name;
    const Space *space;
    CeedVector vector;
  } fields[] = {{"u", unknown, CEED_VECTOR_ACTIVE},
                {"du", unknown, CEED_VECTOR_ACTIVE},
                {"v", unknown, CEED_VECTOR_ACTIVE},
                {"dv", unknown, CEED_VECTOR_ACTIVE},
                {"u_at", unknown, app->state},
                {"du_at", unknown, app->state},
                {"x", place, x},
                {"dx", place, x}};

  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    int code = CeedOperatorSetField(app->op, fields[i].name, fields[i].space->restriction,
                                    fields[i].space->basis, fields[i].vector);
    if (code) return code;
  }
  return CeedOperatorSetField(app->op, "w", CEED_ELEMRESTRICTION_NONE, unknown->basis,
                              CEED_VECTOR_NONE);
}

static PetscErrorCode CreateOperator(App *app, Ceed ceed, bool is_quad, PetscReal a) {
  Space unknown, place;
  CeedQFunction residual, jacobian;
  CeedContextFieldLabel label;
  CeedVector x;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(app->local, &n));
  PetscCall(CreateSpaces(app, ceed, is_quad, n, &unknown, &place));
  PetscCall(CreateVectors(app, ceed, n, &x));
  CeedTry(diffusion_create(ceed, &residual));
  CeedTry(diffusion_jvp_create(ceed, &jacobian));
  CeedTry(CeedOperatorCreate(ceed, residual, jacobian, CEED_QFUNCTION_NONE, &app->op));
  CeedTry(SetFields(app, &unknown, &place, x));
  CeedTry(CeedOperatorGetContextFieldLabel(app->op, "a", &label));
  CeedTry(CeedOperatorSetContextDouble(app->op, label, &a));
  CeedTry(CeedQFunctionDestroy(&residual));
  CeedTry(CeedQFunctionDestroy(&jacobian));
  CeedTry(DestroySpace(&unknown));
  CeedTry(DestroySpace(&place));
  CeedTry(CeedVectorDestroy(&x));
  PetscFunctionReturn(0);
}

/* Find the nodes on the sides of the square, and those of them whose rows this process has. */
static PetscErrorCode FindFixed(App *app) {
  ISLocalToGlobalMapping map;
  Vec coordinates, global;
  const PetscScalar *x;
  PetscInt n, start, end, *numbers;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(app->local, &n));
  PetscCall(PetscMalloc4(n, &app->fixed, n, &app->values, n, &app->rows, n, &app->row_fixed));
  PetscCall(PetscMalloc1(n, &numbers));
  PetscCall(DMGetCoordinatesLocal(app->dm, &coordinates));
  PetscCall(VecGetArrayRead(coordinates, &x));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal *at = x + 2 * i;
    if (PetscAbsReal(at[0] * (1 - at[0]) * at[1] * (1 - at[1])) > 1e-12) continue;
    app->values[app->nfixed] = Exact(at);
    app->fixed[app->nfixed++] = i;
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));

  PetscCall(DMGetLocalToGlobalMapping(app->dm, &map));
  PetscCall(ISLocalToGlobalMappingApply(map, app->nfixed, app->fixed, numbers));
  PetscCall(DMGetGlobalVector(app->dm, &global));
  PetscCall(VecGetOwnershipRange(global, &start, &end));
  PetscCall(DMRestoreGlobalVector(app->dm, &global));
  for (PetscInt k = 0; k < app->nfixed; k++) {
    if (numbers[k] < start || numbers[k] >= end) continue;
    app->row_fixed[app->nrows] = k;
    app->rows[app->nrows++] = numbers[k] - start;
  }
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

/* ---- What PETSc calls ---------------------------------------------------------------------- */

/* Set a local vector of ours to x, and to the values where they are given, or to zero there. */
static PetscErrorCode Gather(App *app, Vec x, CeedVector ours, bool with_values) {
  CeedScalar *array;

  PetscFunctionBeginUser;
  CeedTry(CeedVectorGetArrayWrite(ours, CEED_MEM_HOST, &array));
  PetscCall(VecPlaceArray(app->local, array));
  PetscCall(DMGlobalToLocal(app->dm, x, INSERT_VALUES, app->local));
  PetscCall(VecResetArray(app->local));
  for (PetscInt k = 0; k < app->nfixed; k++) {
    array[app->fixed[k]] = with_values ? app->values[k] : 0;
  }
  CeedTry(CeedVectorRestoreArray(ours, &array));
  PetscFunctionReturn(0);
}

/* Set y to the sum of the local vectors, and to x minus the values where they are given. */
static PetscErrorCode Add(App *app, Vec x, bool with_values, Vec y) {
  const PetscScalar *from;
  CeedScalar *array;
  PetscScalar *to;

  PetscFunctionBeginUser;
  PetscCall(VecZeroEntries(y));
  CeedTry(CeedVectorGetArray(app->v, CEED_MEM_HOST, &array));
  PetscCall(VecPlaceArray(app->local, array));
  PetscCall(DMLocalToGlobal(app->dm, app->local, ADD_VALUES, y));
  PetscCall(VecResetArray(app->local));
  CeedTry(CeedVectorRestoreArray(app->v, &array));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(y, &to));
  for (PetscInt k = 0; k < app->nrows; k++) {
    to[app->rows[k]] = from[app->rows[k]] - (with_values ? app->values[app->row_fixed[k]] : 0);
  }
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode Residual(SNES snes, Vec x, Vec f, void *context) {
  App *app = context;

  PetscFunctionBeginUser;
  (void)snes;
  PetscCall(Gather(app, x, app->u, true));
  CeedTry(CeedOperatorApply(app->op, app->u, app->v, CEED_REQUEST_IMMEDIATE));
  PetscCall(Add(app, x, true, f));
  PetscFunctionReturn(0);
}

static PetscErrorCode Linearise(SNES snes, Vec x, Mat J, Mat P, void *context) {
  App *app = context;

  PetscFunctionBeginUser;
  (void)snes;
  (void)P;
  PetscCall(Gather(app, x, app->state, true));
  PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat J, Vec x, Vec y) {
  App *app;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(J, &app));
  PetscCall(Gather(app, x, app->u, false));
  CeedTry(CeedOperatorApplyJacobian(app->op, app->u, app->v, CEED_REQUEST_IMMEDIATE));
  PetscCall(Add(app, x, false, y));
  PetscFunctionReturn(0);
}

/* ---- Solve --------------------------------------------------------------------------------- */

static PetscErrorCode Solve(App *app, PetscReal a, Vec u, SNES *solver) {
  SNES snes;
  KSP ksp;
  PC pc;
  Mat J;
  Vec f;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, app, &J));
  PetscCall(MatShellSetOperation(J, MATOP_MULT, (void (*)(void))Multiply));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, solver));
  snes = *solver;
  PetscCall(SNESSetFunction(snes, f, Residual, app));
  PetscCall(SNESSetJacobian(snes, J, J, Linearise, app));
  PetscCall(SNESSetTolerances(snes, PETSC_DEFAULT, 1e-12, PETSC_DEFAULT, 20, PETSC_DEFAULT));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, a != 0 ? KSPGMRES : KSPCG));
  PetscCall(KSPGMRESSetRestart(ksp, 200));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(0);
}

/* Write x, y and u of the nodes of all processes, if asked to; return the largest error. */
static PetscErrorCode Compare(DM dm, Vec u, const char *path, PetscReal *error) {
  ISLocalToGlobalMapping map;
  Vec coordinates;
  const PetscScalar *x, *array;
  const PetscInt *numbers;
  PetscInt n, start, end;
  FILE *file = NULL;

  PetscFunctionBeginUser;
  *error = 0;
  PetscCall(DMGetLocalToGlobalMapping(dm, &map));
  PetscCall(ISLocalToGlobalMappingGetSize(map, &n));
  PetscCall(ISLocalToGlobalMappingGetIndices(map, &numbers));
  PetscCall(VecGetOwnershipRange(u, &start, &end));
  PetscCall(DMGetCoordinatesLocal(dm, &coordinates));
  PetscCall(VecGetArrayRead(coordinates, &x));
  PetscCall(VecGetArrayRead(u, &array));
  if (path[0]) PetscCall(PetscFOpen(PETSC_COMM_WORLD, path, "w", &file));
  for (PetscInt i = 0; i < n; i++) {
    if (numbers[i] < start || numbers[i] >= end) continue;
    PetscReal value = array[numbers[i] - start];
    *error = PetscMax(*error, PetscAbsReal(value - Exact(x + 2 * i)));
    if (!path[0]) continue;
    PetscCall(PetscSynchronizedFPrintf(PETSC_COMM_WORLD, file, "%.16e %.16e %.16e\n", x[2 * i],
                                       x[2 * i + 1], value));
  }
  if (path[0]) PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, file));
  if (path[0]) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(VecRestoreArrayRead(u, &array));
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscCall(ISLocalToGlobalMappingRestoreIndices(map, &numbers));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(bool *good) {
  App app = {0};
  Ceed ceed;
  SNES snes;
  SNESConvergedReason reason;
  Vec u;
  char mesh[8] = "da", path[PETSC_MAX_PATH_LEN] = "";
  PetscInt n = 24, newton, krylov;
  PetscReal a = 1, error;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", mesh, sizeof mesh, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", path, sizeof path, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-a", &a, NULL));
  bool is_quad = strcmp(mesh, "da") == 0;

  PetscCall(is_quad ? CreateQuads(n, &app.dm) : CreateTriangles(n, &app.dm));
  PetscCall(DMCreateLocalVector(app.dm, &app.local));
  CeedTry(CeedInit("/cpu/self", &ceed));
  PetscCall(CreateOperator(&app, ceed, is_quad, a));
  PetscCall(FindFixed(&app));
  PetscCall(DMCreateGlobalVector(app.dm, &u));
  PetscCall(Solve(&app, a, u, &snes));
  PetscCall(Compare(app.dm, u, path, &error));
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetIterationNumber(snes, &newton));
  PetscCall(SNESGetLinearSolveIterations(snes, &krylov));
  *good = reason > 0 && error < 0.5 / (n * n);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s: %d steps of Newton's method, %d iterations, off by %.1e: %s\n", mesh,
                        (int)newton, (int)krylov, error, *good ? "good" : "WRONG"));

  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&app.local));
  PetscCall(DMDestroy(&app.dm));
  PetscCall(PetscFree4(app.fixed, app.values, app.rows, app.row_fixed));
  CeedTry(CeedVectorDestroy(&app.u));
  CeedTry(CeedVectorDestroy(&app.v));
  CeedTry(CeedVectorDestroy(&app.state));
  CeedTry(CeedOperatorDestroy(&app.op));
  CeedTry(CeedDestroy(&ceed));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  bool good = false;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(Run(&good));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
