"""Scans alignments on one device: windows and plan on the host, a `ScanJob` on the device, the winners' omega in
float64."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import DeviceError, UsageError
from oclgenomics.formats.alignment import Alignment
from oclgenomics.omega.job import EPSILON, BestBorders, DeviceSites, Progress, ScanJob, work_bytes
from oclgenomics.omega.matrix import SiteMatrix, site_matrix
from oclgenomics.omega.options import Scan, ScanOptions
from oclgenomics.omega.plan import Limits, Pass, plan_passes
from oclgenomics.omega.windows import Windows, find_windows
from oclgenomics.runtime import Engine

__all__ = ["MIN_SITES", "OmegaScanner"]

MIN_SITES = 4  # OmegaPlus calls fewer "NOT POSSIBLE"
FULL_BITS = 62  # a fixed-point sum stays below 2^62
FLOAT_BITS = 54  # fixed_point() takes values below 2^55
MOST_FRACTION_BITS = 40
SIGNED_FRACTION_BITS = 30  # covariances are below 1/4
RETRY_BITS = 4


class OmegaScanner:
    """Scans alignments on one device.

    Parameters
    ----------
    engine : Engine
        The device; its kernels are built at the first scan that needs them.
    block_rows : int, optional
        Rows of a block instead of what suits the device. Results never depend on it.
    """

    def __init__(self, engine: Engine, *, block_rows: int | None = None) -> None:
        self.engine = engine
        self.block_rows = block_rows

    def scan(self, alignment: Alignment, options: ScanOptions, progress: Progress | None = None) -> Scan:
        """Find the best window at every grid position.

        Parameters
        ----------
        alignment : Alignment
            Prepared by `omega.sites.prepare`: every site shows at least two states.
        options : ScanOptions
        progress : callable, optional
            Called with (grid positions done, grid positions in all).

        Returns
        -------
        Scan
            Omega is float64 in accurate precision; float32 values in compat precision.

        Raises
        ------
        UsageError
            The LD measure is not defined for this input.
        DeviceError
            Compat precision on a device without float64, not enough device memory, or a device lost on the way.
        """
        if alignment.sites < MIN_SITES:
            return _impossible(alignment, options)
        self._check(alignment, options)
        start = time.perf_counter()
        windows = find_windows(alignment.positions, options)
        compat = options.precision == "compat"
        dna = compat and bool(len(alignment.multi_site))
        matrix = site_matrix(alignment, dna=dna)
        resident = self._fits(matrix)
        passes = plan_passes(
            windows,
            alignment.sites,
            self._limits(matrix, resident),
            border=options.border,
            kernel=options.kernel,
            tiles=_tiles_serve(options),
            chunk_positions=options.chunk_positions,
            block_rows=self.block_rows,
        )
        best = BestBorders.nothing(options.grid)
        if passes:
            with self.engine.profile.mark("upload sites"):
                sites = DeviceSites(self.engine, matrix, resident=resident)
            best = self._run_passes(matrix, sites, windows, passes, options, progress)
        omega = best.omega.astype(np.float64) if compat else _exact_omega(best, windows)
        found = (omega > 0) & windows.valid
        first = int(alignment.positions[0])
        return Scan(
            name=alignment.name,
            replicate=alignment.replicate,
            positions=windows.at,
            omega=np.where(found, omega, 0.0),
            left=_border(alignment, best.i, found, windows.valid, first),
            right=_border(alignment, best.j, found, windows.valid, first),
            valid=windows.valid,
            sites=alignment.sites,
            haplotypes=alignment.haplotypes,
            discarded=dict(alignment.skipped),
            possible=True,
            maxwin=windows.maxwin,
            stats={
                "scores": int(windows.scores(options.border).sum()),
                "pairs": sum(p.pairs for p in passes),
                "scan_seconds": time.perf_counter() - start,
            },
        )

    def _check(self, alignment: Alignment, options: ScanOptions) -> None:
        compat = options.precision == "compat"
        if compat and not self.engine.traits.fp64:
            raise DeviceError(
                f"{self.engine.device.name} has no float64, which OmegaPlus' arithmetic needs; "
                "use --precision accurate or another device (-d)"
            )
        if not compat and options.ld == "ABSDOM2":
            raise UsageError(
                "--ld ABSDOM2 is 0 for every pair (an integer abs in OmegaPlus); use ABSDOM, or --precision compat"
            )
        if options.kernel == "tiles" and not _tiles_serve(options):
            raise UsageError("--kernel tiles needs accurate precision, RSQUARE and no --border; use auto, 1 or 2")
        if options.ld != "RSQUARE" and alignment.unphased:
            raise UsageError(
                f"--ld {options.ld} needs haplotypes and the input is unphased; use RSQUARE or --phase ignore"
            )
        if options.ld != "RSQUARE" and len(alignment.multi_site):
            raise UsageError(f"--ld {options.ld} needs sites of two states; add --binary --seed N, or use RSQUARE")
        if compat and alignment.unphased:
            raise UsageError(
                "--precision compat needs phased haplotypes (OmegaPlus shuffles unphased ones); "
                "use accurate or --phase ignore"
            )

    def _limits(self, matrix: SiteMatrix, resident: bool) -> Limits:
        device, engine = self.engine.device, self.engine
        sites = matrix.nbytes if resident else matrix.ones.nbytes + matrix.weight.nbytes
        return Limits(
            budget=max(engine.budget - engine.memory.used - sites - 2 * work_bytes(engine), 0),
            max_allocation=engine.max_allocation,
            compute_units=device.compute_units,
            warp=device.warp,
            cpu=engine.tuning.cpu,
            site_bytes=0 if resident else 4 * matrix.words * (2 if matrix.missing else 1),
        )

    def _fits(self, matrix: SiteMatrix) -> bool:
        """Whether all sites stay on the device; the rows of sites with three or more states always do."""
        small = matrix.nbytes <= self.engine.budget // 2 and matrix.bits.nbytes <= self.engine.max_allocation
        return small or matrix.allele_bits is not None

    def _run_passes(
        self,
        matrix: SiteMatrix,
        sites: DeviceSites,
        windows: Windows,
        passes: list[Pass],
        options: ScanOptions,
        progress: Progress | None,
    ) -> BestBorders:
        """Run all passes; again with coarser fixed-point sums in the rare case that one outgrew its format."""
        bits = _fraction_bits(matrix, windows.span, options)
        while True:
            job = ScanJob(self.engine, matrix, sites, options, float(2.0**bits), len(windows.at))
            done = 0
            for part in passes:
                job.run(part, None if progress is None else _shifted(progress, done, len(windows.at)))
                done += len(part.table)
            best, overflow = job.collect(bits)
            if not overflow:
                return best
            bits -= RETRY_BITS


def _tiles_serve(options: ScanOptions) -> bool:
    """Whether the tile kernel's bounds hold: exact sums of values that are never negative, all pairs of borders."""
    return options.precision == "accurate" and options.ld == "RSQUARE" and options.border < 0


def _shifted(progress: Progress, done: int, total: int) -> Progress:
    """Progress of one pass as progress of the whole scan."""
    return lambda positions, _: progress(done + positions, total)


def _fraction_bits(matrix: SiteMatrix, band: int, options: ScanOptions) -> int:
    """Fraction bits of the fixed-point sums.

    n r^2 of independent sites averages 1 and of two singletons 1/n; 17 bits below 1/n keep the rounding of a value
    below 1e-5 of that. If even the largest conceivable sum leaves room for more bits, they are used; if it does not,
    the sums are watched for overflow.
    """
    if options.ld != "RSQUARE":
        return SIGNED_FRACTION_BITS
    value_bits = matrix.haplotypes.bit_length()
    sure = FULL_BITS - value_bits - (band * band // 2).bit_length()
    wanted = value_bits + 17
    return min(max(sure, wanted), MOST_FRACTION_BITS, FLOAT_BITS - value_bits)


def _exact_omega(best: BestBorders, windows: Windows) -> NDArray[np.float64]:
    """omega of the chosen borders in float64, from the exact sums."""
    k, m = (windows.centre - best.i + 1).astype(np.float64), (best.j - windows.centre).astype(np.float64)
    unit = 2.0**-best.bits
    with np.errstate(divide="ignore", invalid="ignore"):
        within = best.within * unit / (k * (k - 1) / 2 + m * (m - 1) / 2)
        cross = best.cross * unit / (k * m)
        return np.where(best.omega > 0, within / (cross + EPSILON), 0.0)


def _border(
    alignment: Alignment, index: NDArray[np.int32], found: NDArray[np.bool_], valid: NDArray[np.bool_], first: int
) -> NDArray[np.int64]:
    """Borders in bp; a valid window in which every omega is 0 has the first site for both, an invalid one 0."""
    return np.where(found, alignment.positions[np.where(found, index, 0)], np.where(valid, first, 0))


def _impossible(alignment: Alignment, options: ScanOptions) -> Scan:
    nothing = np.zeros(0)
    none = np.zeros(0, np.int64)
    return Scan(
        name=alignment.name,
        replicate=alignment.replicate,
        positions=nothing,
        omega=nothing,
        left=none,
        right=none,
        valid=np.zeros(0, np.bool_),
        sites=alignment.sites,
        haplotypes=alignment.haplotypes,
        discarded=dict(alignment.skipped),
        possible=False,
        maxwin=options.maxwin,
        stats={"scores": 0, "pairs": 0, "scan_seconds": 0.0},
    )
