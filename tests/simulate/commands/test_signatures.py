"""`oclgenomics simulate signatures`: what it writes, that a seed decides it, and what it refuses."""

from __future__ import annotations

import gzip
import os
from dataclasses import fields

import pytest

from oclgenomics.cli.main import main
from oclgenomics.sequence.records import read_records
from oclgenomics.simulate.commands.signatures import PRESETS as NAMED
from oclgenomics.simulate.signatures.samples import Scenario
from oclgenomics.simulate.signatures.scenario import PRESETS

SMALL = ["--signatures", 7, "--signature-length", 20, 40, "--clean", 3, "--infected", 4, "--sample-length", 60, 90]


def simulate(*words: object) -> int:
    return main(["simulate", "signatures", *map(str, words)])


def test_what_is_written(tmp_path, capsys):
    samples, panel, truth = (tmp_path / name for name in ("s.fastq", "p.fasta", "t.tsv"))
    assert simulate("--seed", 3, "-o", samples, "--panel", panel, "--truth", truth, *SMALL) == 0
    told = capsys.readouterr().err.splitlines()
    records, signatures = list(read_records(samples)), list(read_records(panel))
    assert [record.name for record in records] == [f"sample_00000{i}" for i in range(1, 8)]
    assert [record.name for record in signatures] == [f"signature_0000{i}" for i in range(1, 8)]
    _, head, *rows = truth.read_text().splitlines()
    assert head.split("\t") == ["sample", "signature", "strand", "start", "end", "mismatches"]
    lengths = {record.name: len(record.letters) for record in [*records, *signatures]}
    for row in rows:
        sample, signature, strand, start, end, mismatches = row.split("\t")
        assert (strand, mismatches) == ("+", "0")
        assert 0 <= int(start) < int(end) <= lengths[sample]
        assert int(end) - int(start) == lengths[signature]
    assert len({row.split("\t")[0] for row in rows}) == 4
    assert told[0] == f"oclgenomics: 7 signatures of {sum(len(one.letters) for one in signatures)} bp in all"
    assert told[1].endswith(f" bp in all, {len(rows)} copies of signatures in them")
    assert sorted(os.listdir(tmp_path)) == ["p.fasta", "s.fastq", "t.tsv"]


def test_the_truth_tells_how_it_was_made(tmp_path):
    options = ["--strand", "both", "--mismatches", 2, "--planted-n", 0.3, "--quality", 5, 20, *SMALL]
    first = [tmp_path / name for name in ("a.fq", "a.fa", "a.tsv")]
    assert simulate("--seed", 5, "-o", first[0], "--panel", first[1], "--truth", first[2], *options) == 0
    words = first[2].read_text().split("\n")[0].split()
    assert words[2:4] == ["simulate", "signatures"]
    again = [tmp_path / name for name in ("b.fq", "b.fa", "b.tsv")]
    assert main([*words[2:], "-o", str(again[0]), "--panel", str(again[1]), "--truth", str(again[2])]) == 0
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_packed_output_and_standard_output(tmp_path, capfdbinary):
    plain, packed = ([tmp_path / f"{name}{end}" for name in ("s.fq", "p.fa", "t.tsv")] for end in ("", ".gz"))
    for samples, panel, truth in (plain, packed):
        assert simulate("--seed", 5, "-o", samples, "--panel", panel, "--truth", truth, *SMALL) == 0
    for one, other in zip(plain, packed, strict=True):
        assert gzip.decompress(other.read_bytes()) == one.read_bytes()
    capfdbinary.readouterr()
    assert simulate("--seed", 5, "-o", "-", "--panel", tmp_path / "other", *SMALL, "-q") == 0
    assert tuple(capfdbinary.readouterr()) == (plain[0].read_bytes(), b"")


def test_options_change_a_preset(tmp_path):
    words = ["--preset", "paper-small", "--clean", 2, "--infected", 0, "--signatures", 3]
    assert simulate("--seed", 5, "-o", tmp_path / "s", "--panel", tmp_path / "p", *words) == 0
    samples, signatures = (list(read_records(tmp_path / name)) for name in ("s", "p"))
    assert len(samples) == 2
    assert all(10_000 <= len(record.letters) <= 20_000 for record in samples)
    assert len(signatures) == 3
    assert all(3000 <= len(record.letters) <= 10_000 for record in signatures)


def test_help_shows_the_defaults(capsys):
    assert simulate("--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    for field in fields(Scenario):
        option = f"--{field.name.replace('_', '-')}"
        told = text.split(f" {option} ")[-1].split("(default: ")[1].split(")")[0]
        value = field.default
        shown = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        assert told == ("--sample-n" if field.name == "planted_n" else shown), option


def test_presets_have_names():
    assert tuple(PRESETS) == NAMED


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clean", 0, "--infected", 0], "--clean and --infected are both 0; ask for a sample"),
        (["--signature-length", 5, 4], "--signature-length the least, 5, is more than the most, 4"),
        (["--signatures", 0], "--signatures must be between 1 and"),
        (["--copies", 1, "1.5"], "is not a whole number"),
        (["--copies", 1], "expected 2 arguments"),
        (["--planted-n", 2], "--planted-n must be a probability, from 0 to 1, not 2"),
        (["--sample-n", "nan"], "--sample-n must be a probability"),
        (["--seed", -1], "--seed must be 0 or more, not -1"),
        (["--preset", "paper-huge"], "invalid choice: 'paper-huge'"),
        (["--truth", "{samples}"], "the same file as -o"),
    ],
)
def test_refusals(tmp_path, capsys, words, message):
    samples = tmp_path / "s.fq"
    words = [str(word).format(samples=samples) for word in words]
    assert simulate("--seed", 1, "-o", samples, "--panel", tmp_path / "p.fa", *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not os.listdir(tmp_path)


def test_an_output_that_cannot_be_written_leaves_no_other(tmp_path, capsys):
    assert simulate("--seed", 1, "-o", tmp_path / "s", "--panel", tmp_path / "none" / "p", *SMALL) == 5
    assert capsys.readouterr().err.count("\n") == 1
    assert not os.listdir(tmp_path)
