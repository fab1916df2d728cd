"""Reading of the next alignment in the background while the one before it is worked on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from oclgenomics.io.raw_file import Progress
from oclgenomics.variation.alignment import Alignment

__all__ = ["PREFETCH_BYTES", "ProgressGate", "one_ahead"]

PREFETCH_BYTES = 1 << 30  # what programs that scan alignment after alignment allow


class ProgressGate:
    """Passes a reader's progress on only while somebody waits for an alignment; safe to call from any thread."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._open = True  # the first alignment is waited for already
        self._lock = threading.Lock()

    def __call__(self, done: int, total: int | None) -> None:
        with self._lock:
            if self._open:
                self._progress(done, total)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let progress through; none comes any more when this ends."""
        with self._lock:
            self._open = True
        try:
            yield
        finally:
            with self._lock:
                self._open = False


def one_ahead(
    alignments: Generator[Alignment, None, None], limit: int, gate: ProgressGate, stop: Callable[[], None]
) -> Iterator[Alignment]:
    """The same alignments; after one that is smaller than `limit`, the next is read in a thread at once.

    Parameters
    ----------
    alignments : generator of Alignment
        The reader; closed at the end.
    limit : int
        Bytes of packed planes. The size of an alignment is only known when it is read, so that of the one before it
        decides. 0 reads each when it is asked for.
    gate : ProgressGate
        Open while the caller waits.
    stop : callable
        Makes the reader end soon; called when no more alignments are wanted.
    """
    with ThreadPoolExecutor(1, "next-alignment") as thread:
        coming: Future[Alignment | None] | None = None
        try:
            while True:
                with gate.waiting():
                    alignment = next(alignments, None) if coming is None else coming.result()
                if alignment is None:
                    return
                small = alignment.packed_bytes < limit
                coming = thread.submit(next, alignments, None) if small else None
                handed = [alignment]
                del alignment  # the caller's alone, so that it can be gone before the next one is read
                yield handed.pop()
        finally:
            stop()
            thread.shutdown()
            alignments.close()
