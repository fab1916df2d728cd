"""Cycles and bytes of the LD engine over a scan."""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.config import Config
from hls_model.ld.shape import R2_BYTES, Engine, engine_of
from hls_model.reach import blocks_of, reaches
from hls_model.workload import Workload

__all__ = ["LdTiming", "tile_pairs", "time_ld"]


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
