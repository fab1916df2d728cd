"""What a scan holds on the device: buffers for a pass, and working memory that grows."""

from __future__ import annotations

import numpy as np
import pytest

from oclgenomics.omega.device.kernels import Workspace, pass_arrays, side_numbers
from oclgenomics.omega.options import KernelChoice, ScanOptions
from oclgenomics.omega.plan.passes import Pass, plan_passes
from oclgenomics.omega.plan.windows import TILE, find_windows
from oclgenomics.runtime import DeviceLimits, Engine


def one_pass(kernel: KernelChoice) -> Pass:
    windows = find_windows(np.arange(500) * 10, ScanOptions(grid=20, minwin=100, maxwin=1_000))
    (walk,) = plan_passes(windows, 500, DeviceLimits(1 << 30, 1 << 30, 2, 8, cpu=True), kernel=kernel, tiles=True)
    return walk


@pytest.mark.parametrize("kernel", ["2", "tiles"])
def test_a_pass_gives_its_memory_back_however_it_ends(shaped: Engine, kernel: KernelChoice) -> None:
    engine, walk = shaped, one_pass(kernel)
    before, for_gpus = engine.memory.used, kernel == "tiles" and not engine.tuning.cpu

    def broken_off(held: list[object]) -> None:
        with pass_arrays(engine, walk, np.int64) as arrays:
            held += arrays.values()  # alive, but without their memory
            assert ("left_tiles" in arrays) == (kernel == "tiles")
            size = (
                8 * (walk.sums_size + walk.carry_size + walk.slots_size)
                + 4 * walk.slots_size
                + walk.table.nbytes
                + walk.reach.nbytes
            )
            size += 0 if kernel != "tiles" else 4 * walk.slots * walk.tiles_stride + 2 * walk.windows_of_i.nbytes
            size += 8 * (walk.band + 2 * TILE) if for_gpus else 0
            assert engine.memory.used - before == size
            raise KeyboardInterrupt

    held: list[object] = []
    with pytest.raises(KeyboardInterrupt):
        broken_off(held)
    assert engine.memory.used == before
    assert len(held) == (9 if kernel == "tiles" else 6) + for_gpus


def test_numbers_of_sides() -> None:
    found = side_numbers(1000)
    assert found.shape == (1000 + 2 * TILE, 2)
    assert (found[: TILE + 1] == 1).all()
    for n in (1, 2, 3, 1000, 1000 + TILE - 1):
        assert found[TILE + n].tolist() == [n - 1 or 2**-30, np.float32(0.5 / n)]


def test_working_memory_grows_and_is_used_again(engine: Engine) -> None:
    before = engine.memory.used
    space = Workspace(engine, np.float32, np.int64)
    small = space.reserve(10)
    assert [(array.size, array.dtype) for array in small] == [(10, np.float32), (10, np.int64)]
    assert space.reserve(7) is small
    assert [array.size for array in space.reserve(11)] == [11, 11]
    assert engine.memory.used - before == 11 * (4 + 8)
    space.release()
    assert engine.memory.used == before
