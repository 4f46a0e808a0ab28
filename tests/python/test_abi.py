# SPDX-License-Identifier: BSD-2-Clause
"""Our declarations of foreign structs against the official headers, which packages ship: DLPack's
in apache-tvm-ffi, that of XLA's FFI in jaxlib.
"""

import pathlib
import re
import shutil
import subprocess

import pytest
from helpers import ROOT, package_file

STRUCTS = {
    "DLPackVersion": ["major", "minor"],
    "DLDevice": ["device_type", "device_id"],
    "DLDataType": ["code", "bits", "lanes"],
    "DLTensor": ["data", "device", "ndim", "dtype", "shape", "strides", "byte_offset"],
    "DLManagedTensor": ["dl_tensor", "manager_ctx", "deleter"],
    "DLManagedTensorVersioned": ["version", "manager_ctx", "deleter", "flags", "dl_tensor"],
    "DLPackExchangeAPIHeader": ["version", "prev_api"],
    "DLPackExchangeAPI": [
        "header",
        "managed_tensor_allocator",
        "managed_tensor_from_py_object_no_sync",
        "managed_tensor_to_py_object_no_sync",
        "dltensor_from_py_object_no_sync",
        "current_work_stream",
    ],
}

CONSTANTS = {  # our name: the official one
    "DLPACK_MAJOR": "DLPACK_MAJOR_VERSION",
    "DLPACK_FLAG_READ_ONLY": "DLPACK_FLAG_BITMASK_READ_ONLY",
    "DLPACK_FLAG_IS_COPIED": "DLPACK_FLAG_BITMASK_IS_COPIED",
    "DLPACK_FLAG_SUBBYTE_PADDED": "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED",
    "DLPACK_CPU": "kDLCPU",
    "DLPACK_CUDA": "kDLCUDA",
    "DLPACK_CUDA_HOST": "kDLCUDAHost",
    "DLPACK_ROCM": "kDLROCM",
    "DLPACK_ROCM_HOST": "kDLROCMHost",
    "DLPACK_CUDA_MANAGED": "kDLCUDAManaged",
    "DLPACK_ONEAPI": "kDLOneAPI",
    "DLPACK_INT": "kDLInt",
    "DLPACK_UINT": "kDLUInt",
    "DLPACK_FLOAT": "kDLFloat",
    "DLPACK_BFLOAT": "kDLBfloat",
    "DLPACK_COMPLEX": "kDLComplex",
    "DLPACK_BOOL": "kDLBool",
    "DLPACK_FLOAT8": "kDLFloat8_e3m4",
}
OURS_ALONE = {"DLPACK_MAX_NDIM", "DLPACK_MINOR"}  # the official minor version may be a later one

XLA_STRUCTS = {
    "XLA_FFI_Extension_Base": ["struct_size", "type", "next"],
    "XLA_FFI_Api_Version": ["struct_size", "extension_start", "major_version", "minor_version"],
    "XLA_FFI_TypeId": ["type_id"],
    "XLA_FFI_TypeInfo": ["struct_size", "extension_start", "deleter"],
    "XLA_FFI_Metadata": ["struct_size", "api_version", "traits", "state_type_id"],
    "XLA_FFI_Metadata_Extension": ["extension_base", "metadata"],
    "XLA_FFI_Error_Create_Args": ["struct_size", "extension_start", "message", "errc"],
    "XLA_FFI_Type_Register_Args": ["struct_size", "name", "type_id", "type_info"],
    "XLA_FFI_ByteSpan": ["ptr", "len"],
    "XLA_FFI_Scalar": ["dtype", "value"],
    "XLA_FFI_Buffer": ["struct_size", "dtype", "data", "rank", "dims"],
    "XLA_FFI_Args": ["struct_size", "size", "types", "args"],
    "XLA_FFI_Rets": ["struct_size", "size", "types", "rets"],
    "XLA_FFI_Attrs": ["struct_size", "size", "types", "names", "attrs"],
}
XLA_BEGINNINGS = {  # of structs that go on
    "XLA_FFI_CallFrame": ["extension_start", "api", "ctx", "stage", "args", "rets", "attrs"],
    "XLA_FFI_Api": [
        *("api_version", "XLA_FFI_Error_Create", "XLA_FFI_Type_Register"),
        *("XLA_FFI_State_Set", "XLA_FFI_State_Get"),
    ],
}
XLA_STATE = ["struct_size", "extension_start", "ctx", "stage", "type_id"]
XLA_CONSTANTS = {
    "XLA_METADATA": "XLA_FFI_Extension_Metadata",
    "XLA_SCALAR": "XLA_FFI_AttrType_SCALAR",
    "XLA_INSTANTIATE": "XLA_FFI_ExecutionStage_INSTANTIATE",
    "XLA_EXECUTE": "XLA_FFI_ExecutionStage_EXECUTE",
    "XLA_BOOL": "XLA_FFI_DataType_PRED",
    "XLA_INT32": "XLA_FFI_DataType_S32",
    "XLA_INT64": "XLA_FFI_DataType_S64",
    "XLA_FLOAT32": "XLA_FFI_DataType_F32",
    "XLA_FLOAT64": "XLA_FFI_DataType_F64",
    "XLA_INVALID_ARGUMENT": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "XLA_RESOURCE_EXHAUSTED": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
    "XLA_FAILED_PRECONDITION": "XLA_FFI_Error_Code_FAILED_PRECONDITION",
    "XLA_UNIMPLEMENTED": "XLA_FFI_Error_Code_UNIMPLEMENTED",
    "XLA_INTERNAL": "XLA_FFI_Error_Code_INTERNAL",
}
XLA_OURS_ALONE = {"XLA_MAJOR", "XLA_MINOR", "XLA_MINOR_OF_STATES"}  # chosen, not the newest

READS_A_VECTOR = r"""
#include <stdio.h>
#include "ceedlike.h"
#include "dlpack/dlpack.h"
int main(void) {
  Ceed ceed = NULL;
  CeedVector vec = NULL;
  CeedScalar *array;
  struct DLManagedTensor *legacy;
  struct DLManagedTensorVersioned *versioned;
  if (CeedInit("/cpu/self", &ceed) || CeedVectorCreate(ceed, 3, &vec)) return 1;
  if (CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array)) return 2;
  for (int i = 0; i < 3; i++) array[i] = (CeedScalar)(10 * i);
  if (CeedVectorRestoreArray(vec, &array)) return 3;
  if (CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &legacy)) return 4;
  if (CeedVectorToDLPackVersioned(ceed, vec, CEED_MEM_HOST, &versioned)) return 5;
  if (CeedVectorDestroy(&vec) || CeedDestroy(&ceed)) return 6;
  DLTensor *a = &legacy->dl_tensor, *b = &versioned->dl_tensor;
  printf("%u.%u %d %d %d %d %d %ld %ld %g %d\n", (unsigned)versioned->version.major,
         (unsigned)versioned->version.minor, b->ndim, (int)b->device.device_type, b->dtype.code,
         b->dtype.bits, b->dtype.lanes, (long)b->shape[0], (long)b->strides[0],
         (double)((CeedScalar *)b->data)[2], a->data == b->data);
  legacy->deleter(legacy);
  versioned->deleter(versioned);
  return 0;
}
"""


@pytest.fixture(scope="module")
def official(tvm_ffi):
    """The folder of the official header."""
    folder = pathlib.Path(tvm_ffi.__file__).parent / "include"
    if not (folder / "dlpack" / "dlpack.h").exists():
        pytest.skip("apache-tvm-ffi ships no dlpack.h here")
    return folder


@pytest.fixture(scope="module")
def ours():
    """The folder of our own declaration."""
    if not (ROOT / "csrc" / "dlpack_abi.h").exists():
        pytest.skip("the sources of the library are not here")
    return ROOT / "csrc"


def run_c(compiler, folder, source, *arguments, suffix=".c"):
    """Compile and run a program; return what it prints."""
    program = folder / "program"
    (folder / f"program{suffix}").write_text(source)
    subprocess.run(
        [*compiler, str(folder / f"program{suffix}"), *map(str, arguments), "-o", str(program)],
        check=True,
    )
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def layout(include, structs=STRUCTS, beginnings=()):
    """Return a program that prints every size and offset."""
    lines = []
    for name, fields in {**structs, **dict(beginnings)}.items():
        if name in structs:
            lines.append(f'  printf("{name} %zu\\n", sizeof({name}));')
        for field in fields:
            size = f"sizeof((({name} *)0)->{field})"
            lines.append(
                f'  printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), {size});'
            )
    return program_of(include, lines)


def program_of(include, lines):
    """Return a program of statements that knows a header."""
    body = "\n".join(lines)
    return (
        f'#include <stddef.h>\n#include <stdio.h>\n#include "{include}"\n'
        f"int main(void) {{\n{body}\n  return 0;\n}}\n"
    )


def test_sizes_and_offsets_are_the_official_ones(compiler, official, ours, tmp_path):
    expected = run_c(compiler, tmp_path, layout("dlpack/dlpack.h"), f"-I{official}")
    found = run_c(compiler, tmp_path, layout("dlpack_abi.h"), f"-I{ours}")
    assert found.splitlines() == expected.splitlines()


def test_constants_are_the_official_ones(compiler, official, ours, tmp_path):
    text = (ours / "dlpack_abi.h").read_text()
    names = [n for n in re.findall(r"\b(DLPACK_\w+) = ", text) if n not in OURS_ALONE]
    assert "DLPACK_FLAG_READ_ONLY" in names
    assert set(names) <= set(CONSTANTS)

    def program(include, constants):
        lines = "".join(f'  printf("%ld\\n", (long)({c}));\n' for c in constants)
        return f'#include <stdio.h>\n#include "{include}"\nint main(void) {{\n{lines}return 0;}}\n'

    found = run_c(compiler, tmp_path, program("dlpack_abi.h", names), f"-I{ours}")
    official_names = [CONSTANTS[name] for name in names]
    expected = run_c(
        compiler, tmp_path, program("dlpack/dlpack.h", official_names), f"-I{official}"
    )
    assert found.split() == expected.split()


@pytest.fixture(scope="module")
def xla():
    """The folder of XLA's header."""
    pytest.importorskip("jax", reason="JAX is not installed")
    import jax.ffi

    folder = pathlib.Path(jax.ffi.include_dir())
    if not (folder / "xla/ffi/api/c_api.h").exists():
        pytest.skip("jaxlib ships no header of XLA's FFI here")
    return folder


def test_sizes_and_offsets_of_xla_are_the_official_ones(compiler, xla, ours, tmp_path):
    def found(include, folder, state):
        structs = XLA_STRUCTS | {name: [*XLA_STATE, "state"] for name in state}
        program = layout(include, structs, XLA_BEGINNINGS)
        return run_c(compiler, tmp_path, program, f"-I{folder}").splitlines()

    official = found("xla/ffi/api/c_api.h", xla, ["XLA_FFI_State_Get_Args"])
    as_ours = [line.replace("State_Get_Args", "State_Args") for line in official]
    assert found("xla_abi.h", ours, ["XLA_FFI_State_Args"]) == as_ours
    setting = found("xla/ffi/api/c_api.h", xla, ["XLA_FFI_State_Set_Args"])
    assert [line.replace("State_Set_Args", "State_Args") for line in setting] == as_ours


def test_constants_of_xla_are_the_official_ones(compiler, xla, ours, tmp_path):
    names = re.findall(r"\b(XLA_[A-Z0-9_]+) = ", (ours / "xla_abi.h").read_text())
    assert set(names) == {*XLA_CONSTANTS, *XLA_OURS_ALONE}

    def values(include, folder, constants):
        lines = [f'  printf("%d\\n", (int){c});' for c in constants]
        return run_c(compiler, tmp_path, program_of(include, lines), f"-I{folder}")

    expected = values("xla/ffi/api/c_api.h", xla, XLA_CONSTANTS.values())
    assert values("xla_abi.h", ours, XLA_CONSTANTS) == expected


@pytest.mark.parametrize("language", ["C", "C++"])
@pytest.mark.parametrize(
    ("library", "flags", "bits"),
    [("libceedlike.so.0", [], 64), ("libceedlike_f32.so.0", ["-DCEEDLIKE_SINGLE"], 32)],
)
def test_a_program_with_the_official_header_reads_a_vector(
    compiler, official, tmp_path, language, library, flags, bits
):
    suffix, standard = (".c", "-std=c99") if language == "C" else (".cpp", "-std=c++11")
    if language == "C++":
        compiler = [
            shutil.which("g++") or shutil.which("clang++") or pytest.skip("no C++ compiler")
        ]
    folder = package_file("lib")
    output = run_c(
        compiler,
        tmp_path,
        READS_A_VECTOR,
        *(standard, "-Wall", "-Wextra", "-Werror", *flags),
        *(f"-I{official}", f"-I{package_file('include/ceedlike')}", f"-L{folder}"),
        *(f"-l:{library}", f"-Wl,-rpath,{folder}"),
        suffix=suffix,
    )
    assert output.split() == ["1.3", "1", "1", "2", str(bits), "1", "3", "1", "20", "1"]
