"""The LD engine on the card: an array of population counters, and pipelines that turn counts into r2.

Genotypes lie in the card's memory word by word: word k of all SNPs, then word k + 1. A tile is `ld_tile_snps` SNPs on
either side; for every k the engine loads the tile's words once and each unit takes one pair of them a cycle: AND,
population count, and an accumulator for each of its pairs. So the chip holds no whole haplotypes, however many there
are. While the counts of one tile leave through the r2 pipelines, the next tile is counted in a second set of
accumulators. Counts of single SNPs are taken during the loads.

`count_tile` and `r2_of` compute what the engine does, in its order.

>>> import numpy as np
>>> words = pack_words(np.array([[0, 1, 1, 0], [0, 1, 1, 1]], bool), word_bits=8)
>>> pairs, singles = count_tile(words, words)
>>> pairs.tolist(), singles[0].tolist()
([[2, 2], [2, 3]], [2, 3])
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.errors import ModelError
from hls_model.workload import Workload, blocks_of, reaches

COUNT_BITS = 24  # of an accumulator: float32 holds such counts exactly
FMUL_CYCLES = 4  # of a float32 multiplier at 250 MHz, as HLS reports
R2_BYTES = 4


@dataclass(frozen=True)
class Engine:
    """The array of a design and the samples that it counts over.

    Attributes
    ----------
    rows, columns : int
        Units side by side; each cycle, every row and every column has one SNP's word.
    tile : int
        SNPs on either side of a tile.
    words : int
        Words of a SNP.
    word_bytes : int
        Bytes of a word.
    port_bytes : int
        Bytes that the memory ports bring in a cycle.
    r2_units : int
        Pipelines that turn counts into r2, one pair a cycle each.
    latency : int
        Cycles from a read request to its first data.
    depth : int
        Cycles from a pair's last word to its r2.
    """

    rows: int
    columns: int
    tile: int
    words: int
    word_bytes: int
    port_bytes: int
    r2_units: int
    latency: int
    depth: int

    @property
    def rounds(self) -> int:
        """Cycles in which the units take one word of every pair of a tile; also the accumulators of a unit."""
        return -(-self.tile // self.rows) * -(-self.tile // self.columns)

    @property
    def load_cycles(self) -> int:
        """Cycles to load one word of every SNP of a tile, through the ports."""
        return -(-2 * self.tile * self.word_bytes // self.port_bytes)

    @property
    def step_cycles(self) -> int:
        """Cycles of a word of every SNP: counted while the next one is loaded, so the longer of the two."""
        return max(self.rounds, self.load_cycles)

    @property
    def count_cycles(self) -> int:
        """Cycles to count a tile."""
        return self.words * self.step_cycles

    @property
    def drain_cycles(self) -> int:
        """Cycles in which a tile's counts leave as r2: bound by the pipelines, or by the ports that write."""
        return max(-(-(self.tile**2) // self.r2_units), -(-R2_BYTES * self.tile**2 // self.port_bytes))


def engine_of(config: Config, samples: int) -> Engine:
    """Return the engine of a design for haplotypes of some samples.

    Raises
    ------
    ModelError
        More samples than an accumulator counts.
    """
    if samples >= 1 << COUNT_BITS:
        raise ModelError(
            f"{samples:,} haplotypes; the accumulators of the LD engine count to {(1 << COUNT_BITS) - 1:,}: take "
            "fewer, or ld=published"
        )
    rows = next(side for side in range(isqrt(config.ld_units), 0, -1) if config.ld_units % side == 0)
    op = config.latencies
    compressed = max(1, (config.ld_word_bits - 1).bit_length())  # one level of the adder tree a cycle
    return Engine(
        rows=rows,
        columns=config.ld_units // rows,
        tile=config.ld_tile_snps,
        words=-(-samples // config.ld_word_bits),
        word_bytes=config.ld_word_bits // 8,
        port_bytes=config.memory.words_per_beat * WORD_BITS // 8,
        r2_units=config.ld_r2_units,
        latency=config.latency,
        depth=compressed + 1 + op.imul + op.iadd + op.i2f + FMUL_CYCLES + op.fdiv,
    )


@dataclass(frozen=True)
class LdTiming:
    """The LD engine over a scan.

    Attributes
    ----------
    engine : Engine
        The array.
    tiles : int
        Pairs of tiles that are counted; those at the edge of what is needed are counted as a whole.
    """

    engine: Engine
    tiles: int

    @property
    def cycles(self) -> int:
        """Cycles with the counts of one tile leaving while the next is counted; memory that keeps up with the ports."""
        if not self.tiles:
            return 0
        engine = self.engine
        first = engine.latency + engine.load_cycles + engine.rounds + (engine.words - 1) * engine.step_cycles
        others = (self.tiles - 1) * max(engine.count_cycles, engine.drain_cycles)
        return first + others + engine.depth + engine.drain_cycles

    @property
    def serial_cycles(self) -> int:
        """Cycles of an engine that finishes each tile, r2 included, before it loads the next one."""
        engine = self.engine
        one = engine.latency + engine.load_cycles + engine.count_cycles + engine.depth + engine.drain_cycles
        return self.tiles * one

    @property
    def bytes_read(self) -> int:
        """Bytes of genotypes from the card's memory."""
        return self.tiles * self.engine.words * 2 * self.engine.tile * self.engine.word_bytes

    @property
    def bytes_written(self) -> int:
        """Bytes of r2 into the card's memory."""
        return self.tiles * R2_BYTES * self.engine.tile**2

    @property
    def word_pairs(self) -> int:
        """Pairs of words that the units take."""
        return self.tiles * self.engine.words * self.engine.tile**2

    @property
    def bound(self) -> str:
        """What sets the time of a tile: 'units', 'ports' or 'r2 pipelines'."""
        engine = self.engine
        if engine.drain_cycles > engine.count_cycles:
            by_ports = -(-R2_BYTES * engine.tile**2 // engine.port_bytes)
            return "ports" if by_ports == engine.drain_cycles else "r2 pipelines"
        return "ports" if engine.load_cycles > engine.rounds else "units"


def tile_pairs(workload: Workload, tile: int, *, all_pairs: bool = False) -> int:
    """Return how many pairs of tiles hold the pairs of SNPs of a scan.

    Parameters
    ----------
    workload : Workload
    tile : int
        SNPs of a tile.
    all_pairs : bool
        Every tile with every other, both ways, as the square of the SNPs counts; else each tile with itself and those
        to its right up to the last SNP with which one of its SNPs shares a window.
    """
    if all_pairs:
        return (-(-workload.snps // tile)) ** 2
    blocks = blocks_of(reaches(workload), tile)
    return int((blocks.last // tile - blocks.number + 1).sum())


def time_ld(workload: Workload, config: Config, *, all_pairs: bool = False) -> LdTiming:
    """Time the LD of a scan, whose samples have to be known, on the design's engine.

    Raises
    ------
    ModelError
        More samples than an accumulator counts.
    """
    tiles = tile_pairs(workload, config.ld_tile_snps, all_pairs=all_pairs)
    return LdTiming(engine_of(config, workload.samples), tiles)


Counts = NDArray[np.int64]


def pack_words(states: NDArray[np.bool_], word_bits: int) -> NDArray[np.uint8]:
    """Return haplotypes as the card's memory has them: word k of every SNP, then word k + 1.

    Parameters
    ----------
    states : ndarray, bool (snps, samples)
        True for the derived state.
    word_bits : int
        Bits of a word, a multiple of 8; the last word is filled up with zeros.

    Returns
    -------
    ndarray, uint8 (words, snps, word_bits / 8)
    """
    snps, samples = states.shape
    words = -(-samples // word_bits)
    filled = np.zeros((snps, words * word_bits), bool)
    filled[:, :samples] = states
    packed: NDArray[np.uint8] = np.packbits(filled, axis=1).reshape(snps, words, word_bits // 8)
    return np.ascontiguousarray(packed.transpose(1, 0, 2))


def count_tile(rows: NDArray[np.uint8], columns: NDArray[np.uint8]) -> tuple[Counts, tuple[Counts, Counts]]:
    """Count one pair of tiles.

    Parameters
    ----------
    rows, columns : ndarray, uint8 (words, snps, bytes)
        The words of the SNPs on either side.

    Returns
    -------
    pairs : ndarray, int64 (rows, columns)
        Samples with the derived state at both SNPs.
    singles : tuple of ndarray, int64
        The same at each SNP of either side.
    """
    pairs = np.zeros((rows.shape[1], columns.shape[1]), np.int64)
    singles = np.zeros(rows.shape[1], np.int64), np.zeros(columns.shape[1], np.int64)
    for row, column in zip(rows, columns, strict=True):  # a step of the engine: one word of each SNP
        pairs += np.bitwise_count(row[:, None] & column[None]).sum(axis=2, dtype=np.int64)
        for single, words in zip(singles, (row, column), strict=True):
            single += np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return pairs, singles


def r2_of(pairs: Counts, rows: Counts, columns: Counts, samples: int) -> NDArray[np.float32]:
    """Return r2 of counts, Eq. (1) of the paper with both sides times the samples to the fourth.

    The products of counts are exact integers; the rest is float32. SNPs of one state have an r2 of 0.
    """
    difference = (pairs * samples - rows[:, None] * columns[None]).astype(np.float32)
    spread = (rows * (samples - rows)).astype(np.float32)[:, None] * (columns * (samples - columns)).astype(np.float32)
    found: NDArray[np.float32] = np.zeros_like(difference)
    np.divide(difference * difference, spread, out=found, where=spread > 0)
    return found
