// Reading tensors of strangers: names, layout, checks, and a description for a person.
// SPDX-License-Identifier: BSD-2-Clause
#include "tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------
// Names
// ------------------------------------------------------------------------------------------------

const char *DeviceName(int32_t device_type) {
  static const char *const names[] = {
      NULL,        "kDLCPU",      "kDLCUDA",   "kDLCUDAHost",    "kDLOpenCL",
      NULL,        NULL,          "kDLVulkan", "kDLMetal",       "kDLVPI",
      "kDLROCM",   "kDLROCMHost", "kDLExtDev", "kDLCUDAManaged", "kDLOneAPI",
      "kDLWebGPU", "kDLHexagon",  "kDLMAIA",   "kDLTrn",
  };
  const int32_t count = sizeof names / sizeof names[0];
  const char *name = device_type >= 0 && device_type < count ? names[device_type] : NULL;

  return name ? name : "an unknown device";
}

/* float64, bool, bfloat16, float8_e4m3fn, float32x4 (lanes): NumPy's names where it has one. */
const char *TypeName(DLDataType type, char *text, size_t size) {
  static const struct {
    const char *name;
    int bits; /* that the name implies; 0: they are part of the name */
  } types[] = {
      {"int", 0},
      {"uint", 0},
      {"float", 0},
      {"handle", 0},
      {"bfloat", 0},
      {"complex", 0},
      {"bool", 8},
      {"float8_e3m4", 8},
      {"float8_e4m3", 8},
      {"float8_e4m3b11fnuz", 8},
      {"float8_e4m3fn", 8},
      {"float8_e4m3fnuz", 8},
      {"float8_e5m2", 8},
      {"float8_e5m2fnuz", 8},
      {"float8_e8m0fnu", 8},
      {"float6_e2m3fn", 6},
      {"float6_e3m2fn", 6},
      {"float4_e2m1fn", 4},
  };
  char lanes[16] = "";

  if (type.lanes != 1) snprintf(lanes, sizeof lanes, "x%u", type.lanes);
  if (type.code >= sizeof types / sizeof types[0]) {
    snprintf(text, size, "an unknown type%s", lanes);
  } else if (types[type.code].bits == type.bits) {
    snprintf(text, size, "%s%s", types[type.code].name, lanes);
  } else {
    snprintf(text, size, "%s%u%s", types[type.code].name, type.bits, lanes);
  }
  return text;
}

/* (4, 3), cut where the text is full; "none" for NULL, and nothing is followed that can't be sound.
 */
const char *NumbersText(int32_t ndim, const int64_t *numbers, char *text, size_t size) {
  size_t used;

  if (ndim < 0 || ndim > DLPACK_MAX_NDIM) return "not read";
  if (!numbers && ndim) return "none";
  used = (size_t)snprintf(text, size, "(");
  for (int32_t i = 0; i < ndim && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%" PRId64 "%s", numbers[i],
                             i < ndim - 1 ? ", "
                             : ndim == 1  ? ","
                                          : "");
  }
  if (used < size) snprintf(text + used, size - used, ")");
  return text;
}

bool IsHostAddressable(DLDevice device) {
  return device.device_type == DLPACK_CPU || device.device_type == DLPACK_CUDA_HOST ||
         device.device_type == DLPACK_ROCM_HOST || device.device_type == DLPACK_CUDA_MANAGED;
}

// ------------------------------------------------------------------------------------------------
// Either kind of managed tensor
// ------------------------------------------------------------------------------------------------

/* Of another major version only the deleter is where it was, so nothing else is read. */
int AnyTensorOpen(Ceed ceed, const void *managed, bool versioned, AnyTensor *any) {
  const DLManagedTensorVersioned *v = managed;

  CeedCheck(managed, ceed, CEED_ERROR_INCOMPATIBLE, "The tensor is NULL");
  CeedCheck(!versioned || v->version.major == DLPACK_MAJOR, ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor is of DLPack version %" PRIu32 ".%" PRIu32 ", this library reads %d.x",
            v->version.major, v->version.minor, DLPACK_MAJOR);
  any->managed = (void *)(uintptr_t)managed;
  any->versioned = versioned;
  any->read_only = versioned && (v->flags & DLPACK_FLAG_READ_ONLY);
  any->tensor = versioned ? &v->dl_tensor : &((const DLManagedTensor *)managed)->dl_tensor;
  return CEED_ERROR_SUCCESS;
}

void AnyTensorRelease(const AnyTensor *any) {
  DLManagedTensorVersioned *versioned = any->managed;
  DLManagedTensor *legacy = any->managed;

  if (any->versioned) {
    if (versioned->deleter) versioned->deleter(versioned);
  } else if (legacy->deleter) {
    legacy->deleter(legacy);
  }
}

// ------------------------------------------------------------------------------------------------
// Layout
// ------------------------------------------------------------------------------------------------

static int CheckAxes(Ceed ceed, const DLTensor *tensor, bool *is_empty) {
  CeedCheck(tensor->ndim >= 0 && tensor->ndim <= DLPACK_MAX_NDIM, ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor has %" PRId32 " axes; 0 to %d can be", tensor->ndim, DLPACK_MAX_NDIM);
  CeedCheck(tensor->shape || !tensor->ndim, ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor has %" PRId32 " axes and no shape", tensor->ndim);
  *is_empty = false;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    CeedCheck(tensor->shape[i] >= 0, ceed, CEED_ERROR_INCOMPATIBLE,
              "The tensor's axis %" PRId32 " has the length %" PRId64, i, tensor->shape[i]);
    if (!tensor->shape[i]) *is_empty = true;
  }
  return CEED_ERROR_SUCCESS;
}

/* Count, contiguity and extent, from the fastest axis of C order outwards. Axes of length 1 have no
   stride. False when a number overflows. */
static bool WalkAxes(const DLTensor *tensor, TensorLayout *layout) {
  layout->count = 1;
  for (int32_t i = tensor->ndim - 1; i >= 0; i--) {
    int64_t length = tensor->shape[i], reach;
    int64_t stride = tensor->strides ? tensor->strides[i] : layout->count;
    int64_t *end = stride < 0 ? &layout->low : &layout->high;

    if (length > 1) {
      if (stride != layout->count) layout->contiguous = false;
      if (__builtin_mul_overflow(length - 1, stride, &reach)) return false;
      if (__builtin_add_overflow(*end, reach, end)) return false;
    }
    if (__builtin_mul_overflow(layout->count, length, &layout->count)) return false;
  }
  return true;
}

/* The bytes from the lowest to the highest entry lie inside the address space. */
static bool ExtentFits(const DLTensor *tensor, size_t item_bytes, TensorLayout *layout) {
  uintptr_t first, end;
  int64_t below, above, item = (int64_t)item_bytes, bytes;

  if (__builtin_mul_overflow(layout->count, item, &bytes)) return false;
  if (__builtin_mul_overflow(layout->low, -item, &below)) return false;
  if (__builtin_add_overflow(layout->high, 1, &above)) return false;
  if (__builtin_mul_overflow(above, item, &above)) return false;
  if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &first)) return false;
  layout->first = (char *)first;
  return first >= (uintptr_t)below && !__builtin_add_overflow(first, (uintptr_t)above, &end);
}

int TensorCheckLayout(Ceed ceed, const DLTensor *tensor, size_t item_bytes, TensorLayout *layout) {
  bool is_empty;

  *layout = (TensorLayout){.contiguous = true};
  CeedCall(CheckAxes(ceed, tensor, &is_empty));
  if (is_empty) return CEED_ERROR_SUCCESS;
  CeedCheck(WalkAxes(tensor, layout) && ExtentFits(tensor, item_bytes, layout), ceed,
            CEED_ERROR_INCOMPATIBLE, "The tensor's shape, strides or offset overflow");
  CeedCheck(tensor->data && layout->first, ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor has %" PRId64 " entries and NULL data", layout->count);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Checking for a caller
// ------------------------------------------------------------------------------------------------

static bool Matches(int64_t wanted, int64_t found) { return wanted == -1 || wanted == found; }

static int CheckDevice(const DLTensor *tensor, const CeedDLPackSpec *spec) {
  int32_t type = tensor->device.device_type;

  CeedCheck(spec->device_type == -1 ? IsHostAddressable(tensor->device) : spec->device_type == type,
            NULL, CEED_ERROR_INCOMPATIBLE,
            "The tensor lies on %s (device type %" PRId32 "), %s is wanted", DeviceName(type), type,
            spec->device_type == -1 ? "host memory" : DeviceName(spec->device_type));
  return CEED_ERROR_SUCCESS;
}

static int CheckType(DLDataType type, const CeedDLPackSpec *spec) {
  char text[48];

  CeedCheck(type.bits && type.lanes, NULL, CEED_ERROR_INCOMPATIBLE,
            "The tensor's type (%d, %d, %d) has no bits", type.code, type.bits, type.lanes);
  CeedCheck(Matches(spec->code, type.code) && Matches(spec->bits, type.bits) &&
                Matches(spec->lanes, type.lanes),
            NULL, CEED_ERROR_INCOMPATIBLE,
            "The tensor holds %s, DLPack type (%d, %d, %d); (%" PRId32 ", %" PRId32 ", %" PRId32
            ") is wanted, -1 for any",
            TypeName(type, text, sizeof text), type.code, type.bits, type.lanes, spec->code,
            spec->bits, spec->lanes);
  return CEED_ERROR_SUCCESS;
}

static int CheckShape(const DLTensor *tensor, const CeedDLPackSpec *spec) {
  CeedCheck(Matches(spec->ndim, tensor->ndim), NULL, CEED_ERROR_DIMENSION,
            "The tensor has %" PRId32 " axes, %" PRId32 " are wanted", tensor->ndim, spec->ndim);
  for (int32_t i = 0; spec->shape && i < spec->ndim; i++) {
    CeedCheck(Matches(spec->shape[i], tensor->shape[i]), NULL, CEED_ERROR_DIMENSION,
              "The tensor's axis %" PRId32 " has the length %" PRId64 ", %" PRId64 " is wanted", i,
              tensor->shape[i], spec->shape[i]);
  }
  return CEED_ERROR_SUCCESS;
}

static int CheckMemory(const AnyTensor *any, const TensorLayout *layout,
                       const CeedDLPackSpec *spec) {
  CeedCheck(!spec->contiguous || layout->contiguous, NULL, CEED_ERROR_INCOMPATIBLE,
            "The tensor is not C-contiguous");
  CeedCheck(!spec->writable || !any->read_only, NULL, CEED_ERROR_ACCESS, "The tensor is read-only");
  CeedCheck(!spec->alignment || (uintptr_t)layout->first % spec->alignment == 0, NULL,
            CEED_ERROR_INCOMPATIBLE, "The tensor's first entry %p is not aligned to %zu bytes",
            (void *)layout->first, spec->alignment);
  return CEED_ERROR_SUCCESS;
}

int CeedDLPackCheck(const void *tensor, bool versioned, const CeedDLPackSpec *spec) {
  AnyTensor any;
  TensorLayout layout;
  DLDataType type;

  CeedCheck(spec, NULL, CEED_ERROR_INCOMPATIBLE, "The spec is NULL");
  CeedCheck(!spec->shape || spec->ndim >= 0, NULL, CEED_ERROR_INCOMPATIBLE,
            "The spec has a shape and any number of axes");
  CeedCall(AnyTensorOpen(NULL, tensor, versioned, &any));
  type = any.tensor->dtype;
  CeedCall(CheckDevice(any.tensor, spec));
  CeedCall(CheckType(type, spec));
  CeedCall(TensorCheckLayout(NULL, any.tensor, ((size_t)type.bits * type.lanes + 7) / 8, &layout));
  CeedCall(CheckShape(any.tensor, spec));
  return CheckMemory(&any, &layout, spec);
}

// ------------------------------------------------------------------------------------------------
// Memory types
// ------------------------------------------------------------------------------------------------

static int GetMemType(const AnyTensor *any, CeedMemType *mem_type) {
  DLDevice device = any->tensor->device;
  bool is_device = device.device_type == DLPACK_CUDA || device.device_type == DLPACK_ROCM ||
                   device.device_type == DLPACK_ONEAPI;

  CeedCheckOutput(mem_type, NULL);
  CeedCheck(is_device || IsHostAddressable(device), NULL, CEED_ERROR_INCOMPATIBLE,
            "The tensor lies on %s (device type %" PRId32 "), which is no memory type here",
            DeviceName(device.device_type), device.device_type);
  *mem_type = is_device ? CEED_MEM_DEVICE : CEED_MEM_HOST;
  return CEED_ERROR_SUCCESS;
}

int CeedDLPackGetMemType(const DLManagedTensor *tensor, CeedMemType *mem_type) {
  AnyTensor any;

  CeedCall(AnyTensorOpen(NULL, tensor, false, &any));
  return GetMemType(&any, mem_type);
}

int CeedDLPackGetMemTypeVersioned(const DLManagedTensorVersioned *tensor, CeedMemType *mem_type) {
  AnyTensor any;

  CeedCall(AnyTensorOpen(NULL, tensor, true, &any));
  return GetMemType(&any, mem_type);
}

// ------------------------------------------------------------------------------------------------
// Describing
// ------------------------------------------------------------------------------------------------

static void ViewNumbers(const char *name, int32_t ndim, const int64_t *numbers, FILE *stream) {
  char text[TENSOR_TEXT];

  fprintf(stream, "  %s%s\n", name, NumbersText(ndim, numbers, text, sizeof text));
}

/* Like TensorCheckLayout(), but what is wrong is printed and is no error. */
static void ViewLayout(const DLTensor *tensor, FILE *stream) {
  TensorLayout layout = {.contiguous = true};
  size_t item_bytes = ((size_t)tensor->dtype.bits * tensor->dtype.lanes + 7) / 8;
  bool has_axes = tensor->ndim >= 0 && tensor->ndim <= DLPACK_MAX_NDIM;
  bool has_shape = has_axes && (tensor->shape || !tensor->ndim);
  bool is_empty = false, negative = false;

  for (int32_t i = 0; has_shape && i < tensor->ndim; i++) {
    is_empty = is_empty || tensor->shape[i] == 0;
    negative = negative || tensor->shape[i] < 0;
  }
  if (!has_axes) {
    fprintf(stream, "malformed: the number of axes must be 0 to %d\n", DLPACK_MAX_NDIM);
  } else if (!has_shape) {
    fprintf(stream, "malformed: axes without a shape\n");
  } else if (negative) {
    fprintf(stream, "malformed: a negative length\n");
  } else if (is_empty) {
    fprintf(stream, "empty\n");
  } else if (!WalkAxes(tensor, &layout) || !ExtentFits(tensor, item_bytes, &layout)) {
    fprintf(stream, "malformed: shape, strides or offset overflow\n");
  } else {
    fprintf(stream, "%" PRId64 " entries, %sC-contiguous%s\n", layout.count,
            layout.contiguous ? "" : "not ", tensor->data ? "" : "; malformed: NULL data");
  }
}

static void ViewTensor(const DLTensor *tensor, FILE *stream) {
  uintptr_t first = (uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset;
  DLDataType type = tensor->dtype;
  char text[48];

  fprintf(stream, "  device:     %s (%" PRId32 ", %" PRId32 ")\n",
          DeviceName(tensor->device.device_type), tensor->device.device_type,
          tensor->device.device_id);
  fprintf(stream, "  type:       %s (%d, %d, %d)\n", TypeName(type, text, sizeof text), type.code,
          type.bits, type.lanes);
  fprintf(stream, "  axes:       %" PRId32 "\n", tensor->ndim);
  ViewNumbers("shape:      ", tensor->ndim, tensor->shape, stream);
  ViewNumbers("strides:    ", tensor->ndim, tensor->strides, stream);
  fprintf(stream, "  layout:     ");
  ViewLayout(tensor, stream);
  fprintf(stream, "  data:       %p\n  offset:     %" PRIu64 " bytes\n", tensor->data,
          tensor->byte_offset);
  fprintf(stream, "  alignment:  ");
  if (first) {
    fprintf(stream, "%llu bytes\n", (unsigned long long)(first & (~first + 1)));
  } else {
    fprintf(stream, "none\n");
  }
}

static void ViewFlags(uint64_t flags, FILE *stream) {
  fprintf(stream, "  flags:      0x%" PRIx64 "%s%s%s\n", flags,
          flags & DLPACK_FLAG_READ_ONLY ? " read-only" : " writable",
          flags & DLPACK_FLAG_IS_COPIED ? ", copied" : "",
          flags & DLPACK_FLAG_SUBBYTE_PADDED ? ", sub-byte types padded" : "");
}

int CeedDLPackView(const DLManagedTensor *tensor, FILE *stream) {
  CeedCheck(tensor && stream, NULL, CEED_ERROR_INCOMPATIBLE, "The tensor or the stream is NULL");
  fprintf(stream, "DLPack tensor, legacy (it can't say whether it is read-only)\n");
  ViewTensor(&tensor->dl_tensor, stream);
  fprintf(stream, "  deleter:    %s\n", tensor->deleter ? "present" : "NULL");
  return CEED_ERROR_SUCCESS;
}

int CeedDLPackViewVersioned(const DLManagedTensorVersioned *tensor, FILE *stream) {
  CeedCheck(tensor && stream, NULL, CEED_ERROR_INCOMPATIBLE, "The tensor or the stream is NULL");
  fprintf(stream, "DLPack tensor, version %" PRIu32 ".%" PRIu32 "\n", tensor->version.major,
          tensor->version.minor);
  if (tensor->version.major != DLPACK_MAJOR) {
    fprintf(stream, "  not read:   this library knows version %d.x\n", DLPACK_MAJOR);
  } else {
    ViewFlags(tensor->flags, stream);
    ViewTensor(&tensor->dl_tensor, stream);
  }
  fprintf(stream, "  deleter:    %s\n", tensor->deleter ? "present" : "NULL");
  return CEED_ERROR_SUCCESS;
}
