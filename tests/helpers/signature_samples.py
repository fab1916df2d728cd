"""Blocks of samples on a device, made of letters and qualities in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock, Pieces
from oclgenomics.signatures.device.samples import BEHIND, TILE, SampleLetters, Tiles, piece_records
from oclgenomics.signatures.panels.letters import ANY, SETS, is_concrete

__all__ = ["SampleRecord", "random_letters", "sample_letters"]

SKIP = 3  # bytes before the text in its buffer
GAP = b"\n@%\n"  # between letters and qualities; no letters
FIVE = np.full(16, 4, np.uint8)
FIVE[[1, 2, 4, 8]] = range(4)


@dataclass(frozen=True)
class SampleRecord:
    """A sample: letters of IUPAC, and qualities + 33 as they stand in FASTQ, or None."""

    letters: bytes
    qualities: bytes | None = None


def random_letters(rng: np.random.Generator, size: int, n_rate: float = 0.0, letters: str = "ACGT") -> bytes:
    """Draw letters, each of which is N with a probability of `n_rate`."""
    drawn = np.frombuffer(letters.encode(), np.uint8)[rng.integers(0, len(letters), size)]
    drawn[rng.random(size) < n_rate] = ord("N")
    return drawn.tobytes()


def sample_letters(
    engine: Engine, records: Sequence[SampleRecord], *, piece: int | None = None, overlap: int = 0, first: int = 0
) -> SampleLetters:
    """Make what kernels take of a block of samples; what is between them are bytes that mean nothing.

    Parameters
    ----------
    engine : Engine
    records : sequence of SampleRecord
        All of them with qualities, or none.
    piece : int, optional
        Letters that a piece owns, unless it is the last one of its record; records are whole if not given.
    overlap : int
        Letters of the next piece that a piece repeats.
    first : int
        Number of the first record.
    """
    has_qualities = bool(records) and records[0].qualities is not None
    text = bytearray(GAP)
    rows = []
    for number, record in enumerate(records, first):
        size = len(record.letters)
        for start in range(0, max(size, 1), piece or max(size, 1)):
            end = min(size, start + (piece or size) + overlap)
            last = end == size
            letters = len(text)
            text += record.letters[start:end] + GAP
            qualities = len(text)
            if record.qualities is not None:
                text += record.qualities[start:end] + GAP
            rows.append((number, start, letters, end - start, end - start if last else piece, qualities, last))
            if last:
                break
    columns = list(zip(*rows, strict=True)) if rows else [[] for _ in range(7)]
    types = (np.int64, np.int64, np.uint32, np.uint32, np.uint32, np.uint32, np.bool_)
    record_, start_, letters_, size_, owned_, qualities_, ends_ = (
        np.array(column, kind) for column, kind in zip(columns, types, strict=True)
    )
    pieces = Pieces(record_, start_, letters_, size_, owned_, qualities_ if has_qualities else None, ends_)
    host = np.frombuffer(bytes(text), np.uint8)
    memory = engine.upload(np.concatenate([np.full(SKIP, 255, np.uint8), host]))
    names = NameList.of([f"sample{number}" for number in range(first, first + len(records))])
    block = LetterBlock(Text(memory, SKIP, len(host)), host.view, pieces, names, first, "memory")
    return _on_device(engine, block, has_qualities)


def _on_device(engine: Engine, block: LetterBlock, has_qualities: bool) -> SampleLetters:
    pieces, host = block.pieces, block.host
    sets = SETS[host]
    # Undefined where no letters are, and behind the text.
    codes = np.random.default_rng(len(host)).integers(0, 256, len(host) + BEHIND, np.uint8)
    ns, ambiguous = (np.zeros(len(pieces), np.int64) for _ in range(2))
    quality_sum = np.zeros(len(pieces), np.uint64)
    least = np.full(len(pieces), 255, np.uint8)
    for i in range(len(pieces)):
        whole = slice(int(pieces.letters[i]), int(pieces.letters[i]) + int(pieces.size[i]))
        own = slice(whole.start, whole.start + int(pieces.owned[i]))
        codes[whole] = sets[whole] | FIVE[sets[whole]] << 4
        ns[i] = (sets[own] == ANY).sum()
        ambiguous[i] = (~is_concrete(sets[own])).sum()
        if pieces.qualities is not None and pieces.owned[i]:
            quality = host[int(pieces.qualities[i]) : int(pieces.qualities[i]) + int(pieces.owned[i])] - np.uint8(33)
            quality_sum[i], least[i] = quality.sum(dtype=np.uint64), quality.min()
    records = piece_records(pieces)
    return SampleLetters(
        block=block,
        codes=engine.upload(codes),
        records=records,
        pieces=engine.upload(records),
        has_qualities=has_qualities,
        ns=ns,
        ambiguous=ambiguous,
        quality_sum=quality_sum,
        least_quality=least,
        tiles=Tiles.of(pieces, TILE),
    )
