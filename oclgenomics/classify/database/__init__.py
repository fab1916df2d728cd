"""What a database is, how it is checked, kept in a file, merged and listed, and how references become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.database.file import (
        is_database as is_database,
        open_database as open_database,
        read_description as read_description,
    )
    from oclgenomics.classify.database.listings import *
    from oclgenomics.classify.database.manifest import manifest_path as manifest_path
    from oclgenomics.classify.database.references import (
        TaxonSources as TaxonSources,
        files_of as files_of,
        reference_files as reference_files,
    )

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "file": "is_database open_database read_description",
        "listings": "count_lines database_facts lineage_lines location_lines rank_lines statistics_lines target_lines",
        "manifest": "manifest_path",
        "references": "TaxonSources files_of reference_files",
    },
)
