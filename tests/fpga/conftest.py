"""Builds of Verilog take what is the same in all of them from the first one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers.shared_builds import built_folder
from helpers.verilator import write_object_cache


@pytest.fixture(scope="session", autouse=True)
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Verilator's own library is compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OBJCACHE", str(built_folder(tmp_path_factory, "objects", write_object_cache) / "compile"))
        yield
