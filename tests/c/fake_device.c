// The table of resources with a fake device in it. Its memory is mapped without any access, except
// inside its own copies: whoever else touches it, crashes.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "fake_device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../csrc/device.h"

enum { MOST_REGIONS = 1024 };

typedef struct {
  char *start;
  size_t bytes;
} Region;

FakeDeviceState fake_device;

static Region regions[MOST_REGIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Region *Find(const void *address) {
  for (int i = 0; i < MOST_REGIONS; i++) {
    const char *start = regions[i].start;
    if (start && start <= (const char *)address &&
        (const char *)address < start + regions[i].bytes) {
      return &regions[i];
    }
  }
  return NULL;
}

static void Protect(Region *region, int protection) {
  if (region && mprotect(region->start, region->bytes, protection)) abort();
}

static void *Map(size_t bytes) {
  size_t whole = (bytes + 4095) / 4096 * 4096;
  Region *region = regions;

  while (region < regions + MOST_REGIONS && region->start) region++;
  if (!whole || region == regions + MOST_REGIONS) return NULL;
  region->start = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region->start == MAP_FAILED) abort();
  region->bytes = whole;
  return region->start;
}

static void Unmap(void *memory) {
  Region *region = Find(memory);

  if (!region || region->start != memory) abort();
  munmap(region->start, region->bytes);
  region->start = NULL;
}

static void Move(void *to, const void *from, size_t bytes) {
  Region *target = Find(to), *source = Find(from);

  Protect(source, PROT_READ | PROT_WRITE);
  Protect(target, PROT_READ | PROT_WRITE);
  memmove(to, from, bytes);
  Protect(source, PROT_NONE);
  Protect(target, PROT_NONE);
}

// ------------------------------------------------------------------------------------------------
// The operations that the library knows
// ------------------------------------------------------------------------------------------------

static int Allocate(Ceed ceed, size_t bytes, void **data) {
  if (fake_device.is_full) {
    return CeedError(ceed, CEED_ERROR_MAJOR, "Out of memory: the fake device is full");
  }
  pthread_mutex_lock(&lock);
  fake_device.allocations++;
  *data = Map(bytes);
  pthread_mutex_unlock(&lock);
  return CEED_ERROR_SUCCESS;
}

static void ReleaseMemory(void *data) {
  pthread_mutex_lock(&lock);
  fake_device.releases++;
  Unmap(data);
  pthread_mutex_unlock(&lock);
}

// An address on the wrong side of the border is a fault of the library.
static void CheckSide(const void *memory, CeedMemType type) {
  if ((Find(memory) != NULL) != (type == CEED_MEM_DEVICE)) abort();
}

static int Copy(Ceed ceed, void *to, CeedMemType to_type, const void *from, CeedMemType from_type,
                size_t bytes) {
  if (!bytes) return CEED_ERROR_SUCCESS;
  if (fake_device.is_broken) {
    return CeedError(ceed, CEED_ERROR_MAJOR, "The fake device is broken");
  }
  pthread_mutex_lock(&lock);
  CheckSide(to, to_type);
  CheckSide(from, from_type);
  fake_device.to_device += to_type == CEED_MEM_DEVICE && from_type == CEED_MEM_HOST;
  fake_device.to_host += to_type == CEED_MEM_HOST && from_type == CEED_MEM_DEVICE;
  fake_device.within += to_type == from_type;
  Move(to, from, bytes);
  pthread_mutex_unlock(&lock);
  if (fake_device.during_copy) {
    void (*body)(void) = fake_device.during_copy;
    fake_device.during_copy = NULL;
    body();
  }
  return CEED_ERROR_SUCCESS;
}

// The type is CUDA's, so that tensors of this device look like those of a real one.
static const CeedDevice device = {"fake", 2, Allocate, ReleaseMemory, Copy};

const CeedResource CeedResources[] = {
    {"/cpu/self/opt/blocked", 40, NULL, true},
    {"/cpu/self/ref/serial", 50, NULL, false},
    {"/gpu/fake", 60, &device, false},
    {NULL, 0, NULL, false},
};

// ------------------------------------------------------------------------------------------------
// What tests do with the device
// ------------------------------------------------------------------------------------------------

void FakeDeviceWrite(void *to, CeedSize length, const CeedScalar *values) {
  pthread_mutex_lock(&lock);
  Move(to, values, (size_t)length * sizeof *values);
  pthread_mutex_unlock(&lock);
}

void FakeDeviceRead(const void *from, CeedSize length, CeedScalar *values) {
  FakeDeviceWrite(values, length, from);
}

void *FakeDeviceAllocate(CeedSize length, const CeedScalar *values) {
  void *memory;

  pthread_mutex_lock(&lock);
  memory = Map((size_t)length * sizeof *values);
  pthread_mutex_unlock(&lock);
  if (values) FakeDeviceWrite(memory, length, values);
  return memory;
}

void FakeDeviceFree(void *memory) {
  pthread_mutex_lock(&lock);
  Unmap(memory);
  pthread_mutex_unlock(&lock);
}
