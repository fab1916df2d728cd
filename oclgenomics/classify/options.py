"""Ranks of taxa, and the options of building a database and of querying it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, get_args

from oclgenomics.errors import ParameterError, check_choice, check_range

# The slots of a ranked lineage, from the lowest to the highest one.
RANKS = (
    "sequence", "form", "variety", "subspecies", "species", "subgenus", "genus", "subtribe", "tribe", "subfamily",
    "family", "suborder", "order", "subclass", "class", "subphylum", "phylum", "subkingdom", "kingdom", "domain",
    "root",
)  # fmt: skip
NO_RANK = -1
SEQUENCE = RANKS.index("sequence")
# Ranks of NCBI that fill a slot of another name. Those of neither table ("no rank", clade, strain) fill none.
_OTHERS = {
    "forma": "form", "varietas": "variety", "superkingdom": "domain",
    "species group": "subgenus", "species subgroup": "subgenus", "superfamily": "suborder", "infraorder": "suborder",
    "parvorder": "suborder", "superorder": "subclass", "infraclass": "subclass", "superclass": "subphylum",
    "superphylum": "subkingdom", "division": "phylum", "subdomain": "kingdom",
}  # fmt: skip
RANK_SLOTS = {name: slot for slot, name in enumerate(RANKS)} | {old: RANKS.index(new) for old, new in _OTHERS.items()}


IdFormat = Literal["smart", "ncbi", "gi", "filename", "leadingword"]
ID_FORMATS: tuple[IdFormat, ...] = get_args(IdFormat)
MAX_KMER, MAX_SKETCH, MAX_WINDOW = 16, 64, 4096
TRIPLETS = 9  # that a k-mer of MAX_KMER bases needs, unless the options say otherwise
MAX_LOCATIONS = (1 << 16) - 1  # of a feature
MAX_CANDIDATES = 64
MAX_ERRORS = 0.5
PRESETS = {"ont": 0.05, "hifi": 0.002}  # error rates of long reads, by what they are called
PAIR_SPAN = 600  # bases, of nearly all libraries of short fragments


def _check(name: str, value: int, least: int, most: int) -> None:
    check_range(name, value, least, most, f"is {least:,} to {most:,}")


@dataclass(frozen=True)
class SketchOptions:
    """How sequences become features.

    MetaCache's windows have 127 bases. Shorter ones hold more features, which tell short reads of near species apart;
    with 91 bases, 150 bp reads have two windows in either case. See docs/how/classify.md.

    Attributes
    ----------
    kmerlen : int
        Bases of a k-mer, 4 to 16.
    sketchlen : int
        Features of a window at most, 1 to 64: the smallest distinct hashes of its k-mers.
    winlen : int
        Bases of a window, `kmerlen` to 4,096.
    winstride : int
        Bases from the start of a window to that of the next one, 1 to `winlen`. `winlen` - `kmerlen` + 1, so that
        each k-mer is in one window, if 0 is given.
    min_triplets : int
        Different triplets of bases that a k-mer has at least, 0 to `kmerlen` - 2; one with fewer is of low
        complexity and no feature. If -1 is given, 9 of the 14 that 16 bases have, and as many for other k-mers; 0
        takes all k-mers, as MetaCache does.
    soft_masked : bool
        Bases in lower case are none.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    kmerlen: int = 16
    sketchlen: int = 16
    winlen: int = 91
    winstride: int = 0
    min_triplets: int = -1
    soft_masked: bool = False

    def __post_init__(self) -> None:
        _check("kmerlen", self.kmerlen, 4, MAX_KMER)
        _check("sketchlen", self.sketchlen, 1, MAX_SKETCH)
        _check("winlen", self.winlen, self.kmerlen, MAX_WINDOW)
        if not self.winstride:
            object.__setattr__(self, "winstride", self.winlen - self.kmerlen + 1)
        _check("winstride", self.winstride, 1, self.winlen)
        triplets = self.kmerlen - 2
        if self.min_triplets == -1:
            object.__setattr__(self, "min_triplets", triplets * TRIPLETS // (MAX_KMER - 2))
        _check("min_triplets", self.min_triplets, 0, triplets)

    @property
    def masks(self) -> bool:
        """Whether any k-mers are masked."""
        return self.min_triplets > 1 or self.soft_masked


@dataclass(frozen=True)
class BuildOptions:
    """What a database keeps of its targets.

    Attributes
    ----------
    sketch : SketchOptions
    max_locations : int
        Locations of a feature at most; the first ones, in the order of targets and windows, are kept.
    remove_overpopulated : bool
        Features with `max_locations` locations or more lose all.
    remove_ambiguous : str, optional
        A rank: features whose locations are in more than `max_ambiguous` taxa of it lose all. Targets without a taxon
        of the rank are of one taxon more, as in MetaCache.
    max_ambiguous : int
    sequence_id_format : {'smart', 'ncbi', 'gi', 'filename', 'leadingword'}
        What names a target.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    sketch: SketchOptions = field(default_factory=SketchOptions)
    max_locations: int = 254
    remove_overpopulated: bool = False
    remove_ambiguous: str | None = None
    max_ambiguous: int = 1
    sequence_id_format: IdFormat = "smart"

    def __post_init__(self) -> None:
        _check("max_locations", self.max_locations, 1, MAX_LOCATIONS)
        _check("max_ambiguous", self.max_ambiguous, 1, MAX_LOCATIONS)
        if self.remove_ambiguous is not None:
            check_choice("remove_ambiguous", self.remove_ambiguous, RANKS)
        check_choice("sequence_id_format", self.sequence_id_format, ID_FORMATS)


class _UsualRank(str):
    """A rank that nobody asked for, which options that are made from others may change."""


@dataclass(frozen=True)
class QueryOptions:
    """How reads are classified.

    Attributes
    ----------
    hitmin : int, optional
        Hits that a read needs to be classified. If not given, as many as chance seldom gives; see `thresholds`.
    hitdiff : float
        Candidates whose hits are above (best - `hitmin`) times this share, 0 to 1, count for the lowest common
        ancestor. If `hitmin` is not given, `thresholds.needed_lead` takes its place here.
    maxcand : int
        Candidates of a read at most, 1 to 64.
    lowest, highest : str
        Ranks between which reads are classified. Of each taxon at `lowest` the best target is a candidate. If it is not
        given, `lowest` is species; with `hitmin` it is sequence, which is MetaCache's default, where two strains of one
        species leave no place for the next species. By a database without a taxonomy, sequences are called then, too.
    insertsize : int
        Bases that the two mates of a pair span at most. If 0 is given, 600, or with `hitmin` the bases of both mates,
        as MetaCache takes it.
    winstride : int
        Stride of a read's windows; `winlen` - `kmerlen` + 1 of the database if 0, whatever its own stride.
    sketchlen : int
        Features of a read's window at most; those of the database's windows if 0.
    repeats : bool
        Count a feature as often as the read and the range of windows have it, as MetaCache does, rather than once.
    min_readlen, max_readlen : int
        Reads (pairs: both mates together) of other lengths are not classified; 0 for no limit.
    cov_percentile : float
        Share, 0 to 1, of the windows' cumulated coverage whose targets do not count, those least covered.
    error_rate : float
        Share of wrong bases in long reads, 0 to 0.5; see `PRESETS`. It says by how much a read's best candidate has to
        lead, `plan.needed_lead`: 0 for the lead of short reads.
    confidence : float
        Share, 0 to 1, of the features that a read could share with a target (`plan.shared_features`) that its best
        candidate has at least; another lower bound for the hits that it needs.
    min_distinct : int
        Distinct features of a taxon that its reads hit at least; see `taxonomy.coverage`. Reads of a taxon with fewer
        are called the next taxon above that has as many, or holds one that has; without one, nothing.
    min_coverage, min_evenness : float
        Shares, 0 to 1, of the features that the database has of a taxon, and of those that so many hits should reach;
        reads of taxa below them likewise.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    hitmin: int | None = None
    hitdiff: float = 1.0
    maxcand: int = 2
    lowest: str = ""
    highest: str = "domain"
    insertsize: int = 0
    winstride: int = 0
    sketchlen: int = 0
    repeats: bool = False
    min_readlen: int = 0
    max_readlen: int = 0
    cov_percentile: float = 0.0
    error_rate: float = 0.0
    confidence: float = 0.0
    min_distinct: int = 0
    min_coverage: float = 0.0
    min_evenness: float = 0.0

    def __post_init__(self) -> None:
        if not self._lowest_given:
            object.__setattr__(self, "lowest", _UsualRank("species" if self.hitmin is None else "sequence"))
        if self.hitmin is not None:
            _check("hitmin", self.hitmin, 1, 1 << 20)
        _check("maxcand", self.maxcand, 1, MAX_CANDIDATES)
        for name in ("insertsize", "winstride", "min_readlen", "max_readlen"):
            _check(name, getattr(self, name), 0, (1 << 31) - 1)
        if 0 < self.max_readlen < self.min_readlen:
            raise ParameterError("min_readlen", f"is above the greatest length, {self.max_readlen:,}", self.min_readlen)
        _check("sketchlen", self.sketchlen, 0, MAX_SKETCH)
        _check("min_distinct", self.min_distinct, 0, (1 << 32) - 1)
        for name in ("hitdiff", "cov_percentile", "confidence", "min_coverage", "min_evenness"):
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError(name, "is a share, 0 to 1", getattr(self, name))
        for name in ("lowest", "highest"):
            check_choice(name, getattr(self, name), RANKS)
        if not 0 <= self.error_rate <= MAX_ERRORS:
            raise ParameterError("error_rate", f"is a share, 0 to {MAX_ERRORS}", self.error_rate)
        if self.error_rate and self.hitmin is not None:
            raise ParameterError("error_rate", "says how far a candidate has to lead, as hitmin does; give either",
                                 self.error_rate)  # fmt: skip
        if RANKS.index(self.lowest) > RANKS.index(self.highest):
            raise ParameterError("lowest", f"is above the highest rank, {self.highest}", self.lowest)
        if self.cov_percentile and self.needs_support:
            what = "drops candidates that min_distinct, min_coverage and min_evenness are about; give either"
            raise ParameterError("cov_percentile", what, self.cov_percentile)

    def for_taxa(self, taxa: int) -> QueryOptions:
        """Return the options of queries of a database with so many taxa: see `lowest`."""
        return self if taxa or self._lowest_given else replace(self, lowest="sequence")

    @property
    def _lowest_given(self) -> bool:
        return bool(self.lowest) and not isinstance(self.lowest, _UsualRank)

    @property
    def needs_support(self) -> bool:
        """Whether taxa have to be covered by reads; see `min_distinct`."""
        return bool(self.min_distinct or self.min_coverage or self.min_evenness)

    @property
    def calls_again(self) -> bool:
        """Whether calls depend on all reads together."""
        return bool(self.cov_percentile) or self.needs_support

    def alone(self) -> QueryOptions:
        """Return the options under which each read is called by itself."""
        return replace(self, cov_percentile=0.0, min_distinct=0, min_coverage=0.0, min_evenness=0.0)

    @property
    def tells_shares(self) -> bool:
        """Whether candidates are those that `calling.evidence` knows what they say: two species, by the own rules."""
        return self.hitmin is None and self.lowest == "species" and self.maxcand > 1

    def spanned(self, *, pairs: bool) -> int:
        """Return the bases that a read or a pair spans at least when its hits are counted; see `insertsize`."""
        return self.insertsize or (PAIR_SPAN if pairs and self.hitmin is None else 0)


@dataclass(frozen=True)
class Wanted:
    """What a query is to bring with candidates and calls, and of which reads.

    Attributes
    ----------
    texts : bool
        The records as they stand in the input.
    all_hits : bool
        All windows that reads hit. Their texts are made on the host, which takes its time.
    any_mates : bool
        Take mates that have different names.
    limit : int, optional
        Reads, or pairs, of each input that are taken.
    features : bool
        The features that reads share with their best candidates, for the evidence of taxa.

    Raises
    ------
    UsageError
        The limit is below 1.
    """

    texts: bool = False
    all_hits: bool = False
    any_mates: bool = False
    limit: int | None = None
    features: bool = False

    def __post_init__(self) -> None:
        if self.limit is not None:
            _check("limit", self.limit, 1, 1 << 62)


# What options call the levels of assemblies, and what NCBI does; the best first.
ASSEMBLY_LEVELS = {
    "complete": "Complete Genome", "chromosome": "Chromosome", "scaffold": "Scaffold", "contig": "Contig",
}  # fmt: skip
NCBI_SOURCE = "https://ftp.ncbi.nlm.nih.gov"
GTDB_SOURCE = "https://data.gtdb.ecogenomic.org/releases/latest"
MAX_PARALLEL = 32  # more is unkind to public servers


@dataclass(frozen=True)
class FetchOptions:
    """Which assemblies of public collections are downloaded, and from where.

    Attributes
    ----------
    assembly_level : tuple of {'complete', 'chromosome', 'scaffold', 'contig'}
        Levels that are taken; all if none is given.
    representative : bool
        Only genomes that NCBI calls reference or representative, or that represent a species of GTDB.
    reference : bool
        Only genomes that NCBI calls reference.
    top : int, optional
        Assemblies of a species at most: the best by category, level and date.
    skip_missing : bool
        Do without assemblies that cannot be had, rather than end with an error.
    parallel : int
        Downloads at a time, 1 to 32.
    source, gtdb_source : str
        Web addresses of a server with NCBI's layout, and of the folder of a release of GTDB.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    assembly_level: tuple[str, ...] = ()
    representative: bool = False
    reference: bool = False
    top: int | None = None
    skip_missing: bool = False
    parallel: int = 4
    source: str = NCBI_SOURCE
    gtdb_source: str = GTDB_SOURCE

    def __post_init__(self) -> None:
        for level in self.assembly_level:
            check_choice("assembly_level", level, ASSEMBLY_LEVELS)
        _check("parallel", self.parallel, 1, MAX_PARALLEL)
        if self.top is not None:
            _check("top", self.top, 1, 1 << 31)
        for name in ("source", "gtdb_source"):
            if not getattr(self, name).startswith(("https://", "http://")):
                raise ParameterError(name, "is no address that begins with https:// or http://", getattr(self, name))


class Input(NamedTuple):
    """A file of reads, one of mates that follow each other, or two of mates.

    Attributes
    ----------
    path : str
    mates : str or None
        The file of the second mates.
    interleaved : bool
        Each two records are a pair.
    """

    path: str
    mates: str | None = None
    interleaved: bool = False

    @property
    def name(self) -> str:
        """The file, or both."""
        return self.path if self.mates is None else f"{self.path} + {self.mates}"

    @property
    def shown(self) -> str:
        """What messages call it, which count from where parts of files begin."""
        names = [name for name in (self.path, self.mates) if name is not None]
        return " + ".join([getattr(name, "shown", name) for name in names])

    @property
    def stored(self) -> bool:
        """Whether it comes from files alone, not through a pipe."""
        return all(name != "-" and os.path.isfile(name) for name in (self.path, self.mates) if name is not None)


def inputs_of(
    reads: Sequence[str | os.PathLike[str]],
    paired: Sequence[tuple[str | os.PathLike[str], str | os.PathLike[str]]] = (),
    *,
    interleaved: bool = False,
) -> list[Input]:
    """List the inputs of a query: files of reads, then pairs of files.

    Parameters
    ----------
    reads : sequence of path
    paired : sequence of (path, path)
        First mates and second mates.
    interleaved : bool
        Mates follow each other in `reads`.
    """
    found = [Input(os.fspath(path), None, interleaved) for path in reads]
    return found + [Input(os.fspath(first), os.fspath(second)) for first, second in paired]


def parse_share(text: str) -> float:
    """Read a share, 0 to 1, or percent above 1.

    Raises
    ------
    ValueError
        It is something else; the message says so.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise ValueError("is no share: write 0.8, or 80 for percent")
    return value / 100 if value > 1 else value


def metacache_hitmin(sketchlen: int) -> int:
    """Return the hits that MetaCache asks for: a third of the features of a window."""
    return sketchlen // 3 if sketchlen >= 6 else 2 if sketchlen >= 4 else 1


METACACHE_SKETCH = SketchOptions(winlen=127, min_triplets=0)
METACACHE_BUILD = BuildOptions(METACACHE_SKETCH)
METACACHE = QueryOptions(hitmin=metacache_hitmin(METACACHE_SKETCH.sketchlen), repeats=True)
