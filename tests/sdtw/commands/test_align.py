"""`oclgenomics sdtw align` and `classify`: files to files, messages, and the right exit code for a mistake."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.sdtw_oracle import small_squiggle

from oclgenomics.app.reports import write_reports
from oclgenomics.cli.main import main
from oclgenomics.runtime import Device
from oclgenomics.sdtw import AlignOptions, Stage, Thresholds, align, classify, write_thresholds
from oclgenomics.sdtw.commands.reports import write_parts
from oclgenomics.sdtw.formats import make_report
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.signals import Signals, TrimOptions, write_signals

RNG = np.random.default_rng(21)
REFERENCES = {name: small_squiggle(name, 80 + 12 * RNG.standard_normal(120)) for name in ("target", "decoy")}
LENGTHS = (700, 400, 650, 90, 500)
TRIMMED = TrimOptions(stall=False, extra=20)


def made_signals() -> Signals:
    """Reads of stretches of the target and the decoy in turn."""
    reads = []
    for number, length in enumerate(LENGTHS):
        levels = REFERENCES["decoy" if number % 2 else "target"].levels
        signal = np.repeat(levels[number : number + 100], 9)[:length]
        reads.append((10 * signal + RNG.normal(0, 10, length)).astype(np.int16))
    return Signals.of(reads, [f"read{number}" for number in range(len(LENGTHS))])


SIGNALS = made_signals()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of all tests, in which the commands run."""
    write_signals(tmp_path / "reads.npz", SIGNALS)
    for name, reference in REFERENCES.items():
        write_squiggle(tmp_path / f"{name}.sdtw", reference)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sdtw(*words: object, device: Device) -> int:
    return main(["sdtw", *map(str, words), "-d", str(device.index)])


def body_of(part: object, format: str) -> str:
    """The report without what made it."""
    stream = io.BytesIO()
    write_reports([part], [(stream, make_report(format))])  # type: ignore[arg-type, list-item]
    return stream.getvalue().decode()


@pytest.mark.parametrize("format", ["tsv", "jsonl", "paf"])
def test_align(folder: Path, device: Device, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The file holds what the verb finds."""
    words = ("align", "reads.npz", "--reference", "target.sdtw", "--reference", "decoy.sdtw", "--prefixes", "100,450")
    assert sdtw(*words, "--trim", 20, "--format", format, "-o", "out", device=device) == 0
    found = align(
        "reads.npz", ["target.sdtw", "decoy.sdtw"], prefixes=(100, 450), trim=TRIMMED, starts=format == "paf",
        engine=device,
    )  # fmt: skip
    lines = (folder / "out").read_text().splitlines(keepends=True)
    assert "".join(line for line in lines if not line.startswith("# ")) == body_of(found, format)
    assert (lines[0] == "# program: oclgenomics\n") == (format == "tsv")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "5 reads, 1,450 samples aligned; " in shown.err
    assert "left out: 1 read shorter than the first prefix" in shown.err
    assert ("not in the PAF: 1 read without a place" in shown.err) == (format == "paf")
    assert shown.err.endswith("oclgenomics: wrote out\n")


def test_align_to_standard_output(folder: Path, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    """Quietly, and with starts."""
    assert sdtw("align", "reads.npz", "--reference", "target.sdtw", "--json", "--starts", "-q", device=device) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    rows = [json.loads(line) for line in shown.out.splitlines()]
    assert len(rows) == 2 * len(LENGTHS)
    assert {"cost", "start"} <= set(rows[0])


def test_a_terminal_gets_text(folder: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that control characters of names are escaped there."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdout", Terminal())
    args = argparse.Namespace(output="-", format="jsonl", quiet=True)
    found = align("reads.npz", "target.sdtw", prefixes=(100,), trim=TRIMMED, engine=device)
    write_parts(args, {}, "aligning", lambda run: (part for part in [found]))
    assert sys.stdout.getvalue() == body_of(found, "jsonl")  # type: ignore[attr-defined]


STAGES = ("--stages", "100:-200..0,300:0")


@pytest.mark.parametrize("source", ["stages", "thresholds"])
def test_classify(folder: Path, device: Device, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Stages on the command line are those of a file."""
    thresholds = Thresholds((Stage(100, 0, -200), Stage(300, 0)), AlignOptions(), "difference")
    write_thresholds("thresholds.json", thresholds)
    given = STAGES if source == "stages" else ("--thresholds", "thresholds.json")
    words = ("classify", "reads.npz", "--reference", "target.sdtw", "--decoy", "decoy.sdtw", *given, "--trim", 20)
    assert sdtw(*words, "-o", "out", "--summary", "summary", "--starts", device=device) == 0
    found = classify(SIGNALS.cut(np.full(5, 20), SIGNALS.lengths), REFERENCES["target"], thresholds,
                     decoys=REFERENCES["decoy"], starts=True, engine=device)  # fmt: skip
    assert [row["decision"] for row in found.records()] == ["accept", "reject", "accept", "undecided", "accept"]
    lines = (folder / "out").read_text().splitlines(keepends=True)
    assert "".join(line for line in lines if not line.startswith("# ")) == body_of(found, "tsv")
    summary = [line for line in (folder / "summary").read_text().splitlines() if not line.startswith("# ")]
    assert summary[0] == "prefix\tcame\taccept\treject\tundecided"
    counts = np.array([line.split("\t")[1:] for line in summary[1:]], int)
    assert counts[0].tolist() == [5, 0, 0, 1]
    assert counts[1, 0] == 4
    assert counts[:, 1:].sum(axis=0).tolist() == [3, 1, 1]
    assert "1 undecided, 3 accept, 1 reject" in capsys.readouterr().err


MISTAKES = [
    (("align", "reads.npz", "--reference", "no.sdtw"), 3, "no.sdtw: no such file"),
    (("align", "no.npz", "--reference", "target.sdtw"), 3, "no.npz: no such file"),
    (("align", "reads.npz", "--reference", "reads.npz"), 3, "reads.npz"),
    (("align", "reads.npz", "--reference", "target.sdtw", "--reference", "target.sdtw"), 2,
     "--reference must differ in name; 2 of them have the name target"),
    (("align", "reads.npz", "--reference", "target.sdtw", "--prefixes", "5,5"), 2, "ascending"),
    (("align", "reads.npz", "--reference", "target.sdtw", "--prefixes", "x"), 2, "write numbers of samples"),
    (("align", "reads.npz", "--reference", "target.sdtw", "--json", "--format", "paf"), 2, "contradict each other"),
    (("align", "reads.npz", "--reference", "target.sdtw", "-o", "target.sdtw"), 2, "target.sdtw"),
    (("classify", "reads.npz", "--reference", "target.sdtw"), 2, "--stages --thresholds is required"),
    (("classify", "reads.npz", "--reference", "target.sdtw", *STAGES, "--score", "difference"), 2,
     "--score difference: needs a decoy"),
    (("classify", "reads.npz", "--reference", "target.sdtw", "--decoy", "target.sdtw", *STAGES), 2,
     "--decoy must differ in name; 2 of them have the name target"),
    (("classify", "reads.npz", "--reference", "target.sdtw", "--thresholds", "costs.json", "--score", "difference"), 2,
     "the thresholds were made with cost; leave the option out"),
    (("classify", "reads.npz", "--reference", "target.sdtw", "--thresholds", "costs.json", "--bonus", "dwell"), 2,
     "the thresholds were made with --bonus none, which is not --bonus dwell"),
    (("classify", "reads.npz", "--reference", "decoy.sdtw", "--thresholds", "costs.json"), 2,
     "made with the references target, not decoy"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "code", "message"), MISTAKES)
def test_mistakes_are_told_in_a_line(
    folder: Path, device: Device, words: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is written."""
    write_thresholds("costs.json", Thresholds((Stage(100, 500),), AlignOptions(), "cost", ("target",)))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sdtw(*words, device=device) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
