"""`oclgenomics sweeps threshold` and `peaks`: what is taken from a report, files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.runtime import Device
from oclgenomics.sweeps import read_report, read_thresholds
from oclgenomics.sweeps.formats.thresholds import history_of

INPUTS = Path(__file__).parents[2] / "data" / "sweeps"
CLEAN, SWEEP = str(INPUTS / "phased_clean.vcf.gz"), str(INPUTS / "sweep40.ms.gz")


@pytest.fixture(scope="module")
def made(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of a scan, and thresholds for it."""
    folder, number = tmp_path_factory.mktemp("scanned"), str(device.index)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        line = f"sweeps scan {CLEAN} -w 20 --stat mu,pi -o scan.tsv -q -d {number}"
        assert main(line.split()) == 0
        line = "sweeps threshold --scan scan.tsv --length 50k --replicates 19 --seed 1 --jobs 1 --fpr 0.1,0.05 --json"
        assert main([*line.split(), "-o", "null.json", "-d", number]) == 0
    return folder


@pytest.fixture
def scanned(device: Device, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The device's number; the folder has the report of a scan, and thresholds for it."""
    monkeypatch.chdir(tmp_path)
    for name in ("scan.tsv", "null.json"):
        Path(name).write_bytes((made / name).read_bytes())
    return str(device.index)


def test_thresholds_are_made_after_a_report(scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(Path("null.json").read_text())
    assert record["replicates"] == 19
    assert (record["scan"]["width"], record["scan"]["statistics"]) == (20, "mu,pi")
    assert record["data"]["haplotypes"] == 80
    assert [(one["statistic"], one["fpr"], one["rank"]) for one in record["thresholds"]] == [
        ("mu", 0.1, 2), ("mu", 0.05, 1), ("pi", 0.1, 2), ("pi", 0.05, 1)
    ]  # fmt: skip
    assert {one["name"] for one in record["peaks"]} == {"1"}
    found = read_thresholds("null.json")
    assert found.threshold("mu").value == record["thresholds"][0]["value"]
    assert found.source == "null.json"
    assert found.described == "19 neutral replicates of 50 kb (constant size)"
    capsys.readouterr()
    line = "sweeps threshold --scan scan.tsv --length 50k --replicates 19 --seed 1 --jobs 1 --fpr 0.1,0.05"
    assert main([*line.split(), "-d", scanned]) == 0
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines() if not line.startswith("#")]
    assert [row[0] for row in rows[1:]] == ["threshold"] * 4 + ["peak"] * 2 + ["replicate"] * 38
    assert "taken from scan.tsv: --samples 80 --sites" in err
    assert err.count("warning: --fpr 0.05 rests on few replicates") == 1
    assert [err.count(f"oclgenomics: 1: {name} ") for name in ("mu", "pi")] == [1, 1]


def test_statistics_that_the_report_lacks_have_no_p_values(scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    line = "sweeps threshold --scan scan.tsv --stat mu,theta,fay_wu_h --length 50k --replicates 19 --seed 1 --jobs 1"
    assert main([*line.split(), "-d", scanned, "--json"]) == 0
    out, err = capsys.readouterr()
    assert "warning: scan.tsv lacks theta, fay_wu_h: thresholds are given, but no p-values\n" in err
    record = json.loads(out)
    assert [one["statistic"] for one in record["thresholds"]] == ["mu", "theta", "fay_wu_h"]
    assert [one["statistic"] for one in record["peaks"]] == ["mu"]


def test_peaks_by_thresholds(scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["sweeps", "peaks", "scan.tsv", "--threshold", "null.json", "--json"]) == 0
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert record["fpr"] == 0.1
    assert record["peaks"]
    assert all(peak["value"] > record["threshold"] and peak["p_value"] <= 0.1 for peak in record["peaks"])
    assert "compared with the replicates: 80 haplotypes" in err
    assert main(["sweeps", "peaks", "scan.tsv", "--stat", "pi", "--top", "3"]) == 0
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines() if not line.startswith("#")]
    assert sorted(int(row[4]) for row in rows) == [1001 - rank for rank in range(len(rows), 0, -1)]
    assert all(int(row[1]) < float(row[7]) <= int(row[2]) for row in rows)
    assert main(["sweeps", "peaks", "scan.tsv", "--threshold", "1e9", "-o", "none.bed"]) == 0
    assert "warning: nothing was found" in capsys.readouterr().err


def test_backgrounds_of_others_are_refused(scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = "sweeps threshold --length 50k --samples 80 --sites 200 --replicates 2 --seed 1 --jobs 1 --fpr 0.5 --json"
    own = ["-q", "-d", scanned, "--ehh-edge", "keep"]
    assert main([*f"{line} --stat nsl,clr,h12,mu -w 20 --haplotype-window 20 -o own.json".split(), *own]) == 0
    assert main([*line.replace("80", "20").split(), "--stat", "nsl,clr", "-o", "few.json", *own]) == 0
    capsys.readouterr()
    for words, message in (
        ("--stat nsl --background own.json", ""),
        ("--stat nsl,ihs --background own.json", "own.json: its replicates were not scanned by ihs"),
        ("--stat lassi --haplotype-window 20 --background own.json", "own.json: its replicates were not scanned by la"),
        ("--stat nsl --ehh-maf 0.1 --background own.json", "were scanned with --ehh-maf 0.05, and the background of n"),
        ("--stat clr --clr-folded --background own.json", "the background of clr is for --clr-folded"),
        ("--stat mu --background own.json", "own.json: no background has an effect on mu; leave it out"),
        ("--stat nsl --background few.json", "few.json: its replicates have 20 phased haplotypes, and 1 has 80 phased"),
        ("--stat nsl --background few.json --shard 1/2", "few.json: its replicates have 20 phased haplotypes, and 1"),
        ("--stat clr --background few.json", "the spectrum is of 20 haplotypes, and a site has 80"),
    ):
        assert main(["sweeps", "scan", CLEAN, *words.split(), "-o", "out", *own]) == 2 * bool(message), words
        assert message in capsys.readouterr().err
        assert Path("out").exists() != bool(message)
        Path("out").unlink(missing_ok=True)


def test_thresholds_in_the_figure_of_a_scan(scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"sweeps scan {CLEAN} -w 20 --stat mu,pi -o again.tsv -d {scanned} --threshold null.json --plot x.svg"
    assert main(line.split()) == 0
    assert "compared with the replicates: 80 haplotypes" in capsys.readouterr().err
    assert Path("x.svg").read_text().count("10 %") == 2
    Path("again.tsv").unlink()
    assert main([*line.replace("-w 20", "-w 30").split()]) == 2
    assert "width" in capsys.readouterr().err
    assert not Path("again.tsv").exists()


@pytest.mark.parametrize(
    ("options", "history"),
    [({}, ""), ({"input": "in/neutral.ms"}, "neutral.ms"), ({"input": "-"}, ""), ({"demes": "in/a.yaml"}, "a.yaml"),
     ({"demes": None, "growth_rate": 0.1}, "exponential growth"), ({"demes": None}, "constant size")],
)  # fmt: skip
def test_files_of_thresholds_say_of_which_history_they_are(options: dict[str, object], history: str) -> None:
    assert history_of(options) == history


def test_replicates_from_a_file(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"sweeps threshold {SWEEP} --length 200k -w 20 --stat mu --fpr 0.5 --genotypes -d {device.index}"
    assert main(line.split()) == 0
    out, _ = capsys.readouterr()
    assert [line.split("\t")[0] for line in out.splitlines() if not line.startswith("#")][1:] == [
        "threshold", *["replicate"] * 3
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("threshold --length 1k --samples 5", "--seed and the others"),
        ("threshold --length 1k --samples 5 --seed 1 --replicates 5", "needs at least 19 neutral replicates"),
        ("threshold --length 1k --samples 5 --seed 1 --grid 5", "unknown arguments: --grid"),
        ("threshold --length 1k --samples 5 --seed 1 --fpr 2", "lies between 0 and 1"),
        (f"threshold {SWEEP} --length 200k --samples 5", "--samples has no effect"),
        ("threshold --scan scan.tsv --seed 1 --replicates 19 --length 50k --samples 30", "80"),
        ("threshold --scan scan.tsv --seed 1 --replicates 19 --length 50k --sites 9", "--sites 9: its replicates have"),
        (f"scan {CLEAN} --threshold null.json", "give --plot FILE, --html FILE or --refine"),
        ("peaks scan.tsv", "give one of --threshold, --top and --quantile"),
        ("threshold --scan scan.tsv --seed 1 --replicates 20 --combine mu,pi", "38 neutral replicates for the"),
        ("peaks scan.tsv --threshold 3 --top 1", "--threshold and --top contradict each other"),
        ("peaks scan.tsv --threshold 3 --fpr 0.1", "--fpr has no effect"),
        ("peaks scan.tsv --threshold nan", "give a number or a file"),
        ("peaks scan.tsv --stat tajima_d --top 3", "is not in the scan"),
        ("peaks null.json --top 3", "is no report of `sweeps scan`"),
        ("peaks scan.tsv --threshold scan.tsv", "is no threshold"),
        ("peaks scan.tsv --top 3 -o scan.tsv", "scan.tsv"),
    ],
)
def test_what_is_refused(line: str, message: str, scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    words = ["-d", scanned] if line.startswith(("threshold", "scan")) else []
    assert main(["sweeps", *line.split(), *words]) in (2, 3)
    out, err = capsys.readouterr()
    assert message in err
    assert not out


@pytest.mark.parametrize("change", [('"rank": 2', '"rank": 1'), ('"kind": "sweeps', '"kind": "omega'), ("{", "[")])
def test_thresholds_that_were_changed(change: tuple[str, str], scanned: str) -> None:
    text = Path("null.json").read_text()
    Path("other.json").write_text(text.replace(*change, 1))
    with pytest.raises(InputError, match=r"other.json: (was changed|is no threshold)"):
        read_thresholds("other.json")


def test_combined_scores(scanned: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = "sweeps threshold --scan scan.tsv --length 50k --replicates 39 --seed 1 --jobs 1 --combine pi,mu --json -q"
    assert main([*line.split(), "-o", "both.json", "-d", scanned]) == 0
    record = json.loads(Path("both.json").read_text())
    assert [(one["statistic"], one["rank"], one["replicates"]) for one in record["thresholds"]] == [
        ("mu", 2, 39), ("pi", 2, 39), ("combined", 1, 19)
    ]  # fmt: skip
    assert {one["statistic"] for one in record["peaks"]} == {"mu", "pi", "combined"}
    capsys.readouterr()
    again = ["sweeps", "scan", CLEAN, "-w", "20", "--stat", "mu,pi", "--threshold", "both.json", "-d", scanned, "-q"]
    assert main([*again, "-o", "scored.tsv"]) == 0
    (scan,), (plain,) = read_report("scored.tsv"), read_report("scan.tsv")
    null = read_thresholds("both.json")
    assert scan.values["combined"] == pytest.approx(null.judged(plain).values["combined"], rel=1e-6)
    assert list(scan.values)[-2:] == ["combined", "combined_p"]
    line = "sweeps peaks scored.tsv --stat combined --threshold both.json --fpr 0.9 --json"
    assert main(line.split()) == 0
    (peak, *_) = json.loads(capsys.readouterr().out)["peaks"]
    assert set(peak["local_p"]) == {"mu", "pi"}
    assert 0.05 <= peak["p_value"] <= peak["q_value"] <= 1
    wrong = {
        "--stat mu": "the combined score needs pi, which the scan lacks; add it to --stat",
        "--stat mu,pi --step 900": "scanned with --step None, and this scan with --step 900",
        "--stat mu,pi --format raisd": "the raisd format has no place for the combined score",
    }
    for words, message in wrong.items():
        line = ["sweeps", "scan", CLEAN, "-w", "20", *words.split(), "--threshold", "both.json", "-d", scanned, "-q"]
        assert main([*line, "-o", "refused.tsv"]) == 2
        assert message in capsys.readouterr().err
        assert not Path("refused.tsv").exists()
    for combine, message in (("mu,h12", "h12 is not one of --stat mu,pi"), ("mu", "of two statistics or more")):
        assert main(["sweeps", "threshold", "--scan", "scan.tsv", "--seed", "1", "--combine", combine]) == 2
        assert message in capsys.readouterr().err


def test_backgrounds_of_neutral_replicates(device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--stat", "lassi", "--haplotype-window", "20", "-q", "-d", str(device.index)]
    null, own, other = (str(tmp_path / name) for name in ("null.json", "own.tsv", "other.tsv"))
    made = "--length 30k --samples 80 --sites 200 --seed 1 --replicates 2 --jobs 1 --fpr 0.5 --json"
    assert main(["sweeps", "threshold", *made.split(), "-o", null, *common]) == 0
    assert main(["sweeps", "scan", CLEAN, *common, "-o", own]) == 0
    assert main(["sweeps", "scan", CLEAN, *common, "-o", other, "--background", null]) == 0
    (one,), (another,) = read_report(own), read_report(other)
    assert one.best("lassi") is not None
    assert not (one.values["lassi"] == another.values["lassi"]).all()
    assert list(read_thresholds(null).backgrounds) == ["haplotypes"]
