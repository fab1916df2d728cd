"""Matches with edits beside those of Sassy, another exact search, which knows nothing of our definition of places."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.edit_samples import edited
from helpers.signature_samples import random_letters

from oclgenomics.runtime import Engine
from oclgenomics.signatures import Panel, ScanOptions, scan
from oclgenomics.signatures.options import Method

sassy: Any = pytest.importorskip("sassy", reason="sassy-rs is not installed")
COMPLEMENT = bytes.maketrans(b"ACGTRYKMBDHVN", b"TGCAYRMKVHDBN")


def places_of_sassy(text: bytes, pattern: bytes, max_edits: int) -> list[int]:
    """The least number of edits of each run of neighbouring ends."""
    costs: dict[int, int] = {}
    for match in sassy.Searcher("iupac", rc=False).search_all(pattern, text, max_edits):
        costs[match.text_end] = min(match.cost, costs.get(match.text_end, max_edits))
    ends = sorted(costs)
    cuts = [0, *(number for number, (a, b) in enumerate(pairwise(ends), 1) if b > a + 1), len(ends)]
    return [min(costs[end] for end in ends[a:b]) for a, b in pairwise(cuts)] if ends else []


@pytest.mark.parametrize("method", ["lanes", "index"])
@pytest.mark.parametrize(("length", "max_edits"), [(20, 2), (24, 3), (33, 4), (65, 6), (200, 20)])
def test_sassy_finds_the_same_places(
    engine: Engine, tmp_path: Path, length: int, max_edits: int, method: Method
) -> None:
    rng = np.random.default_rng(length)
    patterns = [random_letters(rng, length, 0.05, "ACGTACGTACGTRYN") for _ in range(6)]
    text = bytearray(random_letters(rng, 20_000, 0.01, "ACGT"))
    for number in range(60):
        copy = edited(rng, patterns[number % 6].decode(), int(rng.integers(0, max_edits + 2)), "ACGT").encode()
        copy = copy[::-1].translate(COMPLEMENT) if number % 3 == 0 else copy
        at = int(rng.integers(len(text)))
        text[at : at + len(copy)] = copy
    path = tmp_path / "text.fasta"
    path.write_bytes(b">text\n%b\n" % bytes(text))
    panel = Panel.from_signatures((f"p{number}", pattern) for number, pattern in enumerate(patterns))
    found = scan(path, panel, ScanOptions("all", "both", method, max_edits=max_edits), engine=engine).records()
    assert len(found) > 20
    for number, pattern in enumerate(patterns):
        for strand, letters in (("+", pattern), ("-", pattern[::-1].translate(COMPLEMENT))):
            own = [row["mismatches"] for row in found if (row["signature"], row["strand"]) == (f"p{number}", strand)]
            assert own == places_of_sassy(bytes(text), letters, max_edits)
