"""Genes of GFF3, GTF and BED: which lines are genes, what they are called, and which lie near a place."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.variation.genes import Genes, read_genes

GFF3 = (
    "##gff-version 3\n"
    "chr1\tx\tregion\t1\t900\t.\t.\t.\tID=r\n"
    "chr1\tx\tgene\t500\t600\t.\t+\t.\tID=gene:E2\n"
    "chr1\tx\tgene\t100\t200\t.\t-\t.\tID=gene:E1;Name=A%3BB;gene_id=E1\n"
    "chr1\tx\tmRNA\t100\t200\t.\t-\t.\tID=t;Parent=gene:E1\n"
    "chr2\tx\tncRNA_gene\t7\t7\t.\t-\t.\tgene=C\n"
    "##FASTA\n>chr1\nACGT\n"
)
GTF = (
    '#!build\nchr1\tx\tgene\t500\t600\t.\t+\t.\tgene_id "E2";\n'
    'chr1\tx\ttranscript\t400\t600\t.\t+\t.\tgene_id "E2"; transcript_id "T";\n'
    'chr1\tx\tgene\t100\t200\t.\t-\t.\tgene_id "E1"; gene_name "A;B";\n'
    'chr2\tx\tpseudogene\t7\t7\t.\t-\t.\tgene_id "X"; gene_name "C"; level 2;\n'
)
PARTS = (
    'chr1\tx\texon\t500\t520\t.\t+\t.\tgene_id "E2"; transcript_id "T";\n'
    'chr1\tx\texon\t110\t200\t.\t-\t.\tgene_id "E1"; gene_name "A;B";\n'
    'chr1\tx\tCDS\t100\t150\t.\t-\t.\tgene_id "E1"; gene_name "A;B";\n'
    'chr1\tx\texon\t550\t600\t.\t+\t.\tgene_id "E2"; transcript_id "U";\n'
    'chr2\tx\texon\t7\t7\t.\t-\t.\tgene_id "X"; gene_name "C"\n'
)
BED = "track name=x\nchr1\t499\t600\tE2\t0\t+\nchr1\t99\t200\tA;B\nchr2 6 7 C\n"


@pytest.mark.parametrize("text", [GFF3, GTF, PARTS, BED], ids=["gff3", "gtf", "parts", "bed"])
def test_genes_are_those_of_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "genes.gz"
    path.write_bytes(gzip.compress(text.encode()))
    genes = read_genes(path)
    assert genes.names == {"chr1": ["A;B", "E2"], "chr2": ["C"]}
    assert {name: one.tolist() for name, one in genes.starts.items()} == {"chr1": [100, 500], "chr2": [7]}
    assert {name: one.tolist() for name, one in genes.ends.items()} == {"chr1": [200, 600], "chr2": [7]}
    assert len(genes) == 3


def test_bed_without_names(tmp_path: Path) -> None:
    path = tmp_path / "genes"
    path.write_text("1\t9\t20\n")
    assert read_genes(path).names == {"1": ["1:10-20"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# x\n", "holds no gene"),
        (GFF3.split("chr1\tx\tgene")[0], "holds no gene"),
        (GTF + "chr1\tx\n", "6: is no feature"),
        (GTF + "chr1\tx\tgene\t9\t5\t.\t.\t.\tgene_id\n", "6: is no feature"),
        (GTF + "chr1\tx\tgene\t0\t5\t.\t.\t.\tgene_id\n", "6: is no feature"),
        (GTF + "chr1\tx\tgene\t-1\t5\t.\t.\t.\tgene_id\n", "6: is no feature"),
        ("chr1\tx\ty\n", "is no region"),
    ],
)
def test_files_without_genes(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "genes"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_genes(path)


@settings(max_examples=60, deadline=None)
@given(
    spans=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 30)), min_size=1, max_size=8),
    first=st.integers(1, 90), length=st.integers(0, 20),
)  # fmt: skip
def test_genes_at_and_near_a_place(spans: list[tuple[int, int]], first: int, length: int) -> None:
    ordered = sorted((start, start + more) for start, more in spans)
    starts, ends = (np.array(side, np.int64) for side in zip(*ordered, strict=True))
    names = [f"g{number}" for number in range(len(ordered))]
    genes = Genes({"chr1": starts}, {"chr1": ends}, {"chr1": names})
    place, last = first + 0.25, first + length
    within = [
        name for name, (a, b) in zip(names, ordered, strict=True) if any(a <= x <= b for x in range(first, last + 1))
    ]
    distances = [max(a - place, place - b, 0) for a, b in ordered]
    for chromosome in ("1", "chr1"):
        assert genes.has(chromosome)
        assert genes.overlapping(chromosome, first, last) == within
        assert genes.nearest(chromosome, place) == (names[int(np.argmin(distances))], round(min(distances)))
    assert not genes.has("2")
    assert genes.overlapping("2", 1, 9) == []
    assert genes.nearest("2", 1) is None
