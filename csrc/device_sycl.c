// Devices of SYCL, through the C interface of dpctl. Their queues have no order of their own, so
// that each step names what it waits for.
// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>

#include "driver.h"

enum { MOST_DEVICES = 64, EVERY_DEVICE = 31 << 16 | 63 };
enum { USM_UNKNOWN, USM_DEVICE, USM_SHARED, USM_HOST };

#define ENTRIES(X)                                                                           \
  X(void *, DeviceMgr_GetDevices, (int))                                                     \
  X(size_t, DeviceVector_Size, (void *))                                                     \
  X(void *, DeviceVector_GetAt, (void *, size_t))                                            \
  X(void, DeviceVector_Delete, (void *))                                                     \
  X(const char *, Device_GetName, (void *))                                                  \
  X(bool, Device_AreEq, (void *, void *))                                                    \
  X(void, Device_Delete, (void *))                                                           \
  X(void, CString_Delete, (const char *))                                                    \
  X(void *, Queue_CreateForDevice, (void *, void *, int))                                    \
  X(void *, Queue_GetDevice, (void *))                                                       \
  X(void *, Queue_GetContext, (void *))                                                      \
  X(void, Context_Delete, (void *))                                                          \
  X(void *, aligned_alloc_device, (size_t, size_t, void *))                                  \
  X(void, free_with_queue, (void *, void *))                                                 \
  X(int, USM_GetPointerType, (const void *, void *))                                         \
  X(void *, USM_GetPointerDevice, (const void *, void *))                                    \
  X(void *, Queue_SubmitBarrier, (void *))                                                   \
  X(void *, Queue_SubmitBarrierForEvents, (void *, void **, size_t))                         \
  X(void *, Queue_MemcpyWithEvents, (void *, void *, const void *, size_t, void **, size_t)) \
  X(void, Event_Wait, (void *))                                                              \
  X(void, Event_Delete, (void *))

#define MEMBER(type, name, arguments) type(*name) arguments;
#define NAME(type, name, arguments) "DPCTL" #name,

static const char *const names[] = {ENTRIES(NAME)};
static struct { ENTRIES(MEMBER) } sycl;
static bool is_loaded;
static void *queues[MOST_DEVICES]; /* one of each device that was asked for */

static const CeedDriver driver = {.name = "SYCL",
                                  .variable = "CEEDLIKE_LIBSYCL",
                                  .comes_with = "the Python package dpctl, whose import loads it",
                                  .libraries = {"libDPCTLSyclInterface.so"}};

/* dpctl tells no reason to its caller; it prints one. */
static int Fail(Ceed ceed, const char *entry) {
  return CeedError(ceed, CEED_ERROR_BACKEND,
                   "DPCTL%s failed; with DPCTL_VERBOSITY=error in the environment it prints why",
                   entry);
}

// ------------------------------------------------------------------------------------------------
// Opening a device
// ------------------------------------------------------------------------------------------------

static int MakeQueue(Ceed ceed, void **queue) {
  size_t id = (size_t)ceed->device_id, count;
  void *devices = sycl.DeviceMgr_GetDevices(EVERY_DEVICE), *device = NULL;

  count = devices ? sycl.DeviceVector_Size(devices) : 0;
  if (id < count && id < MOST_DEVICES) device = sycl.DeviceVector_GetAt(devices, id);
  if (devices) sycl.DeviceVector_Delete(devices);
  CeedCheck(device, ceed, CEED_ERROR_BACKEND, "SYCL has %zu device%s: device_id=%zu is none", count,
            count == 1 ? "" : "s", id);
  *queue = sycl.Queue_CreateForDevice(device, NULL, 0);
  sycl.Device_Delete(device);
  return *queue ? CEED_ERROR_SUCCESS : Fail(ceed, "Queue_CreateForDevice");
}

static int OpenDevice(Ceed ceed) {
  bool is_known = ceed->device_id < MOST_DEVICES && queues[ceed->device_id];
  void *queue;

  if (!is_loaded) {
    CeedCall(CeedDriverLoad(ceed, &driver, sizeof names / sizeof *names, names, &sycl));
    is_loaded = true;
  }
  if (!is_known) {
    CeedCall(MakeQueue(ceed, &queue));
    queues[ceed->device_id] = queue;
  }
  ceed->stream = queues[ceed->device_id];
  return CEED_ERROR_SUCCESS;
}

static int Open(Ceed ceed) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int code;

  pthread_mutex_lock(&lock);
  code = OpenDevice(ceed);
  pthread_mutex_unlock(&lock);
  return code;
}

static int View(Ceed ceed, FILE *stream) {
  void *device = sycl.Queue_GetDevice(queues[ceed->device_id]);
  const char *name = device ? sycl.Device_GetName(device) : NULL;

  fprintf(stream, "%s", name ? name : "a device without a name");
  if (name) sycl.CString_Delete(name);
  if (device) sycl.Device_Delete(device);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Memory
// ------------------------------------------------------------------------------------------------

static int Allocate(Ceed ceed, size_t bytes, void **data) {
  *data = sycl.aligned_alloc_device(CEED_ALIGNMENT, bytes, queues[ceed->device_id]);
  CeedCheck(*data, ceed, CEED_ERROR_MAJOR, "Out of memory: %zu bytes on device %d of SYCL", bytes,
            (int)ceed->device_id);
  return CEED_ERROR_SUCCESS;
}

static void Release(const CeedMemory *memory) {
  sycl.free_with_queue(memory->owner, queues[memory->device.device_id]);
}

/* Wait for an event, and for whatever was given to the queue before it. */
static int WaitFor(Ceed ceed, void *event, const char *entry) {
  if (!event) return Fail(ceed, entry);
  sycl.Event_Wait(event);
  sycl.Event_Delete(event);
  return CEED_ERROR_SUCCESS;
}

static int Copy(Ceed ceed, void *to, CeedMemType to_type, const void *from, CeedMemType from_type,
                size_t bytes) {
  void *before, *event;

  (void)to_type;
  (void)from_type;
  if (!bytes) return CEED_ERROR_SUCCESS;
  before = sycl.Queue_SubmitBarrier(ceed->stream);
  if (!before) return Fail(ceed, "Queue_SubmitBarrier");
  event = sycl.Queue_MemcpyWithEvents(ceed->stream, to, from, bytes, &before, 1);
  sycl.Event_Delete(before);
  return WaitFor(ceed, event, "Queue_MemcpyWithEvents");
}

static bool IsOnDevice(Ceed ceed, void *context, const void *data) {
  void *ours = sycl.Queue_GetDevice(queues[ceed->device_id]);
  void *its = sycl.USM_GetPointerDevice(data, context);
  bool is_same = ours && its && sycl.Device_AreEq(ours, its);

  if (ours) sycl.Device_Delete(ours);
  if (its) sycl.Device_Delete(its);
  return is_same;
}

/* Shared memory is of both types, and so is that of the host which devices reach. */
static int Check(Ceed ceed, CeedMemType mem_type, const void *data) {
  void *context = sycl.Queue_GetContext(queues[ceed->device_id]);
  int type = sycl.USM_GetPointerType(data, context);
  bool is_here = type != USM_DEVICE || IsOnDevice(ceed, context, data);

  sycl.Context_Delete(context);
  CeedCheck(type != (mem_type == CEED_MEM_HOST ? USM_DEVICE : USM_UNKNOWN), ceed,
            CEED_ERROR_INCOMPATIBLE, "The address %p is no %s memory: SYCL knows it %s", data,
            CeedMemTypes[mem_type], type == USM_DEVICE ? "as a device's" : "as none of a device");
  CeedCheck(is_here, ceed, CEED_ERROR_INCOMPATIBLE,
            "The address %p is on another device than %d of SYCL: copy it there first", data,
            (int)ceed->device_id);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Queues
// ------------------------------------------------------------------------------------------------

static int Wait(Ceed ceed) {
  return WaitFor(ceed, sycl.Queue_SubmitBarrier(ceed->stream), "Queue_SubmitBarrier");
}

static int Order(Ceed ceed, void *first, void *then) {
  void *event, *barrier;

  if (first == then) return CEED_ERROR_SUCCESS;
  CeedCheck(first, ceed, CEED_ERROR_INCOMPATIBLE,
            "SYCL has no default queue that could be waited for: name one");
  if (!then) return Wait(ceed);
  event = sycl.Queue_SubmitBarrier(first);
  if (!event) return Fail(ceed, "Queue_SubmitBarrier");
  barrier = sycl.Queue_SubmitBarrierForEvents(then, &event, 1);
  sycl.Event_Delete(event);
  if (!barrier) return Fail(ceed, "Queue_SubmitBarrierForEvents");
  sycl.Event_Delete(barrier);
  return CEED_ERROR_SUCCESS;
}

const CeedDevice CeedDeviceSYCL = {.name = "SYCL device",
                                   .dlpack_type = DLPACK_ONEAPI,
                                   .allocate = Allocate,
                                   .release = Release,
                                   .copy = Copy,
                                   .open = Open,
                                   .view = View,
                                   .check = Check,
                                   .order = Order,
                                   .wait = Wait};
