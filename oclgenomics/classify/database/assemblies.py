"""Assemblies of NCBI and GTDB by the names of their collections: which there are, their sequences, their taxonomy.

A folder of downloads has `genomes` with the sequences and their checksums, `listings` with what the servers list, and
`taxonomy` or, for GTDB's, `gtdb` with what `classify build` takes as a taxonomy.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tarfile
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlsplit

from oclgenomics.classify.options import ASSEMBLY_LEVELS, FetchOptions
from oclgenomics.classify.taxonomy.gtdb import ACCESSION, representatives, write_gtdb
from oclgenomics.errors import InputError, OclGenomicsError, OutputError, UsageError, library_errors
from oclgenomics.io.atomic_file import open_whole, whole_file
from oclgenomics.io.downloads import (
    ChecksumError,
    Downloader,
    MissingFileError,
    digest_of,
    listed_md5,
)

BANKS = ("refseq", "genbank")
GROUPS = (
    "archaea", "bacteria", "fungi", "human", "invertebrate", "metagenomes", "plant", "protozoa", "vertebrate_mammalian",
    "vertebrate_other", "viral",
)  # fmt: skip
FOLDERS = {"human": "vertebrate_mammalian/Homo_sapiens"}  # of groups, where they have other names
GTDB = "gtdb"
CATEGORIES = ("reference genome", "representative genome")  # the best first
COLUMNS = {
    "accession": "assembly_accession", "taxid": "taxid", "species": "species_taxid", "category": "refseq_category",
    "level": "assembly_level", "date": "seq_rel_date", "path": "ftp_path",
}  # fmt: skip
NOT_LISTED = ("na", "")
SEQUENCES, SUMS = "_genomic.fna.gz", "md5checksums.txt"
DUMP = ("nodes.dmp", "names.dmp", "merged.dmp")
STORED = 0.29  # bytes that a base takes in a compressed FASTA file, about
SHOWN = 3  # in a message


@dataclass(frozen=True)
class Assembly:
    """A line of an assembly summary.

    Attributes
    ----------
    accession : str
        With its version.
    taxid, species : str
    category, level, date : str
        As they are listed.
    path : str
        Its folder on the server.
    bases : int
        0 where it is not listed.
    """

    accession: str
    taxid: str
    species: str
    category: str
    level: str
    date: str
    path: str
    bases: int = 0

    @property
    def file(self) -> str:
        """The name of its sequences."""
        return self.path.rpartition("/")[2] + SEQUENCES

    @property
    def order(self) -> tuple[int, int, tuple[int, ...], str]:
        """Which one is preferred: the least."""
        category = CATEGORIES.index(self.category) if self.category in CATEGORIES else len(CATEGORIES)
        levels = list(ASSEMBLY_LEVELS.values())
        level = levels.index(self.level) if self.level in levels else len(levels)
        return category, level, tuple(-int(number) for number in re.findall("[0-9]+", self.date)), self.accession


@dataclass
class Checksums:
    """Checksums of files, with a file that keeps them, to which each is added as soon as it is known."""

    path: str
    known: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        with contextlib.suppress(FileNotFoundError), open(self.path, encoding="utf-8", errors="replace") as file:
            self.known = listed_md5(file.read())

    def add(self, name: str, md5: str) -> None:
        """Keep a checksum; the last one of a file counts."""
        with self.lock:
            if self.known.get(name) != md5:
                self.known[name] = md5
                with _written(self.path), open(self.path, "a", encoding="utf-8") as file:
                    file.write(f"\n{md5}  {name}\n" if self._is_torn() else f"{md5}  {name}\n")

    def _is_torn(self) -> bool:
        """Whether the last line was cut off."""
        with open(self.path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            return bool(size and os.pread(file.fileno(), 1, size - 1) != b"\n")


@dataclass(frozen=True)
class Choice:
    """The assemblies that are wanted.

    Attributes
    ----------
    assemblies : list of Assembly
        By accession.
    left_out : Counter
        How many others there were, by why they are not wanted.
    lost : list of str
        Accessions that no list has, or that have no sequences.
    taxids : dict of str to int
        Taxids of the taxonomy of GTDB; empty where it is NCBI's.
    """

    assemblies: list[Assembly]
    left_out: Counter[str]
    lost: list[str]
    taxids: dict[str, int]


class Collections:
    """Named collections in a folder of downloads; used by one process at a time.

    Parameters
    ----------
    folder : str
        It is made if it is not there.
    options : FetchOptions
    net : Downloader
    """

    def __init__(self, folder: str, options: FetchOptions, net: Downloader) -> None:
        self.folder, self._options, self._net = folder, options, net

    def choose(self, sources: Sequence[str]) -> Choice:
        """List the assemblies of some sources: collections, and files of accessions.

        Raises
        ------
        UsageError
            There is no such source, or taxa of NCBI and GTDB would be mixed.
        InputError
            None is left, or a list cannot be had or read.
        """
        check_sources(sources)
        options, left_out, lost = self._options, Counter[str](), list[str]()
        wanted, clusters, taxids = dict[str, str](), None, dict[str, int]()
        listed: list[Assembly] = []
        if GTDB in sources:
            taxids, clusters = self._gtdb()
            only = clusters if options.representative and clusters is not None else taxids
            wanted = {accession: accession for accession in taxids if accession in only}
        for source in sources:
            if source in collections() and source != GTDB:
                bank, _, group = source.partition("-")
                url = f"genomes/{bank}/{FOLDERS.get(group, group)}/assembly_summary.txt"
                listed += _read_summary(self._listing(url, f"{source}.txt"))
            elif source != GTDB:
                wanted |= read_accessions(source)
        if wanted:
            found, lost = self._by_accession(wanted)
            listed += found
        if taxids:
            listed = [
                replace(
                    one, species=str(taxids.get(one.accession, one.species)),
                    category=CATEGORIES[1] if clusters and one.accession in clusters else "na",
                ) for one in listed
            ]  # fmt: skip
        chosen = _chosen(list({one.accession: one for one in listed}.values()), options, left_out)
        if not chosen and not lost:
            why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
            raise InputError(f"no assembly is left ({why or 'none is listed'}); ask for less", source=" ".join(sources))
        return Choice(chosen, left_out, lost, taxids)

    def missing(self, choice: Choice) -> list[Assembly]:
        """The assemblies that are not there yet, by their names alone."""
        return [one for one in choice.assemblies if not os.path.exists(self._path("genomes", one.file))]

    def fetch(self, choice: Choice) -> list[str]:
        """Download the sequences; return the paths of all.

        Raises
        ------
        InputError
            Some cannot be had. Without `skip_missing` that is an error when all others are there.
        OutputError
        """
        sums = Checksums(self._path("genomes", SUMS))
        trouble = dict.fromkeys(choice.lost, "the lists have no sequences of it")
        with contextlib.closing(self._net.each(lambda one: self._fetch(one, sums), choice.assemblies)) as done:
            for one, error in done:
                if isinstance(error, (MissingFileError, ChecksumError)):
                    trouble[one.accession] = str(error)
                elif error is not None:
                    raise error
        there = [one for one in choice.assemblies if one.accession not in trouble]
        if trouble and not (self._options.skip_missing and there):
            some = "; ".join(f"{accession}: {why}" for accession, why in list(trouble.items())[:SHOWN])
            what = f"{len(trouble):,} of {len(there) + len(trouble):,} assemblies cannot be had, all others are there"
            raise InputError(f"{what} (`skip_missing=True` does without them): {some}")
        return [self._path("genomes", one.file) for one in there]

    def fetch_taxonomy(self, choice: Choice) -> str:
        """Have the taxonomy, with the taxids of the assemblies, in a folder; return that.

        Raises
        ------
        InputError, OutputError
        """
        folder = self._path(GTDB if choice.taxids else "taxonomy")
        if not choice.taxids:
            url = f"{self._options.source.rstrip('/')}/pub/taxonomy/taxdump.tar.gz"
            archive = self._path("listings", _host(url), "taxdump.tar.gz")
            _get_listed(self._net, url, f"{url}.md5", archive)
            _unpack_dump(archive, folder)
        taxids = {one.accession: str(choice.taxids.get(one.accession, one.taxid)) for one in choice.assemblies}
        _write_taxids(os.path.join(folder, "assembly_summary_refseq.txt"), taxids)
        return folder

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folders, and keep other processes from downloading to them meanwhile.

        Raises
        ------
        OutputError
            They cannot be made, or another process is at work there.
        """
        for name in ("genomes", "listings", "taxonomy", GTDB):
            with _written(self._path(name)):
                os.makedirs(self._path(name), exist_ok=True)
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    told = "another process is downloading to it; wait for its end, or name another folder"
                    raise OutputError(f"{self.folder}: {told}") from None
            yield
        finally:
            os.close(handle)

    def remove(self) -> None:
        """Remove what was downloaded, and the folder if nothing else is in it."""
        for name in ("genomes", "listings", "taxonomy", GTDB):
            shutil.rmtree(self._path(name), ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)

    def _path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def _listing(self, place: str, name: str) -> str:
        """A list of NCBI's server, which has no checksum, as it is now."""
        url = f"{self._options.source.rstrip('/')}/{place}"
        path = self._path("listings", _host(url), name)
        with _written(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        self._net.get(url, path)
        return path

    def _by_accession(self, wanted: dict[str, str]) -> tuple[list[Assembly], list[str]]:
        """Assemblies by accessions, of those without a version the current one; and accessions that nobody lists."""
        left, found = dict(wanted), []
        for age in ("", "_historical"):
            for bank, begin in zip(BANKS, ("GCF_", "GCA_"), strict=True):
                asked = {name for name in left if name.startswith(begin)}
                if asked:
                    name = f"assembly_summary_{bank}{age}.txt"
                    for one in _read_summary(self._listing(f"genomes/{bank}/{name}", name), asked):
                        exact, bare = one.accession in asked, one.accession.partition(".")[0] in asked and not age
                        if exact or bare:
                            found.append(one)
                            left.pop(one.accession, None)
                            if bare:
                                left.pop(one.accession.partition(".")[0], None)
        return found, list(left)

    def _gtdb(self) -> tuple[dict[str, int], set[str] | None]:
        """The taxids of GTDB's genomes, and its representatives if they are asked for or preferred."""
        base = self._options.gtdb_source.rstrip("/")
        sums = listed_md5(self._net.read(f"{base}/MD5SUM.txt"))
        names = [r"(?:bac120|ar53)_taxonomy(_r[0-9.]+)?\.tsv\.gz"]
        if self._options.representative or self._options.top:
            names.append(r"(?:auxillary_files|auxiliary_files)/sp_clusters(_r[0-9.]+)?\.tsv")
        paths = []
        for pattern, least in zip(names, (2, 1), strict=False):
            listed = {name: found[1] or "" for name in sums if (found := re.fullmatch(pattern, name))}
            if len(listed) < least:
                what = "does not list the tables bac120_taxonomy*.tsv.gz, ar53_taxonomy*.tsv.gz and sp_clusters*.tsv"
                raise InputError(f"{what}; name a folder of a release", source=f"{base}/MD5SUM.txt")
            for name, release in listed.items():
                path = self._path("listings", _host(base), os.path.basename(name))
                with _written(path):
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                try:
                    self._net.get(f"{base}/{name}", path, sums[name])
                except MissingFileError:  # in `latest` files have names without the release, which are not listed
                    self._net.get(f"{base}/{name.replace(release, '')}", path, sums[name])
                paths.append(path)
        taxids = write_gtdb(paths[:2], self._path(GTDB))
        return taxids, representatives(paths[2]) if len(paths) > 2 else None

    def _fetch(self, one: Assembly, sums: Checksums) -> None:
        """Have the sequences of an assembly."""
        folder = f"{self._options.source.rstrip('/')}{quote(urlsplit(one.path).path)}"
        path, known = self._path("genomes", one.file), sums.known.get(one.file)
        if known is None or digest_of(path) != known:
            url, listed = f"{folder}/{quote(one.file)}", f"{folder}/{SUMS}"
            _get_listed(self._net, url, listed, path, known, lambda md5: sums.add(one.file, md5))


def stored_bytes(listed: Sequence[Assembly]) -> int | None:
    """Return about how many bytes sequences have, those without a size as many as others; None if all are."""
    known = [one.bases for one in listed if one.bases]
    return int(STORED * sum(known) / len(known) * len(listed)) if known else None


def collections() -> list[str]:
    """Return the names of all collections."""
    return [GTDB, *(f"{bank}-{group}" for bank in BANKS for group in GROUPS)]


def check_sources(sources: Sequence[str]) -> None:
    """Refuse sources that there are not, or that do not go together.

    Raises
    ------
    UsageError
    """
    for source in sources:
        if source not in collections() and not os.path.isfile(source):
            names = f"{GTDB}, or {' or '.join(BANKS)} with one of -{', -'.join(GROUPS)}"
            raise UsageError(f"{source}: there is no such collection ({names}), nor a file of accessions")
    if GTDB in sources and len(set(sources)) > 1:
        raise UsageError(f"{GTDB} has a taxonomy of its own; build a database of it alone")


def read_accessions(path: str) -> dict[str, str]:
    """Return the accessions that a text file names, one a line, in front of whatever follows.

    Raises
    ------
    InputError
        There is none, or a line begins with something else; those that are blank or begin with # do not count.
    """
    found = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                word = next(iter(line.split()), "").removeprefix("RS_").removeprefix("GB_")
                if word and not word.startswith("#"):
                    if not re.fullmatch(r"GC[AF]_[0-9]{9}(\.[0-9]+)?", word):
                        what = f"{word[:40]!r} is no accession of an assembly, such as GCF_000005845.2"
                        raise InputError(what, source=path, line=number)
                    found[word] = word
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=path) from error
    if not found:
        raise InputError("names no accession", source=path)
    return found


def _read_summary(path: str, wanted: Collection[str] | None = None) -> Iterator[Assembly]:
    """The lines of an assembly summary that have sequences; those that may be wanted, or the current ones."""
    places: dict[str, int] = {}
    with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.rstrip("\r\n").split("\t")
            if line.startswith("#"):
                names = [name.strip() for name in line.lstrip("#").rstrip("\r\n").split("\t")]
                if COLUMNS["accession"] in names:
                    places = {name: place for place, name in enumerate(names)}
                continue
            if wanted is not None and fields[0] not in wanted and fields[0].partition(".")[0] not in wanted:
                continue
            if not places or not all(name in places for name in COLUMNS.values()):
                raise InputError("has no line with the names of its columns before this one", source=path, line=number)
            row = dict(zip(places, fields, strict=False))
            bases = row.get("genome_size", "")
            listed = {name: row.get(column, "") for name, column in COLUMNS.items()}
            one = Assembly(**listed, bases=int(bases) if bases.isdecimal() else 0)
            if one.path in NOT_LISTED or (wanted is None and row.get("version_status", "latest") != "latest"):
                continue
            if not (ACCESSION.fullmatch(one.accession) and one.file.startswith(f"{one.accession}_")):
                what = f"{one.accession[:40]!r} in {one.path[:80]!r} is no assembly"
                raise InputError(what, source=path, line=number)
            yield one


def _chosen(listed: list[Assembly], options: FetchOptions, left_out: Counter[str]) -> list[Assembly]:
    """The assemblies that the options leave, by accession; others are counted."""
    levels = [ASSEMBLY_LEVELS[name] for name in options.assembly_level]
    categories = CATEGORIES[:1] if options.reference else CATEGORIES if options.representative else ()
    rules: list[tuple[str, Callable[[Assembly], bool]]] = [
        ("of other levels", lambda one: not levels or one.level in levels),
        ("of no such category", lambda one: not categories or one.category in categories),
    ]
    for why, is_wanted in rules:
        kept = [one for one in listed if is_wanted(one)]
        left_out[why] += len(listed) - len(kept)
        listed = kept
    if options.top:
        species, kept = Counter[str](), []
        for one in sorted(listed, key=lambda one: one.order):
            species[one.species] += 1
            if species[one.species] <= options.top:
                kept.append(one)
        left_out["more of a species"] += len(listed) - len(kept)
        listed = kept
    left_out += Counter()  # removes what is 0
    return sorted(listed, key=lambda one: one.accession)


def _get_listed(
    net: Downloader, url: str, listed: str, path: str, known: str | None = None,
    keep: Callable[[str], None] = lambda _: None,
) -> None:  # fmt: skip
    """Have a file by the checksum in a list next to it; once more if both have changed.

    Parameters
    ----------
    net : Downloader
    url, listed, path : str
        The file and the list on the server, and its place here.
    known : str, optional
        A checksum that is known already.
    keep : callable
        Gets each checksum before it is used.
    """
    name = os.path.basename(urlsplit(url).path)

    def published() -> str:
        md5 = {quote(listed_name): md5 for listed_name, md5 in listed_md5(net.read(listed)).items()}.get(name)
        if md5 is None:
            raise MissingFileError(f"lists no checksum of {name}", source=listed)
        keep(md5)
        return md5

    with _written(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    md5 = known or published()
    try:
        net.get(url, path, md5)
    except ChecksumError:
        now = published()
        if now == md5:
            raise
        net.get(url, path, now)


def _unpack_dump(archive: str, folder: str) -> None:
    """Write the files of a taxonomy that an archive has."""
    with library_errors("is no archive of a taxonomy, or a damaged one", archive), tarfile.open(archive) as tar:
        for name in DUMP:
            member = tar.extractfile(name)
            if member is None:
                raise InputError(f"holds no file {name}", source=archive)
            with whole_file(os.path.join(folder, name), OutputError) as file:
                while block := member.read(1 << 20):
                    file.write(block)


def _write_taxids(path: str, taxids: dict[str, str]) -> None:
    """Write the taxids of assemblies as an assembly summary, with those of earlier downloads that are there."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as lines:
        before = dict(line.rstrip("\n").split("\t", 1) for line in lines if not line.startswith("#") and "\t" in line)
        taxids = before | taxids
    with open_whole(path, "w", OutputError) as file:
        file.write("#assembly_accession\ttaxid\n")
        file.writelines(f"{accession}\t{taxid}\n" for accession, taxid in sorted(taxids.items()))


def _host(url: str) -> str:
    """The server that a list is of, and the folder, as a name of a folder."""
    parts = urlsplit(url)
    return re.sub(r"[^A-Za-z0-9.-]", "_", parts.netloc)


@contextlib.contextmanager
def _written(path: str) -> Iterator[None]:
    try:
        yield
    except OclGenomicsError:
        raise
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror or error}); free space or name another folder"
        ) from error
