"""The LD engine on the card: an array of population counters, and pipelines that turn counts into r2.

Genotypes lie in the card's memory word by word: word k of all SNPs, then word k + 1. A tile is `ld_tile_snps` SNPs on
either side; for every k the engine loads the tile's words once and each unit takes one pair of them a cycle: AND,
population count, and an accumulator for each of its pairs. So the chip holds no whole haplotypes, however many there
are. While the counts of one tile leave through the r2 pipelines, the next tile is counted in a second set of
accumulators. Counts of single SNPs are taken beside the loads.
"""

from __future__ import annotations

from hls_model.ld.timing import LdTiming, tile_pairs, time_ld

__all__ = ["LdTiming", "tile_pairs", "time_ld"]
