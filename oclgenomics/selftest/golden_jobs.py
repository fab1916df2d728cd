"""A small job of every system, whose result is known: what `oclgenomics doctor --self-test` runs on each device.

Inputs are made by integer arithmetic, so they are the same with every version of NumPy; results are compared with the
oracles, which are plain Python and NumPy.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers import CountOptions, count, reference as kmer_reference
from oclgenomics.kmers.database.keys import keys_of
from oclgenomics.omega import reference as omega_reference
from oclgenomics.omega.api import scan
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.primitives import reference, run_lengths, scan as running_sums, sort
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.selftest.golden_classify import classify, numbers
from oclgenomics.signatures import (
    Panel,
    ScanOptions as SignatureOptions,
    reference as signature_reference,
    scan as scan_signatures,
)
from oclgenomics.sweeps import reference as sweep_reference
from oclgenomics.sweeps.device.patterns import PatternCounter
from oclgenomics.sweeps.sites.used import site_planes
from oclgenomics.variation.alignment import Alignment

SITES, HAPLOTYPES = 240, 96
GRID, MINWIN, MAXWIN = 24, 400, 4000
SWEEP_HAPLOTYPES, SWEEP_WIDTH = 7, 20  # so few that patterns come again
LETTERS = 90_000
SAMPLE_LETTERS = 20_000
ITEMS = 70_001
SIGNAL_COLUMNS, SIGNAL_SAMPLES, SIGNAL_READS = 300, 1100, 70
# Costs, and the columns at which they end, of three reads aligned with a reference.
SIGNAL_COSTS: dict[str, tuple[AlignOptions, list[int], list[int]]] = {
    "default": (AlignOptions(), [351, 426, 6267], [506, 176, 588]),
    "crescent": (CRESCENT, [5354, 5600, 12250], [507, 177, 215]),
    "squigglefilter": (SQUIGGLEFILTER, [-2410, -1346, 8779], [507, 178, 232]),
}
# Of grid positions, omegas and borders as every device computes them in accurate precision.
OMEGA_DIGEST = "b6bf9e885fa19301"


def golden_states() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """States of sites in runs of correlated neighbours, uint8 (SITES, HAPLOTYPES), and their positions in bp."""
    runs = SITES // 6
    founders = (numbers(runs * HAPLOTYPES, 1) % np.uint64(3) == 0).reshape(runs, HAPLOTYPES)
    flips = (numbers(SITES * HAPLOTYPES, 2) % np.uint64(9) == 0).reshape(SITES, HAPLOTYPES)
    states = (founders[np.arange(SITES) // 6] ^ flips).astype(np.uint8)
    states[:, 0], states[:, 1] = 1, 0
    return states, np.cumsum(1 + numbers(SITES, 3) % np.uint64(90)).astype(np.int64)


def _scan(engine: Engine, options: ScanOptions) -> Scan:
    states, positions = golden_states()
    (found,) = scan(Alignment.from_haplotypes(positions, states), options, engine=engine)
    return found


def _omega_accurate(engine: Engine) -> str | None:
    states, positions = golden_states()
    rows = omega_reference.scan(
        omega_reference.pair_values(states), positions, grid=GRID, minwin=MINWIN, maxwin=MAXWIN, minsnps=2
    )
    for kernel in ("1", "2", "tiles"):
        options = ScanOptions(grid=GRID, minwin=MINWIN, maxwin=MAXWIN, minsnps=2, kernel=kernel)
        found = _scan(engine, options)
        if not np.allclose(found.omega, [row[1] for row in rows], rtol=1e-5, atol=0):
            return f"kernel {kernel} differs from the oracle"
        arrays = (found.positions, found.omega, found.left, found.right)
        if hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16] != OMEGA_DIGEST:
            return f"kernel {kernel} has other bytes than on other devices"
    return None


def _omega_compat(engine: Engine) -> str | None:
    if not engine.traits.fp64:
        return None  # the command refuses, and says why
    states, positions = golden_states()
    with np.errstate(divide="ignore", invalid="ignore"):
        values = omega_reference.compat_values(states)
        rows = omega_reference.compat_scan(values, positions, grid=GRID, minwin=MINWIN, maxwin=MAXWIN, minsnps=2)
    options = ScanOptions(grid=GRID, minwin=MINWIN, maxwin=MAXWIN, minsnps=2, precision="compat")
    found = _scan(engine, options)
    same = np.array_equal(np.column_stack([found.omega, found.left, found.right]), [row[1:4] for row in rows])
    return None if same else "differs from the oracle"


def _sweeps(engine: Engine) -> str | None:
    states, positions = golden_states()
    alignment = Alignment.from_haplotypes(positions, states[:, :SWEEP_HAPLOTYPES])
    (found,) = PatternCounter(engine).count([site_planes(alignment)], SWEEP_WIDTH)
    patterns = [sweep_reference.pattern(row) for row in states[:, :SWEEP_HAPLOTYPES].tolist()]
    half = SWEEP_WIDTH // 2
    expected = [
        sweep_reference.pattern_counts(patterns[i : i + half], patterns[i + half : i + SWEEP_WIDTH])
        for i in range(SITES - SWEEP_WIDTH + 1)
    ]
    same = list(zip(found.lone.tolist(), found.pairs.tolist(), strict=True)) == expected
    return None if same else "patterns of windows differ from the oracle"


def _kmers(engine: Engine) -> str | None:
    letters = np.frombuffer(b"ACGT", np.uint8)[numbers(LETTERS, 4) % np.uint64(4)]
    letters[numbers(LETTERS, 5) % np.uint64(900) == 0] = ord("N")
    half = letters[: LETTERS // 2].tobytes()  # twice, the second time broken into lines
    lines = [half[i : i + 60] for i in range(0, len(half), 60)]
    text = b"\n".join([b">whole", letters.tobytes(), b">again", *lines])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "golden.fa")
        path.write_bytes(text + b"\n")
        for k in (21, 43):
            options = CountOptions(k)
            found, expected = count([path], options, engine=engine), kmer_reference.count([text], options)
            same = np.array_equal(found.keys, keys_of(list(expected)))
            if not same or found.counts.tolist() != list(expected.values()):
                return f"the counts of k-mers of {k} bases differ from the oracle"
    return None


def _signatures(engine: Engine) -> str | None:
    letters = np.frombuffer(b"ACGTN", np.uint8)[numbers(SAMPLE_LETTERS, 8) % np.uint64(5)]
    qualities = (numbers(SAMPLE_LETTERS, 9) % np.uint64(41) + np.uint64(33)).astype(np.uint8)
    sizes = [4, 9, 25, 60, 300]
    starts = (numbers(len(sizes), 10) % np.uint64(SAMPLE_LETTERS - max(sizes))).tolist()
    parts = [letters[start : start + size].tobytes().decode() for start, size in zip(starts, sizes, strict=True)]
    panel = Panel.from_signatures((f"part{size}", part) for size, part in zip(sizes, parts, strict=True))
    sample, scores = letters.tobytes().decode(), qualities.tobytes().decode()
    found = [
        (name, match.start, match.mismatches, match.quality_sum, match.error_units)
        for name, part in zip(panel.names, parts, strict=True)
        for match in signature_reference.matches(sample, scores, part, max_mismatches=1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "golden.fq")
        path.write_text(f"@golden\n{sample}\n+\n{scores}\n")
        for method in ("index", "planes", "brute"):
            options = SignatureOptions(report="all", max_mismatches=1, method=method)
            rows = scan_signatures(path, panel, options, engine=engine).matches
            columns = (rows.start, rows.mismatches, rows.quality_sum, rows.error_units)
            names = [panel.names[number] for number in rows.signature.tolist()]
            if list(zip(names, *(column.tolist() for column in columns), strict=True)) != found:
                return f"method {method} differs from the oracle"
    return None


def golden_signals() -> tuple[Squiggle, NDArray[np.int16], NDArray[np.int64]]:
    """A reference of two tracks; samples of three reads, of which one is of the reference; where reads begin."""
    levels = 60 + (numbers(2 * SIGNAL_COLUMNS, 11) % np.uint64(60)).astype(np.float64)
    reference = Squiggle(
        name="golden", records=("golden",), lengths=np.array([SIGNAL_COLUMNS + 5]), k=6, model="golden",
        molecule="dna", levels=levels, tracks=np.array([0, SIGNAL_COLUMNS, 2 * SIGNAL_COLUMNS]),
        track_record=np.zeros(2, np.int32), track_strand=np.array([0, 1], np.uint8),
        track_first=np.array([0, SIGNAL_COLUMNS - 1]),
    )  # fmt: skip
    noise = (numbers(3 * SIGNAL_SAMPLES, 12) % np.uint64(40)).astype(np.int64).reshape(3, -1)
    others = (numbers(SIGNAL_COLUMNS, 13) % np.uint64(60)).astype(np.int64) + 60
    steps = np.arange(SIGNAL_SAMPLES) // 7
    signals = np.stack([levels[SIGNAL_COLUMNS + 50 + steps], levels[20 + steps], others[steps]]).astype(np.int64)
    samples = (5 * signals + noise).astype(np.int16)
    return reference, samples.reshape(-1), np.arange(SIGNAL_READS) % 3 * SIGNAL_SAMPLES


def _signals(engine: Engine) -> str | None:
    reference, samples, first = golden_signals()
    for name, (options, costs, columns) in SIGNAL_COSTS.items():
        found = Aligner(engine, [reference], options).align(samples, first, SIGNAL_SAMPLES)
        read = first // SIGNAL_SAMPLES
        expected = np.column_stack([np.array(costs)[read], np.array(columns)[read]])
        if not np.array_equal(np.column_stack([found.cost, found.column]), expected):
            return f"costs of alignments ({name}) differ from those known"
    return None


def _primitives(engine: Engine) -> str | None:
    items = numbers(ITEMS, 6)
    heads = (numbers(ITEMS, 7) % np.uint64(50) == 0).astype(np.uint8)
    few = items % np.uint64(1000)
    places = np.arange(ITEMS, dtype=np.uint32)
    ordered = sort(engine, engine.upload(few), engine.upload(places), bits=10)
    assert ordered.values is not None
    order = np.argsort(few, kind="stable")
    if not np.array_equal(engine.download(ordered.values, ITEMS), order):
        return "sort differs from the oracle"
    sums = engine.download(running_sums(engine, engine.upload(items), heads=engine.upload(heads), inclusive=True))
    if not np.array_equal(sums, reference.scan(items, heads, inclusive=True)):
        return "segmented sums differ from the oracle"
    runs = run_lengths(engine, engine.upload(few[order]))
    if not np.array_equal(engine.download(runs.counts, 1000), np.bincount(few.astype(np.int64))):
        return "lengths of runs differ from the oracle"
    return None


JOBS: dict[str, Callable[[Engine], str | None]] = {
    "primitives": _primitives,
    "classify query": classify,
    "kmers count": _kmers,
    "signatures scan": _signatures,
    "sdtw align": _signals,
    "omega scan, accurate": _omega_accurate,
    "omega scan, compat": _omega_compat,
    "sweeps scan": _sweeps,
}
