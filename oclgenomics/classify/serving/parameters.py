"""Parameters of a request: those of `classify query`, with its names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from oclgenomics.classify.formats import FORMATS, NativeOptions
from oclgenomics.classify.options import QueryOptions, Wanted
from oclgenomics.errors import ParameterError, UsageError

__all__ = ["SUMMARIES", "ClassifyQuery", "parse_query"]

SUMMARIES = ("kreport", "abundances", "krona", "bracken", "cami-profile")
CONTENT_TYPES = {"json": "application/x-ndjson", "tsv": "text/tab-separated-values; charset=utf-8"}
YES, NO = ("", "1", "true", "yes"), ("0", "false", "no")
MAX_DIGITS, MAX_TEXT = 18, 100


@dataclass(frozen=True)
class ClassifyQuery:
    """What a request asks for.

    Attributes
    ----------
    format : str
        One of `FORMATS`, or of `SUMMARIES`, which tell of all reads together.
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
    if format not in FORMATS + SUMMARIES:
        raise ParameterError("format", f"choose one of {', '.join(FORMATS + SUMMARIES)}", format)
    native = _taken(NativeOptions, values)
    if format != "native" and native != NativeOptions():
        raise ParameterError("format", "has no use for parameters of native", format)
    wanted = Wanted(native.needs_truth, native.allhits, values.pop("any_mates", False), values.pop("query_limit", None))
    options = _taken(QueryOptions, values)
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
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise ParameterError(name, "is no share: write 0.8, or 80 for percent", text[:40])
    return value / 100 if value > 1 else value


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
