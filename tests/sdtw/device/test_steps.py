"""Works that take steps in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oclgenomics.runtime import Device, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sdtw import AlignOptions, Stage, Thresholds, iter_align, iter_classify
from oclgenomics.sdtw.device.steps import Steps, finished, in_turn
from oclgenomics.signals import Signals
from tests.helpers.sdtw_oracle import small_squiggle


def work(log: list[str], name: str, steps: int, error: Exception | None = None) -> Steps[str]:
    """Note each step."""
    for number in range(steps):
        log.append(f"{name}{number}")
        yield
    if error is not None:
        raise error
    log.append(f"{name} ends")
    return name


def test_all_steps_give_the_result() -> None:
    """One work by itself, with any number of steps."""
    assert [finished(work([], "a", steps)) for steps in (0, 1, 3)] == ["a"] * 3
    with pytest.raises(ValueError, match="bad"):
        finished(work([], "a", 1, ValueError("bad")))


def test_two_take_turns() -> None:
    """The next work begins when a result has been taken; a step of another one is under way then."""
    log: list[str] = []
    for name in in_turn((work(log, name, 2) for name in "abc"), 2):
        log.append(f"{name} taken")
    assert log == [
        "a0", "b0", "a1", "b1", "a ends", "a taken", "c0", "b ends", "b taken", "c1", "c ends", "c taken",
    ]  # fmt: skip


def test_one_at_a_time_waits_for_nothing() -> None:
    """A result comes before the next work is asked for."""
    log: list[str] = []

    def works() -> Iterator[Steps[str]]:
        for name in "ab":
            log.append(f"{name} asked for")
            yield work(log, name, 1)

    for name in in_turn(works(), 1):
        log.append(f"{name} taken")
    assert log == ["a asked for", "a0", "a ends", "a taken", "b asked for", "b0", "b ends", "b taken"]


@pytest.mark.parametrize("steps", [(3, 1, 2), (0, 2, 0), (1, 3, 1)])
def test_results_come_in_order(steps: tuple[int, ...]) -> None:
    """Works that end early wait for those before them."""
    works = [work([], str(number), count) for number, count in enumerate(steps)]
    assert list(in_turn(works, 2)) == ["0", "1", "2"]
    assert not list(in_turn([], 2))


@pytest.mark.parametrize("steps", [(3, 0), (1, 2)])
def test_errors_come_behind_results(steps: tuple[int, int]) -> None:
    """Results of the works before are not lost, whether a work fails or there is none."""
    works = [work([], "a", steps[0]), work([], "b", steps[1], ValueError("bad")), work([], "c", 1)]
    found = in_turn(works, 2)
    assert next(found) == "a"
    with pytest.raises(ValueError, match="bad"):
        next(found)

    def broken() -> Iterator[Steps[str]]:
        yield work([], "a", 2)
        raise ValueError("no more")

    found = in_turn(broken(), 2)
    assert next(found) == "a"
    with pytest.raises(ValueError, match="no more"):
        next(found)


@pytest.mark.parametrize("kind", ["align", "classify"])
@pytest.mark.parametrize("at_hand", [True, False])
def test_the_device_is_at_work_while_a_part_is_used(
    device: Device, kind: str, at_hand: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads at hand are aligned while those before are used; others come as they are given."""
    monkeypatch.setattr("oclgenomics.sdtw.device.reads.block_reads", lambda prefix: 4)
    rng = np.random.default_rng(5)
    reads = Signals.of([rng.integers(300, 900, 60).astype(np.int16) for _ in range(12)])
    squiggle, options = small_squiggle("a", rng.normal(90, 10, 40)), AlignOptions(arithmetic="int32")
    begun: list[str] = []
    launch = Engine.launch

    def noted(engine: Engine, kernel: Kernel, *args: Any, **arguments: Any) -> None:
        launch(engine, kernel, *args, **arguments)
        begun.extend([kernel.name] * (kernel.name == "align_strips"))

    monkeypatch.setattr(Engine, "launch", noted)
    source = reads if at_hand else (reads.between(first, first + 4) for first in (0, 4, 8))
    if kind == "align":
        parts: Iterator[Any] = iter_align(source, squiggle, options, prefixes=(20, 40), engine=device)
    else:
        thresholds = Thresholds((Stage(20, 10**6), Stage(40, 10**6)), options)
        parts = iter_classify(source, squiggle, thresholds, engine=device)
    assert [len(begun) for _ in parts] == ([4, 5, 6] if at_hand else [2, 4, 6])
