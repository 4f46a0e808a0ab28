// A device of which the host may touch no byte, for tests of the mirrors of a vector.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "ceedlike.h"

// What the library asked of the device so far, and how the device misbehaves.
typedef struct {
  int allocations, releases, to_device, to_host, within;
  bool is_full, is_broken;
  void (*during_copy)(void);  // called once, when the library's next copy has read its source
} FakeDeviceState;

extern FakeDeviceState fake_device;

// Memory of a caller's own on the device, and access to it that isn't counted.
void *FakeDeviceAllocate(CeedSize length, const CeedScalar *values);
void FakeDeviceFree(void *memory);
void FakeDeviceWrite(void *to, CeedSize length, const CeedScalar *values);
void FakeDeviceRead(const void *from, CeedSize length, CeedScalar *values);

#endif
