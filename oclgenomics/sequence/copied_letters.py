"""Copies of the letters of FASTA, without line breaks and headers, on the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.closing import Closing
from oclgenomics.runtime import DeviceArray, Engine, SharedArray
from oclgenomics.sequence.block_records import names_at
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.parse import FastaState, Tiles, count_fasta, filled


@dataclass(frozen=True)
class CopiedLetters:
    """Letters of a block in a row, with a newline for each header.

    Attributes
    ----------
    text : Text
    host : callable
        Brings the same bytes to the host, until the next text is copied.
    starts : ndarray, uint32
        Where the letters of each record start that begins in the block.
    headers : ndarray, uint32
        Where its header is in the block.
    names : NameList
    header_lengths : DeviceArray, uint32
        Bytes of each header behind its >.
    """

    text: Text
    host: Callable[[], NDArray[np.uint8]]
    starts: NDArray[np.uint32]
    headers: NDArray[np.uint32]
    names: NameList
    header_lengths: DeviceArray


class LetterCopier(Closing):
    """Copies the letters of one block after the other into the same memory; a context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._shared: SharedArray | None = None

    def close(self) -> None:
        """Give the memory back."""
        if self._shared is not None:
            self._shared.release()

    def copy(self, text: Text, state: FastaState) -> CopiedLetters:
        """Copy the letters of a text that begins in a state and does not end within a header."""
        engine = self._engine
        counted = count_fasta(engine, text, state, names=True)
        shared = self._room(text.size)
        arrays = {
            name: engine.empty(counted.headers + 1, np.uint32)
            for name in ("record_places", "record_starts", "name_places", "header_lengths")
        }
        lengths = filled(engine, counted.headers + 1, np.uint32, 0)
        launch = Tiles(engine, text.size, "sequence/copy_fasta.cl")
        launch("copy_fasta", **counted.arguments, letters=shared.device, name_lengths=lengths, **arrays)
        names = names_at(engine, text, arrays["name_places"], lengths, counted.headers)
        starts, headers = (
            engine.download(arrays[name], counted.headers) for name in ("record_starts", "record_places")
        )
        copied = Text(shared.device, 0, counted.symbols)
        return CopiedLetters(
            copied, partial(shared.fetch, counted.symbols), starts, headers, names, arrays["header_lengths"]
        )

    def _room(self, size: int) -> SharedArray:
        if self._shared is None or self._shared.host.size < size:
            if self._shared is not None:
                self._shared.release()
            self._shared = self._engine.shared(size, np.uint8)
        return self._shared
