# SPDX-License-Identifier: BSD-2-Clause
"""What holds for every array, every order of events and every shape."""

import contextlib

import numpy as np
import pytest
from helpers import TRIPLE, Producer, address_of, fake_over, producer_of, values_of, vector_of

import pyceedlike
from pyceedlike import CeedAccessError, from_dlpack

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")
from hypothesis import HealthCheck, example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as st_np  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule  # noqa: E402

settings.register_profile(
    "here",
    deadline=None,
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("here")

dtypes = st.sampled_from(["float64", "float32"])
shapes = st_np.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=6)


@st.composite
def views(draw):
    """Draw a NumPy view: any shape, axis order, slices, new axes."""
    shape = draw(shapes)
    base = np.arange(int(np.prod(shape)), dtype=draw(dtypes)).reshape(shape)
    view = base.transpose(draw(st.permutations(range(base.ndim))))
    if view.ndim:
        view = view[draw(st_np.basic_indices(view.shape, allow_newaxis=True))]
    return np.asarray(view)


@st.composite
def windows(draw):
    """Draw a view of any strides that stays in its memory, with entries that may overlap."""
    shape = draw(st_np.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    strides = [draw(st.integers(-3, 3)) for _ in shape]
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low = -sum(r for r in reach if r < 0)
    high = sum(r for r in reach if r > 0)
    dtype = np.dtype(draw(dtypes))
    base = np.arange(low + high + 1, dtype=dtype)
    return np.lib.stride_tricks.as_strided(
        base[low:], shape, [s * dtype.itemsize for s in strides], writeable=False
    )


@given(views())
@example(np.array(5.0))
@example(np.zeros((0, 3)))
def test_any_numpy_view_is_read_in_c_order(x):
    vector = from_dlpack(x)
    np.testing.assert_array_equal(values_of(vector), x.ravel(order="C"))
    assert vector.scalar == x.dtype


@given(views())
def test_what_is_shared_is_compact_and_the_reverse(x):
    vector = from_dlpack(x)
    assert vector.exchange.shared is bool(x.flags.c_contiguous)
    if x.size and x.flags.c_contiguous:
        assert address_of(vector) == x.ctypes.data


@given(views())
def test_without_a_copy_it_is_shared_or_refused(x):
    try:
        vector = from_dlpack(x, copy=False)
    except pyceedlike.CeedCopyError:
        assert not x.flags.c_contiguous
    else:
        assert x.flags.c_contiguous
        np.testing.assert_array_equal(values_of(vector), x.ravel())


@given(views())
def test_a_copy_is_independent_of_its_source(x):
    expected = x.ravel(order="C").copy()
    vector = from_dlpack(x, copy=True)
    if x.flags.writeable:
        x[...] = -1
    np.testing.assert_array_equal(values_of(vector), expected)
    vector.set_value(7)
    assert not (x == 7).any() or (expected == 7).any()


@given(views())
def test_set_array_takes_any_view(x):
    vector = pyceedlike.Ceed(scalar=str(x.dtype)).Vector(x.size)
    vector.set_array(x)
    np.testing.assert_array_equal(values_of(vector), x.ravel(order="C"))


@given(views())
def test_any_memoryview_is_read_in_c_order(x):
    np.testing.assert_array_equal(values_of(from_dlpack(memoryview(x))), x.ravel(order="C"))


@given(x=windows(), version=st.sampled_from([None, (1, 0), (1, 3)]))
def test_any_strides_are_read_in_c_order(partner, x, version):
    fake = fake_over(partner, x, version)
    vector = from_dlpack(producer_of(fake))
    np.testing.assert_array_equal(values_of(vector), x.ravel(order="C"))
    del vector
    assert fake.calls == 1


@given(
    n=st.integers(0, 40),
    shift=st.integers(0, 40),
    split=st.integers(0, 40),
    dtype=dtypes,
    versioned=st.booleans(),
)
def test_any_byte_offset(partner, n, shift, split, dtype, versioned):
    split = min(split, shift)  # part of the shift is in the pointer, the rest in the offset
    values = np.arange(n, dtype=dtype)
    memory = np.zeros(shift + values.nbytes + 16, dtype=np.uint8)
    memory[shift : shift + values.nbytes] = np.frombuffer(values.tobytes(), np.uint8)
    fake = partner.Fake(
        memory.ctypes.data + split,
        (n,),
        byte_offset=shift - split,
        dtype=TRIPLE[dtype],
        version=(1, 3) if versioned else None,
    )
    vector = from_dlpack(producer_of(fake))
    np.testing.assert_array_equal(values_of(vector), values)
    if n:
        aligned = (memory.ctypes.data + shift) % values.itemsize == 0
        assert vector.exchange.shared is aligned


garbage = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-4, 4))


@settings(max_examples=300)
@given(
    shape=st.lists(garbage, max_size=5),
    strides=st.none() | st.lists(garbage, min_size=5, max_size=5),
    dtype=st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, 65535)),
    real=st.booleans(),
    device=st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1)),
    host=st.booleans(),
    flags=st.integers(0, 2**64 - 1),
    version=st.none() | st.just((1, 3)) | st.tuples(*[st.integers(0, 2**32 - 1)] * 2),
    copy=st.sampled_from([None, True, False]),
)
def test_garbage_is_refused_or_empty(partner, real, host, dtype, device, copy, **fields):
    """There is no memory here, so whatever is taken has no entries."""
    fields["dtype"] = (2, 64, 1) if real else dtype
    fields["device"] = (1, 0) if host else device
    if fields["strides"] is not None:
        fields["strides"] = fields["strides"][: len(fields["shape"])]
    fields["byte_offset"] = 0  # with no data, so that every address is refused
    fake = partner.Fake(0, **fields)
    with contextlib.suppress(BufferError, ValueError):
        assert len(from_dlpack(producer_of(fake), copy=copy)) == 0
        assert 0 in fields["shape"]
    assert fake.calls == 1
    assert fake.intact


@given(shape=st_np.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=5), dtype=dtypes)
def test_any_shape_of_an_export(shape, dtype):
    size = int(np.prod(shape))
    vector = vector_of(pyceedlike.Ceed(scalar=dtype), np.arange(size + 3))
    capsule = vector.to_dlpack(shape=shape, max_version=(1, 0))
    x = np.from_dlpack(Producer(lambda **_: capsule))
    np.testing.assert_array_equal(x, np.arange(size).reshape(shape))


@given(
    dtype=dtypes,
    data=st.data(),
    kinds=st.lists(st.sampled_from(["numpy", "vector", "buffer", "capsule", "copy"]), max_size=8),
)
def test_any_order_of_destruction(partner, dtype, data, kinds):
    makers = {
        "numpy": np.from_dlpack,
        "vector": from_dlpack,
        "buffer": memoryview,
        "capsule": lambda v: v.__dlpack__(max_version=(1, 0)),
        "copy": lambda v: v.__dlpack__(max_version=(1, 0), copy=True),
    }
    values = np.arange(37, dtype=dtype)
    fake = fake_over(partner, values, (1, 3))
    vector = from_dlpack(producer_of(fake))
    things = [(kind, makers[kind](vector)) for kind in kinds] + [("vector", vector)]
    copies = 0
    del vector
    while things:
        kind, thing = things.pop(data.draw(st.integers(0, len(things) - 1)))
        if kind == "capsule":
            assert partner.Sink(thing).values() == values.tolist()
        elif kind == "copy":
            copies += 1
        else:
            np.testing.assert_array_equal(np.asarray(thing), values)
        del thing
        others = [k for k, _ in things if k != "copy"]
        assert fake.calls == (not others)


class Access(RuleBasedStateMachine):
    """A vector and a plain account of who holds its memory: they must agree at every step."""

    def __init__(self):
        super().__init__()
        self.n = 12
        self.model = np.arange(self.n, dtype="float64")
        self.vector = vector_of(pyceedlike.Ceed(), self.model)
        self.readers = 0
        self.writer = None
        self.views, self.leases, self.neutral = [], [], []
        self.write_lease = None

    def may_write(self):
        return not (self.writer is not None or self.readers or self.leases or self.write_lease)

    def may_read(self):
        return self.writer is None and not self.write_lease

    def is_free(self):
        held = self.views or self.leases or self.neutral or self.readers or self.write_lease
        return self.writer is None and not held

    @contextlib.contextmanager
    def only_if(self, allowed):
        """Expect success or the error of access, as the account has it."""
        if allowed:
            yield
        else:
            with pytest.raises(BufferError):
                yield

    @rule(value=st.integers(-9, 9))
    def set_value(self, value):
        allowed = self.may_write()
        with self.only_if(allowed):
            self.vector.set_value(value)
        if allowed:
            self.model[:] = value

    @rule(start=st.integers(0, 12), step=st.integers(1, 5), value=st.integers(-9, 9))
    def set_value_strided(self, start, step, value):
        allowed = self.may_write()
        with self.only_if(allowed):
            self.vector.set_value_strided(start, -1, step, value)
        if allowed:
            self.model[start::step] = value

    @rule(factor=st.integers(-2, 2))
    def scale(self, factor):
        allowed = self.may_write()
        with self.only_if(allowed):
            self.vector.scale(factor)
        if allowed:
            self.model *= factor

    @rule()
    def norm(self):
        with self.only_if(self.may_read()):
            assert self.vector.norm(pyceedlike.NORM_MAX) == np.abs(self.model).max()

    @rule()
    def export_shared(self):
        allowed = self.may_read()
        with self.only_if(allowed):
            view = np.from_dlpack(self.vector)
            assert view.flags.writeable is not bool(self.leases)
            (self.views if view.flags.writeable else self.neutral).append(view)

    @rule()
    def export_for_reading(self):
        allowed = self.may_read() and not self.views
        with self.only_if(allowed):
            self.leases.append(self.vector.to_dlpack(mode="read", max_version=(1, 0)))

    @rule()
    def export_for_writing(self):
        with self.only_if(self.is_free()):
            self.write_lease = self.vector.to_dlpack(mode="write", max_version=(1, 0))

    @rule()
    def get_array(self):
        allowed = self.may_write()
        with self.only_if(allowed):
            self.writer = self.vector.get_array()

    @precondition(lambda self: self.writer is not None)
    @rule(place=st.integers(0, 11), value=st.integers(-9, 9))
    def write_in_the_array(self, place, value):
        self.writer[place] = value
        self.model[place] = value

    @precondition(lambda self: self.writer is not None)
    @rule()
    def restore_array(self):
        self.writer = None
        self.vector.restore_array()

    @rule()
    def get_array_read(self):
        allowed = self.may_read()
        with self.only_if(allowed):
            assert self.vector.get_array_read().tolist() == self.model.tolist()
            self.readers += 1

    @precondition(lambda self: self.readers)
    @rule()
    def restore_array_read(self):
        self.vector.restore_array_read()
        self.readers -= 1

    @precondition(lambda self: self.views and not self.write_lease and self.writer is None)
    @rule(place=st.integers(0, 11), value=st.integers(-9, 9))
    def write_in_a_view(self, place, value):
        self.views[-1][place] = value
        self.model[place] = value

    @precondition(lambda self: self.views)
    @rule(which=st.integers(0, 99))
    def drop_a_view(self, which):
        self.views.pop(which % len(self.views))

    @precondition(lambda self: self.neutral)
    @rule(which=st.integers(0, 99))
    def drop_a_neutral_view(self, which):
        self.neutral.pop(which % len(self.neutral))

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 99))
    def drop_a_lease(self, which):
        self.leases.pop(which % len(self.leases))

    @precondition(lambda self: self.write_lease)
    @rule()
    def drop_the_write_lease(self):
        self.write_lease = None

    @rule()
    def move_the_memory(self):
        values = np.array(self.model)
        with self.only_if(self.is_free()):
            self.vector.set_array(values, cmode=pyceedlike.USE_POINTER)

    @invariant()
    def counts_agree(self):
        held = len(self.views) + len(self.leases) + len(self.neutral)
        assert self.vector.export_count == held + (self.write_lease is not None)

    @invariant()
    def values_agree(self):
        for view in (*self.views, *self.neutral):
            np.testing.assert_array_equal(view, self.model)
        if self.may_read():
            np.testing.assert_array_equal(values_of(self.vector), self.model)


TestAccess = Access.TestCase
TestAccess.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_the_account_refuses_what_the_table_refuses():
    """The machine above would pass if nothing were ever refused; this would not."""
    machine = Access()
    machine.get_array()
    with pytest.raises(CeedAccessError):
        machine.vector.set_value(1)
    machine.restore_array()
