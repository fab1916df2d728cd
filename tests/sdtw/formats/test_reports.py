"""Reports of alignments and of classified reads."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from helpers.sdtw_oracle import small_squiggle

from oclgenomics.app.reports import write_reports
from oclgenomics.errors import ParameterError
from oclgenomics.sdtw import Alignments, AlignOptions, Classified, Stage, Thresholds
from oclgenomics.sdtw.formats import PafReport, make_report
from oclgenomics.sdtw.formats.reports import FORMATS, Part

REFERENCES = (small_squiggle("a", np.arange(50.0)), small_squiggle("b", np.arange(30.0), molecule="rna"))
READS = np.array(["one", 'tw"o', "short"], object), np.array([300, 130, 20])


def aligned(arithmetic: str = "uint16") -> Alignments:
    """Three reads: of two prefixes, of one, of none."""
    options = AlignOptions(arithmetic=arithmetic)  # type: ignore[arg-type]
    found = Alignments.none(REFERENCES, (100, 200), *READS, options)
    found.cost[0] = [[900, 1000], [65535, 1500]]
    found.cost[1, 0] = [700, 1234.5 if options.is_float else 1234]
    found.column[0] = [[7, 20], [-1, 20]]
    found.column[1, 0] = [62, 3]
    start = np.where(found.column >= 0, np.maximum(found.column - 4, 0), -1)
    return replace(found, start=start)


def classified() -> Classified:
    """The same reads after a stage."""
    thresholds = Thresholds((Stage(100, 800),), AlignOptions(), "difference")
    found = Classified.none(REFERENCES, 1, thresholds, *READS)
    found.cost[:2], found.column[:2] = [[65535, 65535], [700, 1234]], [[-1, -1], [62, 3]]
    found.score[:2], found.decision[:2], found.prefix[:2] = [np.inf, -534], [2, 1], 100
    return replace(found, start=np.array([-1, 58, -1]))


def written(format: str, *parts: Part) -> str:
    """The report of parts as text."""
    stream = io.BytesIO()
    write_reports(parts, [(stream, make_report(format, provenance={"program": "made"}))])  # type: ignore[arg-type]
    return stream.getvalue().decode()


ALIGNED_TSV = """\
# program: made
read	samples	prefix	reference	cost	record	strand	position	start
one	300	100	a	900	a_record	+	7	3
one	300	100	b	1000	b_record	+	9	13
one	300	200	a	65535	NA	NA	NA	NA
one	300	200	b	1500	b_record	+	9	13
tw"o	130	100	a	700	a_record	-	37	41
tw"o	130	100	b	1234	b_record	+	26	29
tw"o	130	200	a	NA	NA	NA	NA	NA
tw"o	130	200	b	NA	NA	NA	NA	NA
short	20	100	a	NA	NA	NA	NA	NA
short	20	100	b	NA	NA	NA	NA	NA
short	20	200	a	NA	NA	NA	NA	NA
short	20	200	b	NA	NA	NA	NA	NA
"""
CLASSIFIED_TSV = """\
# program: made
read	samples	decision	prefix	score	cost	mapq	reference	record	strand	position	start
one	300	reject	100	inf	65535	0	a	NA	NA	NA	NA
tw"o	130	accept	100	-534	700	60	a	a_record	-	37	41
short	20	undecided	0	NA	NA	255	NA	NA	NA	NA	NA
"""
ALIGNED_PAF = """\
one	300	0	198	+	b_record	35	9	19	5	10	60	tp:A:P	co:i:1500	rf:Z:b
tw"o	130	0	99	-	a_record	55	37	47	5	10	60	tp:A:P	co:i:700	rf:Z:a
"""
CLASSIFIED_PAF = """\
tw"o	130	0	99	-	a_record	55	37	47	5	10	60	tp:A:P	co:i:700	rf:Z:a	dc:Z:accept
"""


@pytest.mark.parametrize(
    ("part", "format", "text"),
    [
        (aligned(), "tsv", ALIGNED_TSV), (classified(), "tsv", CLASSIFIED_TSV),
        (aligned(), "paf", ALIGNED_PAF), (classified(), "paf", CLASSIFIED_PAF),
    ],
)  # fmt: skip
def test_lines_are_these(part: Part, format: str, text: str) -> None:
    """Byte for byte."""
    assert written(format, part) == text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("part", [aligned(), classified()], ids=["aligned", "classified"])
def test_parts_make_the_same_report(part: Part, format: str) -> None:
    """However the reads are cut into parts; no reads give a head."""

    def cut(first: int, end: int) -> Part:
        names = {"names", "samples", "cost", "column", "start", "decision", "prefix", "score"} & set(vars(part))
        return replace(part, **{name: getattr(part, name)[first:end] for name in names})

    whole = written(format, part)
    assert written(format, cut(0, 0), cut(0, 1), cut(1, 1), cut(1, 3)) == whole
    assert whole.startswith(written(format, cut(0, 0)))


@pytest.mark.parametrize("part", [aligned(), classified()], ids=["aligned", "classified"])
def test_lines_of_json_are_records(part: Part) -> None:
    """With null where tables have NA, or an infinite score."""
    lines = [json.loads(line) for line in written("jsonl", part).splitlines()]
    for line, row in zip(lines, part.records(), strict=True):
        shown = {name: None if value in ("", -1) else value for name, value in row.items() if name != "score"}
        assert {name: value for name, value in line.items() if name != "score"} == shown
        assert line.get("score") == row.get("score")
    assert all(type(line["cost"]) is not float for line in lines)


def test_costs_of_single_precision_are_told_apart() -> None:
    """Floating-point costs keep their digits, in PAF too."""
    part = aligned("float32")
    assert "\t1234.5\tb_record" in written("tsv", part)
    assert "co:f:700" in written("paf", part)


def test_reads_without_a_place_are_counted() -> None:
    """PAF leaves them out, and parts without starts have no places."""
    report = PafReport()
    assert (report.body(aligned()).count(b"\n"), report.left_out) == (2, 1)
    assert (report.body(classified()).count(b"\n"), report.left_out) == (1, 3)
    with pytest.raises(ValueError, match="starts=True"):
        report.body(replace(aligned(), start=None))


def test_columns_without_starts() -> None:
    """Where nobody asked for starts there are none."""
    part = replace(classified(), start=None)
    assert written("tsv", part) == CLASSIFIED_TSV.replace("\tstart", "").replace("\t37\t41", "\t37").replace(
        "NA\tNA\tNA\tNA\tNA\n", "NA\tNA\tNA\tNA\n"
    ).replace("0\ta\tNA\tNA\tNA\tNA\n", "0\ta\tNA\tNA\tNA\n")


def test_unknown_formats_are_refused() -> None:
    """With those that there are."""
    with pytest.raises(ParameterError, match="choose one of tsv, jsonl, paf"):
        make_report("bam")  # type: ignore[arg-type]
