"""Files that reads are written to as they stand in the input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.kmers.lookups.output_names import output_names
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.record_texts import chosen_texts, whole_lines
from oclgenomics.variation.writers import Bgzf, Sink

__all__ = ["ReadWriter", "read_writer"]

PACKED = (".gz", ".bgz")
PACKING = 1  # level of gzip


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
    """Open the files of a name, which are there whole or not at all; blocked gzip where it ends in .gz or .bgz.

    Parameters
    ----------
    name : str
        See `output_names`; "-" is standard output.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    with ExitStack() as stack:
        yield ReadWriter([stack.enter_context(_opened(one)) for one in output_names(name)])


@contextmanager
def _opened(name: str) -> Iterator[Sink]:
    with open_whole(name, "wb", OutputError) as stream:
        if not name.lower().endswith(PACKED):
            yield stream
            return
        packed = Bgzf(stream, PACKING)
        yield packed
        packed.finish()
