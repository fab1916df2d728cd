"""Buffers, transfers and launches, and the errors of a device in trouble."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Iterator
from itertools import pairwise
from unittest import mock

import numpy as np
import pyopencl
import pytest
from helpers.devices import LimitedEngine, gpu_shape
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import AllocationError, DeviceError, DeviceLostError
from oclgenomics.runtime import Device, Engine, host_memory, staging, transfers
from oclgenomics.runtime.tuning import tuning_for


@pytest.fixture(params=["own", "apart"])
def either(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Engine]:
    """An engine as the device's class has it, and one whose device has memory of its own."""
    if request.param == "own":
        yield engine
    else:
        with Engine(engine.device, tuning=gpu_shape(engine.device)) as other:
            yield other


DTYPES = [np.uint8, np.int32, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (17,), (3, 5), (1000, 33)])
def test_round_trip(engine: Engine, shape: tuple[int, ...], dtype: type) -> None:
    array = np.random.default_rng(1).integers(0, 200, shape).astype(dtype)
    held = engine.upload(array)
    assert (held.shape, held.dtype, held.nbytes) == (array.shape, array.dtype, array.nbytes)
    back = engine.download(held)
    assert back.dtype == dtype
    assert np.array_equal(back, array)


def test_download_into_an_array(engine: Engine) -> None:
    held = engine.upload(np.arange(12, dtype=np.int32))
    out = engine.pinned((3, 4), np.int32)
    assert engine.download(held, out=out) is out
    assert np.array_equal(out, np.arange(12).reshape(3, 4))
    for wrong in (np.zeros(11, np.int32), np.zeros(12, np.uint32), np.zeros((12, 2), np.int32)[:, 0]):
        with pytest.raises(ValueError, match="do not fit"):
            engine.download(held, out=wrong)


def test_strided_and_read_only_arrays(engine: Engine) -> None:
    array = np.arange(4096 * 4, dtype=np.int32).reshape(-1, 4)[::2, ::-1]
    assert np.array_equal(engine.download(engine.upload(array)), array)
    frozen = np.arange(8192)
    frozen.flags.writeable = False
    assert np.array_equal(engine.download(engine.upload(frozen)), frozen)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_parts(engine: Engine, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 50))
    model = np.zeros(size, np.int32)
    held = engine.empty(size, np.int32)
    engine.fill(held, 0)
    for value in range(1, 4):
        start = data.draw(st.integers(0, size))
        count = data.draw(st.integers(0, size - start))
        model[start : start + count] = value
        engine.write(held, np.full(count, value, np.int32), start, wait=data.draw(st.booleans()))
    start = data.draw(st.integers(0, size))
    count = data.draw(st.integers(0, size - start))
    assert engine.download(held, count, start).tolist() == model[start : start + count].tolist()
    assert engine.download(held).tolist() == model.tolist()


@pytest.mark.parametrize("call", ["write", "download", "dtype"])
def test_parts_outside_are_refused(engine: Engine, call: str) -> None:
    held = engine.empty(10, np.int32)
    calls = {
        "write": lambda: engine.write(held, np.zeros(5, np.int32), 6),
        "dtype": lambda: engine.write(held, np.zeros(5, np.int64)),
        "download": lambda: engine.download(held, 5, 6),
    }
    with pytest.raises(ValueError, match="10"):
        calls[call]()


@pytest.mark.parametrize(("dtype", "value"), [(np.uint8, 255), (np.int32, -7), (np.uint64, 2**63), (np.float32, 0.5)])
def test_fill(engine: Engine, dtype: type, value: float) -> None:
    held = engine.empty((7, 3), dtype)
    engine.fill(held, value)
    assert np.array_equal(engine.download(held), np.full((7, 3), value, dtype))


def test_fill_in_pieces(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    fill = pyopencl.enqueue_fill_buffer

    def noted(queue: object, buffer: object, pattern: object, offset: int, size: int, waits: object) -> object:
        sizes.append(size)
        return fill(queue, buffer, pattern, offset, size, waits)

    monkeypatch.setattr(transfers, "FILL_BYTES", 100)
    monkeypatch.setattr(pyopencl, "enqueue_fill_buffer", noted)
    held = engine.upload(np.zeros(31, np.uint64))
    engine.fill(held, 7)
    assert engine.download(held).tolist() == [7] * 31
    assert (max(sizes), sum(sizes)) == (96, 31 * 8)


def test_compute_and_transfers_keep_their_order(engine: Engine) -> None:
    """Writes that do not wait, kernels and downloads in turn: every kernel sees the write before it, no later one."""
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    numbers, hashes = engine.empty(1 << 16, np.uint64), engine.empty(1 << 16, np.uint64)
    inputs = [np.full(1 << 16, value, np.uint64) for value in range(8)]
    results = []
    for values in inputs:
        engine.write(numbers, values, wait=False)
        engine.launch(kernel, (1 << 16,), (16,), numbers=numbers, k0=0, k1=0, count=1 << 16, hashes=hashes)
        results.append(engine.download(hashes))
    for result in results:
        assert len(set(result.tolist())) == 1
    assert len({int(result[0]) for result in results}) == len(inputs)


def test_an_upload_is_a_copy_made_at_once(engine: Engine) -> None:
    array = engine.pinned(5000, np.uint64)
    array[:] = 1
    held = engine.upload(array)
    array[:] = 2
    assert np.array_equal(engine.download(held), np.ones(5000))


def test_shared_memory_is_read_after_its_kernels(either: Engine) -> None:
    count = 1 << 20
    kernel = either.kernel("common/hash.cl", "hash_numbers")
    numbers = either.upload(np.arange(count, dtype=np.uint64))
    last = either.empty(count, np.uint64)
    with either.shared(count, np.uint64) as hashes:
        for key in range(3):
            either.launch_items(kernel, count, numbers=numbers, k0=key, k1=0, count=count, hashes=hashes.device)
        either.launch_items(kernel, count, numbers=numbers, k0=2, k1=0, count=count, hashes=last)
        part = either.download(hashes.device, 1000, count - 1000)
        assert np.array_equal(part, either.download(last, 1000, count - 1000))
        assert np.array_equal(either.download(hashes.device), either.download(last))


@pytest.mark.parametrize("shape", [0, 1, (3, 5), 4096, (100, 1001)])
def test_shared_memory_is_seen_by_both_sides(either: Engine, shape: int | tuple[int, ...]) -> None:
    gc.collect()
    used = either.memory.used
    with either.shared(shape, np.uint64) as shared:
        assert (shared.host.shape, shared.host.dtype) == (shared.device.shape, np.uint64)
        assert either.memory.used == used + shared.host.nbytes  # once
        shared.host[...] = np.arange(shared.host.size).reshape(shared.host.shape)
        shared.send()
        shared.wait()
        assert np.array_equal(either.download(shared.device), shared.host)
        if either.tuning.shares_memory:
            shared.host[...] = 3
            assert np.array_equal(either.download(shared.device), shared.host)
        if shared.host.size > 10:
            shared.host.reshape(-1)[:10] = 7, 1, 7, 1, 7, 1, 7, 1, 7, 1
            shared.send(2, 8, wait=True)
            assert either.download(shared.device, 8, 2).tolist() == [7, 1] * 4
    shared.release()
    assert either.memory.used == used


def test_shared_memory_counts_against_the_limit(device: Device) -> None:
    for tuning in (None, gpu_shape(device)):
        with Engine(device, max_memory=1 << 20, tuning=tuning) as engine, engine.shared(600 << 10, np.uint8):
            with pytest.raises(AllocationError, match="raise max_memory"):
                engine.shared(600 << 10, np.uint8)
            with pytest.raises(AllocationError, match="raise max_memory"):
                engine.empty(600 << 10, np.uint8)


@pytest.mark.parametrize("in_a_cycle", [False, True])
def test_shared_memory_outlives_its_kernels(either: Engine, in_a_cycle: bool) -> None:
    """Memory that is given back while kernels write it would be another's by then."""
    kernel = either.kernel("common/hash.cl", "hash_numbers")
    count = 1 << 22
    numbers = either.upload(np.arange(count, dtype=np.uint64))
    shared = either.shared(count, np.uint64)
    for _ in range(4):
        either.launch_items(kernel, count, numbers=numbers, k0=1, k1=0, count=count, hashes=shared.device)
    event = shared.device.memory.used
    assert event is not None
    if in_a_cycle:
        shared.itself = shared  # type: ignore[attr-defined]
    del shared
    gc.collect()
    assert event.command_execution_status == pyopencl.command_execution_status.COMPLETE


def test_arrays_in_a_cycle_are_given_back_once(either: Engine) -> None:
    """As those that the traceback of an error holds: Python ends the parts of a cycle in any order."""
    gc.collect()
    used = either.memory.used
    shared, array = either.shared(1000, np.uint64), either.empty(1000, np.uint64)
    shared.itself, array.itself = shared, array  # type: ignore[attr-defined]
    del shared, array
    gc.collect()
    assert either.memory.used == used


@pytest.mark.parametrize(("pair_bytes", "pairs"), [(1, 3), (20_000, 2), (1 << 30, 1)])
def test_staging_blocks_in_turn(device: Device, pair_bytes: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of discrete devices, forced: arrays of several blocks, with and without a rest."""
    monkeypatch.setattr(staging, "PAIR_BYTES", pair_bytes)
    monkeypatch.setattr(staging, "usable_cores", lambda: 3)
    with Engine(device) as engine:
        way = staging.Staging(engine._context, engine._transfers.transfer, device, block_bytes=4096)
        monkeypatch.setattr(way, "_staged", lambda array: True)
        for size in (1, 4095, 4096, 4097, 3 * 4096, 5 * 4096 + 123):
            array = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
            held = engine.empty(size + 10, np.uint8)
            way.write(held, array, 10, [], True)
            result = np.empty(size, np.uint8)
            way.read(result, held, 10, [])
            assert np.array_equal(result, array)
        assert way._pairs == pairs  # as many as were worth it


@pytest.mark.parametrize("threads", [1, 3])
def test_a_piece_that_cannot_be_copied(device: Device, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "PAIR_BYTES", 1)
    monkeypatch.setattr(staging, "usable_cores", lambda: threads)
    with Engine(device) as engine:
        way = staging.Staging(engine._context, engine._transfers.transfer, device, block_bytes=4096)
        array, held = np.arange(7 * 4096, dtype=np.uint8), engine.empty(7 * 4096, np.uint8)

        def end(block: np.ndarray, start: int) -> None:
            if start == 4 * 4096:
                raise RuntimeError("out of reach")

        def begin(block: np.ndarray, start: int) -> pyopencl.Event:
            return pyopencl.enqueue_copy(way._queue, held.memory.buffer, block, dst_offset=start, is_blocking=False)

        for _ in range(2 * threads):  # blocks come back
            with pytest.raises(RuntimeError, match="out of reach"):
                way._copy(begin, end, array.size)
        monkeypatch.setattr(way, "_staged", lambda array: True)
        way.write(held, array, 0, [], True)
        assert np.array_equal(engine.download(held), array)


def test_pinned_memory_is_kept_up_to_a_limit(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_memory, "KEPT_BYTES", 10_000)
    with Engine(device, tuning=gpu_shape(device)) as engine:
        pool = engine._transfers._pinned

        def kept(size: int) -> list[int]:
            with engine.shared(size, np.uint8) as shared:
                assert shared.host.size == size
            return [array.size for array in pool._kept]

        assert kept(6000) == [6000]
        address = pool._kept[0].ctypes.data
        with engine.shared(750, np.uint64) as shared:
            assert not pool._kept  # the same once more
            assert shared.host.ctypes.data == address
        assert kept(8000) == [8000]  # too much with what was there
        assert kept(9000) == [9000]
        assert kept(10_001) == [9000]
    assert not pool._kept


def test_kept_pinned_memory_is_shared_out(device: Device) -> None:
    with Engine(device, tuning=gpu_shape(device)) as engine:
        pool = engine._transfers._pinned
        with engine.shared(50_000, np.uint8) as shared:
            first, last = shared.host.ctypes.data, shared.host.ctypes.data + shared.host.size
        parts = [engine.pinned(size, np.uint8) for size in (10_000, 20_001, 10_000)]
        assert sum(array.size for array in pool._kept) == 50_000 - 3 * 4096 - 5 * 4096 - 3 * 4096
        places = sorted((part.ctypes.data, part.ctypes.data + part.size) for part in parts)
        assert places[0][0] == first
        assert places[-1][1] <= last
        assert all(end <= begin for (_, end), (begin, _) in pairwise(places))  # none has what another one has
        beyond = engine.pinned(8_000, np.uint8)  # of which too little is left
        assert not first <= beyond.ctypes.data < last
        with engine.shared(10_000, np.uint8) as small, engine.shared(30_000, np.uint8):
            address = small.host.ctypes.data
        assert [array.size for array in pool._kept][-2:] == [30_000, 10_000]
        with engine.shared(9_000, np.uint8) as shared:
            assert shared.host.ctypes.data == address  # of the smallest that is large enough


def test_parts_of_pinned_memory_count_as_what_they_keep(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_memory, "KEPT_BYTES", 100_000)
    with Engine(device, tuning=gpu_shape(device)) as engine:
        pool = engine._transfers._pinned
        with engine.shared(60_000, np.uint8):
            pass
        engine.pinned(50_000, np.uint8)  # of which nobody gives anything back
        assert [array.size for array in pool._kept] == [60_000 - 13 * 4096]
        with engine.shared(40_000, np.uint8):
            pass
        assert [array.size for array in pool._kept] == [60_000 - 13 * 4096, 40_000]
        with engine.shared(41_000, np.uint8):
            pass
        assert [array.size for array in pool._kept] == [40_000, 41_000]


def test_pinned_memory_of_discrete_devices(device: Device) -> None:
    with Engine(device) as engine:
        way = engine._transfers._staging
        array = host_memory.pinned_array(engine._context, engine._transfers.transfer, device, (100, 3), np.float32)
        array[:] = 7
        assert np.array_equal(engine.download(engine.upload(array)), np.full((100, 3), 7, np.float32))
        way.know(array)
        assert way._pinned
        del array
        gc.collect()
        assert not way._pinned


def test_memory_is_accounted_for(device: Device) -> None:
    with Engine(device, max_memory=1 << 20) as engine:
        assert engine.budget == 1 << 20
        first = engine.empty(600 << 10, np.uint8)
        with pytest.raises(AllocationError, match=r"600 KiB for .* 600 KiB in use .* 1.0 MiB; raise max_memory"):
            engine.empty(600 << 10, np.uint8)
        first.release()
        second = engine.empty(700 << 10, np.uint8)
        del second
        gc.collect()
        assert engine.memory.used == 0
        assert engine.memory.peak == 700 << 10


def test_an_array_larger_than_the_device_gives(engine: Engine) -> None:
    with pytest.raises(AllocationError, match=r"more than .* gives to one buffer .*max_memory") as caught:
        engine.empty(engine.device.max_allocation + 1, np.uint8)
    assert caught.value.exit_code == 4


def test_released_arrays_are_refused(engine: Engine) -> None:
    held = engine.empty(16, np.uint64)
    held.release()
    with pytest.raises(ValueError, match=r"hash_numbers, argument numbers: DeviceArray.* was released"):
        hash_with(engine, numbers=held)
    calls = (
        lambda: engine.write(held, np.zeros(1, np.uint64)),
        lambda: engine.download(held),
        lambda: engine.fill(held, 1),
        lambda: engine.mapped(held).__enter__() if engine.tuning.shares_memory else engine.download(held),
    )
    for call in calls:
        with pytest.raises(ValueError, match="this array was released"):
            call()


NUMBERS = {"numbers": None, "k0": 1, "k1": 2, "count": 16, "hashes": None}


def hash_with(engine: Engine, **changed: object) -> None:
    """Launch a kernel with an argument that is not what it takes."""
    held = engine.empty(16, np.uint64)
    arguments = {**NUMBERS, "numbers": held, "hashes": held, **changed}
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    engine.launch(kernel, (16,), (16,), **{name: value for name, value in arguments.items() if value is not ...})


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"k1": ...}, TypeError, "hash_numbers: arguments k1 missing; it takes numbers, k0, k1, count, hashes"),
        ({"seed": 1}, TypeError, "hash_numbers: arguments seed unknown; it takes"),
        ({"count": 1 << 32}, ValueError, "hash_numbers, argument count: 4294967296 does not fit into uint"),
        ({"count": -1}, ValueError, "argument count: -1 does not fit into uint"),
        ({"k0": 1 << 64}, ValueError, "argument k0: 18446744073709551616 does not fit into ulong"),
        ({"count": 1.5}, TypeError, "argument count: 1.5 of type float is no uint"),
        ({"count": np.float32(1)}, TypeError, "argument count: .* of type float32 is no uint"),
        ({"count": "16"}, TypeError, "argument count: '16' of type str is no uint"),
        ({"count": None}, TypeError, "argument count: None of type NoneType is no uint"),
        ({"hashes": np.zeros(16, np.uint64)}, TypeError, r"argument hashes: .* of type ndarray is no DeviceArray"),
    ],
)
def test_wrong_arguments_are_refused(
    engine: Engine, changed: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        hash_with(engine, **changed)


def test_arrays_of_another_type_are_refused(engine: Engine) -> None:
    floats = engine.empty(16, np.float64)
    with pytest.raises(TypeError, match=r"argument numbers: DeviceArray\(.*, dtype=float64\) does not suit ulong"):
        hash_with(engine, numbers=floats)
    hash_with(engine, numbers=floats.view(np.uint64))
    with pytest.raises(ValueError, match="no whole number of uint64"):
        engine.empty(3, np.uint32).view(np.uint64)


@pytest.mark.parametrize("count", [16, np.uint8(16), np.int64(16), True])
def test_numbers_take_the_parameter_s_type(engine: Engine, count: object) -> None:
    """2^31 - 1 and 2^31 are of one type, as are Python's numbers and NumPy's."""
    hash_with(engine, count=count, k0=np.uint32(3), k1=(1 << 63) + 1)


def test_views_share_memory_and_order(engine: Engine) -> None:
    words = engine.empty(32, np.uint32)
    engine.write(words.view(np.uint64), np.arange(16, dtype=np.uint64), wait=False)
    assert engine.download(words)[::2].tolist() == list(range(16))
    words.view(np.uint8).release()
    with pytest.raises(ValueError, match="was released"):
        hash_with(engine, numbers=words.view(np.uint64))


def test_pointers_that_are_not_read_may_lead_nowhere(engine: Engine) -> None:
    kernel = engine.kernel("primitives/scan.cl", "reduce_spans", **PLAIN_SCAN)
    items, totals, flags = (engine.upload(np.arange(4, dtype=np.uint32)) for _ in range(3))
    engine.launch(kernel, (1,), (1,), source=items, heads=None, size=4, span=4, totals=totals, flags=flags)
    assert engine.download(totals)[0] == 6


PLAIN_SCAN = {"TYPE": "uint", "MAXIMUM": 0, "SEGMENTED": 0, "CPU": 1, "LANES": 1, "ROOT": 1, "UNITS": 2}


def test_what_was_waited_for_is_read_without_another_wait(device: Device) -> None:
    """Where a thread that waits lends a hand, it does so for what it reads only: kernels may have come since."""
    tuning = dataclasses.replace(tuning_for(device), waiting_helps=True)
    with Engine(device, tuning=tuning) as engine:
        one, other = engine.empty(99, np.uint32), engine.empty(99, np.uint32)
        engine.fill(one, 5)
        engine.finish()
        engine.fill(other, 6)
        with mock.patch.object(engine._transfers, "compute", wraps=engine._compute) as queue:
            np.testing.assert_array_equal(engine.download(one), np.full(99, 5))
        assert not queue.finish.called
        np.testing.assert_array_equal(engine.download(other), np.full(99, 6))


def test_checkpoints(engine: Engine) -> None:
    """Waiting for one waits for what was enqueued before it, and ends though more was enqueued after it."""
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    held = engine.upload(np.arange(1 << 20, dtype=np.uint64))
    last: list[object] = []
    for _ in range(2):
        engine.launch_items(kernel, held.size, numbers=held, k0=1, k1=2, count=held.size, hashes=held)
        last.append((held.memory.used, engine.checkpoint()))
    for event, checkpoint in last:
        checkpoint.wait()
        assert event.command_execution_status == pyopencl.command_execution_status.COMPLETE
    with Engine(engine.device) as fresh:
        fresh.checkpoint().wait()  # nothing was enqueued


def test_a_closed_engine(device: Device) -> None:
    engine = Engine(device)
    held = engine.upload(np.arange(16, dtype=np.uint64))
    shared = engine.shared(16, np.uint64)
    view = engine.empty(16, np.uint64).view(np.uint8)  # of an array that nobody else holds
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    engine.close()
    engine.close()
    assert engine.memory.used == 0
    assert view.memory.buffer is None
    calls = (
        lambda: engine.empty(1, np.uint8),
        lambda: engine.shared(1, np.uint8),
        lambda: engine.pinned(1, np.uint8),
        lambda: engine.upload(np.zeros(1)),
        lambda: engine.write(held, np.zeros(1, np.uint64)),
        lambda: engine.download(held),
        lambda: engine.fill(held, 1),
        lambda: engine.kernel("common/hash.cl", "hash_numbers"),
        lambda: engine.launch(kernel, (1,), (1,), **NUMBERS),
        lambda: engine.mapped(held).__enter__(),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"the engine on .* is closed; make another one"):
            call()
    shared.release()


def test_a_tuning_of_one_s_own(device: Device) -> None:
    tuning = dataclasses.replace(gpu_shape(device), local_size=16)
    with Engine(device, tuning=tuning) as engine:
        assert engine.tuning is tuning
        assert not engine.tuning.cpu


def failure(code: int) -> pyopencl.Error:
    return pyopencl.RuntimeError(pyopencl._cl._ErrorRecord(msg="injected", code=code, routine="clSomething"))


@pytest.mark.parametrize("code", [-2, -5, -14, -34, -36, -9999])
def test_a_device_lost_in_the_middle(engine: Engine, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def lose(*arguments: object, **options: object) -> None:
        raise failure(code)

    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    held = engine.empty(16, np.uint64)
    arguments = {**NUMBERS, "numbers": held, "hashes": held}
    with monkeypatch.context() as patch:
        patch.setattr(pyopencl, "enqueue_nd_range_kernel", lose)
        with pytest.raises(DeviceLostError, match="stopped answering while running hash_numbers") as caught:
            engine.launch(kernel, (16,), (16,), **arguments)
        assert caught.value.exit_code == 4
        assert "\n" not in str(caught.value)
    with monkeypatch.context() as patch:
        patch.setattr(pyopencl, "enqueue_copy", lose)
        with pytest.raises(DeviceLostError, match="while reading 128 bytes"):
            engine.download(held)
        with pytest.raises(DeviceLostError, match="while writing 128 bytes"):
            engine.write(held, np.zeros(16, np.uint64))
    engine.launch(kernel, (16,), (16,), **arguments)
    engine.finish()


@pytest.mark.parametrize("code", [-4, -6, -61])
def test_memory_that_runs_out(engine: Engine, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise failure(code)

    monkeypatch.setattr(pyopencl, "Buffer", fail)
    with pytest.raises(AllocationError, match=r"ran out of memory while allocating 64 B .* lower max_memory"):
        engine.empty(16, np.uint32)


def test_other_errors_stay_what_they_are(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise failure(-54)

    monkeypatch.setattr(pyopencl, "enqueue_nd_range_kernel", fail)
    with pytest.raises(pyopencl.RuntimeError, match="injected"):
        hash_with(engine)


@pytest.mark.parametrize("items", [0, 1, 15, 16, 17, 300])
@pytest.mark.parametrize("lanes", [None, 1])
def test_a_work_item_for_each_item(engine: Engine, items: int, lanes: int | None) -> None:
    weights = np.arange(300, dtype=np.uint32)
    wide = engine.empty(300, np.uint64)
    engine.fill(wide, 7)
    widen = engine.kernel("primitives/run_sums.cl", "widen", WEIGHTED=True, SUM="uint")
    engine.launch_items(widen, items, lanes=lanes, weights=engine.upload(weights), size=items, wide=wide)
    assert engine.download(wide).tolist() == [*range(items), *[7] * (300 - items)]


@pytest.mark.parametrize(("limit", "wanted", "size"), [(1024, 256, 256), (128, 256, 128), (100, 256, 64), (1, 256, 1)])
def test_groups_are_no_larger_than_the_device_takes(device: Device, limit: int, wanted: int, size: int) -> None:
    assert LimitedEngine(device, limit).group_size(wanted) == size


def test_a_device_whose_groups_are_too_small(device: Device) -> None:
    with pytest.raises(DeviceError, match="takes 8 work-items a group, too few: use another device"):
        LimitedEngine(device, 8).group_size(256, least=16)


@pytest.mark.parametrize("limit", [64, 100])
def test_items_on_a_device_with_small_groups(device: Device, limit: int) -> None:
    with LimitedEngine(device, limit) as engine:
        out = engine.upload(np.arange(1000, dtype=np.uint64))
        kernel = engine.kernel("primitives/run_sums.cl", "widen", WEIGHTED=True, SUM="uint")
        weights = engine.upload(np.arange(1000, dtype=np.uint32))
        engine.launch_items(kernel, 1000, weights=weights, size=1000, wide=out)
        assert np.array_equal(engine.download(out), np.arange(1000))
        few = dataclasses.replace(kernel, max_items=24)
        with mock.patch.object(engine, "launch") as launch:
            engine.launch_items(few, 1000)
        assert launch.call_args.args[1:3] == ((1008,), (16,))


def test_mapped_memory_is_the_device_s(engine: Engine) -> None:
    held = engine.upload(np.arange(5000, dtype=np.uint64))
    if engine.device.kind != "cpu":
        with pytest.raises(ValueError, match="memory of its own"), engine.mapped(held):
            pass
        return
    with engine.mapped(held) as host:
        assert host.tolist() == list(range(5000))
        host[::2] = 1
    assert engine.download(held).tolist() == [value if value % 2 else 1 for value in range(5000)]
    with pytest.raises(KeyError), engine.mapped(held):
        raise KeyError
    engine.fill(held, 3)  # it is the device's again
    assert set(engine.download(held).tolist()) == {3}
