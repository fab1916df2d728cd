"""Ancestral bases: from FASTA and INFO/AA, and the states of sites that they turn."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import make_alignment
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io import source as sources
from oclgenomics.variation import ReadOptions, ancestral, read_alignments
from oclgenomics.variation.ancestral import AncestralFasta, polarised
from oclgenomics.variation.packing import unpack_sites

HEAD = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"


@settings(max_examples=40, deadline=None)
@given(
    records=st.lists(
        st.tuples(st.sampled_from(["1", "chr2", "X", "M"]), st.text("ACGTacgtN.-", max_size=30)), max_size=5
    ),
    asked=st.lists(st.sampled_from(["1", "2", "chrX", "chrM", "3"]), max_size=6),
    width=st.integers(1, 9), chunk=st.integers(1, 17), end=st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_bases_do_not_depend_on_lines_chunks_and_the_order_of_chromosomes(
    records: list[tuple[str, str]],
    asked: list[str],
    width: int,
    chunk: int,
    end: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    records = list({name: (name, bases) for name, bases in records}.values())
    lines = [f">{name} of somebody{end}" + "".join(bases[i : i + width] + end for i in range(0, len(bases), width))
             for name, bases in records]  # fmt: skip
    path = tmp_path_factory.mktemp("ancestral") / "x.fa"
    path.write_bytes("".join(lines).encode() or b">none\n")
    known = {name.removeprefix("chr"): bases for name, bases in records}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ancestral, "Source", lambda name: sources.Source(name, chunk_bytes=chunk))
        fasta = AncestralFasta(path)
        for name in asked:
            bases = known.get(name.removeprefix("chr"))
            found = fasta.bases(name, np.arange(1, len(bases or "") + 1))
            assert (None if found is None else found.tobytes().decode()) == bases
        fasta.close()


def test_headers_of_ensembl_and_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.fa.gz"
    path.write_bytes(gzip.compress(b">ANCESTOR_for_chromosome:GRCh38:20:11:16:1\nacGT\nN.\n"))
    fasta = AncestralFasta(path)
    found = fasta.bases("chr20", np.array([11, 14, 16]))
    assert found is not None
    assert found.tobytes() == b"aT."
    for wrong in (10, 17):
        with pytest.raises(InputError, match=f"has bp 11 to 16 of chr20, and a site lies at {wrong}; give that of the"):
            fasta.bases("chr20", np.array([12, wrong]))
    (tmp_path / "x.txt").write_text("ACGT\n>1\nA\n")
    with pytest.raises(InputError, match="is no FASTA: it does not begin with '>'"):
        AncestralFasta(tmp_path / "x.txt").bases("1", np.array([1]))
    for path in ("-", str(tmp_path)):
        with pytest.raises(InputError, match="is no file; ancestral bases are read from a file only"):
            AncestralFasta(path)


INFOS = {"AA=A": "A", "AF=0.5;AA=g": "g", "AA=C|||;DP=4": "C", "AA=.": ".", "AA=AC": "", "CAA=T": "", "DP=1": "",
         ".": "", "AA=": "", "DP=3;AA=T|x|y": "T", "AAA=T;AA=N;AB=G": "N", "AAX=T": ""}  # fmt: skip


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_info_aa(block: int, tmp_path: Path) -> None:
    rows = [f"1\t{at}\t.\tA\tC\t.\tPASS\t{info}\tGT\t0|1\t1|0\n" for at, info in enumerate(INFOS, start=1)]
    rows.insert(3, "1\t3\t.\tA\tCT\t.\tPASS\tAA=G\tGT\t0|1\t1|0\n")  # which is not read
    (tmp_path / "x.vcf").write_text(HEAD + "".join(rows))
    (one,) = read_alignments(tmp_path / "x.vcf", ReadOptions(ancestral=True), block_bytes=block)
    assert one.ancestral is not None
    one.validate()
    found = [chr(base) if base in b"ACGTacgtN." else "" for base in one.ancestral.tolist()]
    assert found == list(INFOS.values())
    (plain,) = read_alignments(tmp_path / "x.vcf")
    assert plain.ancestral is None
    (tmp_path / "x.fa").write_text(">a\nACG\n>b\nACT\n")
    with pytest.raises(ParameterError, match="only VCF and BCF have INFO/AA"):
        next(iter(read_alignments(tmp_path / "x.fa", ReadOptions(ancestral=True))))


def test_derived_states_of_sites() -> None:
    states = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0]], np.uint8)
    seen = np.ones((5, 4), bool)
    seen[1, 0] = seen[2, 3] = False
    one = make_alignment(states * seen, np.arange(5) + 1, seen)
    one.alphabet, one.letters = "dna", np.frombuffer(b"AGCTAGACGT", np.uint8).reshape(5, 2).copy()
    one.ancestral = np.frombuffer(b"ATgGt", np.uint8)
    found, known, other = polarised(one)
    assert (known.tolist(), other.tolist()) == ([True, True, False, False, False], [False, False, False, True, False])
    assert unpack_sites(found.bits, 4).tolist() == [
        [0, 1, 1, 0],
        [0, 0, 1, 1],
        [0, 1, 1, 0],
        [1, 1, 0, 1],
        [0, 1, 1, 0],
    ]
    assert found.letters[:2].tobytes() == b"AGTC"
    found.validate()
    found, known, _ = polarised(one, lower_case=True)
    assert known.tolist() == [True, True, True, False, True]
    assert unpack_sites(found.bits, 4)[2:].tolist() == [[1, 0, 0, 0], [1, 1, 0, 1], [1, 0, 0, 1]]
    assert unpack_sites(one.bits, 4)[1].tolist() == [0, 1, 0, 0]
    one.alphabet = "binary"
    with pytest.raises(ParameterError, match="the alleles of 1 are 0 and 1"):
        polarised(one)
    one.ancestral = None
    with pytest.raises(ParameterError, match="1 has no ancestral bases"):
        polarised(one)
