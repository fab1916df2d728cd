"""`oclgenomics sdtw evaluate` and `calibrate`: the library's numbers, files whole or absent, one line for a mistake."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sdtw import (
    CRESCENT,
    AlignOptions,
    EvaluationOptions,
    LabelledScores,
    calibrate as calibrate_by,
    choose_thresholds,
    evaluate,
    evaluate_stages,
)
from oclgenomics.sdtw.decisions.basis import ReadKind, ReferenceFacts, plain_trim
from oclgenomics.sdtw.formats.squiggle import read_squiggle, write_squiggle
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.sdtw.reference import align, normalised_levels
from oclgenomics.sdtw.squiggles.build import build_squiggle
from oclgenomics.signals import Signals, read_model, read_signals, write_signals
from oclgenomics.simulate.signals.drawing import PRESETS
from oclgenomics.simulate.signals.reads import random_genome, simulate_signals

PREFIXES = (150, 300)
READS, SHORT = 15, 3  # of a class, and those of the targets that are short
CLEAR_READS = 30  # of a class, which are told apart
WORDS = ["target.npz", "others.npz", "--reference", "virus.sdtw", "--trim", "none", "--prefixes", "150,300", "-q"]
CLEAR = ["clear-target.npz", "clear-others.npz", *WORDS[2:]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small genomes as sequences and references, and hard reads of both."""
    folder = tmp_path_factory.mktemp("evaluate")
    model = read_model("r9.4.1")
    for name, file in (("virus", "target"), ("host", "others")):
        genome = random_genome(name, 300, 0.5, READS, 1)
        (folder / f"{name}.fa").write_text(f">{name}\n{genome.letters[0].decode()}\n")
        write_squiggle(folder / f"{name}.sdtw", build_squiggle(folder / f"{name}.fa", model))
        scenario = replace(PRESETS["hard"], samples=(300, 400), jitter=9.0)
        signals = Signals.joined([batch.signals for batch in simulate_signals([genome], model, scenario, 2)])
        ends = np.full(READS, 1000)
        ends[:SHORT] = 299 if file == "target" else 1000
        write_signals(folder / f"{file}.npz", signals.cut(np.zeros(READS, np.int64), ends))
        easy = replace(PRESETS["easy"], samples=(300, 400))
        batches = simulate_signals([replace(genome, reads=CLEAR_READS)], model, easy, 3)
        write_signals(folder / f"clear-{file}.npz", Signals.joined([batch.signals for batch in batches]))
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sdtw(device: Device, *words: str) -> int:
    return main(["sdtw", *words, "-d", str(device.index)])


def oracle(options: AlignOptions, *references: str) -> LabelledScores:
    """Scores read by read; with two references, of differences."""
    squiggles = [read_squiggle(f"{name}.sdtw") for name in references]
    levels = [normalised_levels(one.levels, one.column_strand, options) for one in squiggles]
    scores, names = [], []
    for file in ("target.npz", "others.npz"):
        signals = Signals.joined(list(read_signals(file)))
        cost = np.full((len(signals), len(PREFIXES), len(squiggles)), np.nan)
        for read in range(len(signals)):
            for number, prefix in enumerate(PREFIXES):
                samples = signals.read(read)[:prefix]
                if len(samples) == prefix:
                    cost[read, number] = [
                        align(samples, own, one.tracks, options)[0] for own, one in zip(levels, squiggles, strict=True)
                    ]
        scores.append(cost[:, :, 0] - (cost[:, :, 1] if len(references) > 1 else 0))
        names.append(signals.names)
    score = "difference" if len(references) > 1 else "cost"
    return LabelledScores("default", PREFIXES, *scores, *names, options, score, references)  # type: ignore[arg-type]


def rows_of(text: str, record: str) -> list[dict[str, str]]:
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    return [row for row in csv.DictReader(lines, delimiter="\t") if row["record"] == record]


def test_numbers_are_those_of_the_oracle(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sdtw(device, "evaluate", *WORDS, "--bootstrap", "40", "--splits", "5", "--seed", "3") == 0
    table = capsys.readouterr().out
    expected = evaluate(oracle(AlignOptions(), "virus"), rounds=40, splits=5, seed=3)
    found = rows_of(table, "prefix")
    assert [row["short_targets"] for row in found] == ["0", str(SHORT)]
    for row, record in zip(found, expected.records(), strict=True):
        assert row["variant"] == "default"
        for name, value in record.items():
            if isinstance(value, float):
                assert float(row[name]) == pytest.approx(value, rel=1e-8), name
    staged = evaluate_stages(choose_thresholds(expected.labelled), expected.labelled)
    run = rows_of(table, "run")[0]
    assert float(run["true_positive_rate"]) == pytest.approx(staged.true_positive_rate)
    assert run["undecided_targets"] == str(sum(staged.target.short))
    assert len(rows_of(table, "stage")) == 2


def test_json_says_the_same(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*WORDS, "--bootstrap", "9", "--weights", "reads"]
    assert sdtw(device, "evaluate", *words) == 0
    rows = rows_of(capsys.readouterr().out, "prefix")
    assert sdtw(device, "evaluate", *words, "--json", "-o", "x.json") == 0
    record = json.loads(Path("x.json").read_text())
    assert [f"{row['f']:.9g}" for row in record["prefixes"]] == [row["f"] for row in rows]
    assert (record["kind"], record["balanced"], record["rounds"]) == ("sdtw evaluation", False, 9)
    assert record["variants"]["default"]["references"] == ["virus"]
    assert record["run"]["target_share"] == 0.01


def test_decoys_and_other_options(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*WORDS, "--decoy", "host.sdtw", "--arithmetic", "int32", "--compare", "crescent", "--bootstrap", "5"]
    assert sdtw(device, "evaluate", *words, "--plot", "x.svg") == 0
    table = capsys.readouterr().out
    for name, options in (("default arithmetic=int32", AlignOptions(arithmetic="int32")), ("crescent", CRESCENT)):
        expected = evaluate(oracle(options, "virus", "host"), rounds=5).records()
        found = [row for row in rows_of(table, "prefix") if row["variant"] == name]
        assert [float(row["f"]) for row in found] == pytest.approx([record["f"] for record in expected])
        assert [float(row["threshold"]) for row in found] == pytest.approx([record["threshold"] for record in expected])
    assert [row["baseline"] for row in rows_of(table, "difference")] == ["crescent", "crescent"]
    assert "Difference of costs" in Path("x.svg").read_text()


def test_thresholds_that_are_kept_are_judged(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*CLEAR, "--bootstrap", "0", "--bonus", "dwell"]
    assert sdtw(device, "evaluate", *words, "--keep", "0.8", "--write-thresholds", "t.json") == 0
    chosen = capsys.readouterr().out
    kept = read_thresholds("t.json")
    assert (kept.prefixes, kept.references, kept.options) == (
        PREFIXES,
        ("virus",),
        AlignOptions(bonus="dwell").resolved(),
    )
    assert kept.made["parameters"]["keep"] == 0.8
    assert kept.made["evidence"]["targets"] == CLEAR_READS
    assert kept.basis is not None
    assert (kept.basis.trim, kept.basis.reads) == (plain_trim(None), ReadKind("R9", "dna", 4000.0))
    assert kept.basis.references == (ReferenceFacts.of(read_squiggle("virus.sdtw"), "target"),)
    assert sdtw(device, "evaluate", *CLEAR, "--thresholds", "t.json", "--write-thresholds", "again.json") == 0
    judged = capsys.readouterr().out
    assert rows_of(judged, "stage") == [
        {**row, "variant": "default bonus=dwell"} for row in rows_of(chosen, "stage")
    ]  # fmt: skip
    assert read_thresholds("again.json") == kept
    (run,) = rows_of(judged, "run")
    both = str(2 * CLEAR_READS)
    assert (run["reads_that_chose_thresholds"], run["reads_looked_up"], run["reads_counted"]) == (both, both, "True")
    assert rows_of(chosen, "run")[0]["reads_that_chose_thresholds"] == "NA"
    loud = [word for word in CLEAR if word != "-q"]
    assert sdtw(device, "evaluate", *loud, "--thresholds", "t.json", "--json") == 0
    out, err = capsys.readouterr()
    assert f"oclgenomics: {both} of {both} of these reads, by their names, chose the thresholds; the figures" in err
    assert json.loads(out)["decisions"]["reads_that_chose_thresholds"] == 2 * CLEAR_READS
    stages = ",".join(map(str, kept.stages))
    assert sdtw(device, "evaluate", *words, "--stages", stages, "--write-thresholds", "t2.json") == 0
    assert "chosen_by" not in read_thresholds("t2.json").made
    assert read_thresholds("t2.json") == replace(kept, made=read_thresholds("t2.json").made)


def test_thresholds_for_a_run(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for words in ([], ["--for-run"], ["--for-run", "--target-share", "0.9"]):
        assert sdtw(device, "evaluate", *WORDS, "--bootstrap", "0", *words) == 0
        found.append(rows_of(capsys.readouterr().out, "run")[0])
    assert float(found[1]["enrichment"]) > float(found[0]["enrichment"])
    assert float(found[2]["true_positive_rate"]) >= float(found[1]["true_positive_rate"])


def test_messages(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in WORDS if word != "-q"]
    assert (
        sdtw(device, "evaluate", *words, "--stages", "150:1,300:1..2", "--bootstrap", "0", "--compare", "crescent") == 0
    )
    told = capsys.readouterr().err
    assert "default, 150 samples: F " in told
    assert "default less crescent, 300 samples: F " in told
    assert "stages 150:1,300:1..2: keep 0.0 % (0.0 to 21.8 %) of the targets and 0.0 % (0.0 to 21.8 %) of" in told
    assert "expected enrichment 0.00 (0.00 to " in told
    assert "15 target and 15 other reads are too few for these numbers; they do not even show that" in told
    assert sdtw(device, "evaluate", *CLEAR, "--bootstrap", "0", "--stages", "150:700,300:1300") == 0
    assert "too few" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--stages", "150:5", "--keep", "0.5"], 2, "--stages and --keep contradict each other"),
        (["--stages", "150"], 2, "--stages 150: write PREFIX:REJECT"),
        (["--stages", "150:65535"], 2, "--stages 150:65535: costs end at 65,535"),
        (["--keep", "2"], 2, "--keep 2.0: give a share above 0, at most 1"),
        (["--keep", ".5", "--reject", ".5"], 2, "--keep and --reject contradict each other"),
        (["--for-run", "--stages", "150:5"], 2, "--stages and --for-run contradict each other"),
        (["--score", "difference"], 2, "--score difference: needs a"),
        (["--compare", "default"], 2, "--compare default: these options are evaluated already"),
        (["--preset", "crescent", "--bits", "6"], 2, "--bits 6"),
        (["--plot", "x.gif"], 2, "--plot x.gif: the name has to end in .png, .svg or .pdf"),
        (["--target-share", "1"], 2, "--target-share 1.0: give a share"),
        (["--prefixes", "300,150"], 2, "--prefixes (300, 150)"),
        (["--prefixes", "60,x"], 2, "'60,x': write numbers of samples"),
        (["--prefixes", "1000"], 2, "--prefixes 1000: no target read has so many samples"),
        (["--thresholds", "virus.fa"], 3, "virus.fa"),
        (["--bootstrap", "10M"], 2, "--bootstrap 10000000: give 0 to 1,000,000"),
        (["--json", "--format", "tsv"], 2, "contradict"),
        (["--decoy", "none.sdtw"], 3, "none.sdtw"),
        (["-o", "target.npz"], 2, "the same file as the input"),
        (["--write-thresholds", "x.json", "-o", "x.json"], 2, "the same file as"),
    ],
)
def test_mistakes_are_one_line(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], status: int, message: str
) -> None:
    before = sorted(folder.iterdir())
    assert sdtw(device, "evaluate", *WORDS, *words) == status
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert sorted(folder.iterdir()) == before


def test_thresholds_of_others_are_refused(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sdtw(device, "evaluate", *CLEAR, "--bootstrap", "0", "--write-thresholds", "t.json") == 0
    capsys.readouterr()
    for words, message in (
        (["--cost", "absolute"], "--cost squared, which is not --cost absolute"),
        (["--trim", "20"], "--trim none, which is not --trim 20"),
        (["--decoy", "host.sdtw"], "made with the references virus, not virus, host"),
        (["--score", "difference", "--decoy", "host.sdtw"], "the thresholds were made with cost"),
    ):
        assert sdtw(device, "evaluate", *WORDS, "--thresholds", "t.json", *words) == 2
        assert message in capsys.readouterr().err


def test_thresholds_of_reads_that_say_nothing_are_not_written(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """But those that somebody typed are."""
    for name in ("clear-target", "clear-others"):
        signals = Signals.joined(list(read_signals(f"{name}.npz")))
        (folder / f"{name}.npz").unlink()
        write_signals(f"{name}.npz", signals.take(np.arange(5)))
    before = sorted(folder.iterdir())
    assert sdtw(device, "evaluate", *CLEAR, "--bootstrap", "0", "--write-thresholds", "t.json") == 2
    shown = capsys.readouterr()
    assert "--write-thresholds t.json: 5 target and 5 other reads do not show that these thresholds" in shown.err
    assert (shown.out, shown.err.count("\n"), sorted(folder.iterdir())) == ("", 1, before)
    words = ["--stages", "150:700,300:1300", "--write-thresholds", "t.json"]
    assert sdtw(device, "evaluate", *CLEAR, "--bootstrap", "0", *words) == 0
    assert read_thresholds("t.json").made["evidence"]["others"] == 5


# Calibration


def calibrate(device: Device, *words: str) -> int:
    known = ["--reference", "virus.sdtw", "--target", "virus.fa", "--prefixes", "150,300", "--bootstrap", "0", "-q"]
    return sdtw(device, "calibrate", *known, *words)


def test_calibration(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--background", "host.fa", "--reads", "20", "--seed", "5", "--difficulty", "easy", "--trim", "none"]
    assert calibrate(device, *words, "--write-thresholds", "t.json", "--reject", "0.9") == 0
    table = capsys.readouterr().out
    found = rows_of(table, "prefix")
    assert [(row["targets"], row["others"]) for row in found] == [("20", "20")] * 2
    assert all(float(row["auc"]) > 0.6 for row in found)
    kept = read_thresholds("t.json")
    assert (kept.prefixes, kept.references) == (PREFIXES, ("virus",))
    assert int(rows_of(table, "stage")[0]["rejected_others"]) >= 18
    assert calibrate(device, *words, "--reject", "0.9") == 0
    assert rows_of(capsys.readouterr().out, "prefix") == found
    assert sdtw(device, "evaluate", *WORDS, "--thresholds", "t.json", "--bootstrap", "0") == 0


def test_calibration_with_a_random_background(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate(device, "--reads", "4", "--decoy", "host.sdtw", "--difficulty", "easy", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["variants"]["default"]["score"] == "difference"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--target", "host.fa"], 2, "(virus by the model r9.4.1) was not made of --target host.fa"),
        (["--reads", "0"], 2, "--reads 0: give 1 or more"),
        (["--seed", "-1"], 2, "--seed"),
        (["--background", "none.fa"], 3, "none.fa"),
    ],
)
def test_calibrations_that_cannot_be(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], status: int, message: str
) -> None:
    assert calibrate(device, *words) == status
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1


def test_the_verb_finds_what_the_command_writes(device: Device, folder: Path) -> None:
    """`sdtw.calibrate` of the same reads: the same thresholds, with the same evidence, for the same trimming."""
    words = ["--bootstrap", "9", "--splits", "3", "--keep", ".8", "--capture-seconds", "2", "--decoy", "host.sdtw"]
    assert sdtw(device, "evaluate", *CLEAR, *words, "--write-thresholds", "t.json") == 0
    kept = read_thresholds("t.json")
    evaluation = EvaluationOptions(keep=0.8, rounds=9, splits=3, run={"capture_seconds": 2.0})
    found = calibrate_by(
        "clear-target.npz", "clear-others.npz", "virus.sdtw", None, evaluation, decoys="host.sdtw", prefixes=PREFIXES,
        trim=None, made={"who": "a test"}, engine=device,
    )  # fmt: skip
    assert (found.thresholds.stages, found.thresholds.score) == (kept.stages, "difference")
    assert found.thresholds.basis == kept.basis
    assert {"who": "a test", "evidence": kept.made["evidence"]} == json.loads(json.dumps(found.thresholds.made))
    assert found.run.capture_seconds == 2


def test_the_verb_takes_signals_and_an_engine(device: Device, folder: Path) -> None:
    """Of one stage, thresholds of a share are not the best of many, and intervals are narrower."""
    reads = [Signals.joined(list(read_signals(f"clear-{name}.npz"))) for name in ("target", "others")]
    reference, options = read_squiggle("virus.sdtw"), AlignOptions(step=1)
    with Engine(device) as engine:
        for_run, by_share = (
            calibrate_by(*reads, reference, options, evaluation, prefixes=(300,), trim=None, engine=engine)
            for evaluation in (EvaluationOptions(for_run=True, rounds=0), EvaluationOptions(keep=0.9, rounds=0))
        )
    assert (for_run.staged.chosen, by_share.staged.chosen) == (True, False)
    assert by_share.evaluations[0].labelled.name == "default step=1"
    assert by_share.staged.true_positive_rate >= 0.9
    assert for_run.thresholds.basis is not None
    assert for_run.thresholds.basis.trim == plain_trim(None)


def test_evaluations_that_cannot_be() -> None:
    for given in ({"keep": 2.0}, {"for_run": True, "keep": 0.5}, {"run": {"channels": 0}}):
        with pytest.raises(ParameterError):
            EvaluationOptions(**given)  # type: ignore[arg-type]
