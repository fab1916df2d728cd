"""Programs that all engines of a process share.

Each engine has a context of its own, into which it loads its programs from the disk cache. That is more than half of
the time of a small command, and tests run thousands of them in one process. Here engines of one device get one context,
and a program that is there already.

Compilers take most of their time to optimise. Kernels for shapes that no device here has by itself are left as they are
written, and on Intel's CPU runtime so are the variants named in `REPEATED`: others show that the optimiser does no harm
to what they have in common. With `--whole` these are optimised as well.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from helpers.devices import ONE_BY_ONE, UNOPTIMISED
from helpers.products import runs_whole
from oclgenomics.runtime import engine, program
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.loader import opencl

MOST = 400  # programs that are kept; those in use are held by their engines
# Kernels that take longer to run in tests than to be optimised.
LONG_RUNNING = ("omega/ld_matrix", "omega/pair_values", "omega/scan", "sdtw/")

# Variants that differ in a constant or a formula from others, which are optimised; by the folder of their sources.
REPEATED = {
    "omega": re.compile(r"-DMEASURE=[2-9]"),
    "signatures": re.compile(r"-D(EACH=(5|9|11|15)|EDITS=[24578]|HEAD=(3|9|12|16|24)|SUM=ulong)"),
}


class _OneContext:
    """PyOpenCL, but for contexts, of which each device gets one."""

    def __getattr__(self, name: str) -> Any:
        return getattr(opencl(), name)

    def Context(self, devices: list[Any]) -> Any:  # noqa: N802
        return _context(*devices)


@functools.cache
def _context(device: Any) -> Any:
    return opencl().Context([device])


class _Built:
    """Builds programs as `program.build_program` does, and keeps those that were built last."""

    def __init__(self) -> None:
        self._build, self._programs = program.build_program, dict[tuple[Any, ...], Any]()

    def __call__(self, context: Any, device: Device, source: str, options: list[str], *, fresh: bool = False) -> Any:
        if fresh or context != _context(device.handle):
            return self._build(context, device, source, options, fresh=fresh)
        if left_as_written(device, source, options):
            options = [*options, "-cl-opt-disable"]
        given = [f"{name}={os.environ[name]}" for name in os.environ if name.startswith("CL_CONFIG_")]
        key = context.int_ptr, program.load_source(source), *options, *given
        built = self._programs.pop(key, None) or self._build(context, device, source, options)
        self._programs[key] = built  # as the last one
        if len(self._programs) > MOST:
            del self._programs[next(iter(self._programs))]
        return built


def _kept(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a maker of calls that makes those of one kernel, by its name and its arguments, once."""
    known: dict[tuple[Any, ...], Any] = {}

    def made(*kernel: Any, devs: Any, **how: Any) -> Any:
        key = *kernel, *sorted(how.items())
        if key not in known:
            known[key] = make(*kernel, devs=devs, **how)
        return known[key]

    return made


def left_as_written(device: Device, source: str, options: list[str]) -> bool:
    """Say whether tests build a program without optimising it."""
    repeated = REPEATED.get(source.partition("/")[0])
    here = (device.family, device.kind) == ("intel", "cpu") and not runs_whole()
    if here and repeated is not None and any(map(repeated.fullmatch, options)):
        return True
    foreign = {f"-D__kernel={ONE_BY_ONE}", f"-D{UNOPTIMISED}=1"}
    return not foreign.isdisjoint(options) and not source.startswith(LONG_RUNNING)


@contextmanager
def shared_programs() -> Iterator[None]:
    """Have engines that are made from now on share what they build."""
    invoker = importlib.import_module(f"{opencl().__name__}.invoker")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "opencl", _OneContext)
        patch.setattr(program, "build_program", _Built())
        # PyOpenCL generates Python for each kernel object, which takes a tenth of the time of a small command.
        patch.setattr(invoker, "generate_enqueue_and_set_args", _kept(invoker.generate_enqueue_and_set_args))
        yield


@contextmanager
def own_programs() -> Iterator[None]:
    """Have engines that are made from now on build what they need, as users' do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "opencl", opencl)
        yield
