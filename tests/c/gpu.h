// Tests on a device: which one, and its memory as entries of CeedScalar.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef GPU_H
#define GPU_H

#include <dlfcn.h>

#include "fake_gpu.h"
#include "fixture.h"

// The library finds the fake that the test is linked with.
static inline void UseFakeGpu(void) {
  Dl_info info;

  if (!dladdr((void *)&fake_gpu, &info)) abort();
  setenv("CEEDLIKE_LIBCUDA", info.dli_fname, 1);
  setenv("CEEDLIKE_LIBHIP", info.dli_fname, 1);
  memset(&fake_gpu, 0, sizeof fake_gpu);
}

static inline const char *GpuResource(void) {
  const char *resource = getenv("CEEDLIKE_TEST_RESOURCE");

  return resource ? resource : "/gpu/cuda";
}

static inline bool IsHip(void) { return !strcmp(GpuResource(), "/gpu/hip"); }
static inline int GpuType(void) { return IsHip() ? ROCM : CUDA; }
static inline const char *GpuTypeName(void) { return IsHip() ? "kDLROCM" : "kDLCUDA"; }

static inline void FakeDeviceWrite(void *to, CeedSize length, const CeedScalar *values) {
  FakeGpuMove(to, values, (size_t)length * sizeof *values);
}

static inline void FakeDeviceRead(const void *from, CeedSize length, CeedScalar *values) {
  FakeGpuMove(values, from, (size_t)length * sizeof *values);
}

static inline void *FakeDeviceAllocate(CeedSize length, const CeedScalar *values) {
  void *memory = FakeGpuAllocate(FAKE_DEVICE, 0, (size_t)length * sizeof *values);

  if (values) FakeDeviceWrite(memory, length, values);
  return memory;
}

static inline void FakeDeviceFree(void *memory) { FakeGpuFree(memory); }

#endif
