// Devices of CUDA and HIP through a fake driver: streams, addresses of strangers, pinned and
// managed memory, errors of the driver.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "gpu.h"

enum { LENGTH = 4 };

static CeedVector vec;
static void *ours, *theirs;  // streams

static int OpenAs(const char *options) {
  char name[64];

  snprintf(name, sizeof name, "%s%s", GpuResource(), options);
  ASSERT_OK(CeedInit(name, &ceed));
  ASSERT_OK(CeedVectorCreate(ceed, LENGTH, &vec));
  ours = FakeGpuCreateStream();
  theirs = FakeGpuCreateStream();
  ASSERT_OK(CeedSetStream(ceed, ours));
  return TEST_PASSED;
}

// What is still to be done has its memory as long.
static int Close(void) {
  FakeGpuDestroyStream(ours);
  FakeGpuDestroyStream(theirs);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return DestroyContext();
}

static int Begin(void) {
  UseFakeGpu();
  return OpenAs("");
}

// Nothing is left on the device, and the thread is where it was.
static int End(void) {
  PASSES(Close());
  ASSERT_EQ(fake_gpu.releases, fake_gpu.allocations);
  ASSERT_EQ(fake_gpu.events, 0);
  ASSERT_EQ(fake_gpu.pinned, 0);
  ASSERT_EQ(FakeGpuCurrent(IsHip()), IsHip() ? 0 : -1);
  return TEST_PASSED;
}

static int Reopen(const char *options) {
  PASSES(Close());
  return OpenAs(options);
}

// What a solver's kernel writes, when its stream comes to it.
static int Launch(void *stream, void *to, CeedScalar first) {
  CeedScalar values[LENGTH] = {first, first + 1, first + 2, first + 3};

  FakeGpuLaunch(stream, to, values, sizeof values);
  return TEST_PASSED;
}

static int LaunchIntoVector(void *stream, CeedScalar first) {
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  PASSES(Launch(stream, array, first));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// The context
// ------------------------------------------------------------------------------------------------

static int view_names_the_device_and_where_work_is_done(void) {
  char text[1024] = "";
  FILE *stream = fmemopen(text, sizeof text, "w");

  ASSERT(stream);
  ASSERT_OK(CeedView(ceed, stream));
  fclose(stream);
  ASSERT_HAS(text, "Device: 0, Fake GPU 0");
  ASSERT_HAS(text, "Arithmetic and operators: through host memory");
  return TEST_PASSED;
}

static int a_device_is_chosen_by_its_number(void) {
  CeedScalar *array = NULL;
  int32_t type, id;

  PASSES(Reopen(":device_id=1"));
  ASSERT_OK(CeedGetDLPackDevice(ceed, CEED_MEM_DEVICE, &type, &id));
  ASSERT(type == GpuType() && id == 1);
  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_DEVICE, &type, &id));
  ASSERT(type == GpuType() && id == 1);
  ASSERT_OK(CeedVectorSetValue(vec, 2));
  ASSERT_VALUES(vec, 2, 2, 2, 2);
  return TEST_PASSED;
}

static int pinned_host_memory_is_the_drivers_and_says_so(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(Reopen(":host=pinned:device_id=1"));
  ASSERT_OK(CeedVectorSetValue(vec, 3));
  ASSERT_EQ(fake_gpu.pinned, 1);
  tensor = Export(vec, CEED_EXPORT_SHARED);
  ASSERT_EQ(tensor->dl_tensor.device.device_type, IsHip() ? ROCM_HOST : CUDA_HOST);
  ASSERT_EQ(tensor->dl_tensor.device.device_id, 0);
  Release(tensor);
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_DEVICE));
  ASSERT_VALUES(vec, 3, 3, 3, 3);
  return TEST_PASSED;
}

static int a_fab_is_not_copied_from_where_its_values_do_not_lie(void) {
  CeedBox box = {.dim = 1, .hi = {3}};
  CeedGhost none = {.lo = {0}};
  CeedSize strides[4] = {1, 1, 1, 4};
  CeedScalar values[4] = {0};
  CeedFab fab = NULL;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedFabCreateFromArray(ceed, box, none, 1, CEED_MEM_DEVICE, CEED_COPY_VALUES, strides,
                                     values, &fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Streams
// ------------------------------------------------------------------------------------------------

static int a_stream_is_given_back_as_it_came(void) {
  void *stream = NULL;

  ASSERT_OK(CeedGetStream(ceed, &stream));
  ASSERT_SAME(stream, ours);
  return TEST_PASSED;
}

static int a_host_read_waits_for_the_contexts_stream_alone(void) {
  CeedScalar other[LENGTH];

  PASSES(Launch(theirs, other, 1));
  PASSES(LaunchIntoVector(ours, 5));
  ASSERT_EQ(FakeGpuPending(ours), 1);
  ASSERT_VALUES(vec, 5, 6, 7, 8);
  ASSERT_EQ(FakeGpuPending(theirs), 1);
  FakeGpuSynchronize(theirs);
  return TEST_PASSED;
}

static int values_from_the_host_are_there_for_every_stream(void) {
  const CeedScalar *array = NULL;
  CeedScalar values[LENGTH];

  ASSERT_OK(CeedVectorSetValue(vec, 4));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &array));
  FakeDeviceRead(array, LENGTH, values);
  ASSERT_NUMBER(values[3], 4);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  return TEST_PASSED;
}

// Of both streams nothing is done on the way: the device waits, not the host.
static int a_consumers_stream_waits_for_ours(void) {
  const CeedScalar *array = NULL;
  CeedScalar values[LENGTH];

  PASSES(LaunchIntoVector(ours, 9));
  ASSERT_OK(CeedOrderBefore(ceed, theirs));
  ASSERT_EQ(FakeGpuPending(ours), 1);
  FakeGpuSynchronize(theirs);
  ASSERT_EQ(FakeGpuPending(ours), 0);
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &array));
  FakeDeviceRead(array, LENGTH, values);
  ASSERT_NUMBER(values[0], 9);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  return TEST_PASSED;
}

static int our_stream_waits_for_a_consumers(void) {
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorToDLPackVersioned(NULL, vec, CEED_MEM_DEVICE, &tensor));
  PASSES(Launch(theirs, tensor->dl_tensor.data, 20));
  ASSERT_OK(CeedOrderAfter(ceed, theirs));
  ASSERT_EQ(FakeGpuPending(theirs), 1);
  ASSERT_VALUES(vec, 20, 21, 22, 23);
  Release(tensor);
  return TEST_PASSED;
}

static int what_comes_later_on_our_stream_is_not_waited_for(void) {
  ASSERT_OK(CeedOrderBefore(ceed, theirs));
  PASSES(LaunchIntoVector(ours, 1));
  FakeGpuSynchronize(theirs);
  ASSERT_EQ(FakeGpuPending(ours), 1);
  return TEST_PASSED;
}

static int one_stream_needs_no_order(void) {
  ASSERT_OK(CeedOrderBefore(ceed, ours));
  ASSERT_OK(CeedOrderAfter(ceed, ours));
  ASSERT_EQ(FakeGpuPending(ours), 0);
  ASSERT_OK(CeedSetStream(ceed, NULL));
  ASSERT_OK(CeedOrderBefore(ceed, IsHip() ? NULL : (void *)1));  // the default stream by its number
  ASSERT_EQ(FakeGpuPending(NULL), 0);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Addresses of strangers
// ------------------------------------------------------------------------------------------------

static int an_address_of_the_other_memory_type_is_refused(void) {
  CeedScalar host[LENGTH] = {0}, *device = FakeDeviceAllocate(LENGTH, host);

  for (int mode = CEED_COPY_VALUES; mode <= CEED_OWN_POINTER; mode++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
                CeedVectorSetArray(vec, CEED_MEM_DEVICE, (CeedCopyMode)mode, host));
    ASSERT_SAYS("is no device memory");
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
                CeedVectorSetArray(vec, CEED_MEM_HOST, (CeedCopyMode)mode, device));
    ASSERT_SAYS("is no host memory");
  }
  FakeDeviceFree(device);
  return TEST_PASSED;
}

static int an_address_on_another_device_is_refused(void) {
  CeedScalar *other = FakeGpuAllocate(FAKE_DEVICE, 1, LENGTH * sizeof *other);
  Fake fake;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, other));
  ASSERT_SAYS("on device 1");
  FakeInit(&fake, other, 1, DIMS(LENGTH), NULL);
  FakeDevice(&fake, GpuType(), 0);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeTake(vec, &fake, true, CEED_USE_POINTER));
  ASSERT_EQ(fake.deletions, 0);
  FakeGpuFree(other);
  return TEST_PASSED;
}

// Producers count as they like, as under CUDA_VISIBLE_DEVICES.
static int the_address_of_a_tensor_tells_its_device(void) {
  CeedScalar *memory = FakeDeviceAllocate(LENGTH, (CeedScalar[]){1, 2, 3, 4});
  int32_t type, id;
  Fake fake;

  FakeInit(&fake, memory, 1, DIMS(LENGTH), NULL);
  FakeDevice(&fake, GpuType(), 5);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_DEVICE, &type, &id));
  ASSERT(type == GpuType() && id == 0);
  ASSERT_VALUES(vec, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_DEVICE, NULL));
  ASSERT_EQ(fake.deletions, 1);
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static int managed_memory_is_of_both_types(void) {
  CeedScalar *memory = FakeGpuAllocate(FAKE_MANAGED, 0, LENGTH * sizeof *memory);

  for (int i = 0; i < LENGTH; i++) memory[i] = i;
  for (int type = CEED_MEM_HOST; type <= CEED_MEM_DEVICE; type++) {
    ASSERT_OK(CeedVectorSetArray(vec, (CeedMemType)type, CEED_USE_POINTER, memory));
    ASSERT_VALUES(vec, 0, 1, 2, 3);
    ASSERT_OK(CeedVectorTakeArray(vec, (CeedMemType)type, NULL));
  }
  FakeGpuFree(memory);
  return TEST_PASSED;
}

static int host_memory_of_a_driver_is_read_when_our_stream_has_come_so_far(void) {
  static const int types[] = {CUDA_HOST, ROCM_HOST, CUDA_MANAGED};

  for (int i = 0; i < COUNT_OF(types); i++) {
    int kind = types[i] == CUDA_MANAGED ? FAKE_MANAGED : FAKE_PINNED;
    CeedScalar *memory = FakeGpuAllocate(kind, 0, LENGTH * sizeof *memory);
    int32_t type, id;
    Fake fake;

    FakeInit(&fake, memory, 1, DIMS(LENGTH), NULL);
    FakeDevice(&fake, types[i], 0);
    PASSES(Launch(ours, memory, 30));
    ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
    ASSERT_VALUES(vec, 30, 31, 32, 33);
    ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_HOST, &type, &id));
    ASSERT(type == types[i] && id == 0);
    ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_DEVICE));
    ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, NULL));
    ASSERT_EQ(fake.deletions, 1);
    FakeGpuFree(memory);
  }
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Copies in device memory
// ------------------------------------------------------------------------------------------------

static int CopyHolds(const int64_t *strides, CeedScalar first, CeedScalar second) {
  DLManagedTensorVersioned *tensor = NULL;
  CeedScalar values[2] = {0};

  ASSERT_OK(CeedVectorExport(vec, CEED_MEM_DEVICE, CEED_EXPORT_COPY, 1, DIMS(2), strides, &tensor));
  ASSERT_EQ(tensor->flags, IS_COPIED);
  ASSERT_EQ(tensor->dl_tensor.device.device_type, GpuType());
  ASSERT_EQ(tensor->dl_tensor.strides[0], 1);
  ASSERT_OK(CeedVectorSetValue(vec, -1));
  FakeDeviceRead(tensor->dl_tensor.data, 2, values);
  ASSERT_NUMBER(values[0], first);
  ASSERT_NUMBER(values[1], second);
  Release(tensor);
  return TEST_PASSED;
}

static int a_copy_may_lie_on_the_device(void) {
  PASSES(LaunchIntoVector(ours, 1));
  PASSES(CopyHolds(NULL, 1, 2));
  ASSERT_EQ(fake_gpu.within, 1);
  return TEST_PASSED;
}

static int a_copy_of_values_with_gaps_may_lie_on_the_device(void) {
  PASSES(LaunchIntoVector(ours, 1));
  PASSES(CopyHolds(DIMS(3), 1, 4));
  return TEST_PASSED;
}

// The other side of the vector is left alone.
static int a_copy_to_the_host_costs_one_transfer(void) {
  DLManagedTensorVersioned *tensor = NULL;
  bool holds[2], current[2];

  PASSES(LaunchIntoVector(ours, 1));
  ASSERT_OK(CeedVectorExport(vec, CEED_MEM_HOST, CEED_EXPORT_COPY, 1, DIMS(LENGTH), NULL, &tensor));
  ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[3], 4);
  ASSERT_EQ(fake_gpu.to_host, 1);
  ASSERT_OK(CeedVectorGetMemTypes(vec, holds, current));
  ASSERT(!holds[CEED_MEM_HOST]);
  Release(tensor);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Errors of the driver
// ------------------------------------------------------------------------------------------------

static int a_full_device_tells_how_much_was_asked_for_and_why_not(void) {
  CeedScalar *array = NULL;
  char bytes[32];

  fake_gpu.is_full = true;
  ASSERT_CODE(CEED_ERROR_MAJOR, CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  snprintf(bytes, sizeof bytes, "Out of memory: %zu bytes", LENGTH * sizeof *array);
  ASSERT_SAYS(bytes);
  ASSERT_SAYS("the fake device is full");
  return TEST_PASSED;
}

static int an_error_names_the_entry_and_has_the_drivers_text(void) {
  static const char *const entries[][2] = {{"cuEventCreate", "hipEventCreateWithFlags"},
                                           {"cuEventRecord", "hipEventRecord"},
                                           {"cuStreamWaitEvent", "hipStreamWaitEvent"}};

  for (int i = 0; i < COUNT_OF(entries); i++) {
    fake_gpu.fails = entries[i][IsHip()];
    ASSERT_CODE(CEED_ERROR_BACKEND, CeedOrderBefore(ceed, theirs));
    ASSERT_SAYS(entries[i][IsHip()]);
    ASSERT_SAYS("the fake device fails on command");
    ASSERT_EQ(fake_gpu.events, 0);
  }
  return TEST_PASSED;
}

static int copies_that_fail_leave_the_vector_as_it_was(void) {
  static const char *const entries[][2] = {{"cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync"},
                                           {"cuStreamSynchronize", "hipStreamSynchronize"}};
  CeedScalar norm;

  PASSES(LaunchIntoVector(ours, 1));
  for (int i = 0; i < COUNT_OF(entries); i++) {
    fake_gpu.fails = entries[i][IsHip()];
    ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorNorm(vec, CEED_NORM_1, &norm));
    ASSERT_SAYS("the fake device fails on command");
    fake_gpu.fails = NULL;
  }
  ASSERT_VALUES(vec, 1, 2, 3, 4);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(view_names_the_device_and_where_work_is_done),
    BEHAVIOUR(a_device_is_chosen_by_its_number),
    BEHAVIOUR(a_fab_is_not_copied_from_where_its_values_do_not_lie),
    BEHAVIOUR(pinned_host_memory_is_the_drivers_and_says_so),
    BEHAVIOUR(a_stream_is_given_back_as_it_came),
    BEHAVIOUR(a_host_read_waits_for_the_contexts_stream_alone),
    BEHAVIOUR(values_from_the_host_are_there_for_every_stream),
    BEHAVIOUR(a_consumers_stream_waits_for_ours),
    BEHAVIOUR(our_stream_waits_for_a_consumers),
    BEHAVIOUR(what_comes_later_on_our_stream_is_not_waited_for),
    BEHAVIOUR(one_stream_needs_no_order),
    BEHAVIOUR(an_address_of_the_other_memory_type_is_refused),
    BEHAVIOUR(an_address_on_another_device_is_refused),
    BEHAVIOUR(the_address_of_a_tensor_tells_its_device),
    BEHAVIOUR(managed_memory_is_of_both_types),
    BEHAVIOUR(host_memory_of_a_driver_is_read_when_our_stream_has_come_so_far),
    BEHAVIOUR(a_copy_may_lie_on_the_device),
    BEHAVIOUR(a_copy_of_values_with_gaps_may_lie_on_the_device),
    BEHAVIOUR(a_copy_to_the_host_costs_one_transfer),
    BEHAVIOUR(a_full_device_tells_how_much_was_asked_for_and_why_not),
    BEHAVIOUR(an_error_names_the_entry_and_has_the_drivers_text),
    BEHAVIOUR(copies_that_fail_leave_the_vector_as_it_was),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
