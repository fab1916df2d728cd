"""Files that reads are written to as they stand in the input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import OutputError
from oclgenomics.io.packed_file import Sink, open_packed
from oclgenomics.kmers.lookups.output_names import output_names
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.record_texts import chosen_texts, whole_lines

__all__ = ["ReadWriter", "read_writer"]


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
    """Open the files of a name, which are there whole or not at all, and packed if it says so.

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
