"""`oclgenomics sdtw stream`, from its files to its reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.read_until import BACKGROUND, LEVELS, TARGET, read_of, stages_of

from oclgenomics.cli.main import main
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.sdtw.formats.thresholds import write_thresholds
from oclgenomics.signals.model import Signals
from oclgenomics.signals.readers.numpy_files import write_signals

QUICK = ["--trim", "none", "--rate", "200", "--chunk", "0.5", "--channels", "8", "--duration", "20", "--speed", "0"]
PUBLISHED = ["--preset", "crescent"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stream")
    reads = [np.tile(read_of(LEVELS, 100, seed=1), 4), np.tile(read_of(BACKGROUND.levels, 100, seed=4), 4)]
    write_signals(folder / "reads.npz", Signals.of(reads, ["target_1", "host_1"]))
    write_squiggle(folder / "target.sdtw", TARGET)
    write_squiggle(folder / "background.sdtw", BACKGROUND)
    write_thresholds(folder / "stages.json", stages_of((40, 400.0), (80, 600.0)))
    (folder / "truth.tsv").write_text("read\tclass\ntarget_1\tvirus\nhost_1\thost\n")
    return folder


def stream(files: Path, *words: str) -> int:
    reference = ["--reference", str(files / "target.sdtw")]
    return main(["sdtw", "stream", str(files / "reads.npz"), *reference, *QUICK, "-d", "cpu", *words])


def test_a_report(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stream(files, "--stages", "40:400,80:600", *PUBLISHED, "--truth", "names", "--log-every", "5") == 0
    out, said = capsys.readouterr()
    rows = dict(line.split("\t") for line in out.splitlines())
    assert rows["targets"].endswith(" accept")
    assert rows["others"].endswith(" reject")
    assert float(rows["enrichment"]) > 1
    assert rows["trouble"] == "none"
    assert said.count(" reads: ") >= 2  # a line every five seconds


def test_all_outputs(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, figure, report = (str(tmp_path / name) for name in ("debug.tsv", "figure.svg", "run.json"))
    words = ["--thresholds", str(files / "stages.json"), "--truth", str(files / "truth.tsv"), "--class", "virus"]
    assert stream(files, *words, "--debug-tsv", table, "--plot", figure, "--json", "-o", report, "-q") == 0
    record = json.loads(Path(report).read_text())
    assert record["provenance"]["command"][:3] == ["oclgenomics", "sdtw", "stream"]
    assert record["flow_cell"]["channels"] == 8
    assert record["outcomes_by_truth"]["target"]["reject"] == record["outcomes_by_truth"]["other"]["accept"] == 0
    rows = [line.split("\t") for line in Path(table).read_text().splitlines()]
    assert len(rows) == 1 + sum(record["outcomes"].values())
    assert {row[6] for row in rows[1:] if row[2].startswith("host")} == {"reject"}
    assert "Enrichment" in Path(figure).read_text()
    assert capsys.readouterr() == ("", "")


def test_decoys(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--decoy", str(files / "background.sdtw"), "--stages", "40:0", *PUBLISHED, "--truth", "names"]
    assert stream(files, *words, "--accumulate", "--control", "2", "--max-batch", "3", "--dry-run") == 0
    rows = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert " accept, " in rows["targets"]
    assert rows["targets"].endswith(" control")
    assert " reject, " in rows["others"]
    assert rows["enrichment"] == "1.000"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--stages", "40:1", "--truth", "nothing.tsv"], 3, "nothing.tsv"),
        (["--stages", "40:1", "--truth", "names", "--class", "virus"], 3, "no read is of class virus; there are host"),
        (["--stages", "40:1", "--channels", "0"], 2, "--channels 0"),
        (["--stages", "40:1", "--control", "9"], 2, "--control 9: there are 8 channels"),
        (["--stages", "40:1", "--max-latency", "0"], 2, "--max-latency 0.0"),
        (["--stages", "40:1", "--speed", "-1"], 2, "--speed -1.0"),
        (["--stages", "40:1", "--speed", "nan"], 2, "--speed nan"),
        (["--stages", "40:1", "--class", "virus"], 2, "--class has no effect without --truth"),
        (["--stages", "40:1", "--log-every", "nan"], 2, "--log-every nan: give seconds, or 0 for never"),
        (["--stages", "40:1", "--log-every", "-1"], 2, "--log-every -1: give seconds, or 0 for never"),
        (["--stages", "40:1", "--interval", "0"], 2, "--interval 0.0: give 0.001 seconds or more with --speed 0"),
        (["--stages", "40:1", "--duration", "1e12"], 2, "give more than 0, and less than 1e9"),
        (["--stages", "40:1", "--plot", "figure.gif"], 2, "--plot figure.gif"),
        ([], 2, "--stages"),
    ],
)
def test_what_cannot_be_played(
    files: Path, words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stream(files, *words) == status
    out, said = capsys.readouterr()
    assert out == ""
    assert message in said.splitlines()[-1]
