"""Run the tests of what has changed.

    python tests/affected.py [--since REV] [--list] [PYTEST ARGUMENTS]

Files that differ from REV (default: HEAD, so what is not committed yet) are affected, and all that imports them,
directly or not. Names that a package offers lazily lead to the module that has them. A kernel affects the modules that
name its file, a header the kernels that include it, and a command the tests of its system that run the command line. A
change of something else that tests read (a document, data) affects the tests that name it, and a change of any page of
the documentation those of all pages.
"""

from __future__ import annotations

import argparse
import ast
import functools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ("oclgenomics", "hls_model", "tests")
EVERYTHING = {"tests/conftest.py", "setup.cfg", "pyproject.toml"}
MAIN = "oclgenomics/cli/main.py"
ANY_COMMAND = ("app", "cli", "fuzz")  # folders of tests that run commands of all systems
PAGES = ("README.md", "CONTRIBUTING.md")  # and all of docs/


def main() -> int:
    """Name the tests, or run them; the exit status is pytest's, and 0 where nothing is affected."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--since", metavar="REV", default="HEAD", help="what to compare with (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="name the files of tests and run nothing")
    args, words = parser.parse_known_args()
    tests = affected_tests(changed_files(args.since))
    if args.list or not tests:
        print("\n".join(tests) or "no test is affected")
        return 0
    return subprocess.run([sys.executable, "-m", "pytest", *words, *tests], cwd=ROOT, check=False).returncode


def changed_files(since: str) -> set[str]:
    """Return the paths that differ from a revision, those that are gone and those that are new."""
    there = ["git", "diff", "--name-only", "--no-renames", since]
    new = ["git", "ls-files", "--others", "--exclude-standard"]
    runs = (subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True) for words in (there, new))
    return {line for run in runs for line in run.stdout.splitlines()}


def affected_tests(changed: Iterable[str]) -> list[str]:
    """Return the files of tests that changed files affect, sorted."""
    changed = set(changed)
    tests = sorted(path for path in paths() if re.search(r"(^|/)test_[^/]*\.py$", path))
    if changed & EVERYTHING:
        return tests
    found, waiting = set[str](), [*changed, *(test for path in changed for test in naming(path))]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += users()[path]
    return [test for test in tests if test in found]


@functools.cache
def paths() -> frozenset[str]:
    """Return the paths of all modules, tests and kernels."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *CODE, "kernels_cl"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return frozenset(path for path in listed if path.endswith((".py", ".cl", ".clh")) and (ROOT / path).is_file())


@functools.cache
def users() -> defaultdict[str, set[str]]:
    """Map each file to those that need it."""
    found = defaultdict(set)
    for path in paths():
        for used in uses(path):
            found[used].add(path)
    return found


def uses(path: str) -> Iterator[str]:
    """Yield the files that one needs: what it imports, includes or names, and the commands that a test may run."""
    text = (ROOT / path).read_text()
    if not path.endswith(".py"):
        yield from (f"kernels_cl/{name}" for name in re.findall(r'#include "([^"]+)"', text))
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from module_files(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if "found_in(" in text and node.col_offset:
                continue  # for type checkers: who uses such a name needs its own module
            for alias in node.names:
                yield from name_files(node.module, alias.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from name_files(f"oclgenomics.{node.value.id}", node.attr, guess=True)
        elif isinstance(node, ast.Call) and is_named(node.func, "late") and isinstance(node.args[0], ast.Constant):
            yield from module_files(str(node.args[0].value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".cl"):
            yield f"kernels_cl/{node.value}"
        elif isinstance(node, ast.JoinedStr) and words_of(node)[-1].endswith(".cl"):  # one of several
            folder = words_of(node)[0].partition("/")[0]
            yield from (file for file in paths() if file.startswith(f"kernels_cl/{folder}"))
    if path.startswith("tests/") and "main" in text and MAIN in set(name_files("oclgenomics.cli.main", "main")):
        folder = path.split("/")[1]
        systems = {file.split("/")[1] for file in paths() if "/commands/" in file}
        for system in systems if folder in ANY_COMMAND else systems & {folder}:
            yield from (file for file in paths() if file.startswith(f"oclgenomics/{system}/commands/"))


def words_of(node: ast.JoinedStr) -> list[str]:
    """Return the parts of an f-string that stand in it as they are, and something for its values."""
    return [str(getattr(part, "value", "")) for part in node.values] or [""]


def is_named(node: ast.expr, name: str) -> bool:
    """Say whether an expression is a name and nothing else."""
    return isinstance(node, ast.Name) and node.id == name


def module_files(module: str) -> Iterator[str]:
    """Yield the file of a module, by its dotted name; `helpers` lies among the tests."""
    base = ("tests/" if module.split(".")[0] == "helpers" else "") + module.replace(".", "/")
    yield from (path for path in (f"{base}.py", f"{base}/__init__.py") if path in paths())


def name_files(module: str, name: str, *, guess: bool = False) -> Iterator[str]:
    """Yield the files of a name that is imported from a module, or that a package offers."""
    if f"{module}.{name}" in offered():
        yield from module_files(offered()[f"{module}.{name}"])
    elif not guess:
        yield from module_files(f"{module}.{name}")
        yield from module_files(module)


@functools.cache
def offered() -> dict[str, str]:
    """Map the names that packages offer lazily to the modules that have them."""
    found = {}
    for path in paths():
        if path.endswith("/__init__.py") and "found_in(" in (text := (ROOT / path).read_text()):
            package = path.removesuffix("/__init__.py").replace("/", ".")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and is_named(node.func, "found_in"):
                    for home, names in ast.literal_eval(node.args[1]).items():
                        module = home if home.startswith("oclgenomics.") else f"{package}.{home}"
                        found |= {f"{package}.{n}": module if home else f"{package}.{n}" for n in names.split()}
    return found


def naming(path: str) -> list[str]:
    """Return the tests that name a file that is no code, by its name or its folder's."""
    if path in paths() or path.startswith(CODE[:2]):
        return []
    words = [Path(path).name] + ([Path(path).parent.name] if path.startswith("tests/") else [])
    tests = {test: (ROOT / test).read_text() for test in paths() if test.startswith("tests/")}
    page = path.startswith("docs/") or path in PAGES
    return [
        test
        for test, text in tests.items()
        if any(word in text for word in words) or (page and test.startswith("tests/docs/"))
    ]


if __name__ == "__main__":
    sys.exit(main())
