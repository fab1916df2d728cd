"""Every preset in every command on scans at the edge: a result in finite numbers and ordered ranges, or one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

import pytest
from helpers.fpga_command import fpga
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from hls_model import PRESETS, Workload, load
from hls_model.project import project

MANY = "more haplotypes than are counted"
SCANS = {
    "two SNPs": ["--snps", "2", "--grid", "2"],
    "two SNPs, two haplotypes": ["--snps", "2", "--grid", "3", "--samples", "2"],
    "no window": ["--snps", "50", "--grid", "3", "--minwin", "0", "--maxwin", "1"],
    "one haplotype": ["--snps", "200", "--grid", "3", "--samples", "1"],
    "everything in one window": ["--snps", "200", "--grid", "3", "--maxwin", "99999999999", "--samples", "2"],
    "one place": ["--snps", "200", "--grid", "5", "--length", "1", "--samples", "100"],
    MANY: ["--snps", "200", "--grid", "5", "--samples", "16777216"],
}
MADE = ["--snps", "20", "--grid", "5", "--maxwin", "99999999999", "--samples", "16777216"]  # where haplotypes are made
WAYS = {
    "project": [],
    "project L2": ["--level", "L2", "--no-uncertainty"],
    "project dram": ["--level", "L2", "--no-uncertainty", "--set", "memory.dram={dram}"],
    "project full": ["--set", "host_transfer=full", "--price-per-hour", "1", "--price-per-kwh", "1"],
    "project incremental": ["--set", "host_transfer=incremental", "--all-pairs", "--ld-engine", "published"],
    "roofline": [],
    "report": [],
    "explore": ["--unrolls", "4", "--ports", "1"],
}


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of a record by their place; ranges have to be ordered."""
    if isinstance(value, dict):
        if {"low", "likely", "high"} <= value.keys():
            assert value["low"] <= value["likely"] <= value["high"], place
        for name, part in value.items():
            yield from numbers(part, f"{place}.{name}")
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part, place)
    elif isinstance(value, float):
        yield place, value


@pytest.mark.pairwise
@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PRESETS)
def test_scans_at_the_edge(name: str, way: str, scan: str, capsys: pytest.CaptureFixture[str]) -> None:
    dram = {"zcu102": "ddr4_2133", "u280": "hbm2"}.get(load(name).board, "ddr4_2400")
    options = [word.format(dram=dram) for word in WAYS[way]]
    given = MADE if scan == MANY and way.startswith("project") else SCANS[scan]
    words = [way.split()[0], "--board", name, *given, *options]
    status = fpga([*words, "--json"])
    captured = capsys.readouterr()
    if status:
        assert (status, captured.out, captured.err.count("\n")) == (2, "", 1)
        return
    assert all(isfinite(value) for _, value in numbers(json.loads(captured.out)))
    assert fpga(words) == 0
    assert not {"nan", "inf"} & set(capsys.readouterr().out.lower().replace("(", " ").split())


@settings(max_examples=examples(25))
@given(
    st.sampled_from(list(PRESETS)), st.integers(2, 3_000), st.integers(2, 12), st.integers(0, 5_000),
    st.integers(0, 30_000), st.sampled_from([0, 2, 1_000]), st.sampled_from(["none", "incremental", "full"]),
    st.sampled_from(["software", "masked"]), st.booleans(),
)  # fmt: skip
def test_projections_are_ordered(
    name: str, snps: int, grid: int, minwin: int, more: int, samples: int, transfer: str, remainder: str, beside: bool
) -> None:
    scan = Workload.uniform(snps, grid=grid, minwin=minwin, maxwin=minwin + more, samples=samples)
    design = load(name).but(host_transfer=transfer, remainder=remainder, host_overlap=beside, software_overlap=beside)
    one = project(scan, design)
    assert all(isfinite(value) for _, value in numbers(one.record()))
    assert one.busy.high <= one.total.high
    assert one.energy.high <= design.hardware.max_watts * one.total.high * (1 + 1e-9)
    assert one.energy.low >= design.hardware.idle_watts.low * one.total.low * (1 - 1e-9)
    assert all(part.width >= 0 for part in one.made_of)
