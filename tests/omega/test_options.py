"""What `ScanOptions` refuses, in the names of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.omega.options import ScanOptions

GOOD: dict[str, Any] = {"grid": 5, "minwin": 100, "maxwin": 1000}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": 1}, "grid=1: at least 2 positions are needed"),
        ({"grid": 10**9}, "grid=1000000000: at most"),
        ({"minwin": -1}, "minwin=-1: "),
        ({"maxwin": 0}, "maxwin=0: "),
        ({"minsnps": 0}, "minsnps=0: "),
        ({"border": -2}, "border=-2: "),
        ({"border": 2**31}, "border=2147483648: "),
        ({"ld": "R2"}, "ld='R2': choose one of RSQUARE, D, ABSD, DOM, ABSDOM, ABSDOM2"),
        ({"precision": "double"}, "precision='double': choose one of accurate, compat"),
        ({"kernel": "3"}, "kernel='3': choose one of auto, 1, 2, dynamic, tiles"),
        ({"maf": 0.6}, "maf=0.6: "),
        ({"maf": float("nan")}, "maf=nan: "),
        ({"impute": "GAP"}, "impute='GAP': give a set of names"),
        ({"impute": {"X"}}, "impute='X': choose N, GAP or both"),
        ({"binary": True, "seed": 0}, "seed=0: "),
        ({"chunk_positions": 0}, "chunk_positions=0: at least 1"),
        ({"grid": 5.0}, "grid=5.0: give a whole number, as an integer"),
        ({"maxwin": "1000"}, "maxwin='1000': give a whole number"),
        ({"minsnps": [5]}, "minsnps=[5]: give a whole number"),
        ({"border": True}, "border=True: give a whole number"),
        ({"seed": 1.5}, "seed=1.5: give a whole number"),
        ({"maf": "much"}, "maf='much': a minor allele frequency"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_value_out_of_range(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        ScanOptions(**(GOOD | change))
    assert str(error.value).startswith(message)
    assert error.value.parameter in change


def test_integers_of_numpy_are_whole_numbers() -> None:
    options = ScanOptions(np.int64(5), np.uint8(100), np.int32(1000), seed=np.uint32(7), maf=np.float32(0.25))
    assert options == ScanOptions(**GOOD, seed=7, maf=0.25)
    assert [type(value) for value in (options.grid, options.seed, options.maf)] == [int, int, float]


def test_several_parameters() -> None:
    with pytest.raises(UsageError, match=r"^maxwin=50 is smaller than minwin=100; exchange or widen them$"):
        ScanOptions(grid=5, minwin=100, maxwin=50)
    for change in ({"impute": {"N"}}, {"binary": True}):
        (name,) = change
        with pytest.raises(UsageError, match=f"^{name} draws at random: give seed so that"):
            ScanOptions(**(GOOD | change))  # type: ignore[arg-type]


def test_imputed_states_are_kept_frozen() -> None:
    given = {"N"}
    options = ScanOptions(**GOOD, impute=given, seed=1)  # type: ignore[arg-type]
    given.add("GAP")
    assert options.impute == frozenset({"N"})
    assert hash(options) == hash(ScanOptions(**GOOD, impute=frozenset({"N"}), seed=1))
