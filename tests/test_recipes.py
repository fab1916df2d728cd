"""The recipe for conda, as rattler-build renders it, asks for what setup.cfg asks for, by the names of conda-forge."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rattler_build import Stage0Recipe, Stage1Recipe, VariantConfig

import oclgenomics
from oclgenomics.runtime import loader

ROOT = Path(__file__).resolve().parent.parent
CONDA = ROOT / "packaging/conda"
CONDA_NAMES = {"matplotlib": "matplotlib-base", "intel-opencl-rt": None, "intel-cmplr-lib-rt": None}  # None: not there
OWN_RECIPES = {"oclgenomics", "siphash"}


@pytest.fixture
def setup() -> configparser.ConfigParser:
    found = configparser.ConfigParser()
    found.read(ROOT / "setup.cfg")
    return found


def recipe(name: str) -> Stage1Recipe:
    (variant,) = Stage0Recipe.from_file(str(CONDA / name / "recipe.yaml")).render(VariantConfig())
    return variant.recipe


def test_there_is_a_recipe_for_what_conda_forge_lacks() -> None:
    assert {path.parent.name for path in CONDA.glob("*/recipe.yaml")} == OWN_RECIPES
    for name in OWN_RECIPES:
        assert recipe(name).package.name == name


def test_it_needs_what_pip_installs(setup: configparser.ConfigParser) -> None:
    lines = [line for line in setup["options"]["install_requires"].split("\n") if line and not line.startswith("#")]
    wanted = {"python >=3.11", "pocl"}
    assert setup["options"]["python_requires"] == ">=3.11"
    for requirement in map(Requirement, lines):
        name = CONDA_NAMES.get(requirement.name, requirement.name)
        if name is None:
            assert requirement.name in loader.BUNDLED
        else:
            wanted.add(f"{name} {requirement.specifier}".strip())
    assert set(map(str, recipe("oclgenomics").requirements.run)) == wanted


def test_it_is_of_this_version_and_has_its_command_and_licences(setup: configparser.ConfigParser) -> None:
    found = recipe("oclgenomics")
    assert found.package.version == oclgenomics.__version__
    build, about = found.build.to_dict(), found.about.to_dict()
    scripts = setup["options.entry_points"]["console_scripts"].strip().split("\n")
    assert build["python"]["entry_points"] == scripts
    assert found.build.noarch == "python"
    assert about["license"] == setup["metadata"]["license_expression"]
    assert about["license_file"] == setup["metadata"]["license_files"].split()
