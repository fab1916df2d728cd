"""Thresholds of omega made for other data or options than the scan's: refused, whatever differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, draws

from oclgenomics.errors import UsageError
from oclgenomics.omega import ScanOptions, Significance, find_peaks
from oclgenomics.omega.options import scan_parameters
from oclgenomics.omega.result import DataFacts, Scan
from oclgenomics.omega.significance.comparable import check_sweeps
from oclgenomics.omega.significance.facts import NullFacts, grid_spacing, site_density
from oclgenomics.omega.significance.thresholds import Maxima, thresholds

pytestmark = pytest.mark.fuzz

MAXIMA = np.arange(1.0, 40.0)


def drawn_scan(rng: np.random.Generator) -> Scan:
    grid, sites = int(rng.integers(5, 400)), int(rng.integers(20, 5_000))
    minwin = int(rng.integers(1, 5_000))
    options = ScanOptions(
        grid=grid, minwin=minwin, maxwin=minwin + int(rng.integers(1, 100_000)), minsnps=int(rng.integers(1, 9)),
        border=int(rng.integers(-1, 50)), maf=float(rng.choice([0.0, 0.05, 0.2])),
        no_singletons=bool(rng.integers(2)), ld=str(rng.choice(["RSQUARE", "D", "DOM"])),  # type: ignore[arg-type]
    )  # fmt: skip
    at = np.linspace(1, float(rng.integers(10_000, 3_000_000)), grid)
    data = DataFacts(
        2 * int(rng.integers(2, 300)), sites, bool(rng.integers(2)), float(rng.choice([0.0, 0.03, 0.3])),
        float(rng.choice([0.0, 0.2])),
    )  # fmt: skip
    border = np.ones(grid, np.int64)
    return Scan(
        "1", 1, at, rng.random(grid) * 50, border, border, np.ones(grid, bool), sites, data.haplotypes, {}, True,
        options.maxwin, data=data, parameters=scan_parameters(options),
    )  # fmt: skip


def null_of(scan: Scan) -> Significance:
    """Thresholds of replicates just like a scan."""
    assert scan.data is not None
    facts = NullFacts.of([(scan.data, site_density(scan), grid_spacing(scan))])
    maxima, found = Maxima(MAXIMA, MAXIMA), tuple(thresholds(MAXIMA, [0.05]))
    return Significance(scan.parameters, None, scan.haplotypes, float(scan.sites), maxima, found, data=facts)


def with_data(scan: Scan, **changes: object) -> Scan:
    assert scan.data is not None
    return replace(scan, data=replace(scan.data, **changes))  # type: ignore[arg-type]


def changed(scan: Scan, what: int, rng: np.random.Generator) -> Scan:
    """The same scan with one fact that makes the threshold another."""
    data, made = scan.data, dict(scan.parameters)
    assert data is not None
    sign = int(rng.choice([-1, 1]))
    if what == 0:
        return with_data(scan, haplotypes=data.haplotypes + sign)
    if what == 1:
        return with_data(scan, genotypes=not data.genotypes)
    if what == 2:
        return with_data(scan, sites=int(data.sites * (1.2 if sign > 0 else 0.8)))
    if what == 3:
        return with_data(scan, missing=data.missing + float(rng.uniform(0.051, 0.5)))
    if what == 4:
        return with_data(scan, masked=data.masked + float(rng.uniform(0.101, 0.5)))
    if what == 5:  # as many sites per bp on a grid that is denser or wider
        keep = scan.positions[:: 2 if sign > 0 else 1]
        count = len(keep) if sign > 0 else 2 * len(scan.positions)
        return replace(scan, positions=np.linspace(scan.positions[0], scan.positions[-1], count))
    if what == 6:
        name = str(rng.choice(["minwin", "maxwin", "minsnps", "border"]))
        made[name] += sign
    elif what == 7:
        made["maf"] += 0.01
    elif what == 8:
        made["no_singletons"] = not made["no_singletons"]
    else:
        made["ld"] = "ABSD"
    return replace(scan, parameters=made)


def test_what_differs_is_refused() -> None:
    for number, rng in draws("omega thresholds", SECONDS / 5, each=0.003):
        scan = drawn_scan(rng)
        null = null_of(scan)
        assert find_peaks([scan], threshold=null).compared is not None
        words = {name: str(value) for name, value in scan.parameters.items() if name != "impute"}  # as in a tsv report
        assert find_peaks([replace(scan, parameters=words)], threshold=null).compared is not None
        other = changed(scan, number % 10, rng)
        with pytest.raises(UsageError):
            find_peaks([scan, other], threshold=null)
        with pytest.raises(UsageError):
            find_peaks([scan], threshold=null_of(other))
        if number % 10 < 6:
            sweeps = null_of(other).data
            assert null.data is not None
            assert sweeps is not None
            assert check_sweeps(null.data, null.data, "sweeps") is None
            if number % 10 == 2:  # fewer sites are told, since sweeps take some away
                sweeps = replace(sweeps, density=1.2 * null.data.density)
            with pytest.raises(UsageError):
                check_sweeps(null.data, sweeps, "sweeps")
