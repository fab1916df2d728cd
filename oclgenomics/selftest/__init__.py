"""What a device has to compute before it is trusted, and a small job of every system, whose result is known.

`device_test` is the test that `runtime.trust` runs in a process of its own, `idioms` what it runs; `golden_jobs` and
`examination` are what `oclgenomics doctor` shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.selftest.examination import *

__getattr__, __dir__, __all__ = found_in(__name__, {"examination": "Finding examine run_jobs"})
