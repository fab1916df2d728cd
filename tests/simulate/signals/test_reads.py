"""Simulated signals: their dwells, levels and noise, that names tell the truth, and that a seed decides all of it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.kmer_signals import expected_tracks, random_model
from numpy.typing import NDArray

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.signals import SEQUENCING, KmerModel, Signals, read_model, sequencing_of, stall_end
from oclgenomics.signals.kmers import Molecule
from oclgenomics.simulate.draws import RandomBits, normals
from oclgenomics.simulate.signals.drawing import PRESETS, preset_for
from oclgenomics.simulate.signals.reads import (
    Genome,
    SignalBatch,
    SignalScenario,
    random_genome,
    read_genome,
    simulate_signals,
)

EASY, NORMAL = PRESETS["easy"], PRESETS["normal"]
STEADY = replace(EASY, dwell_sd=0.0)  # each k-mer has 9 samples
STEPS = KmerModel("steps", 1, np.array([60.0, 80.0, 100.0, 120.0]), np.ones(4))


def simulated(genomes: list[Genome], model: KmerModel, scenario: SignalScenario, seed: int = 1) -> list[SignalBatch]:
    return list(simulate_signals(genomes, model, scenario, seed))


def currents(signals: Signals, number: int) -> NDArray[np.float64]:
    return (signals.read(number) + signals.offset[number]) * signals.scale[number]


def staircase(length: int, reads: int) -> Genome:
    return Genome("steps", ("s",), (b"ACGT" * (length // 4),), reads)


def runs(values: NDArray[Any]) -> NDArray[np.int64]:
    """Lengths of runs of equal values, without the last one, which the end cuts."""
    ends = np.flatnonzero(np.diff(values)) + 1
    return np.diff(ends, prepend=0)


def test_normal_numbers() -> None:
    drawn = normals(RandomBits(np.random.SeedSequence(1)), 1_000_000)
    assert abs(drawn.mean()) < 0.005
    assert abs(drawn.std() - 1) < 0.005
    assert 3.9 < drawn.max() < 4.6
    for below in (-2, -1, 0, 0.5, 1.5):
        assert abs((drawn < below).mean() - 0.5 * (1 + math.erf(below / math.sqrt(2)))) < 0.002


def test_dwells() -> None:
    scenario = replace(EASY, amplitude=0.0, samples=(20_000, 20_000), strand="+")
    (batch,) = simulated([staircase(10_000, 5)], STEPS, scenario)
    found = np.concatenate([runs(batch.signals.read(number)) for number in range(5)])
    draw = np.maximum(np.abs(np.rint(np.random.default_rng(1).normal(9, 4, 1_000_000))), 1)
    assert found.min() >= 1
    assert abs(found.mean() - draw.mean()) < 4 * draw.std() / len(found) ** 0.5
    assert abs(found.std() - draw.std()) < 0.1
    assert abs((found == 1).mean() - (draw == 1).mean()) < 0.01


def test_slowness_of_reads() -> None:
    (batch,) = simulated([staircase(4000, 200)], STEPS, replace(STEADY, slowness_cv=0.15, samples=(1800, 1800)))
    assert abs(batch.slowness.mean() - 1) < 0.04
    assert abs(batch.slowness.std() - 0.15) < 0.02
    kmers = batch.end - batch.start
    np.testing.assert_allclose(kmers, 1800 / np.rint(9 * batch.slowness), atol=1)


def test_jitter_and_amplitude() -> None:
    scenario = replace(STEADY, jitter=3.0, amplitude=1.5, strand="+", samples=(36_000, 36_000))
    (batch,) = simulated([staircase(8000, 4)], STEPS, scenario)
    events = np.stack([currents(batch.signals, number).reshape(-1, 9) for number in range(4)])
    letters = batch.start[:, None] + np.arange(4000)
    shift = events.mean(axis=2) - STEPS.mean[letters % 4]
    assert abs(shift.std() - (3**2 + 1.5**2 / 9) ** 0.5) < 0.1
    assert abs(shift.mean()) < 0.1
    assert abs((events - events.mean(axis=2, keepdims=True)).std() * (9 / 8) ** 0.5 - 1.5) < 0.02


@pytest.mark.parametrize("molecule", ["dna", "rna"])
def test_names_and_truth_tell_the_place(molecule: Molecule) -> None:
    """With a constant dwell, the samples of each k-mer are those of the k-mer that the reference has there."""
    letters = random_genome("x", 3000, 0.5, 0, 1).letters[0].decode()
    records = [letters[:900], letters[900:1500] + "NN" + letters[1500:2300], letters[2300:].lower()]
    genome = Genome("target", ("a", "b", "c_d"), tuple(record.encode() for record in records), 300)
    model = random_model(5)
    (batch,) = simulated([genome], model, replace(STEADY, molecule=molecule, samples=(300, 900)))
    levels = {(c.record, c.strand, c.position): c.level for t in expected_tracks(records, model, molecule) for c in t}
    for number in range(300):
        record, strand = genome.names.index(batch.record[number]), "+-".index(batch.strand[number])
        start, end = int(batch.start[number]), int(batch.end[number])
        place = f"{batch.record[number]}_{batch.strand[number]}_{start}"
        assert batch.signals.names[number] == f"target_{number + 1:06}_{place}"
        places = list(range(start, end - model.k + 1))
        expected = [levels[record, strand, place] for place in places]
        expected = expected[::-1] if (strand == 1) != (molecule == "rna") else expected
        pa = currents(batch.signals, number)
        assert len(pa) <= 9 * len(expected) < len(pa) + 9
        np.testing.assert_allclose(pa, np.repeat(expected, 9)[: len(pa)], atol=4.5 * model.deviation.max())
        means = np.add.reduceat(pa, np.arange(0, len(pa) - 8, 9))[:-1] / 9
        np.testing.assert_allclose(means, expected[: len(means)], atol=4.5 * model.deviation.max() / 3)
    assert set(batch.strand) == ({"+", "-"} if molecule == "dna" else {"+"})
    assert set(batch.record) == {"a", "b", "c_d"}


def test_the_strand_of_reads() -> None:
    (batch,) = simulated([random_genome("x", 3000, 0.5, 400, 1)], random_model(5), replace(STEADY, samples=(90, 90)))
    assert abs((batch.strand == "+").mean() - 0.5) < 0.1
    quarters = np.bincount(batch.start * 4 // 3000, minlength=4)
    assert quarters.min() > 70
    (batch,) = simulated(
        [random_genome("x", 3000, 0.5, 40, 1)], random_model(5), replace(STEADY, samples=(90, 90), strand="+")
    )
    assert set(batch.strand) == {"+"}


def test_reads_end_with_their_sequences() -> None:
    genome = Genome("x", ("a", "b"), (b"ACGTTGCA", b"GATTACAGAT"), 30)
    (batch,) = simulated([genome], random_model(5), replace(STEADY, samples=(500, 500)))
    for record, start, end, samples in zip(batch.record, batch.start, batch.end, batch.signals.lengths, strict=True):
        assert (start, end) == (0, len(genome.letters[genome.names.index(record)]))
        assert samples == 9 * (end - 4)


def test_junk() -> None:
    genome = random_genome("x", 5000, 0.5, 1000, 1)
    (batch,) = simulated([genome], read_model("r9.4.1"), replace(NORMAL, samples=(200, 200), junk=0.2))
    junk = batch.record == ""
    assert 150 < junk.sum() < 250
    assert (batch.start[junk] == -1).all()
    assert (batch.end[junk] == -1).all()
    assert (batch.strand[junk] == "").all()
    assert all(name.endswith("_junk") for name in batch.signals.names[junk])
    assert (batch.end[~junk] > batch.start[~junk]).all()
    assert (batch.signals.lengths == 200).all()
    (none,) = simulated([genome], read_model("r9.4.1"), replace(NORMAL, samples=(200, 200), junk=0.0))
    assert (none.record != "").all()


def test_stall_and_adapter() -> None:
    scenario = replace(NORMAL, stall=(50, 300), adapter=100, samples=(6000, 6000))
    (batch,) = simulated([random_genome("x", 9000, 0.5, 30, 1)], read_model("r9.4.1"), scenario)
    assert (batch.signals.lengths == batch.lead + 6000).all()
    for number in range(30):
        pa = currents(batch.signals, number)
        end = stall_end(batch.signals.read(number))
        assert end is not None
        assert 50 <= end <= 310
        assert pa[: end - 8].min() > 190
        assert pa[end:].max() < 160
        assert 300 < batch.lead[number] - end < 1800


def test_facts_of_the_machine() -> None:
    scenario = replace(NORMAL, samples=(100, 300), rate=5000.0)
    (batch,) = simulated([random_genome("x", 5000, 0.4, 2000, 1)], read_model("r9.4.1"), scenario)
    signals = batch.signals
    assert set(signals.scale) == {1443.03 / 8192}
    assert set(signals.rate) == {5000.0}
    assert (signals.channel.min(), signals.channel.max()) == (1, 512)
    assert abs(signals.offset.mean() - 13.7) < 1
    assert abs(signals.offset.std() - 10.3) < 1
    assert (signals.lengths.min(), signals.lengths.max()) == (100, 300)


def test_random_genomes() -> None:
    genome = random_genome("target", 100_000, 0.3, 7, 1)
    counts = {letter: genome.letters[0].count(letter.encode()) / 100_000 for letter in "ACGT"}
    assert all(
        abs(counts[letter] - share) < 0.01 for letter, share in zip("ACGT", (0.35, 0.15, 0.15, 0.35), strict=True)
    )
    assert (genome.names, genome.reads) == (("target",), 7)
    assert random_genome("target", 100_000, 0.3, 7, 1).letters == genome.letters
    assert random_genome("target", 100_000, 0.3, 7, 2).letters != genome.letters
    assert random_genome("other", 100_000, 0.3, 7, 1).letters != genome.letters


# Seeds


def test_a_seed_gives_the_same_bytes_with_every_numpy() -> None:
    genomes = [random_genome(label, 4000, 0.45, 20, 3) for label in ("target", "background")]
    scenario = replace(NORMAL, stall=(10, 90), adapter=20, samples=(200, 900))
    batches = simulated(genomes, read_model("r9.4.1"), scenario, 3)
    joined = Signals.joined([batch.signals for batch in batches])
    text = "".join(joined.names) + str(joined.offset.tolist()) + str(joined.channel.tolist())
    known = hashlib.sha256(joined.samples.astype("<i2").tobytes() + text.encode()).hexdigest()
    assert known[:16] == "cae36a7e7b5f3514"
    other = Signals.joined([batch.signals for batch in simulated(genomes, read_model("r9.4.1"), scenario, 4)])
    assert other.samples.tobytes() != joined.samples.tobytes()


def test_a_class_does_not_depend_on_those_behind_it() -> None:
    genomes = [random_genome(label, 4000, 0.45, 20, 3) for label in ("target", "background")]
    both, alone = (simulated(some, read_model("r9.4.1"), NORMAL, 3) for some in (genomes, genomes[:1]))
    assert [batch.label for batch in both] == ["target", "background"]
    assert both[0].signals.samples.tobytes() == alone[0].signals.samples.tobytes()
    assert both[0].signals.names.tolist() == alone[0].signals.names.tolist()


def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads follow each other whatever a batch holds, and none has more than asked for but for its last read."""
    monkeypatch.setattr("oclgenomics.simulate.signals.reads._BATCH_SAMPLES", 1000)
    batches = simulated(
        [random_genome("x", 4000, 0.5, 20, 1)], read_model("r9.4.1"), replace(NORMAL, samples=(150, 450))
    )
    assert len(batches) > 3
    names = [name for batch in batches for name in batch.signals.names]
    assert [int(name.split("_")[1]) for name in names] == list(range(1, 21))
    assert all(len(batch.signals.samples) < 1450 for batch in batches)
    for one, other in pairwise(batches):
        assert one.signals.read(0)[:50].tolist() != other.signals.read(0)[:50].tolist()


def test_no_reads() -> None:
    assert simulated([random_genome("x", 4000, 0.5, 0, 1)], read_model("r9.4.1"), NORMAL) == []


# Models in other units, and mistakes


def test_models_in_standard_units() -> None:
    plain = random_model(4)
    middle, spread = 90.0, 13.0
    model = KmerModel("z", 4, (plain.mean - middle) / spread, np.full(256, np.nan))
    genome = random_genome("x", 4000, 0.5, 5, 1)
    scenario = replace(EASY, current=(middle, spread), deviation=0.125)
    (batch,) = simulated([genome], model, scenario)
    (same,) = simulated([genome], replace(plain, deviation=np.full(256, spread * 0.125)), EASY)
    assert np.abs(batch.signals.samples - same.signals.samples).max() <= 1
    with pytest.raises(ParameterError, match="current is needed: model z is in standard units, and does not say"):
        simulated([genome], model, EASY)
    with pytest.raises(ParameterError, match="deviation is needed: model z has no standard deviations, and does not"):
        simulated([genome], model, replace(EASY, current=(middle, spread)))


@pytest.mark.parametrize(("pore", "molecule"), [(one.pore, one.molecule) for one in SEQUENCING])
@pytest.mark.parametrize("known", [False, True])
def test_models_in_standard_units_take_what_is_usual_of_their_pore(pore: str, molecule: Molecule, known: bool) -> None:
    """Or the currents that they know themselves."""
    usual = sequencing_of(pore, molecule)
    assert usual is not None
    current = (75.0, 11.0) if known else usual.current
    model = KmerModel("z", 4, random_model(4).mean / 100, np.full(256, np.nan), pore, None, current if known else None)
    scenario, genome = preset_for("easy", model, molecule), random_genome("x", 4000, 0.5, 5, 1)
    (batch,) = simulated([genome], model, scenario)
    (same,) = simulated([genome], model, replace(scenario, current=current, deviation=usual.deviation))
    np.testing.assert_array_equal(batch.signals.samples, same.signals.samples)
    assert set(batch.signals.rate) == {usual.rate}
    assert scenario.dwell == pytest.approx(usual.samples_per_base, abs=0.26)
    plain = replace(model, mean=model.mean + 90, current=None)  # in pA
    (batch,) = simulated([genome], plain, scenario)
    deviation = usual.deviation * usual.current[1]
    (same,) = simulated([genome], replace(plain, deviation=np.full(256, deviation)), scenario)
    np.testing.assert_array_equal(batch.signals.samples, same.signals.samples)


@pytest.mark.parametrize("name", list(PRESETS))
def test_presets_of_r9_are_the_presets(name: str) -> None:
    assert preset_for(name, read_model("r9.4.1"), "dna") == PRESETS[name]
    unknown = preset_for(name, KmerModel("z", 1, np.ones(4), np.ones(4)), "dna")
    assert unknown == PRESETS[name]
    r10 = preset_for(name, KmerModel("z", 1, np.ones(4), np.ones(4), "R10"), "dna")
    assert (r10.rate, r10.dwell) == (5000, 12.5)
    at_4_khz = preset_for(name, KmerModel("z", 1, np.ones(4), np.ones(4), "R10", 4000.0), "dna")
    assert (at_4_khz.rate, at_4_khz.dwell) == (4000, 10)


def test_currents_beyond_the_converter() -> None:
    model = KmerModel("far", 1, np.array([-9000.0, 9000.0, 90.0, 90.0]), np.ones(4))
    (batch,) = simulated([Genome("x", ("a",), (b"AC" * 50,), 1)], model, EASY)
    assert set(batch.signals.samples.tolist()) == {-32768, 32767}


@pytest.mark.parametrize(
    "options",
    [
        {"samples": (0, 5)}, {"samples": (5, 4)}, {"samples": (1, 10**9)}, {"stall": (-1, 4)}, {"stall": (9, 4)},
        {"strand": "-"}, {"molecule": "protein"}, {"dwell": 0.5}, {"dwell": float("nan")}, {"dwell_sd": -1.0},
        {"slowness_cv": 1.5}, {"junk": -0.1}, {"junk": float("nan")}, {"amplitude": -1.0}, {"jitter": float("inf")},
        {"adapter": -1}, {"rate": 0.0}, {"deviation": -1.0}, {"current": (90.0, -1.0)},
    ],
)  # fmt: skip
def test_what_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        SignalScenario(**options)


def test_what_cannot_be_simulated(tmp_path: Path) -> None:
    model = read_model("r9.4.1")
    with pytest.raises(ParameterError, match="seed must be 0 or more"):
        simulated([random_genome("x", 50, 0.5, 1, 1)], model, EASY, -1)
    with pytest.raises(InputError, match="the sequences of the x have no 6 bases A, C, G, T or U in a row"):
        simulated([Genome("x", ("a",), (b"ACGTANACGTA",), 1)], model, EASY)
    with pytest.raises(ParameterError, match="reads of 5,000 samples have more than 2,000,000,000 in all"):
        simulated([random_genome("x", 50, 0.5, 1_000_000, 1)], model, EASY)
    with pytest.raises(ParameterError, match="label='a_b': has 1 to 40 letters, digits and hyphens"):
        Genome("a_b", (), (), 1)
    with pytest.raises(ParameterError, match="gc must be between 0 and 1"):
        random_genome("x", 50, 1.5, 1, 1)
    (tmp_path / "x.fa").write_text(">one more\nACGTACGT\n>two\nGG\n")
    genome = read_genome("x", tmp_path / "x.fa", 4)
    assert (genome.names, genome.letters, genome.reads) == (("one", "two"), (b"ACGTACGT", b"GG"), 4)
