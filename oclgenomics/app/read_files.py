"""Files of reads: those that are filtered, pairs of mates, and those that reads are written to as they stand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.files import FileConflictError, NamedFile, check_files, file_key
from oclgenomics.errors import OutputError, UsageError
from oclgenomics.io.packed_file import Sink, open_packed
from oclgenomics.sequence.files import file_names
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.record_texts import chosen_texts, whole_lines

STANDARD_INPUT = 0
MateFiles = Iterable[tuple[str | os.PathLike[str], str | os.PathLike[str]]]


def mate_files(paired: MateFiles) -> list[tuple[str, str]]:
    """Return pairs of files with the files of lists in their stead.

    Raises
    ------
    UsageError
        Lists that name different numbers of files.
    InputError
        A list that cannot be read.
    """
    pairs: list[tuple[str, str]] = []
    for first, second in paired:
        firsts, seconds = file_names(first), file_names(second)
        if len(firsts) != len(seconds):
            raise UsageError(
                f"{os.fspath(first)} names {len(firsts):,} files and {os.fspath(second)} {len(seconds):,}; files of "
                "mates have to be equally many"
            )
        pairs += zip(firsts, seconds, strict=True)
    return pairs


def check_filter_inputs(singles: Sequence[str], pairs: Sequence[tuple[str, str]]) -> None:
    """Refuse inputs that cannot be read together.

    Raises
    ------
    UsageError
        There are none, standard input is to be read twice, or a file holds both mates of pairs in two files.
    """
    names = [*singles, *(name for pair in pairs for name in pair)]
    if not names:
        raise UsageError("there are no reads to filter: name a file, or files of mates with `paired`")
    if names.count("-") > 1:
        raise UsageError("standard input (-) can be read once; name files for the others")
    for first, second in pairs:
        key = file_key(first, STANDARD_INPUT)
        if key is not None and key == file_key(second, STANDARD_INPUT):
            raise UsageError(f"{first} and {second} are one file; name the second mates' file behind the first's")


def check_outputs(inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuse outputs that are inputs or each other.

    Raises
    ------
    UsageError
    """
    files = [NamedFile("the input", name, "input") for name in inputs]
    for option, name in zip(("the output", "the rest"), outputs, strict=False):
        files += [NamedFile(option, one, "output") for one in output_names(name)]
    try:
        check_files(files)
    except FileConflictError as error:
        raise UsageError(str(error)) from None


class ReadWriter:
    """Writes reads to one file, or first and second mates to two; single reads go to the first."""

    def __init__(self, sinks: list[Sink]) -> None:
        self._sinks = sinks

    def write(self, texts: tuple[NameList, ...], chosen: NDArray[np.bool_]) -> None:
        """Write the chosen ones of some reads, or of some pairs, whose mates follow each other in one file."""
        if len(texts) == len(self._sinks) or len(texts) == 1:
            for mates, sink in zip(texts, self._sinks, strict=False):
                sink.write(b"".join(chosen_texts(mates, chosen)))
            return
        which = np.flatnonzero(chosen)
        both = NameList.joined([mates.take(which) for mates in texts])
        in_turn = np.arange(2 * len(which)).reshape(2, -1).T.ravel()
        self._sinks[0].write(bytes(whole_lines(both.take(in_turn))))


@contextmanager
def read_writer(name: str) -> Iterator[ReadWriter]:
    """Open the files of a name, which are there whole or not at all, and compressed if it says so.

    Parameters
    ----------
    name : str
        See `output_names` and `oclgenomics.io.packed_file.open_packed`; "-" is standard output.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    with ExitStack() as stack:
        yield ReadWriter([stack.enter_context(open_packed(one, "wb", OutputError)) for one in output_names(name)])


def output_names(name: str) -> list[str]:
    """Return the files that a name means: two where it has a #, for first and second mates."""
    return [name] if "#" not in name else [name.replace("#", "_1"), name.replace("#", "_2")]
