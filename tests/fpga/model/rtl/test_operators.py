"""Every operator of the Verilog against NumPy, bit for bit, at several latencies."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.shared_builds import built_folder

import hls_model.rtl

pytestmark = pytest.mark.skipif(shutil.which("verilator") is None, reason="verilator is not installed")

HERE = Path(__file__).parent / "operators"
RTL = Path(hls_model.rtl.__file__).parent
NAMES = ("add", "subtract", "divide", "convert", "multiply")
LATENCIES = {  # of the four sets in operators.v
    "add": (1, 3, 5, 11),
    "subtract": (1, 3, 5, 11),
    "divide": (1, 8, 10, 28),
    "convert": (1, 3, 4, 6),
    "multiply": (1, 2, 3, 4),
}
SMALLEST = np.float32(2.0**-126)
NAN = 0x7FC00000
EDGES = (0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x34000000)
EDGES += (0x33800000, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x4B800000, 0x3727C5AC)


def operand_pairs() -> np.ndarray:
    """Pairs of words: all pairs of edge cases, any bits, close exponents (cancellation, ties), and quotients near the
    ends of the range; uint32 (pairs, 2)."""
    rng = np.random.default_rng(1)
    edges = np.array([sign | bits for bits in EDGES for sign in (0, 1 << 31)], np.uint32)
    grid = np.stack(np.meshgrid(edges, edges), axis=-1).reshape(-1, 2)
    any_bits = rng.integers(0, 1 << 32, (60_000, 2), np.uint32)
    close = any_bits.copy()
    close[:, 1] = (any_bits[:, 0] & 0x7F800000) + (rng.integers(-26, 27, len(close)) << 23).astype(np.uint32)
    close[:, 1] ^= rng.integers(0, 1 << 23, len(close), np.uint32) ^ (any_bits[:, 1] & (1 << 31))
    short = close & np.uint32(0xFFFFF000)  # few digits: many exact ties
    neighbours = any_bits.copy()
    neighbours[:, 1] = neighbours[:, 0] + rng.integers(-3, 4, len(neighbours)).astype(np.uint32)
    neighbours[::2, 1] ^= 1 << 31
    low = (rng.integers(0x00700000, 0x01900000, (20_000, 2))).astype(np.uint32)
    far = np.stack([low[:, 0], rng.integers(0x3F000000, 0x41000000, len(low)).astype(np.uint32)], axis=1)
    return np.concatenate([grid, any_bits, close, short, neighbours, low, far, far[:, ::-1]])


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, np.ndarray]:
    """The pairs, and what the Verilog gives for them: uint32 (cycles, 21)."""
    pairs = operand_pairs()
    folder = built_folder(tmp_path_factory, "operators", lambda place: compute(place, pairs))
    return pairs, np.fromfile(folder / "out", np.uint32).reshape(-1, 21)


def compute(folder: Path, pairs: np.ndarray) -> None:
    """Build the operators in a folder, and write what they give for the pairs to `out`."""
    sources = [HERE / "operators.v", HERE / "operators.cpp"]
    sources += [RTL / f"{name}.v" for name in ("delay", "fp32_add", "fp32_div", "fp32_key", "u32_mul", "u32_to_fp32")]
    command = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-Wall", "--top-module", "operators"]
    command += ["-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0"]
    command += ["--Mdir", str(folder), "-o", "bench", *map(str, sources)]
    subprocess.run(command, check=True, capture_output=True)
    flush = np.zeros((max(max(some) for some in LATENCIES.values()), 2), np.uint32)
    np.concatenate([pairs, flush]).tofile(folder / "in")
    subprocess.run([str(folder / "bench"), str(folder / "in"), str(folder / "out")], check=True)


def flushed(numbers: np.ndarray) -> np.ndarray:
    return np.where(np.abs(numbers) < SMALLEST, np.copysign(np.float32(0), numbers), numbers)


def expected(name: str, pairs: np.ndarray) -> np.ndarray:
    """What NumPy says, uint32 (pairs,), NaN as the hardware writes it."""
    if name == "multiply":
        return pairs[:, 0] * pairs[:, 1]
    if name == "convert":
        return pairs[:, 0].astype(np.float32).view(np.uint32)
    a, b = (flushed(np.ascontiguousarray(pairs[:, side]).view(np.float32)) for side in (0, 1))
    with np.errstate(all="ignore"):
        result = flushed({"add": np.add, "subtract": np.subtract, "divide": np.divide}[name](a, b))
    return np.where(np.isnan(result), np.uint32(NAN), result.view(np.uint32))


@pytest.mark.parametrize("latency_set", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_operator_is_numpys(computed: tuple[np.ndarray, np.ndarray], name: str, latency_set: int) -> None:
    pairs, results = computed
    latency = LATENCIES[name][latency_set]
    got = results[latency : latency + len(pairs), 5 * latency_set + NAMES.index(name)]
    want = expected(name, pairs)
    wrong = np.flatnonzero(got != want)
    shown = [f"{pairs[i, 0]:08x} {pairs[i, 1]:08x}: {got[i]:08x}, not {want[i]:08x}" for i in wrong[:5]]
    assert not wrong.size, f"{wrong.size} of {len(pairs)}: {'; '.join(shown)}"


def test_keys_order_as_the_numbers_do(computed: tuple[np.ndarray, np.ndarray]) -> None:
    pairs, results = computed
    keys = results[: len(pairs), 20]
    numbers = np.ascontiguousarray(pairs[:, 0]).view(np.float32)
    nan = np.isnan(numbers)
    assert (keys[nan] == 0).all()
    assert keys[~nan].min() > 0
    order = np.argsort(keys[~nan], kind="stable")
    in_order, their_keys = numbers[~nan][order], keys[~nan][order]
    assert ((in_order[1:] > in_order[:-1]) == (their_keys[1:] > their_keys[:-1])).all()
    assert (in_order[1:] >= in_order[:-1]).all()
