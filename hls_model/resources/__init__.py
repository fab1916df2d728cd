"""What a design takes of its device, and where it goes there.

Pipelines are counted by one of two methods (`estimates.METHODS`), other engines (`engines`, `ld`) always
bottom-up.
"""

from __future__ import annotations

from hls_model.resources.estimates import METHODS, REPORT_ROWS, Resources, check_fits, estimate, largest_unroll
from hls_model.resources.parts import Part

__all__ = ["METHODS", "REPORT_ROWS", "Part", "Resources", "check_fits", "estimate", "largest_unroll"]
