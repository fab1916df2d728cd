"""Best places of reads as PAF, the format of minimap2."""

from __future__ import annotations

import numpy as np

from oclgenomics.io.text_rows import rows_of
from oclgenomics.sdtw.best_places import BestPlaces
from oclgenomics.sdtw.classified import Classified
from oclgenomics.sdtw.formats.rows import table_column
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.tables import named_places, record_lengths

__all__ = ["PafReport"]

FORM = "%%s\t%%s\t0\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\ttp:A:P\tco:%s:%%s\trf:Z:%%s"


class PafReport:
    """A line for each read that has a place, of its best reference. Reads without a place are left out, as PAF does.

    Of the read, lengths and places are samples; of the record, letters. Matches are the k-mers that samples were
    aligned with, and the block is their letters. Tags: `co` is the cost, `rf` the name of the reference, `dc` the
    decision.

    Attributes
    ----------
    left_out : int
        Reads without a place so far.
    """

    def __init__(self) -> None:
        self.left_out = 0

    def head(self, part: Alignments | Classified) -> str:
        return ""

    def body(self, part: Alignments | Classified) -> str:
        """Write the places of a part.

        Raises
        ------
        ValueError
            The part has no starts.
        """
        best = BestPlaces.of(part)
        there = best.end >= 0
        self.left_out += int(np.count_nonzero(~there))
        which, start, end = best.reference[there], best.start[there], best.end[there]
        first, last = (named_places(part.references, which, column) for column in (start, end))
        row = part.options.row_samples
        low = np.minimum(first["position"], last["position"])
        letters = np.abs(first["position"] - last["position"]) + np.array([one.k for one in part.references])[which]
        columns = [
            best.names[there], best.samples[there], best.prefix[there] // row * row,
            first["strand"], first["record"], record_lengths(part.references, which, end), low, low + letters,
            end - start + 1, letters, best.quality[there], best.cost[there], first["reference"],
        ]  # fmt: skip
        texts = [table_column(column, whole=not part.options.is_float) for column in columns]
        form = FORM % ("f" if part.options.is_float else "i")
        if best.decision is not None:
            texts.append(best.decision[there].tolist())
            form += "\tdc:Z:%s"
        return rows_of(texts, form + "\n")
