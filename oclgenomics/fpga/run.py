"""Every omega of a scan as an FPGA design computes it, beside the scan of the same data on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Literal, get_args

from hls_model.config import Config
from hls_model.presets import load
from hls_model.resources import check_fits
from oclgenomics.errors import ParameterError
from oclgenomics.fpga.alignment_run import AlignmentRun, alignment_run
from oclgenomics.fpga.matrix import Stretch, check_span, exact_sums, pair_values, recurrence_sums, stretches
from oclgenomics.fpga.position_run import Place, PositionRun, run_position
from oclgenomics.fpga.run_result import ScanRun
from oclgenomics.omega.device.scanner import MIN_SITES, OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.windows import Windows, find_windows
from oclgenomics.omega.sites.sources import AlignmentSource, filtered_batches
from oclgenomics.runtime import Engine
from oclgenomics.variation.read_options import ReadOptions

if TYPE_CHECKING:
    from oclgenomics.omega.result import Scan
    from oclgenomics.runtime import Device
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["MATRICES", "Matrix", "check_modelled", "run_scan"]

Matrix = Literal["float32", "exact"]
"""How M is made: by the recurrence in float32, or summed in float64 and rounded once to float32."""

MATRICES: tuple[Matrix, ...] = get_args(Matrix)

MAX_THREADS = 4


def run_scan(
    source: AlignmentSource,
    options: ScanOptions,
    design: Config | str = "u200",
    *,
    matrix: Matrix = "float32",
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> ScanRun:
    """Compute every omega of a scan as a design does, and compare the maxima with those of the scan.

    The hardware's arithmetic is that of `hls_model.functional`: float32, the order of Fig. 8 of the paper, subnormals
    flushed to zero, a maximum for each lane, and their merge. Its operands come from the matrix M of Eq. 3, which is
    defined here as follows.

    - The value of a pair of sites is n r^2 in float32, as `omega scan` sums it (see docs/omega.md): unphased calls,
      missing states and sites of many states have the values that they have there.
    - With `matrix="float32"`, M follows from the values by the recurrence, each operation rounded to float32, in the
      order of OmegaPlus, which is the host's software in the paper:
      M[i, j] = ((v[i, j] + M[i, j - 1]) + M[i + 1, j]) - M[i + 1, j - 1].
      What differs from the scan is then the error of building M and that of the lanes together.
    - With `matrix="exact"`, M is summed in float64 and rounded once to float32: the error of the lanes alone.

    Parameters
    ----------
    source, options, reading, exclude, on_alignment, engine, device, max_memory
        As for `oclgenomics.omega.api`. `options` have to have every pair of borders (`border=-1`), r^2
        (`ld="RSQUARE"`) and `precision="accurate"`.
    design : Config or str
        A design, or the name of a preset or .toml file. Lanes, lane map and remainder decide who finds a maximum; the
        maximum itself is the same for all, because the merge keeps the order of the sequential loop.
    matrix : {'float32', 'exact'}
    threads : int, optional
        Host threads that read the input, and that compute; one per core, at most 4, if not given.
    progress : callable, optional
        Called with (grid positions of an alignment done, in all).

    Returns
    -------
    ScanRun

    Raises
    ------
    ModelError
        An unknown design, or one that does not fit its board.
    UsageError
        Options that the pipeline does not do, or a window of more than 20,000 sites.
    InputError, DeviceError
        As for `oclgenomics.omega.api`.

    Notes
    -----
    M is held for a stretch of sites at a time, at least as long as a window, in float32 and in float64: 12 bytes times
    the square of its sites, or 0.45 GB at most for windows of up to 6,144 sites, and 4.8 GB for 20,000.

    Examples
    --------
    >>> from oclgenomics.fpga import run_scan
    >>> from oclgenomics.omega import ScanOptions
    >>> options = ScanOptions(grid=500, minwin=1_000, maxwin=100_000)
    >>> found = run_scan("chr20.vcf.gz", options, "u200")  # doctest: +SKIP
    >>> found.summary()["largest_error"], found.summary()["other_windows"]  # doctest: +SKIP
    """
    check_modelled(options, matrix)
    config = load(design) if isinstance(design, str) else design
    check_fits(config)
    workers = threads or min(os.cpu_count() or 1, MAX_THREADS)
    done: list[AlignmentRun] = []
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(workers))
        batches = filtered_batches(
            source, options, reading=reading, exclude=exclude, on_alignment=on_alignment, threads=threads
        )
        for batch in stack.enter_context(closing(batches)):
            for one in batch.alignments:
                if (windows := _windows(one, options)) is not None:
                    check_span(windows, one.name)
            engine = engine or stack.enter_context(Engine(device, max_memory=max_memory))
            scans = OmegaScanner(engine).scan_batch(batch.alignments, options)
            for prepared, scan in zip(batch.prepared, scans, strict=True):
                found = _run_alignment(prepared.alignment, scan, options, config, matrix, engine, pool, progress)
                done.append(alignment_run(prepared.alignment, scan, found, prepared.discarded))
            del batch  # before the next one is read
    return ScanRun(tuple(done), config, matrix)


def check_modelled(options: ScanOptions, matrix: str = "float32") -> None:
    """Refuse what the pipeline does not do.

    Raises
    ------
    UsageError
        Borders, measures or precisions that are not modelled, or an unknown matrix.
    """
    if options.border >= 0:
        raise ParameterError("border", "the pipeline tries every pair of borders; leave it at -1", options.border)
    if options.ld != "RSQUARE":
        raise ParameterError("ld", "the pipeline sums r2; leave it at RSQUARE", options.ld)
    if options.precision != "accurate":
        text = "the hardware is compared with the scan in accurate precision; leave it at that"
        raise ParameterError("precision", text, options.precision)
    if matrix not in MATRICES:
        raise ParameterError("matrix", f"choose one of {', '.join(MATRICES)}", matrix)


def _windows(alignment: Alignment, options: ScanOptions) -> Windows | None:
    """The windows of an alignment; None where there are too few sites to scan."""
    return find_windows(alignment.positions, options) if alignment.sites >= MIN_SITES else None


def _run_alignment(
    alignment: Alignment,
    scan: Scan,
    options: ScanOptions,
    config: Config,
    matrix: Matrix,
    engine: Engine,
    pool: ThreadPoolExecutor,
    progress: Callable[[int, int | None], None] | None,
) -> dict[int, PositionRun]:
    """What the hardware finds at the grid positions that have a window, borders as sites of the alignment."""
    found: dict[int, PositionRun] = {}
    windows = _windows(alignment, options)
    if windows is None:
        return found
    for stretch in stretches(windows):
        found.update(_run_stretch(alignment, windows, stretch, config, matrix, engine, pool))
        if progress is not None:
            progress(int(stretch.grid[-1]) + 1, len(scan.positions))
    return found


def _run_stretch(
    alignment: Alignment,
    windows: Windows,
    stretch: Stretch,
    config: Config,
    matrix: Matrix,
    engine: Engine,
    pool: ThreadPoolExecutor,
) -> Iterator[tuple[int, PositionRun]]:
    """What the hardware finds at the positions of a stretch; borders as sites of the alignment."""
    values = pair_values(alignment, stretch, engine)
    sums = exact_sums(values, windows.span)
    M = recurrence_sums(values, windows.span) if matrix == "float32" else values
    if matrix == "exact":
        M[...] = sums  # rounds each once
    places = [Place.of(windows, index, stretch.first) for index in stretch.grid.tolist()]
    runs = pool.map(lambda place: run_position(M, sums, place, config), places)
    return zip(stretch.grid.tolist(), [one.moved(stretch.first) for one in runs], strict=True)
