"""Scans alignments on one device: windows and plan on the host, `run_passes` on the device."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from oclgenomics.errors import DeviceError, UsageError
from oclgenomics.omega.batch import Member, group_members, join_members
from oclgenomics.omega.device.best_borders import RESULT_BYTES, BestBorders
from oclgenomics.omega.device.bit_planes import BitPlanes, planes_of
from oclgenomics.omega.device.device_sites import DeviceSites
from oclgenomics.omega.device.fixed_point import RETRY_BITS
from oclgenomics.omega.device.job import Progress, run_passes
from oclgenomics.omega.device.outcome import impossible_scan, scan_of
from oclgenomics.omega.device.setup import ScanSetup
from oclgenomics.omega.device.workspace import work_bytes
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.passes import Limits
from oclgenomics.omega.plan import plan_passes
from oclgenomics.omega.result import Scan
from oclgenomics.omega.windows import find_windows
from oclgenomics.runtime import Engine
from oclgenomics.variation.alignment import Alignment

__all__ = ["MIN_SITES", "OmegaScanner"]

MIN_SITES = 4  # OmegaPlus calls fewer "NOT POSSIBLE"


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
        """Find the best window at every grid position of one alignment; see `scan_batch`."""
        return self.scan_batch([alignment], options, progress)[0]

    def scan_batch(
        self, alignments: Sequence[Alignment], options: ScanOptions, progress: Progress | None = None
    ) -> list[Scan]:
        """Find the best window at every grid position of some alignments.

        Alignments that allow it go through the device as one; results do not depend on which are scanned together.

        Parameters
        ----------
        alignments : sequence of Alignment
            Prepared by `omega.sites.prepare`: every site shows at least two states.
        options : ScanOptions
        progress : callable, optional
            Called with (grid positions done, grid positions in all).

        Returns
        -------
        list of Scan
            Omega is float64 in accurate precision; float32 values in compat precision.

        Raises
        ------
        UsageError
            An alignment that does not hold together, or for which the LD measure is not defined.
        DeviceError
            Compat precision on a device without float64, not enough device memory, or a device lost on the way.
        """
        start = time.perf_counter()
        for alignment in alignments:
            alignment.validate()
        scans = self.scan_filtered(alignments, options, progress)
        share = (time.perf_counter() - start) / max(len(scans), 1)
        return [replace(scan, stats=replace(scan.stats, seconds=share)) for scan in scans]

    def scan_filtered(
        self, alignments: Sequence[Alignment], options: ScanOptions, progress: Progress | None = None
    ) -> list[Scan]:
        """As `scan_batch`, of alignments that are known to hold together, and without seconds."""
        members = [
            Member(place, alignment, find_windows(alignment.positions, options))
            for place, alignment in enumerate(alignments)
            if self._possible(alignment, options)
        ]
        scans = [impossible_scan(alignment, options) for alignment in alignments]
        done, total = 0, len(members) * options.grid
        for group in group_members(members, options):
            shown = None if progress is None else _shifted(progress, done, total)
            for member, best in zip(group, self._best_borders(group, options, shown), strict=True):
                scans[member.place] = scan_of(member.alignment, member.windows, best, options)
            done += len(group) * options.grid
        return scans

    def _possible(self, alignment: Alignment, options: ScanOptions) -> bool:
        """Whether there are sites enough to scan; refuses options that do not suit those."""
        if alignment.sites < MIN_SITES:
            return False
        self._check(alignment, options)
        return True

    def _best_borders(
        self, group: Sequence[Member], options: ScanOptions, progress: Progress | None
    ) -> list[BestBorders]:
        """Best borders of members that go through the device as one.

        In the rare case that a sum outgrows its format, each goes by itself, and then with coarser sums.
        """
        joint, grid = join_members(group), len(group) * options.grid
        planes = planes_of(joint.alignment, dna=options.precision == "compat" and joint.alignment.multiallelic)
        resident = self._fits(planes)
        passes = plan_passes(
            joint.windows,
            joint.alignment.sites,
            self._limits(planes, resident, grid),
            border=options.tried_border,
            kernel=options.kernel,
            tiles=_tiles_serve(options),
            chunk_positions=options.chunk_positions,
            block_rows=self.block_rows,
        )
        if not passes:
            return [BestBorders.nothing(options.grid) for _ in group]
        with self.engine.profile.mark("upload sites"):
            sites = DeviceSites(self.engine, planes, resident=resident)
        setup = ScanSetup.of(self.engine, planes, sites, options, bits=group[0].fraction_bits(options))
        best = run_passes(setup, passes, grid, progress)
        if best is None and len(group) > 1:
            del sites, setup  # their memory is the device's
            return [self._best_borders([member], options, None)[0] for member in group]
        while best is None:
            setup = replace(setup, bits=setup.bits - RETRY_BITS)
            best = run_passes(setup, passes, grid, progress)
        return best.split([member.alignment.sites for member in group])

    def _check(self, alignment: Alignment, options: ScanOptions) -> None:
        compat = options.precision == "compat"
        if compat and not self.engine.traits.fp64:
            raise DeviceError(
                f"{self.engine.device.name} has no float64, which OmegaPlus' arithmetic needs; "
                "use `precision=accurate` or another `device`"
            )
        if not compat and options.ld == "ABSDOM2":
            raise UsageError(
                "`ld=ABSDOM2` is 0 for every pair (an integer abs in OmegaPlus); use ABSDOM, or `precision=compat`"
            )
        if options.kernel == "tiles" and not _tiles_serve(options):
            raise UsageError("`kernel=tiles` needs accurate precision, RSQUARE and no `border`; use auto, 1 or 2")
        if options.ld != "RSQUARE" and alignment.unphased:
            raise UsageError(
                f"`ld={options.ld}` needs haplotypes and the input is unphased; use RSQUARE, `phase=missing` or "
                "`phase=ignore`"
            )
        if options.ld != "RSQUARE" and alignment.multiallelic:
            text = "needs sites of two states; add `binary=True` and `seed`, or use RSQUARE"
            raise UsageError(f"`ld={options.ld}` {text}")
        if compat and alignment.unphased:
            raise UsageError(
                "`precision=compat` needs phased haplotypes (OmegaPlus shuffles unphased ones); "
                "use accurate, `phase=missing` or `phase=ignore`"
            )

    def _limits(self, planes: BitPlanes, resident: bool, positions: int) -> Limits:
        device, engine = self.engine.device, self.engine
        sites = planes.nbytes if resident else planes.nbytes - planes.plane_bytes
        buffers = DeviceSites.buffers(engine) * (1 if planes.valid is None else 2)
        taken = engine.memory.used + sites + 2 * work_bytes(engine) + positions * RESULT_BYTES
        return Limits(
            budget=max(engine.budget - taken, 0),
            max_allocation=engine.max_allocation,
            compute_units=device.compute_units,
            warp=device.warp,
            cpu=engine.tuning.cpu,
            site_bytes=0 if resident else buffers * 4 * planes.words,
            planes=buffers,
        )

    def _fits(self, planes: BitPlanes) -> bool:
        """Whether all sites stay on the device; the rows of the states of sites with three or more always do."""
        return planes.nbytes <= self.engine.budget // 2 and planes.bits.nbytes <= self.engine.max_allocation


def _tiles_serve(options: ScanOptions) -> bool:
    """Whether the tile kernel's bounds hold: exact sums of values that are never negative, all pairs of borders."""
    return options.precision == "accurate" and options.ld == "RSQUARE" and options.border < 0


def _shifted(progress: Progress, done: int, total: int) -> Progress:
    """Progress of one pass as progress of the whole scan."""
    return lambda positions, _: progress(done + positions, total)
