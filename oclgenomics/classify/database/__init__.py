"""What a database is, how it is checked, kept in a file, merged and listed, and how references become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.database.file import is_database
    from oclgenomics.classify.database.listings import (
        count_lines,
        database_facts,
        lineage_lines,
        location_lines,
        rank_lines,
        statistics_lines,
        target_lines,
    )
    from oclgenomics.classify.database.manifest import manifest_path
    from oclgenomics.classify.database.references import files_of

__all__ = [
    "count_lines",
    "database_facts",
    "files_of",
    "is_database",
    "lineage_lines",
    "location_lines",
    "manifest_path",
    "rank_lines",
    "statistics_lines",
    "target_lines",
]

HOMES = {
    "is_database": "file",
    **dict.fromkeys(
        (
            "count_lines",
            "database_facts",
            "lineage_lines",
            "location_lines",
            "rank_lines",
            "statistics_lines",
            "target_lines",
        ),
        "listings",
    ),
    "manifest_path": "manifest",
    "files_of": "references",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
