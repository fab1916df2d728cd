"""Imports point one way, from commands to bytes, and never in a circle; `hls_model` stands alone but for what needs the
standard library alone. Systems have the same rooms. Everything is shipped."""

from __future__ import annotations

import ast
import configparser
import functools
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hls_model
import oclgenomics
from oclgenomics.cli import main

PACKAGE = Path(oclgenomics.__file__).parent
MODEL = Path(hls_model.__file__).parent
ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {"omega", "sdtw", "kmers", "signatures", "classify", "sweeps"}
BASE = {"__init__", "errors", "io", "lazy_names", "notices"}
DATA = {"primitives", "runtime", "sequence", "signals", "variation"} | BASE
SHARED = {"app"} | DATA
ALLOWED = {
    # when a name is first used
    "__init__": {
        "classify",
        "fpga",
        "kmers",
        "lazy_names",
        "omega",
        "runtime",
        "sdtw",
        "signatures",
        "sweeps",
        "variation",
    },
    "__main__": {"app", "cli"},
    "errors": set(),
    "lazy_names": {"errors"},
    "notices": set(),
    "io": {"errors", "io", "lazy_names", "notices"},
    "runtime": {"runtime"} | BASE,
    "primitives": {"primitives", "runtime"} | BASE,
    "variation": {"variation"} | BASE,
    "sequence": {"primitives", "runtime", "sequence"} | BASE,
    "signals": {"signals"} | BASE,
    "app": SHARED,
    "simulate": {"simulate"} | SHARED,
    "fpga": {"fpga", "omega"} | SHARED,
    "selftest": {"selftest"} | SYSTEMS | SHARED,
    "cli": {"cli", "fpga", "selftest", "simulate"} | SYSTEMS | SHARED,
}
ALLOWED |= {system: {system} | SHARED for system in SYSTEMS}
# The public verb of a system, and its package that gives work to a device.
VERB_AND_DEVICE = {
    "omega": ("scan", "device"),
    "kmers": ("count", "device"),
    "signatures": ("scan", "device"),
    "sdtw": ("align", "device"),
    "classify": ("query", "device"),
    "sweeps": ("scan", "device"),
}
NO_DEVICE = 4  # the exit status
ROOMS = ("options", "result", "plan", "reference")
PURE_ROOMS = ("options", "plan", "reference")  # they decide and define, and know an engine as a type at most
PURE_RUNTIME = "oclgenomics.runtime.memory."  # arithmetic alone
SHARED_WITH_MODEL = (
    "oclgenomics.io.atomic_file", "oclgenomics.io.packed_file", "oclgenomics.lazy_names",
)  # fmt: skip
MODEL_MODULES = sorted(MODEL.rglob("*.py"))
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "kernels_cl" not in path.parts)
EVERY_MODULE = [*MODULES, *MODEL_MODULES]


@functools.cache
def imported(path: Path, *, types: bool = True) -> frozenset[str]:
    """List the modules and names that a file imports anywhere in it, dotted; with or without those for types alone."""
    names: set[str] = set()
    for node, for_types in imports_in(path):
        if for_types and not types:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        else:
            names |= {ast.literal_eval(node.args[0])}
    return frozenset(names)


@functools.cache
def imports_in(path: Path) -> list[tuple[ast.Import | ast.ImportFrom | ast.Call, bool]]:
    """Return the imports of a file, each with whether it is for types alone."""
    found = []
    for statement in ast.parse(path.read_text()).body:
        for_types = isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
        found += [(node, for_types) for node in ast.walk(statement) if is_import(node)]
    return found


def is_import(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "late"
    return isinstance(node, (ast.Import, ast.ImportFrom))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_imports_point_one_way() -> None:
    wrong = []
    for path in MODULES:
        own = {name.split(".")[1] for name in imported(path) if name.startswith("oclgenomics.")}
        own -= {"simulate"} if "commands" in path.parts else set()  # which systems do without
        parts = {name if (PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists() else "__init__" for name in own}
        wrong += [f"{path.relative_to(PACKAGE)} imports {part}" for part in sorted(parts - ALLOWED[part_of(path)])]
    assert not wrong


def test_imports_are_absolute() -> None:
    wrong = []
    for path in EVERY_MODULE:
        relative = (node for node, _ in imports_in(path) if isinstance(node, ast.ImportFrom) and node.level)
        wrong += [f"{path}:{node.lineno}" for node in relative]
    assert not wrong


def test_no_imports_go_in_a_circle() -> None:
    """Nor by imports in functions or for types, which only hide a circle from Python."""
    names = {module_of(path) for path in EVERY_MODULE}
    needs = {module_of(path): {module_named(name, names) for name in imported(path)} for path in EVERY_MODULE}
    needs["oclgenomics"] = set()  # which offers names of all others, when they are asked for
    reached = {name: reachable(name, needs) for name in names}
    circles = {frozenset(other for other in reached[name] if name in reached.get(other, ())) for name in names}
    assert not [sorted(circle) for circle in circles if circle]


def reachable(start: str, needs: dict[str, set[str]]) -> set[str]:
    """Return what a module imports, directly or by others."""
    found, waiting = set[str](), [start]
    while waiting:
        new = needs.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def module_named(name: str, modules: set[str]) -> str:
    """Return the module that an imported name is, or comes from; "" where it is none of ours."""
    return next((own for own in (name, name.rpartition(".")[0]) if own in modules), "")


def test_systems_have_the_same_rooms() -> None:
    wrong = []
    for system in sorted(name for name in SYSTEMS if (PACKAGE / name).is_dir()):
        if system not in VERB_AND_DEVICE:
            wrong.append(f"{system} has no verb and no package on the device here")
            continue
        verb, device = VERB_AND_DEVICE[system]
        there = {path.stem for path in (PACKAGE / system).iterdir()}  # a room is a module, or a package of few
        wrong += [f"{system}/{room}" for room in ROOMS if room not in there]
        if verb not in importlib.import_module(f"oclgenomics.{system}").__all__:
            wrong.append(f"{system} does not offer {verb}")
        if not any(".launch" in path.read_text() for path in (PACKAGE / system / device).rglob("*.py")):
            wrong.append(f"{system}/{device} launches nothing")
    assert not wrong


def test_pure_rooms_need_no_device() -> None:
    wrong = []
    for path in MODULES:
        if part_of(path) in SYSTEMS and module_of(path).split(".")[2:3] in [[room] for room in PURE_ROOMS]:
            names = {name for name in imported(path, types=False) if not name.startswith(PURE_RUNTIME)}
            wrong += [f"{module_of(path)} imports {name}" for name in names if name.startswith("oclgenomics.runtime")]
    assert not wrong


def test_only_fpga_and_the_commands_know_the_model() -> None:
    outside = [path for path in MODULES if part_of(path) not in ("cli", "fpga")]
    assert not [path for path in outside if "hls_model" in {name.split(".")[0] for name in imported(path)}]


def test_the_model_stands_alone() -> None:
    """It draws nothing and runs no command; the old spelling of its commands leads to those of `oclgenomics`."""
    wrong = []
    for path in MODEL_MODULES:
        names = {name for name in imported(path) if not name.startswith(SHARED_WITH_MODEL)}
        roots = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
        if path != MODEL / "__main__.py" and not roots <= {"hls_model", "numpy"}:
            wrong.append(path.relative_to(MODEL).as_posix())
    assert not wrong


def test_the_core_of_the_model_does_without_the_extras() -> None:
    """It takes what it can do without from one place, when it needs it."""
    core = [path for path in MODEL_MODULES if not path.is_relative_to(MODEL / "extras")]
    names = {name for path in core for name in imported(path) if name.startswith("hls_model.extras")}
    assert names == {"hls_model.extras"}


def test_what_the_model_shares_needs_the_standard_library_alone() -> None:
    shared = [path for path in MODULES if module_of(path).startswith(SHARED_WITH_MODEL) and path.stem != "figures"]
    assert len(shared) > 2
    names = {name for path in [*shared, PACKAGE / "errors.py"] for name in imported(path)}
    others = {name for name in names if not name.startswith((*SHARED_WITH_MODEL, "oclgenomics.errors"))}
    assert {name.split(".")[0] for name in others} <= set(sys.stdlib_module_names)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def only_for_types(path: Path, module: str) -> bool:
    """Whether a module is imported under TYPE_CHECKING and nowhere else."""
    return not any(name.split(".")[0] == module for name in imported(path, types=False))


def test_only_the_runtime_talks_to_pyopencl() -> None:
    assert not [path for path in MODULES if part_of(path) != "runtime" and not only_for_types(path, "pyopencl")]


HEAVY = ("numpy", "pyopencl", "matplotlib", "tskit", "zarr", "pyarrow", "plotly", "pandas")
# One process for all helps, as its start takes longest: what is imported stays, so the first to fail is named.
ALL_HELPS = f"""
import contextlib, io, json, sys
from oclgenomics.cli.main import main
for words in json.loads(sys.argv[1]):
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(said):
        status = main([*words, "--help"])
    said.seek(0)
    wrong = [f"exit status {{status}}"] * bool(status) + [name for name in {HEAVY!r} if name in sys.modules]
    wrong += ["no usage"] * (not said.read().startswith(" ".join(["usage: oclgenomics", *words]) + " "))
    if wrong:
        sys.exit(f"{{' '.join(words)}}: {{', '.join(wrong)}}")
print("all")
"""


def test_no_help_imports_anything_heavy() -> None:
    lines = [[], *([name] for name in main.COMMANDS)]
    for name in main.SYSTEMS:
        actions = main._parser()._actions[-1].choices[name]._actions[-1].choices
        lines += [[name, action] for action in actions]
    assert len(lines) > 60
    words = [sys.executable, "-c", ALL_HELPS, json.dumps(lines)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", "all\n")


MOST = {
    "--version": (21, 155), "--help": (21, 155), "fpga --help": (25, 160), "fpga project --help": (65, 185),
    "kmers --help": (46, 190),
    "kmers count --help": (30, 175), "omega scan --help": (36, 180),
}  # fmt: skip


@pytest.mark.parametrize("line", MOST)
def test_starts_import_little(line: str) -> None:
    """At most so many modules of ours, and so many in all."""
    code = f"import sys; from oclgenomics.cli.main import main; main({line.split()!r}); "
    code += "print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = done.stderr.split()
    ours = [name for name in names if name.startswith(("oclgenomics", "hls_model"))]
    assert len(ours) <= MOST[line][0]
    assert len(names) <= MOST[line][1]


UNNEEDED_TO_COUNT = {
    "io.inflate", "io.joined_source", "kmers.device.encode_gpu", "kmers.device.look_up", "kmers.device.read_filter",
    "kmers.device.reader", "kmers.device.sort_counter", "primitives.sorting", "sequence.letters",
    "sequence.rewritten_source",
}  # fmt: skip
if (os.cpu_count() or 1) <= 8:  # more units have larger tables, which are staged
    UNNEEDED_TO_COUNT.add("runtime.staging")
ROOMS_UNNEEDED_TO_COUNT = ("kmers.analysis.", "kmers.formats.", "kmers.plots.", "kmers.sets.")


def test_counting_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    """A plain file of FASTQ, on a CPU where there is one."""
    (tmp_path / "x.fq").write_text("@r\nACGTACGTTGCA\n+\nIIIIIIIIIIII\n")
    words = ["kmers", "count", "-q", "-k", "5", "-d", "cpu", "-o", str(tmp_path / "x.db"), str(tmp_path / "x.fq")]
    code = f"import sys; from oclgenomics.cli.main import main; status = main({words!r}); "
    code += "print(*(name for name in sys.modules if name.startswith('oclgenomics.'))); sys.exit(status)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode == NO_DEVICE:
        pytest.skip("no CPU device")
    assert done.returncode == 0, done.stderr
    names = {name.removeprefix("oclgenomics.") for name in done.stdout.split()}
    assert "kmers.device.bin_counter" in names
    assert sorted(names & UNNEEDED_TO_COUNT) == []
    assert not [name for name in names if name.startswith(ROOMS_UNNEEDED_TO_COUNT)]


def test_a_context_is_begun_before_anything_is_imported_that_takes_long() -> None:
    code = """
import argparse, sys
from oclgenomics import runtime
from oclgenomics.app.commands import begin_engine
runtime.begin_gpu = lambda device: print("numpy" in sys.modules, device)
begin_engine(argparse.Namespace(device="1"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False 1\n"


def test_counting_loads_no_library_beside_those_of_opencl() -> None:
    """Python would stand still until the linker, at work in a thread, is done with those."""
    code = """
import sys
from importlib.machinery import EXTENSION_SUFFIXES
import argparse
from oclgenomics.app.commands import begin_engine
from oclgenomics.kmers.commands import count
begin_engine(argparse.Namespace(device=None))
before = set(sys.modules)
import oclgenomics.kmers.device.counting
import oclgenomics.kmers.api
files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
print(*(name for name, file in files.items() if file.endswith(tuple(EXTENSION_SUFFIXES))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.split()


@pytest.mark.parametrize("system", ["", *sorted(SYSTEMS)])
def test_every_name_that_is_offered_is_there(system: str) -> None:
    code = f"import oclgenomics.{system} as offers" if system else "import oclgenomics as offers"
    code += "; [getattr(offers, name) for name in offers.__all__]; assert set(offers.__all__) <= set(dir(offers))"
    code += "; assert not hasattr(offers, 'no_such_name')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_everything_is_shipped() -> None:
    """`setup.cfg` finds packages, if each folder of modules is one, and data by how their names end."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    patterns = setup["options.package_data"]["*"].replace(",", " ").split()
    kernels = PACKAGE / "kernels_cl"
    folders = (ROOT / "kernels_cl", kernels.resolve())
    ours, shipped = ({path.name for path in folder.rglob("*.cl*")} for folder in folders)
    assert ours == shipped  # a link in a checkout
    data = [path for root in (PACKAGE, MODEL, kernels) for path in root.rglob("*") if path.is_file()]
    assert {".cl", ".clh", ".csv", ".v", ".vh"} <= {path.suffix for path in data}
    for path in data:
        if path.suffix not in (".py", ".pyc") and path.parent != PACKAGE / "signals" / "models":
            assert f"*{path.suffix}" in patterns or path.name in patterns, path
    for path in EVERY_MODULE:
        assert (path.parent / "__init__.py").exists(), path
