"""A client of the server, for Python; any other that speaks HTTP does as well."""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import IO, Any
from urllib.parse import urlencode, urlsplit

from oclgenomics.classify.serving.protocol import MAX_SECONDS
from oclgenomics.errors import InputError, OclGenomicsError, ParameterError
from oclgenomics.io.closing import Closing

PIECE_BYTES = 1 << 18
Sent = str | os.PathLike[str] | bytes


class ServerError(OclGenomicsError):
    """The server cannot be reached, has trouble of its own, or broke an answer off."""


class ServerBusyError(ServerError):
    """The server has no room for the request.

    Attributes
    ----------
    seconds : float
        After which it may have.
    """

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class Client(Closing):
    """Asks a server of `oclgenomics classify serve`; a context manager.

    Parameters
    ----------
    url : str
        "http://HOST:PORT", or "unix:PATH" for a Unix socket.
    timeout : float
        Seconds without a byte of the answer after which the server is given up; at most a day.
    patience : float
        Seconds for which a request is made again if the server is busy.

    Raises
    ------
    UsageError
        The address is none of these, or `timeout` out of range.

    Examples
    --------
    >>> from oclgenomics.classify.serving.client import Client
    >>> with Client("http://127.0.0.1:8080") as client:  # doctest: +SKIP
    ...     print(client.classify("reads.fastq.gz", format="tsv").decode())
    """

    def __init__(self, url: str, *, timeout: float = 600.0, patience: float = 60.0) -> None:
        if not 0 < timeout <= MAX_SECONDS:
            raise ParameterError("timeout", f"must be above 0 and at most {MAX_SECONDS:,.0f}", timeout)
        self.url, self._patience = url, patience
        self._connection = _connection(url, timeout)

    def close(self) -> None:
        """Close the connection; the next request opens it again."""
        self._connection.close()

    def health(self) -> dict[str, Any]:
        """Return whether the server takes requests, and how many it holds and has answered."""
        return self._json("/health")

    def info(self) -> dict[str, Any]:
        """Return what the server says of its database and of itself."""
        return self._json("/info")

    def classify(self, reads: Sent, **parameters: object) -> bytes:
        """Classify reads and return the whole report.

        Parameters
        ----------
        reads : path or bytes
            A file, or the content of one: FASTA or FASTQ, plain or gzip.
        **parameters
            Those of the server: options of a query, `format` and others.

        Raises
        ------
        InputError
            The server refuses the reads or the parameters, or the file cannot be read.
        ServerError
            The server cannot be reached, or has trouble of its own; `ServerBusyError` if it is busy for too long.
        """
        return b"".join(self.classify_parts(reads, **parameters))

    def classify_parts(self, reads: Sent, **parameters: object) -> Iterator[bytes]:
        """Classify reads and yield the report as it comes; as `classify` otherwise."""
        words = urlencode({name: _word(value) for name, value in parameters.items()})
        return self._sent("POST", f"/classify?{words}", reads)

    def _json(self, place: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(b"".join(self._sent("GET", place, None)))
        return value

    def _sent(self, method: str, place: str, reads: Sent | None) -> Iterator[bytes]:
        """Make a request, again while the server is busy, and yield the answer."""
        until = time.monotonic() + self._patience
        while True:
            try:
                yield from self._once(method, place, reads)
            except ServerBusyError as error:
                if time.monotonic() + error.seconds > until:
                    raise
                time.sleep(error.seconds)
            else:
                return

    def _once(self, method: str, place: str, reads: Sent | None) -> Iterator[bytes]:
        whole = False
        try:
            response = self._response(method, place, reads)
            while piece := response.read1(PIECE_BYTES):
                yield piece
            if response.length:  # it ended before its end
                raise http.client.IncompleteRead(b"", response.length)
            response.close()
            whole = True
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(f"{self.url}: {_trouble(error)}") from error
        finally:
            if not whole:
                self.close()

    def _response(self, method: str, place: str, reads: Sent | None) -> http.client.HTTPResponse:
        used = self._connection.sock is not None
        try:
            response = self._asked(method, place, reads)
        except (ConnectionResetError, BrokenPipeError):
            if not used:
                raise
            self.close()  # the server has closed a connection that was not in use
            response = self._asked(method, place, reads)
        if response.status != HTTPStatus.OK:
            _refuse(response)
        return response

    def _asked(self, method: str, place: str, reads: Sent | None) -> http.client.HTTPResponse:
        if reads is None or isinstance(reads, bytes):
            self._connection.request(method, place, reads)
        else:
            with _opened(reads) as file:
                headers = {"Content-Length": str(os.fstat(file.fileno()).st_size)}
                self._connection.request(method, place, file, headers)
        return self._connection.getresponse()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connection(url: str, timeout: float) -> http.client.HTTPConnection:
    if url.startswith("unix:"):
        return _UnixConnection(url.removeprefix("unix:"), timeout)
    try:
        address = urlsplit(url)
        if address.scheme == "http" and address.hostname and not address.path.strip("/"):
            return http.client.HTTPConnection(address.hostname, address.port or 80, timeout=timeout)
    except ValueError:  # no port
        pass
    raise ParameterError("url", "write http://HOST:PORT or unix:PATH", url)


def _opened(path: str | os.PathLike[str]) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=os.fspath(path)) from error


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse(response: http.client.HTTPResponse) -> None:
    """Raise what the server says."""
    text = response.read()
    try:
        message = str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        message = f"status {response.status}"
    if response.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        again = response.headers.get("Retry-After", "")
        raise ServerBusyError(message, float(again) if again.isdigit() else 1.0)
    if HTTPStatus.BAD_REQUEST <= response.status < 500:
        raise InputError(message)
    raise ServerError(message)


def _trouble(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "the answer ends before its end; the server says why"
    if isinstance(error, OSError):
        return f"cannot be reached, or hung up ({error.strerror or error})"
    return f"gave an answer that is no HTTP ({type(error).__name__})"
