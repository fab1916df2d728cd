"""Union, intersection and difference against Python's dictionaries, however the sets come in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.kmers.database.keys import key_words, keys_of, letters_of
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock
from oclgenomics.kmers.options import COUNT_MODES, OPERATIONS, CountMode, MergeOptions, Operation
from oclgenomics.kmers.sets import algebra, algebra as ranges

Counts = dict[str, int]
LARGEST = (1 << 32) - 1


@dataclass(frozen=True)
class InBlocks(CountedKmers):
    """A set that comes in blocks of a given size, some of them empty."""

    size: int = 1

    def blocks(self) -> Iterator[KmerBlock]:
        for start in range(0, self.distinct, self.size):
            yield KmerBlock(self.keys[:, :0], self.counts[:0])
            yield KmerBlock(self.keys[:, start : start + self.size], self.counts[start : start + self.size])


def set_of(counts: Counts, k: int, size: int = 2, canonical: bool = False) -> InBlocks:
    kmers = sorted(counts)
    keys = keys_of(kmers) if kmers else np.empty((key_words(k), 0), np.uint64)
    return InBlocks(k, canonical, keys, np.array([counts[kmer] for kmer in kmers], np.uint32), size=size)


def counts_of(blocks: Iterator[KmerBlock], k: int) -> Counts:
    kmers: list[tuple[str, int]] = []
    for block in blocks:
        letters = letters_of(block.keys, k)
        kmers += zip([row.tobytes().decode() for row in letters], block.counts.tolist(), strict=True)
    assert [kmer for kmer, _ in kmers] == sorted({kmer for kmer, _ in kmers})
    return dict(kmers)


@st.composite
def several_sets(draw: st.DrawFn) -> tuple[list[Counts], int, int]:
    k = draw(st.sampled_from([1, 3, 31, 32, 33, 64, 65, 100]))
    middle = draw(st.sampled_from(["A", "C", "T"]))
    ends = st.text("ACGT", min_size=min(k, 2), max_size=min(k, 2))
    kmers = ends.map(lambda end: end[0] + middle * (k - 2) + end[1:] if k > 1 else end)
    counts = st.dictionaries(kmers, st.sampled_from([1, 2, 7, 1 << 31, LARGEST]), max_size=14)
    return draw(st.lists(counts, min_size=1, max_size=4)), k, draw(st.integers(1, 5))


@settings(max_examples=examples(100))
@given(several_sets(), st.sampled_from([1, 255, LARGEST]))
def test_against_dictionaries(example: tuple[list[Counts], int, int], most: int) -> None:
    sets, k, size = example
    given_sets = [set_of(counts, k, size + place) for place, counts in enumerate(sets)]
    every = sorted({kmer for counts in sets for kmer in counts})
    sums = {kmer: min(most, sum(counts.get(kmer, 0) for counts in sets)) for kmer in every}
    assert counts_of(algebra.union(given_sets, most), k) == sums


def chosen(sets: list[Counts], options: MergeOptions) -> Counts:
    """The oracle of a merge: from the definition, k-mer by k-mer."""
    made = {
        "sum": sum, "min": min, "max": max, "number": len, "left": lambda there: there[0],
        "right": lambda there: there[-1], "diff": lambda there: there[0] - sum(there[1:]),
    }  # fmt: skip
    found = {}
    for kmer in sorted({kmer for counts in sets for kmer in counts}):
        there = [counts[kmer] for counts in sets if kmer in counts]
        kept = {
            "union": True,
            "intersect": len(there) == len(sets),
            "subtract": kmer in sets[0] and len(there) == 1,
            "subtract-counts": kmer in sets[0],
            "symmetric-difference": len(there) == 1,
        }[options.operation]
        value = made[options.mode](there)
        if kept and max(1, options.min_count) <= value <= options.max_count:
            found[kmer] = min(value, LARGEST)
    return found


@settings(max_examples=examples(150))
@given(several_sets(), st.sampled_from(OPERATIONS), st.sampled_from([None, *COUNT_MODES]), st.data())
def test_merges_against_the_oracle(
    example: tuple[list[Counts], int, int], operation: Operation, mode: CountMode | None, data: st.DataObject
) -> None:
    sets, k, size = example
    mode = mode if operation in ("union", "intersect") else None
    least, most = sorted(data.draw(st.tuples(st.sampled_from([1, 2, 5]), st.sampled_from([2, 7, LARGEST]))))
    options = MergeOptions(operation, mode, least, most)
    given_sets = [set_of(counts, k, size + place) for place, counts in enumerate(sets)]
    assert counts_of(algebra.merge_sets(given_sets, options), k) == chosen(sets, options)


def test_bounds_are_those_of_sums_before_counters_stop() -> None:
    sets = [set_of({"AAA": LARGEST, "CCC": 1}, 3), set_of({"AAA": 5, "CCC": 1}, 3)]
    assert counts_of(algebra.merge_sets(sets, MergeOptions(max_count=LARGEST)), 3) == {"CCC": 2}
    assert counts_of(algebra.merge_sets(sets, MergeOptions(max_count=LARGEST + 5)), 3) == {"AAA": LARGEST, "CCC": 2}


def test_ranges_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MAX_KMERS", 10)
    keys = np.arange(1000, dtype=np.uint64)[None]
    whole = CountedKmers(10, True, keys, np.ones(1000, np.uint32))
    blocks = list(algebra.union([whole, whole]))
    assert max(map(len, blocks)) <= 20
    np.testing.assert_array_equal(np.hstack([block.keys for block in blocks]), keys)
    assert {int(count) for block in blocks for count in block.counts} == {2}


@pytest.mark.parametrize("operation", [algebra.union, lambda sets: algebra.merge_sets(sets, MergeOptions())])
def test_sets_that_do_not_go_together(operation: Callable[..., Iterator[KmerBlock]]) -> None:
    with pytest.raises(UsageError, match="no sets"):
        operation([])
    with pytest.raises(UsageError, match="of one k, and these have 3, 4"):
        operation([set_of({"AAA": 1}, 3), set_of({"AAAA": 1}, 4)])
    with pytest.raises(UsageError, match="one strand"):
        operation([set_of({"AAA": 1}, 3), set_of({"AAA": 1}, 3, canonical=True)])
