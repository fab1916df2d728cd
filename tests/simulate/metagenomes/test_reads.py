"""Simulated reads: where they are from, their errors and qualities, and that a seed decides them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.simulate.metagenomes import reads as sampled_reads
from oclgenomics.simulate.metagenomes.reads import ReadBatch, ReadScenario, simulate_reads

GENOMES = [np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(seed).integers(0, 4, 3_000)] for seed in range(3)]
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


def drawn(scenario: ReadScenario, seed: int = 4, shares: tuple[float, ...] = (1, 1, 2)) -> list[ReadBatch]:
    return list(simulate_reads(GENOMES, shares, scenario, seed))


def backward(letters: bytes) -> bytes:
    return letters[::-1].translate(COMPLEMENT)


def places(text: NDArray[np.uint8], letters: bytes) -> list[tuple[int, bool]]:
    whole = text.tobytes()
    return [(at, strand) for strand, one in enumerate((letters, backward(letters))) if (at := whole.find(one)) >= 0]


def test_reads_without_errors_are_of_their_genomes() -> None:
    (batch,) = drawn(ReadScenario(reads=400, length=60, errors=0))
    pairs = zip(batch.genome, batch.letters[0], strict=True)
    strands = [places(GENOMES[genome], letters.tobytes()) for genome, letters in pairs]
    assert all(len(found) == 1 for found in strands)
    assert 120 < sum(found[0][1] for found in strands) < 280
    shares = np.bincount(batch.genome, minlength=3) / 400
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.1)
    starts = np.array([found[0][0] for found in strands])
    assert starts.min() < 200
    assert starts.max() > 2_700


def test_mates_face_each_other() -> None:
    (batch,) = drawn(ReadScenario(reads=300, length=50, paired=True, insert=300, errors=0))
    spans = []
    for genome, first, second in zip(batch.genome, *batch.letters, strict=True):
        ((begin, one),) = places(GENOMES[genome], first.tobytes())
        ((end, other),) = places(GENOMES[genome], second.tobytes())
        assert one != other
        spans.append(end + 50 - begin if not one else begin + 50 - end)
    assert min(spans) >= 225
    assert max(spans) <= 375
    assert np.mean(spans) == pytest.approx(300, abs=6)


def test_errors_and_their_qualities() -> None:
    scenario = ReadScenario(reads=4_000, length=100, errors=0.03)
    (wrong,), (right,) = drawn(scenario), drawn(ReadScenario(reads=4_000, length=100, errors=0))
    assert np.array_equal(wrong.genome, right.genome)
    differ = wrong.letters[0] != right.letters[0]
    assert differ.mean() == pytest.approx(0.03, rel=0.05)
    assert differ[:, -20:].mean() > 2 * differ[:, :20].mean()
    qualities = wrong.qualities[0].astype(int) - 33
    assert 2 <= qualities.min() <= qualities.max() <= 41
    assert qualities[differ].mean() < qualities[~differ].mean() - 3
    assert qualities[:, 0].mean() > qualities[:, -1].mean()


def test_a_seed_decides_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_reads, "BATCH_LETTERS", 20_000)
    digest = hashlib.sha256()
    batches = drawn(ReadScenario(reads=500, length=70, paired=True, insert=200), seed=9)
    for batch in batches:
        for array in (*batch.letters, *batch.qualities):
            digest.update(np.ascontiguousarray(array))
    assert digest.hexdigest()[:16] == "19c93d5c02da1240"
    assert [batch.first for batch in batches] == [0, 142, 284, 426]
    assert sum(map(len, batches)) == 500
    other = drawn(ReadScenario(reads=500, length=70, paired=True, insert=200), seed=10)
    assert not np.array_equal(other[0].letters[0], batches[0].letters[0])


def test_genomes_without_share_have_no_reads() -> None:
    (batch,) = drawn(ReadScenario(reads=100, length=60), shares=(0, 1, 0))
    assert set(batch.genome.tolist()) == {1}
    assert not drawn(ReadScenario(reads=0))


@pytest.mark.parametrize(
    ("given", "name"),
    [({"reads": -1}, "reads"), ({"length": 0}, "length"), ({"errors": 0.6}, "errors"),
     ({"paired": True, "insert": 149}, "insert"), ({"length": 3_001}, "length"),
     ({"paired": True, "insert": 2_900}, "length")],
)  # fmt: skip
def test_scenarios_that_are_refused(given: dict[str, int], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        drawn(ReadScenario(**given))


def test_shares_and_seeds_that_are_refused() -> None:
    with pytest.raises(ParameterError, match="shares"):
        drawn(ReadScenario(), shares=(0, 0, 0))
    with pytest.raises(ParameterError, match="seed"):
        drawn(ReadScenario(), seed=-1)
