"""Files of web servers, each whole and checked under its name, or not there: a download that was cut goes on later.

What has come of a file lies next to its place as a part, which is named by the checksum that the whole has to have. So
any later process may go on with it, and no part of another version is taken for one of this.
"""

from __future__ import annotations

import contextlib
import email.utils
import hashlib
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from io import BufferedRandom, BufferedReader
from typing import Any, TypeVar

from oclgenomics.errors import InputError, OutputError, reason_of
from oclgenomics.io.raw_file import Progress
from oclgenomics.lazy_names import optional

TRIES = 6  # without a byte more
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between them
LONGEST_ORDERED = 900.0  # seconds for which a server may have us wait
TIMEOUTS = (15.0, 60.0)  # seconds: to connect, and to wait for some bytes
PER_SECOND = 10.0  # requests
BLOCK = 1 << 18
MAX_TEXT = 1 << 24  # bytes of a file that is read at once
TRANSIENT = (408, 425, 429)  # and those of servers in trouble, from 500 on
GONE = (404, 410)
NEEDS = "downloads need the package requests: pip install 'oclgenomics[fetch]'"
BLOB_DIGITS = 40  # of a git blob's identifier; MD5 has fewer

Item = TypeVar("Item")


class MissingFileError(InputError):
    """The server has no such file."""


class ChecksumError(InputError):
    """A file that came whole is another one than its publisher's checksum says."""


class _StoppedError(Exception):
    """Nobody wants the file any more."""


class Downloader:
    """Gets files, several at a time, with so many requests a second at most.

    Parameters
    ----------
    parallel : int
        Files at a time.
    progress : callable, optional
        Called with the bytes that have come, and None.
    wait : callable, optional
        Waits so many seconds, instead of the clock.

    Attributes
    ----------
    received : int
        Bytes of files that have come.
    """

    def __init__(
        self, parallel: int = 1, progress: Progress | None = None, wait: Callable[[float], object] | None = None
    ) -> None:
        self._requests = optional("requests", NEEDS)
        self._troubles = (self._requests.RequestException, optional("urllib3").exceptions.HTTPError)
        self._parallel, self._progress = parallel, progress
        self._stopped, self._lock, self._local = threading.Event(), threading.Lock(), threading.local()
        self._wait = self._stopped.wait if wait is None else wait
        self._turn = 0.0  # when the next request may be sent
        self.received = 0

    def get(self, url: str, path: str, checksum: str | None = None) -> None:
        """Have a file under its name, whole and as it is published; nothing comes again that is there.

        Parameters
        ----------
        url, path : str
        checksum : str, optional
            What is published of it: its MD5, or the identifier of the git blob that it is. A file without one is got
            again if it was modified since.

        Raises
        ------
        MissingFileError, ChecksumError
        InputError
            The server cannot be reached, or does not answer as it should.
        OutputError
            The file cannot be written.
        """
        if checksum is not None and digest_of(path, checksum) == checksum:
            return
        for _ in range(2):  # again in one piece, if a part of it was of another file
            with _Part(path, checksum) as part:
                if not part.is_whole() and not self._fill(url, part):
                    return
                if checksum is None or part.is_whole():
                    part.publish()
                    return
                part.drop()
        kind = "git blob" if _is_blob(checksum or "") else "MD5"
        raise ChecksumError(
            f"what came is not what is published: its {kind} is not {checksum}; try again later", source=url
        )

    def read(self, url: str) -> str:
        """Return a small file of text; errors are those of `get`."""
        text: str = self._tried(url, lambda: self._text(url))
        return text

    def each(
        self, work: Callable[[Item], object], items: Iterable[Item]
    ) -> Generator[tuple[Item, Exception | None], None, None]:
        """Do work, `parallel` items at a time; yield each item when it is done, and its error if there was one.

        All work is given up when the iterator is closed, or an interrupt comes.
        """
        waiting, lock = list(items)[::-1], threading.Lock()
        done: queue.SimpleQueue[tuple[Item, Exception | None]] = queue.SimpleQueue()
        count = len(waiting)

        def run() -> None:
            while not self._stopped.is_set():
                with lock:
                    if not waiting:
                        return
                    item = waiting.pop()
                try:
                    work(item)
                    done.put((item, None))
                except Exception as error:
                    done.put((item, error))

        try:
            for _ in range(min(self._parallel, count)):
                threading.Thread(target=run, daemon=True).start()  # none is waited for, as a server may be silent
            for _ in range(count):
                yield done.get()
        except BaseException:
            self._stopped.set()
            raise

    def _text(self, url: str) -> str:
        with self._answer(url, {}) as answer:
            blocks, size = [], 0
            for block in self._blocks(answer):
                blocks.append(block)
                size += len(block)
                if size > MAX_TEXT:
                    raise InputError(f"has more than {MAX_TEXT:,} bytes, too many for what it should be", source=url)
        return b"".join(blocks).decode("utf-8", "replace")

    def _fill(self, url: str, part: _Part) -> bool:
        """Get what a part lacks; False if the file that is there already is the server's."""
        return bool(self._tried(url, lambda: self._transfer(url, part), lambda: part.size))

    def _transfer(self, url: str, part: _Part) -> bool:
        with self._answer(url, part.asked()) as answer:
            if answer.status_code == 304:
                return False
            if answer.status_code == 416 or not part.takes(answer):
                part.drop()
                raise _AgainError("the part that is there is no part of the file")
            for block in self._blocks(answer):
                part.write(block)
                with self._lock:
                    self.received += len(block)
                    if self._progress is not None:
                        self._progress(self.received, None)
        return True

    def _blocks(self, answer: Any) -> Iterator[bytes]:
        """The bytes of an answer as they are sent; what is cut raises."""
        for block in answer.raw.stream(BLOCK, decode_content=False):
            if self._stopped.is_set():
                raise _StoppedError
            yield block

    def _tried(self, url: str, attempt: Callable[[], Any], reached: Callable[[], int] = lambda: 0) -> Any:
        """Try until it is done, or `TRIES` times without having more than ever before."""
        tries, most = 0, reached()
        while True:
            ordered: float | None = None
            try:
                return attempt()
            except _AgainError as error:
                why, ordered = str(error), error.seconds
            except self._troubles as error:
                why = reason_of(getattr(error.args[0] if error.args else None, "reason", error))
            tries, most = (tries + 1, most) if reached() <= most else (1, reached())
            if tries >= TRIES or (ordered or 0) > LONGEST_ORDERED:
                raise InputError(f"cannot be downloaded ({why}); run the command again later", source=url)
            if ordered is None:
                self._rest(min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE))
            else:
                with self._lock:  # of all threads
                    self._turn = max(self._turn, time.monotonic() + ordered)

    @contextlib.contextmanager
    def _answer(self, url: str, headers: dict[str, str]) -> Iterator[Any]:
        """Lend the answer to a request, which is one that may be read.

        Raises
        ------
        _AgainError
            It may be another one later.
        InputError
            It will not.
        """
        self._take_turn()
        sent = {"Accept-Encoding": "identity", "User-Agent": "oclgenomics", **headers}
        with self._session().get(url, headers=sent, stream=True, timeout=TIMEOUTS) as answer:
            status = answer.status_code
            if status in TRANSIENT or status >= 500:
                raise _AgainError(f"HTTP status {status}", _ordered(answer.headers.get("Retry-After", "")))
            if status in GONE:
                raise MissingFileError(f"the server has no such file (HTTP status {status})", source=url)
            if status not in (200, 206, 304, 416):
                raise InputError(f"cannot be downloaded (HTTP status {status} {answer.reason or ''})", source=url)
            yield answer

    def _session(self) -> Any:
        """A session of this thread, as sessions are for one."""
        if not hasattr(self._local, "session"):
            self._local.session = self._requests.Session()
        return self._local.session

    def _take_turn(self) -> None:
        """Wait until a request may be sent."""
        with self._lock:
            now = time.monotonic()
            at = max(self._turn, now)
            self._turn = at + 1 / PER_SECOND
        self._rest(at - now)

    def _rest(self, seconds: float) -> None:
        if seconds > 0:
            self._wait(seconds)
        if self._stopped.is_set():
            raise _StoppedError


class _AgainError(Exception):
    """An answer that may be better later, maybe after some seconds that the server names."""

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


def _ordered(text: str) -> float | None:
    """The seconds of Retry-After, which is a number or a date."""
    if text.strip().isdigit():
        return float(text)
    with contextlib.suppress(ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    return None


class _Part:
    """What has come of a file; a context manager that keeps it for later if the checksum of the whole is known."""

    def __init__(self, path: str, checksum: str | None) -> None:
        self._path, self._checksum, self._checked = path, checksum, checksum is not None
        self._name = f"{path}.{checksum}.part" if checksum is not None else f"{path}.part"
        self._mark = ""  # what tells this version of the file from others
        self._modified: float | None = None
        self._published = False

    def __enter__(self) -> _Part:
        with self._telling():
            self._file = open(self._name, "ab+")  # appends wherever it was read or cut
            self.size = self._file.seek(0, os.SEEK_END)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # a full disk is told by what was written before
            self._file.close()
        if not self._published and not (self._checked and self.size):
            with contextlib.suppress(OSError):
                os.unlink(self._name)

    def asked(self) -> dict[str, str]:
        """The headers of a request for what is missing."""
        if self.size and not self._checked and not self._mark:  # nobody can say whether it is of the same file
            self.drop()
        if self.size:
            return {"Range": f"bytes={self.size}-", **({"If-Range": self._mark} if self._mark else {})}
        if not self._checked and os.path.exists(self._path):
            return {"If-Modified-Since": email.utils.formatdate(os.path.getmtime(self._path), usegmt=True)}
        return {}

    def takes(self, answer: Any) -> bool:
        """Make ready for the bytes of an answer: those that follow, or all; False if they do not fit.

        Raises
        ------
        InputError
            Nobody could say whether all has come.
        """
        headers = answer.headers
        tag, date = headers.get("ETag", ""), headers.get("Last-Modified", "")
        mark = tag if tag and not tag.startswith("W/") else date
        if answer.status_code == 206:
            begin = re.match(r"bytes ([0-9]+)-", headers.get("Content-Range", ""))
            if begin is None or int(begin[1]) != self.size or (self._mark and mark and mark != self._mark):
                return False
        else:
            self.drop()
        if not self._checked and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
            raise InputError("the server does not say how long it is, nor is there a checksum", source=answer.url)
        self._mark = mark
        with contextlib.suppress(ValueError):
            self._modified = email.utils.parsedate_to_datetime(date).timestamp()
        return True

    def write(self, block: bytes) -> None:
        """Append some bytes."""
        with self._telling():
            self._file.write(block)
            self._file.flush()
        self.size += len(block)

    def drop(self) -> None:
        """Begin anew."""
        with self._telling():
            self._file.truncate(0)
        self.size, self._mark = 0, ""

    def is_whole(self) -> bool:
        """Whether what is there has the checksum of the whole."""
        if self._checksum is None:
            return False
        self._file.seek(0)
        return _digest(self._file, self._checksum) == self._checksum

    def publish(self) -> None:
        """Give the whole its name."""
        with self._telling():
            if not self._checked:  # what has a checksum is looked at again
                os.fsync(self._file.fileno())
            self._file.close()
            if self._modified is not None:
                os.utime(self._name, (self._modified, self._modified))
            os.replace(self._name, self._path)
        self._published = True

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = "the same command goes on with what is there"
            raise OutputError(f"{self._path}: cannot be written ({error.strerror or error}); {kept}") from error


def digest_of(path: str, like: str = "") -> str | None:
    """Return the checksum of a file, of the kind of another one: its MD5, if not given; None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return _digest(file, like)
    except OSError:
        return None


def _is_blob(checksum: str) -> bool:
    """Whether a checksum is the identifier of a git blob, and not an MD5."""
    return len(checksum) == BLOB_DIGITS


def _digest(file: BufferedReader | BufferedRandom, like: str) -> str:
    if not _is_blob(like):
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    size = os.fstat(file.fileno()).st_size
    head = b"blob %d\0" % size  # git hashes it before the content
    return hashlib.file_digest(file, lambda: hashlib.sha1(head, usedforsecurity=False)).hexdigest()


def listed_md5(text: str) -> dict[str, str]:
    """Return the checksums of a list as `md5sum` writes it, by the names of the files, without "./" before them."""
    lines = re.finditer(r"^([0-9a-fA-F]{32})[ \t]+\*?(?:\./)?(\S.*?)\s*$", text, re.MULTILINE)
    return {line[2]: line[1].lower() for line in lines}
