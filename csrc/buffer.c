// Counted memory: who has it, where its current values are, and moving it.
// SPDX-License-Identifier: BSD-2-Clause
#include <sched.h>
#include <stdlib.h>

#include "impl.h"

DLDevice CeedPlaceOf(Ceed ceed, CeedMemType mem_type) {
  const CeedDevice *device = ceed->device[mem_type];

  return (DLDevice){device ? device->dlpack_type : 0,
                    mem_type == CEED_MEM_DEVICE ? ceed->device_id : 0};
}

static CeedMemory NoMemory(Ceed ceed, CeedMemType mem_type) {
  return (CeedMemory){.kind = MEMORY_NONE, .device = CeedPlaceOf(ceed, mem_type)};
}

int CeedBufferCreate(Ceed ceed, size_t bytes, CeedBuffer *buffer) {
  CeedBuffer new_buffer = calloc(1, sizeof *new_buffer);

  CeedCheck(new_buffer, ceed, CEED_ERROR_MAJOR, "Out of memory: a buffer");
  new_buffer->word = REF_ONE;
  new_buffer->bytes = bytes;
  new_buffer->memory[CEED_MEM_HOST] = NoMemory(ceed, CEED_MEM_HOST);
  new_buffer->memory[CEED_MEM_DEVICE] = NoMemory(ceed, CEED_MEM_DEVICE);
  *buffer = new_buffer;
  return CEED_ERROR_SUCCESS;
}

int CeedBufferAllocate(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type) {
  const CeedDevice *device = ceed->device[mem_type];
  CeedMemory *memory = &buffer->memory[mem_type];
  void *data;

  if (memory->kind != MEMORY_NONE || !buffer->bytes) return CEED_ERROR_SUCCESS;
  CeedCall(device->allocate(ceed, buffer->bytes, &data));
  *memory = (CeedMemory){.kind = MEMORY_OWNED,
                         .data = data,
                         .release = device->release,
                         .owner = data,
                         .device = CeedPlaceOf(ceed, mem_type)};
  __atomic_fetch_or(&buffer->word, HoldsIn(mem_type), __ATOMIC_RELEASE);
  return CEED_ERROR_SUCCESS;
}

int CeedMemoryCopy(Ceed ceed, void *to, CeedMemType to_type, const void *from,
                   CeedMemType from_type, size_t bytes) {
  bool is_host = to_type == CEED_MEM_HOST && from_type == CEED_MEM_HOST;
  const CeedDevice *by = is_host ? &CeedDeviceHost : ceed->device[CEED_MEM_DEVICE];

  return by->copy(ceed, to, to_type, from, from_type, bytes);
}

int CeedMemoryCheck(Ceed ceed, CeedMemType mem_type, const void *data) {
  const CeedDevice *device = ceed->device[CEED_MEM_DEVICE];

  return device && data ? device->check(ceed, mem_type, data) : CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// The word
// ------------------------------------------------------------------------------------------------

/* Add how many units a field of the word counts. */
static void Count(char *text, size_t size, size_t *used, uint64_t word, uint64_t field,
                  uint64_t unit, const char *one, const char *many) {
  uint64_t count = (word & field) / unit - (field == REFS); /* but the vector's own */
  bool is_full = (word & field) == field && field != unit;

  if (!count || *used >= size) return;
  *used += (size_t)snprintf(text + *used, size - *used, "%s%llu %s%s", *used ? ", " : "",
                            (unsigned long long)count, count == 1 ? one : many,
                            is_full ? ", the most that there can be" : "");
}

int CeedBufferRefuse(Ceed ceed, uint64_t word, const char *what) {
  char text[256] = "too many";
  size_t used = 0;

  if ((word & MOVING) == MOVING) {
    return CeedError(ceed, CEED_ERROR_ACCESS, "%s refused: the memory is just being replaced",
                     what);
  }
  Count(text, sizeof text, &used, word, WRITER_ONE, WRITER_ONE, "writer's array is out", "");
  Count(text, sizeof text, &used, word, READERS, READER_ONE, "reader's array is out",
        "readers' arrays are out");
  Count(text, sizeof text, &used, word, SHARED, SHARED_ONE, "writable view lives",
        "writable views live");
  Count(text, sizeof text, &used, word, LEASES, LEASE_ONE, "read lease lives", "read leases live");
  Count(text, sizeof text, &used, word, WRITE_LEASE_ONE, WRITE_LEASE_ONE, "write lease lives", "");
  Count(text, sizeof text, &used, word, REFS, REF_ONE, "read-only view or pin lives",
        "read-only views or pins live");
  return CeedError(ceed, CEED_ERROR_ACCESS,
                   "%s refused: %s; restore the arrays that are out, and drop the views (in Python "
                   "del them, in C call the deleters of the tensors)",
                   what, text);
}

static uint64_t FieldOf(uint64_t unit) {
  return unit < HOLDS_HOST ? REFS : unit < LEASE_ONE ? SHARED : unit < SLOT_ONE ? LEASES : READERS;
}

int CeedBufferAcquire(Ceed ceed, CeedBuffer buffer, uint64_t unit, uint64_t blockers,
                      const char *what) {
  uint64_t word = __atomic_load_n(&buffer->word, __ATOMIC_RELAXED);
  uint64_t field = unit < WRITER_ONE ? FieldOf(unit) : unit;

  do {
    if (__builtin_expect((word & blockers) || (word & field) == field, 0)) {
      return CeedBufferRefuse(ceed, word, what);
    }
  } while (!__atomic_compare_exchange_n(&buffer->word, &word, word + unit, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
  return CEED_ERROR_SUCCESS;
}

void CeedMemoryRelease(const CeedMemory *memory) {
  if (memory->release) memory->release(memory);
}

void CeedBufferRelease(CeedBuffer buffer, uint64_t unit) {
  if (__atomic_sub_fetch(&buffer->word, unit, __ATOMIC_ACQ_REL) & ~FLAGS) return;
  CeedMemoryRelease(&buffer->memory[CEED_MEM_HOST]);
  CeedMemoryRelease(&buffer->memory[CEED_MEM_DEVICE]);
  free(buffer);
}

/* Drop a unit and change flags in one step; others may come and go meanwhile. */
static void Finish(CeedBuffer buffer, uint64_t unit, uint64_t clear, uint64_t set) {
  uint64_t word = __atomic_load_n(&buffer->word, __ATOMIC_RELAXED);

  while (!__atomic_compare_exchange_n(&buffer->word, &word, ((word - unit) & ~clear) | set, true,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
}

// ------------------------------------------------------------------------------------------------
// Where the values are
// ------------------------------------------------------------------------------------------------

static int CopySide(Ceed ceed, CeedBuffer buffer, CeedMemType to) {
  CeedMemType from = OtherType(to);

  CeedCall(CeedBufferAllocate(ceed, buffer, to));
  return CeedMemoryCopy(ceed, buffer->memory[to].data, to, buffer->memory[from].data, from,
                        buffer->bytes);
}

/* Writable exports are of one memory type, the truth while they live. */
static bool TruthIs(uint64_t word, CeedMemType mem_type) {
  CeedMemType side = word & SIDE_DEVICE ? CEED_MEM_DEVICE : CEED_MEM_HOST;

  return (word & WRITABLE_EXPORTS) && (word & MOVING) != MOVING && side == mem_type;
}

int CeedBufferReleaseWriter(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type) {
  CeedMemType other = OtherType(mem_type);
  CeedMemType holder = TruthIs(CeedBufferWord(buffer), other) ? other : mem_type;
  int code = holder == other ? CopySide(ceed, buffer, other) : CEED_ERROR_SUCCESS;

  Finish(buffer, WRITER_ONE, VALID, code ? 0 : ValidIn(holder));
  return code;
}

void CeedBufferForget(CeedBuffer buffer) {
  __atomic_fetch_and(&buffer->word, ~VALID, __ATOMIC_RELEASE);
}

/* One copy at a time: of several readers the others wait. False when there is nothing left to do.
 */
static bool BeginCopy(CeedBuffer buffer, CeedMemType to) {
  uint64_t word = CeedBufferWord(buffer), fresh;

  for (;;) {
    if (word & ValidIn(to)) return false;
    fresh = TruthIs(word, OtherType(to)) ? 0 : FRESH;
    if (word & COPYING) {
      sched_yield();
      word = CeedBufferWord(buffer);
    } else if (__atomic_compare_exchange_n(&buffer->word, &word, word | COPYING | fresh, true,
                                           __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
      return true;
    }
  }
}

/* The copy counts as current unless a writable export of the other memory has begun meanwhile:
   while such live, each reader copies anew. */
static void EndCopy(CeedBuffer buffer, CeedMemType to, bool is_done) {
  uint64_t word = CeedBufferWord(buffer), valid;

  do {
    valid = is_done && (word & FRESH) ? ValidIn(to) : 0;
  } while (!__atomic_compare_exchange_n(&buffer->word, &word, (word & ~(COPYING | FRESH)) | valid,
                                        true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

int CeedBufferSync(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type) {
  int code;

  if (!(CeedBufferWord(buffer) & VALID) || !BeginCopy(buffer, mem_type)) return CEED_ERROR_SUCCESS;
  code = CopySide(ceed, buffer, mem_type);
  EndCopy(buffer, mem_type, !code);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Moving the memory
// ------------------------------------------------------------------------------------------------

/* The new memory becomes the truth. The other side is a mirror to be written, which read-only
   memory can't be: that goes, too. */
int CeedBufferMove(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type, CeedMemory memory,
                   CeedMemory old[2], const char *what) {
  CeedMemType other = OtherType(mem_type);
  uint64_t gone = VALID | READ_ONLY, flags = memory.read_only ? READ_ONLY : 0;

  CeedCall(CeedBufferAcquire(ceed, buffer, MOVING, OTHERS, what));
  old[mem_type] = buffer->memory[mem_type];
  old[other] = NoMemory(ceed, other);
  buffer->memory[mem_type] = memory;
  if (buffer->memory[other].read_only) {
    old[other] = buffer->memory[other];
    buffer->memory[other] = NoMemory(ceed, other);
    gone |= HoldsIn(other);
  }
  Finish(buffer, MOVING, gone, flags | HoldsIn(mem_type) | ValidIn(mem_type));
  return CEED_ERROR_SUCCESS;
}

static int CheckTake(Ceed ceed, const CeedMemory *memory, const char *place, bool wants_address) {
  CeedCheck(memory->kind != MEMORY_ADOPTED || !wants_address, ceed, CEED_ERROR_ACCESS,
            "The %s memory was adopted from a tensor: export it instead of taking it", place);
  CeedCheck(memory->kind == MEMORY_BORROWED || memory->kind == MEMORY_ADOPTED, ceed,
            CEED_ERROR_ACCESS, "No %s array was borrowed, so that none can be taken back", place);
  return CEED_ERROR_SUCCESS;
}

int CeedBufferTake(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type, void **data,
                   CeedMemory *old) {
  CeedMemory *memory = &buffer->memory[mem_type];
  int code;

  CeedCall(CeedBufferAcquire(ceed, buffer, MOVING, OTHERS, "TakeArray"));
  code = CheckTake(ceed, memory, CeedMemTypes[mem_type], data != NULL);
  if (!code && memory->kind == MEMORY_BORROWED) code = CeedBufferSync(ceed, buffer, mem_type);
  if (!code) {
    *old = *memory;
    *memory = NoMemory(ceed, mem_type);
    if (data) *data = old->data;
  }
  Finish(buffer, MOVING, code ? 0 : HoldsIn(mem_type) | VALID | READ_ONLY, 0);
  return code;
}
