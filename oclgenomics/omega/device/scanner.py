"""Scans alignments on one device: windows and plan on the host, passes and blocks on the device.

Data flow of one block of rows: bits -> `pair_values` -> `suffix_rows` and `accumulate_columns` (region sums M) ->
`scan_one` and `scan_two` (a candidate a work-group) -> `best_omega` (the best so far of each grid position), or
`scan_tiles` -> `best_tiles`. Only one row of results per grid position comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import DeviceError, UsageError
from oclgenomics.omega.device.kernels import PassAtWork, ScanSetup, pass_arrays, work_bytes
from oclgenomics.omega.device.scores import RESULT_BYTES, BestBorders, BestSoFar, CandidateScorer, TileScorer
from oclgenomics.omega.device.sites import BitPlanes, DeviceSites, planes_of
from oclgenomics.omega.device.sums import compute_values, save_carry, save_left_sums, sum_regions
from oclgenomics.omega.options import EPSILON, ScanOptions
from oclgenomics.omega.plan.batch import RETRY_BITS, Member, group_members, join_members
from oclgenomics.omega.plan.kernels import KERNEL_TILES
from oclgenomics.omega.plan.passes import Block, Pass, SiteUploads, plan_passes
from oclgenomics.omega.plan.windows import TILE, Windows, find_windows
from oclgenomics.omega.result import ACCURATE_DIGITS, COMPAT_DIGITS, Scan, ScanStats
from oclgenomics.runtime import Checkpoint, Engine
from oclgenomics.variation.alignment import Alignment

MIN_SITES = 4  # OmegaPlus calls fewer "NOT POSSIBLE"

Progress = Callable[[int, int], object]
"""Is given the grid positions done, and all there are."""


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
        self,
        alignments: Sequence[Alignment],
        options: ScanOptions,
        progress: Progress | None = None,
        ranges: Sequence[tuple[int, int]] | None = None,
        most_bits: Sequence[int] | None = None,
        windows: Sequence[Windows | None] | None = None,
    ) -> list[Scan]:
        """As `scan_batch`, of alignments that are known to hold together, and without seconds.

        With `ranges`, the grid positions [begin, end) of each alignment alone, with the results of the scan of all;
        counts of work are those of these positions, but for pairs of sites. Where sums of windows elsewhere outgrew
        their format, `most_bits` says for each alignment how many fraction bits they may have. `windows` are those of
        all positions of each alignment, if they are known.
        """
        known = windows or [None] * len(alignments)
        members = [
            Member.of(place, alignment, known[place] or find_windows(alignment.positions, options))
            for place, alignment in enumerate(alignments)
            if alignment.sites >= MIN_SITES
        ]
        for member in members:
            self._check(member.alignment, options)
        if ranges is not None:
            members = [member.between(*ranges[member.place]) for member in members]
        if most_bits is not None:
            members = [replace(member, most_bits=most_bits[member.place]) for member in members]
        scans = [_impossible_scan(alignment, options) for alignment in alignments]
        done, total = 0, _positions(members)
        for group in group_members(members, options):
            shown = None if progress is None else _after(progress, done, total)
            for member, best in zip(group, self._best_borders(group, options, shown), strict=True):
                scans[member.place] = _scan_of(alignments[member.place], member, best, options)
            done += _positions(group)
        return scans

    def _best_borders(
        self, group: Sequence[Member], options: ScanOptions, progress: Progress | None
    ) -> list[BestBorders]:
        """Best borders of members that go through the device as one.

        In the rare case that a sum outgrows its format, each goes by itself, and then with coarser sums.
        """
        joint, grid = join_members(group), _positions(group)
        planes = planes_of(joint.alignment, dna=options.precision == "compat" and joint.multiallelic)
        # the rows of the states of sites with three or more stay on the device in any case
        resident = planes.nbytes <= self.engine.budget // 2 and planes.bits.nbytes <= self.engine.max_allocation
        passes = self._plan(joint, planes, options, grid, resident=resident)
        if not passes:
            return [BestBorders.nothing(len(member.windows.at)) for member in group]
        with self.engine.profile.mark("upload sites"):
            sites = DeviceSites(self.engine, planes, resident=resident, marked=self._marked(planes))
        setup = ScanSetup.of(self.engine, planes, sites, options, bits=group[0].fraction_bits(options))
        best = _run_passes(setup, passes, grid, progress)
        if best is None and len(group) > 1:
            del sites, setup  # their memory is the device's
            return [self._best_borders([member], options, None)[0] for member in group]
        while best is None:
            setup = replace(setup, bits=setup.bits - RETRY_BITS)
            best = _run_passes(setup, passes, grid, progress)
        positions = [len(member.windows.at) for member in group]
        return best.split([member.alignment.sites for member in group], positions)

    def _check(self, alignment: Alignment, options: ScanOptions) -> None:
        """Refuse options that do not suit the sites or the device."""
        compat, ld = options.precision == "compat", options.ld
        if compat and not self.engine.traits.fp64:
            raise DeviceError(
                f"{self.engine.device.name} has no float64, which OmegaPlus' arithmetic needs; "
                "use `precision=accurate` or another `device`"
            )
        wrong = (
            (not compat and ld == "ABSDOM2",
             "`ld=ABSDOM2` is 0 for every pair (an integer abs in OmegaPlus); use ABSDOM, or `precision=compat`"),
            (options.kernel == "tiles" and not _tiles_serve(options),
             "`kernel=tiles` needs accurate precision, RSQUARE and no `border`; use auto, 1 or 2"),
            (ld != "RSQUARE" and alignment.unphased,
             f"`ld={ld}` needs haplotypes and the input is unphased; use RSQUARE, `phase=missing` or `phase=ignore`"),
            (ld != "RSQUARE" and alignment.multiallelic,
             f"`ld={ld}` needs sites of two states; add `binary=True` and `seed`, or use RSQUARE"),
            (compat and alignment.unphased,
             "`precision=compat` needs phased haplotypes (OmegaPlus shuffles unphased ones); use accurate, "
             "`phase=missing` or `phase=ignore`"),
        )  # fmt: skip
        for is_wrong, text in wrong:
            if is_wrong:
                raise UsageError(text)

    def _plan(self, joint: Member, planes: BitPlanes, options: ScanOptions, grid: int, *, resident: bool) -> list[Pass]:
        engine = self.engine
        buffers = DeviceSites.buffers(engine) * (1 if planes.valid is None else 2)
        words = planes.words + (planes.marks if self._marked(planes) else 0)
        sites = planes.nbytes - planes.plane_bytes + (planes.plane_bytes // planes.words * words if resident else 0)
        reach = 4 * (joint.alignment.sites + 2 * TILE)
        taken = engine.memory.used + sites + reach + 2 * work_bytes(engine) + grid * RESULT_BYTES
        return plan_passes(
            joint.windows, joint.alignment.sites, engine.limits(taken), border=options.tried_border,
            kernel=options.kernel, tiles=_tiles_serve(options), chunk_positions=options.chunk_positions,
            block_rows=self.block_rows, uploads=SiteUploads(0 if resident else buffers * 4 * words, buffers),
        )  # fmt: skip

    def _marked(self, planes: BitPlanes) -> bool:
        """Whether `pair_values` leaves out words that are 0."""
        return self.engine.tuning.cpu and not planes.missing


def _positions(members: Sequence[Member]) -> int:
    """Grid positions of members."""
    return sum(len(member.windows.at) for member in members)


def _tiles_serve(options: ScanOptions) -> bool:
    """Whether the tile kernel's bounds hold: exact sums of values that are never negative, all pairs of borders."""
    return options.precision == "accurate" and options.ld == "RSQUARE" and options.border < 0


def _run_passes(setup: ScanSetup, passes: list[Pass], grid: int, progress: Progress | None) -> BestBorders | None:
    """Run all passes of a scan over `grid` positions; None where a sum outgrew its format."""
    best = BestSoFar(setup.engine, grid, setup.sum_type)
    done = 0
    for walk in passes:
        _run_pass(setup, walk, best, None if progress is None else _after(progress, done, grid))
        done += len(walk.table)
    return best.collect(1.0 / setup.scale)


def _run_pass(setup: ScanSetup, walk: Pass, best: BestSoFar, progress: Progress | None) -> None:
    """One walk along the genome."""
    pace = _Pace(setup.engine)
    with ExitStack() as stack:
        arrays = stack.enter_context(pass_arrays(setup.engine, walk, setup.sum_type))
        work = PassAtWork(setup, walk, {**arrays, **best.arrays})
        candidates, tiles = CandidateScorer(work), TileScorer(work)
        stack.callback(candidates.release)
        stack.callback(tiles.release)
        for block, following in zip(walk.blocks, (*walk.blocks[1:], None), strict=True):
            compute_values(work, block)
            sum_regions(work, block)
            for start, stop in block.saves:
                save_left_sums(work, block, start, stop)
            for stretch in block.stretches:
                scorer = tiles if stretch.kernel == KERNEL_TILES else candidates
                scorer.score(block, stretch)
            if following is not None:
                save_carry(work, block, following)
            if progress is not None:
                end = pace.wait(block, last=following is None)
                progress(int((walk.table[:, 4] < end).sum()), len(walk.table))


class _Pace:
    """Keeps the host one block ahead of a device with memory of its own, while it tells the progress.

    So there is always a block at work while the next one's sites are uploaded.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._before: Checkpoint | None = None  # after the block before

    def wait(self, block: Block, *, last: bool) -> int:
        """Wait until the block before this one has ended, on CPUs and at the end this one; return the row after it."""
        if self._engine.tuning.cpu or last:
            self._engine.finish()
            return block.row0 + block.rows
        if self._before is not None:
            self._before.wait()
        self._before = self._engine.checkpoint()
        return block.row0


def _after(progress: Progress, done: int, total: int) -> Progress:
    """Progress of one pass as progress of the whole scan."""
    return lambda positions, _: progress(done + positions, total)


def _scan_of(alignment: Alignment, member: Member, best: BestBorders, options: ScanOptions) -> Scan:
    """Omega in float64 (float32 values in compat precision) and the borders in bp of the whole alignment."""
    windows = member.windows
    omega = best.omega.astype(np.float64) if options.precision == "compat" else _exact_omega(best, windows)
    scores = windows.scores(options.tried_border)
    found = (omega > 0) & windows.valid
    i, j = best.i + member.first, best.j + member.first
    first = int(alignment.positions[0])
    return Scan(
        name=alignment.name, replicate=alignment.replicate, positions=windows.at, omega=np.where(found, omega, 0.0),
        left=_border(alignment, i, found, windows.valid, first),
        right=_border(alignment, j, found, windows.valid, first), valid=scores > 0, sites=alignment.sites,
        haplotypes=alignment.copies, discarded=dict(alignment.skipped), possible=True, maxwin=windows.maxwin,
        stats=ScanStats(scores=int(scores.sum()), pairs=member.whole.pairs), enough_sites=windows.valid,
        digits=COMPAT_DIGITS if options.precision == "compat" else ACCURATE_DIGITS,
        unit=best.unit if windows.valid.any() else 0.0, of_records=_of_records(alignment),
    )  # fmt: skip


def _exact_omega(best: BestBorders, windows: Windows) -> NDArray[np.float64]:
    """omega of the chosen borders in float64, from the exact sums."""
    k, m = (windows.centre - best.i + 1).astype(np.float64), (best.j - windows.centre).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = best.within * best.unit / (k * (k - 1) / 2 + m * (m - 1) / 2)
        cross = best.cross * best.unit / (k * m)
        return np.where(best.omega > 0, within / (cross + EPSILON), 0.0)


def _border(
    alignment: Alignment, index: NDArray[np.int32], found: NDArray[np.bool_], valid: NDArray[np.bool_], first: int
) -> NDArray[np.int64]:
    """Borders in bp; a valid window in which every omega is 0 has the first site for both, an invalid one 0."""
    return np.where(found, alignment.positions[np.where(found, index, 0)], np.where(valid, first, 0))


def _impossible_scan(alignment: Alignment, options: ScanOptions) -> Scan:
    """The scan of an alignment of too few sites."""
    nothing, none, never = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    return Scan(
        alignment.name, alignment.replicate, nothing, nothing, none, none, never, alignment.sites, alignment.copies,
        dict(alignment.skipped), possible=False, maxwin=options.maxwin, of_records=_of_records(alignment),
    )  # fmt: skip


def _of_records(alignment: Alignment) -> bool:
    """Whether the input names samples and the first state of each site: VCF and the like, not ms, MaCS or FASTA."""
    return bool(alignment.samples) and alignment.ordered
