"""The sdist and the wheel hold what they have to, and the wheel works away from the checkout."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import jsonschema
import pytest
import yaml
from helpers.shared_builds import built_folder

import oclgenomics

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("oclgenomics", "hls_model")
NOT_SOURCES = (
    ".git", ".venv", ".ci-venv", ".home", "*.out", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "build",
    "dist", "_build", "api",
)  # fmt: skip
NOT_IN_SDIST = {".gitignore", ".ci/run"}
LICENCES = {"LICENSE", "oclgenomics/signals/models/LICENSE-MPL-2.0.md", "oclgenomics/signals/models/NOTICE.md"}
NAME = f"oclgenomics-{oclgenomics.__version__}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources (`tree`), their sdist and the wheel of that (`dist`), and the tree's own wheel."""
    return built_folder(tmp_path_factory, "packages", build_packages)


def build_packages(folder: Path) -> None:
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=ignored)
    (tree / "docs" / "_build").mkdir()  # what must not be taken along
    for stray in ("docs/_build/index.html", "tests/x.pyc"):
        (tree / stray).write_text("")
    build("sdist", tree, folder / "dist")
    build("wheel", tree, folder / "direct")
    with tarfile.open(folder / "dist" / f"{NAME}.tar.gz") as archive:
        archive.extractall(folder / "unpacked", filter="data")
    build("wheel", folder / "unpacked" / NAME, folder / "dist")
    shutil.rmtree(folder / "unpacked")
    shutil.rmtree(tree / "build", ignore_errors=True)
    shutil.rmtree(tree / "docs" / "_build")
    (tree / "tests" / "x.pyc").unlink()


def build(kind: str, tree: Path, target: Path) -> None:
    """Build a package as `python -m build --no-isolation` does, without the processes that ask what it needs."""
    target.mkdir(exist_ok=True)
    program = f"from setuptools import build_meta; build_meta.build_{kind}({str(target)!r})"
    done = subprocess.run([sys.executable, "-c", program], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def ignored(place: str, names: list[str]) -> set[str]:
    """What is no source; `api` is a folder of pages in docs, and a module elsewhere."""
    patterns = NOT_SOURCES if Path(place) == ROOT / "docs" else NOT_SOURCES[:-1]
    return shutil.ignore_patterns(*patterns)(place, names)


def files_of(tree: Path, follow: bool) -> dict[str, Path]:
    """The files of the tree without those that setuptools wrote there."""
    found = {}
    for place, folders, names in os.walk(tree, followlinks=follow):
        folders[:] = [name for name in folders if not name.endswith(".egg-info")]
        found |= {str(Path(place, name).relative_to(tree)): Path(place, name) for name in names}
    return found


def wheel_of(folder: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(folder / f"{NAME}-py3-none-any.whl") as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def test_the_wheel_holds_all_files_of_the_packages_and_their_licences(built: Path) -> None:
    wheel = wheel_of(built / "dist")
    modules = {name: content for name, content in wheel.items() if name.startswith(tuple(f"{p}/" for p in PACKAGES))}
    sources = {name: path for name, path in files_of(built / "tree", True).items() if name.split("/")[0] in PACKAGES}
    assert set(modules) == set(sources)
    assert {name for name, content in modules.items() if content != sources[name].read_bytes()} == set()
    endings = {name.rpartition(".")[2] for name in modules}
    assert {"py", "typed", "cl", "clh", "v", "vh", "cpp", "model", "toml", "csv", "html", "js", "css"} <= endings
    shared = {name for name in wheel if name.startswith(f"{NAME}.data/")}
    made = {name for name in files_of(built / "tree", True) if name.startswith("packaging/share/")}
    assert {name.removeprefix(f"{NAME}.data/data/") for name in shared} == {
        name.removeprefix("packaging/") for name in made
    }
    told = wheel.keys() - modules.keys() - shared
    own = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"}
    assert {name.removeprefix(f"{NAME}.dist-info/") for name in told} == own | {f"licenses/{name}" for name in LICENCES}


def test_the_sdist_holds_the_tests_and_all_else_but_how_it_is_developed(built: Path) -> None:
    with tarfile.open(built / "dist" / f"{NAME}.tar.gz") as archive:
        sdist = {member.name.removeprefix(f"{NAME}/") for member in archive if member.isfile()}
        assert all(member.isfile() or member.isdir() for member in archive)  # links do not work everywhere
    made = {name for name in sdist if name == "PKG-INFO" or name.startswith("oclgenomics.egg-info/")}
    kernels = {name for name in files_of(built / "tree", True) if name.startswith("oclgenomics/kernels_cl/")}
    tree = files_of(built / "tree", False).keys()
    assert kernels
    assert sdist - made == tree - NOT_IN_SDIST - {"oclgenomics/kernels_cl"} | kernels


def test_the_sdist_builds_the_wheel_that_the_tree_builds(built: Path) -> None:
    assert wheel_of(built / "dist") == wheel_of(built / "direct")


def test_metadata(built: Path) -> None:
    metadata = message_from_bytes(wheel_of(built / "dist")[f"{NAME}.dist-info/METADATA"])
    assert metadata["Version"] == oclgenomics.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause AND MPL-2.0"
    assert set(metadata.get_all("License-File", [])) == LICENCES
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert set(metadata.get_all("Provides-Extra", [])) == set(setup["options.extras_require"])


def test_the_citation_is_valid_and_of_this_version() -> None:
    schema = json.loads((ROOT / "tests/data/citation/cff-1.2.0.schema.json").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    jsonschema.Draft7Validator(schema).validate(citation)
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert citation["version"] == oclgenomics.__version__
    assert citation["title"] == setup["metadata"]["name"]
    assert citation["authors"] == [{"name": setup["metadata"]["author"]}]
    assert citation["license"] == setup["metadata"]["license_expression"].partition(" AND ")[0]


@pytest.mark.parametrize("tool", [("twine", "check", "--strict"), ("check_wheel_contents",)])
def test_tools_find_nothing_wrong(built: Path, tool: tuple[str, ...]) -> None:
    packages = [str(path) for path in (built / "dist").iterdir() if tool[0] == "twine" or path.suffix == ".whl"]
    command = [sys.executable, "-m", *tool, *packages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_works_away_from_the_checkout(built: Path, tmp_path: Path) -> None:
    place = tmp_path / "installed"
    with zipfile.ZipFile(built / "dist" / f"{NAME}-py3-none-any.whl") as wheel:
        wheel.extractall(place)
    environment = os.environ | {"PYTHONPATH": str(place)}

    def run(*words: str) -> str:
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = run("-c", "import oclgenomics, hls_model; print(oclgenomics.__file__, hls_model.__file__)").split()
    assert found == [str(place / package / "__init__.py") for package in PACKAGES]
    (tmp_path / "reads.fa").write_text(">a\nACGTACGTAC\n")
    run("-m", "oclgenomics", "kmers", "count", "-q", "-k", "3", "reads.fa", "-o", "reads.db")
    assert run("-m", "oclgenomics", "kmers", "dump", "reads.db") == "ACG\t4\nGTA\t4\n"
    assert "Table I" in run("-m", "oclgenomics", "fpga", "table1")
    words = ["simulate", "signals", "--seed", "1", "--length", "2000", "--reads", "2", "-o", "reads.npz"]
    run("-m", "oclgenomics", *words)
