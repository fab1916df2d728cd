"""A small valid input of every format, as bytes."""

from __future__ import annotations

import io
import struct
import tempfile
from pathlib import Path

import numpy as np

from helpers.bgzf import bgzip
from helpers.classify_databases import edge_database
from helpers.damage import INPUTS
from helpers.kmer_sets import random_set, write_database
from oclgenomics.app.reports import write_report
from oclgenomics.classify.database.file import write_database as write_classify_database
from oclgenomics.omega.formats.scans import make_report
from oclgenomics.omega.formats.thresholds import as_json
from oclgenomics.omega.result import DataFacts, Scan
from oclgenomics.omega.significance.facts import NullFacts
from oclgenomics.omega.significance.thresholds import Maxima, Significance, thresholds
from oclgenomics.signatures import Panel
from oclgenomics.signatures.formats.panel_file import write_panel
from oclgenomics.signatures.panels.seeds import make_table

__all__ = ["DATA", "SAMPLES"]

DATA = Path(__file__).resolve().parents[1] / "data"
PARAMETERS = {
    "maxwin": 500, "minwin": 1, "minsnps": 2, "border": -1, "grid": 4, "maf": 0.0, "length": 1000, "phase": "auto",
    "samples": None, "impute": [], "seed": None, "binary": False, "no_singletons": False, "ld": "RSQUARE",
    "precision": "accurate",
}  # fmt: skip

DATA_FACTS = DataFacts(haplotypes=12, sites=40, genotypes=False, missing=0.0, masked=0.0)
NULL_FACTS = NullFacts.of([(DATA_FACTS, 39 / 975, 325.0)])


def _scan(replicate: int) -> Scan:
    at = np.array([0.0, 325.0, 650.0, 975.0])  # the sites of `_ms` are 25 bp apart
    left, right = np.array([0, 250, 575, 800]), np.array([100, 425, 700, 975])
    return Scan(
        str(replicate), replicate, at, np.array([1.5, 20.25, 0.0, 3.0]), left, right, at != 650.0,
        sites=40, haplotypes=12, discarded={"filter": 2}, possible=True, maxwin=500, data=DATA_FACTS,
        parameters=PARAMETERS,
    )  # fmt: skip


def _report(kind: str) -> bytes:
    out = io.BytesIO()
    provenance = {"program": "oclgenomics", "version": "1", "command": ["omega", "scan"], "parameters": PARAMETERS}
    write_report([_scan(1), _scan(2)], out, make_report(kind, provenance=provenance, all_columns=True))
    return out.getvalue()


def _thresholds() -> bytes:
    omega = np.arange(40, dtype=np.float64)
    maxima = Maxima(omega, 10 * omega)
    found = Significance(PARAMETERS, 1000, 12, 40.0, maxima, tuple(thresholds(omega, [0.05, 0.1])), data=NULL_FACTS)
    return as_json(found, {"program": "oclgenomics"}).encode()


def _simulated(sites: int = 40, haplotypes: int = 12) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 2, (haplotypes, sites))


def _ms(mbs: bool) -> bytes:
    states, text = _simulated(), "ms 12 2\n1 2 3\n"
    places = [str(25 * i) if mbs else f"{i / 40:.4f}" for i in range(40)]
    for _ in range(2):
        rows = "\n".join("".join(map(str, row)) for row in states)
        text += f"\n//\nsegsites: 40\npositions: {' '.join(places)}\n{rows}\n"
    return text.encode()


def _phases() -> bytes:
    head = INPUTS["vcf"].split("\n")[0] + "\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\td\te\tf\n"
    calls = _simulated().T.reshape(40, 6, 2)
    lines = []
    for i, row in enumerate(calls):
        texts = [f"{x}{'|/'[(i + j) % 5 == 0]}{y}" for j, (x, y) in enumerate(row)]
        lines.append("\t".join([f"2{i // 20}\t{25 * i + 1}\t.\tA\tG\t.\t.\t.\tGT", *texts]))
    return (head + "\n".join(lines) + "\n").encode()


def _macs() -> bytes:
    lines = [f"SITE:\t{i}\t{i / 40}\t0.5\t{''.join(map(str, site))}" for i, site in enumerate(_simulated().T)]
    totals = "TOTAL_SAMPLES:\t12\nTOTAL_SITES:\t40\n"
    return ("COMMAND:\tmacs 12 1000\n" + "\n".join(lines) + "\n" + totals).encode()


def _trees() -> bytes:
    try:
        import msprime
    except ImportError:
        return b""
    ancestry = msprime.sim_ancestry(4, sequence_length=1000, recombination_rate=1e-4, random_seed=2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.trees"
        msprime.sim_mutations(ancestry, rate=0.01, random_seed=2).dump(path)
        return path.read_bytes()


def _bam() -> bytes:
    sequence, qualities = (b"\x12\x48" * 10, bytes(range(20, 60)))
    records = [
        struct.pack("<iiBBHHHiiii", -1, -1, 3, 0, 4680, 0, 4, 40, -1, -1, 0) + b"r%d\0" % number + sequence + qualities
        for number in range(9)
    ]
    header = b"@HD\tVN:1.6\n"
    head = b"BAM\1" + struct.pack("<i", len(header)) + header + struct.pack("<i", 0)
    return bgzip(head + b"".join(struct.pack("<i", len(record)) + record for record in records), 300)


def _kmers() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write_database(Path(folder) / "x", random_set(9, 300)).read_bytes()


def _classify() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_classify_database(Path(folder) / "x", edge_database())
        return (Path(folder) / "x").read_bytes()


RESULT = (
    b"# TABLE_LAYOUT: query_id\t|\tquery_header\t|\ttop_hits\t|\trank:taxname\n# reads.fq\n1\t|\ta\t|\t501:7,510:3"
    b"\t|\tspecies:T501\n3\t|\tc x\t|\t\t|\t--\n2\t|\tb\t|\t513:12\t|\tspecies:T513\n# queries: 3\n"
)


def _panel() -> bytes:
    panel = Panel.from_signatures([("a", "GATTACAGATTACATGTAATC"), ("b", "ACGTNACGTACGGTTARY"), ("c", "NN")])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        write_panel(path, panel, [(strand, make_table(panel.patterns(strand), 0, 2)) for strand in ("+", "both")])
        return path.read_bytes()


SAMPLES = {
    "vcf": INPUTS["vcf"].encode(),
    "phases": _phases(),
    "ms": _ms(mbs=False),
    "mbs": _ms(mbs=True),
    "macs": _macs(),
    "alignment": INPUTS["fasta"].encode(),
    "trees": _trees(),
    "vcz": (DATA / "vcf_zarr" / "twochrom.vcz.zip").read_bytes(),
    "bam": _bam(),
    "bed": b"track name=x\n#c\n1\t5\t60\tname\n21\t100\t300\nchr 2\t7\t7\r\n",
    "names": b"a\nb\n\nf\n",
    "sheet": b'\xef\xbb\xbfsample,fastq_1,other,fastq_2\r\n"A, 1",.,x,..\r\nB,..,"y\n""z",\r\n"A, 1",/,,/dev\r\n',
    "tsv": _report("tsv"),
    "json": _report("json"),
    "omegaplus": _report("omegaplus"),
    "thresholds": _thresholds(),
    "positions": b"# bp\n5\n60\n60\n1000 # last\n2000\n30000\n",
    "toml": b'preset = "u200"\nunroll = 16\nclock_mhz = 200.5\noverlap_outer = true\n[memory]\nlatency_ns = 70\n',
    "board": b'preset = "u200"\nunroll = 8\n[board]\nname = "lab"\nbanks = 2\nbank_gib = 8\n'
    b'latency_ns = [180, 240, 400]\n'
    b'clock_mhz = 200.5\nregions = [{name = "a", available = {bram18k = 1968, dsp = 1968, ff = 1045440, lut = 522720}, '
    b'shell = {lut = 60000}}]\nidle_watts = [9, 20, 30]\nplaceable = {lut = 0.6}\n[board.sources.latency_ns]\n'
    b'document = "our bench"\nurl = "https://example.org/bench"\n',
    "fasta": b">a one\nGATTACAGATTACATGTAATC\nNNNACGTT\n>b\nacgtaACGTACGGTTA\n",
    "fastq": b"@a one\nGATTACAGATTACATGTAATC\n+\nIIIIIIIIIIIIIIIIIIII#\n@b\nACGTNACG\n+b\n@@@@+++I\n",
    "panel": b">a one\nGATTACANNRYK\nacgtu\n\n>b\r\nSWMBDHVN\r\n>c>d\tx\nA\n",
    "kmers": _kmers(),
    "built_panel": _panel(),
    "classify": _classify(),
    "result": RESULT,
    "mates": b"@a/1\nGATTACAGATTACATGTAATC\n+\nIIIIIIIIIIIIIIIIIIIII\n@a/2\nACGTNACG\n+a/2\n@@@@+++I\n",
}  # fmt: skip
