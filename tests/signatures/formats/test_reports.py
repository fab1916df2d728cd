"""Reports: every byte of small ones, and what they say where something is not known."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.signature_parts import Read, scan_parts
from hypothesis import given, strategies as st

from oclgenomics.app.reports import write_reports
from oclgenomics.errors import InputError, UsageError
from oclgenomics.signatures.formats.reports import (
    CERTAINTY_COLUMNS,
    COLUMNS,
    FORMATS,
    SUMMARY_COLUMNS,
    CertaintyReport,
    SummaryReport,
    make_report,
)
from oclgenomics.signatures.matches.totals import ScanTotals
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.result import ScanResult

# The example of the assignment: ATC matches NATCGGTT at 0-based place 1 with qualities 10, 20 and 30.
READS = [
    Read("s1", "NATCGGTT", "!+5?+++5"),
    Read("s2", "GATTACANNNNGATAAC", "IIIIIIIIIIIIIIIII"),
    Read("s3", "TTTT", "~~~~"),
    Read("s4", "", ""),
]
SIGNATURES = [("atc", "ATC"), ("r", "GATWAC"), ("long", "ACGTACGTACGTACGTACGTACGT")]

COURSE = """\
s1: atc (20.000) [13]
s2: atc (40.000) [1]
s2: r (40.000) [1]
"""
HEADER = (
    "sample\tsignature\tstrand\tstart\tend\thits\tmismatches\tscore\tinformative\tsample_ns\tsignature_ns\t"
    "expected_errors\thash\tsample_number"
)
TSV = f"""\
# program: oclgenomics
{HEADER}
s1\tatc\t+\t1\t4\t1\t0\t20.000\t3\t0\t0\t0.111\t13\t1
s2\tatc\t+\t6\t9\t3\t0\t40.000\t1\t2\t0\t0.0003\t1\t2
s2\tr\t+\t0\t6\t2\t0\t40.000\t5\t0\t0\t0.0006\t1\t2
"""
BED = """\
# program: oclgenomics
s1	1	4	atc	200	+
s2	6	9	atc	400	+
s2	0	6	r	400	+
"""


def written(format, reads=READS, options=None, size=2, provenance=None):
    options = options or ScanOptions()
    panel, parts = scan_parts(reads, SIGNATURES, options, size)
    stream = io.BytesIO()
    write_reports(parts, [(stream, make_report(format, panel, options, provenance=provenance))])
    return stream.getvalue().decode()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize(("format", "expected"), [("course", COURSE), ("tsv", TSV), ("bed", BED)])
def test_every_byte(format, expected, size):
    assert written(format, size=size, provenance={"program": "oclgenomics"}) == expected


def test_json_has_what_the_table_has():
    rows = [json.loads(line) for line in written("jsonl").splitlines()]
    table = [line.split("\t") for line in TSV.splitlines()[2:]]
    assert [list(row) for row in rows] == [list(COLUMNS)] * 3
    for row, cells in zip(rows, table, strict=True):
        for value, cell in zip(row.values(), cells, strict=True):
            assert value == cell if isinstance(value, str) else value == pytest.approx(float(cell), rel=1e-5)


def test_json_is_what_a_result_holds():
    panel, parts = scan_parts(READS, SIGNATURES)
    (whole,) = scan_parts(READS, SIGNATURES, size=9)[1]
    stream = io.BytesIO()
    write_reports(parts, [(stream, make_report("jsonl", panel, ScanOptions()))])
    result = ScanResult(panel, whole.samples, whole.matches)
    assert [json.loads(line) for line in stream.getvalue().decode().splitlines()] == result.records()


def test_names_are_what_json_makes_of_them():
    odd = 'a"b\\c\x7f\N{GREEK SMALL LETTER OMEGA}\udcff'
    (row,) = written("jsonl", [Read(odd, "ATC", "III")]).splitlines()
    assert json.loads(row)["sample"] == odd


def test_fasta_has_no_qualities():
    reads = [Read("f", "GATC")]
    (row,) = written("tsv", reads).splitlines()[1:]
    assert row == "f\tatc\t+\t1\t4\t1\t0\tNA\t3\t0\t0\tNA\tNA\t1"
    known = json.loads(written("jsonl", reads))
    assert [name for name, value in known.items() if value is None] == ["score", "expected_errors", "hash"]
    assert written("bed", reads) == "f\t1\t4\tatc\t0\t+\n"
    with pytest.raises(InputError, match=r"x\.fq: is FASTA, which has no qualities .* use format='tsv'"):
        written("course", reads)


def test_fasta_among_fastq():
    rows = written("tsv", [Read("f", "ATC"), Read("q", "ATC", "+++")]).splitlines()[1:]
    assert [row.split("\t")[7] for row in rows] == ["NA", "10.000"]
    assert [row.split("\t")[12] for row in rows] == ["NA", "30"]


def test_all_matches():
    rows = [row.split("\t") for row in written("tsv", options=ScanOptions(report="all")).splitlines()[1:]]
    assert [row[:6] + row[12:] for row in rows] == [
        ["s1", "atc", "+", "1", "4", "1", "13", "1"],
        *(["s2", "atc", "+", str(start), str(start + 3), "1", "1", "2"] for start in (6, 7, 8)),
        *(["s2", "r", "+", str(start), str(start + 6), "1", "1", "2"] for start in (0, 11)),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ScanOptions(strand="both"), "strand='both': lines of the course tell of strand='+' alone; use format='tsv'"),
        (ScanOptions(strand="-"), "strand='-': lines of the course"),
        (ScanOptions(report="all"), "report='all': lines of the course tell of report='best' alone"),
        (ScanOptions(report="first"), "report='first': lines"),
    ],
)
def test_what_the_course_has_no_words_for(options, message):
    with pytest.raises(UsageError) as caught:
        written("course", options=options)
    assert str(caught.value).startswith(message)


def test_unknown_format():
    with pytest.raises(UsageError, match="choose one of tsv, course, bed, jsonl, paf, sam"):
        written("vcf")


def test_both_strands_and_the_highest_scores():
    rows = written("bed", [Read("x", "GATGATC", "~~~~~~~")], ScanOptions(strand="both")).splitlines()
    assert rows == ["x\t4\t7\tatc\t930\t+", "x\t0\t3\tatc\t930\t-"]


@pytest.mark.parametrize("format", FORMATS)
def test_no_match(format):
    options = ScanOptions(alignments=True)
    lines = {"tsv": 1, "sam": 1 + len(SIGNATURES)}.get(format, 0)
    assert written(format, [Read("x", "GGGG", "IIII")], options).count("\n") == lines
    assert written(format, [], options).count("\n") == lines


ANY_READS = st.lists(
    st.integers(0, 30).flatmap(
        lambda size: st.builds(
            Read,
            st.text("abc|#", min_size=1, max_size=4),
            st.text("ACGTN", min_size=size, max_size=size),
            st.none() | st.text("!+5?IJ~", min_size=size, max_size=size),
        )
    ),
    max_size=6,
)


@given(ANY_READS, st.sampled_from(["+", "both"]), st.integers(0, 1), st.sampled_from(["tsv", "bed", "jsonl"]))
def test_parts_do_not_show(reads, strand, mismatches, format):
    options = ScanOptions(strand=strand, max_mismatches=mismatches)
    assert len({written(format, reads, options, size) for size in (1, 2, 9)}) == 1


# Reports about samples


def told_of(report, reads, signatures=SIGNATURES, options=None, size=2):
    panel, parts = scan_parts(reads, signatures, options, size)
    stream = io.BytesIO()
    write_reports(parts, [(stream, report(panel))])
    return [line.split("\t") for line in stream.getvalue().decode().splitlines()]


def test_summary():
    reads = [*READS, Read("f", "NNRA"), Read("hot", "ACGT" * 250, "K" * 1000), Read("g", "AC")]
    header, *rows = told_of(SummaryReport, reads)
    assert header == list(SUMMARY_COLUMNS)
    assert rows == [
        ["s1", "x.fq", "8", "0.125", "0.125", "13.750", "0", "13", "1", "NA", "1"],
        ["s2", "x.fq", "17", "0.235294", "0.235294", "40.000", "40", "1", "2", "NA", "2"],
        ["s3", "x.fq", "4", "0", "0", "93.000", "93", "81", "0", "NA", "3"],
        ["s4", "x.fq", "0", "NA", "NA", "NA", "NA", "0", "0", "shorter_than_any_signature", "4"],
        ["f", "x.fq", "4", "0.5", "0.75", "NA", "NA", "NA", "0", "NA", "5"],
        ["hot", "x.fq", "1000", "0", "0", "42.000", "42", "96", "1", "may_be_phred64", "6"],
        ["g", "x.fq", "2", "0", "0", "NA", "NA", "NA", "0", "shorter_than_any_signature", "7"],
    ]


def test_a_sample_that_goes_on_is_told_of_at_its_end():
    (part,) = scan_parts(READS[:2], SIGNATURES)[1]
    goes_on = replace(part, samples=replace(part.samples, ends=np.array([True, False])))
    later = replace(part, samples=part.samples.take(slice(1, 2)), matches=part.matches.take(slice(0, 0)))
    panel, _ = scan_parts([], SIGNATURES)
    stream = io.BytesIO()
    totals = ScanTotals(panel)
    write_reports([goes_on, later], [(stream, SummaryReport(panel))], on_part=[totals.add])
    assert [line.split("\t")[0] for line in stream.getvalue().decode().splitlines()[1:]] == ["s1", "s2"]
    assert (totals.samples, totals.letters, totals.matching_samples) == (2, 25, 2)


def test_names_of_files_are_one_field():
    panel, (part,) = scan_parts(READS[:1], SIGNATURES)
    part.samples.source[:] = "a\tb\nc"
    assert SummaryReport(panel).body(part).decode().split("\t")[1] == "a b c"


def test_how_sure_matches_are():
    signatures = [("short", "CAN"), ("all", "NNNNNN"), ("long", "GATTACAGATTACA"), ("off", "GATTAGAG")]
    reads = [Read("x", "GATTACAGATTACA", "I" * 7 + "+" * 7), Read("f", "GATTACAGATTACA")]
    options = ScanOptions(max_mismatches=1)
    header, *rows = told_of(lambda panel: CertaintyReport(panel, options), reads, signatures, options)
    assert header == list(CERTAINTY_COLUMNS)
    assert [row[2] for row in rows] == ["long", "off", "short", "all"] * 2
    assert rows[0] == [
        "x", "14", "long", "14", "+", "0", "14", "1", "0", "14", "1", "25.000", "0.7007", "0.94995", "-8.43", "NA", "1",
    ]  # fmt: skip
    assert rows[1][8:12] == ["1", "8", "1", "36.250"]
    assert rows[1][14:16] == ["-2.57", "mismatches"]
    assert rows[3][9:11] == ["0", "0"]
    assert rows[3][13:16] == ["0", "0.95", "may_be_chance"]
    assert rows[4][11:15] == ["NA", "NA", "1", "-8.43"]


def test_all_matches_come_too_early_to_be_judged():
    options = ScanOptions(report="all")
    with pytest.raises(UsageError, match="sample_report has a line for each signature of a sample; use report='best'"):
        CertaintyReport(scan_parts([], SIGNATURES)[0], options)


# Totals


def totals_of(reads, signatures=SIGNATURES, options=None):
    panel, parts = scan_parts(reads, signatures, options)
    totals = ScanTotals(panel)
    write_reports(parts, [], on_part=[totals.add])
    return totals


def test_totals():
    totals = totals_of(READS)
    assert (totals.samples, totals.letters, totals.longest) == (4, 29, 17)
    assert (totals.rows, totals.hits, totals.matching_samples, totals.signatures) == (3, 6, 2, 2)


@pytest.mark.parametrize(
    ("reads", "signatures", "warnings"),
    [
        ([], SIGNATURES, ["the input holds no sample"]),
        (READS[2:], [("one", "ACGTA")], ["no sample is as long as a signature: the shortest has 5 bp, .* 4"]),
        (READS[2:], [("one", "ACGTA"), ("two", "AC")], ["1 of 2 signatures are longer than every sample"]),
        ([Read("x", "ACGT" * 250, "@" * 1000)], [("a", "C")], ["the lowest quality of all is 31: .* Phred \\+ 64"]),
        ([Read("x", "ACGT" * 250, "@" * 999 + "?")], [("a", "C")], []),
        ([Read("x", "ACGT" * 249, "@" * 996)], [("a", "C")], []),
        ([Read("x", "ACGT" * 250)], [("a", "C")], []),
        ([Read("x", "C"), Read("y", "C"), Read("x", "C")], [("a", "C")], ["1 sample with matches and the name"]),
        ([Read("x", "C"), Read("x", "A")], [("a", "C")], []),
    ],
)
def test_warnings(reads, signatures, warnings):
    found = totals_of(reads, signatures).warnings()
    assert len(found) == len(warnings)
    for text, pattern in zip(found, warnings, strict=True):
        assert re.search(pattern, text)
