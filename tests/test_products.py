"""Products of parameters lose no pair of values by default, and nothing with `--whole`."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from pathlib import Path

import pytest
from helpers.devices import devices_under_test
from helpers.products import Choice, covering, drawn, examples, is_of_kernels, on_one_cpu, one_cpu, only_whole
from hypothesis import given, strategies as st

from oclgenomics.runtime import Device

PRODUCT = list(itertools.product(range(5), range(3), range(2), range(4)))
SIZES, KINDS, PARTS = [1, 255, 256, 257], ["a", "b", "c"], [2, 300]


def pairs_of(choices: Collection[Choice]) -> set[tuple[tuple[int, int], ...]]:
    return {pair for choice in choices for pair in itertools.combinations(enumerate(choice), 2)}


def test_each_pair_is_chosen() -> None:
    few = covering(PRODUCT, 2)
    assert pairs_of(few) == pairs_of(PRODUCT)
    assert len(few) <= 24  # the pairs of the two longest need 20
    assert few == covering(list(PRODUCT), 2)


def test_each_value_is_chosen() -> None:
    few = covering(PRODUCT, 1)
    assert [set(values) for values in zip(*few, strict=True)] == [set(values) for values in zip(*PRODUCT, strict=True)]
    assert len(few) == 5


def test_two_parameters_meet_in_pairs_everywhere() -> None:
    product = set(itertools.product(range(3), range(4)))
    assert covering(product, 2) == product


def test_values_take_turns() -> None:
    assert covering(list(itertools.product(range(2), range(6))), 1) == {(i % 2, i) for i in range(6)}


def test_every_runtime_runs_the_tests_of_kernels_and_goldens() -> None:
    ours = ("tests/kmers/device/test_bins.py", "tests/primitives/test_scan.py", "tests/omega/test_golden.py")
    assert all(is_of_kernels(Path(path)) for path in ours)
    assert not any(is_of_kernels(Path(path)) for path in ("tests/kmers/test_plan.py", "tests/cli/test_devices.py"))


# How tests are chosen, seen from within them.


def runs_of(request: pytest.FixtureRequest, *names: str) -> list[tuple[object, ...]]:
    """Return the values of parameters in all runs of a test."""
    own = request.node.nodeid.partition("[")[0]
    calls = [item.callspec.params for item in request.session.items if item.nodeid.partition("[")[0] == own]
    return [tuple(params[name] for name in names) for params in calls]


@pytest.mark.pairwise
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "same"), [(kind, kind) for kind in KINDS])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("more", [False, True])
def test_a_product_runs_in_pairs(
    request: pytest.FixtureRequest, size: int, kind: str, same: str, parts: int, more: bool
) -> None:
    assert kind == same
    runs = runs_of(request, "size", "kind", "parts", "more")
    product = set(itertools.product(SIZES, KINDS, PARTS, [False, True]))
    if request.config.getoption("--whole"):
        assert set(runs) == product
    elif len(runs) > 1:  # not this one alone, by its name
        assert len(runs) <= 14
        for two in itertools.combinations(range(4), 2):
            assert {tuple(run[i] for i in two) for run in runs} == {tuple(run[i] for i in two) for run in product}


@pytest.mark.each_value
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_value_runs(request: pytest.FixtureRequest, size: int, kind: str) -> None:
    runs = runs_of(request, "size", "kind")
    if request.config.getoption("--whole"):
        assert set(runs) == set(itertools.product(SIZES, KINDS))
    elif len(runs) > 1:
        assert len(runs) == len(SIZES)
        assert {size for size, _ in runs} == set(SIZES)
        assert {kind for _, kind in runs} == set(KINDS)


@pytest.mark.parametrize(("asked_for", "number"), [(False, 1), *only_whole((True, 2))])
def test_what_is_whole_runs_where_it_is_asked_for(request: pytest.FixtureRequest, asked_for: bool, number: int) -> None:
    assert number == 1 + asked_for
    assert request.config.getoption("--whole") or not asked_for


@pytest.mark.parametrize("size", [1, *on_one_cpu(2, 3)])
def test_of_cpus_one_runs_all(request: pytest.FixtureRequest, device: Device, stride: int, size: int) -> None:
    chosen = one_cpu(devices_under_test())
    whole = request.config.getoption("--whole")
    everything = whole or device.kind != "cpu" or device == chosen
    assert everything or size == 1
    assert (stride == 1) == everything
    runs = runs_of(request, "device", "size")
    assert whole or chosen is None or len(runs) == 1 or {(chosen, 1), (chosen, 2), (chosen, 3)} <= set(runs)


@pytest.mark.pairwise
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_of_cpus_one_runs_pairs(request: pytest.FixtureRequest, device: Device, size: int, kind: str) -> None:
    runs = [(size, kind) for at, size, kind in runs_of(request, "device", "size", "kind") if at == device]
    if request.config.getoption("--whole") or device.kind != "cpu" or device == one_cpu(devices_under_test()):
        assert len(runs) == 1 or set(runs) == set(itertools.product(SIZES, KINDS))
    elif len(runs) > 1:
        assert len(runs) == len(SIZES)
        assert {size for size, _ in runs} == set(SIZES)
        assert {kind for _, kind in runs} == set(KINDS)


@pytest.mark.other_cpus
def test_fewer_examples_run_on_the_other_cpus(request: pytest.FixtureRequest, device: Device) -> None:
    assert request.config.getoption("--whole") or device != one_cpu(devices_under_test())


@given(number=drawn(st.just(1), whole=st.just(2)))
def test_what_is_drawn_is_of_the_few_or_of_the_whole(pytestconfig: pytest.Config, number: int) -> None:
    assert number == 1 + pytestconfig.getoption("--whole")


@pytest.mark.parametrize(("number", "few"), [(100, 33), (16, 5), (5, 5)])
def test_a_third_of_the_examples_is_drawn(pytestconfig: pytest.Config, number: int, few: int) -> None:
    whole = pytestconfig.getoption("--whole") or pytestconfig.getoption("--new-examples")
    assert examples(number) == (number if whole else few)
