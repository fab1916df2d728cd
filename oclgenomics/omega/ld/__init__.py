"""Maps of linkage disequilibrium around a peak of a scan, or of a region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.ld.map import LdMap, map_region
    from oclgenomics.omega.ld.region import LdRegion
    from oclgenomics.omega.ld.request import RECORDED, MapRequest, read_region, request_map

__all__ = ["RECORDED", "LdMap", "LdRegion", "MapRequest", "map_region", "read_region", "request_map"]

HOMES = {
    "LdMap": "map", "LdRegion": "region", "MapRequest": "request", "RECORDED": "request", "map_region": "map",
    "read_region": "request", "request_map": "request",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
