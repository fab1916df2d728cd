"""Maps of linkage disequilibrium around a peak of a scan, or of a region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.ld.map import *
    from oclgenomics.omega.ld.region import LdRegion as LdRegion
    from oclgenomics.omega.ld.request import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "map": "LdMap map_region",
        "region": "LdRegion",
        "request": "MapRequest RECORDED read_region request_map",
    },
)
