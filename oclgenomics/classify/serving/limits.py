"""Limits of a server."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.errors import ParameterError

__all__ = ["MAX_SECONDS", "Limits"]

MAX_SECONDS = 86_400.0  # a socket takes no infinite time, and nobody waits longer than a day


@dataclass(frozen=True)
class Limits:
    """What a server allows.

    Attributes
    ----------
    max_body : int
        Bytes of the body of a request, as sent and unpacked.
    max_waiting : int
        Requests that may wait for the one that is answered.
    max_connections : int
        Connections at a time; others are closed with a word.
    idle_seconds : float
        That a client may take to begin a request, to send its head, or to take a piece of an answer.
    least_rate : float
        Bytes per second that a client has to send of a body, beside `idle_seconds` for all of it.

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
