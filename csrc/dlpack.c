// Vectors to and from tensors: exports, leases, taking.
// SPDX-License-Identifier: BSD-2-Clause
#include "dlpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An export costs about what its two locked instructions do, so its plain case is one function. */
#define HOT static inline __attribute__((always_inline))

static const DLDataType scalar_type = {DLPACK_FLOAT, 8 * sizeof(CeedScalar), 1};

// ------------------------------------------------------------------------------------------------
// Export blocks
// ------------------------------------------------------------------------------------------------

static void ExportDelete(CeedExport *block) {
  CeedBuffer buffer = block->buffer;
  uint64_t unit = block->unit;

  if (!(unit & SLOTS)) free(block);
  CeedBufferRelease(buffer, unit);
}

static void DeleteLegacy(DLManagedTensor *tensor) { ExportDelete(tensor->manager_ctx); }

static void DeleteVersioned(DLManagedTensorVersioned *tensor) { ExportDelete(tensor->manager_ctx); }

static CeedExport *ExportAllocate(CeedInt ndim) {
  return malloc(sizeof(CeedExport) + 2 * (size_t)ndim * sizeof(int64_t));
}

/* Axes of length 0 or 1 get the stride of C order: every other choice has broken somebody. `dims`
   has room for shape and strides, and lives as long as the tensor. */
HOT void FillTensor(DLTensor *tensor, const CeedMemory *memory, const CeedExportRequest *r,
                    int64_t *dims) {
  int64_t step = 1;
  bool is_empty = false;

  for (CeedInt i = r->ndim - 1; i >= 0; i--) {
    int64_t length = r->shape[i];
    dims[i] = length;
    dims[r->ndim + i] = r->strides && length > 1 ? r->strides[i] : step;
    if (length > 1) step = (int64_t)((uint64_t)step * (uint64_t)length); /* wraps when empty */
    if (!length) is_empty = true;
  }
  tensor->data = is_empty ? NULL : (CeedScalar *)memory->data + r->first;
  tensor->device = memory->device;
  tensor->ndim = r->ndim;
  tensor->dtype = scalar_type;
  tensor->shape = dims;
  tensor->strides = dims + r->ndim;
  tensor->byte_offset = 0;
}

HOT void FillVersioned(CeedExport *block, uint64_t flags) {
  DLManagedTensorVersioned *tensor = &block->tensor.versioned;

  tensor->version = (DLPackVersion){DLPACK_MAJOR, DLPACK_MINOR};
  tensor->manager_ctx = block;
  tensor->deleter = DeleteVersioned;
  tensor->flags = flags;
}

HOT void FillLegacy(CeedExport *block) {
  block->tensor.legacy.manager_ctx = block;
  block->tensor.legacy.deleter = DeleteLegacy;
}

// ------------------------------------------------------------------------------------------------
// The table of exports
// ------------------------------------------------------------------------------------------------

/* A mode's row of the table, given what lives: what is counted, and what forbids it. */
typedef struct {
  uint64_t unit, field, blockers;
  bool read_only;
} ExportRow;

HOT ExportRow RowOf(uint64_t word, CeedExportMode mode) {
  switch (mode) {
    case CEED_EXPORT_READ:
      return (ExportRow){LEASE_ONE, LEASES, READ_BLOCKERS | SHARED, true};
    case CEED_EXPORT_WRITE:
      return (ExportRow){WRITE_LEASE_ONE, WRITE_LEASE_ONE, OTHERS, false};
    case CEED_EXPORT_PIN:
      return (ExportRow){REF_ONE, REFS, 0, true};
    default:
      if (word & (READ_ONLY | LEASES)) return (ExportRow){REF_ONE, REFS, READ_BLOCKERS, true};
      return (ExportRow){SHARED_ONE, SHARED, READ_BLOCKERS, false};
  }
}

HOT bool IsWritable(const ExportRow *row) { return (row->unit & WRITABLE_EXPORTS) != 0; }

/* Writable exports are of one memory type at a time. */
HOT bool IsOtherSide(uint64_t word, const ExportRow *row, CeedMemType mem_type) {
  bool is_device = (word & SIDE_DEVICE) != 0;

  return IsWritable(row) && (word & WRITABLE_EXPORTS) && is_device != (mem_type == CEED_MEM_DEVICE);
}

HOT bool IsRefused(uint64_t word, const ExportRow *row, const CeedExportRequest *r) {
  return (word & row->blockers) || (word & row->field) == row->field || (word & MOVING) == MOVING ||
         IsOtherSide(word, row, r->mem_type) || (r->is_legacy && row->read_only) ||
         (r->mode == CEED_EXPORT_WRITE && (word & READ_ONLY));
}

/* A pin is of a place, every other export is of values. */
HOT bool IsReady(uint64_t word, const CeedExportRequest *r) {
  return word & (r->mode == CEED_EXPORT_PIN ? HoldsIn(r->mem_type) : ValidIn(r->mem_type));
}

/* What is written through an export makes the other memory out of date. */
HOT uint64_t WithUnit(uint64_t word, const ExportRow *row, CeedMemType mem_type) {
  if (IsWritable(row)) {
    word &= ~(ValidIn(OtherType(mem_type)) | FRESH | SIDE_DEVICE);
    if (mem_type == CEED_MEM_DEVICE) word |= SIDE_DEVICE;
  }
  return word + row->unit;
}

static int Refuse(Ceed ceed, uint64_t word, const ExportRow *row, const CeedExportRequest *r) {
  CeedCheck(r->mode != CEED_EXPORT_WRITE || !(word & READ_ONLY), ceed, CEED_ERROR_ACCESS,
            "Export refused: the memory is read-only");
  CeedCheck(!IsOtherSide(word, row, r->mem_type), ceed, CEED_ERROR_ACCESS,
            "Export refused: writable views of the %s memory live",
            CeedMemTypes[OtherType(r->mem_type)]);
  CeedCheck(!r->is_legacy || !row->read_only, ceed, CEED_ERROR_ACCESS,
            "Export refused: the memory is read-only or leased to readers, and a legacy tensor "
            "can't say so; export a versioned one");
  return CeedBufferRefuse(ceed, word, "Export");
}

/* Bring the values into this memory, as a reader: that is counted in `held` from then on. */
static int MakeReady(CeedVector vec, uint64_t word, const CeedExportRequest *r, uint64_t *held) {
  Ceed ceed = vec->base.ceed;

  CeedCheck(r->mode != CEED_EXPORT_PIN, ceed, CEED_ERROR_INCOMPLETE,
            "Export: there is no %s memory yet", CeedMemTypes[r->mem_type]);
  CeedCheck(word & VALID, ceed, CEED_ERROR_INCOMPLETE,
            "Export: there are no values yet: set all of them first, by SetValue, or in Python by "
            "set_value(0.0)");
  if (!*held) CeedCall(CeedBufferAcquire(ceed, vec->buffer, READER_ONE, READ_BLOCKERS, "Export"));
  *held = READER_ONE;
  return CeedBufferSync(ceed, vec->buffer, r->mem_type);
}

/* Count an export; where one is held as a reader that becomes the export in the same step. */
static int CountExport(CeedVector vec, const CeedExportRequest *r, uint64_t *held, ExportRow *row) {
  CeedBuffer buffer = vec->buffer;
  uint64_t word = CeedBufferWord(buffer);

  for (;;) {
    uint64_t others = word - *held;
    *row = RowOf(others, r->mode);
    if (IsRefused(others, row, r)) return Refuse(vec->base.ceed, others, row, r);
    if (!IsReady(word, r) && vec->length) {
      CeedCall(MakeReady(vec, word, r, held));
      word = CeedBufferWord(buffer);
    } else if (__atomic_compare_exchange_n(&buffer->word, &word, WithUnit(others, row, r->mem_type),
                                           true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
      *held = 0;
      return CEED_ERROR_SUCCESS;
    }
  }
}

/* Whatever is not plain: a block from malloc, values that lie elsewhere, errors. */
static __attribute__((noinline)) int ExportAcquireAny(CeedVector vec, CeedExportRequest r,
                                                      CeedExport **block, bool *read_only) {
  CeedExport *new_block = ExportAllocate(r.ndim);
  uint64_t held = 0;
  ExportRow row;
  int code;

  CeedCheck(new_block, vec->base.ceed, CEED_ERROR_MAJOR, "Out of memory: a tensor");
  code = CountExport(vec, &r, &held, &row);
  if (held) CeedBufferRelease(vec->buffer, held);
  if (code) {
    free(new_block);
    return code;
  }
  new_block->buffer = vec->buffer;
  new_block->unit = row.unit;
  *read_only = row.read_only;
  *block = new_block;
  return CEED_ERROR_SUCCESS;
}

/* The lowest bit of an embedded block that is free, or 0. */
HOT uint64_t FreeSlot(uint64_t word) { return ~word & SLOTS & -(~word & SLOTS); }

HOT CeedExport *BlockOf(CeedBuffer buffer, uint64_t slot) {
  return &buffer->slots[__builtin_ctzll(slot / SLOT_ONE)];
}

/* The plain case: one axis, an embedded block is free, the values are here, nobody is in the way.
 */
HOT int ExportAcquire(CeedVector vec, CeedExportRequest r, CeedExport **block, bool *read_only) {
  CeedBuffer buffer = vec->buffer;
  uint64_t word = CeedBufferWord(buffer), slot;
  ExportRow row;

  do {
    row = RowOf(word, r.mode);
    slot = FreeSlot(word);
    if (__builtin_expect(r.ndim != 1 || !slot || IsRefused(word, &row, &r) || !IsReady(word, &r),
                         0)) {
      return ExportAcquireAny(vec, r, block, read_only);
    }
  } while (!__atomic_compare_exchange_n(&buffer->word, &word,
                                        WithUnit(word, &row, r.mem_type) + slot, true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
  *block = BlockOf(buffer, slot);
  (*block)->buffer = buffer;
  (*block)->unit = row.unit + slot;
  *read_only = row.read_only;
  return CEED_ERROR_SUCCESS;
}

HOT int ExportShared(CeedVector vec, CeedExportRequest r, CeedExport **block) {
  const CeedMemory *memory = &vec->buffer->memory[r.mem_type];
  bool read_only;

  CeedCall(ExportAcquire(vec, r, block, &read_only));
  if (r.is_legacy) {
    FillLegacy(*block);
    FillTensor(&(*block)->tensor.legacy.dl_tensor, memory, &r, (*block)->dims);
  } else {
    FillVersioned(*block, read_only ? DLPACK_FLAG_READ_ONLY : 0);
    FillTensor(&(*block)->tensor.versioned.dl_tensor, memory, &r, (*block)->dims);
  }
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Copying
// ------------------------------------------------------------------------------------------------

/* Entries in C order from any strides; returns the end of what was written. The stride of an axis
   of length 1 may be any number. */
static CeedScalar *Gather(const DLTensor *tensor, int32_t axis, const char *from, CeedScalar *to) {
  int64_t length = axis < tensor->ndim ? tensor->shape[axis] : 1;
  int64_t step = length > 1 ? tensor->strides[axis] * (int64_t)sizeof *to : 0;

  if (axis < tensor->ndim - 1) {
    for (int64_t i = 0; i < length; i++) to = Gather(tensor, axis + 1, from + i * step, to);
    return to;
  }
  for (int64_t i = 0; i < length; i++) memcpy(to++, from + i * step, sizeof *to);
  return to;
}

static bool Overlaps(const TensorLayout *layout, const CeedScalar *to) {
  const char *low = layout->first + layout->low * (int64_t)sizeof *to;
  const char *high = layout->first + (layout->high + 1) * (int64_t)sizeof *to;

  return low < (const char *)(to + layout->count) && (const char *)to < high;
}

static int CopyTensor(Ceed ceed, const DLTensor *tensor, const TensorLayout *layout,
                      CeedScalar *to) {
  size_t bytes = (size_t)layout->count * sizeof *to;
  CeedScalar *apart = to;

  if (!bytes) return CEED_ERROR_SUCCESS;
  if (layout->contiguous) {
    memmove(to, layout->first, bytes);
    return CEED_ERROR_SUCCESS;
  }
  if (Overlaps(layout, to)) {
    apart = malloc(bytes);
    CeedCheck(apart, ceed, CEED_ERROR_MAJOR, "Out of memory: %zu bytes", bytes);
  }
  Gather(tensor, 0, layout->first, apart);
  if (apart == to) return CEED_ERROR_SUCCESS;
  memcpy(to, apart, bytes);
  free(apart);
  return CEED_ERROR_SUCCESS;
}

/* Between memory types bytes are moved as they lie: what has gaps is gathered on the host first. */
static int CopyAcross(Ceed ceed, CeedMemType from_type, const DLTensor *tensor,
                      const TensorLayout *layout, CeedBuffer copy, CeedMemType to_type) {
  void *to, *gathered;
  int code;

  CeedCall(CeedBufferAllocate(ceed, copy, to_type));
  to = copy->memory[to_type].data;
  if (layout->contiguous) {
    return CeedMemoryCopy(ceed, to, to_type, layout->first, from_type, copy->bytes);
  }
  if (to_type == CEED_MEM_HOST) return CopyTensor(ceed, tensor, layout, to);
  gathered = malloc(copy->bytes);
  CeedCheck(gathered, ceed, CEED_ERROR_MAJOR, "Out of memory for %zu bytes", copy->bytes);
  code = CopyTensor(ceed, tensor, layout, gathered);
  if (!code) code = CeedMemoryCopy(ceed, to, to_type, gathered, CEED_MEM_HOST, copy->bytes);
  free(gathered);
  return code;
}

/* The copy is a buffer of its own, whose one count becomes the tensor's. */
static int CopyToBuffer(Ceed ceed, CeedMemType from_type, const DLTensor *tensor,
                        const TensorLayout *layout, CeedMemType to_type, CeedBuffer *copy) {
  int code;

  CeedCall(CeedBufferCreate(ceed, (size_t)layout->count * sizeof(CeedScalar), copy));
  code = CopyAcross(ceed, from_type, tensor, layout, *copy, to_type);
  if (code) CeedBufferRelease(*copy, REF_ONE);
  return code;
}

/* From the memory that is asked for, unless only the other one is current: that saves the copy to
   where nobody looks. What has gaps is gathered on the host. */
static CeedMemType SideToCopy(CeedVector vec, const CeedExportRequest *r, bool is_contiguous) {
  uint64_t word = CeedBufferWord(vec->buffer);

  if (!is_contiguous) return CEED_MEM_HOST;
  return word & ValidIn(r->mem_type) || !(word & VALID) ? r->mem_type : OtherType(r->mem_type);
}

static int CopyOfView(CeedVector vec, const CeedExportRequest *r, CeedBuffer *copy) {
  Ceed ceed = vec->base.ceed;
  int64_t dims[2 * DLPACK_MAX_NDIM];
  const CeedMemory nowhere = {.data = (void *)CEED_ALIGNMENT};
  const CeedScalar *data;
  TensorLayout layout;
  CeedMemType side;
  DLTensor view;
  int code;

  FillTensor(&view, &nowhere, r, dims);
  CeedCall(TensorCheckLayout(ceed, &view, sizeof(CeedScalar), &layout));
  side = SideToCopy(vec, r, layout.contiguous);
  CeedCall(CeedVectorAcquireRead(vec, side, &data, "Export"));
  FillTensor(&view, &vec->buffer->memory[side], r, dims);
  code = TensorCheckLayout(ceed, &view, sizeof(CeedScalar), &layout);
  if (!code) code = CopyToBuffer(ceed, side, &view, &layout, r->mem_type, copy);
  CeedVectorReleaseRead(vec);
  return code;
}

/* Nobody else knows the copy yet, so its word needs no care. */
static CeedExport *BlockOfCopy(CeedBuffer copy, CeedInt ndim) {
  uint64_t slot = ndim == 1 ? SLOT_ONE : 0;
  CeedExport *block = slot ? BlockOf(copy, slot) : ExportAllocate(ndim);

  if (!block) return NULL;
  copy->word += slot;
  block->buffer = copy;
  block->unit = REF_ONE + slot;
  return block;
}

static int ExportCopy(CeedVector vec, const CeedExportRequest *r, CeedExport **block) {
  Ceed ceed = vec->base.ceed;
  CeedExportRequest compact = *r;
  CeedBuffer copy;

  CeedCall(CopyOfView(vec, r, &copy));
  *block = BlockOfCopy(copy, r->ndim);
  if (!*block) {
    CeedBufferRelease(copy, REF_ONE);
    return CeedError(ceed, CEED_ERROR_MAJOR, "Out of memory: a tensor");
  }
  compact.strides = NULL;
  compact.first = 0;
  FillVersioned(*block, DLPACK_FLAG_IS_COPIED);
  FillTensor(&(*block)->tensor.versioned.dl_tensor, &copy->memory[r->mem_type], &compact,
             (*block)->dims);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Exporting
// ------------------------------------------------------------------------------------------------

/* The entries from the first to the last that are reached; false on overflow or a bad number. */
static bool ReachOf(const CeedExportRequest *r, int64_t *reach) {
  int64_t count = 1, last = 0, step;

  for (CeedInt i = r->ndim - 1; i >= 0; i--) {
    int64_t stride = r->strides ? r->strides[i] : count;

    if (r->shape[i] < 0 || stride < 0) return false;
    if (r->shape[i] > 1) {
      if (__builtin_mul_overflow(r->shape[i] - 1, stride, &step)) return false;
      if (__builtin_add_overflow(last, step, &last)) return false;
    }
    if (__builtin_mul_overflow(count, r->shape[i], &count)) return false;
  }
  if (last == INT64_MAX) return false;
  *reach = count ? last + 1 : 0;
  return true;
}

static int CheckRequest(CeedVector vec, const CeedExportRequest *r) {
  Ceed ceed = vec->base.ceed;
  int64_t reach;

  CeedCheck(r->mode >= CEED_EXPORT_SHARED && r->mode <= CEED_EXPORT_COPY, ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no export mode", (int)r->mode);
  CeedCheck(r->ndim >= 0 && r->ndim <= DLPACK_MAX_NDIM, ceed, CEED_ERROR_DIMENSION,
            "Export: %" PRId32 " axes; 0 to %d can be", r->ndim, DLPACK_MAX_NDIM);
  CeedCheck(r->shape || !r->ndim, ceed, CEED_ERROR_INCOMPATIBLE, "Export: the shape is NULL");
  CeedCheck(ReachOf(r, &reach), ceed, CEED_ERROR_DIMENSION,
            "Export: a length or stride is negative, or the shape overflows");
  CeedCheck(reach <= vec->length - r->first, ceed, CEED_ERROR_DIMENSION,
            "Export: the shape reaches %" PRId64 " entries, the vector has %td", reach,
            vec->length - r->first);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorExportPart(CeedVector vec, const CeedExportRequest *request, CeedExport **block) {
  CeedCall(CeedMemTypeCheck(vec->base.ceed, request->mem_type));
  CeedCall(CheckRequest(vec, request));
  return request->mode == CEED_EXPORT_COPY ? ExportCopy(vec, request, block)
                                           : ExportShared(vec, *request, block);
}

int CeedVectorExport(CeedVector vec, CeedMemType mem_type, CeedExportMode mode, CeedInt ndim,
                     const int64_t *shape, const int64_t *strides,
                     DLManagedTensorVersioned **tensor) {
  CeedExportRequest request = {mode, mem_type, ndim, shape, strides, false, 0};
  CeedExport *block;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(tensor, vec->base.ceed);
  CeedCall(CeedVectorExportPart(vec, &request, &block));
  *tensor = &block->tensor.versioned;
  return CEED_ERROR_SUCCESS;
}

/* A vector's own context or none, so that an argument that is ignored is at least the right one. */
static __attribute__((noinline)) int CheckOther(Ceed ceed) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  return CeedError(ceed, CEED_ERROR_INCOMPATIBLE, "The vector belongs to another context");
}

HOT int CheckOwner(Ceed ceed, CeedVector vec) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  return !ceed || ceed == vec->base.ceed ? CEED_ERROR_SUCCESS : CheckOther(ceed);
}

HOT int ExportWhole(Ceed ceed, CeedVector vec, CeedMemType mem_type, bool is_legacy,
                    const void *tensor, CeedExport **block) {
  CeedCall(CheckOwner(ceed, vec));
  CeedCheckOutput(tensor, vec->base.ceed);
  if (mem_type != CEED_MEM_HOST) CeedCall(CeedMemTypeCheck(vec->base.ceed, mem_type));
  int64_t length = vec->length;
  CeedExportRequest request = {CEED_EXPORT_SHARED, mem_type, 1, &length, NULL, is_legacy, 0};
  return ExportShared(vec, request, block);
}

int CeedVectorToDLPack(Ceed ceed, CeedVector vec, CeedMemType mem_type, DLManagedTensor **tensor) {
  CeedExport *block;

  CeedCall(ExportWhole(ceed, vec, mem_type, true, tensor, &block));
  *tensor = &block->tensor.legacy;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorToDLPackVersioned(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                                DLManagedTensorVersioned **tensor) {
  CeedExport *block;

  CeedCall(ExportWhole(ceed, vec, mem_type, false, tensor, &block));
  *tensor = &block->tensor.versioned;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetDLPackDevice(CeedVector vec, CeedMemType mem_type, int32_t *device_type,
                              int32_t *device_id) {
  DLDevice device;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(CeedMemTypeCheck(vec->base.ceed, mem_type));
  CeedCheckOutput(device_type, vec->base.ceed);
  CeedCheckOutput(device_id, vec->base.ceed);
  device = vec->buffer->memory[mem_type].device;
  *device_type = device.device_type;
  *device_id = device.device_id;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Taking
// ------------------------------------------------------------------------------------------------

enum { OTHER_BITS = 96 - 8 * sizeof(CeedScalar) }; /* of the other precision: 32 or 64 */

static int CheckScalarType(Ceed ceed, DLDataType type) {
  char text[48];
  bool is_other = type.code == DLPACK_FLOAT && type.lanes == 1 && type.bits == OTHER_BITS;

  if (!memcmp(&type, &scalar_type, sizeof type)) return CEED_ERROR_SUCCESS;
  return CeedError(ceed, CEED_ERROR_INCOMPATIBLE,
                   "tensor holds %s, %s holds float%u: %s [DLPack type (%d, %d, %d)]",
                   TypeName(type, text, sizeof text), is_other ? "this vector" : "a vector",
                   CEED_SCALAR_BITS,
                   is_other ? "take it into a vector of its own precision, or convert it first"
                            : "convert it first",
                   type.code, type.bits, type.lanes);
}

static int CheckTensorDevice(Ceed ceed, DLDevice device, CeedMemType *mem_type) {
  const CeedDevice *own = ceed->device[CEED_MEM_DEVICE];
  bool is_own = own && own->dlpack_type == device.device_type;

  CeedCheck(is_own || IsHostAddressable(device), ceed, CEED_ERROR_INCOMPATIBLE,
            "tensor lies on %s (device type %" PRId32
            "), the resource %s has host memory%s%s: copy "
            "it there first, or make a context of its device",
            DeviceName(device.device_type), device.device_type, ceed->resource->name,
            own ? " and that of " : " only", own ? own->name : "");
  *mem_type = is_own ? CEED_MEM_DEVICE : CEED_MEM_HOST;
  return CEED_ERROR_SUCCESS;
}

/* The id in a tensor is the producer's way to count, so the address is what tells the device. Host
   memory that a device reaches itself may still be written by what our stream waits for. */
static int CheckPlace(Ceed ceed, const CeedIncoming *in) {
  const CeedDevice *device = ceed->device[CEED_MEM_DEVICE];

  if (in->mem_type == CEED_MEM_DEVICE) {
    return CeedMemoryCheck(ceed, in->mem_type, in->layout.first);
  }
  if (!device || in->any.tensor->device.device_type == DLPACK_CPU) return CEED_ERROR_SUCCESS;
  return device->wait(ceed);
}

int CeedTensorInspect(Ceed ceed, const void *managed, bool versioned, CeedIncoming *in) {
  CeedCall(AnyTensorOpen(ceed, managed, versioned, &in->any));
  CeedCall(CheckTensorDevice(ceed, in->any.tensor->device, &in->mem_type));
  CeedCall(CheckScalarType(ceed, in->any.tensor->dtype));
  CeedCall(TensorCheckLayout(ceed, in->any.tensor, sizeof(CeedScalar), &in->layout));
  return CheckPlace(ceed, in);
}

static int CheckContiguity(Ceed ceed, const CeedIncoming *in) {
  const DLTensor *tensor = in->any.tensor;
  char shape[TENSOR_TEXT], strides[TENSOR_TEXT];

  CeedCheck(in->layout.contiguous, ceed, CEED_ERROR_INCOMPATIBLE,
            "the tensor of shape %s and strides %s is not C-contiguous, so its memory can't be "
            "adopted: copy it (CEED_COPY_VALUES)",
            NumbersText(tensor->ndim, tensor->shape, shape, sizeof shape),
            NumbersText(tensor->ndim, tensor->strides, strides, sizeof strides));
  return CEED_ERROR_SUCCESS;
}

static int CheckAlignment(Ceed ceed, const CeedIncoming *in) {
  CeedCheck((uintptr_t)in->layout.first % sizeof(CeedScalar) == 0, ceed, CEED_ERROR_INCOMPATIBLE,
            "the tensor's first entry %p is not aligned for float%u, so its memory can't be "
            "adopted: copy it (CEED_COPY_VALUES)",
            (void *)in->layout.first, CEED_SCALAR_BITS);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCopyIncoming(CeedVector vec, const CeedIncoming *in) {
  Ceed ceed = vec->base.ceed;
  CeedScalar *to;
  int code;

  CeedCheck(in->mem_type == CEED_MEM_HOST || in->layout.contiguous, ceed, CEED_ERROR_INCOMPATIBLE,
            "the tensor is not C-contiguous, and device memory is only copied as it lies: make it "
            "contiguous first");
  CeedCall(CeedVectorAcquireWrite(vec, in->mem_type, false, &to, "TakeFromDLPack"));
  code = in->mem_type == CEED_MEM_HOST ? CopyTensor(ceed, in->any.tensor, &in->layout, to)
                                       : CeedMemoryCopy(ceed, to, in->mem_type, in->layout.first,
                                                        in->mem_type, vec->buffer->bytes);
  if (code) {
    CeedVectorCancelWrite(vec);
    return code;
  }
  return CeedVectorReleaseWrite(vec);
}

static void ReleaseAdopted(const CeedMemory *memory) {
  AnyTensorRelease(&(AnyTensor){.managed = memory->owner, .versioned = false});
}

static void ReleaseAdoptedVersioned(const CeedMemory *memory) {
  AnyTensorRelease(&(AnyTensor){.managed = memory->owner, .versioned = true});
}

int CeedVectorAdopt(CeedVector vec, const CeedIncoming *in) {
  const AnyTensor *any = &in->any;
  CeedMemory memory = {.kind = MEMORY_ADOPTED,
                       .data = in->layout.first,
                       .release = any->versioned ? ReleaseAdoptedVersioned : ReleaseAdopted,
                       .owner = any->managed,
                       .device = any->tensor->device,
                       .read_only = any->read_only};

  CeedCall(CheckAlignment(vec->base.ceed, in));
  if (in->mem_type == CEED_MEM_DEVICE) memory.device = CeedPlaceOf(vec->base.ceed, in->mem_type);
  if (memory.device.device_type == DLPACK_CPU) memory.device.device_id = 0;
  return CeedVectorMove(vec, in->mem_type, memory, "TakeFromDLPack");
}

static int TakeIncoming(CeedVector vec, const CeedIncoming *in, CeedCopyMode copy_mode) {
  Ceed ceed = vec->base.ceed;

  CeedCheck(in->layout.count == vec->length, ceed, CEED_ERROR_DIMENSION,
            "the tensor has %" PRId64 " entries, the vector has %td", in->layout.count,
            vec->length);
  if (copy_mode == CEED_COPY_VALUES) {
    CeedCall(CeedVectorCopyIncoming(vec, in));
    AnyTensorRelease(&in->any);
    return CEED_ERROR_SUCCESS;
  }
  CeedCall(CeedCopyModeCheck(ceed, copy_mode));
  CeedCall(CheckContiguity(ceed, in));
  return CeedVectorAdopt(vec, in);
}

static int Take(Ceed ceed, CeedVector vec, const void *managed, bool versioned,
                CeedCopyMode copy_mode) {
  CeedIncoming in;

  CeedCall(CheckOwner(ceed, vec));
  CeedCall(CeedTensorInspect(vec->base.ceed, managed, versioned, &in));
  return TakeIncoming(vec, &in, copy_mode);
}

int CeedVectorTakeFromDLPack(Ceed ceed, CeedVector vec, DLManagedTensor *tensor,
                             CeedCopyMode copy_mode) {
  return Take(ceed, vec, tensor, false, copy_mode);
}

int CeedVectorTakeFromDLPackVersioned(Ceed ceed, CeedVector vec, DLManagedTensorVersioned *tensor,
                                      CeedCopyMode copy_mode) {
  return Take(ceed, vec, tensor, true, copy_mode);
}

static int CreateFrom(Ceed ceed, const void *managed, bool versioned, CeedCopyMode copy_mode,
                      CeedVector *vec) {
  CeedVector new_vec;
  CeedIncoming in;
  int code;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(vec, ceed);
  CeedCall(CeedTensorInspect(ceed, managed, versioned, &in));
  CeedCall(CeedVectorCreate(ceed, in.layout.count, &new_vec));
  code = TakeIncoming(new_vec, &in, copy_mode);
  if (code) {
    (void)CeedVectorDestroy(&new_vec);
    return code;
  }
  *vec = new_vec;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCreateFromDLPack(Ceed ceed, DLManagedTensor *tensor, CeedCopyMode copy_mode,
                               CeedVector *vec) {
  return CreateFrom(ceed, tensor, false, copy_mode, vec);
}

int CeedVectorCreateFromDLPackVersioned(Ceed ceed, DLManagedTensorVersioned *tensor,
                                        CeedCopyMode copy_mode, CeedVector *vec) {
  return CreateFrom(ceed, tensor, true, copy_mode, vec);
}

// ------------------------------------------------------------------------------------------------
// Wrapping
// ------------------------------------------------------------------------------------------------

static void DeleteWrap(DLManagedTensorVersioned *tensor) { free(tensor->manager_ctx); }

static int CheckWrap(const void *data, CeedMemType mem_type, const CeedExportRequest *r) {
  int64_t reach;

  CeedCheck(mem_type == CEED_MEM_HOST, NULL, CEED_ERROR_BACKEND,
            "Only host memory can be wrapped (memory type %d)", (int)mem_type);
  CeedCheck(r->ndim >= 0 && r->ndim <= DLPACK_MAX_NDIM, NULL, CEED_ERROR_DIMENSION,
            "%" PRId32 " axes; 0 to %d can be", r->ndim, DLPACK_MAX_NDIM);
  CeedCheck(r->shape || !r->ndim, NULL, CEED_ERROR_INCOMPATIBLE, "The shape is NULL");
  CeedCheck(ReachOf(r, &reach), NULL, CEED_ERROR_DIMENSION,
            "A length is negative, or the shape overflows");
  CeedCheck((uint64_t)reach <= CEED_MAX_BYTES / sizeof(CeedScalar), NULL, CEED_ERROR_DIMENSION,
            "The shape overflows");
  CeedCheck(data || !reach, NULL, CEED_ERROR_INCOMPATIBLE, "The data is NULL");
  return CEED_ERROR_SUCCESS;
}

int CeedDLPackWrap(void *data, CeedMemType mem_type, CeedInt ndim, const int64_t *shape,
                   bool read_only, DLManagedTensorVersioned **tensor) {
  CeedExportRequest request = {CEED_EXPORT_SHARED, mem_type, ndim, shape, NULL, false, 0};
  CeedMemory memory = {.data = data, .device = {DLPACK_CPU, 0}};
  CeedExport *block;

  CeedCheckOutput(tensor, NULL);
  CeedCall(CheckWrap(data, mem_type, &request));
  block = ExportAllocate(ndim);
  CeedCheck(block, NULL, CEED_ERROR_MAJOR, "Out of memory: a tensor");
  FillVersioned(block, read_only ? DLPACK_FLAG_READ_ONLY : 0);
  block->tensor.versioned.deleter = DeleteWrap;
  FillTensor(&block->tensor.versioned.dl_tensor, &memory, &request, block->dims);
  *tensor = &block->tensor.versioned;
  return CEED_ERROR_SUCCESS;
}
