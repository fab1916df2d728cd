"""The oracle against the golden sets, against a matcher of plain strings, and on cases that can be seen at a glance."""

from __future__ import annotations

import gzip

import pytest
from helpers.signature_golden import GOLDEN_SETS, GoldenPair, GoldenSet
from hypothesis import given, strategies as st

from oclgenomics.sequence.records import read_records
from oclgenomics.signatures.panels.letters import IUPAC
from oclgenomics.signatures.reference import (
    Match,
    best,
    error_units,
    expected_errors,
    matches,
    places,
    quality_hash,
)

letters = st.text("ACGTN", max_size=25)
NUCLEOTIDES = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
PAIRED = dict(zip("ACGTURYSWKMBDHVN", "TGCAAYRSWMKVHDBN", strict=True))


@pytest.mark.parametrize("golden", GOLDEN_SETS, ids=lambda golden: golden.name)
def test_golden_sets(golden):
    found = pairs(golden)
    assert sorted(f"{one.sample}: {one.signature} ({one.score}) [{one.hash}]" for one in found) == golden.lines
    assert sorted(found, key=lambda one: (one.sample, one.signature)) == golden.pairs


def pairs(golden: GoldenSet) -> list[GoldenPair]:
    """All pairs of a golden set that match, by the oracle."""
    with gzip.open(golden.samples, "rt") as stream:
        lines = stream.read().splitlines()
    samples = zip(lines[::4], lines[1::4], lines[3::4], strict=True)
    panel = [(record.name, record.letters.decode()) for record in read_records(golden.signatures)]
    found = []
    for header, text, qualities in samples:
        sample = header[1:].split()[0]
        for name, signature in panel:
            if every := matches(text, qualities, signature):
                found.append(pair(sample, name, text, qualities, signature, every))
    return found


def pair(sample: str, name: str, text: str, qualities: str, signature: str, every: list[Match]) -> GoldenPair:
    """A pair, from all its matches."""
    one = best(every)
    assert one.quality_sum is not None
    score, total = f"{one.quality_sum / len(signature):.3f}", quality_hash(qualities)
    starts = [match.start for match in every]
    sizes = (len(text), len(signature), len(every))
    return GoldenPair(sample, name, *sizes, starts[0], one.start, one.quality_sum, score, total, starts[:50])


def test_there_is_something_to_tell_editions_apart():
    """Sets in which the best match is not the first one, and in which samples have N under a nucleotide."""
    assert sum(pair.best != pair.first for golden in GOLDEN_SETS for pair in golden.pairs) > 100


@given(st.text("".join(NUCLEOTIDES), max_size=25), st.text("".join(NUCLEOTIDES), max_size=6), st.integers(0, 2))
def test_against_plain_strings(sample, signature, allowed):
    turned = "".join(PAIRED[letter] for letter in reversed(signature))
    expected = []
    for strand, pattern in (("+", signature), ("-", turned)):
        for start in range(len(sample) - len(pattern) + 1 if pattern else 0):
            under = sample[start : start + len(pattern)]
            differ = sum(not set(NUCLEOTIDES[a]) & set(NUCLEOTIDES[b]) for a, b in zip(under, pattern, strict=True))
            if differ <= allowed:
                concrete = sum(a in "ACGTU" and b in "ACGTU" for a, b in zip(under, pattern, strict=True))
                expected.append((strand, start, differ, concrete, under.count("N"), pattern.count("N")))
    found = matches(sample.lower(), None, signature, strand="both", max_mismatches=allowed)
    assert [
        (one.strand, one.start, one.mismatches, one.informative, one.sample_ns, one.signature_ns) for one in found
    ] == expected
    assert all(one.end == one.start + len(signature) and one.quality_sum is one.error_units is None for one in found)
    assert set(NUCLEOTIDES) == set(IUPAC)


def test_the_example_of_the_assignment():
    (found,) = matches("NATCGGTT", "".join(chr(33 + quality) for quality in (0, 10, 20, 30, 10, 10, 10, 10)), "ATC")
    assert (found.start, found.end, found.quality_sum / 3) == (1, 4, 20.0)


def test_best_is_of_fewest_mismatches_then_highest_sum_then_leftmost():
    text, qualities = "ACGTACCTACGTACGT", "++++~~~~5555" + "5555"
    every = matches(text, qualities, "ACGT", max_mismatches=1)
    assert [(one.start, one.mismatches) for one in every] == [(0, 0), (4, 1), (8, 0), (12, 0)]
    assert best(every).start == 8
    assert best(every[1:2]).mismatches == 1


def test_a_match_without_qualities_to_speak_of_counts():
    (found,) = matches("NNNN", "!!!!", "ACGT")
    assert (found.quality_sum, found.informative, found.sample_ns) == (0, 0, 4)
    assert expected_errors(found.error_units) == 4.0


def test_filters():
    text, qualities = "ACGNACGT", "5555++++"
    assert len(matches(text, qualities, "ACGT")) == 2
    assert [one.start for one in matches(text, qualities, "ACGT", min_informative=0.75)] == [0, 4]
    assert [one.start for one in matches(text, qualities, "ACGT", min_informative=0.76)] == [4]
    assert [one.start for one in matches(text, qualities, "ACGT", min_score=10)] == [0, 4]
    assert [one.start for one in matches(text, qualities, "ACGT", min_score=10.1)] == [0]


def test_errors_and_hashes():
    assert error_units(0) == 1 << 32
    assert error_units(10) == round((1 << 32) / 10)
    assert error_units(93) == round((1 << 32) * 10**-9.3)
    assert expected_errors(error_units(0) + error_units(20)) == pytest.approx(1.01, abs=1e-9)
    assert quality_hash("") == 0
    assert quality_hash("~~") == 2 * 93 % 97


@given(st.text("ACN", max_size=12), st.text("ACN", min_size=1, max_size=8), st.integers(0, 3), st.integers(1, 9))
def test_what_runs_past_an_end_lies_whole_in_a_sample_with_n_around_it(sample, signature, most, overhang):
    length, around = len(signature), "N" * (len(signature) - 1)
    expected = []
    for match in matches(around + sample + around, None, signature, max_mismatches=most):
        place = match.start - len(around)
        start, end = max(place, 0), min(place + length, len(sample))
        inside = end - start
        whole = inside == length
        if whole or (inside >= overhang and match.mismatches <= most * inside // length):
            expected.append((start, end, match.mismatches, length - inside, match.informative))
    found = matches(sample, None, signature, max_mismatches=most, overhang=overhang)
    assert [(one.start, one.end, one.mismatches, one.outside, one.informative) for one in found] == expected


def edits(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        before, row[0] = row[0], number
        for at, same in enumerate(other, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != same))
    return row[-1]


@given(st.text("AC", max_size=9), st.text("AC", min_size=1, max_size=8), st.integers(1, 3), st.integers(1, 5))
def test_what_runs_past_an_end_with_edits(sample, signature, most, overhang):
    length, size = len(signature), len(sample)
    expected = []
    for text, turned, step in ((sample[::-1], signature[::-1], -1), (sample, signature, 1)):
        cost = [min((edits(turned[:i], text[start:]) for start in range(size)), default=99) for i in range(length + 1)]
        right = [i for i in range(overhang, length) if cost[i] <= most * i // length]
        if right and most < length and cost[length] > most:
            inside = min(right, key=lambda i: (cost[i] + length - i, -i))
            start = max(at for at in range(size) if edits(turned[:inside], text[at:]) == cost[inside])
            place = (start, size) if step == 1 else (0, size - start)
            expected.append((*place, cost[inside], length - inside))
    found = places(sample, None, signature, max_edits=most, overhang=overhang)
    assert [(one.start, one.end, one.mismatches, one.outside) for one in found if one.outside] == sorted(
        expected, key=lambda row: (row[1], row[0])
    )
