"""One entry for all formats."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from oclgenomics.errors import ParameterError
from oclgenomics.io.foreign import foreign_format
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.source import Source
from oclgenomics.io.workers import Workers
from oclgenomics.lazy_names import late
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.read_options import ReadOptions, Region
from oclgenomics.variation.readers.input_buffer import InputBuffer
from oclgenomics.variation.readers.sniff import STORES, sniff, store_format
from oclgenomics.variation.samples import sample_names

if TYPE_CHECKING:
    from oclgenomics.io.htslib import Conversion

htslib = late("oclgenomics.io.htslib")
# Only that of the input's format is imported.
fasta = late("oclgenomics.variation.readers.fasta")
indexed = late("oclgenomics.variation.readers.vcf.indexed")
indexed_bcf = late("oclgenomics.variation.readers.vcf.indexed_bcf")
macs = late("oclgenomics.variation.readers.macs")
ms = late("oclgenomics.variation.readers.ms")
trees = late("oclgenomics.variation.readers.trees")
vcf = late("oclgenomics.variation.readers.vcf.read")
vcf_zarr = late("oclgenomics.variation.readers.vcf_zarr.read")

BLOCK_BYTES = 4 << 20


def read_alignments(
    path: str | os.PathLike[str],
    options: ReadOptions = ReadOptions(),
    *,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
    prefetch: int = 0,
    progress: Progress | None = None,
) -> Generator[Alignment, None, None]:
    """Read the alignments of an input one after the other; without `prefetch`, one is in memory at a time.

    Parameters
    ----------
    path : str or path-like
        File, uncompressed or compressed (gzip, bzip2, xz, zstd), or "-" for standard input; BCF; a tree sequence, or
        the folder or zip file of a VCF Zarr.
    options : ReadOptions
        What is read: length of the region, format, samples, what is done with calls that are not phased, and the region
        of the records.
    block_bytes : int
        Bytes of input that each thread handles at a time, unpacked; up to four times as many of a large uncompressed
        VCF or MaCS file. VCF Zarr also holds the chunks that it comes in.
        Results never depend on it.
    threads : int, optional
        Threads that inflate and parse; results never depend on it. As many as there are cores, at most 4, if not given.
    prefetch : int
        After an alignment whose packed planes take fewer bytes than this, read the next one in the background at once,
        so that two are in memory. Pipes are not read before their time.
    progress : callable, optional
        Called with (bytes read, bytes in all or None) as stored on disk (for VCF Zarr, of unpacked genotypes), from any
        thread, and only while the caller waits for an alignment.

    Yields
    ------
    Alignment

    Raises
    ------
    InputError
        Anything wrong with the input; the message names the line.
    UsageError
        Fewer than one thread, samples to keep where individuals have no names, or a region of a format without named
        chromosomes.
    MissingDependencyError
        A tree sequence without tskit, or a VCF Zarr without zarr.
    """
    name = os.fspath(path)
    kind = store_format(name) if options.format is None else options.format
    gate = ProgressGate(progress or (lambda _done, _total: None))
    with ExitStack() as stack:
        workers = stack.enter_context(Workers(threads))
        if kind in STORES:
            repeatable, alignments = True, _read_store(name, kind, options, block_bytes, gate)
        else:
            chunk_bytes = max(1, block_bytes // 4)
            source = stack.enter_context(
                Source(name, chunk_bytes=chunk_bytes, progress=gate, workers=workers, converter=partial(_of_bcf, name))
            )
            repeatable = source.repeatable
            alignments = _settled(_read(source, workers, options, max(1, block_bytes), gate), workers)
        yield from one_ahead(alignments, prefetch if repeatable else 0, gate, workers.stop)


def _of_bcf(name: str, head: bytes) -> Conversion | None:
    """How BCF becomes VCF; None for what is not BCF."""
    found = foreign_format(head)
    if found is None or not found.name.startswith("BCF"):
        return None
    htslib.require_pysam(f"{name}: is BCF, which", "turn it into VCF: bcftools view FILE.bcf")
    return _bcf_lines()


def _bcf_lines(*options: str) -> Conversion:
    words = "bcftools", "view", "--no-version", "-Ov", *options, "-"
    conversion: Conversion = htslib.Conversion("BCF", words, lambda _said, _lines: "", _bcf_trouble)
    return conversion


def _bcf_trouble(said: str) -> str:
    """What is wrong with BCF that bcftools refused."""
    error = htslib.first_error(said)
    return f"damaged or truncated BCF{f' ({error})' if error else ''}; fetch the file again"


def _read_store(
    name: str, kind: str, options: ReadOptions, block_bytes: int, progress: Progress
) -> Generator[Alignment, None, None]:
    """The alignments of an input that is no stream of bytes."""
    samples, region = sample_names(options.samples), _region(name, kind, options)
    _check_ancestral(name, kind, options)
    if kind == "trees":
        yield from trees.read_trees(name, samples=samples, block_bytes=max(1, block_bytes // 4), progress=progress)
    else:
        yield from vcf_zarr.read_vcf_zarr(
            name, samples=samples, phase=options.phase, region=region, block_bytes=4 * block_bytes, progress=progress
        )


def _settled(alignments: Iterator[Alignment], workers: Workers) -> Generator[Alignment, None, None]:
    """The same alignments; while the caller has one, no worker is busy."""
    for alignment in alignments:
        workers.settle()
        yield alignment
        del alignment  # before the next one is read


def _read(
    source: Source, workers: Workers, options: ReadOptions, block_bytes: int, progress: Progress
) -> Iterator[Alignment]:
    """The alignments as the reader of their format gives them."""
    buffer = InputBuffer(source, source.name, source.rest)
    kind = sniff(buffer) if options.format is None else options.format
    region = _region(source.name, kind, options)
    _check_ancestral(source.name, kind, options)
    if kind in ("ms", "mbs"):
        mbs = kind == "mbs"
        yield from ms.read_ms(
            buffer, length=options.length, mbs=mbs, exact=options.exact_positions, block_bytes=block_bytes,
            workers=workers,
        )  # fmt: skip
    elif kind == "macs":
        yield from macs.read_macs(buffer, length=options.length, block_bytes=block_bytes, workers=workers)
    elif kind == "fasta":
        yield from _read_fasta(source, buffer, workers)
    else:
        names = sample_names(options.samples)
        with ExitStack() as stack:
            part = None
            if region is not None and source.repeatable:
                part = _part(source, region, stack, progress, workers)
            yield from vcf.read_vcf(
                buffer, samples=names, phase=options.phase, records=options.records, ancestral=options.ancestral,
                region=region, part=part, block_bytes=block_bytes, workers=workers,
            )  # fmt: skip


def _part(source: Source, region: Region, stack: ExitStack, progress: Progress, workers: Workers) -> InputBuffer | None:
    """The lines around a region, where an index says where they are; None where all are to be read."""
    if source.converted:
        packed = indexed_bcf.bcf_with_region(source.name, region)
        if packed is None:
            return None
        found, records = packed
        return InputBuffer(stack.enter_context(htslib.ConvertedText(_bcf_lines("-H"), records, found)), found)
    part = indexed.part_with_region(source.name, region)
    if part is None:
        return None
    read = Source(part, chunk_bytes=source.chunk_bytes, progress=progress, workers=workers)
    return InputBuffer(stack.enter_context(read), part, read.rest)


def _region(name: str, kind: str, options: ReadOptions) -> Region | None:
    """The region to read of an input, if one is given.

    Raises
    ------
    ParameterError
        The format has no named chromosomes.
    """
    if options.region is None:
        return None
    if kind not in ("vcf", "vcz"):
        raise ParameterError(
            "region", f"has no meaning for {name} ({kind}): only VCF, BCF and VCF Zarr name chromosomes; leave it out"
        )
    return Region.parse(options.region)


def _check_ancestral(name: str, kind: str, options: ReadOptions) -> None:
    """Refuse ancestral bases of formats that have no INFO.

    Raises
    ------
    ParameterError
        They are asked for of another format.
    """
    if options.ancestral and kind != "vcf":
        raise ParameterError("ancestral", f"only VCF and BCF have INFO/AA, which {name} ({kind}) has not; give a FASTA")


def _read_fasta(source: Source, buffer: InputBuffer, workers: Workers) -> Iterator[Alignment]:
    """Files are opened a second time, anything else is kept in memory."""
    if not source.repeatable:
        kept = buffer.remember()
        yield from fasta.read_fasta(buffer, lambda: InputBuffer(kept, source.name), workers)
        return
    with Source(source.name, chunk_bytes=source.chunk_bytes, workers=workers) as second:
        yield from fasta.read_fasta(buffer, lambda: InputBuffer(second, source.name), workers)


PREFETCH_BYTES = 1 << 30  # what programs that scan alignment after alignment allow


class ProgressGate:
    """Passes a reader's progress on only while somebody waits for an alignment; safe to call from any thread."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._open = True  # the first alignment is waited for already
        self._lock = threading.Lock()

    def __call__(self, done: int, total: int | None) -> None:
        with self._lock:
            if self._open:
                self._progress(done, total)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let progress through; none comes any more when this ends."""
        with self._lock:
            self._open = True
        try:
            yield
        finally:
            with self._lock:
                self._open = False


def one_ahead(
    alignments: Generator[Alignment, None, None], limit: int, gate: ProgressGate, stop: Callable[[], None]
) -> Iterator[Alignment]:
    """The same alignments; after one that is smaller than `limit`, the next is read in a thread at once.

    Parameters
    ----------
    alignments : generator of Alignment
        The reader; closed at the end.
    limit : int
        Bytes of packed planes. The size of an alignment is only known when it is read, so that of the one before it
        decides. 0 reads each when it is asked for.
    gate : ProgressGate
        Open while the caller waits.
    stop : callable
        Makes the reader end soon; called when no more alignments are wanted.
    """
    with ThreadPoolExecutor(1, "next-alignment") as thread:
        coming: Future[Alignment | None] | None = None
        try:
            while True:
                with gate.waiting():
                    alignment = next(alignments, None) if coming is None else coming.result()
                if alignment is None:
                    return
                small = alignment.packed_bytes < limit
                coming = thread.submit(next, alignments, None) if small else None
                handed = [alignment]
                del alignment  # the caller's alone, so that it can be gone before the next one is read
                yield handed.pop()
        finally:
            stop()
            thread.shutdown()
            alignments.close()
