"""Homopolymer compression: each run of equal bases becomes one of them, in packed symbols on the device and in text.

Reads of some instruments have runs of equal bases too long or too short far more often than they have other errors.
K-mers of compressed sequences do not see these. meryl (`compress`) and FastK (`-c`) compress in the same way: lower
case counts as upper case, and other letters than A, C, G and T end a run.
"""

from __future__ import annotations

import numpy as np

from oclgenomics.primitives import scan
from oclgenomics.runtime import Engine
from oclgenomics.sequence.parse import Symbols, empty_symbols, filled

SOURCE = "sequence/compress.cl"
GPU_GROUPS = 8  # of 32 symbols, that a work-item has
CPU_ITEMS = 64  # work-items at most, so that cores share the work evenly
CASE = np.uint8(0xDF)  # clears the bit of a letter's case


def compressed_symbols(engine: Engine, symbols: Symbols) -> Symbols:
    """Return a stream of symbols without those that are equal to the one before; of gaps in a row one stays.

    Parameters
    ----------
    engine : Engine
    symbols : Symbols
        They stay as they are.
    """
    groups = -(-symbols.size // 32)
    if not groups:
        return symbols
    cpu = engine.tuning.cpu
    each = -(-groups // CPU_ITEMS) if cpu else GPU_GROUPS
    items = -(-groups // each)
    lanes = 1 if cpu else None
    given = {
        "codes": symbols.codes, "valid": symbols.valid, "size": symbols.size, "groups": groups, "each": each,
    }  # fmt: skip
    places = filled(engine, items + 1, np.uint32, 0)
    engine.launch_items(engine.kernel(SOURCE, "count_kept"), items, lanes=lanes, **given, kept=places)
    scan(engine, places, out=places)
    size = int(engine.download(places, 1, items)[0])
    made = empty_symbols(engine, size)
    engine.launch_items(
        engine.kernel(SOURCE, "pack_kept"), items, lanes=lanes, **given, places=places, to_codes=made.codes,
        to_valid=made.valid,
    )  # fmt: skip
    return made


def compressed_letters(letters: bytes) -> bytes:
    """Return the letters of a sequence without those that are equal to the one before, in either case.

    Of a run of A, C, G or T the first letter stays, and all other letters do.
    """
    text = np.frombuffer(letters, np.uint8)
    if len(text) < 2:
        return letters
    upper = text & CASE
    kept = np.ones(len(text), np.bool_)
    np.not_equal(upper[1:], upper[:-1], out=kept[1:])
    kept |= ~_BASES[text]
    return text[kept].tobytes()


_BASES = np.zeros(256, np.bool_)
_BASES[np.frombuffer(b"ACGTacgt", np.uint8)] = True
