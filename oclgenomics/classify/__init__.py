"""Metagenomic classification of reads with minhash sketches, by the method of MetaCache.

References are sketched window by window into a database of features. Reads are sketched the same way, and each is
called the lowest taxon of the targets in which most of its features lie close to each other; see docs/classify.md.

`oclgenomics.classify.reports` writes what was found, `.plots` draws it, `.evaluation` compares it with the truth.

Examples
--------
>>> from oclgenomics.classify import Index, build, inputs_of, query, write_database
>>> write_database("viruses.db", build("genomes", taxonomy="taxdump"))  # doctest: +SKIP
>>> print(query("reads.fastq.gz", "viruses.db"))  # doctest: +SKIP
QueryResult(reads=20000, classified=18198, targets=62)
>>> with Index("viruses.db") as index:  # doctest: +SKIP
...     samples = [index.query(inputs_of([name])) for name in ("a.fastq", "b.fastq")]
"""

from oclgenomics.classify.build import add, build
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.file import read_database, write_database
from oclgenomics.classify.database.merging import merge_databases
from oclgenomics.classify.database.verify import verify_database
from oclgenomics.classify.index import Index
from oclgenomics.classify.merge import merge
from oclgenomics.classify.options import (
    METACACHE,
    METACACHE_BUILD,
    METACACHE_SKETCH,
    BuildOptions,
    QueryOptions,
    SketchOptions,
    Wanted,
)
from oclgenomics.classify.query import query, query_parts
from oclgenomics.classify.reading.inputs import Input, inputs_of
from oclgenomics.classify.result import ClassifiedReads, QueryResult
from oclgenomics.classify.run import run
from oclgenomics.classify.serving.client import Client

__all__ = [
    "METACACHE",
    "METACACHE_BUILD",
    "METACACHE_SKETCH",
    "BuildOptions",
    "ClassifiedReads",
    "Client",
    "Database",
    "Index",
    "Input",
    "QueryOptions",
    "QueryResult",
    "SketchOptions",
    "Wanted",
    "add",
    "build",
    "inputs_of",
    "merge",
    "merge_databases",
    "query",
    "query_parts",
    "read_database",
    "run",
    "verify_database",
    "write_database",
]
