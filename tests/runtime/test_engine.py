"""Buffers, transfers and launches, and the errors of a device in trouble."""

from __future__ import annotations

import dataclasses
import gc
from unittest import mock

import numpy as np
import pyopencl
import pytest
from helpers.devices import LimitedEngine
from hypothesis import given, settings
from hypothesis import strategies as st

from oclgenomics.errors import AllocationError, DeviceError, DeviceLostError
from oclgenomics.runtime import Device, Engine, staging
from oclgenomics.runtime import engine as engine_module

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

    monkeypatch.setattr(engine_module, "FILL_BYTES", 100)
    monkeypatch.setattr(pyopencl, "enqueue_fill_buffer", noted)
    held = engine.upload(np.zeros(31, np.uint64))
    engine.fill(held, 7)
    assert engine.download(held).tolist() == [7] * 31
    assert (max(sizes), sum(sizes)) == (96, 31 * 8)


def test_compute_and_transfers_keep_their_order(engine: Engine) -> None:
    """Writes that do not wait, kernels and downloads in turn: every kernel sees the write before it, no later one."""
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    zero, count = np.uint64(0), np.uint32(1 << 16)
    numbers, hashes = engine.empty(1 << 16, np.uint64), engine.empty(1 << 16, np.uint64)
    inputs = [np.full(1 << 16, value, np.uint64) for value in range(8)]
    results = []
    for values in inputs:
        engine.write(numbers, values, wait=False)
        engine.launch(kernel, (1 << 16,), (16,), numbers, zero, zero, count, hashes)
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


def test_shared_memory_is_read_after_its_kernels(engine: Engine) -> None:
    count = 1 << 20
    hashes = engine.upload(engine.pinned(count, np.uint64), share=True)
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    numbers = engine.upload(np.arange(count, dtype=np.uint64))
    for key in range(3):
        engine.launch_items(kernel, count, numbers, np.uint64(key), np.uint64(0), np.uint32(count), hashes)
    last = engine.empty(count, np.uint64)
    engine.launch_items(kernel, count, numbers, np.uint64(2), np.uint64(0), np.uint32(count), last)
    part = engine.download(hashes, 1000, count - 1000)
    assert np.array_equal(part, engine.download(last, 1000, count - 1000))
    assert np.array_equal(engine.download(hashes), engine.download(last))


def test_shared_memory_is_seen_by_both_sides(engine: Engine) -> None:
    gc.collect()
    used = engine.memory.used
    array = engine.pinned((4096,), np.uint64)
    array[:] = np.arange(4096)
    held = engine.upload(array, share=True)
    assert np.array_equal(engine.download(held), array)
    if engine.device.kind == "cpu":
        array[:] = 3
        assert engine.memory.used == used
        assert np.array_equal(engine.download(held), array)
    held.release()
    held.release()
    assert engine.memory.used == used


def test_staging_blocks_in_turn(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of discrete devices, forced: arrays of several blocks, with and without a rest."""
    monkeypatch.setattr(staging, "SMALL_BYTES", 100)
    monkeypatch.setattr(staging, "COPY_THREADS", 3)
    with Engine(device) as engine:
        way = staging.Staging(engine.context, engine.transfer, device, block_bytes=4096)
        monkeypatch.setattr(way, "_staged", lambda array: True)
        for size in (1, 4095, 4096, 4097, 3 * 4096, 5 * 4096 + 123):
            array = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
            held = engine.empty(size + 10, np.uint8)
            way.write(held, array, 10, [], True)
            result = np.empty(size, np.uint8)
            way.read(result, held, 10, [])
            assert np.array_equal(result, array)


def test_pinned_memory_is_kept_up_to_a_limit(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "KEPT_BYTES", 10_000)

    def kept(engine: Engine, size: int) -> list[int]:
        with engine.lent_pinned(size) as memory:
            assert memory.size == size
        return [array.size for array in engine._kept]

    with Engine(dataclasses.replace(device, unified_memory=False)) as engine:
        assert kept(engine, 6000) == [6000]
        with engine.lent_pinned(6000) as memory:
            assert not engine._kept  # the same once more
            memory[:] = 7
        assert engine._kept[0] is memory
        assert kept(engine, 4000) == [6000, 4000]
        assert kept(engine, 1) == [4000, 1]
        assert kept(engine, 10_001) == [4000, 1]


def test_pinned_memory_of_discrete_devices(device: Device) -> None:
    with Engine(device) as engine:
        array = staging.pinned_array(engine.context, engine.transfer, device, (100, 3), np.float32)
        array[:] = 7
        assert np.array_equal(engine.download(engine.upload(array)), np.full((100, 3), 7, np.float32))
        engine._staging.know(array)
        assert engine._staging._pinned
        del array
        gc.collect()
        assert not engine._staging._pinned


def test_memory_is_accounted_for(device: Device) -> None:
    with Engine(device, max_memory=1 << 20) as engine:
        assert engine.budget == 1 << 20
        first = engine.empty(600 << 10, np.uint8)
        with pytest.raises(AllocationError, match=r"600 KiB for .* 600 KiB in use .* 1.0 MiB; raise --max-memory"):
            engine.empty(600 << 10, np.uint8)
        first.release()
        second = engine.empty(700 << 10, np.uint8)
        del second
        gc.collect()
        assert engine.memory.used == 0
        assert engine.memory.peak == 700 << 10


def test_an_array_larger_than_the_device_gives(engine: Engine) -> None:
    with pytest.raises(AllocationError, match=r"more than .* gives to one buffer .*--max-memory") as caught:
        engine.empty(engine.device.max_allocation + 1, np.uint8)
    assert caught.value.exit_code == 4


def test_released_arrays_are_refused(engine: Engine) -> None:
    held = engine.empty(16, np.uint64)
    held.release()
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    with pytest.raises(ValueError, match="was released"):
        engine.launch(kernel, (16,), (16,), held, np.uint64(0), np.uint64(0), np.uint32(1), held)


def test_python_numbers_as_arguments() -> None:
    scalar = engine_module._scalar
    assert scalar(3) == np.int32(3)
    assert scalar(3).dtype == np.int32
    assert scalar(True).dtype == np.int32
    assert scalar(2**31).dtype == np.uint32
    assert scalar(2**32).dtype == np.int64
    assert scalar(-(2**31) - 1).dtype == np.int64
    assert scalar(0.5).dtype == np.float32
    assert scalar(np.uint8(4)).dtype == np.uint8


def failure(code: int) -> pyopencl.Error:
    return pyopencl.RuntimeError(pyopencl._cl._ErrorRecord(msg="injected", code=code, routine="clSomething"))


@pytest.mark.parametrize("code", [-2, -5, -14, -34, -36, -9999])
def test_a_device_lost_in_the_middle(engine: Engine, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def lose(*arguments: object, **options: object) -> None:
        raise failure(code)

    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    held = engine.empty(16, np.uint64)
    arguments = (held, np.uint64(0), np.uint64(0), np.uint32(16), held)
    with monkeypatch.context() as patch:
        patch.setattr(pyopencl, "enqueue_nd_range_kernel", lose)
        with pytest.raises(DeviceLostError, match="stopped answering while running hash_numbers") as caught:
            engine.launch(kernel, (16,), (16,), *arguments)
        assert caught.value.exit_code == 4
        assert "\n" not in str(caught.value)
    with monkeypatch.context() as patch:
        patch.setattr(pyopencl, "enqueue_copy", lose)
        with pytest.raises(DeviceLostError, match="while reading 128 bytes"):
            engine.download(held)
        with pytest.raises(DeviceLostError, match="while writing 128 bytes"):
            engine.write(held, np.zeros(16, np.uint64))
    engine.launch(kernel, (16,), (16,), *arguments)
    engine.finish()


@pytest.mark.parametrize("code", [-4, -6, -61])
def test_memory_that_runs_out(engine: Engine, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise failure(code)

    monkeypatch.setattr(pyopencl, "Buffer", fail)
    with pytest.raises(AllocationError, match=r"ran out of memory while allocating 64 B .* lower --max-memory"):
        engine.empty(16, np.uint32)


def test_other_errors_stay_what_they_are(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise failure(-54)

    monkeypatch.setattr(pyopencl, "enqueue_nd_range_kernel", fail)
    held = engine.empty(16, np.uint64)
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    with pytest.raises(pyopencl.RuntimeError, match="injected"):
        engine.launch(kernel, (16,), (16,), held, np.uint64(0), np.uint64(0), np.uint32(16), held)


@pytest.mark.parametrize("items", [0, 1, 15, 16, 17, 300])
@pytest.mark.parametrize("lanes", [None, 1])
def test_a_work_item_for_each_item(engine: Engine, items: int, lanes: int | None) -> None:
    weights = np.arange(300, dtype=np.uint32)
    wide = engine.empty(300, np.uint64)
    engine.fill(wide, 7)
    widen = engine.kernel("primitives/run_sums.cl", "widen", WEIGHTED=True, SUM="uint")
    engine.launch_items(widen, items, engine.upload(weights), np.uint64(items), wide, lanes=lanes)
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
        engine.launch_items(kernel, 1000, engine.upload(np.arange(1000, dtype=np.uint32)), np.uint64(1000), out)
        assert np.array_equal(engine.download(out), np.arange(1000))
        few = dataclasses.replace(kernel, most_items=24)
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
