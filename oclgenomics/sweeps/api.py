"""The verbs, in the order in which a user meets them: scans, thresholds, peaks."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from oclgenomics.app.alignment_jobs import file_names, source_of
from oclgenomics.app.jobs import ExecutorLike, spread_over
from oclgenomics.app.run import EngineLike, Run, all_parts_of, verb
from oclgenomics.app.significance import check_rates
from oclgenomics.errors import ParameterError, UsageError, check_choice
from oclgenomics.sweeps.jobs import Backgrounds, ScanJob, SweepPart, ThresholdJob, scan_parts
from oclgenomics.sweeps.options import JUDGED, Statistic, SweepOptions, unrefined
from oclgenomics.sweeps.result import Scan, Scans
from oclgenomics.sweeps.significance.combined import COMBINED
from oclgenomics.sweeps.significance.peaks import Peaks, cut_at, merge_rows
from oclgenomics.sweeps.significance.thresholds import Significance, check_compared, compare
from oclgenomics.variation import Alignment, ReadOptions
from oclgenomics.variation.genes import Genes, read_genes
from oclgenomics.variation.sources import AlignmentSource, Excluded, Simulated


@verb
def iter_scan(
    source: AlignmentSource,
    options: SweepOptions | None = None,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    backgrounds: Backgrounds = None,
    thresholds: Significance | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Generator[Scan, None, None]:
    """Give the scans of an input one by one; parameters and errors as for `scan`.

    Yields
    ------
    Scan
        One alignment (or one batch of small ones) is in memory at a time, or two where they are small enough to be
        read ahead. Statistics that compare alignments with the whole input are given after the last one was read.
    """
    options, run = options or SweepOptions(), run or Run()
    if thresholds is not None and options.refine is None:
        raise ParameterError("thresholds", "has no effect without `refine`, the bp between further positions")
    parts: Generator[SweepPart, None, None]
    if executor is None:
        how: dict[str, Any] = {"exclude": exclude, "backgrounds": backgrounds, "thresholds": thresholds}
        parts = scan_parts(source, options, engine, run, reading=reading, on_alignment=on_alignment, **how)
    else:
        _no_callback(on_alignment)
        job = ScanJob(file_names(source), options, reading, exclude, backgrounds)
        parts = spread_over(executor, engine).parts(job, run)
    with closing(parts):
        yield from (part for part in parts if isinstance(part, Scan))


def _no_callback(on_alignment: Callable[[Alignment], None] | None) -> None:
    """Refuse to call back for alignments that other processes read."""
    if on_alignment is not None:
        raise ParameterError("on_alignment", "cannot be called with `executor`, whose workers read the input")


@all_parts_of(iter_scan)
def scan(scans: list[Scan]) -> Scans:
    """Compute statistics of selective sweeps along an input.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        A file (ms, MaCS, FASTA, VCF or BCF, uncompressed or compressed, "-" for standard input; a tree sequence; a VCF
        Zarr), an alignment from elsewhere (`Alignment.from_haplotypes`, `Alignment.from_genotypes`), or several of
        them.
    options : SweepOptions, optional
        Statistics, windows and filters.
    reading : ReadOptions
        What is read of files: length of the region, format, samples, phase, and the records of a region alone. Exact
        positions, and the records of RAiSD in compat precision, are asked for here.
    exclude : BedRegions or path, optional
        Regions, or a BED file of them; `SweepOptions.on_exclude` says what they mean.
    on_alignment : callable, optional
        Called with each alignment as it was read, just before it is filtered and scanned.
    backgrounds : mapping or path, optional
        What statistics compare alignments with (`Scan.backgrounds` of another scan), or a file of neutral
        replicates that `sweeps threshold --json` wrote, instead of this input.
    thresholds : Significance, optional
        Of neutral replicates (`find_thresholds`, `read_thresholds`): with `SweepOptions.refine`, rows that pass one of
        them get further rows around them, instead of those beyond a quantile.
    engine : Engine, Device or str, optional
        An engine in use already, which stays open; or where to run, as `oclgenomics.runtime.select_device` takes it.
        The device is opened after the first alignment has been read, so that errors in the input come first.
    run : Run, optional
        Host threads that decompress and parse the input; and progress, called with bytes of the file at work.
    executor : Executor or Spread, optional
        Who does pieces of the work, each in its own process; inputs are files then, and there is no `on_alignment`. See
        `oclgenomics.app.jobs.Spread`.

    Returns
    -------
    Scans
        A sequence of `Scan`, one for each chromosome or replicate, in the order of the input. `iter_scan` gives them
        one by one.

    Raises
    ------
    InputError
        Anything wrong with the input.
    UsageError
        Options that do not suit the input.
    DeviceError
        No such device, or not enough device memory.

    Examples
    --------
    >>> from oclgenomics.sweeps import SweepOptions, scan
    >>> for found in scan("chr20.vcf.gz", SweepOptions(statistics=("mu", "tajima_d"))):  # doctest: +SKIP
    ...     print(found.name, found.positions[found.best("mu")])
    """
    return Scans(scans)


@verb
def find_thresholds(
    source: AlignmentSource,
    options: SweepOptions | None = None,
    *,
    fpr: Sequence[float] = (0.05,),
    combined: Sequence[Statistic] = (),
    length: int | None = None,
    reading: ReadOptions = ReadOptions(),
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Significance:
    """Scan neutral replicates and find the values that a neutral alignment passes with given probabilities.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        The replicates: a file, or alignments such as `oclgenomics.simulate.NeutralReplicates` gives.
    options : SweepOptions, optional
        Those of the scan that is judged, without `grid`; what is said of `refine` has no effect.
    fpr : sequence of float
        False-positive rates per replicate and statistic, each between 0 and 1.
    combined : sequence of str, optional
        Statistics that the combined score adds up, two or more of those of the scan.
    length : int, optional
        Of a replicate, bp, for the record; that of `reading` if not given.
    reading, on_alignment, engine
        As for `scan`.
    run : Run, optional
        As for `scan`; progress is called with (replicates that have come, None).
    executor : Executor or Spread, optional
        As for `scan`; besides files, workers take `oclgenomics.simulate.NeutralReplicates`, each of which they simulate
        themselves.

    Raises
    ------
    UsageError
        A rate outside its range, or too small for so few replicates; options that do not suit the replicates, such as
        statistics between two populations of `NeutralReplicates`, which are of one.
    InputError, DeviceError
        As for `scan`.

    Examples
    --------
    >>> from oclgenomics.simulate import NeutralReplicates, Region
    >>> from oclgenomics.sweeps import find_thresholds
    >>> neutral = NeutralReplicates(Region(50, 100_000, 10_000, theta=50, rho=50), 1, 1_000)
    >>> find_thresholds(neutral, fpr=(0.05, 0.01)).to_frame()  # doctest: +SKIP
    """
    options, run = unrefined(options or SweepOptions()), run or Run()
    combined = check_questions(options, fpr, combined)
    check_compared(options.statistics, simulated=isinstance(source, Simulated))
    whole = reading.length if length is None else length
    if executor is None:
        parts = ThresholdJob(source, options, reading).parts(engine, run, on_alignment=on_alignment)
    else:
        _no_callback(on_alignment)
        parts = spread_over(executor, engine).parts(ThresholdJob(source_of(source), options, reading), run)
    with closing(parts):
        scans = (part for part in parts if isinstance(part, Scan))
        return Significance.of(scans, options.statistics, fpr, None if whole is None else int(whole), combined)


def check_questions(
    options: SweepOptions, fpr: Sequence[float], combined: Sequence[Statistic] = ()
) -> Sequence[Statistic]:
    """Refuse what cannot be asked of neutral replicates; return the statistics to combine in their order.

    Raises
    ------
    UsageError
        A rate outside its range, a grid, or statistics that cannot be combined.
    """
    if options.grid is not None:
        raise ParameterError("grid", "has other distances on replicates than on the data; use `step`", options.grid)
    check_rates(fpr)
    for name in combined:
        check_choice("combined", name, options.statistics)
    if len(set(combined)) == 1:
        raise ParameterError("combined", "a combined score is of two statistics or more", combined[0])
    return [name for name in options.statistics if name in combined]


def find_peaks(
    scans: Sequence[Scan],
    statistic: str = "mu",
    *,
    threshold: float | Significance | None = None,
    top: int | None = None,
    quantile: float | None = None,
    fpr: float | None = None,
    merge: int = 0,
    genes: Genes | str | os.PathLike[str] | None = None,
) -> Peaks:
    """Find the regions in which a statistic is most like a sweep; one of `threshold`, `top`, `quantile` says how much.

    A function of its arguments alone, quick and on no device, so it takes neither an engine nor a run.

    Parameters
    ----------
    scans : sequence of Scan
        All scans of an input (`scan`), or a report of them (`read_report`).
    statistic : str
        One of `STATISTICS`, or 'combined'.
    threshold : float or Significance, optional
        Rows with a larger value, or a smaller one of a statistic that a sweep lowers. What neutral replicates say
        (`find_thresholds`, `read_thresholds`) gives p-values, too.
    top : int, optional
        So many rows that are most like a sweep.
    quantile : float, optional
        Rows beyond this quantile, such as 0.995.
    fpr : float, optional
        False-positive rate of the threshold from neutral replicates; the first that they were asked for if not given.
    merge : int
        Windows at most so many bp apart are one region.
    genes : Genes or path, optional
        An annotation (GFF3, GTF or BED): peaks get the genes that overlap them, and the nearest one.

    Raises
    ------
    UsageError
        Not one of the three is given, `fpr` without neutral replicates, a statistic that was not scanned, or a value
        out of range; neutral replicates of other data or options than the scan's.

    Examples
    --------
    >>> from oclgenomics.sweeps import find_peaks, read_report
    >>> find_peaks(read_report("chr20.tsv"), "tajima_d", quantile=0.995).to_frame()  # doctest: +SKIP
    """
    annotation = genes if genes is None or isinstance(genes, Genes) else read_genes(genes)
    if sum(given is not None for given in (threshold, top, quantile)) != 1:
        raise UsageError("which rows count is for you to say: give one of `threshold`, `top` and `quantile`")
    if fpr is not None and not isinstance(threshold, Significance):
        raise ParameterError("fpr", "has no effect without a `threshold` from neutral replicates")
    check_choice("statistic", statistic, JUDGED)
    if statistic == COMBINED and isinstance(threshold, Significance):
        if threshold.combination is None:
            raise ParameterError("statistic", "the neutral replicates of `threshold` were not combined", statistic)
        scans = [threshold.judged(one) for one in scans]
    if any(statistic not in one.values for one in scans):
        raise ParameterError("statistic", "is not in the scan", statistic)
    null = compared = None
    if isinstance(threshold, Significance):
        null, compared = threshold, compare(threshold, scans, "the scan")
        chosen = threshold.threshold(statistic, fpr)
        value, fpr = chosen.value, chosen.fpr
    elif threshold is not None:
        value = threshold
    else:
        value = cut_at(scans, statistic, top=top, quantile=quantile)
    regions = tuple(merge_rows(scans, statistic, value, merge, null))
    refined = any(one.fine is not None for one in scans)
    return Peaks(statistic, regions, value, fpr, compared, annotation, refined)
