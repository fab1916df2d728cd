"""Names of variants, and options whose numbers are resolved."""

from __future__ import annotations

import pytest

from oclgenomics.sdtw import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.options import variant_name


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (AlignOptions(), "default"),
        (CRESCENT, "crescent"),
        (SQUIGGLEFILTER, "squigglefilter"),
        (AlignOptions(bonus="dwell"), "default bonus=dwell"),
        (AlignOptions(bits=7, step=1), "default bits=7 step=1"),
        (AlignOptions(arithmetic="float32"), "default arithmetic=float32"),
    ],
)
def test_variants_are_named_by_what_is_unusual(options: AlignOptions, name: str) -> None:
    assert variant_name(options) == variant_name(options.resolved()) == name


@pytest.mark.parametrize(
    "options", [AlignOptions(), CRESCENT, AlignOptions(bonus="dwell"), AlignOptions(cost="absolute")]
)
def test_resolved_options_mean_the_same(options: AlignOptions) -> None:
    resolved = options.resolved()
    assert resolved == resolved.resolved()
    for one in ("level_bits", "row_samples", "shift", "max_dwell"):
        assert getattr(resolved, one) == getattr(options, one)
    assert resolved.step == options.row_samples
