"""Simulated signatures and samples: their statistics, the truth against the oracle, and that a seed decides them."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import ParameterError
from oclgenomics.signatures.reference import matches
from oclgenomics.simulate.draws import RandomBits, groups
from oclgenomics.simulate.signatures.samples import (
    SampleBatch,
    Scenario,
    simulate_samples,
    simulate_signatures,
    write_samples,
    write_signatures,
    write_truth_rows,
)
from oclgenomics.simulate.signatures.scenario import PRESETS

SMALL = Scenario(
    signatures=12, signature_length=(20, 60), signature_n=0.2, clean=5, infected=20, copies=(1, 4),
    sample_length=(50, 300), sample_n=0.1,
)  # fmt: skip
# Of all files of a scenario, whatever makes them
DIGEST = "e2ab75461357a4e1"


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


def files(scenario: Scenario, seed: int) -> bytes:
    """All files of a scenario, one after the other."""
    out = io.BytesIO()
    signatures = simulate_signatures(scenario, seed)
    write_signatures(out, signatures)
    for batch in simulate_samples(scenario, signatures, seed):
        write_samples(out, batch)
        write_truth_rows(out, batch)
    return out.getvalue()


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


def test_signatures_have_their_lengths_and_ns():
    scenario = Scenario(signatures=3000, signature_length=(30, 60), signature_n=0.25)
    signatures = simulate_signatures(scenario, 3)
    counts = np.bincount(signatures.lengths, minlength=61)
    assert counts[:30].sum() == 0
    assert len(counts) == 61
    np.testing.assert_allclose(counts[30:], 3000 / 31, atol=5 * np.sqrt(3000 / 31))
    shares = np.bincount(signatures.letters, minlength=256) / len(signatures.letters)
    np.testing.assert_allclose(shares[list(b"ACGTN")], [0.1875] * 4 + [0.25], atol=0.006)


def test_samples_have_their_lengths_ns_and_qualities():
    scenario = replace(SMALL, clean=300, infected=0, sample_length=(2000, 4000), sample_n=0.05, quality=(0, 93))
    letters, qualities, _, _ = joined(scenario)
    lengths = np.array([len(text) for text in letters])
    assert lengths.min() >= 2000
    assert lengths.max() <= 4000
    assert abs(lengths.mean() - 3000) < 5 * 2000 / np.sqrt(12 * 300)
    assert "".join(letters).count("N") / lengths.sum() == pytest.approx(0.05, abs=0.002)
    means = []
    for text, quality in zip(letters, qualities, strict=True):
        scores, is_n = (
            np.frombuffer(quality.encode(), np.uint8) - 33,
            np.frombuffer(text.encode(), np.uint8) == ord("N"),
        )
        assert not scores[is_n].any()
        scores = scores[~is_n]
        means.append(scores.mean())
        if 13 < scores.mean() < 80:  # where no bound is in the way
            assert scores.std() == pytest.approx(np.sqrt(9 + 1 / 12), abs=0.25)
    assert abs(np.mean(means) - 46.5) < 5 * 93 / np.sqrt(12 * 300)
    assert min(means) < 5
    assert max(means) > 88


def test_qualities_are_rounded_and_stay_in_their_range():
    _, qualities, _, _ = joined(replace(SMALL, sample_n=0.0, quality=(20, 22), sample_length=(400, 400), clean=500))
    shares = np.bincount(np.frombuffer("".join(qualities).encode(), np.uint8) - 33) / len("".join(qualities))
    assert np.flatnonzero(shares).tolist() == [20, 21, 22]
    assert shares[20] == pytest.approx(shares[22], abs=0.02)
    _, qualities, _, _ = joined(replace(SMALL, sample_n=1.0, planted_n=0.0, quality=(93, 93), infected=0))
    assert set("".join(qualities)) == {"!"}


@pytest.mark.parametrize("planted_n", [0.0, 0.3, 1.0])
def test_copies_have_ns_of_their_own(planted_n):
    scenario = replace(SMALL, infected=400, clean=0, signature_n=0.5, sample_n=0.1, planted_n=planted_n)
    letters, _, batches, _ = joined(scenario)
    inside = outside = inside_letters = outside_letters = 0
    for copies in (batch.copies for batch in batches):
        within = [np.zeros(len(text), bool) for text in letters]
        for sample, start, end in zip(copies.sample, copies.start, copies.end, strict=True):
            assert not within[sample][start:end].any(), "copies overlap"
            within[sample][start:end] = True
        for text, mask in zip(letters, within, strict=True):
            is_n = np.frombuffer(text.encode(), np.uint8) == ord("N")
            inside, inside_letters = inside + is_n[mask].sum(), inside_letters + mask.sum()
            outside, outside_letters = outside + is_n[~mask].sum(), outside_letters + (~mask).sum()
    assert inside / inside_letters == pytest.approx(planted_n, abs=0.02)
    assert outside / outside_letters == pytest.approx(0.1, abs=0.01)


def test_more_mismatches_than_letters():
    scenario = replace(SMALL, infected=200, mismatches=10**8, planted_n=0.0, signature_n=0.0)
    letters, _, batches, signatures = joined(scenario)
    shares = np.concatenate([batch.copies.mismatches / (batch.copies.end - batch.copies.start) for batch in batches])
    assert 0.4 < shares.mean() < 0.8
    (copies,) = (batch.copies for batch in batches)
    for sample, signature, start, mismatches in zip(
        copies.sample, copies.signature, copies.start, copies.mismatches, strict=True
    ):
        under = letters[sample][start : start + len(signatures[signature])]
        assert mismatches == sum(a != b for a, b in zip(under, signatures[signature], strict=True))


def test_samples_are_as_long_as_their_copies_need():
    letters, _, batches, signatures = joined(replace(SMALL, sample_length=(0, 70), copies=(0, 5)))
    (copies,) = (batch.copies for batch in batches)
    taken = np.zeros(len(letters), np.int64)
    np.add.at(taken, copies.sample, [len(signatures[number]) for number in copies.signature])
    assert (np.array([len(text) for text in letters]) >= taken).all()
    assert max(len(text) for text in letters) > 70
    assert len(np.unique(np.bincount(copies.sample, minlength=25)[np.unique(copies.sample)])) > 2
    np.testing.assert_array_equal(copies.end - copies.start, [len(signatures[number]) for number in copies.signature])


def test_all_places_of_a_sample_get_copies():
    scenario = replace(SMALL, signatures=1, signature_length=(5, 5), infected=3000, clean=0, copies=(1, 1))
    _, _, batches, _ = joined(replace(scenario, sample_length=(10, 10)))
    starts = np.concatenate([batch.copies.start for batch in batches])
    np.testing.assert_allclose(np.bincount(starts, minlength=6), 500, atol=5 * np.sqrt(500))


def test_signatures_do_not_depend_on_samples():
    other = replace(SMALL, clean=0, sample_n=0.3, strand="both", mismatches=4, copies=(0, 1))
    one, two = (simulate_signatures(scenario, 5) for scenario in (SMALL, other))
    np.testing.assert_array_equal(one.letters, two.letters)
    assert not np.array_equal(one.letters[:50], simulate_signatures(SMALL, 6).letters[:50])


def test_a_seed_decides_every_byte():
    scenario = replace(SMALL, strand="both", planted_n=0.2, mismatches=2, sample_length=(0, 100_000))
    assert hashlib.sha256(files(scenario, 7)).hexdigest()[:16] == DIGEST
    assert hashlib.sha256(files(scenario, 8)).hexdigest()[:16] != DIGEST


def test_long_data_come_in_batches():
    scenario = replace(SMALL, clean=40, infected=2, copies=(4000, 6000), sample_length=(0, 90_000))
    signatures = simulate_signatures(scenario, 2)
    batches = list(simulate_samples(scenario, signatures, 2))
    assert len(batches) > 1
    assert [batch.first for batch in batches] == np.cumsum([0, *map(len, batches)])[:-1].tolist()
    assert sum(map(len, batches)) == 42
    sizes = [len(batch.letters) for batch in batches]
    assert min(sizes[:-1]) >= 1 << 20
    assert max(sizes) < (1 << 20) + 6000 * 60
    for batch in batches:
        assert batch.letters.size == batch.qualities.size == batch.offsets[-1]
        assert ((batch.copies.sample >= batch.first) & (batch.copies.sample < batch.first + len(batch))).all()
    copies = max(batches, key=lambda batch: len(batch.copies)).copies  # planted in several groups
    assert len(copies) >= 4000
    assert not copies.mismatches.any()


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 30))
def test_groups(sizes, least):
    cuts = list(groups(np.array(sizes, np.int64), least))
    assert [number for first, last in cuts for number in range(first, last)] == list(range(len(sizes)))
    for first, last in cuts:
        assert last > first
        assert sum(sizes[first : last - 1]) < least
        assert last == len(sizes) or sum(sizes[first:last]) >= least


def test_random_numbers():
    draws = RandomBits(np.random.SeedSequence(4))
    counts = np.bincount(draws.below(7, 70_000), minlength=7)
    np.testing.assert_allclose(counts, 10_000, atol=500)
    bounds = np.repeat([1, 3, 1 << 32], 1000)
    drawn = draws.below(bounds, 3000)
    assert (drawn < bounds).all()
    assert drawn[2000:].max() > 1 << 31
    assert set(draws.within(-2, 2, 1000).tolist()) == {-2, -1, 0, 1, 2}
    for rate in (0.0, 1e-4, 0.5, 1.0):
        assert draws.happens(100_000, rate).mean() == pytest.approx(rate, abs=0.005 if 0 < rate < 1 else 0)
    assert draws.uint8(0).size == draws.below(3, 0).size == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"signatures": 0}, "signatures must be between 1 and 10,000,000, not 0"),
        ({"signatures": 10**7, "signature_length": (1, 101)}, "of 101 bases have more than 1,000,000,000 in all"),
        ({"signature_length": (0, 3)}, "signature_length must be between 1 and"),
        ({"signature_length": (4, 3)}, "signature_length the least, 4, is more than the most, 3"),
        ({"clean": -1}, "clean must be between 0 and"),
        ({"infected": 10**9}, "infected must be between 0 and"),
        ({"clean": 0, "infected": 0}, "clean and infected are both 0; ask for a sample"),
        ({"copies": (2, 10**6 + 1)}, "do not fit into a sample of 1,000,000,000"),
        ({"copies": (2, 11), "infected": 10**6}, "copies may be 10,000,000 in all infected samples"),
        ({"sample_length": (1, 10**10)}, "sample_length must be between 0 and 1,000,000,000"),
        ({"quality": (0, 94)}, "quality must be between 0 and 93, not 94"),
        ({"signature_n": -0.1}, "signature_n must be a probability, from 0 to 1, not -0.1"),
        ({"sample_n": float("nan")}, "sample_n must be a probability"),
        ({"planted_n": 1.1}, "planted_n must be a probability"),
        ({"strand": "*"}, "strand='*': choose one of +, -, both"),
        ({"mismatches": -1}, "mismatches must be between 0 and"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        Scenario(**values)


def test_negative_seeds_are_refused():
    with pytest.raises(ParameterError, match="seed must be 0 or more, not -1"):
        simulate_signatures(SMALL, -1)


def test_presets_are_the_papers():
    large = PRESETS["paper-large"]
    assert (large.samples, large.infected, large.copies, large.sample_length) == (
        1010,
        10,
        (100, 200),
        (10**5, 2 * 10**5),
    )
    assert {preset.signatures for preset in PRESETS.values()} == {1000}
    assert [preset.sample_length[0] for preset in PRESETS.values()] == [100_000, 50_000, 10_000]
