"""One entry for all formats."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..errors import UsageError
from .alignment import Alignment
from .fasta import read_fasta
from .macs import read_macs
from .ms import read_ms
from .samples import sample_names
from .sniff import FORMATS, sniff
from .source import Progress, Source
from .stores import STORES, store_format
from .trees import read_trees
from .vcf import read_vcf
from .vcf_zarr import read_vcf_zarr
from .window import ByteWindow

__all__ = ["BLOCK_BYTES", "read_alignments"]

BLOCK_BYTES = 4 << 20


def read_alignments(
    path: str | os.PathLike[str],
    *,
    length: float | None = None,
    format: str | None = None,
    samples: Iterable[str] | str | os.PathLike[str] | None = None,
    phase: str = "auto",
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
) -> Iterator[Alignment]:
    """Read the alignments of an input one after the other; one is in memory at a time.

    Parameters
    ----------
    path : str or path-like
        File, plain, gzip or bgzip, or "-" for standard input; a tree sequence, or the folder or zip file of a VCF Zarr.
    length : float, optional
        Length of the region in bp; needed by ms and MaCS, whose positions are relative.
    format : str, optional
        'ms', 'mbs', 'macs', 'fasta', 'vcf', 'trees' or 'vcz'; told from the content if not given.
    samples : iterable of str, or path, optional
        Samples to keep (VCF, VCF Zarr, tree sequences), or a file with one name a line.
    phase : str
        'auto': a heterozygous call with '/' sets `Alignment.unphased`; 'ignore': '/' is taken as phased.
    block_bytes : int
        Bytes of input held at a time, unpacked; VCF Zarr also holds the chunks that it comes in. Results never depend
        on it.
    progress : callable, optional
        Called with (bytes read, bytes in all or None) as stored on disk; for VCF Zarr, of unpacked genotypes.

    Yields
    ------
    Alignment

    Raises
    ------
    InputError
        Anything wrong with the input; the message names the line.
    UsageError
        An unknown `format` or `phase`, or samples to keep where individuals have no names.
    MissingDependencyError
        A tree sequence without tskit, or a VCF Zarr without zarr.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; one of {', '.join(FORMATS)}")
    if phase not in ("auto", "ignore"):
        raise UsageError(f"unknown phase {phase!r}; 'auto' or 'ignore'")
    name = os.fspath(path)
    kind = store_format(name) if format is None else format
    if kind in STORES:
        keep = sample_names(samples)
        if kind == "trees":
            yield from read_trees(name, samples=keep, block_bytes=max(1, block_bytes // 4), progress=progress)
        else:
            yield from read_vcf_zarr(name, samples=keep, phase=phase, block_bytes=4 * block_bytes, progress=progress)
        return
    chunk_bytes, batch_bytes = max(1, block_bytes // 16), max(1, block_bytes // 4)
    with Source(name, chunk_bytes=chunk_bytes, progress=progress) as source:
        window = ByteWindow(source, source.name)
        kind = sniff(window) if kind is None else kind
        if kind in ("ms", "mbs"):
            yield from read_ms(window, length=length, mbs=kind == "mbs")
        elif kind == "macs":
            yield from read_macs(window, length=length, batch_bytes=batch_bytes)
        elif kind == "fasta":
            yield from _read_fasta(source, window)
        else:
            yield from read_vcf(window, samples=sample_names(samples), phase=phase, batch_bytes=batch_bytes)


def _read_fasta(source: Source, window: ByteWindow) -> Iterator[Alignment]:
    """Files are opened a second time, anything else is kept in memory."""
    if not source.repeatable:
        kept = window.remember()
        yield from read_fasta(window, lambda: ByteWindow(kept, source.name))
        return
    with Source(source.name, chunk_bytes=source.chunk_bytes) as second:
        yield from read_fasta(window, lambda: ByteWindow(second, source.name))
