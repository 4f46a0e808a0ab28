// Vectors: access to the entries, borrowing, and arithmetic on the host.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "kernels.h"

static struct CeedVector_private vector_active = {
    {CEED_MAGIC_OF(8 * sizeof(CeedScalar), CEED_KIND_SENTINEL), 1, NULL}, 0, NULL, 0, 0, 0};
static struct CeedVector_private vector_none = {
    {CEED_MAGIC_OF(8 * sizeof(CeedScalar), CEED_KIND_SENTINEL), 1, NULL}, 0, NULL, 0, 0, 0};
const CeedVector CEED_VECTOR_ACTIVE = &vector_active;
const CeedVector CEED_VECTOR_NONE = &vector_none;

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

int CeedVectorCreate(Ceed ceed, CeedSize len, CeedVector *vec) {
  CeedVector new_vec;
  int code;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(vec, ceed);
  CeedCheck(len >= 0 && (size_t)len <= CEED_MAX_BYTES / sizeof(CeedScalar), ceed,
            CEED_ERROR_DIMENSION, "The length %td is negative or too large", len);
  new_vec = calloc(1, sizeof *new_vec);
  CeedCheck(new_vec, ceed, CEED_ERROR_MAJOR, "Out of memory: a vector");
  code = CeedBufferCreate(ceed, (size_t)len * sizeof(CeedScalar), &new_vec->buffer);
  if (code) {
    free(new_vec);
    return code;
  }
  CeedObjectRefer(ceed);
  new_vec->base = (CeedBase){CEED_MAGIC_OF(CEED_SCALAR_BITS, CEED_KIND_VECTOR), 1, ceed};
  new_vec->length = len;
  *vec = new_vec;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorReferenceCopy(CeedVector vec, CeedVector *vec_copy) {
  int code;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(vec_copy, vec->base.ceed);
  CeedObjectRefer(vec);
  code = CeedVectorDestroy(vec_copy);
  if (code) {
    (void)CeedObjectRelease(vec);
    return code;
  }
  *vec_copy = vec;
  return CEED_ERROR_SUCCESS;
}

/* A vector whose array is out keeps its last reference. */
static int Release(CeedVector vec, bool *is_last) {
  int64_t count = __atomic_load_n(&vec->base.ref_count, __ATOMIC_ACQUIRE);

  do {
    CeedCheck(count > 1 || !(CeedBufferWord(vec->buffer) & (WRITER_ONE | READERS)), vec->base.ceed,
              CEED_ERROR_ACCESS, "The vector's array is out: restore it before destroying");
  } while (!__atomic_compare_exchange_n(&vec->base.ref_count, &count, count - 1, true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  *is_last = count == 1;
  return CEED_ERROR_SUCCESS;
}

/* The buffer goes last, for its deleters may run anybody's code, which may know the caller's
 * handle. */
static void Free(CeedVector vec) {
  CeedBuffer buffer = vec->buffer;
  Ceed ceed = vec->base.ceed;

  CeedObjectEnd(vec);
  free(vec);
  CeedBufferRelease(buffer, REF_ONE);
  (void)CeedDestroy(&ceed);
}

int CeedVectorDestroy(CeedVector *vec) {
  CeedVector old;
  bool is_last = false;

  if (!vec || !*vec) return CEED_ERROR_SUCCESS;
  old = *vec;
  if (old != CEED_VECTOR_ACTIVE && old != CEED_VECTOR_NONE) {
    CeedCall(CeedObjectCheck(old, CEED_KIND_VECTOR));
    CeedCall(Release(old, &is_last));
  }
  *vec = NULL;
  if (is_last) Free(old);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

int CeedVectorGetCeed(CeedVector vec, Ceed *ceed) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(ceed, vec->base.ceed);
  *ceed = vec->base.ceed;
  CeedObjectRefer(*ceed);
  return CEED_ERROR_SUCCESS;
}

Ceed CeedVectorReturnCeed(CeedVector vec) {
  return CeedObjectCheck(vec, CEED_KIND_VECTOR) ? NULL : vec->base.ceed;
}

int CeedVectorGetLength(CeedVector vec, CeedSize *length) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(length, vec->base.ceed);
  *length = vec->length;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetState(CeedVector vec, uint64_t *state) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(state, vec->base.ceed);
  *state = vec->state;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetMemTypes(CeedVector vec, bool holds[2], bool current[2]) {
  uint64_t word;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(holds, vec->base.ceed);
  CeedCheckOutput(current, vec->base.ceed);
  word = CeedBufferWord(vec->buffer);
  for (int i = 0; i < 2; i++) {
    holds[i] = (word & HoldsIn(i)) != 0;
    current[i] = (word & ValidIn(i)) != 0;
  }
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetExportCount(CeedVector vec, CeedSize *count) {
  uint64_t word;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(count, vec->base.ceed);
  word = CeedBufferWord(vec->buffer);
  *count = (CeedSize)((word & REFS) - REF_ONE + (word & SHARED) / SHARED_ONE +
                      (word & LEASES) / LEASE_ONE + word / WRITE_LEASE_ONE);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Access
// ------------------------------------------------------------------------------------------------

static int CheckValues(CeedVector vec, const char *what) {
  CeedCheck((CeedBufferWord(vec->buffer) & VALID) || !vec->length, vec->base.ceed,
            CEED_ERROR_INCOMPLETE, "%s: there are no values yet", what);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorAcquireRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **data,
                          const char *what) {
  int code;

  CeedCall(CeedBufferAcquire(vec->base.ceed, vec->buffer, READER_ONE, READ_BLOCKERS, what));
  code = CheckValues(vec, what);
  if (!code) code = CeedBufferSync(vec->base.ceed, vec->buffer, mem_type);
  if (code) {
    CeedVectorReleaseRead(vec);
    return code;
  }
  *data = vec->buffer->memory[mem_type].data;
  return CEED_ERROR_SUCCESS;
}

void CeedVectorReleaseRead(CeedVector vec) { CeedBufferRelease(vec->buffer, READER_ONE); }

int CeedVectorAcquireWrite(CeedVector vec, CeedMemType mem_type, bool keep_values,
                           CeedScalar **data, const char *what) {
  Ceed ceed = vec->base.ceed;
  CeedBuffer buffer = vec->buffer;
  int code;

  CeedCheck(
      !(CeedBufferWord(buffer) & READ_ONLY), ceed, CEED_ERROR_ACCESS,
      "%s refused: the memory is read-only, as it was when it came; copy it into memory of your "
      "own to write",
      what);
  CeedCall(CeedBufferAcquire(ceed, buffer, WRITER_ONE, WRITE_BLOCKERS, what));
  code = keep_values ? CheckValues(vec, what) : CEED_ERROR_SUCCESS;
  if (!code) code = CeedBufferAllocate(ceed, buffer, mem_type);
  if (!code && keep_values) code = CeedBufferSync(ceed, buffer, mem_type);
  if (code) {
    CeedBufferRelease(buffer, WRITER_ONE);
    return code;
  }
  vec->state++;
  vec->writer_type = mem_type;
  *data = buffer->memory[mem_type].data;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorReleaseWrite(CeedVector vec) {
  vec->state++;
  return CeedBufferReleaseWriter(vec->base.ceed, vec->buffer, vec->writer_type);
}

void CeedVectorCancelWrite(CeedVector vec) {
  vec->state--;
  CeedBufferRelease(vec->buffer, WRITER_ONE);
}

static int CheckAccess(CeedVector vec, CeedMemType mem_type, const void *array) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(array, vec->base.ceed);
  return CeedMemTypeCheck(vec->base.ceed, mem_type);
}

int CeedVectorGetArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CheckAccess(vec, mem_type, array));
  return CeedVectorAcquireWrite(vec, mem_type, true, array, "GetArray");
}

int CeedVectorGetArrayWrite(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CheckAccess(vec, mem_type, array));
  return CeedVectorAcquireWrite(vec, mem_type, false, array, "GetArrayWrite");
}

int CeedVectorGetArrayRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **array) {
  CeedCall(CheckAccess(vec, mem_type, array));
  return CeedVectorAcquireRead(vec, mem_type, array, "GetArrayRead");
}

int CeedVectorRestoreArray(CeedVector vec, CeedScalar **array) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(array, vec->base.ceed);
  CeedCheck(CeedBufferWord(vec->buffer) & WRITER_ONE, vec->base.ceed, CEED_ERROR_ACCESS,
            "RestoreArray: no array is out for writing");
  CeedCheck(*array == vec->buffer->memory[vec->writer_type].data || (!*array && !vec->length),
            vec->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "RestoreArray: %p is not the array that is out", (void *)*array);
  *array = NULL;
  return CeedVectorReleaseWrite(vec);
}

/* Of which memory type an array is; an empty vector has none of any. */
static bool IsArrayOf(CeedVector vec, const CeedScalar *array) {
  const CeedMemory *memory = vec->buffer->memory;

  if (!array) return vec->length == 0;
  return array == memory[CEED_MEM_HOST].data || array == memory[CEED_MEM_DEVICE].data;
}

int CeedVectorRestoreArrayRead(CeedVector vec, const CeedScalar **array) {
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(array, vec->base.ceed);
  CeedCheck(CeedBufferWord(vec->buffer) & READERS, vec->base.ceed, CEED_ERROR_ACCESS,
            "RestoreArrayRead: no array is out for reading");
  CeedCheck(IsArrayOf(vec, *array), vec->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "RestoreArrayRead: %p is not the array that is out", (const void *)*array);
  *array = NULL;
  CeedVectorReleaseRead(vec);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSyncArray(CeedVector vec, CeedMemType mem_type) {
  const CeedScalar *data;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(CeedMemTypeCheck(vec->base.ceed, mem_type));
  CeedCall(CeedVectorAcquireRead(vec, mem_type, &data, "SyncArray"));
  CeedVectorReleaseRead(vec);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Arrays of the caller
// ------------------------------------------------------------------------------------------------

static int CopyIn(CeedVector vec, CeedMemType mem_type, const CeedScalar *array) {
  CeedScalar *data;
  int code;

  CeedCall(CeedVectorAcquireWrite(vec, mem_type, false, &data, "SetArray"));
  code = CeedMemoryCopy(vec->base.ceed, data, mem_type, array, mem_type, vec->buffer->bytes);
  if (code) {
    CeedVectorCancelWrite(vec);
    return code;
  }
  return CeedVectorReleaseWrite(vec);
}

static void CountMove(CeedVector vec) {
  vec->state += 2;
  __atomic_add_fetch(&vec->moves, 1, __ATOMIC_RELAXED);
}

int CeedVectorMove(CeedVector vec, CeedMemType mem_type, CeedMemory memory, const char *what) {
  CeedMemory old[2];

  CeedCall(CeedBufferMove(vec->base.ceed, vec->buffer, mem_type, memory, old, what));
  CountMove(vec);
  CeedMemoryRelease(&old[CEED_MEM_HOST]);
  CeedMemoryRelease(&old[CEED_MEM_DEVICE]);
  return CEED_ERROR_SUCCESS;
}

/* Installing it would release it. */
static bool OwnsArray(CeedVector vec, CeedMemType mem_type, const CeedScalar *array) {
  const CeedMemory *memory = &vec->buffer->memory[mem_type];

  return array && memory->data == array && memory->kind == MEMORY_OWNED;
}

int CeedVectorSetArray(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode,
                       CeedScalar *array) {
  Ceed ceed;
  bool owns = copy_mode == CEED_OWN_POINTER;
  CeedMemory memory = {
      .kind = owns ? MEMORY_OWNED : MEMORY_BORROWED, .data = array, .owner = array};

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  ceed = vec->base.ceed;
  CeedCall(CeedMemTypeCheck(ceed, mem_type));
  CeedCheck(array || !vec->length, ceed, CEED_ERROR_INCOMPATIBLE, "The array is NULL");
  CeedCheck((uintptr_t)array % sizeof *array == 0, ceed, CEED_ERROR_INCOMPATIBLE,
            "The array %p is not aligned for float%u", (void *)array, CEED_SCALAR_BITS);
  CeedCall(CeedMemoryCheck(ceed, mem_type, array));
  if (copy_mode == CEED_COPY_VALUES) return CopyIn(vec, mem_type, array);
  CeedCheck(!OwnsArray(vec, mem_type, array), ceed, CEED_ERROR_INCOMPATIBLE,
            "The array %p is the vector's own", (void *)array);
  CeedCall(CeedCopyModeCheck(ceed, copy_mode));
  memory.device = CeedPlaceOf(ceed, mem_type);
  if (owns) memory.release = ceed->device[mem_type]->release;
  return CeedVectorMove(vec, mem_type, memory, "SetArray");
}

int CeedVectorTakeArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  CeedMemory old;
  void *data;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(CeedMemTypeCheck(vec->base.ceed, mem_type));
  CeedCall(CeedBufferTake(vec->base.ceed, vec->buffer, mem_type, array ? &data : NULL, &old));
  CountMove(vec);
  if (array) *array = data;
  CeedMemoryRelease(&old);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Operations
// ------------------------------------------------------------------------------------------------

/* The entries of a result and of its operands, which may be the same vectors. */
typedef struct {
  CeedVector vec[3];
  const CeedScalar *in[3];
  CeedScalar *out;
  CeedSize n;
} Operands;

static void ReleaseInputs(Operands *o, int from) {
  for (int i = from; i > 0; i--) {
    if (o->vec[i] && o->vec[i] != o->vec[0]) CeedVectorReleaseRead(o->vec[i]);
  }
}

static int AcquireInputs(Operands *o, const char *what) {
  for (int i = 1; i < 3; i++) {
    int code = 0;
    if (!o->vec[i]) continue;
    if (o->vec[i] == o->vec[0]) {
      o->in[i] = o->out;
    } else {
      code = CeedVectorAcquireRead(o->vec[i], CEED_MEM_HOST, &o->in[i], what);
    }
    if (code) {
      ReleaseInputs(o, i - 1);
      return code;
    }
  }
  return CEED_ERROR_SUCCESS;
}

/* Inputs may be NULL, for none. The old values of the result matter when it is an operand, too. */
static int Begin(Operands *o, CeedVector out, bool keep_values, CeedVector a, CeedVector b,
                 const char *what) {
  int code;

  *o = (Operands){{out, a, b}, {NULL, NULL, NULL}, NULL, out->length};
  for (int i = 1; i < 3; i++) {
    if (!o->vec[i]) continue;
    CeedCheck(o->vec[i]->length == o->n, out->base.ceed, CEED_ERROR_DIMENSION,
              "%s: the vectors have %td and %td entries", what, o->n, o->vec[i]->length);
  }
  keep_values = keep_values || out == a || out == b;
  CeedCall(CeedVectorAcquireWrite(out, CEED_MEM_HOST, keep_values, &o->out, what));
  code = AcquireInputs(o, what);
  if (code) CeedVectorCancelWrite(out);
  return code;
}

/* Loops go over memory that is the same, or lies apart. */
static int CheckOverlap(const Operands *o, const char *what) {
  for (int i = 1; i < 3; i++) {
    const CeedScalar *in = o->vec[i] ? o->in[i] : o->out;
    CeedCheck(in == o->out || in + o->n <= o->out || o->out + o->n <= in, o->vec[0]->base.ceed,
              CEED_ERROR_INCOMPATIBLE,
              "%s: the memory of the vectors overlaps in part: copy one of them first", what);
  }
  return CEED_ERROR_SUCCESS;
}

static int BeginLoop(Operands *o, CeedVector out, bool keep_values, CeedVector a, CeedVector b,
                     const char *what) {
  int code;

  CeedCall(Begin(o, out, keep_values, a, b, what));
  code = CheckOverlap(o, what);
  if (code) {
    ReleaseInputs(o, 2);
    CeedVectorCancelWrite(out);
  }
  return code;
}

static int End(Operands *o) {
  ReleaseInputs(o, 2);
  return CeedVectorReleaseWrite(o->vec[0]);
}

int CeedVectorSetValue(CeedVector vec, CeedScalar value) {
  Operands o;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(Begin(&o, vec, false, NULL, NULL, "SetValue"));
  CeedKernelsGet()->set(o.n, value, o.out);
  return End(&o);
}

int CeedVectorCopy(CeedVector vec, CeedVector vec_copy) {
  Operands o;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(vec_copy, CEED_KIND_VECTOR));
  CeedCall(Begin(&o, vec_copy, false, vec, NULL, "Copy"));
  if (o.n) memmove(o.out, o.in[1], vec->buffer->bytes);
  return End(&o);
}

static int CheckRange(Ceed ceed, CeedSize start, CeedSize *stop, CeedSize step, CeedSize length) {
  if (*stop == -1) *stop = length;
  CeedCheck(0 <= start && start <= *stop && *stop <= length && step > 0, ceed, CEED_ERROR_DIMENSION,
            "The range %td to %td by %td does not lie in the %td entries", start, *stop, step,
            length);
  return CEED_ERROR_SUCCESS;
}

/* In the order in which no entry is overwritten before it is read. */
static void CopyEntries(CeedSize start, CeedSize stop, CeedSize step, const CeedScalar *from,
                        CeedScalar *to) {
  CeedSize count = start < stop ? (stop - start - 1) / step + 1 : 0;

  for (CeedSize k = 0; k < count; k++) {
    CeedSize i = start + step * (to > from ? count - 1 - k : k);
    to[i] = from[i];
  }
}

int CeedVectorCopyStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                          CeedVector vec_copy) {
  const CeedScalar *from;
  CeedScalar *to;
  Ceed ceed;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(vec_copy, CEED_KIND_VECTOR));
  ceed = vec->base.ceed;
  CeedCall(CheckRange(ceed, start, &stop, step, vec->length));
  CeedCall(CheckRange(ceed, start, &stop, step, vec_copy->length));
  if (vec == vec_copy) return CheckValues(vec, "CopyStrided");
  CeedCall(CeedVectorAcquireRead(vec, CEED_MEM_HOST, &from, "CopyStrided"));
  int code = CeedVectorAcquireWrite(vec_copy, CEED_MEM_HOST, true, &to, "CopyStrided");
  if (!code) {
    CopyEntries(start, stop, step, from, to);
    code = CeedVectorReleaseWrite(vec_copy);
  }
  CeedVectorReleaseRead(vec);
  return code;
}

int CeedVectorSetValueStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                              CeedScalar value) {
  Operands o;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(CheckRange(vec->base.ceed, start, &stop, step, vec->length));
  CeedCall(Begin(&o, vec, true, NULL, NULL, "SetValueStrided"));
  for (CeedSize i = start; i < stop; i += CeedStep(step, stop - i)) o.out[i] = value;
  return End(&o);
}

int CeedVectorNorm(CeedVector vec, CeedNormType type, CeedScalar *norm) {
  const CeedScalar *data;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheckOutput(norm, vec->base.ceed);
  CeedCheck(type == CEED_NORM_1 || type == CEED_NORM_2 || type == CEED_NORM_MAX, vec->base.ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no norm type", (int)type);
  CeedCall(CeedVectorAcquireRead(vec, CEED_MEM_HOST, &data, "Norm"));
  *norm = CeedNormOf(vec->length, data, type);
  CeedVectorReleaseRead(vec);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorScale(CeedVector x, CeedScalar alpha) {
  Operands o;

  CeedCall(CeedObjectCheck(x, CEED_KIND_VECTOR));
  CeedCall(Begin(&o, x, true, NULL, NULL, "Scale"));
  CeedKernelsGet()->scale(o.n, alpha, o.out);
  return End(&o);
}

int CeedVectorFilter(CeedVector x, CeedScalar threshold) {
  Operands o;

  CeedCall(CeedObjectCheck(x, CEED_KIND_VECTOR));
  CeedCall(Begin(&o, x, true, NULL, NULL, "Filter"));
  CeedKernelsGet()->filter(o.n, threshold, o.out);
  return End(&o);
}

int CeedVectorReciprocal(CeedVector vec) {
  Operands o;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCall(Begin(&o, vec, true, NULL, NULL, "Reciprocal"));
  CeedKernelsGet()->reciprocal(o.n, o.out);
  return End(&o);
}

int CeedVectorAXPY(CeedVector y, CeedScalar alpha, CeedVector x) {
  Operands o;

  CeedCall(CeedObjectCheck(y, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(x, CEED_KIND_VECTOR));
  CeedCall(BeginLoop(&o, y, true, x, NULL, "AXPY"));
  CeedKernelsGet()->axpy(o.n, alpha, o.in[1], o.out);
  return End(&o);
}

int CeedVectorAXPBY(CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x) {
  Operands o;

  CeedCall(CeedObjectCheck(y, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(x, CEED_KIND_VECTOR));
  CeedCall(BeginLoop(&o, y, true, x, NULL, "AXPBY"));
  CeedKernelsGet()->axpby(o.n, alpha, o.in[1], beta, o.out);
  return End(&o);
}

int CeedVectorPointwiseMult(CeedVector w, CeedVector x, CeedVector y) {
  Operands o;

  CeedCall(CeedObjectCheck(w, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(x, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(y, CEED_KIND_VECTOR));
  CeedCall(BeginLoop(&o, w, false, x, y, "PointwiseMult"));
  CeedKernelsGet()->multiply(o.n, o.in[1], o.in[2], o.out);
  return End(&o);
}

// ------------------------------------------------------------------------------------------------
// Printing
// ------------------------------------------------------------------------------------------------

/* One conversion of a double and nothing else that reads an argument: a format is data of a user.
 */
static bool IsFloatFormat(const char *format) {
  int conversions = 0;

  for (; *format; format++) {
    if (*format != '%') continue;
    if (*++format == '%') continue;
    format += strspn(format, "-+ #0");
    format += strspn(format, "0123456789");
    if (*format == '.') format += 1 + strspn(format + 1, "0123456789");
    if (*format == 'l') format++;
    if (!*format || !strchr("aAeEfFgG", *format)) return false;
    conversions++;
  }
  return conversions == 1;
}

int CeedVectorViewRange(CeedVector vec, CeedSize start, CeedSize stop, CeedInt step,
                        const char *fp_fmt, FILE *stream) {
  const CeedScalar *data;
  Ceed ceed;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  ceed = vec->base.ceed;
  CeedCheck(stream, ceed, CEED_ERROR_INCOMPATIBLE, "The stream is NULL");
  if (!fp_fmt) fp_fmt = "%g";
  CeedCheck(IsFloatFormat(fp_fmt), ceed, CEED_ERROR_INCOMPATIBLE,
            "The format \"%s\" must have one conversion, of a floating-point number", fp_fmt);
  CeedCall(CheckRange(ceed, start, &stop, step, vec->length));
  CeedCall(CeedVectorAcquireRead(vec, CEED_MEM_HOST, &data, "View"));
  bool written = fprintf(stream, "CeedVector length %td\n", vec->length) > 0;
  for (CeedSize i = start; written && i < stop; i += CeedStep(step, stop - i)) {
    written = fprintf(stream, fp_fmt, (double)data[i]) >= 0 && fputc('\n', stream) != EOF;
  }
  CeedVectorReleaseRead(vec);
  CeedCheck(written, ceed, CEED_ERROR_MINOR, "View: the stream can't be written");
  return CEED_ERROR_SUCCESS;
}

int CeedVectorView(CeedVector vec, const char *fp_fmt, FILE *stream) {
  return CeedVectorViewRange(vec, 0, -1, 1, fp_fmt, stream);
}
