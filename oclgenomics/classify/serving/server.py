"""The server: it holds a database on the device and answers requests over HTTP, one after the other."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

from oclgenomics.classify.serving.address import Address
from oclgenomics.classify.serving.connection import Service
from oclgenomics.classify.serving.limits import Limits
from oclgenomics.classify.serving.protocol import CLOSING, AnswererMaker, error_line
from oclgenomics.classify.serving.requests import ClassifyConnection
from oclgenomics.classify.serving.work_queue import WorkQueue
from oclgenomics.io.unnamed_file import temporary_folder

__all__ = ["Server"]

END_SECONDS = 60.0  # for clients to take the answers that are there when the server ends


def _nothing(_told: object) -> None:
    pass


class Server:
    """Answers requests from the moment it is made; a context manager that ends it.

    Parameters
    ----------
    address : Address
    make : AnswererMaker
        Makes what answers, in the thread that does the work.
    limits : Limits
    tmp_dir : path, optional
        Where bodies and answers lie while they are needed; the system's folder for temporary files if not given.
    log : callable
        Told a line for each request.
    on_defect : callable
        Told of exceptions that are no fault of a request.

    Attributes
    ----------
    address : Address
        With the port that was chosen.
    queue : WorkQueue

    Raises
    ------
    OutputError
        The address cannot be listened to, or there is no folder for temporary files.
    OclGenomicsError
        What `make` raised.
    """

    def __init__(
        self,
        address: Address,
        make: AnswererMaker,
        *,
        limits: Limits | None = None,
        tmp_dir: str | os.PathLike[str] | None = None,
        log: Callable[[str], None] = _nothing,
        on_defect: Callable[[Exception], None] = _nothing,
    ) -> None:
        limits, folder = limits or Limits(), temporary_folder(tmp_dir)
        self._listener = address.listen()
        self.address = address if address.path is not None else replace(address, port=self._listener.getsockname()[1])
        try:
            self.queue = WorkQueue(make, limits.max_waiting, on_defect)
        except BaseException:
            self._stop_listening()
            raise
        self._service = Service(self.queue, limits, folder, log, on_defect)
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        self._acceptor = threading.Thread(target=self._accept, name="classify acceptor", daemon=True)
        self._acceptor.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def connections(self) -> list[threading.Thread]:
        """The threads of the connections that there are."""
        with self._lock:
            return list(self._connections.values())

    def wait(self) -> None:
        """Wait until the server ends.

        Raises
        ------
        OclGenomicsError
            The device is lost.
        """
        self.queue.wait()

    def close(self) -> None:
        """End: answer the request at work, refuse all others, and send what clients still get."""
        self._stop_listening()
        self.queue.close()
        self._acceptor.join()
        with self._lock:
            left = dict(self._connections)
        for connection in left:  # those that wait for another request need wait no longer
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        for thread in left.values():
            thread.join(END_SECONDS)

    def _stop_listening(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()
        if self.address.path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.address.path)

    def _accept(self) -> None:
        while True:
            try:
                connection, address = self._listener.accept()
            except OSError:  # closed
                return
            with self._lock:
                room = len(self._connections) < self._service.limits.max_connections
                thread = threading.Thread(target=self._serve, args=(connection, address), daemon=True)
                if room:
                    self._connections[connection] = thread
            if room:
                thread.start()
            else:
                _turn_away(connection)

    def _serve(self, connection: socket.socket, address: object) -> None:
        try:
            ClassifyConnection(connection, address, self._service)  # type: ignore[arg-type]
        except OSError:  # the client is gone
            pass
        except Exception as error:
            self._service.on_defect(error)
        finally:
            with self._lock:
                del self._connections[connection]
            connection.close()


def _turn_away(connection: socket.socket) -> None:
    line = error_line("too many connections; try again later")
    head = f"HTTP/1.1 {CLOSING} Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    with connection, contextlib.suppress(OSError):
        connection.setblocking(False)
        connection.send(head.encode() + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(line) + line)
