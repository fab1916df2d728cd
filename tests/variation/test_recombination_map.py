"""Recombination maps of three forms, and what is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oclgenomics.errors import InputError
from oclgenomics.variation.recombination_map import read_recombination_map

HAPMAP = (
    "Chromosome Position(bp) Rate(cM/Mb) Map(cM)\nchr1 100 1 0\nchr1 300 2 1.0\nchr1 400 0 5\nchr2 1 0 0\nchr2 9 0 1\n"
)
PLINK = "1 . 0 100\n1 rs 1.0 300\n1 . 5 400\n"
SWEEPFINDER = "position\trate\n100\t0\n300\t1.0\n400\t4.0\n"


@pytest.mark.parametrize("text", [HAPMAP, PLINK, SWEEPFINDER])
@pytest.mark.parametrize("name", ["1", "chr1"])
def test_positions_lie_between_points_and_beyond_them(text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text(text)
    found = read_recombination_map(path).at(name, np.array([40.0, 100, 200, 350, 400, 430]))
    np.testing.assert_allclose(found, [-1, 0, 0.5, 3, 5, 5.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# x\n", "holds no point"),
        ("Chromosome Position Rate Map\n", "holds no point"),
        ("1 . 0 100\n", "two points or more, and there is one of chromosome 1"),
        ("1 . 0 100\n1 . 1 100\n", "2: its bp or cM do not ascend"),
        ("1 . 1 100\n1 . 0 200\n", "2: its bp or cM do not ascend"),
        ("1 . 0 100\n1 . x 200\n", "2: is no point"),
        ("1 . 0 100\n1 . nan 200\n", "2: is no point"),
        ("1 0 100\n", "1: is no point"),
        ("position rate\n1 2 3\n", "2: is no point"),
    ],
)
def test_files_that_are_no_map(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_recombination_map(path)


def test_a_chromosome_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text(PLINK)
    with pytest.raises(InputError, match="has no chromosome 2; it has 1"):
        read_recombination_map(path).at("2", np.array([1.0]))
