"""Alignments traced together are those that the oracle traces one by one."""

from __future__ import annotations

import re
from unittest import mock

import numpy as np
import pytest
from helpers.signature_parts import matches_of
from hypothesis import given, settings, strategies as st

from oclgenomics.sequence.name_list import NameList
from oclgenomics.signatures import reference
from oclgenomics.signatures.matches import alignments
from oclgenomics.signatures.matches.alignments import Traced, trace
from oclgenomics.signatures.panels.panel import Panel

TEXTS = st.one_of(st.text("AC", max_size=30), st.text("ACGTNRU", max_size=30))
SIGNATURES = st.lists(
    st.one_of(st.text("AC", min_size=1, max_size=12), st.text("ACGTNY", min_size=1, max_size=12)),
    min_size=1, max_size=4,
)  # fmt: skip


def traced(text: str, signatures: list[str], allowed: int, *, gaps: bool) -> tuple[Traced, list[str], list[int]]:
    """Alignments of all matches in a text, the oracle's, and how many edits each has."""
    rows, numbers = [], []
    for number, signature in enumerate(signatures):
        if gaps:
            found = reference.places(text, None, signature, strand="both", max_edits=allowed)
        else:
            found = reference.matches(text, None, signature, strand="both", max_mismatches=allowed)
        rows += found
        numbers += [number] * len(found)
    panel = Panel.from_signatures((str(number), letters) for number, letters in enumerate(signatures))
    letters = NameList.of([text[row.start : row.end] for row in rows])
    cigars = [reference.cigar(text, signatures[at], row, gaps=gaps) for row, at in zip(rows, numbers, strict=True)]
    found = trace(panel, matches_of(rows, signature=numbers), letters, gaps=gaps)
    return found, cigars, [row.mismatches for row in rows]


@settings(max_examples=150, deadline=None)
@given(TEXTS, SIGNATURES, st.integers(0, 6), st.booleans(), st.sampled_from([1, 300, 1 << 24]))
def test_alignments_are_those_of_the_oracle(
    text: str, signatures: list[str], allowed: int, gaps: bool, room: int
) -> None:
    with mock.patch.multiple(alignments, STEP_BYTES=room, LOT_BASES=room, WIDE_BAND=5):
        found, cigars, edits = traced(text, signatures, allowed, gaps=gaps)
    assert found.cigar.tolist() == cigars
    counts = [dict.fromkeys("=XDI", 0) for _ in cigars]
    for cigar, count in zip(cigars, counts, strict=True):
        for size, step in re.findall(r"(\d+)(.)", cigar):
            count[step] += int(size)
    assert [count["X"] + count["D"] + count["I"] for count in counts] == edits
    assert found.same.tolist() == [count["="] for count in counts]


@pytest.mark.parametrize(
    ("signature", "text", "cigar"),
    [
        ("GAAAT", "GAAT", "1=1D3="),  # gaps lie as far left as they can
        ("GAAT", "GAAAT", "1=1I3="),
        ("ACGT", "AGCT", "1=1I1=1D1="),  # as many single nucleotides aligned as can be
        ("ANNT", "AGCT", "4="),
        ("AACC", "AGGC", "1=2X1="),  # then aligned bases rather than gaps
        ("NAN", "TA", "2=1D"),
        ("TTTT", "TTTT", "4="),
        ("CTGA", "TGA", "1D3="),
    ],
)
def test_the_rule(signature: str, text: str, cigar: str) -> None:
    match = reference.Match("+", 0, len(text), 2 if len(text) == len(signature) else 1, *[0] * 5)
    assert reference.cigar(text, signature, match, gaps=True) == cigar
    panel = Panel.from_signatures([("x", signature)])
    assert trace(panel, matches_of([match]), NameList.of([text]), gaps=True).cigar.tolist() == [cigar]
    turned = text[::-1].translate(str.maketrans("ACGT", "TGCA"))
    back = reference.Match("-", *[getattr(match, name) for name in list(vars(match))[1:]])
    assert trace(panel, matches_of([back]), NameList.of([turned]), gaps=True).cigar.tolist() == [cigar]


def test_long_signatures_and_many_matches() -> None:
    rng = np.random.default_rng(1)
    letters = "".join(rng.choice(list("ACGT"), 3000))
    changed = letters[:1000] + letters[1001:2000] + "C" + letters[2000:]
    match = reference.Match("+", 0, len(changed), 2, *[0] * 5)
    panel = Panel.from_signatures([("x", letters), ("y", "ACGTACGT")])
    short = reference.Match("+", 0, 8, 1, *[0] * 5)
    rows, signature = [match] + [short] * 500, [0] + [1] * 500
    texts = NameList.of([changed] + ["ACGTTCGT"] * 500)
    found = trace(panel, matches_of(rows, signature=signature), texts, gaps=True)
    first = found.cigar[0]
    assert re.fullmatch(r"(\d+)=1D(\d+)=1I(\d+)=", first)
    assert sum(int(size) for size in re.findall(r"(\d+)[=D]", first)) == 3000
    assert found.cigar.tolist()[1:] == ["4=1X3="] * 500
