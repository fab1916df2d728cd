"""Answers by a database on a device, and the parameters of a request: those of `classify query`, with its names."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, fields, replace
from typing import Any

from oclgenomics import __version__
from oclgenomics.classify import ClassifiedReads, Index, Input, QueryOptions, Wanted
from oclgenomics.classify.formats.native import NativeOptions
from oclgenomics.classify.formats.reports import FORMATS, SUMMARIES, make_report, make_summary
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.index import options_for
from oclgenomics.classify.options import parse_share
from oclgenomics.classify.serving.queue import BodySpool
from oclgenomics.errors import ParameterError, UsageError, check_choice

FIRST_READS = b">a\nGATTACAGATTACAGATTACAGATTACAG\n>a\nCTGTAATCTGTAATCTGTAATCTGTAATC\n"
CONTENT_TYPES = {"json": "application/x-ndjson", "tsv": "text/tab-separated-values; charset=utf-8"}
YES, NO = ("", "1", "true", "yes"), ("0", "false", "no")
MAX_DIGITS, MAX_TEXT = 18, 100


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
            "formats": [*FORMATS, *SUMMARIES],
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
        inputs, query = [Input(path, None, query.interleaved)], self._for_database(query)
        with closing(self._index.iter_query(inputs, query.options, query.wanted)) as found:
            parts = (replace(part, reads=replace(part.reads, source=query.sample)) for part in found)
            yield from self._summary(parts, query) if query.format in SUMMARIES else self._report(parts, query)

    def _for_database(self, query: ClassifyQuery) -> ClassifyQuery:
        """The request with the rank that is called by default, which depends on the database."""
        return replace(query, options=options_for(self._index.database, query.options))

    def _report(self, parts: Iterator[ClassifiedReads], query: ClassifyQuery) -> Iterator[bytes | memoryview]:
        index, sketch = self._index, self._index.database.options.sketch
        report = make_report(
            query.format, index.lineages, query.options, sketch, native=query.native, sample=query.sample,
            engine=index.engine,
        )  # fmt: skip
        head: bytes | None = report.head()
        for part in parts:
            if head is not None:  # behind the first part: what is wrong from the start is an error
                yield head
                head = None
            yield report.body(part)
        yield (head or b"") + report.tail()

    def _summary(self, parts: Iterator[ClassifiedReads], query: ClassifyQuery) -> Iterator[bytes | memoryview]:
        shares = query.format in ("bracken", "shares") and query.options.tells_shares
        index, features = self._index, query.wanted.features
        sketch = index.database.options.sketch if shares else None
        tally = Tally(index.lineages, sketch, features=features, known=index.known_features)
        for part in parts:
            tally.add(part)
        yield make_summary(query.format, tally, sample=query.sample).encode("utf-8", "replace")

    def warm_up(self, folder: str) -> None:
        """Classify a few bases in all formats, so that the first request finds all that it needs."""
        with BodySpool(folder) as body:
            body.write(FIRST_READS)
            for parameters in [{"format": name} for name in FORMATS] + [{"interleaved": "1"}]:
                with closing(self.answer(body.path, parse_query(parameters))) as pieces:
                    for _ in pieces:
                        pass


@dataclass(frozen=True)
class ClassifyQuery:
    """What a request asks for.

    Attributes
    ----------
    format : str
        One of `FORMATS`, or of `SUMMARIES`, which are about all reads together.
    interleaved : bool
        Mates of a pair follow each other.
    sample : str
        Name of the sample, for formats that have one.
    options : QueryOptions
    wanted : Wanted
    native : NativeOptions
    """

    format: Any
    interleaved: bool
    sample: str
    options: QueryOptions
    wanted: Wanted
    native: NativeOptions

    @property
    def content_type(self) -> str:
        """Of the answer."""
        return CONTENT_TYPES.get(self.format, "text/plain; charset=utf-8")


def parse_query(parameters: Mapping[str, str]) -> ClassifyQuery:
    """Read the parameters of a request.

    Raises
    ------
    UsageError
        One is not known, is of another kind, or contradicts the others.
    """
    values: dict[str, Any] = {}
    for given, text in parameters.items():
        name = given.replace("-", "_")
        if name not in KINDS or name in values:
            why = "is not known here" if name not in KINDS else "is given twice"
            raise UsageError(f"the parameter {given[:40]!a} {why}")
        values[name] = KINDS[name](given, text)
    format = values.pop("format", "native")
    check_choice("format", format, FORMATS + SUMMARIES)
    native = _taken(NativeOptions, values)
    if format != "native" and native != NativeOptions():
        raise ParameterError("format", "has no use for parameters of native", format)
    mates, limit = values.pop("any_mates", False), values.pop("query_limit", None)
    wanted = Wanted(native.needs_truth, native.allhits, mates, limit, features=format == "evidence")
    options = _taken(QueryOptions, values)
    if format == "shares" and not options.tells_shares:
        raise ParameterError("format", "needs two species a read: leave out hitmin, lowest and maxcand", format)
    return ClassifyQuery(
        format, values.pop("interleaved", False), values.pop("sample", "sample"), options, wanted, native
    )


def _taken(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**{field.name: values.pop(field.name) for field in fields(kind) if field.name in values})


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise ParameterError(name, "is no whole number", text[:40])
    return int(text)


def _share(name: str, text: str) -> float:
    try:
        return parse_share(text)
    except ValueError as error:
        raise ParameterError(name, str(error), text[:40]) from None


def _truth(name: str, text: str) -> bool:
    if text.lower() not in YES + NO:
        raise ParameterError(name, "is 1 or 0", text[:40])
    return text.lower() in YES


def _text(name: str, text: str) -> str:
    if len(text) > MAX_TEXT or not text.replace("\t", " ").isprintable():
        raise ParameterError(name, f"is no line of {MAX_TEXT} characters at most", text[:40])
    return text


def _kinds() -> dict[str, Callable[[str, str], Any]]:
    """How each parameter is read."""
    kinds: dict[str, Callable[[str, str], Any]] = {}
    for field in (*fields(QueryOptions), *fields(NativeOptions)):
        kinds[field.name] = {bool: _truth, float: _share, str: _text}.get(type(field.default), _whole)
    return kinds | {
        "format": _text, "sample": _text, "interleaved": _truth, "any_mates": _truth, "query_limit": _whole,
    }  # fmt: skip


KINDS = _kinds()
