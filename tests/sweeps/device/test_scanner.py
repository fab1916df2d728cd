"""Families of statistics in a scan: on its rows, by their own options alone, and with what a whole input comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from helpers.sweep_sites import varying

from oclgenomics.runtime import Engine
from oclgenomics.sweeps import SweepOptions, iter_scan
from oclgenomics.sweeps.device import scanner
from oclgenomics.sweeps.options import Statistic
from oclgenomics.sweeps.plan import Portion
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites
from oclgenomics.sweeps.statistics.families import Background, Native


class SharesOfSites:
    """At every site the alignment's share of the sites of the input."""

    name: ClassVar[str] = "shares"
    statistics: ClassVar[tuple[Statistic, ...]] = ("pi",)  # whose place it takes
    late: ClassVar[bool] = False

    def __init__(self, engine: Engine, *, block_sites: int | None = None) -> None:
        pass

    def needs_background(self, options: SweepOptions) -> bool:
        return True

    def measure(
        self, used: Sequence[UsedSites], options: SweepOptions, masks: Sequence[Mask], portions: Sequence[Portion]
    ) -> list[Any]:
        return [one.positions for one in used]

    def background(self, measured: Sequence[Any], options: SweepOptions) -> Background:
        return {"sites": np.array([sum(map(len, measured))], np.float64)}

    def native(self, measured: Any, options: SweepOptions, background: Background | None) -> Native:
        assert background is not None
        return Native(measured, {"pi": np.full(len(measured), len(measured) / background["sites"][0])})


@pytest.mark.parametrize("given", [None, 1000.0])
def test_a_background_is_that_of_the_input_or_given(
    engine: Engine, given: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanner, "FAMILIES", (SharesOfSites,))
    rng = np.random.default_rng(1)
    source = [varying(rng, 30, 8), varying(rng, 50, 8), varying(rng, 3, 8)]
    options = SweepOptions(width=8, statistics=["mu", "pi"])
    read: list[str] = []
    backgrounds: Mapping[str, Background] = {} if given is None else {"shares": {"sites": np.array([given])}}
    assert scanner.SweepScanner(engine, options).waits(backgrounds) == (given is None)
    scans = iter_scan(
        source, options, backgrounds=backgrounds, on_alignment=lambda one: read.append(one.name), engine=engine
    )
    found = list(scans)
    assert len(read) == 3
    sites = [one.sites for one in found]
    for one in found:
        assert list(one.values) == ["mu", "mu_var", "mu_sfs", "mu_ld", "pi"]
        assert one.values["pi"] == pytest.approx(one.sites / (given or sum(sites)))
        assert one.backgrounds["shares"]["sites"] == (given or sum(sites))
    assert len(found[0].positions) > 5
    others = scan_without_families(source, options, engine, monkeypatch)
    assert np.array_equal(found[1].values["mu"], others[1].values["mu"])


def scan_without_families(
    source: Any, options: SweepOptions, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> list[Any]:
    monkeypatch.setattr(scanner, "FAMILIES", ())
    return list(iter_scan(source, options, engine=engine))
