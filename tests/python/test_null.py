# SPDX-License-Identifier: BSD-2-Clause
"""Functions of C for operators and their parts answer to NULL, in each of their arguments."""

from helpers import run_well

CODE = """
import re

import pyceedlike
from pyceedlike import EVAL_NONE
from pyceedlike._lib import LIBRARIES

library = LIBRARIES["float64"]
ffi, lib = library.ffi, library.lib
ceed = pyceedlike.Ceed()
rstr = ceed.ElemRestriction(1, 1, 1, 1, 1, [[0]])
basis = ceed.BasisTensorH1Lagrange(1, 1, 2, 2, pyceedlike.GAUSS)
qf = ceed.IdentityQFunction(1, EVAL_NONE, EVAL_NONE)
context = ceed.QFunctionContext(x=1.0)
op = ceed.Operator(qf)
for name in "input", "output":
    op.set_field(name, rstr, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
vec = ceed.Vector(1)
vec.set_value(1)
routine = ffi.addressof(lib, "pyceedlike_drop")
fields = ffi.new("CeedQFunctionField **")
lib.CeedQFunctionGetFields(qf._box[0], ffi.NULL, fields, ffi.NULL, ffi.NULL)
op_field = ffi.new("CeedOperatorField *")
lib.CeedOperatorGetFieldByName(op._box[0], b"input", op_field)
lib.CeedQFunctionSetContext(qf._box[0], context._box[0])
label = ffi.new("CeedContextFieldLabel *")
lib.CeedOperatorGetContextFieldLabel(op._box[0], b"x", label)
handles = {
    "Ceed": ceed._box[0], "CeedElemRestriction": rstr._box[0], "CeedBasis": basis._box[0],
    "CeedQFunction": qf._box[0], "CeedQFunctionContext": context._box[0],
    "CeedOperator": op._box[0], "CeedVector": ffi.cast("CeedVector", vec.handle),
    "CeedQFunctionField": fields[0][0], "CeedOperatorField": op_field[0],
    "CeedContextFieldLabel": label[0],
}
handles = {ffi.typeof(name): handle for name, handle in handles.items()}
kept = []

def value(kind):
    if kind in handles:
        return handles[kind]
    if kind.kind == "function":
        return ffi.cast(kind, routine)
    if kind.cname in ("char const *", "const char *"):
        kept.append(ffi.new("char[]", b"x"))
        return kept[-1]
    if kind.kind == "pointer":
        kept.append(ffi.new("char[]", bytes(4096)))
        return ffi.cast(kind, kept[-1])
    return 0 if kind.kind == "enum" else 1

parts = re.compile("Ceed(ElemRestriction|Basis|QFunction|Operator)[A-Z]")
for name in filter(parts.match, dir(lib)):
    function = getattr(lib, name)
    if ffi.typeof(function).kind != "function":
        continue
    kinds = ffi.typeof(function).args
    for k, kind in enumerate(kinds):
        if kind.kind not in ("pointer", "function"):
            continue
        print(name, k, flush=True)
        if "Restore" in name:  # what is out to be restored
            get = getattr(lib, name.replace("Restore", "Get"))
            get(*[value(t) for t in ffi.typeof(get).args])
        arguments = [ffi.NULL if i == k else value(t) for i, t in enumerate(kinds)]
        code = function(*arguments)
        if k == 0 and not name.endswith("Destroy"):  # which takes NULL, as free() does
            assert code or "Return" in name, f"{name} takes NULL for its first argument"
"""


def test_null_is_an_error_or_means_something_everywhere():
    assert len({line.split()[0] for line in run_well(CODE).splitlines()}) > 100
