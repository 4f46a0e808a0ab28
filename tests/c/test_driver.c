// Finding the driver of a device: what is missing is named, and nothing is loaded unasked. Each
// try is a process of its own, for a driver that was found stays.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "gpu.h"

static const char *library, *resource, *fails;

// The text of the error goes to the parent, or that there was none.
static void TryToOpen(void) {
  Ceed made = NULL;
  int code;

  UseFakeGpu();
  fake_gpu.fails = fails;
  if (library) setenv(IsHip() ? "CEEDLIKE_LIBHIP" : "CEEDLIKE_LIBCUDA", library, 1);
  if (library && !*library) unsetenv(IsHip() ? "CEEDLIKE_LIBHIP" : "CEEDLIKE_LIBCUDA");
  code = CeedInit(resource, &made);
  fprintf(stderr, "%d: %s", code, code ? TestText() : "opened");
  if (!code) CeedDestroy(&made);
}

static char text[1024];

static int Opening(const char *a_library, const char *a_resource, const char *entry) {
  library = a_library;
  resource = a_resource;
  fails = entry;
  ASSERT_EQ(TestChild(TryToOpen, text, sizeof text), 0);
  return TEST_PASSED;
}

static int a_driver_is_found_by_its_variable(void) {
  PASSES(Opening(NULL, GpuResource(), NULL));
  ASSERT_TEXT(text, "0: opened");
  return TEST_PASSED;
}

static int a_library_that_is_not_there_is_named(void) {
  PASSES(Opening("/nowhere/libdriver.so", GpuResource(), NULL));
  ASSERT_HAS(text, "-2: "); /* CEED_ERROR_BACKEND */
  ASSERT_HAS(text, "/nowhere/libdriver.so");
  ASSERT_HAS(text, IsHip() ? "CEEDLIKE_LIBHIP" : "CEEDLIKE_LIBCUDA");
  return TEST_PASSED;
}

static int without_a_driver_the_library_that_was_looked_for_is_named(void) {
  const char *name = IsHip() ? "libamdhip64.so" : "libcuda.so.1";

  if (dlopen(name, RTLD_LAZY)) return TestSkip("there is a driver");
  PASSES(Opening("", GpuResource(), NULL));
  ASSERT_HAS(text, "-2: ");
  ASSERT_HAS(text, name);
  return TEST_PASSED;
}

static int a_symbol_that_is_missing_is_named(void) {
  PASSES(Opening("libm.so.6", GpuResource(), NULL));
  ASSERT_HAS(text, "-2: ");
  ASSERT_HAS(text, IsHip() ? "libm.so.6 has no hipInit" : "libm.so.6 has no cuInit");
  return TEST_PASSED;
}

static int a_driver_that_fails_tells_why(void) {
  static const char *const entries[][2] = {{"cuInit", "hipInit"},
                                           {"cuDriverGetVersion", "hipDriverGetVersion"},
                                           {"cuDeviceGetCount", "hipGetDeviceCount"}};

  for (int i = 0; i < COUNT_OF(entries); i++) {
    PASSES(Opening(NULL, GpuResource(), entries[i][IsHip()]));
    ASSERT_HAS(text, "-2: ");
    ASSERT_HAS(text, entries[i][IsHip()]);
    ASSERT_HAS(text, "the fake device fails on command");
  }
  return TEST_PASSED;
}

static int a_device_that_is_not_there_is_an_error_with_the_count(void) {
  char name[64];

  snprintf(name, sizeof name, "%s:device_id=2", GpuResource());
  PASSES(Opening(NULL, name, NULL));
  ASSERT_HAS(text, "-2: ");
  ASSERT_HAS(text, "has 2 devices: device_id=2");
  return TEST_PASSED;
}

static int an_option_that_there_is_not_is_an_error_with_the_list(void) {
  static const char *const options[] = {"device_id=",   "device_id=-1",        "device_id=0x",
                                        "device=0",     "host=plain",          "host=pinned,",
                                        "device_id=+0", "device_id=4294967296"};

  for (int i = 0; i < COUNT_OF(options); i++) {
    char name[64];

    snprintf(name, sizeof name, "%s:%s", GpuResource(), options[i]);
    PASSES(Opening(NULL, name, NULL));
    ASSERT_HAS(text, "-3: "); /* CEED_ERROR_UNSUPPORTED */
    ASSERT_HAS(text, options[i]);
    ASSERT_HAS(text, "device_id=N and host=pinned");
  }
  return TEST_PASSED;
}

// The memory is the device's, though it says 1 where a current HIP says 2.
static void TakeFromOldHip(void) {
  CeedScalar *memory;
  CeedVector vec = NULL;

  UseFakeGpu();
  fake_gpu.hip_version = 50400000;
  if (CeedInit(GpuResource(), &ceed) || CeedVectorCreate(ceed, 2, &vec)) return;
  memory = FakeDeviceAllocate(2, (CeedScalar[]){1, 2});
  fprintf(stderr, "%d, %d", CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, memory),
          CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, memory));
}

static int older_hip_numbers_memory_otherwise(void) {
  if (!IsHip()) return TestSkip("it is HIP that did so");
  ASSERT_EQ(TestChild(TakeFromOldHip, text, sizeof text), 0);
  ASSERT_TEXT(text, "0, 4"); /* CEED_ERROR_INCOMPATIBLE */
  return TEST_PASSED;
}

// It would fail if it were looked for.
static int a_host_context_looks_for_no_driver(void) {
  PASSES(Opening("/nowhere/libdriver.so", "/cpu/self", NULL));
  ASSERT_TEXT(text, "0: opened");
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_driver_is_found_by_its_variable),
    BEHAVIOUR(a_library_that_is_not_there_is_named),
    BEHAVIOUR(without_a_driver_the_library_that_was_looked_for_is_named),
    BEHAVIOUR(a_symbol_that_is_missing_is_named),
    BEHAVIOUR(a_driver_that_fails_tells_why),
    BEHAVIOUR(a_device_that_is_not_there_is_an_error_with_the_count),
    BEHAVIOUR(an_option_that_there_is_not_is_an_error_with_the_list),
    BEHAVIOUR(older_hip_numbers_memory_otherwise),
    BEHAVIOUR(a_host_context_looks_for_no_driver),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
