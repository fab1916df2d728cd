"""Engines of tests share programs, but none of another text or of other parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from helpers import products
from helpers.devices import ONE_BY_ONE, UNOPTIMISED
from helpers.shared_programs import left_as_written, own_programs, shared_programs

from oclgenomics.runtime import Device, Engine, program

SOURCE = "common/hash.cl"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What is built from now on: the source, and the options."""
    build, found = program.build_program, list[tuple[str, ...]]()

    def spy(context: Any, device: Device, source: str, options: list[str], **how: bool) -> Any:
        found.append((source, *options))
        return build(context, device, source, options, **how)

    monkeypatch.setattr(program, "build_program", spy)
    return found


def use(device: Device, **defines: int) -> None:
    with Engine(device) as engine:
        engine.kernel(SOURCE, "hash_numbers", **defines)


def test_what_is_there_is_not_built_again(device: Device, built: list[tuple[str, ...]]) -> None:
    with shared_programs():
        use(device)
        use(device)
        use(device, OTHER=1)
        use(device, OTHER=1)
        use(device, OTHER=2)
    assert len(built) == len(set(built)) == 3


def test_another_text_is_another_program(
    device: Device, built: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = program.load_source(SOURCE)
    with shared_programs():
        use(device)
        monkeypatch.setattr(program, "load_source", lambda _: text + "\n// another\n")
        use(device)
    assert len(built) == 2


def test_calls_of_equal_kernels_are_made_once(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    use(device)  # which has PyOpenCL imported
    made: list[str] = []

    def make(name: str, *_types: Any, devs: Any, **_how: bool) -> tuple[Any, Any]:
        made.append(name)
        return (lambda *_: None, lambda *_: None)

    monkeypatch.setattr("pyopencl.invoker.generate_enqueue_and_set_args", make)
    with shared_programs():
        for number in (1, 1, 2):
            use(device, OTHER=number)
    assert made == ["hash_numbers"]


def test_engines_with_programs_of_their_own(device: Device, built: list[tuple[str, ...]]) -> None:
    with shared_programs(), own_programs():
        use(device)
        use(device)
    assert len(built) == 2


@pytest.mark.parametrize(
    ("source", "define", "written"),
    [
        ("kmers/fill_bins.cl", "HEAD=3", False),
        ("omega/scan_two.cl", "MEASURE=1", False),
        ("omega/scan_two.cl", "MEASURE=3", True),
        ("omega/best_omega.cl", "MEASURE=5", True),
        ("signatures/planes.cl", "HEAD=8", False),
        ("signatures/planes.cl", "HEAD=16", True),
    ],
)
def test_variants_that_are_not_optimised(
    device: Device, source: str, define: str, written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never on GPUs, nor with `--whole`."""
    options, intel = ["-cl-std=CL1.2", f"-D{define}"], replace(device, family="intel", kind="cpu")
    monkeypatch.setattr(products, "_whole", False)
    assert left_as_written(intel, source, options) == written
    assert not left_as_written(replace(device, family="nvidia", kind="gpu"), source, options)
    monkeypatch.setattr(products, "_whole", True)
    assert not left_as_written(intel, source, options)
    for foreign in (f"-D__kernel={ONE_BY_ONE}", f"-D{UNOPTIMISED}=1"):
        assert left_as_written(intel, source, [*options, foreign]) == (source != "omega/scan_two.cl")
