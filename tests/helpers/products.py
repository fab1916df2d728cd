"""Parameters that a test multiplies: some of their combinations by default, all of them with `--whole`.

A fault shows itself at one value of a parameter or where two meet, seldom only where three do. So a test marked
`pairwise` runs with each pair of values of any two of its parameters, and one marked `each_value` with each value. What
is marked `whole` runs with `--whole` only. Devices and fixtures are no parameters in this: each of them gets its share.

Of several CPU runtimes, one runs all tests. The others run those of kernels (`KERNEL_FOLDERS`) and of golden results,
and with `--every-device` all; GPUs always run all. What of these is marked `one_cpu`, a test or some of its cases, is
left to one runtime even so, unless with `--whole`: refusals, files, and more sizes of the same programs.
What is marked `other_cpus` runs on the other ones: a test of fewer examples in place of one that `one_cpu` leaves out.
Of what is marked `pairwise` the other ones run each value: which values meet is a matter of the kernels' own code, the
same everywhere, and what a runtime's compiler gets wrong shows itself at a value.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from oclgenomics.runtime import Device

__all__ = [
    "Choice",
    "covering",
    "draw_anew",
    "drawn",
    "examples",
    "is_of_kernels",
    "of_one_runtime",
    "on_one_cpu",
    "one_cpu",
    "only_whole",
    "part_to_run",
    "run_whole",
    "runs_whole",
    "tried",
]

TOGETHER = {"pairwise": 2, "each_value": 1}
KERNEL_FOLDERS = {"device", "primitives", "runtime", "sequence"}  # anywhere in the path of a test
_whole = _anew = False
Choice = tuple[int, ...]  # a number for the value of each parameter


def only_whole(*cases: Any) -> list[Any]:
    """Return cases for `pytest.mark.parametrize` that are left to `--whole`; a tuple is a value of each parameter."""
    return _marked(cases, pytest.mark.whole)


def on_one_cpu(*cases: Any) -> list[Any]:
    """Return cases for `pytest.mark.parametrize` that one of several CPU runtimes runs; a tuple as in `only_whole`."""
    return _marked(cases, pytest.mark.one_cpu)


def _marked(cases: Iterable[Any], mark: pytest.MarkDecorator) -> list[Any]:
    return [pytest.param(*(c if isinstance(c, tuple) else (c,)), marks=mark) for c in cases]


def run_whole() -> None:
    """Have all that is drawn drawn from the whole."""
    global _whole
    _whole = True


def runs_whole() -> bool:
    """Say whether this run is one with `--whole`."""
    return _whole


def drawn(few: st.SearchStrategy[Any], *, whole: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of Hypothesis that draws from few values, and with `--whole` from all.

    For values that each have kernels of their own, which take a second or more to compile.
    """
    return st.deferred(lambda: whole if _whole else few)


def tried(few: Collection[int], *, whole: Collection[int]) -> Collection[int]:
    """Return the few numbers that a test goes through, or with `--whole` all.

    Call it in the test: what is run is known only after tests have been imported.
    """
    return whole if _whole else few


def draw_anew() -> None:
    """Have examples drawn that are others each time, and in full number."""
    global _anew
    _anew = True


def examples(number: int) -> int:
    """Return of how many examples of Hypothesis a test is, a third by default, where these are the same in each run.

    For examples of which each takes 10 ms or more.
    """
    return number if _whole or _anew else max(5, number // 3)


def is_of_kernels(path: Path) -> bool:
    """Say whether the tests of a file look at kernels or at golden results, so that every runtime runs them."""
    return bool(KERNEL_FOLDERS & set(path.parts[:-1])) or "golden" in path.stem


def of_one_runtime(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that run without `--every-device`: on other CPU runtimes than one those of kernels alone."""
    chosen = (None, one_cpu(device for item in items if (device := _cpu_of(item)) is not None))
    return {item for item in items if _cpu_of(item) in chosen or is_of_kernels(item.path)}


def part_to_run(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that run without `--whole`."""
    products: defaultdict[Any, dict[Choice, pytest.Item]] = defaultdict(dict)
    kept = set()
    chosen = (None, one_cpu(device for item in items if (device := _cpu_of(item)) is not None))
    for item in items:
        together = max((number for mark, number in TOGETHER.items() if item.get_closest_marker(mark)), default=0)
        left_to_others = "other_cpus" if _cpu_of(item) in chosen else "one_cpu"
        if item.get_closest_marker("whole") or item.get_closest_marker(left_to_others):
            continue
        if left_to_others == "one_cpu":
            together = min(together, TOGETHER["each_value"])
        if not together:
            kept.add(item)
            continue
        own, others = _values(item)
        products[item.nodeid.partition("[")[0], others, together][own] = item
    for (_, _, together), product in products.items():
        kept |= {product[choice] for choice in covering(product, together)}
    return kept


def _cpu_of(item: Any) -> Device | None:
    """Return the CPU runtime's device that a test runs on, if any."""
    device = item.callspec.params.get("device") if hasattr(item, "callspec") else None
    return device if isinstance(device, Device) and device.kind == "cpu" else None


def one_cpu(devices: Iterable[Device]) -> Device | None:
    """Choose the CPU runtime's device for what one is enough for: Intel's where it is there."""
    cpus = [device for device in devices if device.kind == "cpu"]
    return min(cpus, key=lambda device: (device.family != "intel", device.index), default=None)


def _values(item: Any) -> tuple[Choice, Choice]:
    """Return which values a test has of its parameters, one for those given together, and of devices and fixtures."""
    values = {name: id(value) for name, value in item.callspec.params.items()}
    marks = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [mark.replace(" ", "").split(",") if isinstance(mark, str) else mark for mark in marks]
    own = tuple(hash(tuple(values.pop(name) for name in together)) for together in names)
    return own, tuple(values.values())


def covering(product: Collection[Choice], together: int) -> set[Choice]:
    """Choose combinations in which so many parameters at a time take all their values, always the same ones.

    Each is the one with the most that is new; of several, the one whose values were chosen the least so far.
    """
    meetings = {choice: set(itertools.combinations(enumerate(choice), together)) for choice in product}
    missing = set().union(*meetings.values())
    used: Counter[tuple[int, int]] = Counter()
    chosen: set[Choice] = set()
    while missing:
        best = max(product, key=lambda c: (len(meetings[c] & missing), -sum(used[pair] for pair in enumerate(c))))
        chosen.add(best)
        missing -= meetings[best]
        used.update(enumerate(best))
    return chosen
