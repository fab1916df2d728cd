"""Checksums of blocks made on a device are those of the host, and files with them have the same bytes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.io.array_layout import KEY, FileKind
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.io.siphash import BLOCK_BYTES, block_sums
from oclgenomics.primitives import block_summer, block_sums as module
from oclgenomics.runtime import Engine

KIND = FileKind(b"\x89otest\r\n", 3, "test file", "make it again", older=(2,), blocks_since=3)


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("step", [1, 2 * BLOCK_BYTES, module.STEP_BYTES])
def test_blocks_of_the_host(shaped: Engine, monkeypatch: pytest.MonkeyPatch, blocks: int, step: int) -> None:
    monkeypatch.setattr(module, "STEP_BYTES", step)
    data = np.random.default_rng(blocks).integers(0, 256, blocks * BLOCK_BYTES, np.uint8)
    used = shaped.memory.used
    assert module.summed(shaped, data).tolist() == block_sums(KEY, data).tolist()
    assert shaped.memory.used == used


def test_only_devices_with_memory_of_their_own(engine: Engine) -> None:
    assert (block_summer(engine) is None) == engine.tuning.shares_memory


@pytest.mark.parametrize("version", [2, 3])
def test_files_have_the_same_bytes(engine: Engine, tmp_path: Path, version: int) -> None:
    kind = FileKind(KIND.mark, version, KIND.name, KIND.remedy, blocks_since=KIND.blocks_since)
    rng = np.random.default_rng(1)
    sizes = (0, 1, BLOCK_BYTES // 4 - 1, BLOCK_BYTES // 4, 3 * BLOCK_BYTES + 5)
    arrays = {str(size): rng.integers(0, 1 << 32, size, np.uint32) for size in sizes}
    for name, summer in (("host", None), ("device", partial(module.summed, engine))):
        write_arrays(tmp_path / name, kind, "1", {}, arrays, summer=summer)
    assert (tmp_path / "host").read_bytes() == (tmp_path / "device").read_bytes()
    last = f"{sizes[-1]}"
    made = block_sums(KEY, arrays[last].view(np.uint8)[: 12 * BLOCK_BYTES])
    for name, sums in (("known", made), ("wrong", made + np.uint64(1))):
        write_arrays(tmp_path / name, kind, "1", {}, arrays, sums={last: sums})
        assert ((tmp_path / name).read_bytes() == (tmp_path / "host").read_bytes()) is (name == "known" or version == 2)
