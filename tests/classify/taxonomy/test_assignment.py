"""Taxids of targets: which of several sources counts."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.taxonomies import taxonomy_of
from hypothesis import given, strategies as st

from oclgenomics.classify.taxonomy.accession_maps import KeyFilter, matching_entries
from oclgenomics.classify.taxonomy.assignment import assign_taxa, unknown_taxids
from oclgenomics.errors import InputError

SUMMARY_HEAD = (
    "#   See ftp://ftp.ncbi.nlm.nih.gov/genomes/README.txt\n#assembly_accession\tbioproject\ttaxid\tspecies_taxid\n"
)
PACKERS = [(".gz", gzip.compress), (".bgz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
MAP_HEAD = "accession\taccession.version\ttaxid\tgi\n"


def assign(names: list[str], folder: Path | None, sources: list[str] | None = None, **options: object) -> list[int]:
    taxids = options.pop("taxids", [0] * len(names))
    files = ["x.fna"] * len(names) if sources is None else sources
    return assign_taxa(names, np.array(taxids, np.int64), files, folder, **options).tolist()  # type: ignore[arg-type]


def test_order_of_sources(tmp_path: Path) -> None:
    refs, tax = tmp_path / "refs", tmp_path / "tax"
    refs.mkdir(), tax.mkdir()
    (refs / "assembly_summary.txt").write_text(SUMMARY_HEAD + "GCF_000001.1\tP\t11\t1\nNC_00002.1\tP\t12\t1\n")
    (tax / "assembly_summary_refseq.txt").write_text(SUMMARY_HEAD + "GCF_000001.1\tP\t99\t1\nNC_00003.1\tP\t13\t1\n")
    (tax / "nucl_gb.accession2taxid").write_text(
        MAP_HEAD + "NC_00004\tNC_00004.1\t14\t5\nNC_00001\tNC_00001.1\t98\t6\n"
    )
    names = ["NC_00001.1", "NC_00002.1", "NC_00003.1", "NC_00004.1", "NC_00005.1"]
    files = [str(refs / "GCF_000001.1_x.fna"), *[str(refs / "other.fna")] * 4]
    assert assign(names, tax, files) == [11, 12, 13, 14, 0]
    assert assign(names, tax, files, taxids=[7] * 5) == [11, 12, 13, 7, 7]
    assert assign(names, tax, files, taxids=[7] * 5, reset=True) == [98, 12, 13, 14, 7]
    assert assign(names, None, ["x.fna"] * 5, taxids=[7] * 5) == [7] * 5


@pytest.mark.parametrize("head", ["accession\ttax\n", "# taxid\n", "# taxid\n#accession\ttax\n"])
def test_heads_that_do_not_name_both_columns_are_none(tmp_path: Path, head: str) -> None:
    """Columns then go by their number."""
    (tmp_path / "a.accession2taxid").write_text(head + "NC_00001.1\t4\n")
    assert assign(["NC_00001.1", "NC_00002.1"], tmp_path) == [4, 0]


def test_taxids_that_the_taxonomy_lacks(tmp_path: Path) -> None:
    (tmp_path / "a.accession2taxid").write_text(MAP_HEAD + "NC_00001\tNC_00001.1\t2\t5\n")
    taxonomy = taxonomy_of({1: 1, 2: 1})
    names = ["NC_00001.1", "NC_00002.1"]
    taxids = assign(names, tmp_path, taxids=[50, 51], taxonomy=taxonomy)
    assert taxids == [2, 51]
    told = unknown_taxids(names, np.array(taxids), taxonomy)
    assert told == "1 target without a taxon, since the taxonomy lacks the taxid: NC_00002.1 (51)"
    assert unknown_taxids(names, np.array([2, 0]), taxonomy) is None


@pytest.mark.parametrize("packed", [False, True])
def test_maps_of_accessions(tmp_path: Path, packed: bool) -> None:
    rows = ["NC_00001\tNC_00001.7\t3\t5", "AB12345\tAB12345.1\t4\t0", "AB123456\tAB123456.1\t5\t12",
            "X\tX\t6\t77", "NC_00009\tNC_00009.1\t0\t8"]  # fmt: skip
    text = (MAP_HEAD + "".join(row + "\n" for row in rows)).encode()
    (tmp_path / f"my.accession2taxid{'.gz' if packed else ''}").write_bytes(gzip.compress(text) if packed else text)
    names = ["NC_00001.1", "AB123456.1", "AB12345", "77", "NC_00001.1!1", "0", "X", "NC_00009.1", "X.1", "AB1234"]
    assert assign(names, tmp_path) == [3, 5, 4, 6, 3, 0, 6, 0, 0, 0]


def test_exact_versions_are_preferred(tmp_path: Path) -> None:
    file = tmp_path / "map.tsv"
    file.write_text("NC_00001.1\t3\nNC_00001.2\t4\ncontig.1\t5\n")
    names = ["NC_00001.2", "NC_00001.1", "NC_00001.3", "NC_00001", "contig.1", "contig.2"]
    assert assign(names, None, maps=[file]) == [4, 3, 3, 3, 5, 0]


def test_first_words_of_headers(tmp_path: Path) -> None:
    """A header without an accession is a target's name as a whole; maps have its first word."""
    (tmp_path / "map.tsv").write_text("myctg1\t3\nmyctg2.1\t4\nmyctg2.1 len=6\t5\nlen=5\t9\n")
    names = ["myctg1 len=5", "myctg2.1 len=6", "myctg1\tx", "other len=5", "myctg1 len=5!1", " "]
    assert assign(names, None, maps=[tmp_path / "map.tsv"]) == [3, 5, 3, 0, 3, 0]
    (tmp_path / "assembly_summary_genbank.txt").write_text("myctg1\t21\n")
    assert assign(names, tmp_path) == [21, 0, 21, 0, 21, 0]


@pytest.mark.parametrize(("ending", "pack"), PACKERS)
def test_packed_maps_of_a_folder(tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / f"my.accession2taxid{ending}").write_bytes(pack((MAP_HEAD + "X\tX.1\t6\t77\n").encode()))
    assert assign(["X.1"], tmp_path) == [6]


def test_given_maps_come_first(tmp_path: Path) -> None:
    mine = tmp_path / "mine.map"
    mine.write_text("NC_00001\tNC_00001.1\t3\t5\n")
    (tmp_path / "a.accession2taxid").write_text(MAP_HEAD + "NC_00001\tNC_00001.1\t4\t5\nNC_00002\tNC_00002.1\t4\t5\n")
    (tmp_path / "nucl_wgs.accession2taxid").write_text(MAP_HEAD + "NC_00002\tNC_00002.1\t5\t5\n")
    assert assign(["NC_00001.1", "NC_00002.1"], tmp_path, maps=[mine]) == [3, 5]


def test_summaries_without_version_or_names(tmp_path: Path) -> None:
    (tmp_path / "assembly_summary_genbank.txt").write_text("GCA_000009.2\t21\nGCA_000009.1\t20\nplasmid\t22\n")
    files = ["a/GCA_000009_x.fna", "a/plasmid.fa.gz", "a/GCA_000009.2.fna", "a/GCA_000009.3.fna"]
    assert assign(["a", "b", "c", "d"], tmp_path, files) == [20, 22, 21, 20]
    assert assign(["a", "b", "c", "d"], tmp_path, files, id_format="ncbi") == [20, 0, 21, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NC_00001.1\tx1\n", "map.tsv, line 1: 'x1' is no taxid"),
        ("other\t1\nNC_00001.1\t-4\n", "map.tsv, line 2: '-4' is no taxid"),
        ("NC_00001.1\t2147483648\n", "map.tsv, line 1: '2147483648' is no taxid"),
        ("NC_00001.1 5\n", "map.tsv, line 1: has no columns, which tabs separate"),
        ("", "map.tsv: the file is empty"),
    ],
)
def test_defects(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "map.tsv").write_text(text)
    with pytest.raises(InputError) as error:
        assign(["NC_00001.1"], None, maps=[tmp_path / "map.tsv"])
    assert message in str(error.value)
    with pytest.raises(InputError, match="no such file"):
        assign(["NC_00001.1"], None, maps=[tmp_path / "none"])


WORDS = st.text("AB.1", max_size=30)


@given(words=st.lists(WORDS, max_size=30), wanted=st.lists(WORDS, max_size=5))
def test_filter(words: list[str], wanted: list[str]) -> None:
    """Of words that are equal to wanted ones up to the first point none is lost, and few others are found."""
    ends = np.cumsum([len(word) + 1 for word in words], dtype=np.int64) - 1 if words else np.zeros(0, np.int64)
    text = np.frombuffer("\t".join([*words, ""]).encode(), np.uint8)
    begins = ends - np.array([len(word) for word in words], np.int64)
    found = KeyFilter(wanted).find(text, begins, ends).tolist()
    heads = [word[:24].partition(".")[0] for word in words]
    sought = {word[:24].partition(".")[0] for word in wanted}
    assert found == [at for at, head in enumerate(heads) if head in sought]


def test_only_wanted_lines(tmp_path: Path) -> None:
    lines = [f"AB{at:06}\tAB{at:06}.1\t{at + 1}\t{at}" for at in range(300_000)]
    (tmp_path / "big").write_text(MAP_HEAD + "\n".join(lines))
    wanted = ["AB000000", "AB299999.1", "AB123456.9", "none"]
    found = [entry for entry in matching_entries(tmp_path / "big", wanted) if "." in entry.key]
    assert [(entry.key, entry.taxid) for entry in found] == [
        ("AB000000.1", 1), ("AB123456.1", 123457), ("AB299999.1", 300000),
    ]  # fmt: skip
