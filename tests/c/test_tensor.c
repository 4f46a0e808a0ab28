// Tensors without a vector: wrapping, checking, describing, and where they lie.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

static CeedScalar data[24];
static Fake fake;
static char *printed;

static int Begin(void) {
  for (int i = 0; i < 24; i++) data[i] = (CeedScalar)i;
  FakeInit(&fake, data, 2, DIMS(4, 6), DIMS(6, 1));
  return CreateContext();
}

static int End(void) {
  free(printed);
  printed = NULL;
  return DestroyContext();
}

// ------------------------------------------------------------------------------------------------
// Wrapping
// ------------------------------------------------------------------------------------------------

static int Wrap(void *memory, CeedInt ndim, const int64_t *shape, bool read_only,
                DLManagedTensorVersioned **tensor) {
  return CeedDLPackWrap(memory, CEED_MEM_HOST, ndim, shape, read_only, tensor);
}

static int a_wrapped_pointer_is_a_tensor_in_c_order(void) {
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(Wrap(data, 2, DIMS(4, 6), false, &tensor));
  ASSERT_SAME(tensor->dl_tensor.data, data);
  ASSERT(tensor->version.major == 1 && tensor->version.minor == 3);
  ASSERT_EQ(tensor->flags, 0);
  ASSERT(tensor->dl_tensor.device.device_type == CPU && tensor->dl_tensor.device.device_id == 0);
  ASSERT(tensor->dl_tensor.dtype.code == 2 && tensor->dl_tensor.dtype.lanes == 1);
  ASSERT_EQ(tensor->dl_tensor.dtype.bits, SCALAR_BITS);
  ASSERT_EQ(tensor->dl_tensor.ndim, 2);
  ASSERT(tensor->dl_tensor.shape[0] == 4 && tensor->dl_tensor.shape[1] == 6);
  ASSERT(tensor->dl_tensor.strides[0] == 6 && tensor->dl_tensor.strides[1] == 1);
  ASSERT_EQ(tensor->dl_tensor.byte_offset, 0);
  Release(tensor);
  return TEST_PASSED;
}

static int a_wrap_may_be_read_only(void) {
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(Wrap(data, 1, DIMS(24), true, &tensor));
  ASSERT_EQ(tensor->flags, READ_ONLY);
  Release(tensor);
  return TEST_PASSED;
}

static int deleting_a_wrap_frees_no_data(void) {
  DLManagedTensorVersioned *tensor = NULL;
  CeedVector vec = NULL;

  ASSERT_OK(Wrap(data, 1, DIMS(3), false, &tensor));
  ASSERT_OK(CeedVectorCreateFromDLPackVersioned(ceed, tensor, CEED_USE_POINTER, &vec));
  ASSERT_OK(CeedVectorScale(vec, 2));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_NUMBER(data[2], 4);
  return TEST_PASSED;
}

static int the_shape_of_a_wrap_is_its_own(void) {
  int64_t shape[2] = {2, 3};
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(Wrap(data, 2, shape, false, &tensor));
  shape[0] = shape[1] = -1;
  ASSERT(tensor->dl_tensor.shape[0] == 2 && tensor->dl_tensor.shape[1] == 3);
  Release(tensor);
  return TEST_PASSED;
}

static int nothing_is_wrapped_as_null(void) {
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(Wrap(NULL, 2, DIMS(0, 3), false, &tensor));
  ASSERT(!tensor->dl_tensor.data);
  Release(tensor);
  ASSERT_OK(Wrap(data, 1, DIMS(0), false, &tensor));
  ASSERT(!tensor->dl_tensor.data);
  Release(tensor);
  return TEST_PASSED;
}

static int one_entry_is_wrapped_without_axes(void) {
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(Wrap(data + 3, 0, NULL, false, &tensor));
  ASSERT_EQ(tensor->dl_tensor.ndim, 0);
  ASSERT_NUMBER(*(CeedScalar *)tensor->dl_tensor.data, 3);
  Release(tensor);
  return TEST_PASSED;
}

static int bad_wraps_are_errors(void) {
  DLManagedTensorVersioned *tensor = NULL;
  int64_t many[65] = {1};

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, Wrap(NULL, 1, DIMS(3), false, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, Wrap(data, 1, DIMS(3), false, NULL));
  ASSERT_FAILS(Wrap(data, 1, NULL, false, &tensor));
  ASSERT_CODE(CEED_ERROR_DIMENSION, Wrap(data, -1, DIMS(3), false, &tensor));
  ASSERT_CODE(CEED_ERROR_DIMENSION, Wrap(data, 65, many, false, &tensor));
  ASSERT_CODE(CEED_ERROR_DIMENSION, Wrap(data, 1, DIMS(-3), false, &tensor));
  ASSERT_CODE(CEED_ERROR_DIMENSION, Wrap(data, 2, DIMS(INT64_MAX, 2), false, &tensor));
  ASSERT_FAILS(CeedDLPackWrap(data, CEED_MEM_DEVICE, 1, DIMS(3), false, &tensor));
  ASSERT_FAILS(CeedDLPackWrap(data, (CeedMemType)7, 1, DIMS(3), false, &tensor));
  ASSERT(!tensor);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Memory types
// ------------------------------------------------------------------------------------------------

static int GetMemType(bool versioned, CeedMemType *type) {
  if (versioned) return CeedDLPackGetMemTypeVersioned(&fake.versioned, type);
  return CeedDLPackGetMemType(&fake.legacy, type);
}

static int pinned_and_managed_memory_is_host_memory(void) {
  const int types[] = {CPU, CUDA_HOST, ROCM_HOST, CUDA_MANAGED};

  for (int i = 0; i < COUNT_OF(types); i++) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedMemType type = CEED_MEM_DEVICE;
      FakeDevice(&fake, types[i], 0);
      ASSERT_OK(GetMemType(versioned, &type));
      ASSERT_EQ(type, CEED_MEM_HOST);
    }
  }
  return TEST_PASSED;
}

static int other_devices_are_errors_with_their_names(void) {
  static const struct {
    int type;
    const char *name;
  } devices[] = {
      {4, "kDLOpenCL"},  {7, "kDLVulkan"},  {8, "kDLMetal"},    {9, "kDLVPI"},
      {12, "kDLExtDev"}, {15, "kDLWebGPU"}, {16, "kDLHexagon"}, {17, "kDLMAIA"},
      {18, "kDLTrn"},    {0, "0"},          {99, "99"},         {-7, "-7"},
  };

  for (int i = 0; i < COUNT_OF(devices); i++) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedMemType type = (CeedMemType)7;
      FakeDevice(&fake, devices[i].type, 0);
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, GetMemType(versioned, &type));
      ASSERT_SAYS(devices[i].name);
      ASSERT_EQ(type, 7);
    }
  }
  return TEST_PASSED;
}

static int memory_types_of_nothing_are_errors(void) {
  CeedMemType type;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackGetMemType(NULL, &type));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackGetMemTypeVersioned(NULL, &type));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackGetMemType(&fake.legacy, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackGetMemTypeVersioned(&fake.versioned, NULL));
  fake.versioned.version.major = 2;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackGetMemTypeVersioned(&fake.versioned, &type));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Describing
// ------------------------------------------------------------------------------------------------

static int View(bool versioned) {
  size_t size = 0;
  FILE *stream;
  int code;

  free(printed);
  printed = NULL;
  stream = open_memstream(&printed, &size);
  code = versioned ? CeedDLPackViewVersioned(&fake.versioned, stream)
                   : CeedDLPackView(&fake.legacy, stream);
  fclose(stream);
  return code;
}

static int view_tells_what_a_tensor_says(void) {
  fake.versioned.flags = READ_ONLY;
  LEGACY_AND_VERSIONED(versioned) {
    FakeOffset(&fake, 0);
    ASSERT_OK(View(versioned));
    ASSERT_HAS(printed, versioned ? "1.3" : "legacy");
    if (versioned) ASSERT_HAS(printed, "read-only");
    ASSERT_HAS(printed, "kDLCPU");
    ASSERT_HAS(printed, SCALAR_NAME);
    ASSERT_HAS(printed, "(4, 6)");
    ASSERT_HAS(printed, "(6, 1)");
    ASSERT_HAS(printed, "contiguous");
    ASSERT_HAS(printed, "deleter");
    ASSERT_HAS(printed, "align");
  }
  return TEST_PASSED;
}

static int view_tells_what_is_unusual(void) {
  FakeInit(&fake, data, 2, DIMS(6, 4), DIMS(1, 6));
  FakeType(&fake, 5, 128, 1);
  FakeDevice(&fake, ONE_API, 3);
  FakeOffset(&fake, 48);
  fake.legacy.deleter = NULL;
  fake.versioned.deleter = NULL;
  LEGACY_AND_VERSIONED(versioned) {
    ASSERT_OK(View(versioned));
    ASSERT_HAS(printed, "kDLOneAPI");
    ASSERT_HAS(printed, "complex128");
    ASSERT_HAS(printed, "not C-contiguous");
    ASSERT_HAS(printed, "48");
    ASSERT_HAS(printed, "NULL");
  }
  return TEST_PASSED;
}

static int view_tells_alignment_from_the_address(void) {
  const uintptr_t addresses[] = {0x10000, 0x10040, 0x10008, 0x10001};
  const char *const texts[] = {"65536", "64", "8", "1"};

  for (int i = 0; i < COUNT_OF(addresses); i++) {
    char expected[32];
    FakeInit(&fake, (void *)addresses[i], 1, DIMS(3), NULL);
    ASSERT_OK(View(true));
    snprintf(expected, sizeof expected, "%s bytes", texts[i]);
    ASSERT_HAS(printed, expected);
  }
  return TEST_PASSED;
}

static int view_names_malformed_fields_and_follows_none(void) {
  void *page = ForbiddenPage();
  const int32_t counts[] = {-5, 65, INT32_MAX, INT32_MIN};

  for (int i = 0; i < COUNT_OF(counts); i++) {
    LEGACY_AND_VERSIONED(versioned) {
      FakeInit(&fake, page, 1, DIMS(3), NULL);
      FakeTensor(&fake, versioned)->ndim = counts[i];
      FakeTensor(&fake, versioned)->shape = page;
      FakeTensor(&fake, versioned)->strides = page;
      ASSERT_OK(View(versioned));
      ASSERT_HAS(printed, "malformed");
    }
  }
  LEGACY_AND_VERSIONED(versioned) {
    FakeInit(&fake, page, 2, DIMS(3, 3), DIMS(3, 1));
    FakeTensor(&fake, versioned)->shape = NULL;
    ASSERT_OK(View(versioned));
    ASSERT_HAS(printed, "malformed");
    FakeInit(&fake, page, 2, DIMS(INT64_MAX, INT64_MAX), DIMS(INT64_MIN, INT64_MAX));
    ASSERT_OK(View(versioned));
    ASSERT_HAS(printed, "malformed");
    FakeInit(&fake, page, 1, DIMS(-3), NULL);
    ASSERT_OK(View(versioned));
    ASSERT_HAS(printed, "malformed");
    FakeInit(&fake, NULL, 1, DIMS(3), NULL);
    ASSERT_OK(View(versioned));
    ASSERT_HAS(printed, "malformed");
  }
  ReleasePage(page);
  return TEST_PASSED;
}

static int view_survives_every_type_and_device(void) {
  for (int i = 0; i < 256; i++) {
    FakeType(&fake, i, 255 - i, i * 257);
    FakeDevice(&fake, i - 100, INT32_MIN);
    FakeOffset(&fake, UINT64_MAX - (uint64_t)i);
    LEGACY_AND_VERSIONED(versioned) {
      ASSERT_OK(View(versioned));
      ASSERT(strlen(printed) > 100);
    }
  }
  return TEST_PASSED;
}

static int view_reads_nothing_of_another_major_version(void) {
  fake.versioned.version.major = 2;
  memset(&fake.versioned.dl_tensor, 0xee, sizeof fake.versioned.dl_tensor);
  ASSERT_OK(View(true));
  ASSERT_HAS(printed, "2.3");
  return TEST_PASSED;
}

static int view_of_nothing_is_an_error(void) {
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackView(NULL, stderr));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackViewVersioned(NULL, stderr));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackView(&fake.legacy, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackViewVersioned(&fake.versioned, NULL));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Checking: a spec that fits passes, and each of its fields refuses what it is there to refuse
// ------------------------------------------------------------------------------------------------

static CeedDLPackSpec Any(void) { return (CeedDLPackSpec)CEED_DLPACK_ANY; }

static int Check(bool versioned, const CeedDLPackSpec *spec) {
  return CeedDLPackCheck(versioned ? (void *)&fake.versioned : (void *)&fake.legacy, versioned,
                         spec);
}

static int Passes(CeedDLPackSpec spec) {
  LEGACY_AND_VERSIONED(versioned) ASSERT_OK(Check(versioned, &spec));
  ASSERT_EQ(fake.deletions, 0);
  return TEST_PASSED;
}

static int Fails(CeedDLPackSpec spec, int code, const char *words) {
  LEGACY_AND_VERSIONED(versioned) {
    ASSERT_CODE(code, Check(versioned, &spec));
    ASSERT_SAYS(words);
  }
  ASSERT_EQ(fake.deletions, 0);
  return TEST_PASSED;
}

static int a_spec_of_wildcards_accepts_every_type(void) {
  static const int types[][3] = {{0, 8, 1},  {0, 32, 1},  {1, 16, 1}, {2, 16, 1}, {4, 16, 1},
                                 {5, 64, 1}, {6, 8, 1},   {8, 8, 1},  {2, 32, 4}, {2, 64, 2},
                                 {3, 64, 1}, {5, 128, 1}, {10, 8, 1}};

  for (int i = 0; i < COUNT_OF(types); i++) {
    FakeType(&fake, types[i][0], types[i][1], types[i][2]);
    PASSES(Passes(Any()));
  }
  return TEST_PASSED;
}

static int the_spec_of_a_type_is_matched_exactly(void) {
  CeedDLPackSpec spec = Any();

  spec.code = 0, spec.bits = 32, spec.lanes = 1;
  FakeType(&fake, 0, 32, 1);
  PASSES(Passes(spec));
  FakeType(&fake, 1, 32, 1);
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "uint32"));
  FakeType(&fake, 0, 64, 1);
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "int64"));
  FakeType(&fake, 0, 32, 4);
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "(0, 32, 4)"));
  ASSERT_SAYS("(0, 32, 1)");
  return TEST_PASSED;
}

static int a_type_without_bits_is_malformed(void) {
  FakeType(&fake, 2, 0, 1);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "(2, 0, 1)"));
  FakeType(&fake, 2, 64, 0);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "(2, 64, 0)"));
  return TEST_PASSED;
}

static int a_spec_of_wildcards_wants_memory_that_the_host_can_address(void) {
  const int types[] = {CPU, CUDA_HOST, ROCM_HOST, CUDA_MANAGED};

  for (int i = 0; i < COUNT_OF(types); i++) {
    FakeDevice(&fake, types[i], 0);
    PASSES(Passes(Any()));
  }
  FakeDevice(&fake, CUDA, 0);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "kDLCUDA"));
  FakeDevice(&fake, 99, 0);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "99"));
  return TEST_PASSED;
}

static int the_spec_of_a_device_is_matched_exactly(void) {
  CeedDLPackSpec spec = Any();
  void *page = ForbiddenPage();

  FakeInit(&fake, page, 1, DIMS(3), NULL);
  FakeDevice(&fake, ONE_API, 0);
  spec.device_type = ONE_API;
  PASSES(Passes(spec));
  spec.device_type = CUDA;
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "kDLOneAPI"));
  ASSERT_SAYS("kDLCUDA");
  spec.device_type = CPU;
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "kDLCPU"));
  ReleasePage(page);
  return TEST_PASSED;
}

static int the_spec_of_a_number_of_axes_is_a_dimension(void) {
  CeedDLPackSpec spec = Any();

  spec.ndim = 2;
  PASSES(Passes(spec));
  spec.ndim = 3;
  PASSES(Fails(spec, CEED_ERROR_DIMENSION, "2"));
  ASSERT_SAYS("3");
  spec.ndim = 0;
  PASSES(Fails(spec, CEED_ERROR_DIMENSION, "2"));
  FakeInit(&fake, data, 0, NULL, NULL);
  PASSES(Passes(spec));
  return TEST_PASSED;
}

static int the_spec_of_a_shape_has_wildcards(void) {
  CeedDLPackSpec spec = Any();

  spec.ndim = 2;
  spec.shape = DIMS(4, 6);
  PASSES(Passes(spec));
  spec.shape = DIMS(-1, 6);
  PASSES(Passes(spec));
  spec.shape = DIMS(-1, -1);
  PASSES(Passes(spec));
  spec.shape = DIMS(4, 7);
  PASSES(Fails(spec, CEED_ERROR_DIMENSION, "6"));
  ASSERT_SAYS("7");
  return TEST_PASSED;
}

static int a_spec_may_want_c_order(void) {
  CeedDLPackSpec spec = Any();

  spec.contiguous = true;
  PASSES(Passes(spec));
  FakeInit(&fake, data, 2, DIMS(4, 6), NULL);
  PASSES(Passes(spec));
  FakeInit(&fake, data, 2, DIMS(1, 6), DIMS(-99, 1));
  PASSES(Passes(spec));
  FakeInit(&fake, data, 2, DIMS(0, 6), DIMS(5, 5));
  PASSES(Passes(spec));
  FakeInit(&fake, data, 2, DIMS(6, 4), DIMS(1, 6));
  PASSES(Passes(Any()));
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "contiguous"));
  return TEST_PASSED;
}

static int a_spec_may_want_to_write(void) {
  CeedDLPackSpec spec = Any();

  spec.writable = true;
  PASSES(Passes(spec));
  fake.versioned.flags = READ_ONLY;
  ASSERT_CODE(CEED_ERROR_ACCESS, Check(true, &spec));
  ASSERT_SAYS("read-only");
  ASSERT_OK(Check(false, &spec));
  PASSES(Passes(Any()));
  return TEST_PASSED;
}

static int a_spec_may_want_alignment(void) {
  CeedDLPackSpec spec = Any();

  FakeInit(&fake, (void *)(uintptr_t)0x10040, 1, DIMS(3), NULL);
  spec.alignment = 64;
  PASSES(Passes(spec));
  spec.alignment = 128;
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "128"));
  FakeOffset(&fake, 64);
  PASSES(Passes(spec));
  FakeOffset(&fake, 65);
  PASSES(Fails(spec, CEED_ERROR_INCOMPATIBLE, "128"));
  spec.alignment = 0;
  PASSES(Passes(spec));
  return TEST_PASSED;
}

static int malformed_tensors_pass_no_spec(void) {
  FakeInit(&fake, data, 2, DIMS(INT64_C(1) << 62, 4), NULL);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "overflow"));
  FakeInit(&fake, data, 2, DIMS(3, 3), DIMS(INT64_MAX, 1));
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "overflow"));
  FakeInit(&fake, NULL, 1, DIMS(3), NULL);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "NULL"));
  FakeInit(&fake, data, 1, DIMS(-3), NULL);
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "-3"));
  FakeInit(&fake, data, 1, DIMS(3), NULL);
  LEGACY_AND_VERSIONED(versioned) FakeTensor(&fake, versioned)->shape = NULL;
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "shape"));
  LEGACY_AND_VERSIONED(versioned) FakeTensor(&fake, versioned)->ndim = -2;
  PASSES(Fails(Any(), CEED_ERROR_INCOMPATIBLE, "-2"));
  return TEST_PASSED;
}

static int checks_of_nothing_are_errors(void) {
  CeedDLPackSpec spec = Any();

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackCheck(NULL, false, &spec));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackCheck(NULL, true, &spec));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackCheck(&fake.versioned, true, NULL));
  fake.versioned.version.major = 2;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackCheck(&fake.versioned, true, &spec));
  ASSERT_SAYS("version");
  return TEST_PASSED;
}

static int empty_tensors_pass_without_data(void) {
  CeedDLPackSpec spec = Any();

  FakeInit(&fake, NULL, 2, DIMS(0, 6), NULL);
  spec.contiguous = spec.writable = true;
  spec.alignment = 64;
  PASSES(Passes(spec));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_wrapped_pointer_is_a_tensor_in_c_order),
    BEHAVIOUR(a_wrap_may_be_read_only),
    BEHAVIOUR(deleting_a_wrap_frees_no_data),
    BEHAVIOUR(the_shape_of_a_wrap_is_its_own),
    BEHAVIOUR(nothing_is_wrapped_as_null),
    BEHAVIOUR(one_entry_is_wrapped_without_axes),
    BEHAVIOUR(bad_wraps_are_errors),
    BEHAVIOUR(pinned_and_managed_memory_is_host_memory),
    BEHAVIOUR(other_devices_are_errors_with_their_names),
    BEHAVIOUR(memory_types_of_nothing_are_errors),
    BEHAVIOUR(view_tells_what_a_tensor_says),
    BEHAVIOUR(view_tells_what_is_unusual),
    BEHAVIOUR(view_tells_alignment_from_the_address),
    BEHAVIOUR(view_names_malformed_fields_and_follows_none),
    BEHAVIOUR(view_survives_every_type_and_device),
    BEHAVIOUR(view_reads_nothing_of_another_major_version),
    BEHAVIOUR(view_of_nothing_is_an_error),
    BEHAVIOUR(a_spec_of_wildcards_accepts_every_type),
    BEHAVIOUR(the_spec_of_a_type_is_matched_exactly),
    BEHAVIOUR(a_type_without_bits_is_malformed),
    BEHAVIOUR(a_spec_of_wildcards_wants_memory_that_the_host_can_address),
    BEHAVIOUR(the_spec_of_a_device_is_matched_exactly),
    BEHAVIOUR(the_spec_of_a_number_of_axes_is_a_dimension),
    BEHAVIOUR(the_spec_of_a_shape_has_wildcards),
    BEHAVIOUR(a_spec_may_want_c_order),
    BEHAVIOUR(a_spec_may_want_to_write),
    BEHAVIOUR(a_spec_may_want_alignment),
    BEHAVIOUR(malformed_tensors_pass_no_spec),
    BEHAVIOUR(checks_of_nothing_are_errors),
    BEHAVIOUR(empty_tensors_pass_without_data),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
