"""The outputs of a query, written while it goes on, and the ones that tell of all its reads together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import binary_output, text_output
from oclgenomics.classify.commands.report_options import native_options, text_files

if TYPE_CHECKING:
    from oclgenomics.classify.formats.report import ByteSink, Report
    from oclgenomics.classify.options import QueryOptions, SketchOptions
    from oclgenomics.classify.result import ClassifiedReads
    from oclgenomics.classify.taxonomy.lineages import Lineages
    from oclgenomics.runtime import Engine

__all__ = ["ReportFiles"]


class ReportFiles:
    """All outputs of a command.

    Parameters
    ----------
    args : Namespace
    lineages : Lineages
    options : QueryOptions
    sketch : SketchOptions
        Those of the database.
    engine : Engine, optional
        Joins lines.
    candidates : bool
        Whether the candidates of reads are those of a query, from which abundances may be estimated.

    Attributes
    ----------
    tally : Tally
    """

    def __init__(
        self,
        args: argparse.Namespace,
        lineages: Lineages,
        options: QueryOptions,
        sketch: SketchOptions,
        engine: Engine | None = None,
        *,
        candidates: bool = True,
    ) -> None:
        from oclgenomics.classify.formats import Tally, TargetHits

        self._args, self._lineages, self._options, self._sketch = args, lineages, options, sketch
        self._engine, self._native = engine, native_options(args)
        shares = candidates and options.tells_shares and (args.bracken or args.abundance_per)
        self.tally = Tally(lineages, sketch if shares else None)
        self._hits = (
            TargetHits(lineages, options.highest, sketch, self._native) if getattr(args, "hits_per_ref", None) else None
        )

    @property
    def on_part(self) -> list[Callable[[ClassifiedReads], None]]:
        """What sees each part."""
        return [self.tally.add, *([] if self._hits is None else [self._hits.add])]

    def open(self, stack: ExitStack) -> list[tuple[ByteSink, Report]]:
        """Open the outputs that are written part by part, and return them with what is written."""
        return [(stack.enter_context(text_output(path, "wb")), report) for path, report in self._reports()]

    def _reports(self) -> Iterator[tuple[str, Report]]:
        from oclgenomics.classify.formats import make_report
        from oclgenomics.classify.formats.read_texts import ReadTexts

        args, sample = self._args, _sample(self._args)
        known: tuple[Any, ...] = (self._lineages, self._options, self._sketch)
        yield args.output, make_report(args.format, *known, native=self._native, sample=sample, engine=self._engine)
        if args.cami:
            yield args.cami, make_report("cami", *known, sample=sample, engine=self._engine)
        for name, classified in (("classified_out", True), ("unclassified_out", False)):
            given = getattr(args, name, None)
            for path, mates in text_files(given) if given else ():
                yield path, ReadTexts(classified=classified, mates=mates)  # type: ignore[arg-type]

    def write_summaries(self) -> None:
        """Write the outputs that tell of all reads."""
        for path, text in self._summaries():
            with text_output(path, "wb") as stream:
                stream.write(text.encode("utf-8", "replace"))
        if self._args.plot:
            self._draw(self._args.plot)

    def _draw(self, path: str) -> None:
        from oclgenomics.app.figures import plot_format, save_plot
        from oclgenomics.classify.plots import plot_sample

        figure = plot_sample(self.tally, title=_sample(self._args))
        with binary_output(path) as stream:
            save_plot(figure, stream, plot_format(path))

    def _summaries(self) -> Iterator[tuple[str, str]]:
        from oclgenomics.classify import formats as reports

        args, tally = self._args, self.tally
        makers: dict[str, Callable[[], str]] = {
            "kreport": lambda: reports.kreport(tally),
            "abundances": lambda: reports.abundance_lists(tally, args.abundance_per, self._native),
            "krona": lambda: reports.krona_text(tally),
            "cami_profile": lambda: reports.cami_profile(tally, _sample(args)),
            "bracken": lambda: reports.bracken_table(tally),
        }
        for name, make in makers.items():
            if path := getattr(args, name):
                yield path, make()
        if self._hits is not None:
            yield args.hits_per_ref, self._hits.text()


def _sample(args: argparse.Namespace) -> str:
    """The name of the sample: that of its first file."""
    first: str = next(name for kind in ("results", "reads", "paired") for name in getattr(args, kind, ()))
    return "sample" if first == "-" else os.path.basename(first).partition(".")[0]
