"""PoCL from pip on processors that are newer than its compiler: its built-in functions fit, and nothing of it shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.devices import left_out

from oclgenomics.runtime import diskcache, pocl, processor

WHEEL = pocl.find_wheel()
needs_wheel = pytest.mark.skipif(WHEEL is None, reason="PyOpenCL has come without PoCL")
compiles = pytest.mark.skipif(bool(left_out()), reason="PoCL compiles nothing for this processor, or nothing right")
MADE_UP = {
    "vendor_id": "AuthenticAMD",
    "model name": "Some processor",
    "cpu MHz": "3000.1",
    "flags": "fpu sse2 avx avx2 avx512f",
}

# Built-in functions on vectors of 32 and 64 bytes, which pass through a call.
IDIOMS = """
import pathlib, sys
import numpy as np
from oclgenomics.runtime import loader, pocl
broken = sys.argv[1:]
if broken:
    wheel = pocl.find_wheel()
    pocl.builtins_for = lambda wheel: broken[1]
    def broken_home(wheel, level):
        pocl.link_home(wheel, pathlib.Path(broken[0]), pocl._held_to(wheel, level))
        return pathlib.Path(broken[0]) / "pyopencl"
    pocl.aligned_home = broken_home
from oclgenomics.runtime.devices import list_devices  # an engine would refuse the device
cl = loader.opencl()
device = next(device.handle for device in list_devices() if device.family == "pocl" and "debian" not in device.driver)
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl._Program(context, '''__kernel void wide(__global const int *x, __global int *out) {
    int16 a = vload16(0, x), b = vload16(1, x);
    vstore16(max(a, b), 0, out);
    vstore16(convert_int16(convert_float16(a)), 1, out);
    vstore16(convert_int16(popcount(a)), 2, out);
    vstore8(max(a.lo, b.lo), 6, out);
}''')
program.build(b"", [device])
x = np.random.default_rng(1).integers(-1000, 1000, 32).astype(np.int32)
found = np.zeros(56, np.int32)
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (x, found)]
kernel = cl.Kernel(cl.Program(program), "wide")
kernel.set_args(*buffers)
cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
cl.enqueue_copy(queue, found, buffers[1])
a, b = x[:16], x[16:]
expected = np.concatenate([np.maximum(a, b), a, np.bitwise_count(a.view(np.uint32)), np.maximum(a, b)[:8]])
print("right" if np.array_equal(found, expected) else "wrong")
"""


def run_idioms(*broken: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYOPENCL_NO_CACHE": "1", "POCL_KERNEL_CACHE": "0"}
    try:
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", IDIOMS, *broken],
            env=environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:  # as some built-in functions do that get vectors from wrong registers
        return subprocess.CompletedProcess(error.args, 1, "no end", "")


@needs_wheel
@compiles
def test_wide_builtins_are_right() -> None:
    done = run_idioms()
    assert done.stdout.split() == ["right"], done.stderr


@needs_wheel
@compiles
def test_libraries_that_do_not_fit_are_seen(tmp_path: Path) -> None:
    """The idioms above, with the built-in functions of SSE2 behind kernels for AVX2 or more, are wrong or die."""
    assert run_idioms(str(tmp_path), "sse2").stdout.split() != ["right"]


@pytest.mark.parametrize(
    ("flags", "target", "level"),
    [
        ({"avx2", "avx512f"}, b"znver3", "avx2"),
        ({"avx2", "avx512f"}, b"skylake-avx512", None),
        ({"avx2", "avx512f"}, b"generic", "sse2"),
        ({"avx2"}, b"znver3", None),
        ({"avx2"}, b"x86-64", "sse2"),
        ({"avx2"}, b"skylake-avx512", None),
        ({"avx2", "avx512f"}, b"some-later-processor", None),
        ({"avx2", "avx512f"}, b"", None),
        ({"sse2", "avx"}, b"generic", None),
    ],
)
@needs_wheel
def test_level_follows_processor_and_target(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: set[str], target: bytes, level: str | None
) -> None:
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(processor, "instruction_sets", lambda: frozenset(flags))
    monkeypatch.setattr(pocl, "_ask", lambda: target)
    assert WHEEL is not None
    assert pocl.builtins_for(WHEEL) == level


@pytest.mark.parametrize(
    ("version", "target"),
    [
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3\n", "znver3"),
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512", "skylake-avx512"),
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-x86-64", "x86-64"),
        ("", ""),
        ("OpenCL 3.0", ""),
    ],
)
def test_target_of_a_device(version: str, target: str) -> None:
    assert pocl.target_of(version) == target


def test_a_compiler_that_does_not_know_the_processor_is_told_from_its_target() -> None:
    assert not pocl.knows_processor("OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-generic")
    assert pocl.knows_processor("OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-znver3")


@needs_wheel
def test_the_target_is_asked_for_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert WHEEL is not None
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(processor, "instruction_sets", lambda: frozenset({"avx512f"}))
    asked = []
    monkeypatch.setattr(pocl, "_ask", lambda: asked.append(1) or b"znver3")
    assert [pocl.builtins_for(WHEEL) for _ in range(3)] == ["avx2"] * 3
    assert len(asked) == 1
    monkeypatch.setattr(processor, "description", lambda: "another processor")
    pocl.builtins_for(WHEEL)
    assert len(asked) == 2


@needs_wheel
def test_links_are_verified_and_renewed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert WHEEL is not None
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path / "cache"))
    home = pocl.aligned_home(WHEEL, "avx2")
    shared = home.parent / "pocl_binary_distribution" / ".libs" / "share" / "pocl"
    widest = next(shared.glob("*-avx512.bc"))
    assert widest.resolve().name.endswith("-avx2.bc")
    assert next(shared.glob("*-avx.bc")).resolve().name.endswith("-avx.bc")
    assert (shared / "include").is_dir()

    widest.unlink()
    widest.symlink_to(WHEEL.data / "share" / "pocl" / widest.name)
    (home / ".libs" / "pocl.icd").write_text("/now")
    (home / ".libs" / WHEEL.library.name).unlink()
    assert pocl.aligned_home(WHEEL, "avx2") == home
    assert widest.resolve().name.endswith("-avx2.bc")
    assert (home / ".libs" / "pocl.icd").read_text().strip() == str(home / ".libs" / WHEEL.library.name)
    assert (home / ".libs" / WHEEL.library.name).resolve() == WHEEL.library.resolve()


@needs_wheel
def test_only_the_owner_enters_the_folders_of_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever the umask is, and was when they were made."""
    assert WHEEL is not None
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path / "cache"))
    before = os.umask(0o002)
    try:
        home = pocl.aligned_home(WHEEL, "avx2")
        for mode in (0o775, 0o755):
            found = (home.parent, *home.parent.rglob("*"))
            folders = [path for path in found if path.is_dir() and not path.is_symlink()]
            assert len(folders) == 7
            assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
            for path in folders:
                path.chmod(mode)
            assert pocl.aligned_home(WHEEL, "avx2") == home
            assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    finally:
        os.umask(before)


def test_processor_description_holds_no_frequency(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{name}\t: {value}" for name, value in MADE_UP.items()]
    monkeypatch.setattr(processor, "_first_processor", lambda: lines)
    for function in (processor.description, processor.instruction_sets):
        function.cache_clear()
    try:
        assert "3000.1" not in processor.description()
        assert "avx512f" in processor.description()
        assert processor.instruction_sets() == {"fpu", "sse2", "avx", "avx2", "avx512f"}
    finally:
        for function in (processor.description, processor.instruction_sets):
            function.cache_clear()


COUNT_BITS = """
import numpy as np
from oclgenomics.runtime import Engine
with Engine("portable") as engine:
    words = engine.upload(np.arange(33, dtype=np.uint32))
    counts = engine.empty(32, np.uint32)
    kernel = engine.kernel("common/probe_bits.cl", "probe_vectors", BUILTIN_POPCOUNT=1)
    engine.launch(kernel, (2,), None, words=words, results=counts)
    print(engine.download(counts).sum())
"""


@pytest.mark.parametrize("cache", ["kept", "off", "lost", "unwritable", "pocl off"])
@needs_wheel
@compiles
def test_a_second_run_works_whatever_becomes_of_the_caches(tmp_path: Path, cache: str) -> None:
    """And nothing of PoCL's or its compiler's shows on the terminal."""
    folder = tmp_path / "cache"
    settings = {"off": "off", "unwritable": "/proc/nowhere"}
    environment = {**os.environ, diskcache.VARIABLE: settings.get(cache, str(folder)), "HOME": str(tmp_path)}
    environment.pop("XDG_CACHE_HOME", None)
    if cache == "pocl off":
        environment["POCL_KERNEL_CACHE"] = "0"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", COUNT_BITS], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert int(done.stdout) == sum(number.bit_count() for number in range(1, 33))
        if cache == "lost":
            shutil.rmtree(folder)
    assert not (tmp_path / ".cache" / "pocl").exists()
