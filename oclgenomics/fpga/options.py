"""What a scan on FPGA designs can be: designs, the matrix M, what is modelled, and the trip counts of its loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hls_model.choices import MATRICES, Accounting
from hls_model.config import Config
from hls_model.presets import load, told_apart
from hls_model.project import counted
from hls_model.resources import check_fits
from hls_model.workload import Workload
from oclgenomics.errors import ParameterError
from oclgenomics.omega.device.scanner import MIN_SITES
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.windows import find_windows
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import words_for

MAX_BYTES = 8 << 30  # of genotypes drawn at random


def fitting_designs(designs: Sequence[Config | str], accounting: Accounting = "design") -> list[Config]:
    """Return the designs, whose names differ, or the first error of one that does not fit its board."""
    if not designs:
        raise ParameterError("designs", "must not be empty")
    found = [load(design) if isinstance(design, str) else design for design in designs]
    for config in found:
        check_fits(counted(config, accounting))
    return told_apart(found)


def check_border(options: ScanOptions) -> None:
    """Refuse a scan that leaves out pairs of borders.

    Raises
    ------
    UsageError
    """
    if options.border >= 0:
        raise ParameterError("border", "the pipeline tries every pair of borders; leave it at -1", options.border)


def check_modelled(options: ScanOptions, matrix: str = "float32") -> None:
    """Refuse what the pipeline does not do.

    Raises
    ------
    UsageError
        Borders, measures or precisions that are not modelled, or an unknown matrix.
    """
    check_border(options)
    if options.ld != "RSQUARE":
        raise ParameterError("ld", "the pipeline sums r2; leave it at RSQUARE", options.ld)
    if options.precision != "accurate":
        text = "the hardware is compared with the scan in accurate precision; leave it at that"
        raise ParameterError("precision", text, options.precision)
    if matrix not in MATRICES:
        raise ParameterError("matrix", f"choose one of {', '.join(MATRICES)}", matrix)


def workload_of(alignment: Alignment, options: ScanOptions) -> Workload:
    """Return the trip counts of the scan of an alignment, as `omega scan` would do it.

    Parameters
    ----------
    alignment : Alignment
        Filtered; see `oclgenomics.omega.sites.filters.filter_alignment`.
    options : ScanOptions
        Its `border` is not modelled.
    """
    return workload_at(alignment.positions, options, alignment.haplotypes, alignment.name)


def workload_at(positions: NDArray[np.int64], options: ScanOptions, haplotypes: int = 0, name: str = "") -> Workload:
    """Return the trip counts of a scan of sites of which no more than the positions is known.

    Parameters
    ----------
    positions : ndarray of int64, shape (sites,)
        In bp, none before the one ahead of it.
    options : ScanOptions
        Its `border` is not modelled.
    haplotypes : int
        For the time that linkage disequilibrium takes; 0 leaves it out.
    name : str
        What reports call it.
    """
    left = right = first = last = centre = np.zeros(options.grid, np.int64)
    if len(positions) >= MIN_SITES:
        windows = find_windows(positions, options)
        first, last, centre = windows.first, windows.last, windows.centre
        left = np.where(windows.valid, windows.inner_left - first + 1, 0)
        right = np.where(windows.valid, last - windows.inner_right + 1, 0)
    return Workload(left, right, first, last, centre, len(positions), haplotypes, name)


def random_alignment(positions: NDArray[np.int64], samples: int, seed: int, name: str) -> Alignment:
    """Return independent sites of equally frequent states, all of them variable.

    Parameters
    ----------
    positions : ndarray of int64, shape (sites,)
    samples : int
        Haplotypes, 2 or more.
    seed : int
        The same gives the same sites.
    name : str

    Raises
    ------
    UsageError
        They would take more than 8 GiB.
    """
    words = words_for(samples)
    if 4 * words * len(positions) > MAX_BYTES:
        raise ParameterError("samples", f"at {len(positions):,} SNPs they take more than 8 GiB; give fewer", samples)
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 32, (words, len(positions)), np.uint32)
    bits[0] = bits[0] & ~np.uint32(1) | np.uint32(2)  # both states
    if samples % 32:
        bits[-1] &= np.uint32((1 << samples % 32) - 1)
    letters = np.tile(np.frombuffer(b"01", np.uint8), (len(positions), 1))
    return Alignment(name, positions, bits, samples, letters)
