"""The counts of k-mers in many samples: a row for each k-mer, a column for each sample."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, cast, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import OutputError, ParameterError, UsageError
from oclgenomics.io.packed_file import open_packed, refuse_packed
from oclgenomics.kmers.formats.matrix_npz import write_matrix_npz
from oclgenomics.kmers.formats.matrix_parquet import write_matrix_parquet
from oclgenomics.kmers.formats.matrix_text import write_matrix_tsv
from oclgenomics.kmers.formats.parquet import require_pyarrow
from oclgenomics.kmers.keys import key_words, texts_of
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.matrix_rows import KMER_COLUMN, MatrixRows, check_names
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.sample import counted_for_a_while, is_database
from oclgenomics.kmers.sets.algebra import check_one_kind
from oclgenomics.kmers.sets.rows import RowChoice
from oclgenomics.kmers.source import KmerSource, opened
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.files import SequenceFiles, file_names

__all__ = ["MATRIX_FORMATS", "CountMatrix", "MatrixFormat", "MatrixSummary", "matrix", "write_matrix"]

MatrixFormat = Literal["tsv", "npz", "parquet"]
MATRIX_FORMATS: tuple[MatrixFormat, ...] = get_args(MatrixFormat)
Sample = KmerSource | SequenceFiles


@dataclass(frozen=True, repr=False)
class CountMatrix:
    """Counts of k-mers in several samples, in memory.

    Attributes
    ----------
    k : int
    canonical : bool
    names : tuple of str
        Of the samples.
    keys : ndarray, uint64 (words, n)
        K-mers, ascending.
    counts : ndarray, uint32 (n, samples)
    """

    k: int
    canonical: bool
    names: tuple[str, ...]
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    def __repr__(self) -> str:
        return f"CountMatrix(k={self.k}, canonical={self.canonical}, kmers={len(self.counts)}, samples={self.names})"

    def records(self) -> list[dict[str, Any]]:
        """A record for each k-mer: `kmer`, its letters, and the count of each sample under its name."""
        rows = zip(texts_of(self.keys, self.k), self.counts.tolist(), strict=True)
        return [{KMER_COLUMN: kmer} | dict(zip(self.names, counts, strict=True)) for kmer, counts in rows]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        columns = dict(zip(self.names, self.counts.T, strict=True))
        return to_frame({KMER_COLUMN: texts_of(self.keys, self.k)} | columns)


@dataclass(frozen=True)
class MatrixSummary:
    """What a matrix holds that was written.

    Attributes
    ----------
    k : int
    canonical : bool
    names : tuple of str
    kmers : int
        Rows.
    """

    k: int
    canonical: bool
    names: tuple[str, ...]
    kmers: int


def matrix(samples: Mapping[str, Sample], **how: Any) -> CountMatrix:
    """Lay the counts of several samples side by side, in memory.

    Parameters are those of `write_matrix` but for `output` and `format`; so are the errors.

    Examples
    --------
    >>> from oclgenomics.kmers import matrix
    >>> found = matrix({"tumour": "tumour.db", "normal": "normal.db"}, min_samples=2)  # doctest: +SKIP
    >>> found.to_frame()  # doctest: +SKIP
    """
    with _opened(samples, **how) as rows:
        keys, counts = [np.empty((key_words(rows.k), 0), np.uint64)], [np.empty((0, len(rows.names)), np.uint32)]
        for block in rows.blocks():
            keys.append(block.keys)
            counts.append(block.counts)
        return CountMatrix(rows.k, rows.canonical, tuple(rows.names), np.hstack(keys), np.concatenate(counts))


def write_matrix(
    samples: Mapping[str, Sample],
    output: str | os.PathLike[str],
    format: MatrixFormat = "tsv",
    *,
    tmp_dir: str | os.PathLike[str] | None = None,
    **how: Any,
) -> MatrixSummary:
    """Write the counts of several samples side by side; neither a sample nor the matrix is whole in memory.

    Parameters
    ----------
    samples : mapping of str to path, KmerSet or paths
        The samples by their names, which become those of the columns: a database or a set, or FASTA and FASTQ files,
        which are counted on the way. A file is told from a database by its content.
    output : path
        The file to write, "-" for standard output. Text is packed if the name ends in .gz, .bz2, .xz or .zst.
    format : {'tsv', 'npz', 'parquet'}
        Lines of text; arrays for NumPy; a table in Apache Parquet.
    tmp_dir : path, optional
        Folder for temporary files; the system's if not given. Nothing is left there.
    min_count : int, optional
        A lower count of a sample is taken for 0.
    min_samples : int, optional
        K-mers with counts in fewer samples are left out.
    only : path, KmerSet or paths, optional
        K-mers that are not in this set are left out; it is given as a sample is.
    keep_zeros : bool, optional
        All k-mers of `only` have a row.
    options : CountOptions, optional
        What of reads is counted; needed for them. Databases have to be of the same k and strands.
    engine, device, max_memory, threads, min_quality
        As for `oclgenomics.kmers.api`; no device is needed for databases.
    on_spill : callable, optional
        As for `oclgenomics.kmers.count_to_database`.

    Raises
    ------
    UsageError
        No sample, names that columns cannot have, another format, sets that do not suit each other, or options that
        contradict each other.
    MissingDependencyError
        'parquet' without pyarrow.
    InputError
        An input is missing or damaged.
    DeviceError
        There is no such device, or its memory is too small.
    OutputError
        A file cannot be written; nothing half written is left.

    Examples
    --------
    >>> from oclgenomics.kmers import CountOptions, write_matrix
    >>> samples = {"a": "a.db", "b": ["b_1.fq.gz", "b_2.fq.gz"]}  # doctest: +SKIP
    >>> write_matrix(samples, "counts.tsv", options=CountOptions(31))  # doctest: +SKIP
    """
    if format not in MATRIX_FORMATS:
        raise ParameterError("format", f"choose one of {', '.join(MATRIX_FORMATS)}", format)
    if format != "tsv":
        refuse_packed(os.fspath(output), format)
    if format == "parquet":
        require_pyarrow()
    with _opened(samples, tmp_dir=tmp_dir, **how) as rows, open_packed(output, "wb", OutputError) as stream:
        if format == "npz":
            kmers = write_matrix_npz(rows, stream, tmp_dir)
        else:
            kmers = (write_matrix_tsv if format == "tsv" else write_matrix_parquet)(rows, stream)
    return MatrixSummary(rows.k, rows.canonical, tuple(rows.names), kmers)


@contextlib.contextmanager
def _opened(
    samples: Mapping[str, Sample],
    *,
    min_count: int = 1,
    min_samples: int = 1,
    only: Sample | None = None,
    keep_zeros: bool = False,
    options: CountOptions | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    on_spill: Callable[[int, int], None] | None = None,
) -> Iterator[MatrixRows]:
    """The rows of a matrix; what it reads is open as long."""
    choice = RowChoice(min_count, min_samples, keep_zeros)
    check_names(list(samples))
    choice.check(len(samples), only is not None)
    with contextlib.ExitStack() as files, contextlib.ExitStack() as devices:
        given = [*samples.values(), *([] if only is None else [only])]
        there = {place: files.enter_context(opened(one)) for place, one in enumerate(given) if _is_set(one)}
        reads = [] if options is None or len(there) == len(given) else [options]
        check_one_kind([*there.values(), *reads])  # before hours of counting

        def counted(sample: SequenceFiles) -> contextlib.AbstractContextManager[KmerSet]:
            nonlocal engine
            if options is None:
                name = file_names(sample)[0]
                raise UsageError(f"{name} is no database of `kmers count`; if it holds reads, `options` has to say k")
            if engine is None:
                engine = devices.enter_context(Engine(device, max_memory=max_memory))
            return counted_for_a_while(
                sample, options, engine=engine, threads=threads, min_quality=min_quality, tmp_dir=tmp_dir,
                on_spill=on_spill,
            )  # fmt: skip

        for place, sample in enumerate(given):
            if place not in there:
                there[place] = files.enter_context(counted(cast(SequenceFiles, sample)))
        devices.close()  # the merge needs none
        sets = [there[place] for place in range(len(samples))]
        yield MatrixRows(list(samples), sets, choice, there.get(len(samples)))


def _is_set(sample: Sample) -> TypeGuard[KmerSource]:
    if isinstance(sample, (str, os.PathLike)):
        return is_database(sample)
    return hasattr(sample, "blocks")
