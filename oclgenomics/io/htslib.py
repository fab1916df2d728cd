"""Formats of htslib as text: samtools and bcftools, as they come with pysam, run in a process of their own.

The process gets the stored bytes by a pipe, so that standard input, pipes and progress are as with any other input, and
a crash on a damaged file ends only that process. It never reaches for the network: URLs are taken from `REF_PATH`, and
what is named by one elsewhere is looked for behind a proxy that is not there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from oclgenomics.errors import InputError, MissingDependencyError
from oclgenomics.io.children import how_ended
from oclgenomics.io.closing import Closing
from oclgenomics.io.processes import child_python

CHUNK_BYTES = 1 << 20  # of text, and of a pipe where the system grants so much
MOST_SAID = 1 << 16  # bytes of a program's messages that are looked at, at their end
EXTRA = "pip install 'oclgenomics[bam]'"
_PROGRAM = """
import sys, pysam, pysam.samtools, pysam.bcftools
package, command, *words = sys.argv[1:]
tool = getattr(getattr(pysam, package), command)
try:
    tool(*words, catch_stdout=False)
except pysam.SamtoolsError as error:
    sys.exit(str(error).encode().decode("unicode_escape"))
sys.stderr.write(tool.stderr or "")
"""
_NOWHERE = "http://127.0.0.1:9"  # the port where nothing listens
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY")
_END_OF_BGZIP = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_END_OF_CRAM = {
    2: bytes.fromhex("0b000000ffffffff0fe0454f460000000001000001000606010001000100"),
    3: bytes.fromhex("0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b"),
}  # by the major version


@dataclass(frozen=True)
class Conversion:
    """How an input becomes text.

    Attributes
    ----------
    name : str
        Of its format.
    words : tuple of str
        The program, its command and options: ("samtools", "fastq", ...). It reads standard input.
    check : callable
        Called at the end with the program's messages and the lines of text; returns what is wrong, or "".
    explain : callable
        Called with the messages of a program that failed; returns what is wrong.
    """

    name: str
    words: tuple[str, ...]
    check: Callable[[str, int], str]
    explain: Callable[[str], str]


def require_pysam(name: str, otherwise: str) -> None:
    """Refuse an input of a format that only pysam reads where that is missing.

    Raises
    ------
    MissingDependencyError
        With how pysam is installed, and what can be done `otherwise`.
    """
    if find_spec("pysam") is None:
        raise MissingDependencyError(f"{name} needs the package pysam: {EXTRA}, or {otherwise}")


class ConvertedText(Closing):
    """The text of an input, in chunks, from a program that converts it; a context manager.

    Parameters
    ----------
    conversion : Conversion
    chunks : iterable of bytes
        The input as it is stored. Used by a thread alone.
    source : str
        Its name, for messages.
    """

    def __init__(self, conversion: Conversion, chunks: Iterable[bytes], source: str) -> None:
        self._conversion, self._source = conversion, source
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this
        self._trouble: BaseException | None = None
        self._head, self._tail = b"", b""
        try:
            self._process = subprocess.Popen(
                child_python("-c", _PROGRAM, *conversion.words), env=_environment(), process_group=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
            )  # fmt: skip
        except OSError as error:
            self._said.close()
            raise InputError(
                f"cannot be read, as no process can be started ({error.strerror})", source=source
            ) from error
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, AttributeError):  # larger than the system allows, or not on Linux
            fcntl.fcntl(self._process.stdout.fileno(), fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
        self._feeder = threading.Thread(target=self._feed, args=(chunks,), name="to-htslib", daemon=True)
        self._feeder.start()

    def __iter__(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        lines = 0
        while chunk := os.read(self._process.stdout.fileno(), CHUNK_BYTES):
            lines += chunk.count(b"\n")
            yield chunk
        self._process.wait()
        self._check(lines)

    def stop(self, *, wait: bool) -> bool:
        """End the process; wait for the thread unless it may be blocked on a pipe. Return whether it has ended."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._feeder.join(None if wait else 0.1)
        return not self._feeder.is_alive()

    def close(self) -> None:
        """End the process; nobody reads its text any more."""
        self.stop(wait=False)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._said.close()

    def _feed(self, chunks: Iterable[bytes]) -> None:
        """Give the input to the process."""
        to = self._process.stdin
        assert to is not None
        try:
            for chunk in chunks:
                if not self._head:
                    self._head = chunk[:8]
                self._tail = (self._tail + chunk)[-len(_END_OF_CRAM[3]) :]
                to.write(chunk)
        except BrokenPipeError:  # it has ended, and says why
            pass
        except BaseException as error:  # raised where the text is read
            self._trouble = error
        finally:
            with contextlib.suppress(BrokenPipeError):
                to.close()

    def _check(self, lines: int) -> None:
        """Refuse an input that the program did not read to its end, or that is cut off there."""
        said = self._messages()
        if self._process.returncode and self._trouble is None:
            raise InputError(self._reason(said), source=self._source)
        self._feeder.join()
        if self._trouble is not None:
            raise self._trouble
        trouble = self._conversion.check(said, lines) or self._cut()
        if trouble:
            raise InputError(trouble, source=self._source)

    def _reason(self, said: str) -> str:
        if self._process.returncode < 0:
            return f"damaged {self._conversion.name} data (htslib {how_ended(self._process)}); fetch the file again"
        return self._conversion.explain(said)

    def _cut(self) -> str:
        """Say that the end is missing, without which nobody knows of later records."""
        end = b""
        if self._head.startswith(b"\x1f\x8b\x08\x04"):
            end = _END_OF_BGZIP
        elif self._head.startswith(b"CRAM"):
            end = _END_OF_CRAM.get(self._head[4], b"")
        if self._tail.endswith(end):
            return ""
        return f"the {self._conversion.name} ends without its end marker (a truncated file?); fetch it again"

    def _messages(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - MOST_SAID))
        return self._said.read().decode("utf-8", "replace")


def first_error(said: str) -> str:
    """Return the first error among a program's messages, in one line; "" if there is none."""
    found = re.findall(r"\[E::[^\]]*\] *(.*)", said)
    return " ".join(found[0].split()) if found else ""


def _environment() -> dict[str, str]:
    """The environment of a process that finds references in files alone."""
    given = {name: value for name, value in os.environ.items() if name not in ("no_proxy", "NO_PROXY")}
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    places = _local(given["REF_PATH"]) if given.get("REF_PATH") else os.path.join(cache, "hts-ref", "%2s", "%2s", "%s")
    return given | dict.fromkeys(_PROXIES, _NOWHERE) | {"REF_PATH": places}


def _local(places: str) -> str:
    """The places of a search path that are folders: only absolute ones of a path with a URL, which has colons, too."""
    remote = "//" in places or "URL=" in places
    words = [word for word in places.split(":") if word.startswith("/") or not remote]
    return ":".join(word for word in words if word and not word.startswith("//")) or os.devnull
