"""Bit planes: each pattern compared with each piece, hundreds of starts at once.

A pattern is a program: the planes that it asks for, in the order that excludes starts soonest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.primitives import scan
from oclgenomics.primitives.keys import scan_lanes
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.signatures.device.pairs import ListRound, PairMatcher, PairRound
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters, group_sums
from oclgenomics.signatures.panels.letters import ANY, is_concrete
from oclgenomics.signatures.panels.panel import Patterns

SOURCE = "signatures/planes.cl"
CPU_ALIGN, GPU_ALIGN = 8, 32  # positions at their multiples need no shift
SHARED_LETTERS = 32 * 32  # of a piece: from here on a work-group of a GPU shares a pair
FEW_PAIRS = 1 << 14  # so do those of shorter pieces if there are so few pairs
MAKE_PLANES = "signatures/make_planes.cl"
CPU_BLOCK, GPU_BLOCK = 16, 1  # words that pieces start at multiples of; as planes.clh has them
PADDING = 64  # words of 0 behind the last piece, which windows reach into
# The records of planes.cl.
COLUMN = np.dtype(
    [(name, np.uint64) for name in ("begin", "concrete", "least_sum")]
    + [(name, np.uint32) for name in ("turn", "end", "length", "least_informative", "concrete_letters", "unused")]
)
JOB = np.dtype(
    [(name, np.uint64) for name in ("stride", "single", "skip")]
    + [(name, np.uint32) for name in ("text_size", "scored", "spare", "row", "column", "columns", "pairs", "together")]
)
POSITION_BITS = 28
MAX_LETTERS = 1 << POSITION_BITS  # of a pattern
HEADS = 8, 12, 16, 24, 32  # steps to take at once, before survivors are looked for
STARTS = 512  # of a window of CPUs; GPUs' windows of 32 starts are looked at side by side
FEW_SURVIVORS = 0.03  # of a window
SIZES = np.array([bin(bases).count("1") for bases in range(16)], np.uint8)
FIRST_STEPS = 32  # as planes.cl has it
LOT = 1 << 20  # letters of patterns at a time, for which some arrays of that length are made


@dataclass(frozen=True)
class Programs:
    """Programs of some patterns.

    A step is a plane and a position: of all starts, those stay whose letter at this position is in the plane. Letters N
    exclude nothing and are left out. Steps at multiples of `align` come first, for which planes are read as they lie.
    Of both kinds, letters that stand for fewer nucleotides come before others.

    Attributes
    ----------
    sets : ndarray, uint8
        The set of each plane, the last one of which is N's.
    steps : ndarray, uint32
        Plane << 28 | position.
    begins : ndarray, uint64 (patterns + 1,)
        Pattern i has steps[begins[i] : begins[i + 1]].
    turns : ndarray, uint64 (patterns,)
        Where those begin that are at no multiple of `align`.
    first_steps : ndarray, uint32 (patterns, 32)
        The first steps at multiples of `align`, then steps that exclude nothing.
    """

    sets: NDArray[np.uint8]
    steps: NDArray[np.uint32]
    begins: NDArray[np.uint64]
    turns: NDArray[np.uint64]
    first_steps: NDArray[np.uint32]

    @property
    def aligned(self) -> NDArray[np.int64]:
        """How many steps of each pattern are at multiples of `align`."""
        return (self.turns - self.begins[:-1]).astype(np.int64)


def make_programs(patterns: Patterns, numbers: NDArray[np.uint32], *, align: int) -> Programs:
    """Make the programs of some patterns.

    Raises
    ------
    ParameterError
        A pattern has more than 2^28 bases.
    """
    longest = int(patterns.lengths[numbers].max(initial=0))
    if longest > MAX_LETTERS:
        text = f"a signature of {longest} bases is too long for planes; choose brute"
        raise ParameterError("method", text, "planes")
    sets = np.append(np.flatnonzero(np.bincount(patterns.sets, minlength=16)[:ANY]), ANY).astype(np.uint8)
    plane_of = np.searchsorted(sets, np.arange(16)).astype(np.uint32)
    ends = np.cumsum(patterns.lengths[numbers])
    parts = [_steps(patterns, numbers[:0], plane_of, align)]
    first = 0
    while first < len(numbers):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + LOT, side="right")))
        parts.append(_steps(patterns, numbers[first:last], plane_of, align))
        first = last
    steps, sizes, aligned = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    begins = np.concatenate([[0], np.cumsum(sizes)])
    turns = begins[:-1] + aligned
    places = begins[:-1, None] + np.arange(FIRST_STEPS)
    idle = np.uint32(plane_of[ANY] << POSITION_BITS)
    first_steps = np.append(steps, idle)[np.where(places < turns[:, None], places, -1)]
    return Programs(sets, steps, begins.astype(np.uint64), turns.astype(np.uint64), first_steps)


def _steps(
    patterns: Patterns, numbers: NDArray[np.uint32], plane_of: NDArray[np.uint32], align: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Steps of some patterns, how many each has, and how many of these are at multiples of `align`."""
    lengths = patterns.lengths[numbers]
    sets = np.concatenate([np.empty(0, np.uint8), *(patterns.of(number) for number in numbers.tolist())])
    position = (np.arange(len(sets)) - np.repeat(np.cumsum(lengths) - lengths, lengths)).astype(np.uint32)
    pattern = np.repeat(np.arange(len(numbers)), lengths)
    used = sets != ANY
    sets, position, pattern = sets[used], position[used], pattern[used]
    rank = SIZES[sets] - 1 + 3 * (position % align != 0).astype(np.uint8)  # 0 to 5, in this order
    counts = np.bincount(pattern * 6 + rank, minlength=6 * len(numbers)).reshape(-1, 6)
    # One sort by ranks, in which patterns and positions keep their order; then each step goes to where its pattern is.
    to = np.cumsum(counts).reshape(counts.shape) - counts
    runs = counts.T.ravel()
    places = np.repeat(to.T.ravel() - (np.cumsum(runs) - runs), runs) + np.arange(len(sets))
    steps = np.empty(len(sets), np.uint32)
    steps[places] = (plane_of[sets] << POSITION_BITS | position)[np.argsort(rank, kind="stable")]
    return steps, counts.sum(axis=1), counts[:, :3].sum(axis=1)


def head_steps(ambiguous: float, mismatches: int, aligned: float) -> int:
    """Return how many steps to take at once, so that few windows have survivors afterwards.

    Parameters
    ----------
    ambiguous : float
        Share of the letters of samples that are no single nucleotide.
    mismatches : int
        Mismatches that a match may have.
    aligned : float
        Steps at aligned positions that programs have: to take more at once excludes nothing.
    """
    stays = ambiguous + (1 - ambiguous) / 4  # the chance that a step leaves a start
    for head in HEADS:
        chances = (comb(head, n) * (1 - stays) ** n * stays ** (head - n) for n in range(mismatches + 1))
        if STARTS * sum(chances) < FEW_SURVIVORS or head >= aligned:
            return head
    return HEADS[-1]


def concrete_bits(patterns: Patterns, numbers: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return which letters of some patterns are single nucleotides.

    Returns
    -------
    bits : ndarray, uint32
        Letter i of a pattern is bit i & 31 of its word i >> 5; each pattern begins with a word.
    begins : ndarray, uint64 (patterns + 1,)
        Where the words of each pattern are.
    """
    words = -(-patterns.lengths[numbers] // 32)
    begins = np.concatenate([[0], np.cumsum(words)]).astype(np.uint64)
    bits = np.zeros(int(begins[-1]), "<u4")
    for number, begin in zip(numbers.tolist(), begins.tolist(), strict=False):
        packed = np.packbits(is_concrete(patterns.of(number)), bitorder="little")
        bits.view(np.uint8)[4 * begin :][: len(packed)] = packed
    return bits.astype(np.uint32, copy=False), begins


@dataclass(frozen=True)
class BitPlanes:
    """Planes of some pieces; kernels_cl/signatures/planes.clh has the layout.

    Attributes
    ----------
    planes : DeviceArray, uint32 (planes, stride)
    stride : int
        Words of a plane.
    places : ndarray, uint32 (pieces,)
        The first word of each piece.
    single : int
        The plane of single nucleotides, if it is there.
    ranks : DeviceArray, uint32 (stride,), or None
        Single nucleotides before each word.
    """

    planes: DeviceArray
    stride: int
    places: NDArray[np.uint32]
    single: int
    ranks: DeviceArray | None


def make_planes(
    engine: Engine, samples: SampleLetters, pieces: NDArray[np.uint32], sets: NDArray[np.uint8], *, singles: bool
) -> BitPlanes:
    """Make the planes of some pieces.

    Parameters
    ----------
    engine : Engine
    samples : SampleLetters
    pieces : ndarray, uint32
        Their numbers, at least one.
    sets : ndarray, uint8
        The set of each plane.
    singles : bool
        Make a plane of single nucleotides, too, and its ranks.
    """
    block = CPU_BLOCK if engine.tuning.cpu else GPU_BLOCK
    words = -(-samples.block.pieces.size[pieces].astype(np.int64) // (32 * block)) * block
    places = (np.cumsum(words) - words).astype(np.uint32)
    stride = int(words.sum()) + PADDING
    kinds = np.append(sets, np.uint8(0)) if singles else sets
    planes = engine.empty((len(kinds), stride), np.uint32)
    ranks = engine.empty(stride, np.uint32) if singles else None
    made = BitPlanes(planes, stride, places, len(sets), ranks)
    engine.launch_items(
        engine.kernel(MAKE_PLANES, "make_planes", CPU=engine.tuning.cpu, FILTERED=singles), stride // block,
        codes=samples.codes, text_size=samples.block.text.size, pieces=engine.upload(samples.records[pieces]),
        places=engine.upload(places), rows=len(pieces), sets=engine.upload(kinds), count=len(kinds), stride=stride,
        planes=planes, ranks=ranks,
    )  # fmt: skip
    if ranks is not None:
        scan(engine, ranks, out=ranks)
    return made


class PlanesMatcher(PairMatcher):
    """Compares planes of pieces; parameters are those of `PairMatcher`.

    Raises
    ------
    ParameterError
        A pattern is too long.
    """

    def __init__(
        self, engine: Engine, patterns: DevicePatterns, which: NDArray[np.integer[Any]] | None = None, **most: int
    ) -> None:
        super().__init__(engine, patterns, which, **most)
        self._counters = patterns.max_mismatches.bit_length()
        self._program = self._upload_programs()

    def _upload_programs(self) -> dict[str, Any]:
        """Programs of the patterns, as kernels take them."""
        engine, patterns, numbers = self._engine, self._patterns, self._numbers
        programs = make_programs(patterns.patterns, numbers, align=CPU_ALIGN if engine.tuning.cpu else GPU_ALIGN)
        self._sets, self._aligned = programs.sets, float(np.median(programs.aligned)) if len(numbers) else 0.0
        columns = np.zeros(len(numbers), COLUMN)
        _, columns["length"], columns["least_sum"], columns["least_informative"] = patterns.records[numbers].T
        columns["begin"], columns["turn"] = programs.begins[:-1], programs.aligned
        columns["end"] = np.diff(programs.begins)
        concrete = None
        if patterns.filtered:
            bits, begins = concrete_bits(patterns.patterns, numbers)
            columns["concrete"], concrete = begins[:-1], engine.upload(bits)
            letters = (is_concrete(patterns.patterns.of(number)).sum() for number in numbers.tolist())
            columns["concrete_letters"] = list(letters)
        return {
            "patterns": engine.upload(columns.view(np.uint8)),
            "steps": engine.upload(programs.steps),
            "first_steps": engine.upload(programs.first_steps),
            "concrete": concrete,
        }

    def _finder(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[PairRound], None]:
        kernel = self._kernel("match_planes", samples, rows)
        arguments, job = self._arguments(samples, rows, scored=samples.has_qualities)
        letters = int(samples.block.pieces.size[rows].sum(dtype=np.int64))
        long = letters >= SHARED_LETTERS * len(rows)

        def find(lot: PairRound) -> None:
            job["together"] = self._engine.tuning.cpu or long or lot.pairs <= FEW_PAIRS
            for name in ("row", "column", "columns", "pairs"):
                job[name] = getattr(lot, name)
            groups = lot.pairs if job["together"] else -(-lot.pairs // self._lanes)
            self._launch(kernel, groups, job, **arguments, found=lot.found, table=lot.table)

        return find

    def _lister(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[ListRound], None]:
        kernel = self._kernel("list_starts", samples, rows)
        # All starts of a pair are listed, so qualities only say which windows pass a filter.
        arguments, job = self._arguments(samples, rows, scored=samples.has_qualities and self._patterns.filtered)

        def fill(lot: ListRound) -> None:
            self._launch(kernel, lot.pairs, job, **arguments, listed=lot.listed, starts=lot.starts)

        return fill

    @property
    def _lanes(self) -> int:
        """Work-items of a group."""
        return 1 if self._engine.tuning.cpu else scan_lanes(self._engine)[0]

    def _launch(self, kernel: Kernel, groups: int, job: NDArray[Any], **arguments: Any) -> None:
        lanes, on_device = self._lanes, self._engine.upload(job.view(np.uint8))
        self._engine.launch(kernel, (groups * lanes,), (lanes,), job=on_device, **arguments)

    def _arguments(
        self, samples: SampleLetters, rows: NDArray[np.uint32], *, scored: bool
    ) -> tuple[dict[str, Any], NDArray[Any]]:
        """What all launches for a block have in common, and their job; without rows nothing is launched.

        Only where windows are scored are qualities summed up, which takes a pass over the whole text.
        """
        job = np.zeros(1, JOB)
        if not len(rows):
            return {}, job
        engine, text = self._engine, samples.block.text
        made = make_planes(engine, samples, rows, self._sets, singles=self._patterns.filtered)
        spare = (1 << self._counters) - 1 - self._patterns.max_mismatches
        facts = {"stride": made.stride, "single": made.single, "skip": text.skip, "text_size": text.size}
        for name, value in {**facts, "scored": scored, "spare": spare}.items():
            job[name] = value
        records = np.column_stack([samples.records[rows, 1:], made.places])
        sums = group_sums(engine, text, self._sum) if scored else None
        block = {"planes": made.planes, "ranks": made.ranks, "sums": sums, "memory": text.memory}
        return {"rows": engine.upload(records), **self._program, **block}, job

    def _kernel(self, name: str, samples: SampleLetters, rows: NDArray[np.uint32]) -> Kernel:
        letters = int(samples.block.pieces.owned[rows].sum(dtype=np.int64))
        ambiguous = int(samples.ambiguous[rows].sum()) / max(1, letters)
        head = head_steps(ambiguous, self._patterns.max_mismatches, self._aligned)
        lanes, root = (1, 1) if self._engine.tuning.cpu else scan_lanes(self._engine)
        return self._engine.kernel(
            SOURCE, name, CPU=self._engine.tuning.cpu, HEAD=head, COUNTERS=self._counters,
            FILTERED=self._patterns.filtered, SUM=self._sum, LANES=lanes, ROOT=root,
        )  # fmt: skip
