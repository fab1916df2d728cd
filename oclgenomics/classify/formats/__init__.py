"""Reports about classified reads, of each of them or of all together, and what is read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import *
    from oclgenomics.classify.formats.cami import cami_profile as cami_profile
    from oclgenomics.classify.formats.kraken import *
    from oclgenomics.classify.formats.native import NativeOptions as NativeOptions
    from oclgenomics.classify.formats.native_lists import *
    from oclgenomics.classify.formats.reports import *
    from oclgenomics.classify.formats.tally import *
    from oclgenomics.classify.formats.truth import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "cami": "cami_profile",
        "kraken": "bracken_table kreport krona_text read_kreport",
        "native": "NativeOptions",
        "native_lists": "TargetHits abundance_lists",
        "oclgenomics.app.reports": "Report write_reports",
        "reports": "FORMATS LineForm ReadTexts ReportFormat SUMMARIES make_report make_summary taxa_content",
        "tally": "Tally summary_text",
        "truth": "PrecisionTally precision_text",
    },
)
