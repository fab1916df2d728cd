"""GTDB's tables as a taxonomy."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from oclgenomics.classify.taxonomy import gtdb
from oclgenomics.classify.taxonomy.gtdb import representatives, write_gtdb
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.errors import InputError

ABOVE = "d__Bacteria;p__Pseudomonadota;c__Gammaproteobacteria;o__Enterobacterales;f__Enterobacteriaceae"
COLI = f"{ABOVE};g__Escherichia;s__Escherichia coli"
FERGUSONII = f"{ABOVE};g__Escherichia;s__Escherichia fergusonii"


def table(path: Path, *rows: str) -> str:
    path.write_text("".join(f"{row}\n" for row in rows))
    return str(path)


def test_lineages_are_read_as_they_were_written(tmp_path: Path) -> None:
    one = table(tmp_path / "a.tsv", f"RS_GCF_000005845.2\t{COLI}", f"GB_GCA_000000002.1\t{FERGUSONII}")
    packed = tmp_path / "b.tsv.gz"
    packed.write_bytes(gzip.compress(f"RS_GCF_000000003.1\t{COLI}\n".encode()))
    found = write_gtdb([one, str(packed)], str(tmp_path))
    assert found["GCF_000005845.2"] == found["GCF_000000003.1"] != found["GCA_000000002.1"]
    taxonomy = read_taxonomy(tmp_path)
    at = int(taxonomy.taxids.searchsorted(found["GCF_000005845.2"]))
    above = [taxonomy.names[at]]
    while taxonomy.parents[at] != at:
        at = int(taxonomy.parents[at])
        above.append(taxonomy.names[at])
    assert above[::-1] == ["root", *(name[3:] for name in COLI.split(";"))]
    assert len(taxonomy) == 9


def test_taxids_are_those_of_every_release(tmp_path: Path) -> None:
    first = write_gtdb([table(tmp_path / "a", f"x\t{COLI}")], str(tmp_path))
    assert first == {"x": 744769279}
    second = write_gtdb([table(tmp_path / "b", f"y\t{FERGUSONII}", f"x\t{COLI}")], str(tmp_path))
    assert second["x"] == first["x"]


def test_taxa_of_one_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    class Same:
        def __init__(self, _: bytes) -> None: ...

        def digest(self) -> bytes:
            return b"\xff" * 32

    monkeypatch.setattr(gtdb.hashlib, "sha256", Same)
    found = gtdb._taxids(["s__c", "s__a", "s__b"])
    assert found == {"s__a": (1 << 31) - 1, "s__b": 2, "s__c": 3}


@pytest.mark.parametrize(
    "lineage",
    ["", "d__Bacteria", COLI.replace("p__", "x__"), COLI.replace("s__Escherichia coli", "s__"), f"{COLI};t__x"],
)
def test_what_is_no_lineage(tmp_path: Path, lineage: str) -> None:
    with pytest.raises(InputError, match=r"line 2: .*is no lineage"):
        write_gtdb([table(tmp_path / "a", f"x\t{COLI}", f"y\t{lineage}")], str(tmp_path))


def test_a_taxon_lies_in_one_other(tmp_path: Path) -> None:
    other = COLI.replace("f__Enterobacteriaceae", "f__Other")
    with pytest.raises(InputError, match="g__Escherichia lies in f__Other, and above in f__Enterobacteriaceae"):
        write_gtdb([table(tmp_path / "a", f"x\t{COLI}", f"y\t{other}")], str(tmp_path))


def test_damaged_tables(tmp_path: Path) -> None:
    packed = tmp_path / "b.tsv.gz"
    packed.write_bytes(gzip.compress(f"x\t{COLI}\n".encode())[:-9])
    for path in (packed, tmp_path / "none.tsv.gz"):
        with pytest.raises(InputError, match="cannot be read"):
            write_gtdb([str(path)], str(tmp_path))


def test_representatives(tmp_path: Path) -> None:
    rows = ["Representative genome\tGTDB species", "RS_GCF_000005845.2\ts__x\tGB_GCA_000000009.1", "GCA_000000002.1\ty"]
    assert representatives(table(tmp_path / "a", *rows)) == {"GCF_000005845.2", "GCA_000000002.1"}
    with pytest.raises(InputError, match="names no representative"):
        representatives(table(tmp_path / "b", rows[0]))
