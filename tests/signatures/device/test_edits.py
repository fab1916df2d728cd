"""Matches with substitutions, insertions and deletions, against the oracle; and the oracle against its definition."""

from __future__ import annotations

import functools
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.edit_samples import Named, expected_rows, make_reads, make_texts
from helpers.pattern_sets import on_device
from helpers.products import examples, only_whole
from helpers.signature_matches import places
from helpers.signature_samples import SampleRecord, sample_letters
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures import Panel, ScanOptions, scan
from oclgenomics.signatures.device.edits import EditMatcher
from oclgenomics.signatures.device.scans import EditScan
from oclgenomics.signatures.matches.joining import falling_means
from oclgenomics.signatures.options import STRANDS, Method
from oclgenomics.signatures.panels.letters import is_concrete, sets_of
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.panels.seeds import make_table
from oclgenomics.signatures.panels.windows import cut_windows
from oclgenomics.signatures.plan import LanePlan
from oclgenomics.signatures.reference import end_costs

ALPHABETS = ("ACGT", "ACGT", "A", "AC", "ACGTRYSWKMBDHVN")
EDITS = st.sampled_from([1, 3, 6, 9])  # by keys of 32 and of 64 bits, in registers and in memory


def every_alignment(text: str, pattern: str) -> list[tuple[int, int, int]]:
    """(distance, start, informative) for each end from 1 on, from the definition: all starts, all alignments."""
    t, p = sets_of(text), sets_of(pattern)

    def least(start: int, end: int) -> tuple[int, int]:
        @functools.cache
        def rest(i: int, j: int) -> tuple[int, int]:
            """Edits and -informative from letter i of the pattern and letter j of the text on."""
            if i == len(p):
                return end - j, 0
            found = [(rest(i + 1, j)[0] + 1, rest(i + 1, j)[1])]
            if j < end:
                found.append((rest(i, j + 1)[0] + 1, rest(i, j + 1)[1]))
                met = bool(t[j] & p[i])
                same = met and bool(is_concrete(t[j : j + 1])[0] and is_concrete(p[i : i + 1])[0])
                found.append((rest(i + 1, j + 1)[0] + (not met), rest(i + 1, j + 1)[1] - same))
            return min(found)

        return rest(0, start)

    every = []
    for end in range(1, len(t) + 1):
        edits, start, informative = min((least(s, end)[0], -s, least(s, end)[1]) for s in range(end))
        every.append((edits, -start, -informative))
    return every


@given(alphabet=st.sampled_from(["A", "AC", "ACGTNR"]), data=st.data())
def test_the_oracle_is_the_definition(alphabet: str, data: st.DataObject) -> None:
    text, pattern = data.draw(st.text(alphabet, max_size=8)), data.draw(st.text(alphabet, min_size=1, max_size=5))
    found = end_costs(sets_of(text), sets_of(pattern))
    assert [tuple(map(int, row)) for row in zip(*found, strict=True)][1:] == every_alignment(text, pattern)


@given(st.lists(st.tuples(st.integers(0, 93 << 26), st.integers(1, (1 << 32) - 1)), max_size=20))
def test_means_are_ordered_exactly(rows: list[tuple[int, int]]) -> None:
    rows += [(total + 1, length) for total, length in rows] + [(7 * total, 7 * length) for total, length in rows]
    rows = [(total, length) for total, length in rows if length < 1 << 32]
    sums = np.array([total for total, _ in rows], np.uint64)
    lengths = np.array([length for _, length in rows], np.int64)
    order = np.lexsort(falling_means(sums, lengths)).tolist()
    assert order == sorted(range(len(rows)), key=lambda i: -Fraction(*rows[i]))


ROUTES = ("seeds", "windows", "parts", "nothing")
ANY_PLACES = given(
    seed=st.integers(0, 1 << 32),
    alphabet=st.sampled_from(ALPHABETS),
    max_edits=EDITS,
    qualities=st.booleans(),
    piece=st.sampled_from([None, 1, 37, 100]),
    route=st.sampled_from(ROUTES),
    room=st.sampled_from([None, 1]),
    at_once=st.sampled_from([40, 1 << 17]),
)


def any_places(
    shaped: Engine,
    seed: int,
    alphabet: str,
    max_edits: int,
    qualities: bool,
    piece: int | None,
    route: str,
    room: int | None,
    at_once: int,
) -> None:
    rng = np.random.default_rng(seed)
    texts = make_texts(rng, alphabet, 120)
    reads = make_reads(rng, texts, alphabet, max_edits, qualities=qualities)
    check_places(shaped, reads, texts, max_edits, piece=piece, route=route, room=room, at_once=at_once, strand="+")


test_places_are_those_of_the_oracle = pytest.mark.one_cpu(settings(max_examples=examples(30))(ANY_PLACES(any_places)))
test_some_places_are_those_of_the_oracle = pytest.mark.other_cpus(settings(max_examples=8)(ANY_PLACES(any_places)))


def lane_plan(patterns: Patterns, numbers: NDArray[np.int64], max_edits: int, parts: int) -> LanePlan:
    """Windows of all patterns that can have some, which `plan_lanes` would seldom choose for such."""
    windows = cut_windows(patterns, numbers, max_edits, parts)
    return LanePlan(windows, 7, np.zeros(len(patterns)))


def check_places(
    engine: Engine,
    reads: list[Named],
    texts: list[str],
    max_edits: int,
    *,
    piece: int | None = None,
    route: str = "seeds",
    **parameters: Any,
) -> None:
    """Compare all places of a block, in which records may be cut into pieces, with those of the oracle."""
    options = ScanOptions(strand=parameters.pop("strand", "+"), report="all", max_edits=max_edits)
    records = [SampleRecord(letters.encode(), scores.encode() if scores else None) for _, letters, scores in reads]
    if any(scores == "" for _, _, scores in reads):
        records = [record if record.letters else SampleRecord(b"", b"") for record in records]
    overlap = max(map(len, texts)) + max_edits - 1
    samples = sample_letters(engine, records, piece=piece, overlap=overlap)
    patterns = on_device(engine, [text.encode() for text in texts], options)
    table = make_table(patterns.patterns, max_edits, 2) if route == "seeds" else None
    others = np.arange(len(patterns.patterns)) if table is None else table.unseeded.astype(np.int64)
    lanes = lane_plan(patterns.patterns, others, max_edits, 3 if route == "parts" else 1)
    lanes = None if route == "nothing" else lanes
    matcher = EditMatcher(engine, patterns, max_edits, table, lanes, share=21, **parameters)
    finder = EditScan(engine, patterns, options)
    finder._matcher = matcher
    ((_, found),) = finder.parts(samples)
    rows = zip(
        found.sample, found.signature, found.strand, found.start, found.end, found.mismatches, found.quality_sum,
        found.informative, found.sample_ns, found.signature_ns, found.error_units, strict=True,
    )  # fmt: skip
    expected = []
    for number, (_, letters, scores) in enumerate(reads):
        for strand in (0, 1) if options.strand == "both" else (int(options.strand == "-"),):
            for signature, text in enumerate(texts):
                expected += [
                    (
                        number, signature, strand, match.start, match.end, match.mismatches, match.quality_sum or 0,
                        match.informative, match.sample_ns, match.signature_ns, match.error_units or 0,
                    )
                    for match in places(letters, scores, text, strand="+-"[strand], max_edits=max_edits)
                ]  # fmt: skip
    assert [tuple(map(int, row)) for row in rows] == expected


FLAT = "I" * 3000
SPECIAL = {
    "one letter": (["A" * 300, "A" * 7], ["A", "AA", "A" * 40, "A" * 41, "C" * 30, "AN" * 20]),
    "repeats": (["GATTACA" * 60, "ACG" * 50], ["GATTACA" * 9, "ACAGATT", "ACG" * 20, "NAT"]),
    "all N": (["N" * 150], ["ACGT" * 20, "N" * 30, "A"]),
    "shorter than the signature": (["", "A", "ACGT", "GTACGT" * 3], ["ACGTACGTACGT" * 2, "ACGTACG"]),
    "at both ends": (["CGTACGATTGCATGCAAGCTTAGCATGCATTTGC"], ["ACGTACGATTGCATGCAAGCTTAGCATGCATTTGCA", "GGACG"]),
    "around a run of N": (["ACGATTGCATGC" + "N" * 60 + "AAGCTTAGCATG"], ["CATGCNNNAAGCTT", "ACGATTGCATGCAAGCTTAGCATG"]),
}


@pytest.mark.pairwise
@pytest.mark.parametrize("case", SPECIAL)
@pytest.mark.parametrize("max_edits", [4, 5, 7, 8, *only_whole(1)])
@pytest.mark.parametrize("route", ROUTES)
def test_special_cases(shaped: Engine, case: str, max_edits: int, route: str) -> None:
    letters, texts = SPECIAL[case]
    reads: list[Named] = [(str(i), text, FLAT[: len(text)]) for i, text in enumerate(letters)]
    check_places(shaped, reads, texts, max_edits, route=route, strand="both")
    check_places(shaped, reads, texts, max_edits, route=route, piece=20, room=1, at_once=7)


def write_reads(path: Path, reads: list[Named]) -> None:
    lines = []
    for name, letters, scores in reads:
        wrapped = [letters[i : i + 60] for i in range(0, len(letters), 60)]
        lines += [f">{name}", *wrapped] if scores is None else [f"@{name}", letters, "+", scores]
    path.write_text("".join(line + "\n" for line in lines))


@pytest.mark.parametrize("method", ["auto", "index", "lanes", "brute"])
@settings(max_examples=examples(10))
@given(data=st.data())
def test_scan_with_edits(
    shaped: Engine, method: Method, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32), "seed"))
    alphabet = data.draw(st.sampled_from(ALPHABETS), "alphabet")
    qualities = data.draw(st.booleans(), "qualities")
    options = ScanOptions(
        report=data.draw(st.sampled_from(["best", "first", "all"]), "report"),
        strand=data.draw(st.sampled_from(STRANDS), "strand"),
        method=method,
        max_edits=data.draw(EDITS, "edits"),
        min_informative=data.draw(st.sampled_from([0.0, 0.0, 0.4, 0.9]), "informative"),
        min_score=data.draw(st.sampled_from([0.0, 45.0]), "score") if qualities else 0.0,
    )
    texts = make_texts(rng, alphabet, 300)
    reads = make_reads(rng, texts, alphabet, options.max_edits, qualities=qualities)
    path = tmp_path_factory.mktemp("edits") / "samples.txt"
    write_reads(path, reads)
    panel = Panel.from_signatures((f"p{number}", text) for number, text in enumerate(texts))
    block_bytes = data.draw(st.sampled_from([1 << 20, 300, 90]), "block")
    with mock.patch(
        "oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=block_bytes)
    ):
        found = scan(path, panel, options, engine=shaped)
    assert found.records() == expected_rows(reads, texts, options)


def test_a_place_goes_on_through_many_blocks(engine: Engine, tmp_path: Path) -> None:
    letters = "C" * 100 + "A" * 3000 + "C" * 100 + "A" * 50
    path = tmp_path / "long.fasta"
    write_reads(path, [("x", letters, None)])
    options = ScanOptions(max_edits=2, report="all")
    with mock.patch("oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=200)):
        found = scan(path, Panel.from_signatures([("p0", "A" * 40)]), options, engine=engine)
    assert found.records() == expected_rows([("x", letters, None)], ["A" * 40], options)
    assert len(found.matches) == 2


def test_options_that_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="max_edits=1001: 0 to 1,000"):
        ScanOptions(max_edits=1001)
    with pytest.raises(UsageError, match="max_edits=1: substitutions are edits, too; leave out max_mismatches"):
        ScanOptions(max_edits=1, max_mismatches=1)
    with pytest.raises(UsageError, match="method='planes': does not find insertions and deletions"):
        ScanOptions(max_edits=1, method="planes")
    with pytest.raises(UsageError, match="method='lanes': is for max_edits"):
        ScanOptions(method="lanes")
