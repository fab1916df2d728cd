"""What the server and its clients agree on: limits, statuses, errors and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl

from oclgenomics.errors import InputError, OclGenomicsError, ParameterError, UsageError
from oclgenomics.io.json_text import json_text

MAX_SECONDS = 86_400.0  # nobody waits longer than a day
MAX_PARAMETERS = 64


@dataclass(frozen=True)
class Limits:
    """What a server allows.

    Attributes
    ----------
    max_body : int
        Bytes of the body of a request, as sent and decompressed.
    max_waiting : int
        Requests that may wait for the one that is answered.
    max_connections : int
        Connections at a time; others are closed with a word.
    idle_seconds : float
        That a client may take to begin a request and send its head, or to take a piece of an answer.
    least_rate : float
        Bytes per second that a client has to send of a body, on top of `idle_seconds` for all of it.

    Raises
    ------
    UsageError
        One is not above 0, or `idle_seconds` more than a day; `max_waiting` may be 0.
    """

    max_body: int = 1 << 30
    max_waiting: int = 16
    max_connections: int = 64
    idle_seconds: float = 30.0
    least_rate: float = 16384.0

    def __post_init__(self) -> None:
        for name in ("max_body", "max_connections", "idle_seconds", "least_rate"):
            if not getattr(self, name) > 0:
                raise ParameterError(name, "must be above 0", getattr(self, name))
        if self.idle_seconds > MAX_SECONDS:
            raise ParameterError("idle_seconds", f"must be at most {MAX_SECONDS:,.0f}", self.idle_seconds)
        if self.max_waiting < 0:
            raise ParameterError("max_waiting", "must be 0 or more", self.max_waiting)

    def body_seconds(self, length: int | None) -> float:
        """Return how long a client may take for a body; one of unknown length may be of any."""
        sending = (self.max_body if length is None else length) / self.least_rate
        return min(self.idle_seconds + sending, MAX_SECONDS)


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
    return HttpError(HTTPStatus.TOO_MANY_REQUESTS, message, {"Retry-After": str(again)})


def ending() -> HttpError:
    """Return the refusal of a request for which the server has no time any more."""
    return HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "the server is ending")


def error_line(message: str) -> bytes:
    """Return the body of a refusal: one line of JSON."""
    return json_text({"error": " ".join(message.split())}).encode() + b"\n"


def refusal_of(error: Exception, path: str | None = None) -> HttpError:
    """Return how an error is reported to a client, for which a file of the server is "the body"."""
    if isinstance(error, HttpError):
        return error
    if not isinstance(error, OclGenomicsError):
        return HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of the program; the server's messages say more")
    text = str(error) if path is None else str(error).replace(path, "the body")
    of_request = isinstance(error, (InputError, UsageError))
    return HttpError(HTTPStatus.BAD_REQUEST if of_request else HTTPStatus.INTERNAL_SERVER_ERROR, text)


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
