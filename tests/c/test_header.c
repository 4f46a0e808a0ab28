// The headers: sizes and offsets of DLPack 1.3, written down from its text, and C++.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

#define ASSERT_FIELD(type, field, offset) ASSERT_EQ(offsetof(type, field), offset)

static int small_structs_have_their_sizes_and_offsets(void) {
  ASSERT_EQ(sizeof(DLPackVersion), 8);
  ASSERT_FIELD(DLPackVersion, major, 0);
  ASSERT_FIELD(DLPackVersion, minor, 4);
  ASSERT_EQ(sizeof(DLDevice), 8);
  ASSERT_FIELD(DLDevice, device_type, 0);
  ASSERT_FIELD(DLDevice, device_id, 4);
  ASSERT_EQ(sizeof(DLDataType), 4);
  ASSERT_FIELD(DLDataType, code, 0);
  ASSERT_FIELD(DLDataType, bits, 1);
  ASSERT_FIELD(DLDataType, lanes, 2);
  return TEST_PASSED;
}

static int a_tensor_has_its_size_and_offsets(void) {
  ASSERT_EQ(sizeof(DLTensor), 48);
  ASSERT_FIELD(DLTensor, data, 0);
  ASSERT_FIELD(DLTensor, device, 8);
  ASSERT_FIELD(DLTensor, ndim, 16);
  ASSERT_FIELD(DLTensor, dtype, 20);
  ASSERT_FIELD(DLTensor, shape, 24);
  ASSERT_FIELD(DLTensor, strides, 32);
  ASSERT_FIELD(DLTensor, byte_offset, 40);
  return TEST_PASSED;
}

static int managed_tensors_have_their_sizes_and_offsets(void) {
  ASSERT_EQ(sizeof(DLManagedTensor), 64);
  ASSERT_FIELD(DLManagedTensor, dl_tensor, 0);
  ASSERT_FIELD(DLManagedTensor, manager_ctx, 48);
  ASSERT_FIELD(DLManagedTensor, deleter, 56);
  ASSERT_EQ(sizeof(DLManagedTensorVersioned), 80);
  ASSERT_FIELD(DLManagedTensorVersioned, version, 0);
  ASSERT_FIELD(DLManagedTensorVersioned, manager_ctx, 8);
  ASSERT_FIELD(DLManagedTensorVersioned, deleter, 16);
  ASSERT_FIELD(DLManagedTensorVersioned, flags, 24);
  ASSERT_FIELD(DLManagedTensorVersioned, dl_tensor, 32);
  return TEST_PASSED;
}

static int the_exchange_table_has_its_size_and_offsets(void) {
  ASSERT_EQ(sizeof(DLPackExchangeAPIHeader), 16);
  ASSERT_FIELD(DLPackExchangeAPIHeader, version, 0);
  ASSERT_FIELD(DLPackExchangeAPIHeader, prev_api, 8);
  ASSERT_EQ(sizeof(DLPackExchangeAPI), 56);
  ASSERT_FIELD(DLPackExchangeAPI, header, 0);
  ASSERT_FIELD(DLPackExchangeAPI, managed_tensor_allocator, 16);
  ASSERT_FIELD(DLPackExchangeAPI, managed_tensor_from_py_object_no_sync, 24);
  ASSERT_FIELD(DLPackExchangeAPI, managed_tensor_to_py_object_no_sync, 32);
  ASSERT_FIELD(DLPackExchangeAPI, dltensor_from_py_object_no_sync, 40);
  ASSERT_FIELD(DLPackExchangeAPI, current_work_stream, 48);
  return TEST_PASSED;
}

static int types_have_the_sizes_that_fortran_and_python_expect(void) {
  ASSERT_EQ(sizeof(CeedInt), 4);
  ASSERT_EQ(sizeof(CeedSize), sizeof(void *));
  ASSERT_EQ(sizeof(CeedInt8), 1);
  ASSERT_EQ(sizeof(CeedMemType), 4);
  ASSERT_EQ(sizeof(CeedExportMode), 4);
  ASSERT((CeedSize)-1 < 0 && (CeedInt)-1 < 0 && (CeedInt8)-1 < 0);
  return TEST_PASSED;
}

// From the folder that the tests are made in, with whatever compiler for C++ there is.
static int the_header_is_good_cpp(void) {
  static const char program[] =
      "#include <ceedlike.h>\\n#include <ceed.h>\\n"
      "int main() { CeedDLPackSpec spec = CEED_DLPACK_ANY; CeedVector x = CEED_VECTOR_NONE;"
      " return CeedVectorSetValue(x, CEED_EPSILON) == spec.code; }\\n";
  char command[1024];

  if (access("include/ceedlike.h", R_OK)) return TestSkip("not run in the folder of the sources");
  if (system("command -v c++ >/dev/null")) return TestSkip("there is no compiler for C++");
  for (int single = 0; single < 2; single++) {
    snprintf(command, sizeof command,
             "printf '%s' | c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "
             "-Iinclude -Iinclude/compat %s -",
             program, single ? "-DCEEDLIKE_SINGLE" : "");
    ASSERT_EQ(system(command), 0);
  }
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(small_structs_have_their_sizes_and_offsets),
    BEHAVIOUR(a_tensor_has_its_size_and_offsets),
    BEHAVIOUR(managed_tensors_have_their_sizes_and_offsets),
    BEHAVIOUR(the_exchange_table_has_its_size_and_offsets),
    BEHAVIOUR(types_have_the_sizes_that_fortran_and_python_expect),
    BEHAVIOUR(the_header_is_good_cpp),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
