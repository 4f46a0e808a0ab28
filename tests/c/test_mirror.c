// Vectors with memory on the host and on a device: which side holds the current values, when they
// are copied, and who may have which side. Linked with the library's objects and a fake device.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "fabs.h"
#include "gpu.h"

enum { LENGTH = 4 };

static CeedVector vec;

static int Begin(void) {
  UseFakeGpu();
  ASSERT_OK(CeedInit(GpuResource(), &ceed));
  ASSERT_OK(CeedVectorCreate(ceed, LENGTH, &vec));
  return TEST_PASSED;
}

// No array is left on the device.
static int End(void) {
  ASSERT_OK(CeedVectorDestroy(&vec));
  PASSES(DestroyContext());
  ASSERT_EQ(fake_gpu.releases, fake_gpu.allocations);
  return TEST_PASSED;
}

static int CopiesAre(int to_device, int to_host) {
  ASSERT_EQ(fake_gpu.to_device, to_device);
  ASSERT_EQ(fake_gpu.to_host, to_host);
  return TEST_PASSED;
}

static int Current(bool host, bool device) {
  bool holds[2], current[2];

  ASSERT_OK(CeedVectorGetMemTypes(vec, holds, current));
  ASSERT_EQ(current[CEED_MEM_HOST], host);
  ASSERT_EQ(current[CEED_MEM_DEVICE], device);
  ASSERT(holds[CEED_MEM_HOST] || !host);
  ASSERT(holds[CEED_MEM_DEVICE] || !device);
  return TEST_PASSED;
}

static int WriteOnHost(CeedScalar first) {
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < LENGTH; i++) array[i] = first + (CeedScalar)i;
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  return TEST_PASSED;
}

static void Count(CeedScalar values[LENGTH], CeedScalar first) {
  for (int i = 0; i < LENGTH; i++) values[i] = first + (CeedScalar)i;
}

static int WriteOnDevice(CeedScalar first) {
  CeedScalar *array = NULL, values[LENGTH];

  Count(values, first);
  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  FakeDeviceWrite(array, LENGTH, values);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  return TEST_PASSED;
}

static int DeviceHolds(const void *memory, CeedScalar first) {
  CeedScalar values[LENGTH] = {0};

  FakeDeviceRead(memory, LENGTH, values);
  for (int i = 0; i < LENGTH; i++) ASSERT_NUMBER(values[i], first + (CeedScalar)i);
  return TEST_PASSED;
}

static int HostReads(CeedScalar first) {
  ASSERT_VALUES(vec, first, first + 1, first + 2, first + 3);
  return TEST_PASSED;
}

static int DeviceReads(CeedScalar first) {
  const CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &array));
  PASSES(DeviceHolds(array, first));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  return TEST_PASSED;
}

static DLManagedTensorVersioned *ExportFrom(CeedMemType type, CeedExportMode mode) {
  DLManagedTensorVersioned *tensor = NULL;

  CeedVectorExport(vec, type, mode, 1, DIMS(LENGTH), NULL, &tensor);
  return tensor;
}

// ------------------------------------------------------------------------------------------------
// The context
// ------------------------------------------------------------------------------------------------

static int a_device_context_has_both_memory_types_and_prefers_its_own(void) {
  CeedMemType type = CEED_MEM_HOST;
  bool host = false, device = false;

  ASSERT_OK(CeedGetPreferredMemType(ceed, &type));
  ASSERT_EQ(type, CEED_MEM_DEVICE);
  ASSERT_OK(CeedMemTypeIsAvailable(ceed, CEED_MEM_HOST, &host));
  ASSERT_OK(CeedMemTypeIsAvailable(ceed, CEED_MEM_DEVICE, &device));
  ASSERT(host && device);
  return TEST_PASSED;
}

static int a_device_is_among_the_resources(void) {
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit("/none", &(Ceed){NULL}));
  ASSERT_SAYS(GpuResource());
  return TEST_PASSED;
}

static int device_memory_is_the_devices_type_of_dlpack(void) {
  int32_t type = -1, id = -1;

  ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_DEVICE, &type, &id));
  ASSERT(type == GpuType() && id == 0);
  ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_HOST, &type, &id));
  ASSERT(type == CPU && id == 0);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Which side is current, and when values cross
// ------------------------------------------------------------------------------------------------

static int device_memory_comes_when_it_is_asked_for(void) {
  PASSES(WriteOnHost(1));
  ASSERT_EQ(fake_gpu.allocations, 0);
  PASSES(Current(true, false));
  PASSES(DeviceReads(1));
  ASSERT_EQ(fake_gpu.allocations, 1);
  return TEST_PASSED;
}

static int values_of_the_host_are_copied_to_the_device_once(void) {
  PASSES(WriteOnHost(1));
  PASSES(DeviceReads(1));
  PASSES(CopiesAre(1, 0));
  PASSES(Current(true, true));
  PASSES(DeviceReads(1));
  PASSES(HostReads(1));
  PASSES(CopiesAre(1, 0));
  return TEST_PASSED;
}

static int values_of_the_device_are_copied_to_the_host_once(void) {
  PASSES(WriteOnDevice(5));
  PASSES(Current(false, true));
  PASSES(HostReads(5));
  PASSES(HostReads(5));
  PASSES(CopiesAre(0, 1));
  PASSES(Current(true, true));
  return TEST_PASSED;
}

static int a_write_on_one_side_makes_the_other_old(void) {
  PASSES(WriteOnHost(1));
  PASSES(DeviceReads(1));
  PASSES(WriteOnHost(2));
  PASSES(Current(true, false));
  PASSES(DeviceReads(2));
  PASSES(WriteOnDevice(3));
  PASSES(Current(false, true));
  PASSES(HostReads(3));
  return TEST_PASSED;
}

static int writing_all_entries_copies_nothing(void) {
  PASSES(WriteOnHost(1));
  PASSES(WriteOnDevice(2));
  PASSES(WriteOnHost(3));
  PASSES(CopiesAre(0, 0));
  return TEST_PASSED;
}

static int reading_and_writing_copies_first(void) {
  CeedScalar *array = NULL;

  PASSES(WriteOnHost(1));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  PASSES(CopiesAre(1, 0));
  PASSES(DeviceHolds(array, 1));
  FakeDeviceWrite(array, 1, (CeedScalar[]){90});
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  PASSES(Current(false, true));
  ASSERT_VALUES(vec, 90, 2, 3, 4);
  return TEST_PASSED;
}

static int sync_makes_a_side_current(void) {
  PASSES(WriteOnHost(1));
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_DEVICE));
  PASSES(Current(true, true));
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  PASSES(CopiesAre(1, 0));
  return TEST_PASSED;
}

static int both_sides_may_be_read_at_once(void) {
  const CeedScalar *host = NULL, *device = NULL;
  CeedScalar *array = NULL;

  PASSES(WriteOnHost(1));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &host));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &device));
  ASSERT(host != device);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &device));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &host));
  return TEST_PASSED;
}

static int a_writer_on_one_side_excludes_the_other(void) {
  CeedScalar *array = NULL, *second = NULL;
  const CeedScalar *read = NULL;

  PASSES(WriteOnHost(1));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_HOST, &second));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  return TEST_PASSED;
}

static int an_array_of_the_other_side_is_not_the_one_that_is_out(void) {
  CeedScalar *array = NULL, *other;
  const CeedScalar *host = NULL;

  PASSES(WriteOnHost(1));
  PASSES(DeviceReads(1));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &host));
  other = (CeedScalar *)(uintptr_t)host;
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &host));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorRestoreArray(vec, &other));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  return TEST_PASSED;
}

static int an_empty_vector_needs_no_device_memory(void) {
  CeedVector none = NULL;
  const CeedScalar *array = NULL;
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 0, &none));
  ASSERT_OK(CeedVectorSetValue(none, 1));
  ASSERT_OK(CeedVectorGetArrayRead(none, CEED_MEM_DEVICE, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(none, &array));
  ASSERT_OK(CeedVectorExport(none, CEED_MEM_DEVICE, CEED_EXPORT_SHARED, 1, DIMS(0), NULL, &tensor));
  ASSERT(!tensor->dl_tensor.data);
  Release(tensor);
  ASSERT_EQ(fake_gpu.allocations, 0);
  ASSERT_OK(CeedVectorDestroy(&none));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Arithmetic goes through the host
// ------------------------------------------------------------------------------------------------

static int arithmetic_sees_the_values_of_the_device(void) {
  CeedScalar norm = -1;

  PASSES(WriteOnDevice(1));
  ASSERT_OK(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  ASSERT_NUMBER(norm, 10);
  ASSERT_OK(CeedVectorScale(vec, 2));
  PASSES(Current(true, false));
  ASSERT_VALUES(vec, 2, 4, 6, 8);
  ASSERT_OK(CeedVectorReciprocal(vec));
  ASSERT_VALUES(vec, 0.5, 0.25, (CeedScalar)1 / 6, 0.125);
  return TEST_PASSED;
}

static int arithmetic_of_two_vectors_sees_the_values_of_the_device(void) {
  CeedVector y = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, LENGTH, &y));
  ASSERT_OK(CeedVectorSetValue(y, 10));
  PASSES(WriteOnDevice(1));
  ASSERT_OK(CeedVectorAXPY(y, 2, vec));
  ASSERT_VALUES(y, 12, 14, 16, 18);
  PASSES(WriteOnDevice(5));
  ASSERT_OK(CeedVectorPointwiseMult(y, vec, vec));
  ASSERT_VALUES(y, 25, 36, 49, 64);
  PASSES(WriteOnDevice(7));
  ASSERT_OK(CeedVectorCopy(vec, y));
  ASSERT_VALUES(y, 7, 8, 9, 10);
  PASSES(WriteOnDevice(9));
  ASSERT_OK(CeedVectorCopyStrided(vec, 0, 2, 1, y));
  ASSERT_VALUES(y, 9, 10, 9, 10);
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int a_copy_to_a_host_context_brings_the_values_over(void) {
  Ceed host = NULL;
  CeedVector y = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &host));
  ASSERT_OK(CeedVectorCreate(host, LENGTH, &y));
  PASSES(WriteOnDevice(1));
  ASSERT_OK(CeedVectorCopy(vec, y));
  ASSERT_VALUES(y, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorScale(y, 2));
  ASSERT_OK(CeedVectorCopy(y, vec));
  ASSERT_OK(CeedVectorDestroy(&y));
  ASSERT_OK(CeedDestroy(&host));
  ASSERT_VALUES(vec, 2, 4, 6, 8);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Arrays of the caller
// ------------------------------------------------------------------------------------------------

static int copied_device_values_leave_the_array_alone(void) {
  CeedScalar values[LENGTH] = {1, 2, 3, 4}, *array = FakeDeviceAllocate(LENGTH, values);

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_COPY_VALUES, array));
  FakeDeviceFree(array);
  ASSERT_EQ(fake_gpu.within, 1);
  PASSES(Current(false, true));
  PASSES(HostReads(1));
  return TEST_PASSED;
}

static int a_borrowed_device_array_is_worked_on_in_place(void) {
  CeedScalar values[LENGTH] = {1, 2, 3, 4}, *array = FakeDeviceAllocate(LENGTH, values);
  const CeedScalar *read = NULL;

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, array));
  ASSERT_EQ(fake_gpu.allocations, 0);
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &read));
  ASSERT_SAME(read, array);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  PASSES(HostReads(1));
  PASSES(WriteOnHost(11));
  PASSES(DeviceHolds(array, 1));
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_DEVICE));
  PASSES(DeviceHolds(array, 11));
  ASSERT_OK(CeedVectorDestroy(&vec));
  FakeDeviceFree(array);
  return TEST_PASSED;
}

static int taking_a_device_array_brings_the_current_values_into_it(void) {
  CeedScalar values[LENGTH] = {1, 2, 3, 4}, *array = FakeDeviceAllocate(LENGTH, values);
  CeedScalar *taken = NULL;

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, array));
  PASSES(WriteOnHost(21));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_DEVICE, &taken));
  ASSERT_SAME(taken, array);
  PASSES(DeviceHolds(array, 21));
  PASSES(Current(false, false));
  FakeDeviceFree(array);
  return TEST_PASSED;
}

static int taking_a_host_array_brings_the_current_values_into_it(void) {
  CeedScalar array[LENGTH] = {0}, *taken = NULL;

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, array));
  PASSES(WriteOnDevice(31));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_DEVICE, &taken));
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  ASSERT_SAME(taken, array);
  for (int i = 0; i < LENGTH; i++) ASSERT_NUMBER(array[i], 31 + i);
  PASSES(Current(false, false));
  return TEST_PASSED;
}

static int arrays_may_be_borrowed_on_both_sides(void) {
  CeedScalar host[LENGTH] = {1, 2, 3, 4}, *device = FakeDeviceAllocate(LENGTH, host), *taken = NULL;

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, host));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, device));
  PASSES(Current(false, true));
  PASSES(WriteOnDevice(41));
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  ASSERT_SAME(taken, host);
  ASSERT_NUMBER(host[0], 41);
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_DEVICE, &taken));
  ASSERT_SAME(taken, device);
  PASSES(DeviceHolds(device, 41));
  ASSERT_EQ(fake_gpu.allocations, 0);
  FakeDeviceFree(device);
  return TEST_PASSED;
}

static int owned_device_memory_is_released_by_the_device(void) {
  CeedScalar *array = FakeDeviceAllocate(LENGTH, (CeedScalar[]){1, 2, 3, 4});

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_OWN_POINTER, array));
  PASSES(HostReads(1));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(fake_gpu.releases, 1);
  fake_gpu.releases = 0;
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Exports of the device side
// ------------------------------------------------------------------------------------------------

static int a_device_tensor_says_where_it_lies(void) {
  const CeedScalar *array = NULL;
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnDevice(1));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &array));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  ASSERT(tensor);
  ASSERT_SAME(tensor->dl_tensor.data, array);
  ASSERT_EQ(tensor->dl_tensor.device.device_type, GpuType());
  ASSERT_EQ(tensor->dl_tensor.device.device_id, 0);
  ASSERT_EQ(tensor->dl_tensor.byte_offset, 0);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  Release(tensor);
  return TEST_PASSED;
}

static int a_device_tensor_holds_the_current_values(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_READ);
  PASSES(DeviceHolds(tensor->dl_tensor.data, 1));
  PASSES(CopiesAre(1, 0));
  Release(tensor);
  return TEST_PASSED;
}

static int a_device_tensor_outlives_vector_and_context(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnDevice(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedDestroy(&ceed));
  PASSES(DeviceHolds(tensor->dl_tensor.data, 1));
  Release(tensor);
  return TEST_PASSED;
}

static int a_copy_of_device_values_lies_on_the_host(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnDevice(1));
  tensor = ExportFrom(CEED_MEM_HOST, CEED_EXPORT_COPY);
  ASSERT(tensor);
  ASSERT_EQ(tensor->dl_tensor.device.device_type, CPU);
  for (int i = 0; i < LENGTH; i++) ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[i], 1 + i);
  Release(tensor);
  return TEST_PASSED;
}

static int writes_into_a_device_tensor_are_seen_by_every_host_read(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  for (int i = 2; i < 6; i++) {
    CeedScalar values[LENGTH];
    Count(values, (CeedScalar)(10 * i));
    FakeDeviceWrite(tensor->dl_tensor.data, LENGTH, values);
    PASSES(HostReads((CeedScalar)(10 * i)));
  }
  ASSERT_EQ(fake_gpu.to_host, 4);
  Release(tensor);
  return TEST_PASSED;
}

static int writes_into_a_device_tensor_are_seen_after_it_is_gone(void) {
  CeedScalar values[LENGTH];
  DLManagedTensorVersioned *tensor;

  Count(values, 50);
  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  PASSES(HostReads(1));
  FakeDeviceWrite(tensor->dl_tensor.data, LENGTH, values);
  Release(tensor);
  PASSES(HostReads(50));
  return TEST_PASSED;
}

static int writes_of_a_write_lease_on_the_device_are_seen_after_it_is_gone(void) {
  CeedScalar values[LENGTH];
  DLManagedTensorVersioned *tensor;

  Count(values, 60);
  PASSES(WriteOnHost(1));
  PASSES(DeviceReads(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_WRITE);
  ASSERT(tensor);
  FakeDeviceWrite(tensor->dl_tensor.data, LENGTH, values);
  Release(tensor);
  PASSES(HostReads(60));
  return TEST_PASSED;
}

static int a_host_write_under_a_device_tensor_is_copied_back(void) {
  DLManagedTensorVersioned *tensor;
  int copies;

  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  copies = fake_gpu.to_device;
  PASSES(WriteOnHost(70));
  ASSERT_EQ(fake_gpu.to_device, copies + 1);
  PASSES(DeviceHolds(tensor->dl_tensor.data, 70));
  ASSERT_OK(CeedVectorScale(vec, 0));
  ASSERT_OK(CeedVectorSetValueStrided(vec, 1, 4, 1, 1));
  ASSERT_OK(CeedVectorSetValueStrided(vec, 2, 4, 1, 2));
  ASSERT_OK(CeedVectorSetValueStrided(vec, 3, 4, 1, 3));
  PASSES(DeviceHolds(tensor->dl_tensor.data, 0));
  PASSES(HostReads(0));
  Release(tensor);
  PASSES(HostReads(0));
  return TEST_PASSED;
}

static int a_partial_host_write_keeps_what_the_device_tensor_wrote(void) {
  CeedScalar *array = NULL, values[LENGTH];
  DLManagedTensorVersioned *tensor;

  Count(values, 80);
  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  PASSES(HostReads(1));
  FakeDeviceWrite(tensor->dl_tensor.data, LENGTH, values);
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  array[0] = 7;
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  FakeDeviceRead(tensor->dl_tensor.data, LENGTH, values);
  ASSERT(values[0] == 7 && values[1] == 81 && values[3] == 83);
  Release(tensor);
  return TEST_PASSED;
}

static int a_device_write_under_a_host_tensor_is_copied_back(void) {
  DLManagedTensorVersioned *tensor;
  const CeedScalar *shared;

  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_HOST, CEED_EXPORT_SHARED);
  shared = tensor->dl_tensor.data;
  PASSES(WriteOnDevice(90));
  for (int i = 0; i < LENGTH; i++) ASSERT_NUMBER(shared[i], 90 + i);
  Release(tensor);
  return TEST_PASSED;
}

static int writes_into_a_host_tensor_are_seen_by_every_device_read(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnHost(0));
  tensor = ExportFrom(CEED_MEM_HOST, CEED_EXPORT_SHARED);
  for (int i = 2; i < 5; i++) {
    CeedScalar *shared = tensor->dl_tensor.data;
    for (int j = 0; j < LENGTH; j++) shared[j] = (CeedScalar)(100 * i + j);
    PASSES(DeviceReads((CeedScalar)(100 * i)));
  }
  ASSERT_EQ(fake_gpu.to_device, 3);
  Release(tensor);
  return TEST_PASSED;
}

static int while_a_side_is_shared_the_other_is_not(void) {
  for (int i = 0; i < 2; i++) {
    CeedMemType side = (CeedMemType)i, other = (CeedMemType)(1 - i);
    DLManagedTensorVersioned *tensor, *second;
    PASSES(WriteOnHost(1));
    tensor = ExportFrom(side, CEED_EXPORT_SHARED);
    second = ExportFrom(side, CEED_EXPORT_SHARED);
    ASSERT(tensor && second);
    ASSERT(!ExportFrom(other, CEED_EXPORT_SHARED));
    ASSERT_SAYS(CeedMemTypes[side]);
    ASSERT(!ExportFrom(other, CEED_EXPORT_WRITE));
    Release(tensor);
    ASSERT(!ExportFrom(other, CEED_EXPORT_SHARED));
    Release(second);
    tensor = ExportFrom(other, CEED_EXPORT_SHARED);
    ASSERT(tensor);
    Release(tensor);
  }
  return TEST_PASSED;
}

static int both_sides_may_be_leased_to_readers_at_once(void) {
  DLManagedTensorVersioned *host, *device;

  PASSES(WriteOnHost(1));
  host = ExportFrom(CEED_MEM_HOST, CEED_EXPORT_READ);
  device = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_READ);
  ASSERT(host && device);
  PASSES(DeviceHolds(device->dl_tensor.data, 1));
  PASSES(HostReads(1));
  PASSES(DeviceReads(1));
  PASSES(CopiesAre(1, 0));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValue(vec, 1));
  Release(host);
  Release(device);
  return TEST_PASSED;
}

static int a_pinned_device_side_stays_where_it_is(void) {
  CeedScalar array[LENGTH] = {0};
  DLManagedTensorVersioned *pin;

  PASSES(WriteOnDevice(1));
  pin = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_PIN);
  ASSERT(pin);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, array));
  PASSES(WriteOnDevice(2));
  PASSES(DeviceHolds(pin->dl_tensor.data, 2));
  Release(pin);
  return TEST_PASSED;
}

// The writer's thread may be in the midst of its entries.
static int a_pin_copies_no_values_from_under_a_writer(void) {
  CeedScalar *array = NULL;
  DLManagedTensorVersioned *pin;

  PASSES(WriteOnHost(1));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  pin = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_PIN);
  PASSES(CopiesAre(0, 0));
  if (pin) Release(pin);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  PASSES(DeviceReads(1));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// The table of exports, with either side asked while either side is had
// ------------------------------------------------------------------------------------------------

typedef enum { NOTHING, WRITER, READER, SHARED_EXPORT, LEASE, WRITE_LEASE, PIN } Alive;
typedef enum {
  ASK_WRITE,
  ASK_READ,
  ASK_SHARED,
  ASK_LEASE,
  ASK_WRITE_LEASE,
  ASK_PIN,
  ASK_MOVE
} Asked;

static struct {
  CeedScalar *written;
  const CeedScalar *read;
  DLManagedTensorVersioned *tensor;
} alive;

static int BeginAlive(Alive what, CeedMemType type) {
  memset(&alive, 0, sizeof alive);
  PASSES(WriteOnHost(1));
  PASSES(DeviceReads(1));
  if (what == WRITER) ASSERT_OK(CeedVectorGetArray(vec, type, &alive.written));
  if (what == READER) ASSERT_OK(CeedVectorGetArrayRead(vec, type, &alive.read));
  if (what >= SHARED_EXPORT) {
    alive.tensor = ExportFrom(type, (CeedExportMode)(what - SHARED_EXPORT));
    ASSERT(alive.tensor);
  }
  return TEST_PASSED;
}

static int EndAlive(void) {
  if (alive.written) ASSERT_OK(CeedVectorRestoreArray(vec, &alive.written));
  if (alive.read) ASSERT_OK(CeedVectorRestoreArrayRead(vec, &alive.read));
  if (alive.tensor) Release(alive.tensor);
  ASSERT_EQ(ExportCount(vec), 0);
  return TEST_PASSED;
}

static int AskAccess(Asked asked, CeedMemType type) {
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;
  int code = asked == ASK_WRITE ? CeedVectorGetArray(vec, type, &array)
                                : CeedVectorGetArrayRead(vec, type, &read);

  if (array) code = CeedVectorRestoreArray(vec, &array);
  if (read) code = CeedVectorRestoreArrayRead(vec, &read);
  return code;
}

// Ownership goes over on success only.
static int AskMove(CeedMemType type) {
  CeedScalar *array =
      type == CEED_MEM_HOST ? calloc(LENGTH, sizeof *array) : FakeDeviceAllocate(LENGTH, NULL);
  int code = CeedVectorSetArray(vec, type, CEED_OWN_POINTER, array);

  if (!code) fake_gpu.allocations += type == CEED_MEM_DEVICE;
  if (code && type == CEED_MEM_HOST) free(array);
  if (code && type == CEED_MEM_DEVICE) FakeDeviceFree(array);
  return code;
}

static int Ask(Asked asked, CeedMemType type) {
  DLManagedTensorVersioned *tensor = NULL;
  int code;

  if (asked <= ASK_READ) return AskAccess(asked, type);
  if (asked == ASK_MOVE) return AskMove(type);
  code = CeedVectorExport(vec, type, (CeedExportMode)(asked - ASK_SHARED), 1, DIMS(LENGTH), NULL,
                          &tensor);
  if (tensor) Release(tensor);
  return code;
}

static const char *const allowed[] = {
    // what lives: nothing, writer, reader, shared, lease, write lease, pin
    [ASK_WRITE] = "yes no  no  yes no  no  yes",       [ASK_READ] = "yes no  yes yes yes no  yes",
    [ASK_SHARED] = "yes no  yes yes yes no  yes",      [ASK_LEASE] = "yes no  yes no  yes no  yes",
    [ASK_WRITE_LEASE] = "yes no  no  no  no  no  no ", [ASK_PIN] = "yes yes yes yes yes yes yes",
    [ASK_MOVE] = "yes no  no  no  no  no  no ",
};

static int CellIs(Alive what, CeedMemType had, Asked asked, CeedMemType type) {
  bool yes = allowed[asked][4 * what] == 'y';
  int code;

  if (what == SHARED_EXPORT && asked == ASK_SHARED && had != type) yes = false;
  PASSES(BeginAlive(what, had));
  CeedResetErrorMessage(NULL, NULL);
  code = Ask(asked, type);
  if (code != (yes ? CEED_ERROR_SUCCESS : CEED_ERROR_ACCESS)) {
    FAIL("%d of %s memory asked while %d of %s memory lives: code %d, %s", asked,
         CeedMemTypes[type], what, CeedMemTypes[had], code, TestText());
  }
  PASSES(EndAlive());
  ASSERT_OK(Ask(ASK_MOVE, type));
  return TEST_PASSED;
}

static int Table(CeedMemType had, CeedMemType type) {
  for (Alive what = NOTHING; (int)what <= (int)PIN; what = (Alive)(what + 1)) {
    for (Asked asked = ASK_WRITE; (int)asked <= (int)ASK_MOVE; asked = (Asked)(asked + 1)) {
      PASSES(CellIs(what, had, asked, type));
    }
  }
  return TEST_PASSED;
}

static int the_table_holds_on_the_host(void) { return Table(CEED_MEM_HOST, CEED_MEM_HOST); }
static int the_table_holds_on_the_device(void) { return Table(CEED_MEM_DEVICE, CEED_MEM_DEVICE); }
static int the_table_holds_for_the_device_while_the_host_is_had(void) {
  return Table(CEED_MEM_HOST, CEED_MEM_DEVICE);
}
static int the_table_holds_for_the_host_while_the_device_is_had(void) {
  return Table(CEED_MEM_DEVICE, CEED_MEM_HOST);
}

// ------------------------------------------------------------------------------------------------
// Taking device tensors
// ------------------------------------------------------------------------------------------------

static Fake fake;

static void *FakeOnDevice(CeedScalar first) {
  CeedScalar values[LENGTH], *memory;

  Count(values, first);
  memory = FakeDeviceAllocate(LENGTH, values);
  FakeInit(&fake, memory, 1, DIMS(LENGTH), NULL);
  FakeDevice(&fake, GpuType(), 0);
  return memory;
}

static int a_device_tensor_is_adopted_where_it_lies(void) {
  LEGACY_AND_VERSIONED(versioned) {
    const CeedScalar *array = NULL;
    CeedScalar *memory = FakeOnDevice(1);
    CeedVector made = NULL;
    ASSERT_OK(FakeCreate(&fake, versioned, CEED_USE_POINTER, &made));
    ASSERT_OK(CeedVectorGetArrayRead(made, CEED_MEM_DEVICE, &array));
    ASSERT_SAME(array, memory);
    ASSERT_OK(CeedVectorRestoreArrayRead(made, &array));
    ASSERT_VALUES(made, 1, 2, 3, 4);
    ASSERT_EQ(fake.deletions, 0);
    ASSERT_OK(CeedVectorDestroy(&made));
    ASSERT_EQ(fake.deletions, 1);
    FakeDeviceFree(memory);
  }
  return TEST_PASSED;
}

static int an_adopted_device_tensor_makes_the_host_old(void) {
  void *memory = FakeOnDevice(5);

  PASSES(WriteOnHost(1));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_OWN_POINTER));
  PASSES(Current(false, true));
  PASSES(HostReads(5));
  PASSES(WriteOnHost(6));
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_DEVICE));
  PASSES(DeviceHolds(memory, 6));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(fake.deletions, 1);
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static int a_device_tensor_is_copied_on_the_device(void) {
  LEGACY_AND_VERSIONED(versioned) {
    void *memory = FakeOnDevice(7);
    ASSERT_OK(FakeTake(vec, &fake, versioned, CEED_COPY_VALUES));
    ASSERT_EQ(fake.deletions, 1);
    FakeDeviceFree(memory);
    PASSES(DeviceReads(7));
    PASSES(HostReads(7));
  }
  return TEST_PASSED;
}

static int a_host_tensor_is_taken_into_a_device_context(void) {
  CeedScalar values[LENGTH] = {1, 2, 3, 4};

  for (int mode = CEED_COPY_VALUES; mode <= CEED_OWN_POINTER; mode++) {
    FakeInit(&fake, values, 1, DIMS(LENGTH), NULL);
    ASSERT_OK(FakeTake(vec, &fake, true, (CeedCopyMode)mode));
    PASSES(Current(true, false));
    PASSES(DeviceReads(1));
  }
  return TEST_PASSED;
}

static int a_tensor_of_another_device_is_refused(void) {
  void *memory = FakeOnDevice(1);

  FakeDevice(&fake, ONE_API, 0);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_SAYS("kDLOneAPI");
  ASSERT_EQ(fake.deletions, 0);
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static int a_device_tensor_given_to_a_host_context_is_refused_unread(void) {
  void *memory = FakeOnDevice(1);
  Ceed host = NULL;
  CeedVector made = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &host));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorCreateFromDLPack(host, &fake.legacy, CEED_COPY_VALUES, &made));
  ASSERT_SAYS(GpuTypeName());
  ASSERT(!made && !fake.deletions);
  ASSERT_OK(CeedDestroy(&host));
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static int a_read_only_device_tensor_is_read_on_both_sides_and_written_on_none(void) {
  void *memory = FakeOnDevice(3);
  CeedScalar *array = NULL;

  fake.versioned.flags = READ_ONLY;
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  PASSES(HostReads(3));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValue(vec, 1));
  PASSES(DeviceHolds(memory, 3));
  ASSERT_OK(CeedVectorDestroy(&vec));
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

// Whatever becomes of the vector: what was adopted as read-only is not written.
static int read_only_device_memory_is_not_written_by_a_sync(void) {
  void *memory = FakeOnDevice(3);
  CeedScalar other[LENGTH] = {10, 11, 12, 13};

  fake.versioned.flags = READ_ONLY;
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, other));
  CeedVectorSyncArray(vec, CEED_MEM_DEVICE);
  PASSES(HostReads(10));
  PASSES(DeviceHolds(memory, 3));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(fake.deletions, 1);
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static int read_only_host_memory_is_not_written_by_a_sync(void) {
  CeedScalar values[LENGTH] = {1, 2, 3, 4};
  CeedScalar *other = FakeDeviceAllocate(LENGTH, (CeedScalar[]){10, 11, 12, 13});

  FakeInit(&fake, values, 1, DIMS(LENGTH), NULL);
  fake.versioned.flags = READ_ONLY;
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, other));
  CeedVectorSyncArray(vec, CEED_MEM_HOST);
  PASSES(DeviceReads(10));
  ASSERT(values[0] == 1 && values[3] == 4);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(fake.deletions, 1);
  FakeDeviceFree(other);
  return TEST_PASSED;
}

static int a_strided_device_tensor_is_refused_unread(void) {
  void *memory = FakeOnDevice(1);

  FakeShape(&fake, 2, DIMS(2, 2), DIMS(1, 2));
  for (int mode = CEED_COPY_VALUES; mode <= CEED_OWN_POINTER; mode++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeTake(vec, &fake, true, (CeedCopyMode)mode));
    ASSERT_EQ(fake.deletions, 0);
  }
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// A device that fails
// ------------------------------------------------------------------------------------------------

static int a_full_device_is_a_clean_error(void) {
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;

  PASSES(WriteOnHost(1));
  fake_gpu.is_full = true;
  ASSERT_CODE(CEED_ERROR_MAJOR, CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &read));
  ASSERT_CODE(CEED_ERROR_MAJOR, CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  ASSERT_CODE(CEED_ERROR_MAJOR, CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_WRITE; mode++) {
    ASSERT(!ExportFrom(CEED_MEM_DEVICE, (CeedExportMode)mode));
  }
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_EQ(State(vec) % 2, 0);
  fake_gpu.is_full = false;
  PASSES(DeviceReads(1));
  PASSES(HostReads(1));
  return TEST_PASSED;
}

static int a_broken_copy_is_a_clean_error(void) {
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;
  CeedScalar norm;

  PASSES(WriteOnDevice(1));
  fake_gpu.is_broken = true;
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorNorm(vec, CEED_NORM_1, &norm));
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorScale(vec, 2));
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_WRITE; mode++) {
    ASSERT(!ExportFrom(CEED_MEM_HOST, (CeedExportMode)mode));
  }
  ASSERT(!ExportFrom(CEED_MEM_HOST, CEED_EXPORT_COPY));
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_EQ(State(vec) % 2, 0);
  fake_gpu.is_broken = false;
  PASSES(Current(false, true));
  PASSES(HostReads(1));
  return TEST_PASSED;
}

static int a_broken_copy_takes_no_tensor(void) {
  void *memory = FakeOnDevice(9);

  PASSES(WriteOnDevice(1));
  fake_gpu.is_broken = true;
  ASSERT_CODE(CEED_ERROR_BACKEND, FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_EQ(fake.deletions, 0);
  fake_gpu.is_broken = false;
  PASSES(HostReads(1));
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static int a_borrowed_array_is_not_taken_back_without_the_values(void) {
  CeedScalar array[LENGTH] = {0}, *taken = NULL;

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, array));
  PASSES(WriteOnDevice(1));
  fake_gpu.is_broken = true;
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  ASSERT(!taken);
  fake_gpu.is_broken = false;
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  ASSERT_NUMBER(array[3], 4);
  return TEST_PASSED;
}

static int a_write_that_cannot_be_copied_back_is_an_error_and_ends(void) {
  CeedScalar *array = NULL;
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnHost(1));
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  fake_gpu.is_broken = true;
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorRestoreArray(vec, &array));
  fake_gpu.is_broken = false;
  ASSERT_EQ(State(vec) % 2, 0);
  PASSES(WriteOnHost(2));
  PASSES(DeviceHolds(tensor->dl_tensor.data, 2));
  Release(tensor);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Threads
// ------------------------------------------------------------------------------------------------

static void *LeaseOnDevice(void *failures) {
  for (int i = 0; i < 200; i++) {
    DLManagedTensorVersioned *tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_READ);
    if (!tensor || DeviceHolds(tensor->dl_tensor.data, 1)) {
      __atomic_add_fetch((int *)failures, 1, __ATOMIC_RELAXED);
    }
    if (tensor) Release(tensor);
  }
  return NULL;
}

static int leases_of_many_threads_copy_once(void) {
  pthread_t threads[4];
  int failures = 0;

  PASSES(WriteOnHost(1));
  for (int i = 0; i < 4; i++) ASSERT(!pthread_create(&threads[i], NULL, LeaseOnDevice, &failures));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  ASSERT_EQ(failures, 0);
  PASSES(CopiesAre(1, 0));
  ASSERT_EQ(fake_gpu.allocations, 1);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Random histories, against a model: what lives, and what the values are
// ------------------------------------------------------------------------------------------------

enum { MOST_TENSORS = 6 };

static struct {
  uint64_t seed;
  CeedScalar values[LENGTH];
  DLManagedTensorVersioned *tensor[MOST_TENSORS];
  CeedExportMode mode[MOST_TENSORS];
  CeedMemType type[MOST_TENSORS];
} model;

static int Dice(int sides) { return (int)((RandomUnit(&model.seed) + 1) / 2 * sides) % sides; }

static bool Lives(CeedExportMode mode) {
  for (int i = 0; i < MOST_TENSORS; i++) {
    if (model.tensor[i] && model.mode[i] == mode) return true;
  }
  return false;
}

static bool LivesOn(CeedExportMode mode, CeedMemType type) {
  for (int i = 0; i < MOST_TENSORS; i++) {
    if (model.tensor[i] && model.mode[i] == mode && model.type[i] == type) return true;
  }
  return false;
}

static bool AnyLives(void) {
  for (int i = 0; i < MOST_TENSORS; i++) {
    if (model.tensor[i]) return true;
  }
  return false;
}

static bool MayExport(CeedExportMode mode, CeedMemType type) {
  if (mode == CEED_EXPORT_WRITE) return !AnyLives();
  if (mode == CEED_EXPORT_PIN) return true;
  if (Lives(CEED_EXPORT_WRITE)) return false;
  if (mode == CEED_EXPORT_READ) return !Lives(CEED_EXPORT_SHARED);
  return Lives(CEED_EXPORT_READ) || !LivesOn(CEED_EXPORT_SHARED, (CeedMemType)(1 - type));
}

static int Matches(const void *data, CeedMemType type) {
  CeedScalar values[LENGTH];

  if (type == CEED_MEM_DEVICE) {
    FakeDeviceRead(data, LENGTH, values);
  } else {
    memcpy(values, data, sizeof values);
  }
  for (int i = 0; i < LENGTH; i++) ASSERT_NUMBER(values[i], model.values[i]);
  return TEST_PASSED;
}

static int RandomRead(CeedMemType type) {
  const CeedScalar *array = NULL;
  int code = CeedVectorGetArrayRead(vec, type, &array);

  ASSERT_EQ(code, Lives(CEED_EXPORT_WRITE) ? CEED_ERROR_ACCESS : CEED_ERROR_SUCCESS);
  if (code) return TEST_PASSED;
  PASSES(Matches(array, type));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  return TEST_PASSED;
}

static int RandomWrite(CeedMemType type) {
  bool may = !Lives(CEED_EXPORT_READ) && !Lives(CEED_EXPORT_WRITE);
  CeedScalar *array = NULL, value = (CeedScalar)Dice(1000);
  int place = Dice(LENGTH), code = CeedVectorGetArray(vec, type, &array);

  ASSERT_EQ(code, may ? CEED_ERROR_SUCCESS : CEED_ERROR_ACCESS);
  if (code) return TEST_PASSED;
  if (type == CEED_MEM_DEVICE) {
    FakeDeviceWrite(array + place, 1, &value);
  } else {
    array[place] = value;
  }
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  model.values[place] = value;
  return TEST_PASSED;
}

// A view made under a lease is a neutral one, as pins are.
static int RandomExport(CeedMemType type) {
  CeedExportMode mode = (CeedExportMode)Dice(CEED_EXPORT_COPY);
  int place = Dice(MOST_TENSORS);
  bool may = MayExport(mode, type), neutral = mode == CEED_EXPORT_SHARED && Lives(CEED_EXPORT_READ);

  if (model.tensor[place]) return TEST_PASSED;
  model.tensor[place] = ExportFrom(type, mode);
  ASSERT_EQ(model.tensor[place] != NULL, may);
  model.mode[place] = neutral ? CEED_EXPORT_PIN : mode;
  model.type[place] = type;
  return TEST_PASSED;
}

// What a tensor shows, or a write into it.
static int RandomUse(void) {
  int i = Dice(MOST_TENSORS), place = Dice(LENGTH);
  CeedScalar value = (CeedScalar)Dice(1000), *data;

  if (!model.tensor[i] || model.mode[i] == CEED_EXPORT_PIN) return TEST_PASSED;
  data = model.tensor[i]->dl_tensor.data;
  PASSES(Matches(data, model.type[i]));
  if (model.mode[i] == CEED_EXPORT_READ) return TEST_PASSED;
  if (model.type[i] == CEED_MEM_DEVICE) {
    FakeDeviceWrite(data + place, 1, &value);
  } else {
    data[place] = value;
  }
  model.values[place] = value;
  return TEST_PASSED;
}

static int RandomRelease(void) {
  int i = Dice(MOST_TENSORS);

  if (model.tensor[i]) Release(model.tensor[i]);
  model.tensor[i] = NULL;
  return TEST_PASSED;
}

static int RandomStep(void) {
  CeedMemType type = (CeedMemType)Dice(2);

  switch (Dice(6)) {
    case 0:
      return RandomWrite(type);
    case 1:
      return RandomExport(type);
    case 2:
      return RandomUse();
    case 3:
      return RandomRelease();
    default:
      return RandomRead(type);
  }
}

static int RandomHistory(uint64_t seed) {
  memset(&model, 0, sizeof model);
  model.seed = seed;
  ASSERT_OK(CeedVectorSetValue(vec, 0));
  for (int step = 0; step < 300; step++) {
    if (RandomStep()) FAIL("in step %d of the history %d", step, (int)seed);
  }
  for (int i = 0; i < MOST_TENSORS; i++) {
    if (model.tensor[i]) Release(model.tensor[i]);
  }
  ASSERT_EQ(ExportCount(vec), 0);
  return TEST_PASSED;
}

static int random_histories_follow_the_model(void) {
  for (uint64_t seed = 1; seed <= 100; seed++) PASSES(RandomHistory(seed));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What happens while values go from one side to the other
// ------------------------------------------------------------------------------------------------

static int answer;

static void WriteThroughAnExport(void) {
  DLManagedTensorVersioned *tensor = ExportFrom(CEED_MEM_HOST, CEED_EXPORT_SHARED);

  answer = tensor != NULL;
  if (!tensor) return;
  ((CeedScalar *)tensor->dl_tensor.data)[0] = 42;
  tensor->deleter(tensor);
}

static int a_write_through_an_export_during_a_copy_is_copied_later(void) {
  const CeedScalar *array = NULL;
  CeedScalar values[LENGTH];

  PASSES(WriteOnHost(1));
  answer = 0;
  fake_gpu.during_copy = WriteThroughAnExport;
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  ASSERT_EQ(answer, 1);
  PASSES(Current(true, false));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &array));
  FakeDeviceRead(array, LENGTH, values);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  ASSERT_NUMBER(values[0], 42);
  return TEST_PASSED;
}

static void AskToWrite(void) {
  CeedScalar *array = NULL;

  answer = CeedVectorGetArray(vec, CEED_MEM_HOST, &array);
}

static int nobody_writes_while_an_export_copies(void) {
  DLManagedTensorVersioned *tensor;

  PASSES(WriteOnHost(1));
  answer = 0;
  fake_gpu.during_copy = AskToWrite;
  tensor = ExportFrom(CEED_MEM_DEVICE, CEED_EXPORT_SHARED);
  ASSERT(tensor);
  ASSERT_EQ(answer, CEED_ERROR_ACCESS);
  PASSES(DeviceHolds(tensor->dl_tensor.data, 1));
  tensor->deleter(tensor);
  PASSES(WriteOnHost(2));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Fabs
// ------------------------------------------------------------------------------------------------

static DLManagedTensorVersioned *ViewIn(CeedFab fab, CeedMemType type, const CeedBox *region) {
  DLManagedTensorVersioned *tensor = NULL;

  CeedFabExport(fab, type, CEED_EXPORT_SHARED, region, 0, 1, CEED_ORDER_XYZN, &tensor);
  return tensor;
}

static int a_view_of_a_region_begins_where_it_lies_on_the_device(void) {
  CeedBox region = BoxOf(1, 0, 0, 0, 1, 0, 0);
  CeedScalar values[2];
  CeedFab fab = NULL;
  DLManagedTensorVersioned *whole, *view;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, NULL, BoxOf(1, -2, 0, 0, 1, 0, 0), no_ghost, 1, &fab));
  PASSES(WriteOnHost(5));
  whole = ViewIn(fab, CEED_MEM_DEVICE, NULL);
  view = ViewIn(fab, CEED_MEM_DEVICE, &region);
  ASSERT_SAME(view->dl_tensor.data, (CeedScalar *)whole->dl_tensor.data + 2);
  ASSERT_EQ(view->dl_tensor.byte_offset, 0);
  FakeDeviceRead(view->dl_tensor.data, 2, values);
  ASSERT_NUMBER(values[0], 7);
  ASSERT_NUMBER(values[1], 8);
  Release(whole);
  Release(view);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// Every second entry is the fab's: when all of them are written on the host, the others come over.
static int what_lies_between_the_entries_of_a_fab_is_kept(void) {
  const CeedSize strides[4] = {2, 1, 1, 1};
  CeedBox box = BoxOf(1, 0, 0, 0, 1, 0, 0);
  CeedMultiFab mf = NULL;
  CeedFab fab = NULL;
  CeedScalar *array;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, strides, box, no_ghost, 1, &fab));
  PASSES(WriteOnDevice(5));
  ASSERT_OK(CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
  array[0] = 50;
  array[2] = 70;
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  ASSERT_VALUES(vec, 50, 6, 70, 8);
  PASSES(WriteOnDevice(1));
  ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, 0));
  ASSERT_VALUES(vec, 0, 2, 0, 4);
  ASSERT_OK(CeedMultiFabCreate(ceed, 1, &box, NULL, 0, no_ghost, 1, &mf));
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, fab, false));
  PASSES(WriteOnDevice(5));
  ASSERT_OK(CeedMultiFabSetValue(mf, 0));
  ASSERT_VALUES(vec, 0, 6, 0, 8);
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int values_of_the_device_are_copied_and_gathered(void) {
  CeedBox box = BoxOf(1, 0, 0, 0, 3, 0, 0);
  CeedFab fab = NULL, copy = NULL, all = NULL;
  CeedMultiFab mf = NULL;

  PASSES(WriteOnDevice(1));
  ASSERT_OK(CeedFabCreateFromVector(vec, 0, NULL, box, no_ghost, 1, &fab));
  ASSERT_OK(CeedFabCreate(ceed, box, no_ghost, 1, &copy));
  ASSERT_OK(CeedFabCopy(fab, NULL, 0, 1, copy, 0));
  ASSERT_NUMBER(EntryOf(copy, (const CeedInt[]){3}, 0), 4);
  ASSERT_OK(CeedMultiFabCreate(ceed, 1, &box, NULL, 0, no_ghost, 1, &mf));
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, fab, false));
  PASSES(WriteOnDevice(11));
  ASSERT_OK(CeedFabCreate(ceed, BoxOf(1, 2, 0, 0, 5, 0, 0), no_ghost, 1, &all));
  ASSERT_OK(CeedMultiFabGather(mf, false, 0, all, NULL));
  ASSERT_NUMBER(EntryOf(all, (const CeedInt[]){3}, 0), 14);
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabDestroy(&copy));
  ASSERT_OK(CeedFabDestroy(&all));
  return TEST_PASSED;
}

static int a_strided_device_tensor_is_adopted_by_a_fab_and_never_copied(void) {
  void *memory = FakeDeviceAllocate(4, (const CeedScalar[]){1, 2, 3, 4});
  CeedFab fab = NULL;
  DLManagedTensorVersioned *view;
  Fake fake;

  FakeInit(&fake, memory, 2, DIMS(2, 1), DIMS(2, 1));
  FakeDevice(&fake, GpuType(), 0);
  ASSERT_CODE(
      CEED_ERROR_INCOMPATIBLE,
      CeedFabCreateFromDLPackVersioned(ceed, &fake.versioned, CEED_ORDER_XYZN, (const CeedInt[]){0},
                                       0, no_ghost, CEED_COPY_VALUES, &fab));
  ASSERT_EQ(fake.deletions, 0);
  ASSERT_OK(CeedFabCreateFromDLPackVersioned(ceed, &fake.versioned, CEED_ORDER_XYZN,
                                             (const CeedInt[]){0}, 0, no_ghost, CEED_USE_POINTER,
                                             &fab));
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){1}, 0), 3);
  view = ViewIn(fab, CEED_MEM_DEVICE, NULL);
  ASSERT_SAME(view->dl_tensor.data, memory);
  ASSERT_EQ(view->dl_tensor.strides[0], 2);
  Release(view);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_EQ(fake.deletions, 1);
  FakeDeviceFree(memory);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_device_context_has_both_memory_types_and_prefers_its_own),
    BEHAVIOUR(a_device_is_among_the_resources),
    BEHAVIOUR(device_memory_is_the_devices_type_of_dlpack),
    BEHAVIOUR(device_memory_comes_when_it_is_asked_for),
    BEHAVIOUR(values_of_the_host_are_copied_to_the_device_once),
    BEHAVIOUR(values_of_the_device_are_copied_to_the_host_once),
    BEHAVIOUR(a_write_on_one_side_makes_the_other_old),
    BEHAVIOUR(writing_all_entries_copies_nothing),
    BEHAVIOUR(reading_and_writing_copies_first),
    BEHAVIOUR(sync_makes_a_side_current),
    BEHAVIOUR(both_sides_may_be_read_at_once),
    BEHAVIOUR(a_writer_on_one_side_excludes_the_other),
    BEHAVIOUR(an_array_of_the_other_side_is_not_the_one_that_is_out),
    BEHAVIOUR(an_empty_vector_needs_no_device_memory),
    BEHAVIOUR(arithmetic_sees_the_values_of_the_device),
    BEHAVIOUR(arithmetic_of_two_vectors_sees_the_values_of_the_device),
    BEHAVIOUR(a_copy_to_a_host_context_brings_the_values_over),
    BEHAVIOUR(copied_device_values_leave_the_array_alone),
    BEHAVIOUR(a_borrowed_device_array_is_worked_on_in_place),
    BEHAVIOUR(taking_a_device_array_brings_the_current_values_into_it),
    BEHAVIOUR(taking_a_host_array_brings_the_current_values_into_it),
    BEHAVIOUR(arrays_may_be_borrowed_on_both_sides),
    BEHAVIOUR(owned_device_memory_is_released_by_the_device),
    BEHAVIOUR(a_device_tensor_says_where_it_lies),
    BEHAVIOUR(a_device_tensor_holds_the_current_values),
    BEHAVIOUR(a_device_tensor_outlives_vector_and_context),
    BEHAVIOUR(a_copy_of_device_values_lies_on_the_host),
    BEHAVIOUR(writes_into_a_device_tensor_are_seen_by_every_host_read),
    BEHAVIOUR(writes_into_a_device_tensor_are_seen_after_it_is_gone),
    BEHAVIOUR(writes_of_a_write_lease_on_the_device_are_seen_after_it_is_gone),
    BEHAVIOUR(a_host_write_under_a_device_tensor_is_copied_back),
    BEHAVIOUR(a_partial_host_write_keeps_what_the_device_tensor_wrote),
    BEHAVIOUR(a_device_write_under_a_host_tensor_is_copied_back),
    BEHAVIOUR(writes_into_a_host_tensor_are_seen_by_every_device_read),
    BEHAVIOUR(while_a_side_is_shared_the_other_is_not),
    BEHAVIOUR(both_sides_may_be_leased_to_readers_at_once),
    BEHAVIOUR(a_pinned_device_side_stays_where_it_is),
    BEHAVIOUR(the_table_holds_on_the_host),
    BEHAVIOUR(the_table_holds_on_the_device),
    BEHAVIOUR(the_table_holds_for_the_device_while_the_host_is_had),
    BEHAVIOUR(the_table_holds_for_the_host_while_the_device_is_had),
    BEHAVIOUR(a_device_tensor_is_adopted_where_it_lies),
    BEHAVIOUR(an_adopted_device_tensor_makes_the_host_old),
    BEHAVIOUR(a_device_tensor_is_copied_on_the_device),
    BEHAVIOUR(a_host_tensor_is_taken_into_a_device_context),
    BEHAVIOUR(a_tensor_of_another_device_is_refused),
    BEHAVIOUR(a_device_tensor_given_to_a_host_context_is_refused_unread),
    BEHAVIOUR(a_read_only_device_tensor_is_read_on_both_sides_and_written_on_none),
    BEHAVIOUR(a_strided_device_tensor_is_refused_unread),
    BEHAVIOUR(a_full_device_is_a_clean_error),
    BEHAVIOUR(a_broken_copy_is_a_clean_error),
    BEHAVIOUR(a_broken_copy_takes_no_tensor),
    BEHAVIOUR(a_borrowed_array_is_not_taken_back_without_the_values),
    BEHAVIOUR(a_write_that_cannot_be_copied_back_is_an_error_and_ends),
    BEHAVIOUR(leases_of_many_threads_copy_once),
    BEHAVIOUR(read_only_device_memory_is_not_written_by_a_sync),
    BEHAVIOUR(read_only_host_memory_is_not_written_by_a_sync),
    BEHAVIOUR(a_pin_copies_no_values_from_under_a_writer),
    BEHAVIOUR(a_write_through_an_export_during_a_copy_is_copied_later),
    BEHAVIOUR(nobody_writes_while_an_export_copies),
    BEHAVIOUR(a_view_of_a_region_begins_where_it_lies_on_the_device),
    BEHAVIOUR(what_lies_between_the_entries_of_a_fab_is_kept),
    BEHAVIOUR(values_of_the_device_are_copied_and_gathered),
    BEHAVIOUR(a_strided_device_tensor_is_adopted_by_a_fab_and_never_copied),
    BEHAVIOUR(random_histories_follow_the_model),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
