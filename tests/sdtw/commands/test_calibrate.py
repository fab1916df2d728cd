"""`oclgenomics sdtw calibrate` with models in every published layout, and what of it depends on the pore."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device
from oclgenomics.sdtw.formats.squiggle import read_squiggle
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.signals import Signals, TrimOptions, read_signals

K = 4
KMERS = ["".join(kmer) for kmer in itertools.product("ACGT", repeat=K)]
LEVELS = np.random.default_rng(1).permutation(4**K) / 4**K * 3.4 - 1.7  # standard units


def ont(path: Path) -> None:
    """As Oxford Nanopore's kmer_models: k-mer and level in standard units, no head."""
    path.write_text("".join(f"{kmer}\t{level}\n" for kmer, level in zip(KMERS, LEVELS, strict=True)))


def f5c(path: Path) -> None:
    """As f5c and nanopolish: comments, a head, levels and deviations in pA."""
    head = f"#model_name\tr10.4.1_400bps.nucleotide\n#k\t{K}\n#alphabet\tnucleotide\n"
    rows = "".join(f"{kmer}\t{92 + 23 * level}\t3.5\t1\t1\t1\n" for kmer, level in zip(KMERS, LEVELS, strict=True))
    path.write_text(head + "kmer\tlevel_mean\tlevel_stdv\tsd_mean\tsd_stdv\tweight\n" + rows)


def uncalled4(
    path: Path, *, reverse: bool = False, mean: float = 92.5, stdv: float = 23.1, deviations: bool = True
) -> None:
    """As Uncalled4 keeps them; its rates are not those of the pore."""
    arrays: dict[str, Any] = {
        "kmer": np.array(KMERS), "current.mean": LEVELS.astype(np.float32),
        "current.stdv": np.full(4**K if deviations else 0, 0.2, np.float32), "_k": np.int64(K),
        "_name": np.str_(path.stem), "_pa_mean": np.float64(mean), "_pa_stdv": np.float64(stdv),
        "_reverse": np.bool_(reverse),
        "_sample_rate": np.float64(4000.0), "_bases_per_sec": np.float64(450.0),
    }  # fmt: skip
    np.savez(path, **arrays)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sequence, and models of it in every layout."""
    monkeypatch.chdir(tmp_path)
    ont(tmp_path / "9mer_levels_v1.txt")
    f5c(tmp_path / "f5c.model")
    uncalled4(tmp_path / "dna_r10.4.1_400bps_9mer.npz")
    uncalled4(tmp_path / "rna004_130bps_9mer.npz", reverse=True, mean=0.166, stdv=0.886, deviations=False)
    bases = np.random.default_rng(2).choice(list("ACGT"), 700)
    (tmp_path / "virus.fa").write_text(">virus\n" + "".join(bases) + "\n")
    return tmp_path


def sdtw(*words: object) -> int:
    return main(["sdtw", *map(str, words)])


def calibrate(device: Device, *words: object) -> int:
    given = [
        "--reference",
        "virus.sdtw",
        "--target",
        "virus.fa",
        "--reads",
        "12",
        "--difficulty",
        "easy",
        "--bootstrap",
        "0",
    ]
    return sdtw(
        "calibrate", *given, "--prefixes", "600,3000", "--device", device.index, "--write-thresholds", "t.json", *words
    )


@pytest.mark.parametrize(
    ("model", "index_words", "pore", "molecule", "rate", "speed", "step"),
    [
        ("dna_r10.4.1_400bps_9mer.npz", [], "R10", "dna", 5000, 400, 4),
        ("f5c.model", [], "R10", "dna", 5000, 400, 4),
        ("9mer_levels_v1.txt", ["--pore", "R10.4.1"], "R10", "dna", 5000, 400, 4),
        ("9mer_levels_v1.txt", ["--pore", "R10.4.1", "--rate", "4000"], "R10", "dna", 4000, 400, 3),
        ("9mer_levels_v1.txt", ["--pore", "RNA004"], "RNA004", "rna", 4000, 130, 10),
        ("9mer_levels_v1.txt", ["--pore", "R9.4.1", "--molecule", "rna"], "R9", "rna", 3012, 70, 14),
        ("rna004_130bps_9mer.npz", [], "RNA004", "rna", 4000, 130, 10),
    ],
)
def test_models_that_index_takes_calibrate(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], model: str, index_words: list[str], pore: str,
    molecule: str, rate: float, speed: float, step: int,
) -> None:  # fmt: skip
    """Whatever their layout; and reads, run, rows and trimming are those of their pore."""
    assert sdtw("index", "virus.fa", "--model", model, *index_words, "-o", "virus.sdtw", "-q") == 0
    reference = read_squiggle("virus.sdtw")
    assert (reference.pore, reference.molecule) == (pore, molecule)
    assert calibrate(device, "--model", model, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["run"]["rate"], record["run"]["speed"]) == (rate, speed)
    found = read_thresholds("t.json")
    assert found.options.step == step
    assert found.basis is not None
    assert (found.basis.reads.pore, found.basis.reads.molecule, found.basis.reads.rate) == (pore, molecule, rate)
    known = reference.sequencing
    assert known is not None
    assert found.basis.trim == known.trim
    assert (found.basis.trim == TrimOptions()) == (rate / speed < 9)


def test_options_of_the_model_come_before_its_pore(device: Device, folder: Path) -> None:
    assert sdtw("index", "virus.fa", "--model", "9mer_levels_v1.txt", "-o", "virus.sdtw", "-q") == 0
    words = ["--model", "9mer_levels_v1.txt", "--current", "90", "13", "--deviation", "0.2", "-q"]
    assert calibrate(device, *words) == 0
    found = read_thresholds("t.json")
    assert found.basis is not None
    assert (found.options.step, found.basis.trim) == (3, TrimOptions())


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ([], 2, "the reference virus was made with the model 9mer_levels_v1; give its file with --model"),
        (["--model", "9mer_levels_v1.txt"], 2, "--current is needed: model 9mer_levels_v1 is in standard units"),
        (["--model", "9mer_levels_v1.txt", "--current", "90", "13"], 2, "--deviation is needed: model 9mer_levels_v1"),
        (["--model", "9mer_levels_v1.txt", "--pore", "R11"], 2, "--pore R11: is none of"),
        (["--model", "r10.4.1"], 3, "r10.4.1: the model is not installed: `oclgenomics sdtw fetch-model r10.4.1`"),
    ],
)
def test_models_that_say_too_little(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str],
    status: int, told: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("OCLGENOMICS_MODELS", str(folder / "models"))
    assert sdtw("index", "virus.fa", "--model", "9mer_levels_v1.txt", "-o", "virus.sdtw", "-q") == 0
    assert calibrate(device, *words, "-q") == status
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.count("\n") == 1
    assert not (folder / "t.json").exists()


def test_the_model_of_the_reference_is_the_default(device: Device, folder: Path) -> None:
    assert sdtw("index", "virus.fa", "--model", "r9.4.1", "-o", "virus.sdtw", "-q") == 0
    assert calibrate(device, "-q") == 0
    assert read_thresholds("t.json").options.step == 3


def test_the_step_of_thresholds_that_are_typed_is_that_of_the_pore(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`align`, `classify` and `evaluate` cut reads into the same rows as `calibrate`."""
    model = "dna_r10.4.1_400bps_9mer.npz"
    assert sdtw("index", "virus.fa", "--model", model, "-o", "virus.sdtw", "-q") == 0
    words = ["simulate", "signals", "--model", model, "--seed", "1", "--target", "virus.fa", "--reads", "9", "-q"]
    assert main([*words, "--samples", "2000", "--junk", "0", "-o", "reads.npz"]) == 0
    assert set(Signals.joined(list(read_signals("reads.npz"))).rate) == {5000}
    run = ["--reference", "virus.sdtw", "--trim", "none", "--device", str(device.index), "-q"]
    costs = []
    for step in ([], ["--step", "4"], ["--step", "3"]):
        assert sdtw("align", "reads.npz", *run, "--prefixes", "1000", *step, "--format", "jsonl") == 0
        costs.append([json.loads(line)["cost"] for line in capsys.readouterr().out.splitlines()])
        assert sdtw("classify", "reads.npz", *run, "--stages", "1000:60000", *step, "--format", "jsonl") == 0
        assert [json.loads(line)["cost"] for line in capsys.readouterr().out.splitlines()] == costs[-1]
    assert costs[0] == costs[1] != costs[2]
    assert sdtw("evaluate", "reads.npz", "reads.npz", *run, "--stages", "1000:60000", "--bootstrap", "0", "--json") == 0
    (variant,) = json.loads(capsys.readouterr().out)["variants"].values()
    assert variant["options"]["step"] == 4
