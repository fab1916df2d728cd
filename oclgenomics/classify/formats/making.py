"""Makes reports by the names of their formats."""

from __future__ import annotations

from typing import Literal, get_args

from oclgenomics.classify.device.line_joiner import DeviceJoiner
from oclgenomics.classify.formats.cami import CamiBinning
from oclgenomics.classify.formats.json_lines import JsonReport
from oclgenomics.classify.formats.kraken import KrakenReport
from oclgenomics.classify.formats.lines import HostJoiner
from oclgenomics.classify.formats.native import NativeReport
from oclgenomics.classify.formats.native_options import NativeOptions
from oclgenomics.classify.formats.report import Report
from oclgenomics.classify.formats.tsv import TsvReport
from oclgenomics.classify.options import QueryOptions, SketchOptions
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Engine

__all__ = ["FORMATS", "ReportFormat", "make_report"]

ReportFormat = Literal["native", "kraken", "tsv", "json", "cami"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)


def make_report(
    format: ReportFormat,
    lineages: Lineages,
    query: QueryOptions,
    sketch: SketchOptions,
    *,
    native: NativeOptions | None = None,
    sample: str = "sample",
    engine: Engine | None = None,
) -> Report:
    """Return the report of a format.

    Parameters
    ----------
    format : {'native', 'kraken', 'tsv', 'json', 'cami'}
    lineages : Lineages
        Of the database.
    query : QueryOptions
        Those of the query.
    sketch : SketchOptions
        Those of the database.
    native : NativeOptions, optional
        For 'native': what its lines show.
    sample : str
        For 'cami': the name of the sample.
    engine : Engine, optional
        Joins the lines of all formats but 'json' on its device; without one, the host does.

    Raises
    ------
    UsageError
        There is no such format.
    """
    if format not in FORMATS:
        raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)
    joiner = HostJoiner() if engine is None else DeviceJoiner(engine)
    if format == "kraken":
        return KrakenReport(lineages, query.lowest, joiner)
    if format == "tsv":
        return TsvReport(lineages, sketch, joiner)
    if format == "json":
        return JsonReport(lineages, sketch)
    if format == "cami":
        return CamiBinning(lineages, sample, joiner)
    return NativeReport(lineages, query, sketch, native or NativeOptions(), joiner)
