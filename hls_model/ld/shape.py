"""The LD engine of a design: how its units are laid out, and cycles of its steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from hls_model.config import WORD_BITS, Config
from hls_model.errors import ModelError

__all__ = ["COUNT_BITS", "Engine", "engine_of"]

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
