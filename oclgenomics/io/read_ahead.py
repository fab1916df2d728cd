"""A thread that reads the next chunks of an input while the ones before them are worked on."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

MAX_READY = 2  # chunks, if nobody says how many

ChunkT = TypeVar("ChunkT")


class ReadAhead(Generic[ChunkT]):
    """Runs an iterator of chunks in a thread, a few chunks ahead; errors come out where the chunk would have.

    Parameters
    ----------
    chunks : iterator of bytes, or of anything but exceptions and None
        Used by the thread alone.
    ready : int
        How many chunks ahead.
    """

    def __init__(self, chunks: Iterator[ChunkT], ready: int = MAX_READY) -> None:
        self._chunks = chunks
        self._ready: SimpleQueue[ChunkT | BaseException | None] = SimpleQueue()
        self._free = threading.Semaphore(ready)
        self._stopped = self._ended = False
        self._thread = threading.Thread(target=self._run, name="read-ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for chunk in self._chunks:
                self._free.acquire()
                if self._stopped:
                    return
                self._ready.put(chunk)
            self._end(None)
        except BaseException as error:  # handed to the consumer, which raises it
            self._end(error)

    def _end(self, item: BaseException | None) -> None:
        self._ended = True
        self._ready.put(item)

    @property
    def waits(self) -> bool:
        """Nothing is ready: the next chunk has to be waited for."""
        return self._ready.empty()

    def __iter__(self) -> Iterator[ChunkT]:
        while not ((item := self._ready.get()) is None or isinstance(item, BaseException)):
            self._free.release()
            yield item
        self._ready.put(item)  # the end stays the end, and an error an error, however often somebody asks
        if item is not None:
            raise item

    def stop(self, *, wait: bool) -> bool:
        """End the thread; wait for it unless it may be blocked on a pipe. Return whether it uses the chunks no more."""
        self._stopped = True
        self._free.release()
        if wait:
            self._thread.join()
        return wait or self._ended


def read_ahead(chunks: Iterator[ChunkT], ready: int = MAX_READY) -> Generator[ChunkT, None, None]:
    """Yield the chunks, which a thread reads; it ends with the generator. Parameters are those of `ReadAhead`."""
    reader = ReadAhead(chunks, ready)
    try:
        yield from reader
    finally:
        reader.stop(wait=True)
