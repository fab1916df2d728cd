"""Modules for nf-core and wrappers for Snakemake: what they say, and that what they run makes their outputs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.nextflow_module import Module, commands, read_module
from helpers.own_program import put_on_path
from helpers.shared_builds import built_folder

import oclgenomics
from oclgenomics.app.files import chosen_actions
from oclgenomics.cli.main import _parser, main

PACKAGING = Path(__file__).resolve().parent.parent / "packaging"
MODULES = PACKAGING / "nf-core/modules/oclgenomics"
WRAPPERS = PACKAGING / "snakemake/bio/oclgenomics"

# The inputs of each module; files are those of `inputs`.
INPUTS: dict[str, dict[str, Any]] = {
    "kmerscount": {"reads": "reads/a.fq", "k": 21},
    "kmershistogram": {"db": "a.db"},
    "classifybuild": {"references": "world/references", "taxonomy": "world/taxonomy"},
    "classifyquery": {"reads": "reads/a.fq", "db": "world.db"},
    "signaturesscan": {"samples": "samples/a.fq", "signatures": "panel.fa"},
    "omegascan": {"alignment": "haplotypes/a.vcf", "grid": 50, "minwin": "1000", "maxwin": "100k"},
    "sdtwclassify": {"signals": "signals/a.npz", "reference": "target.sdtw", "thresholds": "thresholds.json"},
}
# Other ways to run some: what differs, and the options of `ext.args`.
OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "classifybuild": ({"taxonomy": []}, {"args": "--winlen 100"}),
    "classifyquery": ({"reads": ["reads/b_1.fq", "reads/b_2.fq"], "single_end": False}, {"args": "--lowest genus"}),
    "kmerscount": ({"reads": ["reads/a.fq", "reads/b_1.fq"]}, {"prefix": "other", "args": "--min-count 2 --json"}),
    "sdtwclassify": ({"thresholds": []}, {"args": "--stages 1000:3000"}),
}
RUNS = [(name, False) for name in INPUTS] + [(name, True) for name in OTHERS]


def run(*words: object) -> None:
    assert main([*map(str, words), "-q"]) == 0


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs of all commands."""
    return built_folder(tmp_path_factory, "workflow-inputs", _simulate)


def _simulate(place: Path) -> None:
    for folder in ("reads", "samples", "haplotypes", "signals"):
        (place / folder).mkdir()
    target, reference = place / "target.fa", place / "target.sdtw"
    run("simulate", "genomes", "--seed", 1, "--genera", 2, "--species", 2, "--length", 20000, "-o", place / "world")
    reads = ("simulate", "reads", "--seed", 1, "--genomes", place / "world", "--reads", 300)
    run(*reads, "-o", place / "reads/a.fq")
    run(*reads, "--paired", "-o", place / "reads/b_1.fq", "--mates", place / "reads/b_2.fq")
    run("kmers", "count", place / "reads/a.fq", "-k", 21, "-o", place / "a.db")
    taxonomy = ("--taxonomy", place / "world/taxonomy")
    run("classify", "build", place / "world.db", place / "world/references", *taxonomy)
    run("simulate", "omega", "--seed", 1, "--replicates", 1, "--sites", 200, "-o", place / "haplotypes/a.vcf")
    panel = ("--panel", place / "panel.fa", "--signatures", 5, "--clean", 3, "--infected", 3)
    run("simulate", "signatures", "--seed", 1, *panel, "-o", place / "samples/a.fq")
    signals = ("simulate", "signals", "--seed", 1, "--length", 2000, "--reads", 20, "--samples", 3000)
    run(*signals, "--background", "random", "--target-fasta", target, "-o", place / "signals/a.npz")
    run("sdtw", "index", target, "--model", "r9.4.1", "-o", reference)
    calibrated = ("sdtw", "calibrate", "--reference", reference, "--target", target, "--background", "random")
    quick = ("--reads", 30, "--prefixes", "1000,2000", "--bootstrap", 0, "--splits", 0, "-o", place / "roc.tsv")
    run(*calibrated, *quick, "--write-thresholds", place / "thresholds.json")


def module(name: str) -> Module:
    return read_module((MODULES / name / "main.nf").read_text())


def names_known(name: str, folder: Path, *, other: bool = False) -> dict[str, Any]:
    """The variables of a module's blocks, with inputs in a folder."""
    said = module(name)
    changed, ext = OTHERS[name] if other else ({}, {})
    given = INPUTS[name] | changed
    paths = {named for channel in said.inputs for kind, named in channel if kind == "path"}
    values = {
        key: [str(folder / one) for one in value] if isinstance(value, list) else str(folder / value)
        for key, value in given.items()
        if key in paths
    }
    meta = {"id": "a", "single_end": given.get("single_end", True)}
    task = {"cpus": 2, "process": f"WORKFLOW:{said.name}", "ext": ext}
    return {**given, **values, "meta": meta, "meta2": {"id": "x"}, "task": task}


def test_there_are_modules_and_wrappers_of_the_same_commands() -> None:
    assert {path.name for path in MODULES.iterdir()} == {path.name for path in WRAPPERS.iterdir()} == set(INPUTS)


@pytest.mark.parametrize("name", INPUTS)
def test_meta_lists_the_inputs_and_outputs_of_the_module(name: str) -> None:
    said, meta = module(name), yaml.safe_load((MODULES / name / "meta.yml").read_text())
    assert said.name == f"OCLGENOMICS_{name.upper()}"
    assert meta["name"] == f"oclgenomics_{name}"
    kinds = {"map": "val", "integer": "val", "string": "val", "file": "path", "directory": "path"}

    def listed(channel: Any) -> list[tuple[str, str]]:
        elements = channel if isinstance(channel, list) else [channel]
        assert all(one.keys() <= {"type", "description", "pattern"} for each in elements for one in each.values())
        return [(kinds[one["type"]], key) for each in elements for key, one in each.items()]

    assert [listed(channel) for channel in meta["input"]] == said.inputs
    assert {key: [listed(channel)] for key, (channel,) in meta["output"].items()} == {
        key: [channel] for key, channel in said.outputs.items()
    }
    assert said.outputs["versions"] == [("path", "versions.yml")]


@pytest.mark.parametrize("name", INPUTS)
def test_a_module_says_where_its_program_is(name: str) -> None:
    said = module(name)
    assert said.directives.keys() == {"tag", "label", "conda", "container"}
    assert said.directives["conda"] == '"${moduleDir}/environment.yml"'
    assert f"-t {said.directives['container'].strip(chr(39))} ." in (PACKAGING / "container/Dockerfile").read_text()
    assert said.when == "task.ext.when == null || task.ext.when"
    recipe = yaml.safe_load((PACKAGING / "conda/oclgenomics/recipe.yaml").read_text())
    wanted, version = recipe["package"]["name"], oclgenomics.__version__
    assert yaml.safe_load((MODULES / name / "environment.yml").read_text()) == {
        "channels": ["conda-forge", "bioconda"],  # nf-core knows no others
        "dependencies": [f"{wanted}={version}"],
    }
    assert yaml.safe_load((WRAPPERS / name / "environment.yaml").read_text()) == {
        "channels": ["conda-forge"],
        "dependencies": [f"{wanted} ={version}"],
    }


@pytest.mark.parametrize(("name", "other"), RUNS)
def test_options_of_the_script_are_those_of_the_command(name: str, other: bool) -> None:
    text = commands(module(name).script, names_known(name, Path("/inputs"), other=other)).partition("\n\n")[0]
    program, *words = shlex.split(text.replace("\\\n", ""))
    assert program == "oclgenomics"
    parser = _parser()
    args = parser.parse_args(words)
    known = {option for action in chosen_actions(parser, args) for option in action.option_strings}
    assert {word for word in words if word.startswith("-")} <= known  # none is short for another
    assert args.threads == 2
    assert {args.command + args.action} == {name}
    assert ("multiqc" in module(name).outputs) == hasattr(args, "multiqc")


@pytest.mark.parametrize(("name", "other"), RUNS)
@pytest.mark.parametrize("block", ["script", "stub"])
def test_outputs_are_there(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, other: bool, block: str
) -> None:
    said, known = module(name), names_known(name, inputs, other=other)
    work = tmp_path / "work"
    work.mkdir()
    text = commands(getattr(said, block), known)
    if block == "script":  # its command runs here, which is the same and quicker; those of wrappers run by themselves
        command, _, text = text.partition("\n\n")
        monkeypatch.chdir(work)
        assert main(shlex.split(command.replace("\\\n", ""))[1:]) == 0
    bash = ["bash", "-C", "-e", "-u", "-o", "pipefail", "-c", text]  # as nf-core has it
    done = subprocess.run(
        bash, cwd=work, env=put_on_path(tmp_path / "bin"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    globs = [glob for channel in said.outputs.values() for kind, glob in channel if kind == "path"]
    made = [path for glob in globs for path in work.glob(glob)]
    assert len(made) == len(globs)
    assert sorted(made) == sorted(work.iterdir())
    prefix = known["task"]["ext"].get("prefix", "a")
    assert all(path.name.startswith(f"{prefix}.") for path in made if path.name != "versions.yml")
    if block == "script":
        assert all(path.stat().st_size for path in made)
    versions = yaml.safe_load((work / "versions.yml").read_text())
    assert versions.keys() == {f"WORKFLOW:{said.name}"}
    assert versions[f"WORKFLOW:{said.name}"]["oclgenomics"] == oclgenomics.__version__


@pytest.mark.parametrize("name", INPUTS)
def test_the_test_for_nf_test_gives_all_inputs(name: str) -> None:
    said, text = module(name), (MODULES / name / "tests/main.nf.test").read_text()
    assert f'process "{said.name}"' in text
    assert 'options "-stub"' in text
    assert text.count("{") == text.count("}")
    for test in text.split("    test(")[1:]:
        assert re.findall(r"input\[(\d+)\] = ", test) == [str(number) for number in range(len(said.inputs))]


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ('"""\n${reads.first()}\n"""\n', {"reads": "a"}),
        ('"""\n${other}\n"""\n', {}),
        ('"""\n$(date)\n"""\n', {}),
        ('"""\n\\n\n"""\n', {}),
        ('def x = reads ?: 1\n"""\n$x\n"""\n', {"reads": "a"}),
        ('def x = task.ext.x\n"""\n$x\n"""\n', {"task": {"ext": {}}}),
        ('x\n"""\n"""\n', {}),
    ],
)
def test_what_is_not_known_of_groovy_is_refused(said: str, names: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        commands(said, names)


@pytest.fixture(scope="module")
def examples() -> dict[str, str]:
    """The example of each wrapper."""
    return {name: (WRAPPERS / name / "test/Snakefile").read_text() for name in INPUTS}


def files_of(example: str, begin: str, end: str) -> dict[str, str]:
    """The named files of a part of a rule, of the sample `a`."""
    part = example.partition(f"    {begin}:\n")[2].partition(f"    {end}:\n")[0]
    return {name: path.replace("{sample}", "a") for name, path in re.findall(r'(\w+)=\[?"([^"]+)"', part)}


@pytest.mark.parametrize("name", INPUTS)
def test_meta_lists_what_a_wrapper_uses(examples: dict[str, str], name: str) -> None:
    meta = yaml.safe_load((WRAPPERS / name / "meta.yaml").read_text())
    wrapper, example = (WRAPPERS / name / "wrapper.py").read_text(), examples[name]
    assert meta["name"].replace("oclgenomics", "").replace(" ", "") == name
    assert f"    oclgenomics {meta['name'].partition(' ')[2]} " in wrapper.replace('"', "")
    listed = {key: {word for one in meta[key] for word in one} for key in ("input", "output", "params")}
    used = {key: set(re.findall(rf"{{snakemake\.{key}\.(\w+)[:}}]", wrapper)) for key in listed}
    assert used["input"] <= listed["input"]
    assert used["output"] == listed["output"]
    assert used["params"] | {"extra"} == listed["params"]
    assert files_of(example, "input", "output").keys() <= listed["input"]
    assert f'"bio/oclgenomics/{name}"' in example


def test_the_examples_of_wrappers_run(examples: dict[str, str], inputs: Path, tmp_path: Path) -> None:
    if shutil.which("snakemake") is None:
        pytest.skip("snakemake is not installed")
    for one in inputs.iterdir():
        (tmp_path / one.name).symlink_to(one)
    (tmp_path / "Snakefile").write_text("".join(f'include: "{WRAPPERS}/{name}/test/Snakefile"\n' for name in INPUTS))
    made = [path for example in examples.values() for path in files_of(example, "output", "log").values()]
    assert len(made) > 2 * len(INPUTS)
    words = ["snakemake", "--cores", "2", "--wrapper-prefix", f"file://{PACKAGING}/snakemake/", "--", *made]
    variables = put_on_path(tmp_path / "bin")
    done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / path).stat().st_size for path in made)
