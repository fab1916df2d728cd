"""`oclgenomics simulate signals`: what it writes, that a seed decides it, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_signals import random_model

from oclgenomics.cli.main import main
from oclgenomics.sequence.records import read_records
from oclgenomics.signals import Signals, read_signals, write_model
from oclgenomics.signals.model import Signals as Model
from oclgenomics.simulate.commands import signals as command
from oclgenomics.simulate.signals.drawing import PRESETS
from oclgenomics.simulate.signals.reads import TRUTH_COLUMNS

SMALL = ["--reads", 6, "--samples", 200, 400, "--length", 3000]


def simulate(*words: object) -> int:
    return main(["simulate", "signals", *map(str, words)])


def written(path: Path) -> Model:
    return Signals.joined(list(read_signals(path)))


def test_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signals, truth, fasta = (tmp_path / name for name in ("s.npz", "t.tsv", "g.fa"))
    words = ["--background", "random", "--background-reads", 4, "--junk", 0.3, "--truth", truth]
    words += ["--target-fasta", fasta, "--background-fasta", tmp_path / "b.fa"]
    assert simulate("--seed", 3, "-o", signals, *SMALL, *words) == 0
    told = capsys.readouterr().err.splitlines()
    found = written(signals)
    assert told[0] == (
        f"oclgenomics: 6 reads of the target and 4 reads of the background, {len(found.samples):,} samples in all"
    )
    (record,) = read_records(fasta)
    assert (record.name, len(record.letters)) == ("target", 3000)
    (other,) = read_records(tmp_path / "b.fa")
    assert (other.name, len(other.letters)) == ("background", 3000)
    assert other.letters != record.letters
    _, head, *rows = truth.read_text().splitlines()
    assert tuple(head.split("\t")) == TRUTH_COLUMNS
    table = [dict(zip(TRUTH_COLUMNS, row.split("\t"), strict=True)) for row in rows]
    assert [row["read"] for row in table] == found.names.tolist()
    assert [row["class"] for row in table] == ["target"] * 6 + ["background"] * 4
    assert [int(row["samples"]) for row in table] == found.lengths.tolist()
    for row in table:
        name = f"{row['class']}_{row['read'].split('_')[1]}"
        if row["strand"] == "NA":
            assert (row["read"], row["record"], row["start"], row["end"]) == (f"{name}_junk", "NA", "NA", "NA")
        else:
            assert row["read"] == f"{name}_{row['record']}_{row['strand']}_{row['start']}"
            assert 0 <= int(row["start"]) < int(row["end"]) <= 3000
    assert any(row["strand"] == "NA" for row in table)
    assert sorted(os.listdir(tmp_path)) == ["b.fa", "g.fa", "s.npz", "t.tsv"]


def test_the_truth_tells_how_it_was_made(tmp_path: Path) -> None:
    options = [
        "--preset", "hard", "--strand", "+", "--stall", 10, 20, "--adapter", 5, "--dwell", 7.5, "--rate", 5000,
        "--background", "random", "--gc", 0.3, *SMALL,
    ]  # fmt: skip
    first, again = ([tmp_path / f"{name}{end}" for end in (".npz", ".tsv")] for name in "ab")
    assert simulate("--seed", 5, "-o", first[0], "--truth", first[1], *options) == 0
    words = first[1].read_text().split("\n")[0].split()
    assert words[2:4] == ["simulate", "signals"]
    assert main([*words[2:], "-o", str(again[0]), "--truth", str(again[1])]) == 0
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_sequences_and_models_of_files(tmp_path: Path) -> None:
    (tmp_path / "x.fa").write_text(">one\nACGTACCGATTACAGGTCCA\n>two\nGATTACAGATTACA\n")
    write_model(tmp_path / "m.npz", random_model(3))
    words = ["--target", tmp_path / "x.fa", "--model", tmp_path / "m.npz", "--preset", "easy", "--samples", 50]
    assert simulate("--seed", 1, "-o", tmp_path / "s", "--target-fasta", tmp_path / "y.fa", *words) == 0
    found = written(tmp_path / "s")
    assert {name.split("_")[2] for name in found.names} == {"one", "two"}
    assert len(found) == 100
    assert list(read_records(tmp_path / "y.fa")) == list(read_records(tmp_path / "x.fa"))
    assert simulate("--seed", 1, "-o", tmp_path / "r", "--reverse-kmers", *words) == 0
    other = written(tmp_path / "r")
    assert other.names.tolist() == found.names.tolist()
    assert not np.array_equal(other.samples, found.samples)


def test_presets(tmp_path: Path) -> None:
    assert tuple(PRESETS) == command.PRESETS
    for preset in PRESETS:
        assert simulate("--seed", 1, "-o", tmp_path / preset, "--preset", preset, *SMALL, "-q") == 0
    assert len({(tmp_path / preset).read_bytes() for preset in PRESETS}) == 3


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "required: --seed"),
        (["--seed", "-1"], 2, "seed must be "),
        (["--seed", "1", "--samples", "5", "4"], 2, "--samples the least, 5, is more than the most, 4"),
        (["--seed", "1", "--samples", "5", "6", "7"], 2, "--samples: give one number, or the least and the most"),
        (["--seed", "1", "--junk", "2"], 2, "--junk must be between 0 and 1"),
        (["--seed", "1", "--gc", "nan"], 2, "--gc must be between 0 and 1, not nan"),
        (["--seed", "1", "--length", "5"], 3, "the sequences of the target have no 6 bases A, C, G, T or U in a row"),
        (["--seed", "1", "--reads", "1M"], 2, "--reads of 5,000 samples have more than 2,000,000,000 in all"),
        (["--seed", "1", "--background-reads", "4"], 2, "--background-reads: there is no --background"),
        (["--seed", "1", "--background-fasta", "y.fa"], 2, "--background-fasta: there is no --background"),
        (["--seed", "1", "--target", "none"], 3, "none: "),
        (["--seed", "1", "--target", "x.fa", "--truth", "x.fa"], 2, "the same file as --target x.fa"),
        (["--seed", "1", "--model", "r8"], 3, "r8: there is neither such a file nor such a model"),
    ],
)
def test_mistakes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.fa").write_text(">a\nACGTACGT\n")
    assert simulate("-o", "s.npz", *words) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("oclgenomics: error: ")
    assert told in line
    assert os.listdir() == ["x.fa"]
