"""What is decided of a read by its scores, how thresholds are chosen, and how well they keep reads apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.decisions.basis import check_rate, settled_trim, trim_text
    from oclgenomics.sdtw.decisions.choice import check_shares
    from oclgenomics.sdtw.decisions.chosen_by import CHOSEN_BY, ChosenBy
    from oclgenomics.sdtw.decisions.intervals import reads_needed
    from oclgenomics.sdtw.decisions.thresholds import checked_trim, parse_stages

__all__ = [
    "CHOSEN_BY",
    "ChosenBy",
    "check_rate",
    "check_shares",
    "checked_trim",
    "parse_stages",
    "reads_needed",
    "settled_trim",
    "trim_text",
]

HOMES = {
    "CHOSEN_BY": "chosen_by", "ChosenBy": "chosen_by", "check_rate": "basis", "check_shares": "choice",
    "checked_trim": "thresholds", "parse_stages": "thresholds", "reads_needed": "intervals", "settled_trim": "basis",
    "trim_text": "basis"
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
