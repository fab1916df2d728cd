"""Samples and matches that go through several blocks."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.sequence.name_list import NameList
from oclgenomics.signatures.matches.joining import PartJoiner, best_of_samples, in_order, rows_of_part
from oclgenomics.signatures.options import Report
from oclgenomics.signatures.plan import parts_of_pairs
from oclgenomics.signatures.result import Columns, Matches, Samples

TYPES = {
    "sample": np.int64, "signature": np.int32, "strand": np.uint8, "mismatches": np.int32, "has_qualities": np.bool_,
    "quality_sum": np.uint64, "error_units": np.uint64,
}  # fmt: skip


def samples(*rows: tuple[int, int, bool]) -> Samples:
    """Rows of (number, letters, ends)."""
    number, letters, ends = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    nothing = np.zeros(len(rows), np.int64)
    names = np.array([f"s{row[0]}" for row in rows], object)
    return Samples(
        number, names, names.copy(), letters, nothing, nothing.copy(), np.ones(len(rows), np.bool_),
        letters.astype(np.uint64), nothing.copy(), ends.astype(np.bool_), (40 - letters).astype(np.uint8),
    )  # fmt: skip


def matches(*rows: dict[str, int]) -> Matches:
    """Rows of which the columns that are named are not 0."""
    names = Matches.__dataclass_fields__
    columns = [np.array([row.get(name, 0) for row in rows], TYPES.get(name, np.int64)) for name in names]
    return Matches(*columns)


def row(sample: int, start: int, **others: int) -> dict[str, int]:
    return {"sample": sample, "start": start, "end": start + 4, "hits": 1, "quality_sum": 8, **others}


def test_a_sample_that_goes_on_waits_for_its_end() -> None:
    joiner = PartJoiner("best")
    part = joiner.add(samples((0, 5, True), (1, 7, False)), matches(row(0, 1), row(1, 3, hits=2)))
    assert part.samples.number.tolist() == [0, 1]
    assert part.samples.pairs.tolist() == [1, 0]
    assert part.matches.sample.tolist() == [0]
    part = joiner.add(samples((1, 10, False)), matches(row(1, 9, quality_sum=9)))
    assert (part.samples.letters.tolist(), len(part.matches)) == ([17], 0)
    part = joiner.add(samples((1, 1, True), (2, 4, True)), matches(row(2, 0)))
    assert part.samples.letters.tolist() == [18, 4]
    assert part.samples.least_quality.tolist() == [30, 36]
    assert part.samples.pairs.tolist() == [1, 1]
    assert part.matches.start.tolist() == [9, 0]
    assert part.matches.hits.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("others", "report", "wanted"),
    [
        ({"mismatches": 1, "quality_sum": 99}, "best", 5),
        ({"quality_sum": 9}, "best", 2),
        ({"quality_sum": 7}, "best", 5),
        ({}, "best", 2),
        ({"mismatches": 1}, "first", 2),
    ],
)
def test_the_match_that_is_reported(others: dict[str, int], report: Report, wanted: int) -> None:
    joined = PartJoiner(report).add(samples((0, 9, True)), matches(row(0, 5), row(0, 2, **others)))
    assert joined.matches.start.tolist() == [wanted]
    assert joined.matches.hits.tolist() == [2]


def test_rows_are_in_order_and_strands_apart() -> None:
    found = matches(row(1, 0), row(0, 4, signature=1), row(0, 9, strand=1), row(0, 2, signature=1, strand=1), row(0, 3))
    part = PartJoiner("first").add(samples((0, 9, True), (1, 9, True)), found)
    assert part.matches.start.tolist() == [3, 9, 4, 2, 0]
    assert part.samples.pairs.tolist() == [4, 1]


def test_all_matches_come_at_once_and_pairs_count_once() -> None:
    joiner = PartJoiner("all")
    part = joiner.add(samples((0, 5, False)), matches(row(0, 1), row(0, 3), row(0, 2, signature=1)))
    assert part.matches.start.tolist() == [1, 3, 2]
    assert part.samples.pairs.tolist() == [2]
    part = joiner.add(samples((0, 5, False)), matches(row(0, 6), row(0, 6, strand=1)))
    assert part.samples.pairs.tolist() == [3]
    part = joiner.add(samples((0, 5, True), (1, 2, True)), matches(row(0, 11), row(1, 0)))
    assert part.samples.pairs.tolist() == [3, 1]


def test_all_matches_of_a_sample_can_come_together() -> None:
    joiner = PartJoiner("all", whole=True)
    part = joiner.add(samples((0, 5, True), (1, 5, False)), matches(row(0, 1), row(1, 3), row(1, 2, signature=1)))
    assert part.matches.sample.tolist() == [0]
    assert len(joiner.add(samples((1, 5, False)), matches(row(1, 9))).matches) == 0
    part = joiner.add(samples((1, 5, True), (2, 2, True)), matches(row(2, 0)))
    assert part.matches.start.tolist() == [3, 9, 2, 0]
    assert part.samples.pairs.tolist() == [2, 1]


def test_the_best_match_of_a_sample_and_what_else_matches_it() -> None:
    rows = matches(
        row(0, 0, mismatches=1, quality_sum=99), row(0, 5, strand=1), row(0, 5, signature=1, mismatches=2),
        row(1, 3, quality_sum=1), row(1, 4, signature=1), row(1, 2, signature=1, strand=1, mismatches=1),
        row(1, 1, signature=2), row(1, 1, signature=2, strand=1), row(1, 1, signature=3, mismatches=3),
        row(3, 7, mismatches=1), row(3, 8, strand=1, mismatches=1),
    )  # fmt: skip
    best, rivals = best_of_samples(rows)
    assert best.sample.tolist() == [0, 1, 3]
    assert best.start.tolist() == [5, 4, 7]  # few mismatches before high scores before signatures before strands
    assert rivals.ties.tolist() == [0, 2, 0]
    assert rivals.next_mismatches.tolist() == [2, 0, -1]  # the other strand of a signature is no other signature
    nothing, rivals = best_of_samples(matches())
    assert (len(nothing), len(rivals)) == (0, 0)


@given(st.lists(st.lists(st.integers(1, 9), max_size=4), min_size=1, max_size=6), st.integers(1, 20))
def test_parts_of_pairs_keep_all_pairs_and_all_pieces(hits: list[list[int]], most: int) -> None:
    piece = np.array([p for p, of in enumerate(hits) for _ in of], np.uint32)
    flat = np.array([h for of in hits for h in of], np.uint32)
    parts = list(parts_of_pairs(piece, flat, len(hits), most))
    assert [i for part in parts for i in range(part.begin, part.end)] == list(range(len(flat)))
    letters = np.zeros(len(hits), np.int64)
    ends = np.zeros(len(hits), np.int64)
    whole = samples(*((p, 7, True) for p in range(len(hits))))
    for part in parts:
        assert flat[part.begin : part.end].sum() <= most or part.end - part.begin == 1
        assert all(part.first_piece <= p < part.end_piece for p in piece[part.begin : part.end])
        rows: Any = rows_of_part(whole, part.first_piece, part.end_piece, again=part.again, goes_on=part.goes_on)
        letters[rows.number] += rows.letters
        ends[rows.number] += rows.ends
    assert letters.tolist() == [7] * len(hits)
    assert ends.tolist() == [1] * len(hits)


ROW = st.builds(row, st.just(0), st.integers(0, 9), signature=st.integers(0, 2), strand=st.integers(0, 1))
PIECES = st.lists(st.tuples(st.integers(0, 9), st.lists(ROW, max_size=3)), min_size=1, max_size=3)  # of a sample


@given(st.lists(PIECES, max_size=6), st.sets(st.integers(0, 18)), st.sampled_from(["best", "first", "all"]))
def test_samples_in_any_parts(
    whole: list[list[tuple[int, list[dict[str, int]]]]], cuts: set[int], report: Report
) -> None:
    rows, found = [], []
    for number, pieces in enumerate(whole):
        for place, (letters, here) in enumerate(pieces):
            rows.append((number, letters, place == len(pieces) - 1))
            found.append([one | {"sample": number, "start": 10 * place + one["start"]} for one in here])
    wanted = PartJoiner(report).add(samples(*rows), matches(*chain.from_iterable(found)))
    joiner, parts = PartJoiner(report), []
    bounds = [0, *sorted(cut for cut in cuts if 0 < cut < len(rows)), len(rows)]
    for begin, end in pairwise(bounds):
        some = samples(*rows[begin:end])
        packed = replace(some, name=NameList.of(some.name.tolist()))
        parts.append(joiner.add(packed, matches(*chain.from_iterable(found[begin:end]))))
    assert all(isinstance(part.samples.name, NameList) for part in parts if len(part.samples))
    same_columns(Samples.joined(part.samples.ended.of_its_own() for part in parts), wanted.samples)
    same_columns(in_order(Matches.joined(part.matches for part in parts)), wanted.matches)


def same_columns(found: Columns, wanted: Columns) -> None:
    for field in fields(wanted):
        one, other = getattr(found, field.name), getattr(wanted, field.name)
        np.testing.assert_array_equal(one, other, err_msg=field.name)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("report", ["best", "all"])
def test_what_comes_in_stays_as_it_is(report: Report, goes_on: bool) -> None:
    joiner = PartJoiner(report)
    for first, ends in ((3, not goes_on), (4 + (not goes_on), True)):
        given = (first, 5, True), (first + 1, 7, ends)
        rows, found = samples(*given), matches(row(first, 1), row(first + 1, 3))
        joiner.add(rows, found)
        rows_of_part(rows, 1, 2, again=True, goes_on=True)
        same_columns(rows, samples(*given))
        same_columns(found, matches(row(first, 1), row(first + 1, 3)))


def test_the_best_match_has_the_highest_mean_quality() -> None:
    joiner = PartJoiner("best")
    joiner.add(samples((0, 9, False)), matches(row(0, 1, end=6, quality_sum=150)))
    part = joiner.add(
        samples((0, 9, True)), matches(row(0, 10, end=14, quality_sum=124), row(0, 20, end=24, quality_sum=123))
    )
    assert (part.matches.start.tolist(), part.matches.hits.tolist()) == ([10], [3])
