"""What is decided of a read by its scores, how thresholds are chosen, and how well they keep reads apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.decisions.basis import *
    from oclgenomics.sdtw.decisions.choice import check_shares as check_shares
    from oclgenomics.sdtw.decisions.chosen_by import *
    from oclgenomics.sdtw.decisions.intervals import reads_needed as reads_needed
    from oclgenomics.sdtw.decisions.thresholds import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "basis": "check_rate settled_trim trim_text",
        "choice": "check_shares",
        "chosen_by": "CHOSEN_BY ChosenBy",
        "intervals": "reads_needed",
        "thresholds": "checked_trim parse_stages",
    },
)
