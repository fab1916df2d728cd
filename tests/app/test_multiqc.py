"""Content for MultiQC: what commands write, and what MultiQC makes of it where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.shared_builds import built_folder

from oclgenomics import sweeps
from oclgenomics.cli.main import main
from oclgenomics.omega.formats import read_report

DATA = Path(__file__).resolve().parents[1] / "data"
SAMPLES = ("first", "second")


def run(*words: object) -> None:
    assert main([*map(str, words), "-q"]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Content of all systems, of two samples."""
    return built_folder(tmp_path_factory, "multiqc", _write_all)


def _write_all(place: Path) -> None:
    (place / "content").mkdir()
    run("simulate", "genomes", "--seed", 1, "--genera", 2, "--species", 2, "--length", 20_000, "-o", place / "world")
    run("classify", "build", place / "w.db", place / "world/references", "--taxonomy", place / "world/taxonomy")
    bases = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(1).integers(0, 4, 2_000)].tobytes().decode()
    (place / "target.fa").write_text(f">t\n{bases}\n")
    run("sdtw", "index", place / "target.fa", "--model", "r9.4.1", "-o", place / "target.sdtw")
    for seed, sample in enumerate(SAMPLES, 1):
        reads, alignment, target, others = (place / f"{sample}{kind}" for kind in (".fq.gz", ".ms", "_t.npz", "_o.npz"))
        run("simulate", "reads", "--seed", seed, "--genomes", place / "world", "--reads", 300, "-o", reads)
        run("simulate", "omega", "--seed", seed, "--samples", 12, "--replicates", 2, "--sites", 200, "-o", alignment)
        signals = ("simulate", "signals", "--reads", 20, "--samples", 1500, "--seed")
        run(*signals, seed, "--target", place / "target.fa", "-o", target)
        run(*signals, 10 + seed, "-o", others)
        for name, words in {
            "query": ["classify", "query", place / "w.db", reads, "-o", place / f"{sample}.txt"],
            "count": ["kmers", "count", reads, "-k", 21, "-o", place / f"{sample}.db"],
            "histogram": ["kmers", "histogram", place / f"{sample}.db", "-o", place / f"{sample}.tsv"],
            "scan": [
                *("omega", "scan", alignment, "--length", "1M", "--grid", 50, "--minwin", 1000),
                *("--maxwin", "100k", "-o", place / f"{sample}.scan.tsv"),
            ],
            "sweeps": ["sweeps", "scan", alignment, "--length", "1M", "-o", place / f"{sample}.sweeps.tsv"],
            "lowest": [
                *("sweeps", "scan", alignment, "--length", "1M", "--stat", "pi,tajima_d", "--grid", 50),
                *("-o", place / f"{sample}.lowest.tsv"),
            ],
            "evaluate": [
                *("sdtw", "evaluate", target, others, "--reference", place / "target.sdtw", "--prefixes", "500,1000"),
                *("--trim", "none", "-o", place / f"{sample}.f.tsv", "--sample-name", sample),
            ],
            "decide": [
                *("sdtw", "classify", target, others, "--reference", place / "target.sdtw", "--trim", "none"),
                *("--stages", "500:1900,1000:3000", "-o", place / f"{sample}.d.tsv", "--sample-name", sample),
            ],
            "signatures": [
                *("signatures", "scan", DATA / "signatures/small.sample.fastq.gz", DATA / "signatures/small.sig.fasta"),
                *("-o", place / "matches.tsv", "--sample-name", sample),
            ],
        }.items():
            run(*words, "--multiqc", place / "content" / f"{sample}.{name}_mqc.json")
        histogram = place / "content" / f"{sample}_jf.hist"
        run("kmers", "histogram", place / f"{sample}.db", "--format", "jellyfish", "-o", histogram)


def content(folder: Path, name: str) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((folder / "content" / f"first.{name}_mqc.json").read_text())
    return written


def test_kmers(folder: Path) -> None:
    rows = [line.split() for line in (folder / "first.tsv").read_text().splitlines()]
    spectrum, (counted,) = content(folder, "histogram"), content(folder, "count")["data"].values()
    assert spectrum["data"] == {"first": [[int(count), int(kmers)] for count, kmers in rows if int(count) <= 100]}
    assert spectrum["plot_type"] == "linegraph"
    assert counted["distinct"] == sum(int(kmers) for _, kmers in rows)
    assert counted["total"] == counted["kmers"] == sum(int(count) * int(kmers) for count, kmers in rows)
    assert counted["records"] == 300


def test_a_histogram_as_jellyfish_writes_it(folder: Path) -> None:
    own, other = (folder / "first.tsv").read_text(), (folder / "content" / "first_jf.hist").read_text()
    assert other == own.replace("\t", " ")


def test_classify(folder: Path) -> None:
    (counts,) = content(folder, "query")["data"].values()
    assert list(counts)[:2] == ["Unclassified", "Other calls"]
    assert sum(counts.values()) == 300
    species = list(counts.values())[2:]
    assert species == sorted(species, reverse=True)
    assert species[0] > 0


def test_omega(folder: Path) -> None:
    tracks = read_report(folder / "first.scan.tsv")
    lines = content(folder, "scan")["data"]
    assert list(lines) == [f"first, {track.name}" for track in tracks]
    assert len(tracks) == 2
    start = 0.0
    for track, line in zip(tracks, lines.values(), strict=True):
        known = track.omega > 0
        np.testing.assert_allclose([x for x, _ in line], (start + track.positions[known]) / 1e6, rtol=1e-6)
        np.testing.assert_allclose([y for _, y in line], track.omega[known], rtol=1e-6)
        start += track.positions[-1]


def test_the_highest_omega_of_a_stretch_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.app.tracks.SHOWN_POSITIONS", 10)
    words = ["--length", "1M", "--grid", 50, "--minwin", 1000, "--maxwin", "100k", "-o", folder / "again.tsv"]
    run("omega", "scan", folder / "first.ms", *words, "--multiqc", folder / "few_mqc.json")
    lines, tracks = json.loads((folder / "few_mqc.json").read_text())["data"], read_report(folder / "again.tsv")
    for track, line in zip(tracks, lines.values(), strict=True):
        assert len(line) < 10
        assert max(y for _, y in line) == pytest.approx(track.omega.max(), rel=1e-6)


@pytest.mark.parametrize(("name", "column", "scale"), [("sweeps", "mu", 1), ("lowest", "pi", 1000)])
def test_sweeps(folder: Path, name: str, column: str, scale: int) -> None:
    scans = sweeps.read_report(folder / f"first.{name}.tsv")
    written = content(folder, name)
    assert written["id"] == f"oclgenomics_sweeps_{column}"
    assert list(written["data"]) == [f"first, {scan.name}" for scan in scans]
    for scan, line in zip(scans, written["data"].values(), strict=True):
        values = scale * scan.values[column]
        extreme = np.nanmax(values) if column == "mu" else np.nanmin(values)
        assert (max if column == "mu" else min)(y for _, y in line) == pytest.approx(extreme, rel=1e-6)
        assert len(line) <= np.count_nonzero(~np.isnan(values))


def test_sdtw(folder: Path) -> None:
    lines = content(folder, "evaluate")["data"]
    assert list(lines) == ["first, 500 samples", "first, 1,000 samples"]
    for line in lines.values():
        assert line[0] == [0.0, 0.0]
        assert line[-1] == [1.0, 1.0]
        assert line == sorted(line)
        assert len({x for x, _ in line}) == len(line)  # or MultiQC leaves out steps


def test_decisions(folder: Path) -> None:
    (counts,) = content(folder, "decide")["data"].values()
    assert list(counts) == ["Accepted", "Rejected after 1,000 samples", "Rejected after 500 samples", "Undecided"]
    lines = [line for line in (folder / "first.d.tsv").read_text().splitlines() if line[0] != "#"]
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    told = Counter((row["decision"], row["prefix"] if row["decision"] == "reject" else "") for row in rows)
    decided = [("accept", ""), ("reject", "1000"), ("reject", "500"), ("undecided", "")]
    assert list(counts.values()) == [told[one] for one in decided]
    assert sum(counts.values()) == len(rows) == 40
    assert min(list(counts.values())[:3]) > 0


def test_signatures(folder: Path) -> None:
    written = content(folder, "signatures")
    (row,) = written["data"].values()
    assert set(row) == set(written["headers"])
    rows = [line.split("\t") for line in (folder / "matches.tsv").read_text().splitlines() if line[0] != "#"][1:]
    assert row["matching"] == len({cells[-1] for cells in rows})
    assert row["signatures"] == len({cells[1] for cells in rows})
    assert row["matches"] == sum(int(cells[5]) for cells in rows)
    name, hits = row["most"].split("; ")[0].split(" ")
    assert int(hits.strip("()")) == sum(int(cells[5]) for cells in rows if cells[1] == name)


def test_other_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "histogram", "x.db", "--multiqc", "x.json"]) == 2
    assert "x.json has to end in _mqc.json, by which MultiQC finds it" in capsys.readouterr().err


def test_multiqc_shows_both_samples(folder: Path, tmp_path: Path) -> None:
    if shutil.which("multiqc") is None:
        pytest.skip("multiqc is not installed")
    words = ["multiqc", folder / "content", "-o", tmp_path, "--no-version-check", "--quiet", "--strict"]
    subprocess.run([*map(str, words)], check=True, capture_output=True)
    for name in (
        "classify_species",
        "count_k21",
        "spectrum_k21",
        "omega",
        "sweeps_mu",
        "sweeps_pi",
        "sdtw_roc",
        "sdtw_decisions",
        "signatures",
    ):
        (table,) = (tmp_path / "multiqc_data").glob(f"*oclgenomics_{name}*.txt")
        lines = [line.split("\t")[0] for line in table.read_text().splitlines()]
        assert all(any(line.startswith(sample) for line in lines) for sample in SAMPLES), name
    known = json.loads((tmp_path / "multiqc_data" / "multiqc_data.json").read_text())
    for name, plot in known["report_plot_data"].items():
        for line in plot["datasets"][0].get("lines", []):  # as they are drawn: from left to right, and all points
            places = [float(x) for x, _ in line["pairs"]]
            assert places == sorted(places), (name, line["name"])
            if name == "oclgenomics_sdtw_roc_plot":
                assert line["pairs"][0] == [0, 0]
    assert "Jellyfish" in str(known["report_data_sources"])  # which has a parser of its own
