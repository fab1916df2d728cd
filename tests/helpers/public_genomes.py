"""A small copy of what NCBI and GTDB publish, made up."""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import dataclass

import numpy as np

from helpers.web import Web, md5_of

__all__ = ["ASSEMBLIES", "GTDB", "One", "publish"]

GTDB = "releases/latest"
COLUMNS = (
    "assembly_accession", "bioproject", "refseq_category", "taxid", "species_taxid", "organism_name", "version_status",
    "assembly_level", "seq_rel_date", "ftp_path", "genome_size",
)  # fmt: skip
BASES = 3000


@dataclass(frozen=True)
class One:
    """An assembly."""

    number: int
    version: int = 1
    bank: str = "GCF"
    category: str = "na"
    taxid: int = 100
    species: int = 100
    status: str = "latest"
    level: str = "Contig"
    date: str = "2020/01/01"

    @property
    def accession(self) -> str:
        return f"{self.bank}_{self.number:09}.{self.version}"

    @property
    def name(self) -> str:
        return f"{self.accession}_ASM{self.number}v1"

    @property
    def folder(self) -> str:
        digits = f"{self.number:09}"
        return f"genomes/all/{self.bank}/{digits[:3]}/{digits[3:6]}/{digits[6:]}/{self.name}"

    @property
    def file(self) -> str:
        return f"{self.name}_genomic.fna.gz"

    @property
    def place(self) -> str:
        return f"{self.folder}/{self.file}"

    @property
    def line(self) -> str:
        path = f"https://ftp.ncbi.nlm.nih.gov/{self.folder}"
        values = (self.accession, "PRJ1", self.category, self.taxid, self.species, 'A "b', self.status, self.level,
                  self.date, path, BASES)  # fmt: skip
        return "\t".join(map(str, values)) + "\n"

    @property
    def text(self) -> bytes:
        letters = np.random.default_rng(self.number).choice(list("ACGT"), BASES)
        return gzip.compress(f">NC_{self.number:06}.1 genome\n{''.join(letters)}\n".encode(), mtime=0)


ASSEMBLIES = (
    One(1, level="Complete Genome", category="reference genome"),
    One(2, date="2021/05/01", taxid=110),
    One(3, date="2019/05/01"),
    One(4, taxid=101, species=101, level="Chromosome", category="representative genome"),
    One(5, taxid=101, species=101, level="Scaffold", date="2024/01/01"),
)
GENBANK = (One(7, bank="GCA", taxid=101, species=101),)
OLD = One(1, version=0, status="replaced")
HISTORICAL = (One(8, status="suppressed", taxid=101, species=101),)
NODES = ((1, 1, "no rank"), (10, 1, "genus"), (100, 10, "species"), (101, 10, "species"), (110, 100, "strain"))
TAXA = {
    1: "s__Alpha beta", 2: "s__Alpha beta", 4: "s__Alpha gamma", 7: "s__Delta eps", 8: "s__Alpha gamma",
}  # fmt: skip
LINEAGE = "d__Bacteria;p__P;c__C;o__O;f__F;"


def summary(assemblies: tuple[One, ...]) -> bytes:
    head = "##  See README\n#" + "\t".join(COLUMNS) + "\n"
    return (head + "".join(one.line for one in assemblies)).encode()


def publish(web: Web) -> None:
    """Have a server hold all of it."""
    files = web.files
    for one in (*ASSEMBLIES, *GENBANK, *HISTORICAL):
        files[one.place] = one.text
        lines = f"{'0' * 32}  ./{one.name}_genomic.gff.gz\n{md5_of(one.text)}  ./{one.file}\n"
        files[f"{one.folder}/md5checksums.txt"] = lines.encode()
    none = b"GCF_000000099.1\tP\tna\t100\t100\tx\tlatest\tContig\t2020/01/01\tna\tna\n"
    files["genomes/refseq/viral/assembly_summary.txt"] = summary((OLD, *ASSEMBLIES)) + none
    files["genomes/refseq/vertebrate_mammalian/Homo_sapiens/assembly_summary.txt"] = summary(ASSEMBLIES[:1])
    files["genomes/genbank/viral/assembly_summary.txt"] = summary(GENBANK)
    files["genomes/refseq/assembly_summary_refseq.txt"] = summary(ASSEMBLIES) + none
    files["genomes/genbank/assembly_summary_genbank.txt"] = summary(GENBANK)
    files["genomes/refseq/assembly_summary_refseq_historical.txt"] = summary((OLD, *HISTORICAL))
    files["genomes/genbank/assembly_summary_genbank_historical.txt"] = summary(())
    publish_dump(web)
    publish_gtdb(web)


def publish_dump(web: Web, extra: str = "") -> None:
    archive = io.BytesIO()
    nodes = "".join(f"{taxid}\t|\t{parent}\t|\t{rank}\t|\n" for taxid, parent, rank in NODES) + extra
    names = "".join(f"{taxid}\t|\ttaxon {taxid}\t|\t\t|\tscientific name\t|\n" for taxid, *_ in NODES)
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, text in (("readme.txt", "x"), ("nodes.dmp", nodes), ("names.dmp", names), ("merged.dmp", "")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    web.files["pub/taxonomy/taxdump.tar.gz"] = archive.getvalue()
    web.files["pub/taxonomy/taxdump.tar.gz.md5"] = f"{md5_of(archive.getvalue())}  taxdump.tar.gz\n".encode()


def publish_gtdb(web: Web, folder: str = GTDB, *, released: bool = False) -> None:
    """The tables of a release, whose list names files with the release, which `latest` leaves out of names."""
    every = {one.number: one for one in (*ASSEMBLIES, *GENBANK, *HISTORICAL)}
    prefix = {"GCF": "RS_", "GCA": "GB_"}
    rows = [
        f"{prefix[every[number].bank]}{every[number].accession}\t{LINEAGE}g__{taxon[3:].split()[0]};{taxon}\n"
        for number, taxon in TAXA.items()
    ]
    archaea = "d__Archaea;p__A;c__A1;o__A2;f__A3;g__Delta;s__Delta eps"
    rows = [row if "s__Delta" not in row else row.split("\t")[0] + f"\t{archaea}\n" for row in rows]
    tables = {
        "bac120_taxonomy_r226.tsv.gz": gzip.compress("".join(row for row in rows if "Delta" not in row).encode()),
        "ar53_taxonomy_r226.tsv.gz": gzip.compress("".join(row for row in rows if "Delta" in row).encode()),
        "auxillary_files/sp_clusters_r226.tsv": (
            f"Representative genome\tGTDB species\nRS_{every[2].accession}\ts__Alpha beta\n"
            f"RS_{every[8].accession}\ts__Alpha gamma\nGB_{every[7].accession}\ts__Delta eps\n"
        ).encode(),
    }
    sums = "".join(f"{md5_of(data)}  ./{name}\n" for name, data in tables.items())
    web.files[f"{folder}/MD5SUM.txt"] = sums.encode()
    for name, data in tables.items():
        web.files[f"{folder}/{name if released else name.replace('_r226', '')}"] = data
