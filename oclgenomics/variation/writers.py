"""Writers of simulated alignments: Hudson's ms format and VCF, whole blocks of characters at a time.

All write to a binary stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.packed_file import Sink

MISSING = 255  # state of a missing call
_STATE_BLOCK_BYTES = 1 << 23


def distinct_ticks(positions: NDArray[np.float64], ticks: int) -> NDArray[np.int64]:
    """Positions as distinct whole ticks: rounded down, and moved to the next free tick where two fall together.

    Parameters
    ----------
    positions : float64 (sites,)
        Ascending, in [0, 1).
    ticks : int
        Ticks in the region.

    Returns
    -------
    int64 (sites,)
        Strictly ascending, in [0, ticks); only ascending where there are more sites than ticks.
    """
    index = np.arange(len(positions))
    at = np.minimum((positions * ticks).astype(np.int64), ticks - 1)
    at = np.maximum.accumulate(at - index) + index
    latest = ticks - 1 - index[::-1]  # what the end of the region leaves room for
    return np.maximum(np.minimum(at, latest), 0)


def write_ms_head(stream: Sink, program: str, samples: int, replicates: int, arguments: str, seed: int) -> None:
    """Command line (program, haplotypes, replicates, arguments) and seed, each on a line of its own."""
    stream.write(f"{program} {samples} {replicates} {arguments}\n{seed}\n".encode())


def write_ms_replicate(
    stream: Sink, positions: NDArray[np.float64], rows: Iterable[NDArray[np.uint8]], digits: int
) -> None:
    """One replicate of an ms file.

    Parameters
    ----------
    positions : float64 (sites,)
        Ascending, as fractions of the region in [0, 1).
    rows : iterable of uint8 (block, sites)
        Haplotypes: 0, 1 or `MISSING`, which becomes "N".
    digits : int
        Decimals of the positions.
    """
    stream.write(f"\n//\nsegsites: {len(positions)}\n".encode())
    if not len(positions):
        return  # ms leaves out positions and rows then
    ticks = distinct_ticks(positions, 10**digits)
    stream.write(b"positions: " + b" ".join(b"0.%0*d" % (digits, tick) for tick in ticks.tolist()) + b"\n")
    characters = np.full(256, ord("N"), np.uint8)
    characters[:2] = ord("0"), ord("1")
    for block in rows:
        lines = np.empty((block.shape[0], block.shape[1] + 1), np.uint8)
        np.take(characters, block, out=lines[:, :-1])
        lines[:, -1] = ord("\n")
        stream.write(lines.tobytes())


def site_blocks(rows: Iterable[NDArray[np.uint8]], sites: int) -> Iterator[NDArray[np.uint8]]:
    """Haplotype rows of 0 and 1, turned into blocks of sites: uint8 (block, haplotypes). One bit per entry is held."""
    packed = np.concatenate([np.packbits(block, axis=1) for block in rows])
    width = max(8, _STATE_BLOCK_BYTES // len(packed) // 8 * 8)
    for start in range(0, sites, width):
        count = min(width, sites - start)
        bits = np.unpackbits(packed[:, start // 8 : (start + width) // 8], axis=1, count=count)
        yield np.ascontiguousarray(bits.T)


def write_vcf_head(stream: Sink, source: str, contigs: Sequence[tuple[str, int]], samples: Sequence[str]) -> None:
    """Header of a VCF.

    Parameters
    ----------
    source : str
        Program and its arguments.
    contigs : sequence of (name, length in bp)
    samples : sequence of str
    """
    lines = ["##fileformat=VCFv4.2", f"##source={source}", '##FILTER=<ID=PASS,Description="All filters passed">']
    lines += [f"##contig=<ID={name},length={length}>" for name, length in contigs]
    lines += ['##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">']
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *samples]
    stream.write("\n".join([*lines, "\t".join(columns), ""]).encode())


def write_vcf_sites(
    stream: Sink,
    contig: str,
    positions: NDArray[np.int64],
    letters: Sequence[str],
    states: NDArray[np.uint8],
    unphased: NDArray[np.bool_] | None,
) -> None:
    """Some records of a VCF, with genotypes only.

    Parameters
    ----------
    positions : int64 (sites,)
        In bp, counted from 1.
    letters : sequence of str, one per site
        Bases of states 0, 1 and 2.
    states : uint8 (sites, haplotypes)
        Alleles 0, 1, 2 or `MISSING`.
    unphased : bool (sites, haplotypes / 2) or None
        Diploid samples, haplotypes 2s and 2s + 1 being sample s, and which of their calls are written with "/"; None:
        haploid samples.
    """
    characters = np.full(256, ord("."), np.uint8)
    characters[:3] = ord("0"), ord("1"), ord("2")
    ploidy = 1 if unphased is None else 2
    calls = np.empty((len(states), states.shape[1] // ploidy, 2 * ploidy), np.uint8)
    calls[:, :, 0] = ord("\t")
    calls[:, :, 1::2] = characters[states].reshape(calls.shape[0], calls.shape[1], ploidy)
    if unphased is not None:
        calls[:, :, 2] = np.where(unphased | (states[:, ::2] == MISSING), ord("/"), ord("|"))
    third = (states == 2).any(axis=1)
    lines = []
    for site, (position, bases) in enumerate(zip(positions.tolist(), letters, strict=True)):
        alternative = ",".join(bases[1:3]) if third[site] else bases[1]
        lines.append(f"{contig}\t{position}\t.\t{bases[0]}\t{alternative}\t.\tPASS\t.\tGT".encode())
        lines.append(calls[site].tobytes() + b"\n")
    stream.write(b"".join(lines))
