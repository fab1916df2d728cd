"""Folders that all workers of a test run share, so that what takes long to build is built once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["alone_in", "built_folder", "shared_folder"]


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """Return the folder of this name of the whole run, whatever worker asks."""
    base = factory.getbasetemp()  # of a worker, that is a folder within the run's
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other worker builds in a folder, and keep them waiting."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def built_folder(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Return the folder of this name of the whole run, which the first worker that asks for it has built."""
    folder = shared_folder(factory, name)
    with alone_in(folder):
        if not (folder / "done").exists():
            build(folder)
            (folder / "done").touch()
    return folder
