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
    from oclgenomics.app.run import Run
    from oclgenomics.classify.api import Index, add, build, checked_inputs, iter_query, merge, query, run
    from oclgenomics.classify.database.database import Database
    from oclgenomics.classify.database.file import read_database, verify_database, write_database
    from oclgenomics.classify.database.merging import merge_databases
    from oclgenomics.classify.formats.truth import read_calls, read_truth
    from oclgenomics.classify.options import (
        METACACHE,
        METACACHE_BUILD,
        METACACHE_SKETCH,
        BuildOptions,
        Input,
        QueryOptions,
        SketchOptions,
        Wanted,
        inputs_of,
    )
    from oclgenomics.classify.result import ClassifiedReads, QueryResult
    from oclgenomics.classify.serving.client import Client
    from oclgenomics.classify.taxonomy.evaluation import Evaluation, RankMeasures, Truth, evaluate
    from oclgenomics.sequence.files import file_names

__all__ = [
    "METACACHE",
    "METACACHE_BUILD",
    "METACACHE_SKETCH",
    "BuildOptions",
    "ClassifiedReads",
    "Client",
    "Database",
    "Evaluation",
    "Index",
    "Input",
    "QueryOptions",
    "QueryResult",
    "RankMeasures",
    "Run",
    "SketchOptions",
    "Truth",
    "Wanted",
    "add",
    "build",
    "checked_inputs",
    "evaluate",
    "file_names",
    "inputs_of",
    "iter_query",
    "merge",
    "merge_databases",
    "query",
    "read_calls",
    "read_database",
    "read_truth",
    "run",
    "verify_database",
    "write_database",
]

HOMES = {
    **dict.fromkeys(("Index", "add", "build", "checked_inputs", "iter_query", "merge", "query", "run"), "api"),
    "Database": "database.database",
    **dict.fromkeys(("read_database", "verify_database", "write_database"), "database.file"),
    "merge_databases": "database.merging",
    **dict.fromkeys(("read_calls", "read_truth"), "formats.truth"),
    "Run": "oclgenomics.app.run",
    "file_names": "oclgenomics.sequence.files",
    **dict.fromkeys(
        (
            "BuildOptions",
            "Input",
            "METACACHE",
            "METACACHE_BUILD",
            "METACACHE_SKETCH",
            "QueryOptions",
            "SketchOptions",
            "Wanted",
            "inputs_of",
        ),
        "options",
    ),
    **dict.fromkeys(("ClassifiedReads", "QueryResult"), "result"),
    "Client": "serving.client",
    **dict.fromkeys(("Evaluation", "RankMeasures", "Truth", "evaluate"), "taxonomy.evaluation"),
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__, {"query_parts": "iter_query"})
