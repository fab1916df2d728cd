"""A thread that reads the next chunks of an input while the ones before them are worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import SimpleQueue

__all__ = ["ReadAhead"]

MAX_READY = 2  # chunks


class ReadAhead:
    """Runs an iterator of chunks in a thread, a few chunks ahead; errors come out where the chunk would have.

    Parameters
    ----------
    chunks : iterator of bytes
        Used by the thread alone.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ready: SimpleQueue[bytes | BaseException | None] = SimpleQueue()
        self._free = threading.Semaphore(MAX_READY)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="read-ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for chunk in self._chunks:
                self._free.acquire()
                if self._stopped:
                    return
                self._ready.put(chunk)
            self._ready.put(None)
        except BaseException as error:  # handed to the consumer, which raises it
            self._ready.put(error)

    def __iter__(self) -> Iterator[bytes]:
        while isinstance(item := self._ready.get(), bytes):
            self._free.release()
            yield item
        self._ready.put(item)  # the end stays the end, and an error an error, however often somebody asks
        if item is not None:
            raise item

    def stop(self, *, wait: bool) -> None:
        """End the thread; wait for it unless it may be blocked on a pipe."""
        self._stopped = True
        self._free.release()
        if wait:
            self._thread.join()
