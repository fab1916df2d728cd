"""Union, intersection and difference of several sets of k-mers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.kmers.database.writer import DatabaseWriter
from oclgenomics.kmers.device.gathering import join
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock, KmerSet
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.result import MergeSummary
from oclgenomics.kmers.sets.algebra import intersect, subtract, union
from oclgenomics.kmers.source import KmerSource, opened

__all__ = ["OPERATIONS", "Operation", "merge", "merge_databases"]

Operation = Literal["union", "intersect", "subtract"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
MERGES: dict[Operation, Callable[[Sequence[KmerSet]], Iterator[KmerBlock]]] = {
    "union": union,
    "intersect": intersect,
    "subtract": subtract,
}


def merge(sources: Sequence[KmerSource], operation: Operation = "union") -> CountedKmers:
    """Merge sets of k-mers into memory; no device is needed.

    Parameters
    ----------
    sources : sequence of path or KmerSet
        Databases or sets in memory, two or more, of the same k; all of them canonical or none.
    operation : {'union', 'intersect', 'subtract'}
        'union' adds counts, which stop at 2^32 - 1; 'intersect' keeps the k-mers that are in all sets, with the least
        of their counts; 'subtract' keeps the k-mers of the first set that are in none of the others.

    Raises
    ------
    UsageError
        Fewer than two sets, another operation, or sets that do not suit each other.
    InputError
        A database is missing or damaged.

    Examples
    --------
    >>> from oclgenomics.kmers import merge
    >>> both = merge(["tumour.db", "normal.db"], "intersect")  # doctest: +SKIP
    """
    with _merged(sources, operation) as (first, blocks):
        block = join(key_words(first.k), blocks)
        return CountedKmers(first.k, first.canonical, block.keys, block.counts)


def merge_databases(
    sources: Sequence[KmerSource], output: str | os.PathLike[str], operation: Operation = "union"
) -> MergeSummary:
    """Merge sets of k-mers into a database; no device is needed, and no set is whole in memory.

    Parameters and other errors are those of `merge`.

    Parameters
    ----------
    output : path
        The database to write.

    Raises
    ------
    OutputError
        The database cannot be written; nothing half written is left.
    """
    with _merged(sources, operation) as (first, blocks):
        with DatabaseWriter(output, CountOptions(first.k, first.canonical)) as writer:
            writer.append_blocks(blocks)
        return MergeSummary(first.k, first.canonical, writer.distinct, writer.total)


@contextlib.contextmanager
def _merged(sources: Sequence[KmerSource], operation: Operation) -> Iterator[tuple[KmerSet, Iterator[KmerBlock]]]:
    """The first of the sets, and the blocks of the merge."""
    if operation not in OPERATIONS:
        raise ParameterError("operation", f"choose one of {', '.join(OPERATIONS)}", operation)
    if isinstance(sources, (str, os.PathLike)) or len(sources) < 2:
        raise UsageError("there is nothing to merge: name two databases or more")
    with contextlib.ExitStack() as files:
        sets = [files.enter_context(opened(source)) for source in sources]
        yield sets[0], MERGES[operation](sets)
