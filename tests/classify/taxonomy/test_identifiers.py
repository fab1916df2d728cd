"""Names and taxids of headers, as MetaCache 2.6.0 finds them."""

from __future__ import annotations

import pytest

from oclgenomics.classify.options import IdFormat
from oclgenomics.classify.taxonomy.identifiers import header_taxids, sequence_ids, told_apart

# header, and its names by the rules smart, ncbi, gi, filename and leadingword; None: the whole header
HEADERS: list[tuple[str, str | None, str | None, str | None, str | None, str | None]] = [
    ("kraken:taxid|20|AB_00001.1 x", "AB_00001.1", "AB_00001.1", None, "kraken:taxid|20|AB_00001",
     "kraken:taxid|20|AB_00001.1"),
    ("AB_000011.2 taxid|21|", "AB_000011.2", "AB_000011.2", None, "AB_000011", "AB_000011.2"),
    ("taxid=22 foo", None, None, None, None, "taxid=22"),
    ("gi|12345|gb|X taxid: 20", "12345", None, "12345", None, "gi|12345|gb|X"),
    ("gi: 77 |x", "77", None, "77", None, "gi:"),
    ("gi|  88 |", "88", None, "88", None, "gi|"),
    ("plain header.with dots", "plain header", None, None, "plain header", "plain"),
    ("path/to/contig.1 z", "contig", None, None, "contig", "path/to/contig.1"),
    ("path/", None, None, None, None, None),
    (".foo", None, None, None, None, None),
    ("  lead word NC_12345", "NC_12345", "NC_12345", None, None, "lead"),
    ("xNC_12345", None, None, None, None, None),
    ("-NC_12345.12.3", "NC_12345.12", "NC_12345.12", None, "-NC_12345", None),
    ("NC_1234", None, None, None, None, None),
    ("ABCDEFGHIJKL_12345", None, None, None, None, None),
    ("AB__12345z", "AB__12345", "AB__12345", None, None, None),
    ("gi=5 gi|6|", "6", None, "6", None, "gi=5"),
    ("\u00e9NC_99999", "NC_99999", "NC_99999", None, None, None),
    (" AB1234567 ", "AB1234567", "AB1234567", None, None, "AB1234567"),
]  # fmt: skip
FORMATS: tuple[IdFormat, ...] = ("smart", "ncbi", "gi", "filename", "leadingword")


@pytest.mark.parametrize("rule", range(5))
def test_rules(rule: int) -> None:
    for row in HEADERS:
        expected = row[0] if row[rule + 1] is None else row[rule + 1]
        assert sequence_ids([row[0]], ["a.fna"], FORMATS[rule]) == [expected], row[0]


def test_equal_names() -> None:
    headers = ["AB_000011.2 a", "AB_000011.2 b", "AB_000011.2 c", "x", "x!1", "x", "x"]
    names = ["AB_000011.2", "AB_000011.2!1", "AB_000011.2!2", "x", "x!1", "x!2", "x!3"]
    assert told_apart(sequence_ids(headers, ["a"] * 7, "smart")) == names
    assert len(set(told_apart(["contig.1"] * 100_000))) == 100_000


def test_no_header() -> None:
    assert sequence_ids(["", ""], ["dir.x/genome.fna.gz", "other"], "smart") == ["genome", "other"]
    assert sequence_ids([], [], "ncbi") == []


@pytest.mark.parametrize(
    ("header", "taxid"),
    [
        ("kraken:taxid|20|AB_00001.1 x", 20), ("taxid=22 foo", 22), ("AB taxid|31", 31), ("gi|1|X taxid: 20", 0),
        ("taxid: 20|", 20), ("foo taxid|+30 x", 30), ("taxid|20abc|", 20), ("taxid||20", 0), ("taxid", 0),
        ("taxid|", 0), ("", 0), ("taxid|-5|", 0), ("x taxid 99999999999999999999999|", 0), ("tax|5", 0),
        ("taxid|7|taxid|8|", 7),
    ],
)  # fmt: skip
def test_taxids(header: str, taxid: int) -> None:
    assert header_taxids([header]).tolist() == [taxid]
