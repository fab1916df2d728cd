"""Metagenomic classification of reads with minhash sketches, by the method of MetaCache."""

from oclgenomics.classify.build import add, build
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.file import read_database, write_database
from oclgenomics.classify.database.merging import merge_databases
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
from oclgenomics.classify.result import ClassifiedReads, QueryResult
from oclgenomics.classify.run import run

__all__ = [
    "METACACHE",
    "METACACHE_BUILD",
    "METACACHE_SKETCH",
    "BuildOptions",
    "ClassifiedReads",
    "Database",
    "Index",
    "QueryOptions",
    "QueryResult",
    "SketchOptions",
    "Wanted",
    "add",
    "build",
    "merge",
    "merge_databases",
    "query",
    "query_parts",
    "read_database",
    "run",
    "write_database",
]
