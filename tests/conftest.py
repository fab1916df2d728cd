"""Fixtures: an engine for every device that the tests run on.

By default these are PoCL from pip and Intel's CPU runtime, whichever are there. `OCLGENOMICS_TEST_DEVICES` names
others, as `--device` takes them, separated by commas ("0,gpu"), or `all`.

Of several CPU runtimes one runs everything and the others what looks at kernels, unless with `--every-device`. Of some
products of parameters a part runs, and all with `--whole`. See `helpers.products`. Hypothesis draws the same examples
in each run, and new ones with `--new-examples`.
"""

from __future__ import annotations

import functools
import gc
import gettext
import os
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import nullcontext

import hypothesis
import pytest
from helpers.devices import LimitedEngine, devices_under_test, gpu_shape, left_out
from helpers.products import draw_anew, of_one_runtime, one_cpu, part_to_run, run_whole
from helpers.shared_programs import shared_programs

from oclgenomics.runtime import Device, Engine
from oclgenomics.signals import read
from oclgenomics.signals.readers.apart import ReaderProcess

# The same examples each time, so that a change fails for what it changed; `--new-examples` draws others.
# No limit on the time of one example: the machine may be busy, and a first launch compiles.
hypothesis.settings.register_profile("same", deadline=None, derandomize=True)
hypothesis.settings.register_profile("new", deadline=None)
hypothesis.settings.load_profile("same")

# Profile times and results must not depend on what the user's environment prefers.
for _name in ("OCLGENOMICS_DEVICE", "PYOPENCL_CTX"):
    os.environ.pop(_name, None)

# Shells have background processes ignore interrupts, as their children do; some tests send one.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-device", action="store_true", help="run all tests on every CPU runtime")
    parser.addoption(
        "--whole", action="store_true", help="run products of parameters whole, not only each pair of values"
    )
    parser.addoption("--new-examples", action="store_true", help="have Hypothesis draw other examples than last time")


def pytest_configure(config: pytest.Config) -> None:
    """Stop where there is nothing to test on, which would look like success."""
    devices_under_test()
    if config.getoption("--whole"):
        run_whole()
    if config.getoption("--new-examples"):
        draw_anew()
        hypothesis.settings.load_profile("new")


def pytest_report_header() -> list[str]:
    """Say what the tests run on."""
    return [f"on {device} ({device.version})" for device in devices_under_test()] + [left_out()] * bool(left_out())


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Have the second of two workers begin with the last files: each finds half of them compiled by the other."""
    report = yield
    if isinstance(collector, pytest.Directory) and os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `--whole` and `--every-device` run; in workers, bring all into one order."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.path.parts)
    kept = set(items)
    if not config.getoption("--whole"):
        kept = part_to_run(items)
        if not config.getoption("--every-device"):
            kept &= of_one_runtime(items)
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def pytest_collection_finish() -> None:
    """Leave tests and modules, which stay, out of all searches for garbage: each would take a quarter of a second."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        devices = devices_under_test()
        names = [f"{device.family}{device.index}" for device in devices]
        metafunc.parametrize("device", devices, ids=names, scope="session")


@pytest.fixture(scope="session", autouse=True)
def programs() -> Iterator[None]:
    """Engines share their programs, as those of thousands of small commands take most of their time."""
    with shared_programs():
        yield


@pytest.fixture(scope="session", autouse=True)
def translations() -> Iterator[None]:
    """Parsers of commands look once for the files of each translation, not for each of their texts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gettext, "find", functools.cache(gettext.find))
        yield


@pytest.fixture(scope="session")
def engine(device: Device) -> Iterator[Engine]:
    """An engine that all tests on one device share."""
    with Engine(device) as engine:
        yield engine


@pytest.fixture(scope="session")
def stride(device: Device, pytestconfig: pytest.Config) -> int:
    """How many sizes to go on at a time: 1, or 5 on CPU runtimes beside the one that runs them all."""
    everything = device.kind != "cpu" or pytestconfig.getoption("--whole")
    return 1 if everything or device == one_cpu(devices_under_test()) else 5


@pytest.fixture(params=["own", "gpu"], scope="module")
def shaped(request: pytest.FixtureRequest, device: Device) -> Iterator[Engine]:
    """An engine with the kernels of the device's own class, or, on Intel's CPU runtime, with those of GPUs."""
    if request.param == "gpu" and device.family != "intel":
        pytest.skip("the kernels for GPUs run on GPUs, and on Intel's CPU runtime as a check")
    with Engine(device, tuning=gpu_shape(device) if request.param == "gpu" else None) as engine:
        yield engine


@pytest.fixture(params=[128, 64, 16], scope="module")
def limited(request: pytest.FixtureRequest, device: Device) -> Iterator[Engine]:
    """An engine with GPUs' kernels on a device whose groups have at most 128, 64 or 16 work-items."""
    if device.kind == "cpu" and device.family != "intel":
        pytest.skip("the kernels for GPUs run on GPUs, and on Intel's CPU runtime as a check")
    with LimitedEngine(device, request.param) as engine:
        yield engine


@pytest.fixture(scope="module")
def reader_process() -> Iterator[ReaderProcess]:
    """A process with libraries for signals, which take a second to load."""
    with ReaderProcess() as process:
        yield process


@pytest.fixture
def one_reader(reader_process: ReaderProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of signals, which are read to their ends, are read by one process for all tests of a module."""
    monkeypatch.setattr(read, "ReaderProcess", lambda: nullcontext(reader_process))
