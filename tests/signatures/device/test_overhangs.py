"""Signatures that run past the ends of samples, in scans of files, against the oracle."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.edit_samples import edited
from helpers.products import examples
from helpers.signature_matches import matches, places
from helpers.signature_parts import Read, scan_parts
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures import ChosenSamples, Panel, ScanOptions, ScanResult, scan
from oclgenomics.signatures.device.overhang_edits import EditOverhangFinder
from oclgenomics.signatures.device.overhangs import OverhangFinder
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.formats.reports import CertaintyReport
from oclgenomics.signatures.options import OVERHANGS_AT, REPORTS, STRANDS
from oclgenomics.signatures.panels.letters import LETTERS
from oclgenomics.signatures.plan import parts_of_pairs
from oclgenomics.signatures.result import Matches

ALPHABETS = ["AC", "ACGT", "ACGTNRY"]
LIMITS = [(1, 12, True), (3, 12, False), (50, 31, True), (50, 32, True), (50, 33, True), (9, 64, True), (9, 65, True)]
EDIT_LIMITS = [(1, 1, 31), (30, 3, 33), (99, 9, 64), (7, 2, 65), (99, 9, 150)]


@st.composite
def reads_and_signatures(draw: st.DrawFn) -> tuple[list[Read], list[tuple[str, str]]]:
    """Reads that begin or end with parts of signatures, on both strands; some are shorter than all signatures."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30), "seed"))
    alphabet, qualities = draw(st.sampled_from(ALPHABETS), "alphabet"), draw(st.booleans(), "qualities")

    def letters(size: int) -> str:
        return random_letters(rng, size, 0.05, alphabet).decode()

    sizes = draw(st.lists(st.sampled_from([1, 2, 5, 9, 17, 40, 70]), min_size=1, max_size=5), "sizes")
    signatures = [(f"p{number}", letters(size)) for number, size in enumerate(sizes)]
    reads = []
    for number, size in enumerate(draw(st.lists(st.sampled_from([0, 1, 3, 8, 30, 120]), max_size=8), "reads")):
        text = letters(size)
        for at_end in (False, True):
            some = signatures[int(rng.integers(len(signatures)))][1]
            if rng.random() < 0.5:
                some = some[::-1].translate(str.maketrans("ACGTRY", "TGCAYR"))
            cut = int(rng.integers(0, len(some)))
            text = text + some[:cut] if at_end else some[cut:] + text
        scores = rng.integers(33, 127, len(text)).astype(np.uint8).tobytes().decode() if qualities else None
        reads.append(Read(f"r{number}", text, scores))
    return reads, signatures


@settings(deadline=None, max_examples=examples(60))
@given(
    case=reads_and_signatures(), report=st.sampled_from(REPORTS), strand=st.sampled_from(STRANDS),
    most=st.sampled_from([0, 1, 3]), edits=st.sampled_from([0, 0, 1, 2, 4]),
    overhang=st.sampled_from([1, 2, 5, 16, 60]), informative=st.sampled_from([0.0, 0.0, 0.4]),
    score=st.sampled_from([0.0, 0.0, 45.0]), block=st.sampled_from([1 << 20, 100, 700]),
    at=st.sampled_from(["both", *OVERHANGS_AT]), alignments=st.booleans(),
)  # fmt: skip
def test_a_scan_finds_what_the_oracle_finds(
    engine: Engine, case, report, strand, most, edits, overhang, informative, score, block, at,
    alignments, tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    reads, signatures = case
    known = bool(reads) and reads[0].qualities is not None
    options = ScanOptions(
        report,
        strand,
        max_mismatches=most * (edits == 0),
        max_edits=edits,
        min_informative=informative,
        min_score=score * known,
        overhang=overhang,
        overhang_at=at if overhang else "both",
        alignments=alignments,
    )
    lines = [
        f"@{read.name}\n{read.letters}\n+\n{read.qualities}\n" if known else f">{read.name}\n{read.letters}\n"
        for read in reads
    ]
    path = tmp_path_factory.mktemp("overhang") / "reads"
    path.write_text("".join(lines))
    with mock.patch("oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=block)):
        found = scan(path, Panel.from_signatures(signatures), options, engine=engine)
    panel, parts = scan_parts(reads, signatures, options, max(1, len(reads)))
    for part in parts:
        expected = ScanResult(panel, part.samples, part.matches, options, part.alignments, part.rivals)
        assert found.records() == expected.records()
        assert found.matches.before.tolist() == part.matches.before.tolist()
        assert found.samples.pairs.tolist() == part.samples.pairs.tolist()
    assert len(reads) or not len(found.matches)


def test_all_matches_of_a_sample_that_comes_in_parts(engine: Engine, tmp_path: Path) -> None:
    """Its overhanging matches come once, and in the end each is in its place."""
    read = Read("r", "A" * 30)
    (tmp_path / "r.fa").write_text(f">r\n{read.letters}\n")
    signatures, options = [("p", "AAAAAA"), ("q", "AAAAAAAA")], ScanOptions("all", overhang=3)
    few = functools.partial(parts_of_pairs, most=7)
    with mock.patch("oclgenomics.signatures.device.scans.parts_of_pairs", few):
        found = scan(tmp_path / "r.fa", Panel.from_signatures(signatures), options, engine=engine)
    _, parts = scan_parts([read], signatures, options, 1)
    (part,) = parts
    for name in Matches.__dataclass_fields__:
        assert getattr(found.matches, name).tolist() == getattr(part.matches, name).tolist(), name
    assert found.matches.outside.max() == 5


@pytest.mark.parametrize(("max_pairs", "longest", "masks"), LIMITS)
def test_rounds_and_words_of_any_size(shaped: Engine, max_pairs: int, longest: int, masks: bool) -> None:
    rng = np.random.default_rng(longest)
    records = [SampleRecord(random_letters(rng, size, 0.1, "AC")) for size in (0, 1, 4, 9, longest - 1, longest, 90)]
    options = ScanOptions("all", "both", max_mismatches=2, overhang=3)
    signatures = [(f"p{size}", random_letters(rng, size, 0.1, "AC")) for size in (1, 3, 4, 6, longest)]
    patterns = Panel.from_signatures(signatures).patterns("both")
    on_device = DevicePatterns.upload(shaped, patterns, options)
    found = OverhangFinder(shaped, on_device, 3, max_pairs=max_pairs, masks=masks).find(sample_letters(shaped, records))
    rows = list(zip(found.piece, found.pattern, found.start, found.end, strict=True))
    expected = []
    for piece, record in enumerate(records):
        for pattern in range(len(patterns)):
            text = "".join(LETTERS[bases] for bases in patterns.of(pattern))
            every = matches(record.letters.decode(), None, text, max_mismatches=2, overhang=3)
            expected += [(piece, pattern, match.start, match.end) for match in every if match.outside]
    assert sorted(rows) == sorted(expected)
    assert len(rows) > 10
    assert found.piece.tolist() == sorted(found.piece.tolist())


def test_the_fewest_bases_that_do_not_match_win(engine: Engine, tmp_path: Path) -> None:
    """Bases outside count as mismatches: for the best match, for those as good, and for the next one."""
    (tmp_path / "r.fa").write_text(">r\nACGTACGTTTTTTTTGGGCCTC\n>s\nCGTACGAA\n>t\nTACGTAAAGGGCGTCA\n")
    signatures = [("half", "GATTACGT"), ("whole", "GGGCCTCA"), ("near", "CACGTACG")]
    options = ScanOptions("read", max_mismatches=1, overhang=4)
    found = scan(tmp_path / "r.fa", Panel.from_signatures(signatures), options, engine=engine)
    rows = [
        (row["sample"], row["signature"], row["start"], row["outside"], row["ties"], row["next_mismatches"])
        for row in found.records()
    ]
    assert rows == [("r", "whole", 15, 1, 1, 1), ("s", "near", 0, 2, 0, None), ("t", "whole", 8, 0, 0, 3)]


def test_the_last_piece_of_a_record_holds_a_whole_signature_with_all_edits(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "r.fa").write_text(f">r\n{'T' * 40}CACGCA\n")  # without its first base, CA alone would overhang
    options = ScanOptions("all", max_edits=1, overhang=2, overhang_at="end")
    for block in range(20, 60):
        sized = functools.partial(letter_blocks, block_bytes=block)
        with mock.patch("oclgenomics.signatures.jobs.letter_blocks", sized):
            found = scan(tmp_path / "r.fa", Panel.from_signatures([("p", "CACCA")]), options, engine=engine)
        assert [(row["start"], row["end"], row["outside"]) for row in found.records()] == [(40, 46, 0)]


@pytest.mark.parametrize(("max_pairs", "aligned", "longest"), EDIT_LIMITS)
def test_rounds_of_edits(shaped: Engine, max_pairs: int, aligned: int, longest: int) -> None:
    rng = np.random.default_rng(longest)
    records = [SampleRecord(random_letters(rng, size, 0.1, "AC")) for size in (0, 1, 6, 20, 90, longest - 2)]
    signatures = [(f"p{size}", random_letters(rng, size, 0.1, "AC")) for size in (2, 12, 32, longest)]
    whole = signatures[-1][1].decode()
    for cut in (5, longest // 2, longest - 9):  # parts of the longest one at either end, with edits
        inner = random_letters(rng, 30, 0, "AC").decode()
        text = edited(rng, whole[cut:], int(rng.integers(3))) + inner + edited(rng, whole[:-cut], int(rng.integers(3)))
        records.append(SampleRecord(text.encode()))
    options = ScanOptions("all", "both", max_edits=3, overhang=3)
    patterns = Panel.from_signatures(signatures).patterns("both")
    on_device = DevicePatterns.upload(shaped, patterns, options)
    finder = EditOverhangFinder(shaped, on_device, 3, 3, max_pairs=max_pairs, aligned=aligned, carry_bytes=1 << 10)
    found = finder.find(sample_letters(shaped, records))
    columns = (found.piece, found.pattern, found.start, found.end, found.edits, found.outside, found.informative)
    assert found.piece.tolist() == sorted(found.piece.tolist())
    expected = []
    for piece, record in enumerate(records):
        for pattern in range(len(patterns)):
            text = "".join(LETTERS[bases] for bases in patterns.of(pattern))
            every = places(record.letters.decode(), None, text, max_edits=3, overhang=3)
            expected += [
                (piece, pattern, match.start, match.end, match.mismatches, match.outside, match.informative)
                for match in every
                if match.outside
            ]
    assert sorted(zip(*columns, strict=True)) == sorted(expected)
    assert len(expected) > 5


def test_what_overhang_does_not_go_with() -> None:
    with pytest.raises(ParameterError, match="overhang_at='end': is the end that overhang is for; give that, too"):
        ScanOptions(overhang_at="end")
    with pytest.raises(ParameterError, match="least number of bases"):
        ScanOptions(overhang=-1)


def test_how_sure_they_are() -> None:
    options = ScanOptions(max_mismatches=3, overhang=4)
    panel, parts = scan_parts([Read("r", "ACGTTTTTTTTT")], [("p", "GGGGACGN")], options)
    (part,), report = parts, CertaintyReport(panel, options)
    columns = dict(zip(report.HEADER, report.body(part).decode().rstrip("\n").split("\t"), strict=True))
    assert (columns["start"], columns["end"], columns["note"]) == ("0", "4", "may_be_chance,overhang")
    assert (columns["informative"], columns["informative_share"], columns["certainty"]) == ("3", "0.375", "0.375")
    assert columns["log10_chance"] == f"{math.log10((12 - 8 + 1 + 2 * 4) / 4**3):.2f}"
    assert part.samples.letters.tolist() == [12]
    chosen = ChosenSamples(panel, options)
    chosen.add(part)
    (lane,) = chosen.lanes
    assert lane.chance == pytest.approx([math.log10(13 / 64)])
