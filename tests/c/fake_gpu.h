// What stands in for the drivers of CUDA and HIP: two devices of which the host may touch no byte,
// and streams that do nothing until somebody waits for them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stdbool.h>
#include <stddef.h>

// What the library asked of the driver so far, and how the driver misbehaves.
typedef struct {
  int allocations, releases, to_device, to_host, within, events, pinned;
  bool is_full, is_broken;
  const char *fails;          // an entry, by its name, that answers with an error
  int hip_version;            // 0: that of a current one
  void (*during_copy)(void);  // called once, when the next copy has been done
} FakeGpu;

extern FakeGpu fake_gpu;

// Memory of a caller's own, and access to it that isn't counted.
enum { FAKE_DEVICE, FAKE_PINNED, FAKE_MANAGED };
void *FakeGpuAllocate(int kind, int device, size_t bytes);
void FakeGpuFree(void *memory);
void FakeGpuMove(void *to, const void *from, size_t bytes);

// A stream of a caller's own, and work on it: bytes that are written when it comes to that.
void *FakeGpuCreateStream(void);
void FakeGpuDestroyStream(void *stream);
void FakeGpuLaunch(void *stream, void *to, const void *bytes, size_t count);
int FakeGpuPending(void *stream);
int FakeGpuSynchronize(void *stream);

// The device that is current in this thread; -1: none.
int FakeGpuCurrent(bool hip);

#endif
