"""Where a block of FASTA begins or ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.line_breaks import last_place

__all__ = ["FastaState"]


@dataclass(frozen=True)
class FastaState:
    """Where a block of FASTA begins or ends: at the start of a line, inside a header, or neither."""

    starts_line: bool = True
    in_header: bool = False

    def whole_headers(self, text: NDArray[np.uint8], *, final: bool) -> int:
        """Bytes of a block that begins in this state, without a header at its end that may go on in the next."""
        begin = last_place(text, breaks=True) + 1
        cut = not final and begin < len(text) and text[begin] == ord(">") and (begin > 0 or self.starts_line)
        return begin if cut else len(text)

    def after(self, text: NDArray[np.uint8]) -> FastaState:
        """The state at the end of a block that begins in this state."""
        if not len(text):
            return self
        begin = last_place(text, breaks=True) + 1
        if begin == len(text):
            return FastaState()
        if begin or self.starts_line:
            return FastaState(False, bool(text[begin] == ord(">")))
        return FastaState(False, self.in_header)
