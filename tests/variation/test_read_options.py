"""What is read of an input: values out of range are named."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from oclgenomics.errors import UsageError
from oclgenomics.variation import ReadOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "bcf"}, "^format must be one of ms, mbs, macs, fasta, vcf, trees, vcz, not 'bcf'$"),
        ({"phase": "random"}, "^phase must be one of auto, missing, strict, ignore, not 'random'$"),
        ({"length": 0}, "^length must be between 1 and [0-9]+ bp, not 0$"),
        ({"length": 1e30}, "^length must be .* not 1e[+]30$"),
        ({"length": float("nan")}, "^length must be .* not nan$"),
        ({"samples": ["a", 1]}, "^samples must be names"),
    ],
)
def test_values_out_of_range(options, message):
    with pytest.raises(UsageError, match=message):
        ReadOptions(**options)


def test_names_serve_more_than_one_input():
    assert ReadOptions(samples=iter(["b", "a"])).samples == ("b", "a")
    assert ReadOptions(samples="names.txt").samples == "names.txt"


def test_options_do_not_change():
    with pytest.raises(FrozenInstanceError):
        ReadOptions().phase = "strict"
    assert ReadOptions(length=10) == ReadOptions(length=10)
