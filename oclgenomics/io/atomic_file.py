"""Files that are there whole or not at all: the one writer of files for commands, databases and caches.

A file in the making has no name where the file system has such files, so that even a process that is killed leaves
nothing behind. Elsewhere it has a name of its own next to its place until it is whole, and is removed on any error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from oclgenomics.errors import OutputError
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

futures = late("concurrent.futures")

Failure = Callable[[str], Exception]
"""Makes the error that is raised, of its one line of text."""

_begun: list[tuple[str, tuple[int, int]]] = []  # outputs, and what the file system knows their files by


class WholeFile:
    """A file in the making. All it does is to take bytes.

    Attributes
    ----------
    seekable : bool
        Bytes may be written anywhere, by several threads at a time; else it is a pipe or its like.
    """

    def __init__(self, name: str, handle: int, failure: Failure) -> None:
        self._name, self._handle, self._failure = name, handle, failure
        self.seekable = _is_seekable(handle)

    def write(self, data: bytes | memoryview) -> None:
        """Write all of the bytes; raises what `whole_file` was given for it."""
        rest = memoryview(data)
        with _telling(self._name, self._failure):
            while len(rest):
                rest = rest[os.write(self._handle, rest) :]

    def write_at(self, data: bytes | memoryview, place: int) -> None:
        """Write all of the bytes from a place on, whatever was written where before."""
        rest = memoryview(data)
        with _telling(self._name, self._failure):
            while len(rest):
                done = os.pwrite(self._handle, rest, place)
                rest, place = rest[done:], place + done


def output_trouble(error: OSError) -> str:
    """Return what a message says of standard output that could not be written, and of what has been written to it."""
    left = "what was written before is incomplete"
    written = getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "written", None)  # of `app.streams`
    if written is not None:
        left = f"the {written:,} bytes before that are incomplete" if written else "nothing was written"
    return f"standard output: cannot be written ({error.strerror or error}); {left}"


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], failure: Failure = OutputError) -> Iterator[WholeFile]:
    """Open a binary file that takes its name when the `with` block ends, and vanishes if that fails.

    Devices and pipes are written in place.

    Parameters
    ----------
    path : path
    failure : callable
        Makes the error for a file that cannot be written. What was there before is then still there.
    """
    name = os.fspath(path)
    with contextlib.ExitStack() as stack:
        with _telling(name, failure):
            handle, finish = stack.enter_context(_output(name))
        yield WholeFile(name, handle, failure)
        with _telling(name, failure):
            finish()


@contextlib.contextmanager
def open_whole(path: str | os.PathLike[str], mode: str, failure: Failure) -> Iterator[IO[Any]]:
    """Open a stream to a file as `whole_file` does, or to standard output.

    Parameters
    ----------
    path : path
        "-" is standard output.
    mode : {'w', 'wb'}
        Text (UTF-8; what it cannot hold, such as bytes of file names, is written as escapes) or bytes.
    failure : callable
        See `whole_file`.
    """
    name = os.fspath(path)
    if name == "-":
        stream = sys.stdout.buffer if "b" in mode else sys.stdout
        try:
            yield stream
            stream.flush()
        except BrokenPipeError:  # the reader has seen enough
            raise
        except OSError as error:
            raise failure(output_trouble(error)) from error
        return
    with _telling(name, failure), _output(name) as (handle, finish):
        text = {} if "b" in mode else {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
        with open(handle, mode, closefd=False, **text) as opened:  # type: ignore[call-overload]
            yield opened
        finish()


def saved_files() -> list[Path]:
    """List the files this process has written whole: the outputs whose names are now those of its files."""
    return [Path(name) for name, file in _begun if _identity(name) == file]


def forget_files() -> None:
    """Begin a new list of saved files, for another command."""
    _begun.clear()


def replace_file(path: str | os.PathLike[str], data: bytes, *, private: bool = True) -> None:
    """Write a file that is no output, such as an entry of a cache.

    Parameters
    ----------
    path : path
    data : bytes
    private : bool
        Nobody but its owner may read it; else its rights are those of an output.

    Raises
    ------
    OSError
        It cannot be written.
    """
    target = os.path.realpath(path)
    with _new_file(os.path.dirname(target)) as (handle, temporary):
        with open(handle, "wb", closefd=False) as stream:
            stream.write(data)
        _publish(handle, temporary, target, 0o600 if private else _rights(target))


def unnamed_file(folder: str) -> int:
    """Open a new file for writing and reading that no folder lists.

    Raises
    ------
    OSError
        The folder does not take files.
    """
    with _new_file(folder) as (handle, _):
        return os.dup(handle)


@contextlib.contextmanager
def _output(name: str) -> Iterator[tuple[int, Callable[[], None]]]:
    """A handle to write to, and what gives the file its name when all is written."""
    if _written_in_place(name):
        try:
            handle = os.open(name, os.O_WRONLY)
        except OSError as error:
            raise _RefusedError(error.errno, f"cannot be written ({error.strerror})") from error
        try:
            yield handle, lambda: None
        finally:
            os.close(handle)
        return
    target = os.path.realpath(name)
    with _new_file(os.path.dirname(target)) as (handle, temporary):
        _begun.append((name, _identity(handle)))  # now, as an interrupt may come right after it got its name
        yield handle, lambda: _publish(handle, temporary, target, _rights(target))


@contextlib.contextmanager
def _new_file(folder: str) -> Iterator[tuple[int, str | None]]:
    """A new file in a folder, and its name if it has one, under which nothing is left."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        handle = -1
        # not every file system has them; where the folder itself is at fault, the next attempt says so
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        if handle >= 0:
            try:
                yield handle, None
            finally:
                os.close(handle)
            return
    with _fresh_name(folder) as temporary:  # before there is a file, so that no interrupt comes between
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            yield handle, temporary
        finally:
            os.close(handle)


@contextlib.contextmanager
def _fresh_name(folder: str) -> Iterator[str]:
    """A name that nothing has; whatever has it in the end is removed."""
    name = os.path.join(folder, f".new-{os.urandom(8).hex()}")  # short: the name of the output may be of full length
    try:
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _rights(target: str) -> int:
    return stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else 0o666 & ~_umask()


def _publish(handle: int, temporary: str | None, target: str, rights: int) -> None:
    """Set the file's rights and let it take its name."""
    os.close(os.dup(handle))  # network file systems tell of what they could not write when a handle is closed
    os.fchmod(handle, rights)
    if temporary is not None:
        os.replace(temporary, target)
        return
    try:
        _link(handle, target)
    except FileExistsError:  # no system call puts a file without a name in the place of another
        with _fresh_name(os.path.dirname(target)) as name:
            _link(handle, name)
            os.replace(name, target)


def _link(handle: int, name: str) -> None:
    # with a folder's handle, Python calls linkat and follows the link that stands for the file
    links = os.open("/proc/self/fd", os.O_RDONLY)
    try:
        os.link(str(handle), name, src_dir_fd=links)
    finally:
        os.close(links)


@contextlib.contextmanager
def _telling(name: str, failure: Failure) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough
        raise
    except _RefusedError as error:
        raise failure(f"{name}: {error.strerror}") from None
    except OSError as error:
        left = "a part may have been written" if _is_no_file(name) else "nothing half written is left"
        raise failure(f"{name}: cannot be written ({error.strerror or error}); {left}") from error


class _RefusedError(OSError):
    """What is there cannot or must not be written over."""


def _is_no_file(name: str) -> bool:
    """Whether there is a device, a pipe or the like, which takes what is written at once."""
    return os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)


def _written_in_place(name: str) -> bool:
    try:
        kind = os.stat(name).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(kind):
        raise _RefusedError(errno.EISDIR, "is a folder; name a file")
    if stat.S_ISREG(kind) and not os.access(name, os.W_OK):
        raise _RefusedError(errno.EACCES, "is write-protected")
    return not stat.S_ISREG(kind)


def _is_seekable(handle: int) -> bool:
    try:
        os.lseek(handle, 0, os.SEEK_CUR)
    except OSError:
        return False
    return True


def _identity(file: str | int) -> tuple[int, int]:
    """Device and number of a file, which stay the same when it is renamed; (0, 0) if there is none."""
    try:
        known = os.stat(file)
    except OSError:
        return 0, 0
    return known.st_dev, known.st_ino


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def temporary_folder(folder: str | os.PathLike[str] | None = None) -> str:
    """Return a folder for temporary files.

    Parameters
    ----------
    folder : path, optional
        The system's if not given: TMPDIR, or what `tempfile` takes.

    Raises
    ------
    OutputError
        There is none, or it is not there or not writable.
    """
    if folder is None:
        try:
            folder = tempfile.gettempdir()
        except OSError as error:
            raise OutputError("there is no folder for temporary files; name one with `tmp_dir`") from error
    name = os.fspath(folder)
    check_folder(name)
    return name


def check_folder(name: str) -> None:
    """Refuse a folder that temporary files cannot be made in.

    Raises
    ------
    OutputError
        It is not there, no folder, or not writable.
    """
    if not os.path.exists(name):
        raise OutputError(f"`tmp_dir` {name}: there is no such folder; make it first")
    if not os.path.isdir(name):
        raise OutputError(f"`tmp_dir` {name}: is no folder")
    if not os.access(name, os.W_OK | os.X_OK):
        raise OutputError(f"`tmp_dir` {name}: the folder is not writable; name another one")


def temporary_file(folder: str) -> int:
    """Open a new temporary file in a folder, for writing and reading, which nobody else sees.

    Raises
    ------
    OutputError
        No file can be made there.
    """
    try:
        return unnamed_file(folder)
    except OSError as error:
        raise OutputError(f"`tmp_dir` {folder}: no file can be made there ({error.strerror})") from error


@contextlib.contextmanager
def open_unnamed(folder: str) -> Iterator[int]:
    """Lend the handle of a temporary file in a folder.

    Raises
    ------
    OutputError
        No file can be made there.
    """
    handle = temporary_file(folder)
    try:
        yield handle
    finally:
        os.close(handle)


def file_system(folder: str) -> str:
    """The place where the file system of a folder is mounted."""
    place = os.path.realpath(folder)
    while not os.path.ismount(place):
        place = os.path.dirname(place)
    return place


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
        done: Future[None] = futures.Future()
        done.set_result(None)
        return done

    def _write_at(self, parts: tuple[bytes | memoryview, ...], place: int) -> None:
        for part in parts:
            self._file.write_at(part, place)
            place += len(part)
