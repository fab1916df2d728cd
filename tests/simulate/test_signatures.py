"""Simulated signatures and samples: their statistics, the truth against the oracle, and that a seed decides them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from oclgenomics.signatures.reference import matches
from oclgenomics.simulate.signatures import SampleBatch, Scenario, simulate_samples, simulate_signatures

SMALL = Scenario(
    signatures=12, signature_length=(20, 60), signature_n=0.2, clean=5, infected=20, copies=(1, 4),
    sample_length=(50, 300), sample_n=0.1,
)  # fmt: skip


def joined(scenario: Scenario, seed: int = 1) -> tuple[list[str], list[str], list[SampleBatch], list[str]]:
    """Letters and qualities of all samples, the batches they came in, and the signatures."""
    signatures = simulate_signatures(scenario, seed)
    batches = list(simulate_samples(scenario, signatures, seed))
    letters = [text for batch in batches for text in cut(batch.letters, batch.offsets)]
    qualities = [text for batch in batches for text in cut(batch.qualities, batch.offsets)]
    return letters, qualities, batches, cut(signatures.letters, signatures.offsets)


def cut(text: np.ndarray, offsets: np.ndarray) -> list[str]:
    whole = text.tobytes().decode()
    return [whole[a:b] for a, b in pairwise(offsets)]


@pytest.mark.parametrize("mismatches", [0, 3])
@pytest.mark.parametrize("strand", ["+", "-", "both"])
@pytest.mark.parametrize("planted_n", [None, 0.0, 0.4])
def test_every_copy_is_where_the_truth_says(strand, planted_n, mismatches):
    scenario = replace(SMALL, strand=strand, planted_n=planted_n, mismatches=mismatches)
    letters, qualities, batches, signatures = joined(scenario)
    rows = 0
    for copies in (batch.copies for batch in batches):
        for i in range(len(copies)):
            sample, signature = copies.sample[i], copies.signature[i]
            sign = "-" if copies.reverse[i] else "+"
            assert sign == strand or strand == "both"
            found = matches(
                letters[sample], qualities[sample], signatures[signature], strand=sign, max_mismatches=mismatches
            )
            place = (copies.start[i], copies.end[i], copies.mismatches[i])
            assert place in [(match.start, match.end, match.mismatches) for match in found]
            rows += 1
    assert rows >= 20
    seen = np.concatenate([batch.copies.mismatches for batch in batches])
    assert bool(mismatches) <= seen.max() <= mismatches
    if strand == "both":
        assert len(np.unique(np.concatenate([batch.copies.reverse for batch in batches]))) == 2
