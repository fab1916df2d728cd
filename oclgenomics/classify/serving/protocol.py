"""What the server and its clients agree on: statuses, errors and parameters."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol
from urllib.parse import parse_qsl

from oclgenomics.errors import InputError, OclGenomicsError, UsageError
from oclgenomics.io.plain_json import json_text

__all__ = [
    "Answerer", "AnswererMaker", "HttpError", "Query", "busy", "error_line", "parse_parameters", "refusal_of",
]  # fmt: skip

MAX_PARAMETERS = 64
BAD_REQUEST, TOO_BUSY, INTERNAL, CLOSING = 400, 429, 500, 503


class Query(Protocol):
    """What a request asks for."""

    @property
    def content_type(self) -> str: ...


class Answerer(Protocol):
    """What a server serves.

    `info` is told to whoever asks, as JSON. `parse` takes the parameters of a request, of which it refuses what it does
    not know by a `UsageError`; it is called from any thread. `answer` yields the answer for the reads in a file; it
    is called from one thread, the one that made the answerer.
    """

    @property
    def info(self) -> Mapping[str, Any]: ...

    def parse(self, parameters: Mapping[str, str]) -> Query: ...

    def answer(self, path: str, query: Any) -> Generator[bytes | memoryview, None, None]: ...


class AnswererMaker(Protocol):
    """Makes the answerer, in the thread that is going to use it."""

    def __call__(self) -> AbstractContextManager[Answerer]: ...


class HttpError(Exception):
    """A request that is refused.

    Attributes
    ----------
    status : int
    headers : mapping of str to str
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}


def busy(seconds: float) -> HttpError:
    """Return the refusal of a request for which there is no room; it may come again after so many seconds."""
    again = max(1, round(seconds))
    message = f"too many requests are waiting; try again in {again} s"
    return HttpError(TOO_BUSY, message, {"Retry-After": str(again)})


def error_line(message: str) -> bytes:
    """Return the body of a refusal: one line of JSON."""
    return json_text({"error": " ".join(message.split())}).encode() + b"\n"


def parse_parameters(query: str) -> dict[str, str]:
    """Return the parameters behind the question mark of an address; one without a value is "".

    Raises
    ------
    UsageError
        They are malformed or too many, or one is there twice.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise UsageError(f"the parameters are no text in UTF-8, or more than {MAX_PARAMETERS}") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(f"the parameter {name[:40]!a} is given twice")
        found[name] = value
    return found


def refusal_of(error: Exception, path: str | None = None) -> HttpError:
    """Return how an error is told to a client, for which a file of the server is "the body"."""
    if isinstance(error, HttpError):
        return error
    if not isinstance(error, OclGenomicsError):
        return HttpError(INTERNAL, "a defect of the program; the server's messages say more")
    text = str(error) if path is None else str(error).replace(path, "the body")
    return HttpError(BAD_REQUEST if isinstance(error, (InputError, UsageError)) else INTERNAL, text)
