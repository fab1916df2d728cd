"""Thresholds are used for what they were made for only, and reads of another kind are refused: files to messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.sdtw_oracle import small_squiggle

from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.runtime import Device
from oclgenomics.sdtw import AlignOptions, Stage, Thresholds, classify, write_thresholds
from oclgenomics.sdtw.decisions.basis import Basis, ReadKind
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.signals import Signals, TrimOptions, write_signals

RNG = np.random.default_rng(3)
TARGET, DECOY = (small_squiggle(name, 80 + 12 * RNG.standard_normal(60)) for name in ("target", "decoy"))
READS = [np.rint(RNG.normal(500, 50, 150)).astype(np.int16) for _ in range(5)]
NAMES = [f"read{number}" for number in range(5)]
CLASSIFY = ("classify", "reads.npz", "--reference", "target.sdtw", "--thresholds", "chosen.json", "-o", "out")
ALIGN = ("align", "reads.npz", "--reference", "target.sdtw", "-o", "out", "--prefixes", "100")


def reads_of(**facts: object) -> None:
    """Write the same reads, of which something is known."""
    write_signals("reads.npz", Signals.of(READS, NAMES, **facts))  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reads, references, and thresholds that say that they were chosen by reads like these, trimmed by 20 samples."""
    monkeypatch.chdir(tmp_path)
    reads_of(pore="R9", rate=4000.0)
    write_squiggle("target.sdtw", TARGET)
    basis = Basis.of([TARGET], [], TrimOptions(stall=False, extra=20), ReadKind("R9", "dna", 4000.0))
    write_thresholds(
        "chosen.json", Thresholds((Stage(100, 500),), AlignOptions(), "cost", ("target",), {}, basis)
    )  # fmt: skip
    return tmp_path


def sdtw(device: Device, *words: str) -> int:
    return main(["sdtw", *words, "-d", str(device.index)])


def refused(device: Device, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said, in one line, where nothing is written."""
    capsys.readouterr()
    assert sdtw(device, *words, "-q") in (2, 3)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert not Path("out").exists()
    return shown


def test_thresholds_say_how_reads_are_trimmed(folder: Path, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    for trim in ("none", "21", "stall"):
        shown = refused(device, capsys, *CLASSIFY, "--trim", trim)
        assert f"made with --trim 20, which is not --trim {trim}; make new ones" in shown
    with pytest.raises(UsageError, match="made with trim=20, which is not trim='stall'"):
        classify("reads.npz", "target.sdtw", "chosen.json", trim=TrimOptions(), engine=device)
    assert len(classify("reads.npz", "target.sdtw", "chosen.json", engine=device)) == 5
    rows = []
    for words in ((), ("--trim", "20")):
        assert sdtw(device, *CLASSIFY, *words) == 0
        text = (folder / "out").read_text()
        assert "trim=20" in text
        rows.append([line for line in text.splitlines() if not line.startswith("#")])
    assert rows[0] == rows[1]
    assert rows[0][1].split("\t")[1] == "130"


def test_thresholds_of_other_content_are_refused(
    folder: Path, device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = TARGET.levels.copy()
    levels[3] += 1e-9
    for other, message in (
        (replace(TARGET, levels=levels), "made with another reference target (checksum "),
        (replace(TARGET, records=("other",)), "made with another reference target (checksum "),
        (replace(TARGET, model="r10"), "by the model "),
        (replace(TARGET, model_checksum="00ff"), "(checksum 00ff)"),
        (replace(TARGET, name="other"), "made with the references target, not other"),
    ):
        write_squiggle("target.sdtw", other)
        assert message in refused(device, capsys, *CLASSIFY)


def test_thresholds_that_were_changed_are_refused(
    folder: Path, device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("chosen.json").read_text()
    assert '"reject_above": 500' in text
    Path("chosen.json").write_text(text.replace('"reject_above": 500', '"reject_above": 900'))
    shown = refused(device, capsys, *CLASSIFY)
    assert "chosen.json: was changed after it was written" in shown
    assert "for thresholds of your own give --stages" in shown


def test_reads_of_another_kind_are_refused(folder: Path, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    for facts, message in (
        ({"pore": "R10"}, "read read0 is of R10 pores, but the thresholds were chosen by reads of R9 pores"),
        ({"molecule": "rna"}, "read read0 is of RNA, but the reference target is for DNA"),
        ({"rate": 5000.0}, "is of 5,000 samples per second, but the thresholds were chosen by reads of 4,000 samples"),
    ):
        reads_of(**facts)
        assert message in refused(device, capsys, *CLASSIFY)
    write_squiggle("target.sdtw", replace(TARGET, pore="R9", rate=4000.0))
    reads_of(pore="R10")
    assert "read0 is of R10 pores, but the reference target is for R9 pores" in refused(device, capsys, *ALIGN)
    reads_of(rate=[4000.0, 4000.0, 4001.0, 5000.0, np.nan])
    expected = "read read3 is of 5,000 samples per second, but "
    assert f"{expected}the reference target is for 4,000" in refused(device, capsys, *ALIGN)
    write_squiggle("target.sdtw", TARGET)
    assert f"{expected}reads before it of 4,000" in refused(device, capsys, *ALIGN)


def test_references_for_several_pores_are_refused(
    folder: Path, device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    write_squiggle("target.sdtw", replace(TARGET, pore="R9"))
    write_squiggle("decoy.sdtw", replace(DECOY, pore="R10"))
    shown = refused(device, capsys, *ALIGN, "--reference", "decoy.sdtw")
    assert "--reference must be all for one pore; there are some for R10 and for R9" in shown


def test_what_reads_do_not_say_is_told(folder: Path, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    write_squiggle("target.sdtw", replace(TARGET, pore="R9", rate=4000.0))
    told = "reads do not say their pore and sampling rate: taken to be of R9 pores and 4,000 samples per second"
    reads_of()
    assert sdtw(device, *ALIGN) == 0
    assert capsys.readouterr().err.count(told) == 1
    assert sdtw(device, *ALIGN, "-q") == 0
    assert capsys.readouterr().err == ""
    reads_of(pore="R9", rate=4000.0)
    assert sdtw(device, *ALIGN) == 0
    assert "do not say" not in capsys.readouterr().err
    write_squiggle("target.sdtw", TARGET)
    assert sdtw(device, *ALIGN) == 0
    assert "does not say for which pore it is, and reads are of R9" in capsys.readouterr().err


def test_reads_that_are_played_are_looked_at(folder: Path, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("stream", "reads.npz", *CLASSIFY[2:], "--speed", "0", "--duration", "1")
    reads_of(pore="R10")
    assert "read0 is of R10 pores, but the thresholds were chosen by reads of R9" in refused(device, capsys, *words)
    assert "made with --trim 20, which is not --trim 5" in refused(device, capsys, *words, "--trim", "5")


def test_runs_have_the_rate_of_the_reads(folder: Path, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    """What is played, and what evaluations expect."""
    plain = Thresholds((Stage(100, 500),), AlignOptions())
    write_thresholds("chosen.json", plain)
    reads_of(rate=5000.0)
    played = ("stream", "reads.npz", *CLASSIFY[2:], "--speed", "0", "--duration", "1", "--trim", "none", "--json")
    judged = ("evaluate", "reads.npz", "reads.npz", "--reference", "target.sdtw", "-o", "out", "--json", "--trim",
              "none", "--stages", "100:500", "--bootstrap", "0")  # fmt: skip
    for words in (played, judged):
        assert "--rate 4000.0: the reads are of 5,000 samples" in refused(device, capsys, *words, "--rate", "4000")
        for rate in ((), ("--rate", "5010")):
            assert sdtw(device, *words, *rate) == 0
            assert '"rate": 50' + ("10" if rate else "00") in Path("out").read_text()
        Path("out").unlink()
    reads_of()
    assert sdtw(device, *played) == sdtw(device, *played, "--rate", "300") == 0
    assert '"rate": 300' in Path("out").read_text()
