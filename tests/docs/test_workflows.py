"""The workflow and the lists of docs/workflows.md, and what MultiQC makes of the workflow's content."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from helpers.classify_databases import EDGE
from helpers.own_program import put_on_path
from helpers.shared_builds import built_folder

import oclgenomics
from oclgenomics.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/workflows.md").read_text()
PACKAGING = ROOT / "packaging"
SAMPLES = ("1", "2", "3")


def block(mark: str) -> str:
    """A block of the page that has a mark before it."""
    (text,) = re.findall(rf"<!-- {mark} -->\n```[a-z]*\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


def test_the_table_is_that_of_the_modules() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \[`([a-z ]+)`\]\(\w+\.md\) \| (.*?) \| (.*?) ?\|$", PAGE, re.MULTILINE)
    assert {row[0] for row in rows} == {path.name for path in (PACKAGING / "nf-core/modules/oclgenomics").iterdir()}
    for name, words, files, values in rows:
        assert words.replace(" ", "") == name
        meta = yaml.safe_load((PACKAGING / f"nf-core/modules/oclgenomics/{name}/meta.yml").read_text())
        told = [one for channel in meta["input"] for one in (channel if isinstance(channel, list) else [channel])]
        kinds = {key: one["type"] for each in told for key, one in each.items() if one["type"] != "map"}
        assert re.findall(r"`(\w+)`", files) == [key for key, kind in kinds.items() if kind in ("file", "directory")]
        assert re.findall(r"`(\w+)`", values) == [key for key, kind in kinds.items() if kind in ("integer", "string")]
        wrapper = yaml.safe_load((PACKAGING / f"snakemake/bio/oclgenomics/{name}/meta.yaml").read_text())
        assert {key for key, kind in kinds.items() if kind in ("file", "directory")} <= {
            key for one in wrapper["input"] for key in one
        }


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page's commands were run."""
    for program in ("snakemake", "multiqc"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    return built_folder(tmp_path_factory, "cohort", run_cohort) / "work"


def run_cohort(folder: Path) -> None:
    variables = put_on_path(folder / "bin") | {"CHECKOUT": str(ROOT)}
    (folder / "work").mkdir()
    words = ["bash", "-euc", block("cohort")]
    done = subprocess.run(words, cwd=folder / "work", env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_report_has_all_systems_and_samples(cohort: Path) -> None:
    assert (cohort / "multiqc_report.html").stat().st_size
    data = cohort / "multiqc_data"
    shown = json.loads((data / "multiqc_data.json").read_text())
    plots = {name.removeprefix("oclgenomics_").removesuffix("_plot") for name in shown["report_plot_data"]}
    assert plots == {"classify_species", "count_k21", "spectrum_k21", "omega", "sdtw_decisions", "signatures"}
    for name in plots:
        lines = (data / f"multiqc_oclgenomics_{name}_plot.txt").read_text().splitlines()
        assert {line.split("\t")[0] for line in lines} >= set(SAMPLES), name
    versions = (data / "multiqc_software_versions.txt").read_text()
    assert oclgenomics.__version__ in versions


def test_what_was_found_is_what_was_simulated(cohort: Path) -> None:
    content = {
        kind: [json.loads((cohort / f"content/{one}.{kind}_mqc.json").read_text())["data"][one] for one in SAMPLES]
        for kind in ("classify", "count", "histogram", "signatures", "omega", "sdtw")
    }
    assert [sum(one.values()) for one in content["classify"]] == [5000] * 3
    assert [one["records"] for one in content["count"]] == [5000] * 3
    for spectrum, counted in zip(content["histogram"], content["count"], strict=True):  # which ends at 100
        assert counted["distinct"] - 10 <= sum(kmers for _, kmers in spectrum) <= counted["distinct"]
    assert min(one["matches"] for one in content["signatures"]) > 0
    assert all(0.35 < max(one, key=lambda point: point[1])[0] < 0.65 for one in content["omega"])  # swept in the middle
    assert all(40 <= one["Accepted"] <= 60 and sum(one.values()) == 100 for one in content["sdtw"])


def test_the_sample_sheet_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samplesheet.csv").write_text(block("samplesheet.csv"))
    for row in block("samplesheet.csv").splitlines()[1:]:
        for name in filter(None, row.split(",")[1:]):
            Path(name).write_text(f"@a\n{'ACGTTGCAAC' * 8}\n+\n{'I' * 80}\n")
    assert main(["classify", "build", "taxa.db", str(EDGE / "edge_ref.fna"), "--taxonomy", str(EDGE), "-q"]) == 0
    line, _, shown = block("sheet").partition("\n")
    capsys.readouterr()
    assert main(shlex.split(line.removeprefix("$ oclgenomics "))) == 0
    assert capsys.readouterr().out == shown
    made = {"P1.kreport", "P1.reads.txt", "P2.kreport", "P2.reads.txt", ".P1.reads.txt.made", ".P2.reads.txt.made"}
    assert {path.name for path in Path("results").iterdir()} == made


def test_the_wrapper_of_the_page(tmp_path: Path) -> None:
    if shutil.which("snakemake") is None:
        pytest.skip("snakemake is not installed")
    (tmp_path / "Snakefile").write_text(block("wrapper"))
    for mate in (1, 2):
        (tmp_path / f"sample_{mate}.fq.gz").write_text(f"@a\n{'ACGTTGCAAC' * 8}\n+\n{'I' * 80}\n")
    (command,) = re.findall(r"^snakemake .*--wrapper-prefix.*$", PAGE, re.MULTILINE)
    variables = put_on_path(tmp_path / "bin") | {"CHECKOUT": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euc", command], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "sample" in json.loads((tmp_path / "sample_mqc.json").read_text())["data"]
