"""Building: options, the binary cache, and what a failure says."""

import contextlib
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytools import py_codegen

from oclgenomics.errors import BuildError
from oclgenomics.runtime import Device, Engine, diskcache, program, source


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of kernel sources and an empty cache."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.setattr(source, "source_folder", lambda: folder)
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path / "cache"))
    source.load_source.cache_clear()
    yield folder
    source.load_source.cache_clear()


def answer(device: Device, **defines: int) -> int:
    with Engine(device) as engine:
        result = engine.empty(1, np.int32)
        engine.launch(engine.kernel("answer.cl", "answer", **defines), (1,), (1,), result=result)
        return int(engine.download(result)[0])


SOURCE = "__kernel void answer(__global int *result) { result[0] = ANSWER; }\n"


def test_binaries_are_kept_by_source_and_parameters(kernels: Path, device: Device) -> None:
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=1) == 1
    assert diskcache.usage()[0] == 1
    assert answer(device, ANSWER=1) == 1
    assert diskcache.usage()[0] == 1
    assert answer(device, ANSWER=2) == 2
    assert diskcache.usage()[0] == 2
    source.load_source.cache_clear()
    (kernels / "answer.cl").write_text(SOURCE.replace("ANSWER", "3"))
    assert answer(device, ANSWER=1) == 3
    assert diskcache.usage()[0] == 3


def test_a_kept_binary_is_used(kernels: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=5) == 5

    def refuse(*arguments: object) -> None:
        raise AssertionError("compiled although the binary was kept")

    monkeypatch.setattr(program, "_from_source", refuse)
    assert answer(device, ANSWER=5) == 5


def test_binaries_are_kept_by_what_intels_compiler_is_told(
    kernels: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    if device.kind != "cpu":
        pytest.skip("these variables are for CPUs")
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=1) == 1
    monkeypatch.setenv("CL_CONFIG_OF_NOTHING", "1")
    assert answer(device, ANSWER=1) == 1
    assert diskcache.usage()[0] == 2


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 5000])
def test_a_damaged_entry_is_built_again(kernels: Path, device: Device, tmp_path: Path, damage: bytes) -> None:
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=7) == 7
    (entry,) = (tmp_path / "cache").glob("programs/*.bin")
    entry.write_bytes(damage)
    assert answer(device, ANSWER=7) == 7
    assert diskcache.load("programs", entry.stem) is not None


def test_a_binary_that_the_driver_refuses_is_built_again(kernels: Path, device: Device, tmp_path: Path) -> None:
    if device.family == "rusticl":
        pytest.skip("its driver crashes on foreign binaries, which the cache's key keeps away")
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=8) == 8
    (entry,) = (tmp_path / "cache").glob("programs/*.bin")
    diskcache.store("programs", entry.stem, b"a binary of another driver")
    assert answer(device, ANSWER=8) == 8


def test_the_cache_can_be_switched_off(kernels: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(diskcache.VARIABLE, "off")
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=9) == 9
    assert diskcache.usage() == (0, 0)


def test_failures_name_the_real_file_and_line(kernels: Path, device: Device) -> None:
    (kernels / "part.clh").write_text("\n\nint broken(void) { return nonsense; }\n")
    (kernels / "main.cl").write_text('// a comment\n#include "part.clh"\n__kernel void main_(void) {}\n')
    with Engine(device) as engine, pytest.raises(BuildError) as caught:
        engine.kernel("main.cl", "main_")
    message = str(caught.value)
    assert "part.clh:3" in message
    assert "nonsense" in message
    assert "\n" not in message
    assert "options: -cl-std=CL1.2" in caught.value.__notes__[0]


def test_line_numbers_after_an_include(kernels: Path, device: Device) -> None:
    (kernels / "part.clh").write_text("#define PART 1\n\n\n\n")
    (kernels / "main.cl").write_text('// a comment\n#include "part.clh"\n\nint broken(void) { return nonsense; }\n')
    with Engine(device) as engine, pytest.raises(BuildError, match=r"main\.cl:4"):
        engine.kernel("main.cl", "main_")


def test_a_kernel_that_is_not_there(kernels: Path, device: Device) -> None:
    (kernels / "answer.cl").write_text(SOURCE)
    with Engine(device) as engine, pytest.raises(BuildError, match=r"answer\.cl holds no kernel question"):
        engine.kernel("answer.cl", "question", ANSWER=1)


def test_options(device: Device) -> None:
    exact = program.build_options(device, {"B": True, "A": 3})
    assert exact[-2:] == ["-DA=3", "-DB=1"]
    assert ("-cl-fp32-correctly-rounded-divide-sqrt" in exact) == device.divide_rounding_option
    assert "-cl-fast-relaxed-math" not in exact
    assert "-cl-fast-relaxed-math" in program.build_options(device, {}, exact=False)


def test_one_handle_for_each_kernel(engine: Engine) -> None:
    first = engine.kernel("common/hash.cl", "hash_strings")
    assert engine.kernel("common/hash.cl", "hash_strings") is first
    assert engine.kernel("common/hash.cl", "hash_strings", VW=2) is not first


def test_threads_make_kernels_one_at_a_time(kernels: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyOpenCL's code for their calls would get one name twice, which it warns of."""
    both, met = threading.Barrier(2), threading.Event()
    make = py_codegen._make_module

    def seen(*args: Any, **options: Any) -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.5)
            met.set()
        return make(*args, **options)

    (kernels / "answer.cl").write_text(SOURCE)

    monkeypatch.setattr(py_codegen, "_make_module", seen)

    def build(number: int) -> None:
        with Engine(device) as engine:
            engine.kernel("answer.cl", "answer", ANSWER=number)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, (2, 3)))
    assert not met.is_set()


def test_the_cache_keeps_to_its_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(diskcache, "CAP_BYTES", 3500)
    start = time.time_ns()
    for number in range(5):
        diskcache.store("programs", f"entry{number}", bytes(1000))
        # Set by hand, because entries of one tick of the file system's clock have no order.
        path = tmp_path / "programs" / f"entry{number}.bin"
        os.utime(path, ns=(start, start - (5 - number) * 10**9))
    assert diskcache.load("programs", "entry0") is None
    assert diskcache.load("programs", "entry4") == bytes(1000)
    assert diskcache.usage()[1] <= 3500
    assert diskcache.clear() == diskcache.usage()[0] + 3


def test_a_cache_that_cannot_be_written_costs_no_result(
    kernels: Path, device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a file, not a folder"
    file.write_text("")
    monkeypatch.setenv(diskcache.VARIABLE, str(file))
    (kernels / "answer.cl").write_text(SOURCE)
    assert answer(device, ANSWER=4) == 4
