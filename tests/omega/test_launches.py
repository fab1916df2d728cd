"""How much goes into a launch. No device is needed."""

from __future__ import annotations

import dataclasses

import pytest

from oclgenomics.omega.cost import KERNEL_ONE, KERNEL_TILES, KERNEL_TWO
from oclgenomics.omega.device import launches
from oclgenomics.omega.device.launches import LAUNCH_NS, WORD_NS, Launches
from oclgenomics.omega.passes import TILE, Stretch

STRETCH = Stretch(KERNEL_TWO, 0, 1000, lefts=5000, rows=5000, load=16, tiles_i=80, tiles_j=80)


@pytest.mark.parametrize("units", [8, 132])
@pytest.mark.parametrize("words", [1, 2000])
def test_a_launch_of_pair_values_takes_a_tenth_of_a_second_or_one_row_of_tiles(units: int, words: int) -> None:
    tiles = Launches(units, cpu=False).row_tiles(100, words)
    each = 100 * TILE * TILE * words * WORD_NS / units
    assert tiles >= 1
    assert (tiles - 1) * each < LAUNCH_NS < (tiles + 1) * each


@pytest.mark.parametrize("kernel", [KERNEL_ONE, KERNEL_TWO, KERNEL_TILES])
def test_smaller_devices_and_larger_windows_get_fewer_windows_a_launch(kernel: int) -> None:
    stretch = dataclasses.replace(STRETCH, kernel=kernel)
    larger = dataclasses.replace(stretch, lefts=50_000, rows=50_000, tiles_i=800, tiles_j=800)
    small, large = Launches(8, cpu=False), Launches(132, cpu=False)
    assert 1 <= small.windows(stretch) < large.windows(stretch) <= launches.MAX_WINDOWS
    assert 1 <= large.windows(larger) < large.windows(stretch)
    assert large.windows(dataclasses.replace(stretch, lefts=1, rows=1, tiles_i=1, tiles_j=1)) == launches.MAX_WINDOWS


def test_sites_of_many_states_are_cut_by_their_partners() -> None:
    small = Launches(8, cpu=False)
    assert small.listed_sites(10_000, 200) == pytest.approx(small.listed_sites(100, 200) / 100, abs=1)
    assert small.listed_sites(1 << 20, 2000) == 1


def test_launches_on_cpus_are_not_cut() -> None:
    cpu = Launches(2, cpu=True)
    assert min(cpu.row_tiles(10_000, 10_000), cpu.listed_sites(10_000, 10_000)) > 1 << 30
    assert cpu.windows(STRETCH) == launches.MAX_WINDOWS
