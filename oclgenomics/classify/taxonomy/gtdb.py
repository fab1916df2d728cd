"""GTDB's tables of genomes and lineages as a folder of a taxonomy, in the format of NCBI's dump.

A taxid follows from the rank and the name of its taxon alone, so it stays the same from release to release. Of two taxa
whose names give one number, the second one by name takes the next number that is free.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence

from oclgenomics.errors import InputError, OutputError
from oclgenomics.io.atomic_file import open_whole

RANKS = {
    "d": "domain", "p": "phylum", "c": "class", "o": "order", "f": "family", "g": "genus", "s": "species",
}  # fmt: skip
ROOT = 1
ACCESSION = re.compile(r"GC[AF]_[0-9]{9}\.[0-9]+")


def write_gtdb(tables: Sequence[str], folder: str) -> dict[str, int]:
    """Write nodes.dmp and names.dmp of the lineages in some tables.

    Parameters
    ----------
    tables : sequence of str
        GTDB's `*_taxonomy*.tsv`, maybe compressed by gzip.
    folder : str
        It is there.

    Returns
    -------
    dict of str to int
        The taxid of the species of each genome, by its accession without GTDB's prefix.

    Raises
    ------
    InputError
        A table is damaged, or a taxon lies in two others.
    OutputError
    """
    parents: dict[str, str] = {}
    species: dict[str, str] = {}
    for table in tables:
        for number, (genome, lineage) in enumerate(_rows(table), 1):
            taxa = _checked(lineage, table, number)
            for taxon, parent in zip(taxa, ["", *taxa], strict=False):
                if parents.setdefault(taxon, parent) != parent:
                    what = f"{taxon} lies in {parent}, and above in {parents[taxon]}; take all tables from one release"
                    raise InputError(what, source=table, line=number)
            species[genome] = taxa[-1]
    taxids = _taxids(parents)
    nodes = (f"{taxids[one]}\t|\t{taxids.get(above, ROOT)}\t|\t{RANKS[one[0]]}\t|\n" for one, above in parents.items())
    names = (f"{taxids[one]}\t|\t{one[3:]}\t|\t\t|\tscientific name\t|\n" for one in parents)
    _write(os.path.join(folder, "nodes.dmp"), f"{ROOT}\t|\t{ROOT}\t|\tno rank\t|\n", nodes)
    _write(os.path.join(folder, "names.dmp"), f"{ROOT}\t|\troot\t|\t\t|\tscientific name\t|\n", names)
    return {genome: taxids[name] for genome, name in species.items()}


def representatives(clusters: str) -> set[str]:
    """Return the accessions of the representatives in GTDB's table of species clusters: its first column.

    Raises
    ------
    InputError
        There are none.
    """
    found = {accession[0] for word, _ in _rows(clusters) if (accession := ACCESSION.search(word))}
    if not found:
        raise InputError("names no representative genome in its first column", source=clusters)
    return found


def _rows(path: str) -> Iterator[tuple[str, str]]:
    """The first two columns of a table, the accessions without the prefix that says whose they are."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8", errors="replace", newline="\n") as lines:
            for line in lines:
                first, _, rest = line.rstrip("\r\n").partition("\t")
                yield first.removeprefix("RS_").removeprefix("GB_"), rest.partition("\t")[0]
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read ({error})", source=path) from error


def _checked(lineage: str, table: str, line: int) -> list[str]:
    """The taxa of a lineage, such as s__Escherichia coli, from the domain to the species."""
    taxa = [taxon.strip() for taxon in lineage.split(";")]
    if [taxon[:3] for taxon in taxa] != [f"{rank}__" for rank in RANKS] or not all(taxon[3:] for taxon in taxa):
        what = f"{lineage[:80]!r} is no lineage such as d__Bacteria;p__...;c__...;o__...;f__...;g__...;s__..."
        raise InputError(what, source=table, line=line)
    return taxa


def _taxids(taxa: Iterable[str]) -> dict[str, int]:
    """A number above the root's for each taxon."""
    taken, found = {0, ROOT}, {}
    for taxon in sorted(taxa):
        number = int.from_bytes(hashlib.sha256(taxon.encode()).digest()[:4], "big") >> 1
        while number in taken:
            number = (number + 1) % (1 << 31)
        taken.add(number)
        found[taxon] = number
    return found


def _write(path: str, root: str, lines: Iterable[str]) -> None:
    with open_whole(path, "w", OutputError) as file:
        file.write(root)
        file.writelines(lines)
