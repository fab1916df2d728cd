"""What a scan holds on the device: buffers for a pass, and working memory that grows."""

from __future__ import annotations

import numpy as np
import pytest

from oclgenomics.omega.device.kernels import Workspace, pass_arrays
from oclgenomics.omega.options import KernelChoice, ScanOptions
from oclgenomics.omega.plan.passes import Pass, plan_passes
from oclgenomics.omega.plan.windows import find_windows
from oclgenomics.runtime import DeviceLimits, Engine


def one_pass(kernel: KernelChoice) -> Pass:
    windows = find_windows(np.arange(500) * 10, ScanOptions(grid=20, minwin=100, maxwin=1_000))
    (walk,) = plan_passes(windows, 500, DeviceLimits(1 << 30, 1 << 30, 2, 8, cpu=True), kernel=kernel, tiles=True)
    return walk


@pytest.mark.parametrize("kernel", ["2", "tiles"])
def test_a_pass_gives_its_memory_back_however_it_ends(engine: Engine, kernel: KernelChoice) -> None:
    walk, before = one_pass(kernel), engine.memory.used

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
            assert engine.memory.used - before == size
            raise KeyboardInterrupt

    held: list[object] = []
    with pytest.raises(KeyboardInterrupt):
        broken_off(held)
    assert engine.memory.used == before
    assert len(held) == (9 if kernel == "tiles" else 6)


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
