"""Answers by a database on a device."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from oclgenomics import __version__
from oclgenomics.classify import formats as reports
from oclgenomics.classify.api import Index
from oclgenomics.classify.options import Input
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.serving.parameters import SUMMARIES, ClassifyQuery, parse_query
from oclgenomics.classify.serving.spool import BodySpool

__all__ = ["IndexAnswerer"]

FIRST_READS = b">a\nGATTACAGATTACAGATTACAGATTACAG\n>a\nCTGTAATCTGTAATCTGTAATCTGTAATC\n"


class IndexAnswerer:
    """Classifies the reads of requests; see `protocol.Answerer`.

    Parameters
    ----------
    index : Index
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.info: Mapping[str, Any] = {
            "version": __version__,
            "device": str(index.engine.device),
            "formats": [*reports.FORMATS, *SUMMARIES],
            "database": index.facts,
        }

    def parse(self, parameters: Mapping[str, str]) -> ClassifyQuery:
        """Read the parameters of a request; see `parse_query`."""
        return parse_query(parameters)

    def answer(self, path: str, query: ClassifyQuery) -> Generator[bytes | memoryview, None, None]:
        """Classify the reads in a file and yield the report.

        Raises
        ------
        InputError, DeviceError
            As `Index.iter_query` does.
        """
        inputs = [Input(path, None, query.interleaved)]
        with closing(self._index.iter_query(inputs, query.options, query.wanted)) as found:
            parts = (replace(part, reads=replace(part.reads, source=query.sample)) for part in found)
            yield from self._summary(parts, query) if query.format in SUMMARIES else self._report(parts, query)

    def _report(
        self, parts: Iterator[ClassifiedReads], query: ClassifyQuery
    ) -> Generator[bytes | memoryview, None, None]:
        index, sketch = self._index, self._index.database.options.sketch
        report = reports.make_report(
            query.format, index.lineages, query.options, sketch, native=query.native, sample=query.sample,
            engine=index.engine,
        )  # fmt: skip
        head: bytes | None = report.head()
        for part in parts:
            if head is not None:  # behind the first part: what is wrong from the start is told before anything comes
                yield head
                head = None
            yield report.body(part)
        yield (head or b"") + report.tail()

    def _summary(
        self, parts: Iterator[ClassifiedReads], query: ClassifyQuery
    ) -> Generator[bytes | memoryview, None, None]:
        shares = query.format == "bracken" and query.options.tells_shares
        tally = reports.Tally(self._index.lineages, self._index.database.options.sketch if shares else None)
        for part in parts:
            tally.add(part)
        make: dict[str, Callable[[], str]] = {
            "kreport": lambda: reports.kreport(tally),
            "abundances": lambda: reports.abundance_lists(tally),
            "krona": lambda: reports.krona_text(tally),
            "bracken": lambda: reports.bracken_table(tally),
            "cami-profile": lambda: reports.cami_profile(tally, query.sample),
        }
        yield make[query.format]().encode("utf-8", "replace")

    def warm_up(self, folder: str) -> None:
        """Classify a few letters in all formats, so that the first request finds all that it needs."""
        with BodySpool(folder) as body:
            body.write(FIRST_READS)
            for parameters in [{"format": name} for name in reports.FORMATS] + [{"interleaved": "1"}]:
                with closing(self.answer(body.path, parse_query(parameters))) as pieces:
                    for _ in pieces:
                        pass
