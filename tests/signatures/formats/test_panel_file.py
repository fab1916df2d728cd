"""Panels in files: they come back with their tables, damage is noticed, and no table stands for another."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from helpers.signature_samples import random_letters
from hypothesis import given, settings, strategies as st

from oclgenomics import __version__
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.array_file import ArrayFile
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.signatures import Panel, build_panel, read_panel
from oclgenomics.signatures.formats import panel_file as kept_tables
from oclgenomics.signatures.formats.panel_file import (
    KIND,
    BuiltPanel,
    TableKey,
    has_table,
    open_panel,
    ready_table,
    write_panel,
)
from oclgenomics.signatures.options import Strand
from oclgenomics.signatures.panels.letters import LETTERS
from oclgenomics.signatures.panels.seeds import SeedTable, make_table

EVERY_LETTER = "ACGTURYSWKMBDHVN"


def random_panel(seed: int, lengths: list[int], n_rate: float = 0.1, letters: str = EVERY_LETTER) -> Panel:
    rng = np.random.default_rng(seed)
    return Panel.from_signatures(
        (f"s{i}", random_letters(rng, size, n_rate, letters)) for i, size in enumerate(lengths)
    )


def same_panel(found: Panel, expected: Panel) -> None:
    assert found.names == expected.names
    for name in ("sets", "offsets"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def same_table(found: SeedTable | None, expected: SeedTable) -> None:
    assert found is not None
    for field in fields(SeedTable):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        np.testing.assert_array_equal(one, other)
        assert getattr(one, "dtype", int) == getattr(other, "dtype", int)


names = st.lists(st.text(), min_size=1, max_size=8, unique=True)


@settings(max_examples=examples(40))
@given(
    names=names, seed=st.integers(0, 99), longest=st.sampled_from([1, 9, 90]), n_rate=st.sampled_from([0.0, 0.2, 1.0]),
    kinds=st.lists(st.tuples(st.sampled_from(["+", "-", "both"]), st.integers(0, 2), st.integers(2, 4)), unique=True),
)  # fmt: skip
def test_panels_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    names: list[str],
    seed: int,
    longest: int,
    n_rate: float,
    kinds: list[tuple[Strand, int, int]],
) -> None:
    path = tmp_path_factory.mktemp("panel") / "x"
    lengths = np.random.default_rng(seed).integers(1, longest + 1, len(names)).tolist()
    panel = replace(random_panel(seed, lengths, n_rate), names=tuple(names))
    made = [(strand, make_table(panel.patterns(strand), most, head)) for strand, most, head in kinds]
    write_panel(path, panel, made)
    found = open_panel(path)
    same_panel(found, panel)
    assert found.program == __version__
    assert list(found.tables.numbers) == sorted(kinds)
    for (strand, most, head), (_, table) in zip(kinds, made, strict=True):
        same_table(ready_table(found.patterns(strand), most, head), table)
        assert has_table(found.patterns(strand), most)
    whole = path.read_bytes()
    write_panel(path, found, reversed(made))
    assert path.read_bytes() == whole


def test_patterns_are_those_of_the_panel(tmp_path: Path) -> None:
    panel = random_panel(1, [5, 30, 1])
    write_panel(tmp_path / "x", panel)
    for strand in ("+", "-", "both"):
        found, expected = open_panel(tmp_path / "x").patterns(strand), panel.patterns(strand)
        for name in ("sets", "offsets", "signature", "strand", "lengths"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_table_stands_for_no_other(tmp_path: Path) -> None:
    panel = random_panel(1, [60, 70])
    both = make_table(panel.patterns("both"), 1, 3)
    forward = [make_table(panel.patterns("+"), 0, head) for head in (2, 4)]
    write_panel(tmp_path / "x", panel, [("both", both), *(("+", table) for table in forward)])
    found = open_panel(tmp_path / "x")
    assert repr(found) == f"BuiltPanel(signatures=2, letters={len(panel.sets)}, tables=3)"
    for strand, most in (("+", 1), ("-", 0), ("-", 1), ("both", 0), ("both", 2)):
        assert ready_table(found.patterns(strand), most, 3) is None
        assert not has_table(found.patterns(strand), most)
    same_table(ready_table(found.patterns("both"), 1, 9), both)
    for head, table in ((1, forward[0]), (2, forward[0]), (4, forward[1]), (9, forward[1])):
        same_table(ready_table(found.patterns("+"), 0, head), table)
    assert ready_table(panel.patterns("+"), 0, 2) is None
    assert not has_table(panel.patterns("+"), 0)


def test_tables_of_other_seeds_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = random_panel(1, [60])
    monkeypatch.setitem(kept_tables.SHAPE, "step", 5)
    write_panel(tmp_path / "x", panel, [("+", make_table(panel.patterns("+"), 0, 2))])
    assert has_table(open_panel(tmp_path / "x").patterns("+"), 0)
    monkeypatch.undo()
    found = open_panel(tmp_path / "x")
    same_panel(found, panel)
    assert not has_table(found.patterns("+"), 0)


def test_a_table_is_not_taken_from_another_file(tmp_path: Path) -> None:
    first, second = random_panel(1, [60]), random_panel(2, [60])
    build_panel(first, tmp_path / "x")
    found = open_panel(tmp_path / "x").patterns("+")
    build_panel(second, tmp_path / "x")
    with pytest.raises(InputError, match=r"x, byte 0: is not the file any more .*; make it again"):
        ready_table(found, 0, 2)
    build_panel(first, tmp_path / "x")
    assert ready_table(found, 0, 2) is not None


def test_tables_that_cannot_be_written(tmp_path: Path) -> None:
    panel, other = random_panel(1, [60, 70]), random_panel(1, [60])
    table = make_table(panel.patterns("+"), 0, 2)
    with pytest.raises(ValueError, match="the panel"):
        write_panel(tmp_path / "x", other, [("+", table)])
    with pytest.raises(ValueError, match="the panel"):
        write_panel(tmp_path / "x", panel, [("both", table)])
    with pytest.raises(ValueError, match="two of the tables"):
        write_panel(tmp_path / "x", panel, [("+", table), ("+", table)])
    assert not list(tmp_path.iterdir())


def numbers(letters: list[int]) -> list[int]:
    """The numbers of what letters match, in five letters: letter j counts 5^j."""
    codes = [[bit for bit in range(4) if bases >> bit & 1] + [4] for bases in letters]
    return [sum(code * 5**j for j, code in enumerate(each)) for each in product(*codes)]


@pytest.mark.parametrize("head", [2, 3])
def test_tables_are_what_the_format_says(head: int) -> None:
    """Files hold such tables: whoever changes what an array means makes a new version of the format."""
    panel = random_panel(3, [30, 40, 23])
    table = make_table(panel.patterns("+"), 1, head)
    assert len(table.pattern) == 3 * 2 * 4
    assert (KIND.version, KIND.older) == (2, (1,))  # which differ in their checksums alone
    rows: list[set[int]] = [set() for _ in range(5**head)]
    bits = np.zeros(5**head, object)
    for seed, (pattern, offset) in enumerate(zip(table.pattern.tolist(), table.offset.tolist(), strict=True)):
        sets = panel.sets[panel.offsets[pattern] : panel.offsets[pattern + 1]].tolist()[offset:]
        tails = sum(1 << tail for tail in numbers(sets[head : head + 3]))
        for row in numbers(sets[:head]):
            rows[row].add(seed)
            bits[row] |= tails
        checked = sets[head : head + 16]
        assert table.barred[seed] == sum((15 ^ bases) << 4 * j for j, bases in enumerate(checked))
    for row, seeds in enumerate(rows):
        listed = table.lists[table.first[row] : table.first[row + 1]].tolist()
        assert sorted(listed) == sorted(seeds)
        assert sum(int(word) << 32 * i for i, word in enumerate(table.bits[4 * row : 4 * row + 4])) == bits[row]


# Building


def test_read_panel_takes_either(tmp_path: Path) -> None:
    panel = random_panel(3, [40, 2, 90], letters="ACGT")
    (tmp_path / "x.fa").write_text(
        "".join(f">{name} more\n{panel_letters(panel, i)}\n" for i, name in enumerate(panel.names))
    )
    plain = read_panel(tmp_path / "x.fa")
    assert not isinstance(plain, BuiltPanel)
    build_panel(tmp_path / "x.fa", tmp_path / "x")
    built = read_panel(tmp_path / "x")
    assert isinstance(built, BuiltPanel)
    same_panel(built, plain)
    same_panel(built, panel)


def panel_letters(panel: Panel, number: int) -> str:
    return "".join(LETTERS[bases] for bases in panel.sets[panel.offsets[number] : panel.offsets[number + 1]])


def test_a_built_panel_keeps_its_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "x"
    _, first = build_panel(random_panel(1, [60, 70]), path)
    panel, second = build_panel(path, path, strand="both", max_mismatches=1)
    build_panel(path, path)
    found = open_panel(path)
    same_panel(found, panel)
    assert list(found.tables.numbers) == [TableKey("+", 0, first.head), TableKey("both", 1, second.head)]
    same_table(ready_table(found.patterns("+"), 0, 2), first)
    same_table(ready_table(found.patterns("both"), 1, 2), second)


@pytest.mark.parametrize("options", [{"strand": "x"}, {"max_mismatches": 8}, {"max_mismatches": -1}])
def test_options_that_cannot_be_built(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        build_panel(random_panel(1, [60]), tmp_path / "x", **options)
    assert not list(tmp_path.iterdir())


# Damage


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, bytes]:
    """A file with a table of 25 rows."""
    path, panel = tmp_path / "small", random_panel(5, [20, 12, 3])
    write_panel(path, panel, [("+", make_table(panel.patterns("+"), 0, 2))])
    return path, path.read_bytes()


def read_all(path: Path) -> None:
    found = open_panel(path)
    for key in found.tables.numbers:
        found.tables.read(key)


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"^{path}, byte \d+: .*(make it again|is no panel)") as caught:
        read_all(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_damaged_byte_is_noticed(small: tuple[Path, bytes]) -> None:
    path, whole = small
    read_all(path)
    for place in range(len(whole)):
        flipped = whole[place] ^ 1 << place % 8
        refused(path, whole[:place] + bytes([flipped]) + whole[place + 1 :])


def test_every_cut_off_end_is_noticed(small: tuple[Path, bytes]) -> None:
    path, whole = small
    for size in range(0, len(whole), 3):
        assert "cut off" in refused(path, whole[:size])


def test_other_files(tmp_path: Path) -> None:
    for name, message in (("missing", "no such file"), ("", "is no file")):
        with pytest.raises(InputError, match=message):
            open_panel(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        read_panel(tmp_path / "missing")
    with pytest.raises(InputError, match="is a folder"):
        read_panel(tmp_path)


# Files whose checksums are right, but which say what cannot be


def contents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with ArrayFile(path, KIND) as file:
        return dict(file.metadata), {
            name: file.array(name, one.dtype, len(one.shape)).copy() for name, one in file.sections.items()
        }


def first_moved(array: np.ndarray, by: int) -> np.ndarray:
    array[0] += np.array(by).astype(array.dtype)
    return array


CHANGED = {
    "names that are no text": ("names", lambda array: array | np.uint8(0x80)),
    "the same names": ("names", lambda array: np.tile(array[:2], 3)),
    "names cut elsewhere": ("name_offsets", lambda array: first_moved(array, 1)),
    "a name too many": ("name_offsets", lambda array: np.append(array, array[-1])),
    "names beyond the end": ("name_offsets", lambda array: array * 2),
    "no name": ("name_offsets", lambda array: array[:1]),
    "no offsets of names": ("name_offsets", lambda array: array[:0]),
    "negative offsets": ("offsets", lambda array: -array),
    "descending offsets": ("offsets", lambda array: array[[0, 2, 1, 3]]),
    "an empty signature": ("offsets", lambda array: array[[0, 1, 1, 3]]),
    "offsets of another type": ("offsets", lambda array: array.astype(np.uint64)),
    "offsets in rows": ("offsets", lambda array: array[None]),
    "letters of nothing": ("sets", lambda array: array * np.uint8(0)),
    "letters of more": ("sets", lambda array: array | np.uint8(16)),
    "a letter of more and of nothing": ("sets", lambda array: np.append(array[:-1], np.uint8(16))),
    "a seed of another pattern": ("tables/0/pattern", lambda array: first_moved(array, 1)),
    "a seed between those of another pattern": (
        "tables/0/pattern",
        lambda array: array[[0, -1, *range(2, len(array))]],
    ),
    "a pattern beyond the panel": ("tables/0/pattern", lambda array: array + np.uint32(3)),
    "seeds missing": ("tables/0/pattern", lambda array: array[:-1]),
    "a seed outside its pattern": ("tables/0/offset", lambda array: array + np.uint32(20)),
    "a seed before its pattern": ("tables/0/offset", lambda array: array - np.uint32(16)),
    "a remainder without a seed": ("tables/0/offset", lambda array: first_moved(array, 1)),
    "offsets missing": ("tables/0/offset", lambda array: array[:-1]),
    "letters missing": ("tables/0/barred", lambda array: array[:-1]),
    "bits missing": ("tables/0/bits", lambda array: array[:-1]),
    "rows missing": ("tables/0/first", lambda array: array[:-1]),
    "rows that begin late": ("tables/0/first", lambda array: first_moved(array, 1)),
    "rows that end late": ("tables/0/first", lambda array: array + (np.arange(26) == 25).astype(np.uint32)),
    "rows in another order": ("tables/0/first", lambda array: array[[0, *range(24, 0, -1), 25]]),
    "seeds beyond the seeds": ("tables/0/lists", lambda array: first_moved(array, 1000)),
    "lists missing": ("tables/0/lists", lambda array: array[:-1]),
    "a pattern with and without seeds": ("tables/0/unseeded", lambda array: array * 0),
    "a pattern neither with nor without": ("tables/0/unseeded", lambda array: array[:0]),
    "a pattern twice": ("tables/0/unseeded", lambda array: np.repeat(array, 2)),
    "patterns below 0": ("tables/0/unseeded", lambda array: -array),
}


@pytest.mark.parametrize("name", CHANGED)
def test_contradictions(small: tuple[Path, bytes], name: str) -> None:
    path, _ = small
    metadata, arrays = contents(path)
    section, change = CHANGED[name]
    arrays[section] = change(arrays[section])
    write_arrays(path, KIND, "1", metadata, arrays)
    refused(path, path.read_bytes())


@pytest.mark.parametrize("name", ["a seed twice", "seeds of a head in another order", "patterns in another order"])
def test_order_within_a_table(tmp_path: Path, name: str) -> None:
    """Nothing points out of its array; matches would be found twice, or in another order."""
    panel = random_panel(6, [30, 40, 50, 6, 6])
    table = make_table(panel.patterns("+"), 1, 2)
    write_panel(tmp_path / "x", panel, [("+", table)])
    metadata, arrays = contents(tmp_path / "x")
    begin = int(table.first[np.argmax(np.diff(table.first))])
    assert (np.diff(table.lists[begin : begin + 2].astype(np.int64)) > 0).all()
    if name == "a seed twice":
        arrays["tables/0/lists"][begin + 1] = arrays["tables/0/lists"][begin]
    elif name == "seeds of a head in another order":
        arrays["tables/0/lists"][begin : begin + 2] = arrays["tables/0/lists"][begin : begin + 2][::-1]
    else:
        arrays["tables/0/unseeded"] = arrays["tables/0/unseeded"][::-1]
        assert len(arrays["tables/0/unseeded"]) == 2
    write_arrays(tmp_path / "x", KIND, "1", metadata, arrays)
    assert "out of order, or twice" in refused(tmp_path / "x", (tmp_path / "x").read_bytes())


def test_no_signatures(small: tuple[Path, bytes]) -> None:
    none, one = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    write_arrays(
        small[0], KIND, "1", {"tables": []}, {"names": none, "name_offsets": one, "sets": none, "offsets": one}
    )
    assert "the signatures contradict each other" in refused(small[0], small[0].read_bytes())


def test_seeds_that_have_letters_in_common(tmp_path: Path) -> None:
    panel = random_panel(5, [40])
    write_panel(tmp_path / "x", panel, [("+", make_table(panel.patterns("+"), 1, 2))])
    metadata, arrays = contents(tmp_path / "x")
    arrays["tables/0/offset"][4:] = arrays["tables/0/offset"][:4] + np.uint32(4)
    write_arrays(tmp_path / "x", KIND, "1", metadata, arrays)
    assert "a seed lies where it must not" in refused(tmp_path / "x", (tmp_path / "x").read_bytes())


def test_more_seeds_than_kernels_count(small: tuple[Path, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = small
    monkeypatch.setattr(kept_tables, "MAX_SEEDS", 7)
    assert "contradicts this program: it has 8 seeds, and 7 are the most" in refused(path, whole)


@pytest.mark.parametrize("section", ["names", "sets", "tables/0/bits", "tables/0/unseeded"])
def test_missing_sections(small: tuple[Path, bytes], section: str) -> None:
    path, _ = small
    metadata, arrays = contents(path)
    del arrays[section]
    write_arrays(path, KIND, "1", metadata, arrays)
    assert f"has no section '{section}'" in refused(path, path.read_bytes())


FACTS = {"strand": "+", "max_mismatches": 0, "head": 2, "step": 4, "tail": 3, "checked": 16}


@pytest.mark.parametrize(
    "tables",
    [
        None, 7, {}, [7], [{}], [FACTS | {"more": 1}], [FACTS | {"strand": "x"}], [FACTS | {"strand": []}],
        [FACTS | {"max_mismatches": 8}], [FACTS | {"max_mismatches": False}], [FACTS | {"max_mismatches": "0"}],
        [FACTS | {"head": 2.0}], [FACTS | {"head": 3}], [FACTS | {"strand": "both"}], [FACTS | {"max_mismatches": 1}],
        [FACTS, FACTS | {"head": 3}],
    ],
)  # fmt: skip
def test_facts_that_cannot_be(small: tuple[Path, bytes], tables: object) -> None:
    path, _ = small
    _, arrays = contents(path)
    write_arrays(path, KIND, "1", {"tables": tables}, arrays)
    refused(path, path.read_bytes())


def test_a_file_that_is_taken_away(tmp_path: Path) -> None:
    build_panel(random_panel(1, [60]), tmp_path / "x")
    found = open_panel(tmp_path / "x").patterns("+")
    os.unlink(tmp_path / "x")
    with pytest.raises(InputError, match="no such file"):
        ready_table(found, 0, 2)
