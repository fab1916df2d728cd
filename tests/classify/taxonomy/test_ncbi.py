"""NCBI's dump files: what is read, and what is refused, by file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.classify.options import NO_RANK, RANKS
from oclgenomics.classify.taxonomy import text_fields
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.text_fields import NOT_A_NUMBER, Fields
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import InputError

NODES = ["1 1 no rank", "2 1 superkingdom", "10 2 genus", "30 10 species", "20 10 species", "7 20 strain"]
NAMES = ["1 root|", "2 Bacteria|Bacteria <bacteria>", "30 thirty|", "20 twenty|"]


def write(folder: Path, nodes: list[str], names: list[str] | None = None, merged: list[str] | None = None) -> Path:
    """Write dump files; words of nodes are separated by blanks, the rank is the rest."""
    rows = ["\t|\t".join(line.split(" ", 2)) + "\t|\tXX\t|\t9\t|" for line in nodes]
    (folder / "nodes.dmp").write_text("".join(row + "\n" for row in rows))
    if names is not None:
        lines = [line.split(" ", 1) for line in names]
        text = [
            f"{taxid}\t|\t{rest.split('|')[0]}\t|\t{rest.split('|')[1]}\t|\tscientific name\t|\n"
            for taxid, rest in lines
        ]
        (folder / "names.dmp").write_text("".join(text))
    if merged is not None:
        (folder / "merged.dmp").write_text("".join("\t|\t".join(line.split()) + "\t|\n" for line in merged))
    return folder


def test_tree(tmp_path: Path) -> None:
    tree = read_taxonomy(write(tmp_path, NODES, NAMES, ["5 6", "6 30", "8 99"]))
    assert tree.taxids.tolist() == [1, 2, 7, 10, 20, 30]
    assert tree.parents.tolist() == [0, 0, 4, 1, 3, 3]
    slots = [RANKS.index(rank) for rank in ("root", "domain", "genus", "species")]
    assert tree.ranks.tolist() == [slots[0], slots[1], NO_RANK, slots[2], slots[3], slots[3]]
    assert tree.names == ("root", "Bacteria", "", "", "twenty", "thirty")
    assert tree.find(np.array([5, 6, 30, 8, 0, 7])).tolist() == [5, 5, 5, NO_TAXON, NO_TAXON, 2]
    assert (tree.taxids.dtype, tree.parents.dtype, tree.ranks.dtype) == (np.int64, np.int32, np.int8)
    assert tree.merged_from.tolist() == [5, 6]


@pytest.mark.parametrize("taxa", range(1, 18))
def test_chains(tmp_path: Path, taxa: int) -> None:
    nodes = [f"{taxid} {max(taxid - 1, 1)} clade" for taxid in range(1, taxa + 1)]
    assert len(read_taxonomy(write(tmp_path, nodes))) == taxa
    write(
        tmp_path,
        [*nodes, f"{taxa + 1} {taxa + 1 + taxa} x", *(f"{one + 1} {one} x" for one in range(taxa + 1, 2 * taxa + 1))],
    )
    with pytest.raises(InputError, match="a cycle"):
        read_taxonomy(tmp_path)


def test_only_nodes(tmp_path: Path) -> None:
    tree = read_taxonomy(write(tmp_path, NODES))
    assert tree.names == ("",) * 6
    assert not len(tree.merged_from)


def test_line_breaks_and_packed_files(tmp_path: Path) -> None:
    tree = read_taxonomy(write(tmp_path, NODES, NAMES, []))
    for name in ("nodes.dmp", "names.dmp"):
        text = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(gzip.compress(text.replace(b"\n", b"\r\n\r\n").rstrip()))
    again = read_taxonomy(tmp_path)
    assert again.names == tree.names
    assert again.parents.tolist() == tree.parents.tolist()


def test_short_lines(tmp_path: Path) -> None:
    (tmp_path / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\n2\t|\t1\t|\tgenus")
    assert read_taxonomy(tmp_path).ranks.tolist() == [RANKS.index("root"), RANKS.index("genus")]


def test_synonyms_and_bars_in_names(tmp_path: Path) -> None:
    write(tmp_path, NODES)
    rows = [("2", "syn", "synonym"), ("2", "a|b", "scientific name"), ("2", "late", "scientific name")]
    (tmp_path / "names.dmp").write_text("".join(f"{a}\t|\t{b}\t|\t\t|\t{c}\t|\n" for a, b, c in rows))
    assert read_taxonomy(tmp_path).names[1] == "a|b"


@pytest.mark.parametrize("block_bytes", [1, 30, 64, 200])
def test_blocks(tmp_path: Path, block_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = read_taxonomy(
        write(tmp_path, NODES, [*NAMES, *(f"{taxid} again|" for taxid in (1, 2, 7, 30))], ["5 7", "8 30"])
    )
    monkeypatch.setattr(text_fields, "BLOCK_BYTES", block_bytes)
    again = read_taxonomy(tmp_path)
    assert again.names == tree.names == ("root", "Bacteria", "again", "", "twenty", "thirty")
    for name in ("taxids", "parents", "ranks", "merged_from", "merged_to"):
        assert getattr(again, name).tolist() == getattr(tree, name).tolist()
    (tmp_path / "nodes.dmp").write_bytes((tmp_path / "nodes.dmp").read_bytes() + b"x\n")
    with pytest.raises(InputError, match="line 7: has fewer"):
        read_taxonomy(tmp_path)


def test_parents_that_were_merged(tmp_path: Path) -> None:
    tree = read_taxonomy(write(tmp_path, [*NODES, "40 77 species"], NAMES, ["77 10"]))
    assert tree.parents[tree.find(np.array([40]))[0]] == tree.find(np.array([10]))[0]


def test_equal_lines(tmp_path: Path) -> None:
    assert len(read_taxonomy(write(tmp_path, [*NODES, NODES[2]]))) == 6


@pytest.mark.parametrize(
    ("nodes", "merged", "message"),
    [
        ([], None, "nodes.dmp: the file is empty"),
        (["3 4 genus", "4 3 species", "1 1 no rank"], None, "line 1: taxids 3, 4 are each the parent of"),
        (["1 1 x", *(f"{i} {i % 9 + 2} x" for i in range(2, 11))], None,
         "taxids 2, 4, 6, 8, 10 and 4 more are each the parent of the one before: a cycle"),
        (["2 3 genus", "3 2 species"], None, "has no root"),
        (["1 1 x", "2 2 x", "3 3 x"], None, "line 2: taxids 1, 2, 3 are all roots"),
        (["1 1 x", "2 1 x", "3 9 x", "4 8 x", "5 8 x"], None,
         "line 3: taxid 9, the parent of taxid 3, has no line; 2 parents are missing in all"),
        (["1 1 x", "2 1 genus", "2 1 species"], None, "line 3: taxid 2 is in line 2, too, with another parent or rank"),
        (["1 1 x", "0 1 genus"], None, "line 2: '0' is no taxid"),
        (["1 1 x", "-3 1 genus"], None, "line 2: '-3' is no taxid"),
        (["1 1 x", "2147483648 1 genus"], None, "line 2: '2147483648' is no taxid"),
        (["1 1 x", "99999999999999999999 1 genus"], None, "line 2: '99999999999999999999' is no taxid"),
        (["1 1 x", "2 one genus"], None, "line 2: 'one' is no taxid"),
        (NODES, ["5 6", "6 5"], "merged.dmp, line 1: taxid 5 is merged into one that is merged into it"),
        (NODES, ["5 7", "5 10"], "merged.dmp, line 2: taxid 5 is in line 1, too"),
        (NODES, ["10 20"], "line 1: taxid 10 is merged into 20, but"),
        (NODES, ["x 20"], "merged.dmp, line 1: 'x' is no taxid"),
    ],
)  # fmt: skip
def test_defects(tmp_path: Path, nodes: list[str], merged: list[str] | None, message: str) -> None:
    write(tmp_path, nodes, NAMES, merged)
    with pytest.raises(InputError) as error:
        read_taxonomy(tmp_path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nodes.dmp", b"1\t|\t1\t|\tno rank\t|\n2\t|\t1\n", "nodes.dmp, line 2: has fewer than the 3 fields"),
        ("nodes.dmp", b">seq\nACGT\n", "nodes.dmp, line 1: has fewer than the 3 fields"),
        ("nodes.dmp", b"\n\n\r\n", "nodes.dmp: holds no taxon"),
        ("nodes.dmp", b"x" * (9 << 20), "nodes.dmp: has a line of more than"),
        ("names.dmp", b"1\t|\troot\t|\n", "names.dmp, line 1: has fewer than the 4 fields"),
        ("names.dmp", b"x\t|\troot\t|\t\t|\tscientific name\t|\n", "names.dmp, line 1: 'x' is no taxid"),
        ("names.dmp", b"", "names.dmp: the file is empty"),
    ],
)
def test_garbage(tmp_path: Path, name: str, text: bytes, message: str) -> None:
    write(tmp_path, NODES, NAMES, ["5 7"])
    (tmp_path / name).write_bytes(text)
    with pytest.raises(InputError) as error:
        read_taxonomy(tmp_path)
    assert message in str(error.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no nodes\.dmp; a taxonomy folder holds nodes\.dmp, names\.dmp and"):
        read_taxonomy(tmp_path)
    with pytest.raises(InputError, match="is no folder; a taxonomy folder holds"):
        read_taxonomy(tmp_path / "none")


@given(words=st.lists(st.sampled_from(["", "0", "7", "007", "9" * 18, "9" * 19, "1x", "x1", "-1", " 1", "12345"])))
def test_numbers(words: list[str]) -> None:
    text = "".join(words).encode() + b"\n"
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    begins = ends - [len(word) for word in words] if words else ends
    fields = Fields("x", np.frombuffer(text, np.uint8), begins[None], ends[None], np.arange(len(words)))
    good = [word.isdigit() and len(word) <= 18 for word in words]
    expected = [int(word) if fine else NOT_A_NUMBER for word, fine in zip(words, good, strict=True)]
    assert fields.numbers(0).tolist() == expected
