"""The golden job of `oclgenomics classify`: a database and the calls of reads, compared with the oracle."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import (
    METACACHE,
    BuildOptions,
    Database,
    Index,
    QueryOptions,
    QueryResult,
    Wanted,
    build,
    reference,
)
from oclgenomics.classify.database.features import Features, mix
from oclgenomics.classify.options import inputs_of
from oclgenomics.classify.plan import range_widths
from oclgenomics.classify.taxonomy.calls import Candidate
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.runtime import Engine
from oclgenomics.sequence.joined_lines import DeviceJoiner, NameColumn, NumberColumn, TextColumn, TextTable

# Taxa 1 > 10 > 11, 12 and 1 > 20 > 21: a root, two genera and three species.
NODES = ((1, 1, "no rank"), (10, 1, "genus"), (11, 10, "species"), (12, 10, "species"), (20, 1, "genus"),
         (21, 20, "species"))  # fmt: skip
TAXIDS = (11, 11, 12, 21)  # of the targets
LETTERS = 2500
REPEATS = 140  # of a unit as long as the stride of windows: a list of so many locations for each of its features
READS, READ_LETTERS = 40, 150
LENIENT = QueryOptions(hitmin=2, hitdiff=0.5, maxcand=4, lowest="species")
WANTED = Wanted(all_hits=True)


def _text(count: int, seed: int) -> NDArray[np.uint8]:
    return np.frombuffer(b"ACGT", np.uint8).take(numbers(count, seed) % np.uint64(4))


def _mutated(letters: NDArray[np.uint8], seed: int, every: int, by: bytes) -> NDArray[np.uint8]:
    """Letters of which about one of so many is changed to one of those given."""
    drawn = numbers(len(letters), seed)
    others = np.frombuffer(by, np.uint8)[(drawn >> np.uint64(32)) % np.uint64(len(by))]
    return np.where(drawn % np.uint64(every) == 0, others, letters)


def golden_targets() -> list[bytes]:
    """Two strains, a neighbour that has lower case and gaps, and a sequence of repetitions."""
    first = _text(LETTERS, 14)
    strain, neighbour = _mutated(first, 15, 60, b"ACGT"), _mutated(first, 16, 25, b"ACGTacgtN")
    unit = _text(112, 17).tobytes()
    return [first.tobytes(), strain.tobytes(), neighbour.tobytes(), unit * REPEATS + b"AC" * 150 + b"A" * 150]


def golden_reads(targets: list[bytes]) -> list[bytes]:
    """Reads of the targets, of either strand and with errors; one of the repeats, a short one and one of no target."""
    places = numbers(READS, 18)
    found = []
    for number, place in enumerate(places.tolist()):
        target = np.frombuffer(targets[number % len(targets)], np.uint8)
        begin = place % (len(target) - READ_LETTERS)
        read = _mutated(target[begin : begin + READ_LETTERS], 100 + number, 30, b"ACGTN").tobytes()
        found.append(read.translate(bytes.maketrans(b"ACGTacgt", b"TGCAtgca"))[::-1] if number % 2 else read)
    return [*found, targets[3][:700], b"ACGT", _text(READ_LETTERS, 19).tobytes()]


def _write(folder: Path, targets: list[bytes], reads: list[list[bytes]]) -> None:
    """Write targets, reads or pairs, the first mates apart from the second ones, and the taxonomy."""
    with (folder / "targets.fa").open("wb") as stream:
        for number, (letters, taxid) in enumerate(zip(targets, TAXIDS, strict=True)):
            lines = b"\n".join(letters[at : at + 70] for at in range(0, len(letters), 70))
            stream.write(b">target%d taxid|%d\n%b\n" % (number, taxid, lines))
    for name, mates in zip("ab", zip(*reads, strict=True), strict=True):
        text = (b"@read%d\n%b\n+\n%b\n" % (number, read, b"I" * len(read)) for number, read in enumerate(mates))
        (folder / f"{name}.fq").write_bytes(b"".join(text))
    nodes = (f"{taxid}\t|\t{parent}\t|\t{rank}\t|\n" for taxid, parent, rank in NODES)
    (folder / "nodes.dmp").write_text("".join(nodes))
    names = (f"{taxid}\t|\ttaxon {taxid}\t|\t\t|\tscientific name\t|\n" for taxid, _, _ in NODES)
    (folder / "names.dmp").write_text("".join(names))


def _same_features(found: Features, expected: reference.Locations, first_window: NDArray[np.int64]) -> bool:
    """Say whether a database has the features of the oracle and nothing else."""
    names = np.array([*expected], np.uint32)
    order = np.argsort(mix(names))
    lists = [expected[name] for name in names[order].tolist()]
    places = [int(first_window[target]) + window for one in lists for target, window in one]
    return (
        np.array_equal(found.keys, mix(names)[order])
        and found.counts.tolist() == [*map(len, lists)]
        and found.locations.tolist() == places
    )


@dataclass(frozen=True)
class _Expected:
    """What the oracle says of a database and reads, each of one mate or of two."""

    database: Database
    letters: list[int]
    features: reference.Locations
    sketches: list[list[int]]  # features of each read

    @classmethod
    def of(cls, database: Database, features: reference.Locations, reads: list[list[bytes]]) -> _Expected:
        """Sketch the reads."""
        sketch = database.options.sketch
        sketches = [
            [one for mate in mates for row in reference.sketches(mate, sketch) for one in row] for mates in reads
        ]
        return cls(database, [sum(map(len, mates)) for mates in reads], features, sketches)

    def unlike(self, result: QueryResult) -> str | None:
        """Say what of a result differs, or None."""
        options, lineages, stride = result.options, result.lineages, self.database.options.sketch.winstride
        assert options.hitmin is not None
        ranks = lineages.at_rank[len(self.database.taxonomy) :].tolist()
        of_targets = [[None if taxon == NO_TAXON else taxon for taxon in row] for row in ranks]
        groups = [None if group == NO_TAXON else group for group in lineages.groups(options.lowest).tolist()]
        widths = range_widths(np.array(self.letters), 0, stride).tolist()
        for width, sketch, found in zip(widths, self.sketches, _reads_of(result), strict=True):
            lists = [self.features.get(one, []) for one in (sketch if options.repeats else dict.fromkeys(sketch))]
            if found.hits != [(*place, times) for place, times in sorted(Counter(chain(*lists)).items())]:
                return "hits differ from the oracle"
            apart = 0 if options.repeats else width
            at = chain(*(reference.counting(one, apart) for one in lists))
            candidates = reference.choose_candidates(at, width, options.maxcand, groups)
            if found.candidates != candidates:
                return "candidates differ from the oracle"
            called = reference.call_read(candidates, of_targets, options, options.hitmin)
            if found.taxon != (NO_TAXON if called is None else called):
                return "calls differ from the oracle"
        return None


@dataclass(frozen=True)
class _Read:
    """What a query found of a read: target, window and number of its hits, candidates and the call."""

    hits: list[tuple[int, int, int]]
    candidates: list[Candidate]
    taxon: int


def _reads_of(result: QueryResult) -> Iterator[_Read]:
    for part in result.parts:
        assert part.located is not None
        ends = part.located.offsets.tolist()
        columns = (part.located.targets.tolist(), part.located.windows.tolist(), part.located.hits.tolist())
        hits = list(zip(*columns, strict=True))
        for number, taxon in enumerate(part.calls.taxon.tolist()):
            yield _Read(hits[ends[number] : ends[number + 1]], part.candidates.of(number), taxon)


def _wrong_lines(engine: Engine, result: QueryResult) -> str | None:
    """Join columns to lines on the device; say whether they differ from those of Python, or None."""
    names, taxa, joiner = result.lineages.taxonomy.names, len(result.lineages.taxonomy), DeviceJoiner(engine)
    for part in result.parts:
        taxon = np.where(part.calls.taxon < taxa, part.calls.taxon, NO_TAXON)
        table = TextTable(taxa, lambda number: f"\t{names[number] if number >= 0 else '-'}\t")
        columns = (
            NameColumn(part.reads.names),
            TextColumn(table, table.places(taxon)),
            NumberColumn(part.candidates.located.astype(np.uint64)),
        )
        rows = zip(part.reads.names, taxon.tolist(), part.candidates.located.tolist(), strict=True)
        texts = (f"{name}\t{names[number] if number >= 0 else '-'}\t{located}" for name, number, located in rows)
        if joiner.join(len(part), columns).tobytes() != "".join(texts).encode():
            return "lines differ from those that Python joins"
    return None


def classify(engine: Engine) -> str | None:
    """Build a database and classify reads; say what differs from the oracle, or None."""
    targets = golden_targets()
    reads = golden_reads(targets)
    pairs = [[read, reads[number - 4]] for number, read in enumerate(reads)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, targets, pairs)
        database = build(folder / "targets.fa", BuildOptions(), taxonomy=folder, engine=engine)
        features = reference.build_features(targets, database.options)
        if not _same_features(database.features, features, database.targets.first_window):
            return "features differ from the oracle"
        inputs = inputs_of([folder / "a.fq"], [], interleaved=False)
        mates = inputs_of([], [(folder / "a.fq", folder / "b.fq")], interleaved=False)
        with Index(database, engine=engine) as index:
            single = index.query(inputs, METACACHE, WANTED)
            paired = index.query(mates, LENIENT, WANTED)
    return (
        _Expected.of(database, features, [[read] for read in reads]).unlike(single)
        or _Expected.of(database, features, pairs).unlike(paired)
        or _wrong_lines(engine, single)
    )


def numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """Numbers without a pattern, uint64 (count,): SplitMix64."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return x ^ x >> np.uint64(31)
