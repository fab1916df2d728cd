"""Packed symbols of a device as text, with array operations: `reference.symbols_text` takes a symbol at a time."""

from __future__ import annotations

import numpy as np

from oclgenomics.runtime import Engine
from oclgenomics.sequence.parse import Symbols

__all__ = ["bases_of"]

BASES = np.frombuffer(b"ACGT", np.uint8)


def bases_of(engine: Engine, symbols: Symbols) -> str:
    """Return the bases that symbols are of, "-" for gaps."""
    at = np.arange(symbols.size, dtype=np.uint32)
    codes, valid = engine.download(symbols.codes), engine.download(symbols.valid)
    bases = BASES[codes[at // 16] >> (30 - 2 * (at % 16)) & 3]
    good = valid[at // 32] >> (31 - at % 32) & 1
    return np.where(good, bases, ord("-")).astype(np.uint8).tobytes().decode()
