// Devices of CUDA and HIP, through the driver that is found when a context first asks for it.
// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>

#include "driver.h"

// ------------------------------------------------------------------------------------------------
// What we use of the drivers: one row for each entry point, one column for each vendor
// ------------------------------------------------------------------------------------------------

enum { MOST_DEVICES = 64, SUCCESS = 0, OUT_OF_MEMORY = 2, EVENT_WITHOUT_TIME = 2 };
enum { ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, ATTRIBUTE_ORDINAL = 9 };

/* clang-format off */
#define ENTRIES(X)                                                                                   \
  X(int, Init, (unsigned), "cuInit", "hipInit")                                                      \
  X(int, GetVersion, (int *), "cuDriverGetVersion", "hipDriverGetVersion")                           \
  X(int, GetCount, (int *), "cuDeviceGetCount", "hipGetDeviceCount")                                 \
  X(int, GetName, (char *, int, int), "cuDeviceGetName", "hipDeviceGetName")                         \
  X(int, Retain, (void **, int), "cuDevicePrimaryCtxRetain", NULL)                                   \
  X(int, Push, (void *), "cuCtxPushCurrent_v2", NULL)                                                \
  X(int, Pop, (void **), "cuCtxPopCurrent_v2", NULL)                                                 \
  X(int, GetDevice, (int *), NULL, "hipGetDevice")                                                   \
  X(int, SetDevice, (int), NULL, "hipSetDevice")                                                     \
  X(int, Allocate, (void **, size_t), "cuMemAlloc_v2", "hipMalloc")                                  \
  X(int, Free, (void *), "cuMemFree_v2", "hipFree")                                                  \
  X(int, AllocateHost, (void **, size_t, unsigned), "cuMemHostAlloc", "hipHostMalloc")               \
  X(int, FreeHost, (void *), "cuMemFreeHost", "hipHostFree")                                         \
  X(int, CopyToDevice, (void *, const void *, size_t, void *), "cuMemcpyHtoDAsync_v2",               \
    "hipMemcpyHtoDAsync")                                                                            \
  X(int, CopyToHost, (void *, const void *, size_t, void *), "cuMemcpyDtoHAsync_v2",                 \
    "hipMemcpyDtoHAsync")                                                                            \
  X(int, CopyWithin, (void *, const void *, size_t, void *), "cuMemcpyDtoDAsync_v2",                 \
    "hipMemcpyDtoDAsync")                                                                            \
  X(int, Synchronize, (void *), "cuStreamSynchronize", "hipStreamSynchronize")                       \
  X(int, CreateEvent, (void **, unsigned), "cuEventCreate", "hipEventCreateWithFlags")               \
  X(int, RecordEvent, (void *, void *), "cuEventRecord", "hipEventRecord")                           \
  X(int, WaitForEvent, (void *, void *, unsigned), "cuStreamWaitEvent", "hipStreamWaitEvent")        \
  X(int, DestroyEvent, (void *), "cuEventDestroy_v2", "hipEventDestroy")                             \
  X(int, GetAttribute, (void *, int, const void *), "cuPointerGetAttribute", "hipPointerGetAttribute") \
  X(int, TellError, (int, const char **), "cuGetErrorString", NULL)                                  \
  X(const char *, ErrorText, (int), NULL, "hipGetErrorString")                                       \
  X(int, ForgetError, (void), NULL, "hipGetLastError")
/* clang-format on */

#define MEMBER(type, name, arguments, cuda, hip) type(*name) arguments;
#define INDEX(type, name, arguments, cuda, hip) ENTRY_##name,
#define NAME_CUDA(type, name, arguments, cuda, hip) cuda,
#define NAME_HIP(type, name, arguments, cuda, hip) hip,

enum { ENTRIES(INDEX) NUM_ENTRIES };
enum { CUDA, HIP };

typedef struct {
  ENTRIES(MEMBER)
} Entries;

static const char *const entry_names[][NUM_ENTRIES] = {
    [CUDA] = {ENTRIES(NAME_CUDA)}, [HIP] = {ENTRIES(NAME_HIP)}};

typedef struct {
  int column;
  CeedDriver driver;
  Entries call;
  int device_memory;            /* how the driver calls it */
  void *contexts[MOST_DEVICES]; /* of CUDA: a reference of each primary one that was asked for */
  bool is_loaded;
} Vendor;

static Vendor vendors[] = {
    [CUDA] = {.column = CUDA,
              .driver = {.name = "CUDA",
                         .variable = "CEEDLIKE_LIBCUDA",
                         .comes_with = "NVIDIA's driver",
                         .libraries = {"libcuda.so.1"}}},
    [HIP] = {.column = HIP,
             .driver = {.name = "HIP",
                        .variable = "CEEDLIKE_LIBHIP",
                        .comes_with = "AMD's ROCm",
                        .libraries = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so"}}},
};

static Vendor *VendorOf(int32_t dlpack_type) {
  bool is_hip = dlpack_type == DLPACK_ROCM || dlpack_type == DLPACK_ROCM_HOST;

  return &vendors[is_hip ? HIP : CUDA];
}

static Vendor *VendorOfCeed(Ceed ceed) {
  return VendorOf(ceed->device[CEED_MEM_DEVICE]->dlpack_type);
}

// ------------------------------------------------------------------------------------------------
// Errors
// ------------------------------------------------------------------------------------------------

static const char *TextOf(Vendor *vendor, int code) {
  const char *text = NULL;

  if (vendor->call.ErrorText) {
    (void)vendor->call.ForgetError(); /* or whoever asks HIP next takes it for his own */
    text = vendor->call.ErrorText(code);
  } else {
    (void)vendor->call.TellError(code, &text);
  }
  return text ? text : "an unknown error";
}

static int Report(Ceed ceed, Vendor *vendor, int entry, int code) {
  CeedCheck(code == SUCCESS, ceed, CEED_ERROR_BACKEND, "%s: %s [%d]",
            entry_names[vendor->column][entry], TextOf(vendor, code), code);
  return CEED_ERROR_SUCCESS;
}

#define Try(ceed, vendor, name, ...) \
  CeedCall(Report(ceed, vendor, ENTRY_##name, (vendor)->call.name(__VA_ARGS__)))

// ------------------------------------------------------------------------------------------------
// Opening a device
// ------------------------------------------------------------------------------------------------

static int Load(Ceed ceed, Vendor *vendor) {
  int version;

  CeedCall(CeedDriverLoad(ceed, &vendor->driver, NUM_ENTRIES, entry_names[vendor->column],
                          &vendor->call));
  Try(ceed, vendor, Init, 0);
  Try(ceed, vendor, GetVersion, &version);
  vendor->device_memory = vendor->column == HIP && version < 60000000 ? 1 : 2;
  vendor->is_loaded = true;
  return CEED_ERROR_SUCCESS;
}

static int OpenDevice(Ceed ceed, Vendor *vendor) {
  int32_t id = ceed->device_id;
  int count = 0;

  if (!vendor->is_loaded) CeedCall(Load(ceed, vendor));
  Try(ceed, vendor, GetCount, &count);
  CeedCheck(id < count && id < MOST_DEVICES, ceed, CEED_ERROR_BACKEND,
            "%s has %d device%s: device_id=%d is none", vendor->driver.name, count,
            count == 1 ? "" : "s", (int)id);
  if (vendor->column == CUDA && !vendor->contexts[id]) {
    Try(ceed, vendor, Retain, &vendor->contexts[id], (int)id);
  }
  return CEED_ERROR_SUCCESS;
}

static int Open(Ceed ceed) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int code;

  pthread_mutex_lock(&lock);
  code = OpenDevice(ceed, VendorOfCeed(ceed));
  pthread_mutex_unlock(&lock);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Calls about one device. A thread has a current one, which is the caller's to choose: it is put
// back.
// ------------------------------------------------------------------------------------------------

static int Enter(Vendor *vendor, int32_t id, int *before) {
  if (vendor->column == CUDA) return vendor->call.Push(vendor->contexts[id]);
  int code = vendor->call.GetDevice(before);
  return code ? code : vendor->call.SetDevice((int)id);
}

static void Leave(Vendor *vendor, int before) {
  void *ours;

  if (vendor->column == CUDA) {
    (void)vendor->call.Pop(&ours);
  } else {
    (void)vendor->call.SetDevice(before);
  }
}

static int Allocate(Ceed ceed, size_t bytes, void **data) {
  Vendor *vendor = VendorOfCeed(ceed);
  int before, code = Enter(vendor, ceed->device_id, &before);

  if (!code) {
    code = vendor->call.Allocate(data, bytes);
    Leave(vendor, before);
  }
  CeedCheck(code != OUT_OF_MEMORY, ceed, CEED_ERROR_MAJOR,
            "Out of memory: %zu bytes on device %d of %s: %s", bytes, (int)ceed->device_id,
            vendor->driver.name, TextOf(vendor, code));
  return Report(ceed, vendor, ENTRY_Allocate, code);
}

/* At the end of a process the driver may be gone before its memory. */
static void Release(const CeedMemory *memory) {
  Vendor *vendor = VendorOf(memory->device.device_type);
  int before;

  if (Enter(vendor, memory->device.device_id, &before)) return;
  (void)vendor->call.Free(memory->owner);
  Leave(vendor, before);
}

static int AllocatePinned(Ceed ceed, size_t bytes, void **data) {
  Vendor *vendor = VendorOfCeed(ceed);
  int before, code = Enter(vendor, ceed->device_id, &before);

  if (!code) {
    code = vendor->call.AllocateHost(data, bytes, 0);
    Leave(vendor, before);
  }
  CeedCheck(code != OUT_OF_MEMORY, ceed, CEED_ERROR_MAJOR,
            "Out of memory: %zu bytes of pinned host memory: %s", bytes, TextOf(vendor, code));
  return Report(ceed, vendor, ENTRY_AllocateHost, code);
}

/* Pinned memory is of no device, but the driver wants one to be current. */
static void ReleasePinned(const CeedMemory *memory) {
  Vendor *vendor = VendorOf(memory->device.device_type);
  int32_t id = 0;
  int before;

  while (vendor->column == CUDA && !vendor->contexts[id]) id++;
  if (Enter(vendor, id, &before)) return;
  (void)vendor->call.FreeHost(memory->owner);
  Leave(vendor, before);
}

static int Copy(Ceed ceed, void *to, CeedMemType to_type, const void *from, CeedMemType from_type,
                size_t bytes) {
  Vendor *vendor = VendorOfCeed(ceed);
  int entry = to_type == CEED_MEM_HOST     ? ENTRY_CopyToHost
              : from_type == CEED_MEM_HOST ? ENTRY_CopyToDevice
                                           : ENTRY_CopyWithin;
  int before, code;

  if (!bytes) return CEED_ERROR_SUCCESS;
  code = Enter(vendor, ceed->device_id, &before);
  if (!code) {
    code = entry == ENTRY_CopyToHost     ? vendor->call.CopyToHost(to, from, bytes, ceed->stream)
           : entry == ENTRY_CopyToDevice ? vendor->call.CopyToDevice(to, from, bytes, ceed->stream)
                                         : vendor->call.CopyWithin(to, from, bytes, ceed->stream);
    if (!code) code = vendor->call.Synchronize(ceed->stream);
    Leave(vendor, before);
  }
  return Report(ceed, vendor, entry, code);
}

static int View(Ceed ceed, FILE *stream) {
  Vendor *vendor = VendorOfCeed(ceed);
  char name[256] = "";

  Try(ceed, vendor, GetName, name, (int)sizeof name, (int)ceed->device_id);
  fprintf(stream, "%s", name);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Addresses of strangers
// ------------------------------------------------------------------------------------------------

/* 0 for memory that the driver has never heard of, as what malloc gives. */
static int Attribute(Vendor *vendor, int attribute, const void *data) {
  int value = 0; /* of one that is a bool the lowest byte is written, on machines that we support */

  if (!vendor->call.GetAttribute(&value, attribute, data)) return value;
  if (vendor->call.ForgetError) (void)vendor->call.ForgetError();
  return 0;
}

/* Managed memory is of both types. */
static int Check(Ceed ceed, CeedMemType mem_type, const void *data) {
  Vendor *vendor = VendorOfCeed(ceed);
  bool is_managed, is_device;
  int id, before;

  CeedCall(Report(ceed, vendor, ENTRY_GetAttribute, Enter(vendor, ceed->device_id, &before)));
  is_managed = Attribute(vendor, ATTRIBUTE_IS_MANAGED, data) != 0;
  is_device = Attribute(vendor, ATTRIBUTE_MEMORY_TYPE, data) == vendor->device_memory;
  id = Attribute(vendor, ATTRIBUTE_ORDINAL, data);
  Leave(vendor, before);
  if (is_managed) return CEED_ERROR_SUCCESS;
  CeedCheck(is_device == (mem_type == CEED_MEM_DEVICE), ceed, CEED_ERROR_INCOMPATIBLE,
            "The address %p is no %s memory: %s knows it %s", data, CeedMemTypes[mem_type],
            vendor->driver.name, is_device ? "as a device's" : "as none of a device");
  CeedCheck(!is_device || id == ceed->device_id, ceed, CEED_ERROR_INCOMPATIBLE,
            "The address %p is on device %d, this context is of device %d of %s: copy it there "
            "first",
            data, id, (int)ceed->device_id, vendor->driver.name);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Streams
// ------------------------------------------------------------------------------------------------

/* CUDA's default stream has two names. */
static bool IsSame(const Vendor *vendor, void *a, void *b) {
  uintptr_t legacy = vendor->column == CUDA ? 1 : 0;

  return (a ? (uintptr_t)a : legacy) == (b ? (uintptr_t)b : legacy);
}

static int OrderByEvent(Ceed ceed, Vendor *vendor, void *first, void *then) {
  void *event;
  int code;

  Try(ceed, vendor, CreateEvent, &event, EVENT_WITHOUT_TIME);
  code = Report(ceed, vendor, ENTRY_RecordEvent, vendor->call.RecordEvent(event, first));
  if (!code) {
    code = Report(ceed, vendor, ENTRY_WaitForEvent, vendor->call.WaitForEvent(then, event, 0));
  }
  (void)vendor->call.DestroyEvent(event); /* the driver keeps it as long as somebody waits */
  return code;
}

static int Order(Ceed ceed, void *first, void *then) {
  Vendor *vendor = VendorOfCeed(ceed);
  int before, code;

  if (IsSame(vendor, first, then)) return CEED_ERROR_SUCCESS;
  CeedCall(Report(ceed, vendor, ENTRY_RecordEvent, Enter(vendor, ceed->device_id, &before)));
  code = OrderByEvent(ceed, vendor, first, then);
  Leave(vendor, before);
  return code;
}

static int Wait(Ceed ceed) {
  Vendor *vendor = VendorOfCeed(ceed);
  int before, code = Enter(vendor, ceed->device_id, &before);

  if (!code) {
    code = vendor->call.Synchronize(ceed->stream);
    Leave(vendor, before);
  }
  return Report(ceed, vendor, ENTRY_Synchronize, code);
}

static const CeedDevice cuda_host = {.name = "pinned host",
                                     .dlpack_type = DLPACK_CUDA_HOST,
                                     .allocate = AllocatePinned,
                                     .release = ReleasePinned};
static const CeedDevice hip_host = {.name = "pinned host",
                                    .dlpack_type = DLPACK_ROCM_HOST,
                                    .allocate = AllocatePinned,
                                    .release = ReleasePinned};

#define OPERATIONS                                                                    \
  .allocate = Allocate, .release = Release, .copy = Copy, .open = Open, .view = View, \
  .check = Check, .order = Order, .wait = Wait

const CeedDevice CeedDeviceCUDA = {
    .name = "CUDA device", .dlpack_type = DLPACK_CUDA, .pinned = &cuda_host, OPERATIONS};
const CeedDevice CeedDeviceHIP = {
    .name = "HIP device", .dlpack_type = DLPACK_ROCM, .pinned = &hip_host, OPERATIONS};
