"""Metagenomic classification of reads with minhash sketches, by the method of MetaCache."""

from oclgenomics.classify.options import METACACHE, BuildOptions, QueryOptions, SketchOptions

__all__ = ["METACACHE", "BuildOptions", "QueryOptions", "SketchOptions"]
