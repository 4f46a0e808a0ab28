// SPDX-License-Identifier: BSD-2-Clause
/// An AMReX FArrayBox as a CeedFab: its memory, its indices and its ghost cells, in ten lines.
#include <AMReX.H>
#include <AMReX_FArrayBox.H>
#include <ceedlike.h>

#include <iostream>
#include <stdexcept>
#include <type_traits>

static_assert(std::is_same<amrex::Real, CeedScalar>::value, "link libceedlike_f32 for floats");

static void Check(int code) {
  const char *text;

  if (code == CEED_ERROR_SUCCESS) return;
  CeedGetErrorMessage(nullptr, &text);
  throw std::runtime_error(text);
}

// The memory is borrowed: give it back with CeedFabTakeArray() before the FArrayBox goes, which is
// an error while anybody still sees it.
static CeedFab Wrap(Ceed ceed, amrex::FArrayBox &fab, const amrex::IntVect &layers) {
  CeedBox box = {AMREX_SPACEDIM, {}, {}, 0};
  CeedGhost ghost = {};
  CeedFab wrapped = nullptr;

  for (int d = 0; d < AMREX_SPACEDIM; d++) {
    ghost.lo[d] = ghost.hi[d] = layers[d];
    box.lo[d] = fab.box().smallEnd(d) + layers[d];
    box.hi[d] = fab.box().bigEnd(d) - layers[d];
    box.centring |= fab.box().ixType().nodeCentered(d) << d;
  }
  Check(CeedFabCreateFromArray(ceed, box, ghost, fab.nComp(), CEED_MEM_HOST, CEED_USE_POINTER,
                               nullptr, fab.dataPtr(), &wrapped));
  return wrapped;
}

// Ones in the valid cells of 8 x 8 (x 8) with two layers of ghosts: they are seen in the FArrayBox.
static bool Run(Ceed ceed) {
  const amrex::IntVect layers(2);
  amrex::FArrayBox fab(amrex::grow(amrex::Box(amrex::IntVect(-4), amrex::IntVect(3)), layers), 3);
  CeedBox valid;
  CeedFab wrapped = Wrap(ceed, fab, layers);

  fab.setVal<amrex::RunOn::Host>(0);
  Check(CeedFabGetBox(wrapped, &valid));
  Check(CeedFabSetValue(wrapped, &valid, 1, 1, 1));
  Check(CeedFabTakeArray(wrapped, CEED_MEM_HOST, nullptr));
  Check(CeedFabDestroy(&wrapped));
  return fab(amrex::IntVect(-4), 1) == 1 && fab(amrex::IntVect(3), 1) == 1 &&
         fab(amrex::IntVect(-5), 1) == 0 && fab(amrex::IntVect(3), 2) == 0;
}

int main(int argc, char **argv) {
  bool good = false;

  amrex::Initialize(argc, argv);
  try {
    Ceed ceed = nullptr;
    Check(CeedInit("/cpu/self", &ceed));
    good = Run(ceed);
    Check(CeedDestroy(&ceed));
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
  }
  std::cout << "valid cells written through the fab: " << (good ? "good" : "WRONG") << '\n';
  amrex::Finalize();
  return !good;
}
