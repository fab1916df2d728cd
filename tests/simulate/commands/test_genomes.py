"""`oclgenomics simulate genomes` and `simulate reads`: what they write, and what they refuse."""

from __future__ import annotations

import contextlib
import gzip
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.classify.formats.truth import read_truth
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.cli.main import main
from oclgenomics.sequence.records import read_records
from oclgenomics.simulate.metagenomes.files import whole_folder

SMALL = ["--genera", 2, "--species", 1, "--length", 2000]


def simulate(*words: object) -> int:
    return main(["simulate", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "set"
    assert simulate("genomes", "--seed", 3, "-o", made, *SMALL, "-q") == 0
    return made


def test_genomes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert [name.split("/")[0] for name in files] == [
        "aliens", "aliens", "genomes.tsv", "novel", "novel", "references", "references", "strains", "strains",
        "taxonomy", "taxonomy", "taxonomy", "taxonomy",
    ]  # fmt: skip
    taxonomy = read_taxonomy(folder / "taxonomy")
    assert "Genus002 species004" in taxonomy.names
    other = folder.parent / "other"
    assert simulate("genomes", "--seed", 3, "-o", other, *SMALL) == 0
    assert all((other / name).read_bytes() == (folder / name).read_bytes() for name in files)
    assert "8 genomes (2 reference, 2 strain, 2 novel, 2 alien)" in capsys.readouterr().err
    assert simulate("genomes", "--seed", 3, "-o", other, *SMALL) == 5
    assert "is there already, and not empty; name another folder" in capsys.readouterr().err
    assert sorted(path.name for path in folder.parent.iterdir()) == ["other", "set"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    assert simulate("genomes", "--seed", 3, "-o", tmp_path / "set", *SMALL, "-q") == 0
    assert (tmp_path / "set" / "genomes.tsv").exists()


def test_an_error_leaves_no_folder(tmp_path: Path) -> None:
    with contextlib.suppress(KeyboardInterrupt), whole_folder(tmp_path / "set") as folder:
        (folder / "genomes.tsv").write_text("")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_nothing_of_that_name(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from oclgenomics.simulate.metagenomes import genomes as metagenomes; "
        "from oclgenomics.cli.main import main\n"
        "made = metagenomes.simulate_genomes\n"
        "def killed(*words):\n"
        "    for number, genome in enumerate(made(*words)):\n"
        "        if number == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        yield genome\n"
        "metagenomes.simulate_genomes = killed\n"
        "main(sys.argv[1:])"
    )
    words = ["simulate", "genomes", "--seed", "3", "-o", str(tmp_path / "set"), *map(str, SMALL), "-q"]
    done = subprocess.run([sys.executable, "-c", code, *words], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".set.")
    assert left.name.endswith(".unfinished")
    assert len(list(left.rglob("*.fna"))) == 3


def test_reads(folder: Path) -> None:
    reads, truth = folder / "reads.fq.gz", folder / "truth.tsv"
    words = ["reads", "--genomes", folder, "--seed", 1, "--reads", 200, "--length", 80, "--truth", truth, "-q"]
    assert simulate(*words, "-o", reads) == 0
    records = list(read_records(reads))
    assert [record.name for record in records] == [f"r{number}" for number in range(200)]
    assert {len(record.letters) for record in records} == {80}
    known = read_truth(truth)
    assert known.names == tuple(record.name for record in records)
    assert [(known.classes == number).sum() > 0 for number in range(4)] == [False, True, True, True]
    headers = gzip.decompress(reads.read_bytes()).decode().split("\n")[::4][:200]
    for header, species in zip(headers, known.species.tolist(), strict=True):
        assert header.split()[1:] == ([f"taxid|{species}"] if species else [])
    assert simulate(*words, "-o", folder / "again.fq") == 0
    assert (folder / "again.fq").read_bytes() == gzip.decompress(reads.read_bytes())


def test_pairs(folder: Path) -> None:
    words = ["reads", "--genomes", folder, "--seed", 1, "--reads", 20, "--length", 80, "--paired", "-q"]
    both, first, second = (folder / name for name in ("both.fq", "1.fq", "2.fq"))
    assert simulate(*words, "-o", both, "--insert", 200) == 0
    assert simulate(*words, "-o", first, "--mates", second, "--insert", 200) == 0
    mates = [list(read_records(path)) for path in (first, second)]
    assert [record for pair in zip(*mates, strict=True) for record in pair] == list(read_records(both))
    assert [mates[0][3].name, mates[1][3].name] == ["r3/1", "r3/2"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--mates", "m.fq"], 2, "--paired"),
        (["--insert", 300], 2, "--paired"),
        (["--alien", 2], 2, "--alien"),
        (["--strain", 0, "--novel", 0, "--alien", 0], 2, "no genome has a share"),
        (["--length", 5000], 2, "fewer bases"),
        (["--errors", 0.7], 2, "errors"),
    ],
)
def test_reads_that_are_refused(
    folder: Path, words: list[object], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "reads.fq"
    assert simulate("reads", "--genomes", folder, "--seed", 1, "-o", out, *words) == code
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_missing_genomes(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("reads", "--genomes", tmp_path / "no", "--seed", 1, "-o", tmp_path / "x") == 3
    assert "simulate genomes" in capsys.readouterr().err
    for path in (folder / "aliens").iterdir():
        path.unlink()
    assert simulate("reads", "--genomes", folder, "--seed", 1, "-o", tmp_path / "x") == 3
    assert simulate("reads", "--genomes", folder, "--seed", 1, "-o", tmp_path / "x", "--alien", 0, "-q") == 0


@pytest.mark.parametrize("words", [["--genera", 0], ["--length", 10], ["--gc", 0.7, 0.3], ["--seed", -1]])
def test_genomes_that_are_refused(tmp_path: Path, words: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("genomes", "--seed", 1, "-o", tmp_path / "x", *words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help_tells_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import fields

    from oclgenomics.simulate.metagenomes.genomes import MetagenomeScenario

    assert simulate("genomes", "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    for field in fields(MetagenomeScenario):
        value = field.default
        shown = " ".join(f"{one:g}" for one in value) if isinstance(value, tuple) else f"{value}"
        option = text.split(f"--{field.name.replace('_', '-')} ")[-1]
        assert f"(default: {shown})" in option.split(" --")[0]
