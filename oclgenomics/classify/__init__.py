"""Metagenomic classification of reads with minhash sketches, by the method of MetaCache.

References are sketched window by window into a database of features. Reads are sketched the same way, and each is
called the lowest taxon of the targets in which most of its features lie close to each other; see docs/classify.md.

`oclgenomics.classify.formats` writes what was found, `.plots` draws it.

Examples
--------
>>> from oclgenomics.classify import Index, build, query, write_database
>>> write_database("viruses.db", build("genomes", taxonomy="taxdump"))  # doctest: +SKIP
>>> print(query("reads.fastq.gz", "viruses.db"))  # doctest: +SKIP
QueryResult(reads=20000, classified=18198, targets=62)
>>> with Index("viruses.db") as index:  # doctest: +SKIP
...     samples = [index.query(name) for name in ("a.fastq", "b.fastq")]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.run import Run as Run
    from oclgenomics.classify.api import *
    from oclgenomics.classify.database.database import Database as Database
    from oclgenomics.classify.database.file import *
    from oclgenomics.classify.database.merging import merge_databases as merge_databases
    from oclgenomics.classify.device.packing import FeaturePacker as FeaturePacker
    from oclgenomics.classify.formats.truth import *
    from oclgenomics.classify.index import (
        Index as Index,
        checked_inputs as checked_inputs,
        options_for as options_for,
    )
    from oclgenomics.classify.jobs import BuildJob as BuildJob, QueryJob as QueryJob
    from oclgenomics.classify.options import *
    from oclgenomics.classify.result import *
    from oclgenomics.classify.serving.client import Client as Client
    from oclgenomics.classify.taxonomy.evaluation import *
    from oclgenomics.sequence.files import file_names as file_names

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "api": "Fetched add build fetch iter_query merge query run",
        "database.database": "Database",
        "database.file": "read_database verify_database write_database",
        "database.merging": "merge_databases",
        "device.packing": "FeaturePacker",
        "formats.truth": "read_calls read_confidences read_truth",
        "index": "Index checked_inputs options_for",
        "jobs": "BuildJob QueryJob",
        "oclgenomics.app.run": "Run",
        "oclgenomics.sequence.files": "file_names",
        "options": (
            "BuildOptions FetchOptions Input METACACHE METACACHE_BUILD METACACHE_SKETCH QueryOptions SketchOptions "
            "Wanted inputs_of"
        ),
        "result": "ClassifiedReads QueryResult",
        "serving.client": "Client",
        "taxonomy.evaluation": "Evaluation RankMeasures ThresholdCurve Truth evaluate threshold_curves",
    },
    {"query_parts": "iter_query"},
)
