"""Blocks of FASTQ with four lines a record: the input's own text as long as it has these, then rewritten text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.closing import Closing
from oclgenomics.lazy_names import late
from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.text import TextBlocks

if TYPE_CHECKING:
    from oclgenomics.sequence.rewritten_source import Rewriter

defects = late("oclgenomics.sequence.defects")
rewritten_source = late("oclgenomics.sequence.rewritten_source")


MIN_BLOCK, BLOCK_SHARE = 1 << 16, 4  # of rewritten text: little compared with the blocks of the input


class FastqText(Closing):
    """The blocks of an input that the device parses; a context manager.

    The device reads four lines a record. Where it finds a block that is not like that, `refused` has the host look at
    it again, and rewrite it and all that follows if its records are whole and only their lines are others.

    Parameters
    ----------
    engine : Engine
    text : TextBlocks
        The input, whose first block has been read.
    """

    def __init__(self, engine: Engine, text: TextBlocks) -> None:
        self._engine = engine
        self._original = self._text = text
        self._rewriter: Rewriter | None = None
        self._stack = ExitStack()

    def close(self) -> None:
        """Let go of the rewritten text."""
        self._stack.close()

    @property
    def name(self) -> str:
        return self._text.name

    @property
    def host(self) -> NDArray[np.uint8]:
        """The block."""
        return self._text.host

    @property
    def size(self) -> int:
        return self._text.size

    @property
    def final(self) -> bool:
        """The text ends with this block."""
        return self._text.final

    @property
    def byte_of(self) -> Callable[[int], int]:
        """Gives the place in the input of a byte of this block; to be called before the next block is read."""
        if self._rewriter is None:
            return partial(add, self._text.offset)
        return partial(_place_of, self._rewriter, self._text.offset)

    def on_device(self) -> Text:
        """The block on the device."""
        return self._text.on_device(self._text.size)

    def read(self, used: int, *, lines: int = 0) -> bool:
        """Read the next block; see `TextBlocks.read`.

        Raises
        ------
        InputError
            Besides: a defect of text that is rewritten.
        """
        there = self._text.read(used, lines=lines)
        if self._rewriter is not None:
            self._rewriter.forget(self._text.offset)
        return there

    def refused(self, defect: tuple[int, int], records: int) -> bool:
        """Go on with rewritten text from the start of this block on, which the device does not take as it is.

        Parameters
        ----------
        defect : tuple of int
            Where in the block the device found a defect, and which.
        records : int
            Of the input before the block.

        Returns
        -------
        bool
            Whether the block that is there now has any bytes.

        Raises
        ------
        InputError
            The text has a defect that no layout explains.
        """
        # Here, because most inputs have four lines a record.
        place, kind = defect
        if self._rewriter is not None:
            lines = int(np.count_nonzero(self.host[:place] == ord("\n")))
            raise defects.fastq_error(kind, source=self.name, record=records + lines // 4, byte=self.byte_of(place))
        self._rewriter = rewritten_source.Rewriter(self.name, records=records, offset=self._original.offset)
        chunks = self._rewriter.rewrite(_parts(self._original, rewritten_source.PIECE_BYTES), eager=self._original.live)
        source = rewritten_source.RewrittenSource(self.name, chunks, live=self._original.live)
        size = self._original.block_bytes
        text = TextBlocks(self._engine, source, max(min(size, MIN_BLOCK), size // BLOCK_SHARE))
        self._text = self._stack.enter_context(text)
        return self.read(0)


def _place_of(rewriter: Rewriter, offset: int, place: int) -> int:
    return rewriter.place_of(offset + place)


def _parts(text: TextBlocks, most: int) -> Iterator[tuple[NDArray[np.uint8], bool]]:
    """All text from this block on, in parts of at most so many bytes, of which the last one is said to be so."""
    while True:
        for begin in range(0, text.size, most):
            yield text.host[begin : begin + most], text.final and begin + most >= text.size
        if text.final and text.size:
            return
        if not text.read(text.size):
            yield text.host, True
            return
