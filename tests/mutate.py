"""Change the program in one place at a time, and see whether its tests notice: a measure of the tests, run by hand.

    python tests/mutate.py [--seed N] [--count N] [--only PATH] [--jobs N] [--list]

Fifty places are drawn among operators, comparisons, constants and statements of `oclgenomics` and `kernels_cl`, two of
five in kernels. For each, the tests of its folder run on a changed copy of the tree until the first one fails. A change
that none notices is shown with its line: either a test is missing, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import functools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
KERNEL_SHARE = 0.4
MIN_LIMIT_S, LIMIT_TIMES = 120, 4  # a test run may take so long, or so many times what it takes unchanged

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "+"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "left": "right", "right": "left"}

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE | re.DOTALL)
_BARRIER = re.compile(r"\bbarrier\([^)]*\);")
_OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|<<|>>|&&|\|\||[-+*/%<>&|])(?= )")
_NUMBER = re.compile(r"(?<![\w.])(\d+)(?=[uUlL]*\b)(?![.\w])(?<!\d\.)")
_STATEMENT = re.compile(
    r"^[ \t]+(?!return|const|else)[\w\[\]>.*-]+(?: [-+|&^]?= [^;{}\n]*|\+\+|\([^;{}\n]*\));$", re.MULTILINE
)
_INVALID = re.compile(r"does not compile on|SyntaxError")
_KERNEL_SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "<<": ">>",
    ">>": "<<",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "+",
    "&": "|",
    "|": "&",
}


@dataclass(frozen=True)
class Mutation:
    """Characters `begin` to `end` of a file, and what takes their place."""

    path: str
    begin: int
    end: int
    new: str

    def apply(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.end :]

    def describe(self) -> str:
        text = (ROOT / self.path).read_text()
        number = text.count("\n", 0, self.begin) + 1
        line = text.splitlines()[number - 1].strip()
        old = " ".join(text[self.begin : self.end].split())
        return f"{self.path}:{number}: {old[:60]!r} -> {self.new!r} in: {line[:100]}"


# Where the program can be changed


class _Places(ast.NodeVisitor):
    """Collects the mutations of one module; annotations, docstrings and imports for them stay as they are."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.found = path, text, list[Mutation]()
        lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))
        self._lines = lines

    def _at(self, line: int, column: int) -> int:
        """Place of a line and a column, which the parser counts in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _add(self, begin: int, end: int, new: str) -> None:
        self.found.append(Mutation(self.path, begin, end, new))

    def _swap(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Exchange the operator between two operands."""
        begin, end = self._end(left), self._begin(right)
        match = re.search(rf"(?<![\w=<>]){re.escape(old)}(?![\w=<>])", self.text[begin:end])
        if match:
            self._add(begin + match.start(), begin + match.end(), new)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and not isinstance(node.left, ast.JoinedStr):
            self._swap(node.left, node.right, *ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self._swap(left, right, *COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._swap(left, right, old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.Not, ast.USub)):
            begin = self._begin(node)
            self._add(begin, begin + len("not" if isinstance(node.op, ast.Not) else "-"), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(self._begin(node), self._end(node), str(not node.value))
        elif isinstance(node.value, int):
            self._add(self._begin(node), self._end(node), str(node.value + 1))

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NAMES and isinstance(node.ctx, ast.Load):
            self._add(self._begin(node), self._end(node), NAMES[node.id])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass  # messages, whose exact words tests need not hold; and their parts have no places of their own

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add(self._begin(node), self._end(node), "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(self._begin(node), self._end(node), "pass")
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(self._begin(node), self._end(node), "pass")

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.body:
            self.visit(part)


def python_mutations(path: str, text: str) -> list[Mutation]:
    """List the mutations of a module."""
    places = _Places(path, text)
    places.visit(ast.parse(text))
    return places.found


def kernel_mutations(path: str, text: str) -> list[Mutation]:
    """List the mutations of a kernel source; comments and directives stay as they are."""
    code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)
    found = [Mutation(path, match.start(), match.end(), ";") for match in _BARRIER.finditer(code)]
    for match in _OPERATOR.finditer(code):
        if not re.match(r"[-+*&] ?\w+(, |\))", code[match.start() :]) or match[1] not in "*&":  # nor pointers
            found.append(Mutation(path, match.start(), match.end(), _KERNEL_SWAPS[match[1]]))
    for match in _NUMBER.finditer(code):
        found.append(Mutation(path, match.start(1), match.end(1), str(int(match[1]) + 1)))
    for match in _STATEMENT.finditer(code):
        begin = match.start() + len(match[0]) - len(match[0].lstrip())
        if "barrier(" not in match[0]:
            found.append(Mutation(path, begin, match.end(), ";"))
    return found


@functools.cache
def all_mutations(only: str) -> tuple[list[Mutation], list[Mutation]]:
    """List the mutations of the modules and of the kernels whose path begins so."""
    python, kernels = list[Mutation](), list[Mutation]()
    for folder, pattern, lister, found in (
        ("oclgenomics", "*.py", python_mutations, python),
        ("kernels_cl", "*.cl*", kernel_mutations, kernels),
    ):
        for file in sorted((ROOT / folder).rglob(pattern)):
            path = file.relative_to(ROOT).as_posix()
            if path.startswith(only):
                found += lister(path, file.read_text())
    return python, kernels


def draw(only: str, count: int, seed: int) -> list[Mutation]:
    """Draw different mutations, so that a seed always draws the same ones of the same program."""
    chance = random.Random(seed)
    python, kernels = all_mutations(only)
    for_kernels = round(count * KERNEL_SHARE) if python else count
    drawn = chance.sample(kernels, min(for_kernels, len(kernels)))
    drawn += chance.sample(python, min(count - len(drawn), len(python)))
    chance.shuffle(drawn)
    return drawn


# Which tests look at it


def folders_of(path: str) -> tuple[str, ...]:
    """Name the folders of tests that look at a file."""
    folder = path.split("/")[1]
    if folder == "common":
        return ("tests/runtime", "tests/primitives")
    if (ROOT / "tests" / folder).is_dir():
        return (f"tests/{folder}",)
    return ("tests/runtime", "tests/cli", "tests/variation")  # what many rely on


def tests_of(path: str) -> tuple[str, ...]:
    """Name the tests that look at a file, those called like it first."""
    folders = folders_of(path)
    like = [file for folder in folders for file in (ROOT / folder).glob(f"test_{Path(path).stem}*.py")]
    return (*sorted(file.relative_to(ROOT).as_posix() for file in like), *folders)


def run_tests(tree: Path, tests: tuple[str, ...], limit_s: float) -> str:
    """Run tests until one fails; return 'killed', 'survived', 'timeout' or 'invalid': no program."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    # No compiled modules, which are told from others by their size and second of change only.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            command, cwd=tree, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        ) as process,
    ):
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            _end_session(process)
        output.seek(0)
        invalid = _INVALID.search(output.read())
    return "survived" if status == 0 else "invalid" if invalid else "killed"


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """End what the tests have started, which may outlive them."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


# Trees to change


def copy_tree(target: Path) -> Path:
    """Copy what git knows and does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def judge(tree: Path, mutation: Mutation, limit_s: float) -> str:
    """Run the tests of a mutation on a tree, and leave the tree as it was."""
    file = tree / mutation.path
    text = file.read_text()
    file.write_text(mutation.apply(text))
    try:
        return run_tests(tree, tests_of(mutation.path), limit_s)
    finally:
        file.write_text(text)


def limits(tree: Path, mutations: list[Mutation]) -> dict[tuple[str, ...], float]:
    """Time the tests on the program as it is; they have to pass."""
    found: dict[tuple[str, ...], float] = {}
    for tests in dict.fromkeys(folders_of(mutation.path) for mutation in mutations):
        start = time.perf_counter()
        if run_tests(tree, tests, 3600) != "survived":
            raise SystemExit(f"{' '.join(tests)} fails on the program as it is")
        found[tests] = max(MIN_LIMIT_S, LIMIT_TIMES * (time.perf_counter() - start))
        print(f"{' '.join(tests)} passes in {time.perf_counter() - start:.0f} s", flush=True)
    return found


def judge_all(mutations: list[Mutation], jobs: int) -> Iterator[tuple[Mutation, str, float]]:
    """Judge mutations, some at a time, each in a tree of its own."""
    with tempfile.TemporaryDirectory(prefix="oclgenomics-mutate-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            trees.put(copy_tree(Path(folder) / str(number)))
        tree = trees.get()
        limit = limits(tree, mutations)
        trees.put(tree)

        def work(mutation: Mutation) -> tuple[Mutation, str, float]:
            tree, start = trees.get(), time.perf_counter()
            try:
                verdict = judge(tree, mutation, limit[folders_of(mutation.path)])
            finally:
                trees.put(tree)
            return mutation, verdict, time.perf_counter() - start

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(work, mutations)


def main() -> int:
    """Draw mutations, judge them and report."""
    parser = argparse.ArgumentParser(description="Change the program in one place at a time and run its tests.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--only", default="", help="paths that begin so, such as kernels_cl/omega")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="say what would be changed, and change nothing")
    options = parser.parse_args()
    mutations = draw(options.only, options.count, options.seed)
    if options.list:
        print(*(mutation.describe() for mutation in mutations), sep="\n")
        return 0
    verdicts: Counter[str] = Counter()
    for mutation, verdict, seconds in judge_all(mutations, options.jobs):
        verdicts[verdict] += 1
        print(f"{verdict:8} {seconds:4.0f} s  {mutation.describe()}", flush=True)
    noticed, valid = verdicts["killed"] + verdicts["timeout"], len(mutations) - verdicts["invalid"]
    print(f"\nseed {options.seed}: {noticed} of {valid} noticed, {verdicts['timeout']} of them by time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
