"""Imports point one way: cli -> systems -> primitives and formats -> runtime -> errors; only cli knows the FPGA model,
which stands alone but for `oclgenomics.commandkit`, which needs the standard library alone. All are shipped."""

from __future__ import annotations

import ast
import configparser
import subprocess
import sys
from pathlib import Path

import pytest

import hls_model
import oclgenomics
import oclgenomics.commandkit
from oclgenomics.runtime.source import source_folder

PACKAGE = Path(oclgenomics.__file__).parent
ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {"omega", "sdtw", "kmers", "signatures", "classify"}
BASE = {"commandkit", "errors", "notices", "plot_style", "threads", "__init__"}
ALLOWED = {
    "commandkit": {"commandkit"},
    "errors": set(),
    "notices": set(),
    "threads": set(),
    "plot_style": {"commandkit", "errors"},
    "__init__": set(),
    "runtime": {"runtime"} | BASE,
    "primitives": {"primitives", "runtime"} | BASE,
    "formats": {"formats"} | BASE,
    "sequence": {"sequence", "primitives", "formats", "runtime"} | BASE,
    "cli": {"cli", "sequence", "primitives", "formats", "runtime"} | SYSTEMS | BASE,
    "__main__": {"cli", "commandkit"},
}
ALLOWED |= {system: {system, "sequence", "primitives", "formats", "runtime"} | BASE for system in SYSTEMS}
MODEL = Path(hls_model.__file__).parent
MODEL_MODULES = sorted(MODEL.rglob("*.py"))
KIT_MODULES = sorted((PACKAGE / "commandkit").glob("*.py"))
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "kernels_cl" not in path.parts)


def imported(path: Path, package: Path = PACKAGE) -> set[str]:
    """List the modules a file imports anywhere in it, as dotted names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [package.name, *path.relative_to(package).parts[: -node.level]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    own = {name.split(".")[1] for name in imported(path) if name.startswith("oclgenomics.")}
    parts = {name if (PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists() else "__init__" for name in own}
    assert parts <= ALLOWED[part_of(path)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_the_commands_know_the_model(path: Path) -> None:
    assert part_of(path) == "cli" or not [name for name in imported(path) if name.split(".")[0] == "hls_model"]


@pytest.mark.parametrize("path", MODEL_MODULES, ids=lambda path: path.relative_to(MODEL).as_posix())
def test_the_model_stands_alone(path: Path) -> None:
    names = {name for name in imported(path, MODEL) if not name.startswith("oclgenomics.commandkit")}
    roots = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert roots <= {"hls_model", "numpy", "matplotlib"}
    if "matplotlib" in roots:
        at_import = {
            name.split(".")[0]
            for node in ast.parse(path.read_text()).body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
        }
        assert "matplotlib" not in at_import  # but in functions, or for types
        assert path.parent.name == "plots" or only_for_types(path, "matplotlib")


@pytest.mark.parametrize("path", KIT_MODULES, ids=lambda path: path.name)
def test_what_both_build_on_needs_the_standard_library_alone(path: Path) -> None:
    names = {name for name in imported(path) if not name.startswith("oclgenomics.commandkit")}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def only_for_types(path: Path, module: str) -> bool:
    """Whether a module is imported under TYPE_CHECKING and nowhere else."""
    tree = ast.parse(path.read_text())
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    tree.body = [node for node in tree.body if node not in guarded]
    return f"import {module}" not in ast.unparse(tree) and f"from {module}" not in ast.unparse(tree)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_the_runtime_talks_to_pyopencl(path: Path) -> None:
    if part_of(path) == "runtime":
        return
    tree = ast.parse(path.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and id(node) not in for_types:
            assert "pyopencl" not in ast.unparse(node)


@pytest.mark.parametrize("words", [[], ["devices"], ["fpga"], ["kmers"], ["omega"], ["simulate"]])
def test_help_does_not_import_pyopencl(words: list[str]) -> None:
    code = f"import sys; from oclgenomics.cli.main import main; status = main({[*words, '--help']!r}); "
    code += "sys.exit(status or bool({'pyopencl', 'matplotlib', 'tskit', 'zarr'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage: oclgenomics" in done.stdout


def test_every_package_and_kernel_is_shipped() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = set(setup["options"]["packages"].split())
    packages = {"oclgenomics." + ".".join(path.parent.relative_to(PACKAGE).parts) for path in MODULES}
    packages |= {".".join(["hls_model", *path.parent.relative_to(MODEL).parts]) for path in MODEL_MODULES}
    assert {name.rstrip(".") for name in packages} <= listed
    folder = source_folder()
    for path in [*folder.rglob("*.cl"), *folder.rglob("*.clh")]:
        name = ".".join(["oclgenomics", "kernels_cl", *path.parent.relative_to(folder).parts])
        assert name in listed
        assert f"*{path.suffix}" in setup["options.package_data"][name].replace(",", " ").split()
