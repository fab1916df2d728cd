"""Results that are merged, against MetaCache's rules and against one database built at once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.classified import DATA

from oclgenomics.classify import (
    QueryOptions,
    merge,
)
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.runtime import Device

HEAD = "# TABLE_LAYOUT: query_id\t|\tquery_header\t|\ttop_hits\t|\trank:taxname\n# reads.fq\n"
TAXONOMY, SPECIES = DATA / "edge", QueryOptions(lowest="species")


def written(path: Path, *rows: tuple[int, str, str]) -> Path:
    lines = [f"{number}\t|\t{name}\t|\t{hits}\t|\t--\n" for number, name, hits in rows]
    path.write_text(HEAD + "".join(lines) + "# queries: 3\n")
    return path


def found(*paths: Path, options: QueryOptions = SPECIES) -> list[tuple[str, int, list[str]]]:
    """The name, the taxid and the candidates of each read."""
    result = merge(paths, TAXONOMY, options)
    names = result.lineages.targets.names
    candidates = [
        [f"{names[one.target]}:{one.hits}" for one in part.candidates.of(i)]
        for part in result.parts
        for i in range(len(part))
    ]
    rows = zip(result.records(), candidates, strict=True)
    return [(row["read"], row["taxid"], shown) for row, shown in rows]


def test_the_best_candidates_of_all_results_count(tmp_path: Path) -> None:
    one = written(tmp_path / "a", (1, "x", "501:7,510:3"), (2, "y", ""), (3, "z", "502:9"))
    two = written(tmp_path / "b", (2, "y", "510:6"), (1, "x", "510:9,501:8"), (3, "z", "501:9,510:8"))
    for paths in ((one, two), (two, one)):  # taken in the order of their names
        assert found(*paths) == [
            ("x", 2, ["510:9", "501:8"]),
            ("y", 510, ["510:6"]),
            ("z", 50, ["502:9", "501:9"]),
        ]
    assert found(one, one) == found(one)
    strict = QueryOptions(hitmin=9, lowest="species", maxcand=1)
    assert found(one, two, options=strict) == [("x", 510, ["510:9"]), ("y", 0, ["510:6"]), ("z", 502, ["502:9"])]


def test_results_of_no_candidates_and_of_no_reads(tmp_path: Path) -> None:
    assert found(written(tmp_path / "a", (1, "x", ""))) == [("x", 0, [])]
    assert found(written(tmp_path / "b")) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "x", "-3:4")], r"line 3: '-3' is not a taxid; write it with --queryids --tophits --lowest species"),
        ([(1, "x", "EDG_000501.1:4")], "line 3: 'EDG_000501.1' is not a taxid"),
        ([(1, "x", "501:4"), (2, "y", "501:")], "line 4: '' is not a number of hits"),
        ([(1, "x", "501"), (2, "y", "501:1:1")], "has candidates that are not taxid:hits"),
        ([(1, "x", "501,501:1:1")], "line 3: has candidates that are not taxid:hits"),
        ([(1, "x\t|\ty", "501:4")], "line 3: has not the four columns"),
        ([(1, "x", "501:4"), (1, "y", "")], "has two lines for read 1"),
        ([(1, "x", "7777:4")], "the taxonomy lacks taxid 7777"),
        ([("1x", "x", "501:4")], "line 3: '1x' is not the number of the read"),
    ],
)
def test_what_is_no_result(tmp_path: Path, rows: list[tuple[int, str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        merge([written(tmp_path / "a", *rows)], TAXONOMY)


def test_results_of_other_reads(tmp_path: Path) -> None:
    one = written(tmp_path / "a", (1, "x", ""), (2, "y", ""))
    with pytest.raises(InputError, match=r"b: lacks read 2, which another result has"):
        merge([one, written(tmp_path / "b", (1, "x", ""))], TAXONOMY)
    with pytest.raises(InputError, match=r"c: read 2 is 'z', and 'y' in .*a; only results of the same reads"):
        merge([one, written(tmp_path / "c", (1, "x", ""), (2, "z", ""))], TAXONOMY)
    other = tmp_path / "d"
    other.write_text("read\ttaxon\n")
    with pytest.raises(InputError, match="d: is no result that can be merged"):
        merge([other], TAXONOMY)


def halves(folder: Path) -> list[list[str]]:
    files = sorted(map(str, (DATA / "viral" / "ref").glob("*.fna")))
    return [files[:30], files[30:]]


def test_parts_of_the_viruses(device: Device, tmp_path: Path) -> None:
    """Merged results of two databases are those of one."""
    reads, taxonomy = str(DATA / "viral" / "reads" / "se150.fq.gz"), str(DATA / "viral" / "tax")
    common = ["-d", str(device.index), "-q"]
    for number, files in enumerate(halves(tmp_path)):
        assert (
            main(
                [
                    "classify",
                    "build",
                    f"{tmp_path}/{number}",
                    *files,
                    "--taxonomy",
                    taxonomy,
                    "--winlen",
                    "127",
                    "--min-triplets",
                    "0",
                    *common,
                ]
            )
            == 0
        )
        words = ["--repeats", "--queryids", "--tophits", "--lowest", "species", "-o", f"{tmp_path}/{number}.txt"]
        assert main(["classify", "query", f"{tmp_path}/{number}", reads, *words, *common]) == 0
    merged = ["--queryids", "--tophits", "--taxids", "-o", f"{tmp_path}/merged", "-q"]
    assert main(["classify", "merge", f"{tmp_path}/1.txt", f"{tmp_path}/0.txt", "--taxonomy", taxonomy, *merged]) == 0
    expected = gzip.decompress((DATA / "viral" / "se150.species.tophits.txt.gz").read_bytes()).decode().splitlines()
    rows = [line.split("\t|\t") for line in (tmp_path / "merged").read_text().splitlines() if line[0] != "#"]
    golden = [line.split("\t|\t") for line in expected if line[0] != "#"]
    assert [(row[0], row[1], row[3]) for row in rows] == [(row[0], row[1], row[3]) for row in golden]
