"""Lines joined on a device and on the host, against Python's own text."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.sequence import joined_lines as line_joiner
from oclgenomics.sequence.joined_lines import (
    NO_NUMBER,
    NO_TEXT,
    Column,
    DeviceJoiner,
    HostJoiner,
    LineJoiner,
    NameColumn,
    NumberColumn,
    TextColumn,
    TextTable,
    clean_names,
    one_field,
)
from oclgenomics.sequence.name_list import NameList

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NUMBERS = st.one_of(
    st.just(NO_NUMBER),
    st.integers(0, 1000),
    st.sampled_from([10**power - less for power in range(20) for less in (0, 1)]),
)


def check(joiner: LineJoiner, names: list[str], texts: list[str], which: list[int], numbers: list[int]) -> None:
    """Join a name, a text, a number and another name for each line."""
    table = TextTable(len(texts), lambda number: "none" if number == NO_TEXT else texts[number])
    back = np.arange(len(names))[::-1]
    columns: list[Column] = [
        NameColumn(NameList.of(names)),
        TextColumn(table, table.places(np.array(which, np.int32))),
        NumberColumn(np.array(numbers, np.uint64)),
        NameColumn(NameList.of(names), back),
    ]
    rows = zip(names, which, numbers, reversed(names), strict=True)
    wanted = "".join(
        name + ("none" if text == NO_TEXT else texts[text]) + ("" if number == NO_NUMBER else str(number)) + last
        for name, text, number, last in rows
    )
    assert bytes(joiner.join(len(names), columns)).decode() == wanted


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[str], list[str], list[int], list[int]]:
    names = draw(st.lists(TEXTS, max_size=30))
    texts = draw(st.lists(TEXTS, min_size=1, max_size=5))
    which = st.lists(st.integers(NO_TEXT, len(texts) - 1), min_size=len(names), max_size=len(names))
    return names, texts, draw(which), draw(st.lists(NUMBERS, min_size=len(names), max_size=len(names)))


@settings(max_examples=50)
@given(lines(), st.sampled_from([1, 100, 1 << 20]))
def test_any_lines(shaped: Engine, given: tuple[list[str], list[str], list[int], list[int]], at_once: int) -> None:
    with mock.patch.object(line_joiner, "LAID_OUT", at_once):
        check(HostJoiner(), *given)
    check(DeviceJoiner(shaped, at_once), *given)


@pytest.mark.parametrize("count", [1, 63, 64, line_joiner.SPAN - 1, line_joiner.SPAN, 2 * line_joiner.SPAN + 1])
def test_numbers_of_lines_around_borders(shaped: Engine, count: int) -> None:
    rng = np.random.default_rng(count)
    names = ["x" * int(size) for size in rng.integers(0, 20, count)]
    names[0] = "long" * 50_000
    numbers = rng.integers(0, 1 << 40, count).tolist()
    check(DeviceJoiner(shaped), names, ["a", "b" * 9], rng.integers(NO_TEXT, 2, count).tolist(), numbers)


@pytest.mark.parametrize("more", [0, 1, line_joiner.LINES + 1])
def test_the_host_halves_lines_around_a_long_one(more: int) -> None:
    count = line_joiner.LINES + more
    rng = np.random.default_rng(count)
    names = ["x" * int(size) for size in rng.integers(0, 20, count)]
    names[line_joiner.LINES // 3] = "long" * 50_000
    numbers = rng.integers(0, 1 << 64, count, np.uint64).tolist()
    check(HostJoiner(), names, ["a", "b" * 9], rng.integers(NO_TEXT, 2, count).tolist(), numbers)


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 60))
def test_chunks_have_room_for_their_lines(sizes: list[int], most: int) -> None:
    names = NameList.of(["x" * size for size in sizes])
    chunks = line_joiner._chunks(len(sizes), [NameColumn(names)], most)
    assert [line for begin, end in chunks for line in range(begin, end)] == list(range(len(sizes)))
    for begin, end in chunks:
        assert end - begin == 1 or sum(sizes[begin:end]) <= most
        assert end == len(sizes) or sum(sizes[begin : end + 1]) > most  # no shorter than need be


def test_a_table_that_grows(shaped: Engine) -> None:
    joiner, table = DeviceJoiner(shaped), TextTable(100, lambda number: f"<{number}>")
    for numbers in ([3, 1], [1, 3, 99], [NO_TEXT]):
        column = TextColumn(table, table.places(np.array(numbers)))
        assert bytes(joiner.join(len(numbers), [column])).decode() == "".join(f"<{number}>" for number in numbers)


def test_names_that_would_break_columns() -> None:
    names = clean_names(NameList.of(["a\tb", "c\nd\r", "\x7fé", "plain"]))
    assert list(names) == ["a_b", "c_d_", "_é", "plain"]
    assert one_field("a\tb\n\x85\u2028c") == "a_b___c"
    kept = NameList.of(["plain"])
    assert clean_names(kept) is kept


def test_a_text_is_asked_for_once() -> None:
    asked: list[int] = []

    def text_of(number: int) -> str:
        asked.append(number)
        return str(number)

    table = TextTable(5, text_of)
    table.places(np.array([4, NO_TEXT, 4]))
    table.places(np.array([4, 0]))
    assert sorted(asked) == [NO_TEXT, 0, 4]
    assert sorted(table.texts) == ["-1", "0", "4"]
