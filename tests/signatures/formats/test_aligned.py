"""PAF and SAM: every byte of small ones, what samtools makes of them, and the edits that their CIGARs describe."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pysam
import pytest
from helpers.signature_parts import Read, scan_parts
from hypothesis import given, settings, strategies as st

from oclgenomics.app.reports import write_reports
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.signatures.formats.reports import make_report
from oclgenomics.signatures.options import ReportFormat, ScanOptions
from oclgenomics.signatures.panels.letters import COMPLEMENTS, sets_of

READS = [
    Read("r1", "NGATTUCATCAGGTTAACC", "!+5?+++5IIIIIIIIIII"),
    Read("r2", "ggggTGTAATCgg"),
    Read("", "GATACA", "IIIIII"),
]
SIGNATURES = [("a", "GATTACA"), ("b", "TTAACC")]
OPTIONS = ScanOptions(strand="both", max_edits=1, alignments=True)
PAF = """\
r1\t19\t1\t8\t+\ta\t7\t0\t7\t6\t7\t255\ttp:A:S\tcg:Z:4=1X2=\tNM:i:1\tXI:i:6\tXH:i:1\tXQ:f:15.714
r1\t19\t13\t19\t+\tb\t6\t0\t6\t6\t6\t255\ttp:A:P\tcg:Z:6=\tNM:i:0\tXI:i:6\tXH:i:1\tXQ:f:40.000
r1\t19\t11\t17\t-\tb\t6\t0\t6\t6\t6\t255\ttp:A:S\tcg:Z:6=\tNM:i:0\tXI:i:6\tXH:i:1\tXQ:f:40.000
r2\t13\t4\t11\t-\ta\t7\t0\t7\t7\t7\t255\ttp:A:P\tcg:Z:7=\tNM:i:0\tXI:i:7\tXH:i:1
r2\t13\t2\t9\t-\tb\t6\t0\t6\t6\t7\t255\ttp:A:S\tcg:Z:3=1I3=\tNM:i:1\tXI:i:6\tXH:i:1
*\t6\t0\t6\t+\ta\t7\t0\t7\t6\t7\t255\ttp:A:P\tcg:Z:2=1D4=\tNM:i:1\tXI:i:6\tXH:i:1\tXQ:f:40.000
"""
SAM = """\
@HD\tVN:1.6\tSO:unsorted\tGO:query
@SQ\tSN:a\tLN:7
@SQ\tSN:b\tLN:6
@PG\tID:oclgenomics\tPN:oclgenomics\tVN:1\tCL:oclgenomics signatures scan
@CO\tdevice: name=x
r1\t256\ta\t1\t255\t1S4=1X2=11S\t*\t0\t0\t*\t*\tNM:i:1\tXI:i:6\tXH:i:1\tXQ:f:15.714
r1\t0\tb\t1\t255\t13S6=\t*\t0\t0\tNGATTTCATCAGGTTAACC\t!+5?+++5IIIIIIIIIII\tNM:i:0\tXI:i:6\tXH:i:1\tXQ:f:40.000
r1\t272\tb\t1\t255\t2S6=11S\t*\t0\t0\t*\t*\tNM:i:0\tXI:i:6\tXH:i:1\tXQ:f:40.000
r2\t16\ta\t1\t255\t2H7=4H\t*\t0\t0\tGATTACA\t*\tNM:i:0\tXI:i:7\tXH:i:1
r2\t272\tb\t1\t255\t4H3=1I3=2H\t*\t0\t0\tTTACAcc\t*\tNM:i:1\tXI:i:6\tXH:i:1
*\t0\ta\t1\t255\t2=1D4=\t*\t0\t0\tGATACA\tIIIIII\tNM:i:1\tXI:i:6\tXH:i:1\tXQ:f:40.000
"""
MADE = {
    "program": "oclgenomics", "version": "1", "command": ["oclgenomics", "signatures", "scan"], "device": {"name": "x"},
}  # fmt: skip


def written(
    format: ReportFormat, reads: list[Read], signatures: list[tuple[str, str]], options: ScanOptions, size: int = 2
) -> str:
    panel, parts = scan_parts(reads, signatures, options, size)
    stream = io.BytesIO()
    write_reports(parts, [(stream, make_report(format, panel, options, provenance=MADE))])
    return stream.getvalue().decode()


@pytest.mark.parametrize(("format", "expected"), [("paf", PAF), ("sam", SAM)])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_byte(format: ReportFormat, expected: str, size: int) -> None:
    assert written(format, READS, SIGNATURES, OPTIONS, size) == expected


@pytest.mark.parametrize(
    ("options", "paf", "sam"),
    [
        (
            ScanOptions("read", "both", max_mismatches=2, overhang=4, alignments=True),
            [
                "x\t6\t0\t5\t+\ta\t8\t3\t8\t4\t5\t255\ttp:A:P\tcg:Z:1=1X3=\tNM:i:1\tXI:i:5\tXH:i:1\tXT:i:0\tXO:i:3",
                "y\t6\t0\t6\t-\ta\t8\t2\t8\t6\t6\t255\ttp:A:P\tcg:Z:6=\tNM:i:0\tXI:i:6\tXH:i:1\tXT:i:0\tXQ:f:40.000\tXO:i:2",
                "z\t9\t5\t9\t-\ta\t8\t4\t8\t4\t4\t255\ttp:A:P\tcg:Z:4=\tNM:i:0\tXI:i:4\tXH:i:1\tXT:i:0\tXQ:f:40.000\tXO:i:4",
            ],
            [
                "x\t0\ta\t4\t255\t1=1X3=1H\t*\t0\t0\tTTCAG\t*\tNM:i:1\tXI:i:5\tXH:i:1\tXT:i:0\tXO:i:3",
                "y\t16\ta\t3\t255\t6=\t*\t0\t0\tTTACAG\tIIIIII\tNM:i:0\tXI:i:6\tXH:i:1\tXT:i:0\tXQ:f:40.000\tXO:i:2",
                "z\t16\ta\t5\t255\t4=5S\t*\t0\t0\tACAGAAAAA\tIIIIIIIII\tNM:i:0\tXI:i:4\tXH:i:1\tXT:i:0\tXQ:f:40.000\tXO:i:4",
            ],
        ),
    ],
)  # fmt: skip
def test_what_runs_past_an_end(options: ScanOptions, paf: list[str], sam: list[str]) -> None:
    reads = [Read("x", "TTCAGG"), Read("y", "CTGTAA", "IIIIII"), Read("z", "TTTTTCTGT", "IIIIIIIII")]
    for format, expected in (("paf", paf), ("sam", sam)):
        lines = written(format, reads, [("a", "GATTACAG")], options).splitlines()  # type: ignore[arg-type]
        assert [line for line in lines if not line.startswith("@")] == expected


def test_the_best_match_of_a_sample_has_its_ties() -> None:
    options = ScanOptions("read", "both", max_edits=1, alignments=True)
    reads = [Read("x", "GATTACAGGTTAACC", "I" * 15), Read("y", "TTAACC")]
    paf, sam = (written(format, reads, SIGNATURES, options).splitlines() for format in ("paf", "sam"))
    assert [line.split("\t")[12:] for line in paf] == [
        ["tp:A:P", "cg:Z:7=", "NM:i:0", "XI:i:7", "XH:i:1", "XT:i:1", "XQ:f:40.000"],
        ["tp:A:P", "cg:Z:6=", "NM:i:0", "XI:i:6", "XH:i:1", "XT:i:0"],
    ]
    assert [line.split("\t")[:4] for line in sam[-2:]] == [["x", "0", "a", "1"], ["y", "0", "b", "1"]]


BASES = "ACGTN"
ANY_SIGNATURES = st.lists(st.text(BASES, min_size=1, max_size=9), min_size=1, max_size=3)
ANY_READS = st.lists(
    st.text(BASES + "acgtry", max_size=25).flatmap(
        lambda text: st.builds(
            Read,
            st.just("x"),
            st.just(text),
            st.one_of(st.none(), st.text("!+5?I~", min_size=len(text), max_size=len(text))),
        )
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(
    signatures=ANY_SIGNATURES, reads=ANY_READS, edits=st.integers(0, 2),
    report=st.sampled_from(["best", "all", "read"]), overhang=st.sampled_from([0, 1, 3]),
)  # fmt: skip
def test_cigars_say_which_edits_turn_the_one_into_the_other(
    signatures: list[str], reads: list[Read], edits: int, report: str, overhang: int,
    tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    options = ScanOptions(report, "both", max_edits=edits, alignments=True, overhang=overhang)  # type: ignore[arg-type]
    reads = [Read(f"x{number}", read.letters, read.qualities) for number, read in enumerate(reads)]
    named = [(f"s{number}", letters) for number, letters in enumerate(signatures)]
    path = tmp_path_factory.mktemp("sam") / "x.sam"
    path.write_text(written("sam", reads, named, options))
    by_name = {read.name: read for read in reads}
    with pysam.AlignmentFile(str(path)) as records:
        assert list(records.references) == [name for name, _ in named]
        assert list(records.lengths) == [len(letters) for letters in signatures]
        found = list(records)
    paf = [line.split("\t") for line in written("paf", reads, named, options).splitlines()]
    assert len(found) == len(paf)
    primary = [record.query_name for record in found if not record.is_secondary]
    assert primary == sorted({record.query_name for record in found}, key=lambda name: int(str(name)[1:]))
    for record, row in zip(found, paf, strict=True):
        read, signature = by_name[str(record.query_name)], signatures[int(str(record.reference_name)[1:])]
        begin, end = int(row[2]), int(row[3])
        turned = sets_of(read.letters)
        turned = COMPLEMENTS[turned][::-1] if record.is_reverse else turned
        steps = record.cigartuples or []
        assert row[13] == "cg:Z:" + "".join(f"{size}{'MIDNSHP=X'[step]}" for step, size in steps if step not in (4, 5))
        assert record.infer_read_length() == len(read.letters) == int(row[1])
        first, last = int(row[7]), int(row[8])
        assert (record.reference_start, record.reference_end, record.mapping_quality) == (first, last, 255)
        outside = len(signature) - (last - first)
        assert outside == (record.get_tag("XO") if record.has_tag("XO") else 0) <= max(0, len(signature) - overhang)
        # What runs past the start of the read is left out at the signature's start, or at its end on the other strand.
        left, right = (len(signature) - last, first) if record.is_reverse else (first, len(signature) - last)
        assert not left or begin == 0
        assert not right or end == len(read.letters)
        assert record.is_reverse == (row[4] == "-")
        at, of, cost, same, clips = 0, first, 0, 0, []
        for step, size in steps:
            if step in (4, 5):
                clips.append((at, size))
            for _ in range(size):
                if step in (7, 8):
                    met = bool(turned[at] & sets_of(signature)[of])
                    assert met == (step == 7)
                    same += met
                cost += step in (1, 2, 8)
                at += step != 2
                of += step in (2, 7, 8)
        assert (at, of) == (len(read.letters), last)
        assert cost == record.get_tag("NM") <= edits
        assert (same, same + cost) == (int(row[9]), int(row[10]))
        before = clips[0][1] if clips and clips[0][0] == 0 else 0
        assert before == (len(read.letters) - end if record.is_reverse else begin)
        assert record.has_tag("XQ") == (read.qualities is not None)
        check_bases(record, read, begin, end)


def check_bases(record: pysam.AlignedSegment, read: Read, begin: int, end: int) -> None:
    if read.qualities is None:
        expected = read.letters[begin:end]
    elif record.is_secondary:
        assert (record.query_sequence, record.query_qualities) == (None, None)
        return
    else:
        expected = read.letters
        scores = [ord(letter) - 33 for letter in read.qualities]
        assert list(record.query_qualities or ()) == (scores[::-1] if record.is_reverse else scores)
    assert (record.get_forward_sequence() or "").upper() == expected.upper()


def test_names_that_sam_cannot_hold() -> None:
    for signatures, reads, message in (
        ([("*a", "ACG")], READS, r"signature \*a: names in SAM do not begin with \*; rename it, or write PAF"),
        ([("=", "ACG")], READS, "signature =: names in SAM do not begin with =; rename it"),
        (
            [("a", "G")],
            [READS[0], Read("@x", "G")],
            r"x\.fq: sample 2 has a name that SAM cannot hold: it begins with @",
        ),
        ([("a", "G")], [Read("n\0", "G")], r"sample 1 has .*: it has a zero byte; use format='paf'"),
        ([("a\0", "G")], READS, "names in SAM have no zero byte; rename it"),
        ([("a", "G")], [Read("n" * 255, "G")], r"sample 1 has .*: it has more than 254 bytes; use format='paf'"),
    ):
        with pytest.raises(InputError, match=message):
            written("sam", reads, signatures, OPTIONS)
    assert len(written("sam", [Read("n" * 254, "GA")], [("a", "GA")], OPTIONS).splitlines()) == 5
    assert written("paf", [Read("@" + "n" * 300, "GA")], [("*a", "GA")], OPTIONS).count("\n") == 1


def test_scans_without_alignments_are_refused() -> None:
    panel, parts = scan_parts(READS, SIGNATURES)
    for format in ("paf", "sam"):
        with pytest.raises(ParameterError, match=f"format='{format}' writes alignments; scan with alignments=True"):
            make_report(format, panel, ScanOptions())  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="the parts have no alignments"):
            make_report(format, panel, OPTIONS).body(next(parts))  # type: ignore[arg-type]


def test_samtools_sorts_and_indexes_it(tmp_path: Path) -> None:
    path, bam = tmp_path / "x.sam", tmp_path / "x.bam"
    path.write_text(written("sam", READS, SIGNATURES, OPTIONS))
    pysam.sort("-o", str(bam), str(path))
    pysam.index(str(bam))
    assert pysam.idxstats(str(bam)).splitlines() == ["a\t7\t3\t0", "b\t6\t3\t0", "*\t0\t0\t0"]
    again = [line.split("\t") for line in pysam.view(str(bam)).splitlines()]
    lines = [line.split("\t") for line in SAM.splitlines() if not line.startswith("@")]
    same = {re.sub(r"XQ:f:([0-9]+)\.000", r"XQ:f:\1", "\t".join(line)).upper() for line in lines}
    assert {"\t".join(line).upper() for line in again} == same
