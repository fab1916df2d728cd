"""Records of FASTQ in the text, found on the device."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine, HostArray
from oclgenomics.sequence.block_records import names_at
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.fastq_text import FastqText
from oclgenomics.sequence.line_breaks import RETURN, last_place
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.parse import NOTHING, filled, line_table
from oclgenomics.sequence.pieces import LetterBlock, Pieces
from oclgenomics.sequence.text import TextBlocks

RECORD_LINES = 4


@dataclass(frozen=True)
class _Found:
    """Complete records of a block.

    Attributes
    ----------
    size : int
    tail : int
        Where the record starts that is not complete; the block's size if there is none.
    defect : tuple of int or None
        Place and kind of the first defect.
    table : HostArray, uint32 (size + 1, 4) or longer
        Letters, size, size and qualities of each, as `Pieces` has them.
    name_places, name_lengths : DeviceArray, uint32 (size + 1,) or longer
    """

    size: int
    tail: int
    defect: tuple[int, int] | None
    table: HostArray
    name_places: DeviceArray
    name_lengths: DeviceArray


def fastq_letters(engine: Engine, text: TextBlocks, first: int) -> Generator[LetterBlock, None, int]:
    """Yield the blocks of an input whose first block has been read.

    Parameters
    ----------
    engine : Engine
    text : TextBlocks
    first : int
        Records of the inputs before this one.

    Returns
    -------
    int
        Records of all inputs so far.
    """
    before = first
    with FastqText(engine, text) as lines:
        there = True
        while there:
            part, host = lines.on_device(), lines.host
            found = _find_records(engine, part, host, final=lines.final)
            if found.defect is not None:
                there = lines.refused(found.defect, first - before)
                continue
            if found.size:
                names = names_at(engine, part, found.name_places, found.name_lengths, found.size)
                pieces = _pieces(found, first)
                texts = partial(_texts, host, pieces)
                headers = partial(_headers, engine, part, host, pieces)
                yield LetterBlock(
                    part, host.view, pieces, names, first, lines.name, before, lines.byte_of, texts, headers
                )
                first += found.size
            there = lines.read(found.tail, lines=RECORD_LINES)
    return first


def _find_records(engine: Engine, text: Text, host: NDArray[np.uint8], *, final: bool) -> _Found:
    lines = line_table(engine, text)
    most = (lines.size + final) // RECORD_LINES + 1
    table = HostArray(engine, (most, 4), np.uint32)
    names: dict[str, Any] = {name: engine.empty(most, np.uint32) for name in ("name_places", "name_lengths")}
    report = filled(engine, 3, np.uint32, NOTHING)
    kernel = engine.kernel("sequence/fastq_records.cl", "find_records", **({"WIDE": 1} if engine.tuning.cpu else {}))
    cut: dict[str, Any] = {"size": text.size, "newlines": lines.newlines, "lines": lines.size, "records": most}
    cut |= {"final": final, "solid": last_place(host, breaks=False) + 1, "report": report}
    engine.launch_items(kernel, most, **text.place, **cut, table=table.device, **names)
    defect, size, tail = engine.download(report).tolist()
    found = None if defect == NOTHING else (defect >> 2, defect & 3)
    return _Found(size, text.size if final else tail, found, table, **names)


def _pieces(found: _Found, first: int) -> Pieces:
    table = found.table.read()[: found.size]
    letters, sizes, _, qualities = table.T
    record = np.arange(first, first + found.size)
    start, ends = np.broadcast_to(np.int64(0), found.size), np.broadcast_to(np.True_, found.size)  # all are whole
    return Pieces(record, start, letters, sizes, sizes, qualities, ends, (table, found.table))


def _texts(text: NDArray[np.uint8], pieces: Pieces) -> NameList:
    """The text of each record: from where the one before ends to the newline behind the qualities."""
    assert pieces.qualities is not None
    ends = pieces.qualities.astype(np.int64) + pieces.size
    ends += text[np.minimum(ends, len(text) - 1)] == RETURN
    return NameList(text, np.append(np.int64(0), np.minimum(ends + 1, len(text))))


def _headers(engine: Engine, part: Text, text: NDArray[np.uint8], pieces: Pieces) -> NameList:
    """The headers of records, which are the first lines of their texts."""
    begins = _texts(text, pieces).starts[:-1] + 1
    ends = pieces.letters.astype(np.int64) - 1
    ends -= (text[ends - 1] == RETURN) & (ends > begins)
    places, lengths = (engine.upload(np.append(array, 0).astype(np.uint32)) for array in (begins, ends - begins))
    return names_at(engine, part, places, lengths, len(pieces))
