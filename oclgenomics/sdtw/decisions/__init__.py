"""What is decided of a read by its scores, how thresholds are chosen, and how well they keep reads apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.decisions.basis import settled_trim as settled_trim, trim_text as trim_text
    from oclgenomics.sdtw.decisions.chosen_by import *
    from oclgenomics.sdtw.decisions.intervals import reads_needed as reads_needed
    from oclgenomics.sdtw.decisions.report import choose as choose, judge as judge
    from oclgenomics.sdtw.decisions.thresholds import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "basis": "settled_trim trim_for trim_text",
        "chosen_by": "CHOSEN_BY ChosenBy",
        "intervals": "reads_needed",
        "report": "choose judge",
        "thresholds": "checked_trim parse_stages",
    },
)
