// A library that stands in for libcuda and libamdhip64. Device memory is mapped without any access,
// except inside its own copies: whoever else touches it, crashes. A stream is a list of work that
// is done when somebody waits for it, and no sooner.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "fake_gpu.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_REGIONS = 1024, NUM_DEVICES = 2, MOST_CONTEXTS = 16 };
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201 };
enum { INVALID_HANDLE = 400, BROKEN = 719 };
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, ORDINAL = 9 };

typedef struct {
  char *start;
  size_t bytes;
  int kind, device;
} Region;

typedef struct Stream Stream;

typedef struct Work {
  struct Work *next;
  void *to;
  const void *from;  // NULL: nothing is copied
  size_t bytes;
  Stream *first;  // that is waited for, until so much of it is done
  uint64_t until;
  bool owns_from;
} Work;

struct Stream {
  Work *head, **tail;
  uint64_t given, done;
};

typedef struct {
  Stream *stream;
  uint64_t given;
} Event;

FakeGpu fake_gpu;

static Region regions[MOST_REGIONS];
static Stream default_stream, thread_stream;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// A thread has no device until it chooses one; with HIP that is 0.
static __thread int contexts[MOST_CONTEXTS], depth, hip_device;

// ------------------------------------------------------------------------------------------------
// Memory
// ------------------------------------------------------------------------------------------------

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

static void Protect(const Region *region, int protection) {
  if (!region || region->kind != FAKE_DEVICE) return;
  if (mprotect(region->start, region->bytes, protection)) abort();
}

static void *Map(int kind, int device, size_t bytes) {
  size_t whole = (bytes + 4095) / 4096 * 4096;
  int protection = kind == FAKE_DEVICE ? PROT_NONE : PROT_READ | PROT_WRITE;
  Region *region = regions;

  while (region < regions + MOST_REGIONS && region->start) region++;
  if (!whole || region == regions + MOST_REGIONS) return NULL;
  region->start = mmap(NULL, whole, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region->start == MAP_FAILED) abort();
  region->bytes = whole;
  region->kind = kind;
  region->device = device;
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
// Streams
// ------------------------------------------------------------------------------------------------

static Stream *StreamOf(void *handle) {
  if ((uintptr_t)handle <= 1) return &default_stream;
  return (uintptr_t)handle == 2 ? &thread_stream : handle;
}

static void Give(Stream *stream, Work work) {
  Work *given = malloc(sizeof *given);

  if (!given) abort();
  *given = work;
  if (!stream->tail) stream->tail = &stream->head;
  *stream->tail = given;
  stream->tail = &given->next;
  stream->given++;
}

static void RunUntil(Stream *stream, uint64_t until);

static void Do(const Work *work) {
  if (work->first) RunUntil(work->first, work->until);
  if (work->from) Move(work->to, work->from, work->bytes);
  if (work->owns_from) free((void *)(uintptr_t)work->from);
}

static void RunUntil(Stream *stream, uint64_t until) {
  while (stream->done < until) {
    Work *work = stream->head;

    stream->head = work->next;
    if (!stream->head) stream->tail = &stream->head;
    stream->done++;
    Do(work);
    free(work);
  }
}

static int Synchronize(void *handle) {
  void (*body)(void);
  Stream *stream = StreamOf(handle);

  pthread_mutex_lock(&lock);
  RunUntil(stream, stream->given);
  body = fake_gpu.during_copy;
  fake_gpu.during_copy = NULL;
  pthread_mutex_unlock(&lock);
  if (body) body();
  return SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// What tests do
// ------------------------------------------------------------------------------------------------

void *FakeGpuAllocate(int kind, int device, size_t bytes) {
  void *memory;

  pthread_mutex_lock(&lock);
  memory = Map(kind, device, bytes);
  pthread_mutex_unlock(&lock);
  return memory;
}

void FakeGpuFree(void *memory) {
  pthread_mutex_lock(&lock);
  Unmap(memory);
  pthread_mutex_unlock(&lock);
}

void FakeGpuMove(void *to, const void *from, size_t bytes) {
  pthread_mutex_lock(&lock);
  Move(to, from, bytes);
  pthread_mutex_unlock(&lock);
}

void *FakeGpuCreateStream(void) { return calloc(1, sizeof(Stream)); }

void FakeGpuDestroyStream(void *stream) {
  Synchronize(stream);
  free(stream);
}

void FakeGpuLaunch(void *stream, void *to, const void *bytes, size_t count) {
  void *copy = malloc(count);

  if (!copy) abort();
  memcpy(copy, bytes, count);
  pthread_mutex_lock(&lock);
  Give(StreamOf(stream), (Work){.to = to, .from = copy, .bytes = count, .owns_from = true});
  pthread_mutex_unlock(&lock);
}

int FakeGpuPending(void *handle) {
  Stream *stream = StreamOf(handle);

  return (int)(stream->given - stream->done);
}

int FakeGpuSynchronize(void *stream) { return Synchronize(stream); }

// ------------------------------------------------------------------------------------------------
// What both drivers do
// ------------------------------------------------------------------------------------------------

static bool Fails(const char *entry) { return fake_gpu.fails && !strcmp(fake_gpu.fails, entry); }

int FakeGpuCurrent(bool hip) {
  if (hip) return hip_device;
  return depth ? contexts[depth - 1] : -1;
}

static int Allocate(bool hip, int kind, void **data, size_t bytes) {
  if (FakeGpuCurrent(hip) < 0) return INVALID_CONTEXT;
  if (fake_gpu.is_full) return OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  fake_gpu.allocations += kind == FAKE_DEVICE;
  fake_gpu.pinned += kind == FAKE_PINNED;
  *data = Map(kind, FakeGpuCurrent(hip), bytes);
  pthread_mutex_unlock(&lock);
  return *data ? SUCCESS : OUT_OF_MEMORY;
}

static int Free(bool hip, void *data) {
  if (FakeGpuCurrent(hip) < 0) return INVALID_CONTEXT;
  pthread_mutex_lock(&lock);
  fake_gpu.releases++;
  Unmap(data);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static int FreeHost(bool hip, void *data) {
  if (FakeGpuCurrent(hip) < 0) return INVALID_CONTEXT;
  pthread_mutex_lock(&lock);
  fake_gpu.pinned--;
  Unmap(data);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

// An address on the wrong side of the border is a fault of the library.
static bool IsOn(const void *memory, bool device) {
  const Region *region = Find(memory);

  bool is_device = region && region->kind != FAKE_PINNED;

  return is_device == device || (region && region->kind == FAKE_MANAGED);
}

static int Copy(bool hip, void *to, bool to_device, const void *from, bool from_device,
                size_t bytes, void *stream) {
  if (FakeGpuCurrent(hip) < 0) return INVALID_CONTEXT;
  if (fake_gpu.is_broken) return BROKEN;
  pthread_mutex_lock(&lock);
  if (!IsOn(to, to_device) || !IsOn(from, from_device)) abort();
  fake_gpu.to_device += to_device && !from_device;
  fake_gpu.to_host += from_device && !to_device;
  fake_gpu.within += to_device && from_device;
  Give(StreamOf(stream), (Work){.to = to, .from = from, .bytes = bytes});
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static int CreateEvent(void **event) {
  *event = calloc(1, sizeof(Event));
  fake_gpu.events++;
  return *event ? SUCCESS : OUT_OF_MEMORY;
}

static int RecordEvent(Event *event, void *handle) {
  pthread_mutex_lock(&lock);
  event->stream = StreamOf(handle);
  event->given = event->stream->given;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static int WaitForEvent(void *handle, const Event *event) {
  pthread_mutex_lock(&lock);
  Give(StreamOf(handle), (Work){.first = event->stream, .until = event->given});
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static int DestroyEvent(Event *event) {
  free(event);
  fake_gpu.events--;
  return SUCCESS;
}

static int GetAttribute(bool hip, void *value, int attribute, const void *data) {
  int device_memory = hip && fake_gpu.hip_version ? 1 : 2, code = SUCCESS;
  const Region *region;

  if (FakeGpuCurrent(hip) < 0) return INVALID_CONTEXT;
  pthread_mutex_lock(&lock);
  region = Find(data);
  if (!region) {
    code = INVALID_VALUE;
  } else if (attribute == MEMORY_TYPE) {
    *(int *)value = region->kind == FAKE_PINNED ? device_memory - 1 : device_memory;
  } else if (attribute == IS_MANAGED) {
    *(bool *)value = region->kind == FAKE_MANAGED;
  } else if (attribute == ORDINAL) {
    *(int *)value = region->device;
  } else {
    code = INVALID_VALUE;
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static const char *TextOf(int code) {
  switch (code) {
    case INVALID_VALUE:
      return "the fake device: invalid value";
    case OUT_OF_MEMORY:
      return "the fake device is full";
    case INVALID_CONTEXT:
      return "the fake device: no context is current";
    case BROKEN:
      return "the fake device is broken";
    default:
      return "the fake device fails on command";
  }
}

static int GetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// The names of each driver
// ------------------------------------------------------------------------------------------------

#define BOTH(type, cuda, hip, parameters, ...)        \
  type cuda parameters;                               \
  type cuda parameters {                              \
    enum { HIP = 0 };                                 \
    (void)HIP;                                        \
    return Fails(#cuda) ? BROKEN + 1 : (__VA_ARGS__); \
  }                                                   \
  type hip parameters;                                \
  type hip parameters {                               \
    enum { HIP = 1 };                                 \
    (void)HIP;                                        \
    return Fails(#hip) ? BROKEN + 1 : (__VA_ARGS__);  \
  }

BOTH(int, cuInit, hipInit, (unsigned flags), (int)flags)
BOTH(int, cuDriverGetVersion, hipDriverGetVersion, (int *version),
     *version = fake_gpu.hip_version ? fake_gpu.hip_version : 60300000, SUCCESS)
BOTH(int, cuDeviceGetCount, hipGetDeviceCount, (int *count), *count = NUM_DEVICES, SUCCESS)
BOTH(int, cuDeviceGetName, hipDeviceGetName, (char *name, int size, int device),
     GetName(name, size, device))
BOTH(int, cuMemAlloc_v2, hipMalloc, (void **data, size_t bytes),
     Allocate(HIP, FAKE_DEVICE, data, bytes))
BOTH(int, cuMemFree_v2, hipFree, (void *data), Free(HIP, data))
BOTH(int, cuMemHostAlloc, hipHostMalloc, (void **data, size_t bytes, unsigned flags),
     flags ? INVALID_VALUE : Allocate(HIP, FAKE_PINNED, data, bytes))
BOTH(int, cuMemFreeHost, hipHostFree, (void *data), FreeHost(HIP, data))
BOTH(int, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync,
     (void *to, const void *from, size_t bytes, void *stream),
     Copy(HIP, to, true, from, false, bytes, stream))
BOTH(int, cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync,
     (void *to, const void *from, size_t bytes, void *stream),
     Copy(HIP, to, false, from, true, bytes, stream))
BOTH(int, cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync,
     (void *to, const void *from, size_t bytes, void *stream),
     Copy(HIP, to, true, from, true, bytes, stream))
BOTH(int, cuStreamSynchronize, hipStreamSynchronize, (void *stream), Synchronize(stream))
BOTH(int, cuEventCreate, hipEventCreateWithFlags, (void **event, unsigned flags),
     flags == 2 ? CreateEvent(event) : INVALID_VALUE)
BOTH(int, cuEventRecord, hipEventRecord, (void *event, void *stream), RecordEvent(event, stream))
BOTH(int, cuStreamWaitEvent, hipStreamWaitEvent, (void *stream, void *event, unsigned flags),
     flags ? INVALID_VALUE : WaitForEvent(stream, event))
BOTH(int, cuEventDestroy_v2, hipEventDestroy, (void *event), DestroyEvent(event))
BOTH(int, cuPointerGetAttribute, hipPointerGetAttribute,
     (void *value, int attribute, const void *data), GetAttribute(HIP, value, attribute, data))

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = (void *)(uintptr_t)(0x1000 + device);
  return Fails("cuDevicePrimaryCtxRetain") ? BROKEN + 1 : SUCCESS;
}

int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context) {
  if (depth == MOST_CONTEXTS) abort();
  contexts[depth++] = (int)((uintptr_t)context - 0x1000);
  return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context) {
  if (!depth) return INVALID_CONTEXT;
  *context = (void *)(uintptr_t)(0x1000 + contexts[--depth]);
  return SUCCESS;
}

int hipGetDevice(int *device);
int hipGetDevice(int *device) {
  *device = hip_device;
  return SUCCESS;
}

int hipSetDevice(int device);
int hipSetDevice(int device) {
  if (device < 0 || device >= NUM_DEVICES) return INVALID_VALUE;
  hip_device = device;
  return SUCCESS;
}

int cuGetErrorString(int code, const char **text);
int cuGetErrorString(int code, const char **text) {
  *text = TextOf(code);
  return SUCCESS;
}

const char *hipGetErrorString(int code);
const char *hipGetErrorString(int code) { return TextOf(code); }

int hipGetLastError(void);
int hipGetLastError(void) { return SUCCESS; }
