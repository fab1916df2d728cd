"""What `SweepOptions` refuses, in the names of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sweeps.options import SweepOptions, sweep_parameters


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"statistics": "mu"}, "statistics='mu': give a sequence of names"),
        ({"statistics": ["mu", "D"]}, "statistics='D': choose one of mu, pi, theta, tajima_d, fay_wu_h"),
        ({"statistics": []}, "statistics: give one or more of mu"),
        ({"width": 7}, "width=7: the sites of a window are an even number"),
        ({"width": 4}, "width=4: give 6 to 2048 sites"),
        ({"width": 2050}, "width=2050: give 6 to 2048 sites"),
        ({"width": 50.0}, "width=50.0: give a whole number, as an integer"),
        ({"edge": 0}, "edge=0: give a number of haplotypes"),
        ({"grid": 1}, "grid=1: give 2 to"),
        ({"step": 0}, "step=0: give a number of bp"),
        ({"window": True}, "window=True: give a whole number"),
        ({"precision": "double"}, "precision='double': choose one of accurate, compat"),
        ({"maf": 0.6}, "maf=0.6: a minor allele frequency"),
        ({"maf": float("nan")}, "maf=nan: give a number"),
        ({"clr_step": 0}, "clr_step=0: give a number of bp"),
        ({"clr_folded": 1}, "clr_folded=1: give True or False"),
        ({"haplotype_window": 1}, "haplotype_window=1: give a number of sites, 2 or more"),
        ({"haplotype_step": 0}, "haplotype_step=0: give a number of sites"),
        ({"max_missing": 2}, "max_missing=2.0: give a share"),
        ({"missing": "draw"}, "missing='draw': choose one of mask, drop, impute, match"),
        ({"impute_seed": -1}, "impute_seed=-1: give 0 to 2147483647"),
        ({"impute_seed": 1 << 31}, "impute_seed=2147483648: give 0 to 2147483647"),
        ({"min_accessible": 1.5}, "min_accessible=1.5: give a share, 0 to 1"),
        ({"ancestral_confidence": "low"}, "ancestral_confidence='low': choose one of high, any"),
        ({"on_exclude": "cut"}, "on_exclude='cut': choose one of split, drop, zero"),
    ],
)
def test_values_out_of_range(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        SweepOptions(**change)
    assert str(caught.value).startswith(message.partition(":")[0])
    assert message.partition(": ")[2] in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"grid": 5, "step": 10},
        {"precision": "compat", "step": 10},
        {"precision": "compat", "grid": 2},
        {"precision": "compat", "on_exclude": "drop"},
        {"precision": "compat", "accessible": "x.bed"},
        {"missing": "impute"},
        {"missing": "match"},
    ],
)
def test_values_that_contradict_each_other(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="contradict"):
        SweepOptions(**change)


def test_statistics_have_one_order_and_values_are_plain() -> None:
    options = SweepOptions(statistics=["tajima_d", "mu", "mu"], width=np.int64(20))
    assert options.statistics == ("mu", "tajima_d")
    assert sweep_parameters(options)["statistics"] == "mu,tajima_d"
    assert type(options.width) is int
    assert options.treatment == "mask"
    assert SweepOptions(precision="compat").treatment == "drop"
