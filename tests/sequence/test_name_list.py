"""Lists of names against lists of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.sequence.name_list import NameList

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=9)


@given(names=TEXTS, begin=st.integers(-12, 12), end=st.none() | st.integers(-12, 12))
def test_any_names(names: list[str], begin: int, end: int | None) -> None:
    found = NameList.of(names)
    assert len(found) == len(names)
    assert list(found) == names
    assert [found[i] for i in range(-len(names), len(names))] == names + names
    part = found[begin:end]
    assert list(part) == names[begin:end]
    assert list(part[1:]) == names[begin:end][1:]
    assert [part[i] for i in range(len(part))] == names[begin:end]
    with pytest.raises(IndexError):
        found[len(names)]


@given(parts=st.lists(TEXTS, max_size=4), begin=st.integers(0, 3))
def test_lists_are_joined_in_their_order(parts: list[list[str]], begin: int) -> None:
    found = NameList.joined([NameList.of(part)[begin:] for part in parts])
    assert list(found) == [name for part in parts for name in part[begin:]]
    assert found.starts.dtype == np.int64
    assert found.letters.dtype == np.uint8
    assert len(found.letters) == found.starts[-1]


@given(names=TEXTS, begin=st.integers(0, 3), data=st.data())
def test_some_names(names: list[str], begin: int, data: st.DataObject) -> None:
    found, names = NameList.of(names)[begin:], names[begin:]
    assert found.tolist() == names
    chosen = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    assert found[np.array(chosen, np.bool_)].tolist() == [
        name for name, wanted in zip(names, chosen, strict=True) if wanted
    ]
    order = data.draw(st.lists(st.integers(0, len(names) - 1), max_size=9)) if names else []
    some = found[np.array(order, np.int64)]
    assert some.tolist() == [names[i] for i in order]
    assert len(some.letters) == some.starts[-1]


def test_bytes_that_are_not_text_are_replaced() -> None:
    found = NameList(np.frombuffer(b"\xff\xc3\xa9\xe2\x82", np.uint8), np.array([0, 1, 3, 5]))
    assert list(found) == ["\ufffd", "é", "\ufffd"]
    assert found[2] == "\ufffd"


def test_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="without a step"):
        NameList.of(["a", "b"])[::2]
