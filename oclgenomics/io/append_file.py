"""A file that parts are appended to, by several threads where they can."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from oclgenomics.io.atomic_file import WholeFile

__all__ = ["Appending"]


class Appending:
    """The end of a file in the making. Used by one thread, which lets others write.

    Attributes
    ----------
    end : int
        Bytes so far, those included that are still being written.
    """

    def __init__(self, file: WholeFile, pool: ThreadPoolExecutor) -> None:
        self._file, self._pool = file, pool
        self.end = 0

    def put(self, *parts: bytes | memoryview) -> Future[None]:
        """Append some parts, one after the other; they have to stay as they are until the future has its result.

        Raises
        ------
        OutputError
            They cannot be written; the future raises it, too.
        """
        place, self.end = self.end, self.end + sum(map(len, parts))
        if self._file.seekable:
            return self._pool.submit(self._write_at, parts, place)
        for part in parts:
            self._file.write(part)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _write_at(self, parts: tuple[bytes | memoryview, ...], place: int) -> None:
        for part in parts:
            self._file.write_at(part, place)
            place += len(part)
