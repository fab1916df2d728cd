"""Small jobs that launch every kernel there is, for the gates that look at kernels rather than at results.

A case is given an engine of its own. The simulator does some 400,000 instructions a second, so inputs are a few dozen
items. A new family of kernels gets a list here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from helpers.alignments import correlated_states, make_alignment, make_multiallelic
from helpers.classify_databases import random_database, write_as
from helpers.classify_index import Case as ClassifyCase, random_case
from helpers.filled_bins import filled_bins, key_table, pairs_of
from helpers.indexed_sketches import indexed_sketches
from helpers.joined_lines import joined_lines
from helpers.kmer_sets import set_of
from helpers.linkage import ld_matrix
from helpers.moved_sketches import moved_sketches
from helpers.signature_samples import SampleRecord, sample_letters
from helpers.slots import slots_of
from helpers.squiggles import random_squiggle
from oclgenomics.classify import plan as classify_plan
from oclgenomics.classify.database.features import NO_FEATURE, Features
from oclgenomics.classify.database.file import KIND, open_database
from oclgenomics.classify.database.packing import Widths
from oclgenomics.classify.device import held_features, packing
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.classify.device.held_features import HeldFeatures
from oclgenomics.classify.device.sketches import Sketcher, cut_windows
from oclgenomics.classify.device.tables import FeatureFilter, FeatureTable
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.reference import sketches as sketch_oracle
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.io.atomic_file import Appending, whole_file
from oclgenomics.kmers import reference
from oclgenomics.kmers.analysis import query as query_module
from oclgenomics.kmers.api import count, filter_reads, query
from oclgenomics.kmers.database.codec import encode_sections
from oclgenomics.kmers.database.keys import key_words, texts_of
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.device.bin_counter import BinCounter
from oclgenomics.kmers.device.bin_fill import BinFiller
from oclgenomics.kmers.device.counting import KmerCounter
from oclgenomics.kmers.device.encode_cpu import CpuDeviceEncoder
from oclgenomics.kmers.device.encode_kernels import Span
from oclgenomics.kmers.device.line_tables import LineTables
from oclgenomics.kmers.device.look_up import TextMarks
from oclgenomics.kmers.device.parts import EVERY, gather
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.device.slots import SlotBins, runs_of
from oclgenomics.kmers.device.sort_counter import DealKernels, SortCounter
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions, FilterOptions
from oclgenomics.kmers.plan import bins as bin_plan
from oclgenomics.kmers.plan.bins import PrefixSpan
from oclgenomics.kmers.plan.memory import SectionPlan
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.primitives import compact, count_equal, equal_keys, merge, partition, run_lengths, scan, sort
from oclgenomics.runtime import DeviceArray, Engine, HostArray
from oclgenomics.runtime.source import source_folder
from oclgenomics.sdtw import AlignOptions
from oclgenomics.sdtw.device import normaliser, strips as strip_aligner
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.device.normaliser import Normaliser
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.device.steps import finished
from oclgenomics.sdtw.options import ARITHMETICS, BONUSES, NORMS, Arithmetic, Bonus, Norm
from oclgenomics.selftest import idiom_values, idioms as runtime_idioms
from oclgenomics.sequence import Pieces, Symbols, letter_blocks, names_of, packed_blocks
from oclgenomics.sequence.device_text import Text
from oclgenomics.signatures import Panel, ScanOptions as SignatureOptions, scan as scan_signatures
from oclgenomics.signatures.device.brute import BruteMatcher
from oclgenomics.signatures.device.index import IndexMatcher
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.seed_table import table_on_device
from oclgenomics.signatures.options import Method
from oclgenomics.signatures.panels.seeds import choose_seeds
from oclgenomics.sweeps import SweepOptions, scan as scan_sweeps
from oclgenomics.sweeps.device import ehh as ehh_device
from oclgenomics.sweeps.device.ehh import HomozygosityScanner, Method as WalkMethod
from oclgenomics.sweeps.device.haplotypes import HaplotypeCounter
from oclgenomics.sweeps.device.patterns import PatternCounter
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.populations import Populations
from oclgenomics.sweeps.sites.used import site_planes, used_sites
from oclgenomics.sweeps.statistics.ehh import COMPARING, SCORES, Score, compared_sites, core_sites
from oclgenomics.variation.alignment import Alignment

__all__ = [
    "FAMILIES",
    "KINDS",
    "Case",
    "classify_candidates",
    "counted",
    "database",
    "kernel_names",
    "linkage",
    "primitives",
    "scans",
    "sequences",
    "signal_alignments",
    "signature_brute_force",
    "signature_scans",
    "signature_tables",
]

Case = Callable[[Engine], None]
_KERNEL = re.compile(r"^(?:__kernel (?:ALONE )?)?void (\w+)\(", re.MULTILINE)  # helpers are `static inline`


def kernel_names() -> set[tuple[str, str]]:
    """Return all kernels, each by the source that holds it and its name."""
    folder = source_folder()
    return {
        (path.relative_to(folder).as_posix(), name)
        for path in folder.rglob("*.cl")
        for name in _KERNEL.findall(path.read_text())
    }


def hashes(engine: Engine) -> None:
    """Hash byte strings and numbers."""
    common = {"k0": 0x0706050403020100, "k1": 0x0F0E0D0C0B0A0908, "count": 20}
    data = engine.upload(np.arange(200, dtype=np.uint8))
    offsets = engine.upload(np.arange(0, 201, 10, dtype=np.uint64)[:21])
    hashed = engine.empty(20, np.uint64)
    kernel = engine.kernel("common/hash.cl", "hash_strings")
    engine.launch(kernel, (32,), (16,), bytes=data, offsets=offsets, hashes=hashed, **common)
    numbers = engine.upload(np.arange(20, dtype=np.uint64))
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    engine.launch(kernel, (32,), (16,), numbers=numbers, hashes=hashed, **common)
    engine.download(hashed)
    blocks = engine.upload(np.arange(40, dtype=np.uint64))
    kernel, sums = engine.kernel("common/sum_blocks.cl", "sum_blocks", BLOCK=16), engine.empty(5, np.uint64)
    engine.launch(kernel, (16,), (16,), data=blocks, size=40, blocks=3, first=2, k0=1, k1=2, sums=sums)
    engine.download(sums, 3, 2)


def probes(engine: Engine) -> None:
    """Probe what a device can do, and the bit helpers with and without vectors."""
    assert engine.traits.correctly_rounded_divide
    words = engine.upload(np.arange(33, dtype=np.uint64))
    for width in (1, 4, 16):
        for builtin in (0, 1):
            defines = {"VW": width, "BUILTIN_POPCOUNT": builtin}
            bits = engine.empty((32, 5), np.uint64)
            kernel = engine.kernel("common/probe_bits.cl", "probe_bits", **defines)
            engine.launch(kernel, (32,), (16,), words=words, results=bits)
            counts = engine.empty(32, np.uint32)
            kernel = engine.kernel("common/probe_bits.cl", "probe_vectors", **defines)
            engine.launch(kernel, (32 // width,), None, words=words.view(np.uint32), results=counts)
            engine.download(bits)
            engine.download(counts)


def idioms(engine: Engine, source: str) -> None:
    """Run the idioms of the self-test, with loops of few rounds."""
    with (
        mock.patch.object(runtime_idioms, "tuning_for", return_value=engine.tuning),
        mock.patch.object(idiom_values, "ROUNDS", 40),
    ):
        trial = runtime_idioms.Trial(engine.device)
        for idiom in runtime_idioms.idioms_for(engine.device):
            if idiom.source == source:
                wrong = trial.run(idiom)
                assert wrong is None, f"{idiom.name}: {wrong}"


KINDS = ("complete", "missing", "unphased", "multiallelic")  # of sites


def _alignments(seed: int) -> dict[str, Alignment]:
    """Complete, missing, unphased and multiallelic sites."""
    rng = np.random.default_rng(seed)
    states, positions = correlated_states(rng, 70, 40), np.arange(70) * 5 + 1
    seen = rng.random(states.shape) < 0.9
    few = (np.arange(70) % 8 == 0)[:, None]  # pairs with one of them take the simulator long
    four = np.where(few & (rng.random(states.shape) < 0.1), 2, states)
    return {
        "complete": make_alignment(states, positions),
        "missing": make_alignment(states, positions, seen),
        "unphased": make_alignment(states, positions, seen, unphased=True),
        "multiallelic": make_multiallelic(four, positions, seen),
    }


def scans(engine: Engine, kind: str, kernel: str, precision: str, ld: str = "RSQUARE") -> None:
    """Scan for sweeps."""
    options = ScanOptions(grid=3, minwin=100, maxwin=170, kernel=kernel, precision=precision, ld=ld)
    assert OmegaScanner(engine, block_rows=64).scan(_alignments(1)[kind], options).valid.any()


def sweep_patterns(engine: Engine, kind: str, width: int) -> None:
    """Count the patterns of sites in windows."""
    found = PatternCounter(engine, block_sites=50).count([site_planes(_alignments(3)[kind])], width)
    assert found[0].pairs.all()


def homozygosity(engine: Engine, kind: str, score: Score, method: WalkMethod, local: bool) -> None:
    """Compute nSL or iHS of sites, or XP-nSL or XP-EHH, by the kernel that is for this class of devices."""
    if engine.tuning.cpu == (method == "classes"):
        return
    options = SweepOptions(ehh_edge="keep")
    states = correlated_states(np.random.default_rng(3), 20, 20)
    alignment = make_alignment(states, np.arange(20) * 5 + 1, unphased=kind == "unphased")
    members = {str(number): int(number > 9) for number in range(1, 19)}
    used = used_sites(alignment, options, None, None, Populations(("A", "B"), members) if kind == "compared" else None)
    sites_of = compared_sites if kind == "compared" else core_sites
    sites = sites_of(used, options, Mask.of(None, used.name, options))
    scanner = HomozygosityScanner(engine, block_cores=12, method=method, local_memory=None if local else 0)
    with mock.patch.object(ehh_device, "LANES", 8):  # fewer than there are haplotypes
        (found,) = scanner.scores([sites], score, options)
    assert len(found.score)


def haplotype_windows(engine: Engine, kind: str, local_memory: int | None = None) -> None:
    """Count the haplotypes of windows."""
    counter = HaplotypeCounter(engine, block_sites=50, local_memory=local_memory)
    (found,) = counter.count([site_planes(_alignments(3)[kind])], 12, 5, 3)
    assert found.top[0].any()


def sweep_ratios(engine: Engine, kind: str) -> None:
    """Compute the composite likelihood ratio of sweeps."""
    options = SweepOptions(statistics=["clr"], grid=2)
    (found,) = scan_sweeps(_alignments(3)[kind], options, engine=engine)
    assert not np.isnan(found.values["clr"]).any()


def linkage(engine: Engine, kind: str, measure: str) -> None:
    """Compute a matrix of linkage disequilibrium."""
    assert ld_matrix(_alignments(2)[kind], 0, 69, engine=engine, measure=measure).any()


_KEYS = np.random.default_rng(3).integers(0, 1 << 10, (2, 700), np.uint64)  # over more than one tile


def _equal_keys(engine: Engine, words: int) -> DeviceArray:
    """Count keys, half of them in one bucket, by tiles that are smaller than it."""
    keys = _KEYS[:words, :300].copy()
    keys[-1, 150:] <<= np.uint64(24)  # the other half have many prefixes
    with mock.patch.multiple(equal_keys, TILE_BYTES=1500, WIDE_TILE_BYTES=1500):
        counted = count_equal(engine, [engine.upload(keys)], bits=64 * words - 30)
    assert int(engine.download(counted.counts).sum()) == 300
    return counted.keys


_PRIMITIVES: tuple[Callable[[Engine], DeviceArray], ...] = (
    lambda engine: scan(engine, engine.upload(_KEYS[0])),
    lambda engine: scan(engine, engine.upload(_KEYS[0]), heads=engine.upload((_KEYS[1] < 9).astype(np.uint8))),
    lambda engine: sort(engine, engine.upload(_KEYS), engine.upload(np.arange(700, dtype=np.uint32)), bits=12).keys,
    lambda engine: partition(engine, engine.upload(_KEYS), bits=6, first_bit=62).starts,
    lambda engine: (
        partition(engine, engine.upload(_KEYS), splitters=engine.upload(np.sort(_KEYS[:, :9], axis=1))).starts
    ),
    lambda engine: run_lengths(engine, engine.upload(_KEYS[0] >> np.uint64(9)), most=3).counts,
    lambda engine: (
        run_lengths(
            engine, engine.upload(_KEYS[0] >> np.uint64(9)), weights=engine.upload(_KEYS[1].astype(np.uint32))
        ).counts
    ),
    lambda engine: compact(engine, engine.upload(_KEYS), engine.upload((_KEYS[1] < 99).astype(np.uint8))),
    lambda engine: _equal_keys(engine, 1),
    lambda engine: _equal_keys(engine, 2),
    lambda engine: merge(engine, engine.upload(np.sort(_KEYS, axis=1)), [700]).keys,
    lambda engine: merge(engine, engine.upload(np.sort(_KEYS.reshape(4, 350), axis=1).reshape(-1)), [350, 700]).keys,
)


def primitives(engine: Engine, number: int) -> None:
    """Scan, sort, partition, find runs, count equal keys, compact or merge."""
    engine.download(_PRIMITIVES[number](engine))


_BASES = np.random.default_rng(6).choice(np.frombuffer(b"ACGT", np.uint8), 117).tobytes()


def _reads(size: int, fastq: bool) -> bytes:
    letters = np.random.default_rng(4).choice(np.frombuffer(b"ACGT", np.uint8), size).tobytes()
    letters = letters[:20] + b"N" + letters[21:]
    if fastq:
        return b"@a\n%b\n+\n%b\n" % (letters, b"I" * size)
    return b">a\n" + b"\n".join(letters[i : i + 30] for i in range(0, size, 30)) + b"\r\n>b\nACGT"


def counted(engine: Engine, k: int, *, fastq: bool, canonical: bool = True) -> None:
    """Count the k-mers of FASTA or FASTQ text, at once and by ranges of prefixes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(_reads(90 if k < 60 else 4 * k, fastq))
        counter = KmerCounter(engine, CountOptions(k, canonical, max_count=100, counter_max=2))
        blocks = list(packed_blocks(engine, [path], overlap=k - 1, block_bytes=1000 if fastq else 60))
        for block in blocks:
            counter.add(block.symbols)
        assert len(counter.block())
        sorting = SortCounter(engine, CountOptions(k, canonical))
        sorting.add(blocks[0].symbols)
        assert sorting.prefix_counts().sum() == sorting.kmers
        sorting.runs(0, 600)
        with mock.patch.object(DealKernels, "suit", return_value=not engine.tuning.cpu):
            sorting.runs(0, sorting.prefixes)
        engine.finish()


def binned(engine: Engine, k: int, *, canonical: bool) -> None:
    """Count k-mers in bins, with tables so small that bins have to be split."""
    letters = np.random.default_rng(5).choice(np.frombuffer(b"ACGTN", np.uint8), 150, p=[0.4, 0.1, 0.1, 0.39, 0.01])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(b">a\n%b\n" % letters.tobytes())
        with mock.patch.multiple(bin_plan, MAX_LINES=2, MIN_LINES=2, MIN_PART=40, MAX_PART_BYTES=320):
            counter = BinCounter(engine, CountOptions(k, canonical))
            for block in packed_blocks(engine, [path], overlap=k - 1, block_bytes=90):
                counter.add(block.symbols)
            block = gather(engine, k, counter.kmers, counter.parts(1 << 20, EVERY))
            assert block.counts.sum() == counter.kmers


def bins_filled(engine: Engine, k: int, *, canonical: bool) -> None:
    """Deal k-mers out to bins, with a pool that is full soon and one that is not."""
    codes = np.random.default_rng(k).integers(0, 1 << 32, 40, np.uint32)
    codes[20:] &= 3  # so many equal k-mers that lines get full
    valid = np.full(20, 0xFFFFFFFF, np.uint32)
    valid[4] = 0xFFFF7FFF
    filler = BinFiller(engine, CountOptions(k, canonical), walkers=2)
    filler.add(Symbols(engine.upload(codes), engine.upload(valid), 635))
    span = PrefixSpan(0, 29, 8)
    assert filler.density(PrefixSpan(0, 30, 4), every=1).sum() == filler.kmers
    assert filler.fill(span, engine.empty(0, np.uint8)) is None
    filled = filler.fill(span, engine.empty(20 << 12, np.uint8))
    assert filled is not None
    assert filled.sizes.sum() == filler.kmers


def lined(engine: Engine, rest: int, lines: int) -> None:
    """Count keys of bins by line tables: some bins are crowded, some counts large, and some left out."""
    rng = np.random.default_rng(6)
    often = [int(key) for key in rng.integers(0, 1 << min(rest, 9), 30)]
    keys = [[*often, *often], [(1 << rest) - 1] * 600, [], [key << max(rest - 9, 0) for key in often] * 2]
    filled = filled_bins(engine, [key_table(of_bin, rest) for of_bin in keys], rest)
    found = LineTables(engine, rest, lines).count(filled, 0, len(keys), least=2, most=1 << 20, cap=1 << 19)
    assert sum(count for _, count in pairs_of(engine, found.slots)) == 120 + 600
    assert not found.overfull.size


def reads_filtered(engine: Engine, k: int, *, canonical: bool, fastq: bool) -> None:
    """Look up the k-mers of reads in a table of their own.

    Kernels for GPUs count them first, as no other family does with keys of three words. Those for CPUs count such keys
    in `binned`, so there the oracle counts.
    """
    options, text = CountOptions(k, canonical), _reads(k + 60, fastq)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(text)
        cpu = engine.tuning.cpu
        kmers = set_of(reference.count([text], options), k, canonical) if cpu else count([path], options, engine=engine)
        summary = filter_reads(kmers, [path], Path(folder) / "out", FilterOptions(min_kmers=1), engine=engine)
        assert summary.kept == 1


def queried(engine: Engine, k: int, *, canonical: bool, fastq: bool) -> None:
    """Look up the counts of the k-mers of reads, marked and not, and where they have strands those of the other one."""
    text = _reads(k + 60, fastq)
    kmers = set_of(reference.count([text], CountOptions(k, canonical)), k, canonical)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(text)
        for most in (0, 1 << 20):  # of all k-mers, and of those that are marked
            with mock.patch.object(query_module, "most_marked", return_value=most):
                found = query(kmers, files=[path], both_strands=True, engine=engine)
                assert sum(int(part.counts.sum()) for part in found.along_records()) >= kmers.total


def sequences(engine: Engine, *, fastq: bool, names: bool = True, qualities: bool = True) -> None:
    """Read letters, with qualities, records and names."""
    name, letters = b"read " * 50, b"ACGTN" * 10
    text = b">%b\n%b\n%b\n>b\nACGTU\r" % (name, letters, letters)
    if fastq:
        text = b"@%b\n%b\n+\n%b\n" % (name, letters, b"#IIII" * 10)
    options = {"min_quality": 20, "qualities": True} if fastq and qualities else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(text * 2)
        for block in packed_blocks(engine, [path], block_bytes=400, names=names, **options):
            assert not names or names_of(engine, block.records)
        engine.finish()


def compressed_sequences(engine: Engine) -> None:
    """Leave out the bases that are equal to the one before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(b">a\n%b\n>b\nAAAA\n" % (b"GATTTACANNGG" * 30))
        blocks = packed_blocks(engine, [path], block_bytes=200, overlap=5, names=False, compress=True)
        assert 30 * 7 <= sum(block.symbols.size for block in blocks) < 30 * 11  # or again
        engine.finish()


def letters_in_place(engine: Engine, *, fastq: bool) -> None:
    """Find records and their letters in the text."""
    letters = b"ACGTN" * 10
    text = b">read 1\n%b\n%b\r\n>b\nACGTU\n" % (letters, letters)
    if fastq:
        text = b"@read 1\n%b\r\n+\n%b\r\n@b\n\n+\n\n" % (letters, b"#IIII" * 10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(text * 3)
        blocks = letter_blocks(engine, [path], block_bytes=200, overlap=7)
        assert [name for block in blocks for name in block.names] == ["read", "b"] * 3
        engine.finish()


def overhanging_signatures(engine: Engine, *, mismatches: int = 0, edits: int = 0, long: bool = False) -> None:
    """Find signatures that run past the ends of samples, of which one may be longer than a word."""
    letters = "ACGTTGCANRYACGTTGACC" * 5
    signatures = [("before", "TTT" + letters[:12]), ("behind", letters[-40:] + "GG")]
    if long:
        signatures.append(("long", "CC" + letters[:80]))
    options = SignatureOptions(
        report="all", strand="both", max_mismatches=mismatches, max_edits=edits, overhang=10, overhang_at="both"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(f">read\n{letters}\n>short\n{letters[:12]}\n")
        found = scan_signatures(path, Panel.from_signatures(signatures), options, engine=engine)
        assert (found.columns()["outside"] > 0).any()
        assert {*found.columns()["signature"]} == {name for name, _ in signatures}
        engine.finish()


def signature_scans(
    engine: Engine, *, fastq: bool, method: Method, mismatches: int = 0, edits: int = 0, filtered: bool = False,
    few: bool = False,
) -> None:  # fmt: skip
    """Find signatures, or one of them on one strand, and list all their matches."""
    letters, wrapped = "ACGTTGCANRYACGTTGACC" * 4, "ACGTTGCANRYACGTTG\nACC\n" * 4  # longer than a word
    text = f"@read\n{letters}\n+\n{'I' * len(letters)}\n" if fastq else f">read\n{wrapped}"
    chosen = [("part", letters[3:60]), ("whole", letters), ("short", "TN")]
    chosen = chosen[: 1 if few else 3 if edits + mismatches < 2 else 2]  # with two of them the last is anywhere
    signatures = Panel.from_signatures(chosen)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(text * 2)
        options = SignatureOptions(
            report="all", strand="+" if few else "both", method=method, max_mismatches=mismatches,
            min_informative=0.2 if filtered else 0.0, max_edits=edits,
        )  # fmt: skip
        found = scan_signatures(path, signatures, options, engine=engine)
        assert set(found.columns()["signature"]) >= {name for name, _ in chosen[:2]}
        engine.finish()


def signature_brute_force(engine: Engine, *, prefix_sums: bool, flat: bool) -> None:
    """Take the steps of the paper."""
    samples = sample_letters(engine, [SampleRecord(b"ACGTNACGT", b"I" * 9)] * 2)
    patterns = Panel.from_signatures([("a", "ACG"), ("b", "GNT")]).patterns("+")
    uploaded = DevicePatterns.upload(engine, patterns, SignatureOptions())
    assert len(BruteMatcher(engine, uploaded, prefix_sums=prefix_sums, flat=flat).pairs(samples))
    engine.finish()


def signature_tables(engine: Engine, *, head: int) -> None:
    """Make a table of seeds on the device, and look samples up in it."""
    letters = b"ACGTTGCANRYACGTTGACCATGGC" * 2
    panel = Panel.from_signatures([("a", letters[3:40]), ("b", letters)])
    patterns = DevicePatterns.upload(engine, panel.patterns("+"), SignatureOptions())
    table = table_on_device(engine, patterns, 0, choose_seeds(patterns.patterns, 0, head))
    matcher = IndexMatcher(engine, patterns, table)
    assert len(matcher.pairs(sample_letters(engine, [SampleRecord(letters)]))) == 2
    engine.finish()


def window_sketches(
    engine: Engine,
    *,
    sketchlen: int,
    kmerlen: int = 16,
    winlen: int = 40,
    triplets: int = -1,
    soft_masked: bool = False,
) -> None:
    """Sketch the windows of records, some of which hold repetitions and other letters."""
    records = [_BASES[:100], b"", b"A" * 30 + _BASES[:40], b"acGTNacgtUU" * 3, _BASES[100:117]]
    sizes = np.array([len(record) for record in records], np.uint32)
    whole, zeros = np.ones(len(records), np.bool_), np.zeros(len(records), np.int64)
    letters = (np.cumsum(sizes) - sizes).astype(np.uint32)
    pieces = Pieces(np.arange(len(records)), zeros, letters, sizes, sizes, None, whole)
    options = SketchOptions(kmerlen, sketchlen, winlen, 0, triplets, soft_masked)
    text = engine.upload(np.frombuffer(b"".join(records), np.uint8))
    sketches = Sketcher(engine, options).sketch(Text(text, 0, text.size), cut_windows(pieces, options))
    expected = [sketch for record in records for sketch in sketch_oracle(record, options)]
    found = engine.download(sketches.features, sketches.windows * sketchlen).reshape(-1, sketchlen).tolist()
    assert [[feature for feature in row if feature != NO_FEATURE] for row in found] == expected


def database(engine: Engine, words: int) -> None:
    """Write the sections of a database, gathered from two runs, and read them, all k-mers or a marked one."""
    counts = np.array([1] * 240 + [2, 300, 1 << 31, *range(1, 40)], np.uint32)
    keys = np.zeros((words, len(counts)), np.uint64)
    keys[-1] = np.cumsum(counts, dtype=np.uint64)
    with tempfile.TemporaryDirectory() as folder:
        path, options = Path(folder) / "x", CountOptions(32 * words)
        with DatabaseWriter(path, options, engine=engine) as writer:
            for part in (slice(100), slice(100, None)):
                writer.append(KmerBlock(keys[:, part], counts[part]))
        found = path.read_bytes()
        with DatabaseWriter(path, options) as writer:
            writer.append(KmerBlock(keys, counts))
        assert found == path.read_bytes()
        with KmerDatabase.open(path) as opened:
            np.testing.assert_array_equal(opened.keys_counts(engine).keys, keys)
            marking, text = TextMarks(engine, opened, 1), texts_of(keys[:, :1], options.k)[0].encode()
            marking.mark(Text(engine.upload(np.frombuffer(text, np.uint8)), 0, len(text)), np.array([0]), np.array([1]))
            (some,) = opened.runs(engine, marking.marks)
            assert engine.download(some.keys)[:, 0].tolist() == keys[:, 0].tolist()


def encoded_slots(engine: Engine, k: int, rest: int) -> None:
    """Make keys, and where kernels are for CPUs also sections, of slots in bins, also behind k-mers that are held."""
    rng = np.random.default_rng(k)
    counts = np.array([1] * 130 + [2, 255, 300, 1 << 31, *range(1, 40)], np.uint32)
    keys = rng.integers(0, 1 << 64, (key_words(k), len(counts)), np.uint64)
    keys[-1] = np.cumsum(counts, dtype=np.uint64)
    slots = slots_of(engine, keys, counts, rest, rng)
    np.testing.assert_array_equal(engine.download(runs_of(engine, slots, k).keys), keys)
    for held in (0, 1, 70) if engine.tuning.cpu else ():
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
            with whole_file(Path(folder) / "x") as file:
                plan = SectionPlan(engine.limits(), k)
                encoder = CpuDeviceEncoder(engine, k, Appending(file, pool), plan)
                before = Span(engine.upload(keys), engine.upload(counts), 0, held)
                bins = SlotBins(
                    engine, slots_of(engine, np.ascontiguousarray(keys[:, held:]), counts[held:], rest, rng)
                )
                assert len([*encoder.encode_slots(before, bins, 0, bins.size), *encoder.drain()]) == 1
                expected = encode_sections(keys, counts)[0]
                if held:  # a last section, without any slot
                    assert len([*encoder.encode(before), *encoder.drain()]) == 1
                    expected += encode_sections(keys[:, :held], counts[:held])[0]
            assert (Path(folder) / "x").read_bytes() == expected


def signal_levels(engine: Engine, norm: Norm, arithmetic: Arithmetic, score: str) -> None:
    """Normalise two reads."""
    options, rows = AlignOptions(norm=norm, arithmetic=arithmetic), 510 if norm == "blocks" else 45
    samples, first = np.arange(1100, dtype=np.int16), np.array([0, 550])
    levels = Normaliser(engine, options, np.dtype(score)).levels(samples, first, rows, 48, group=16)
    assert engine.download(levels).any()


def signal_alignments(engine: Engine, options: AlignOptions, *, state: bool) -> None:
    """Align two reads with two references, in segments; or align parts of them and go on."""
    aligner = Aligner(engine, [random_squiggle([5, 2]), random_squiggle([1])], options)
    samples, first = np.arange(40, dtype=np.int16) ** 2, np.array([0, 7])
    with (
        mock.patch.object(strip_aligner, "GROUP", 2),
        mock.patch.object(strip_aligner, "segment_count", return_value=3),
        mock.patch.object(normaliser, "BLOCK", 4),
    ):
        if not state:
            aligner.align(samples, first, 6 * options.row_samples)
            return
        slots, numbers = aligner.slots(3), np.array([2, 0])
        for prefix in (4, 8, 10):
            finished(aligner.extend(samples, first, prefix, slots, numbers))


def signal_starts(engine: Engine, bonus: Bonus, arithmetic: Arithmetic) -> None:
    """Find where alignments start, near the begin of a track and not."""
    options = AlignOptions("prefix", "absolute", bonus, arithmetic)
    finder = StartFinder(engine, [random_squiggle([40, 5]), random_squiggle([60])], options)
    samples, first = np.arange(1100, dtype=np.int16), np.array([0, 550, 20, 21])
    reference, column = np.array([0, 0, 1, 1]), np.array([3, 38, 100, -1])
    starts = finished(finder.find(samples, first, 36, reference, column))
    assert (starts <= column).all()


def packed_features(engine: Engine) -> None:
    """Load features from a file in which they are packed, in pieces of some buckets, and count those of clades."""
    database, sizes = random_database(3, 4, 300), {"cpu": 90, "gpu": 90}
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.multiple(classify_plan, MIN_PREFIX=10, LOADED_FEATURES=sizes, LOADED_LOCATIONS=sizes),
    ):
        write_as(Path(folder, "x"), database, KIND.version)
        with open_database(Path(folder, "x")) as (known, store):
            windows, wanted = int(database.targets.windows.sum()), np.array([[1, NO_FEATURE], [2, 3]], np.uint32)
            FeatureTable(engine, store, windows).release()
            FeatureTable(engine, store, windows, FeatureFilter(engine, [wanted], store.numbers)).release()
            lineages = Lineages.of(known.taxonomy, known.targets)
            assert np.array_equal(count_clades(engine, store, lineages), known.known)


def packed_numbers(engine: Engine, kind: type) -> None:
    """Pack features in pieces of a few, those of the host and those that the device holds, and check these."""
    counts = np.arange(200).astype(kind) % 7 + 1
    every = Features(np.arange(200, dtype=np.uint32), counts, np.arange(int(counts.sum()), dtype=np.uint32))
    held = HeldFeatures(engine, *(HostArray(engine, len(array), array.dtype) for array in vars(every).values()))
    for name, array in held.arrays.items():
        engine.write(array, getattr(every, name))
    with mock.patch.multiple(packing, TOGETHER=128, STEP=64), mock.patch.object(held_features, "STEP", 64):
        packer = packing.FeaturePacker(engine)
        for features in (every, held):
            packer.keys(features, 9)
            before = packer.located_before(features, np.array([0, 64, 128, 192, 200]))
            packer.locations(features, before, 33)
        assert held.numbers == every.numbers
        assert held.in_order(every.located)
        assert held.bucket_starts(Widths(2, 33)).tolist() == [0, 200, 200, 200, 200]


def classify_candidates(engine: Engine, case: ClassifyCase) -> None:
    """Find the candidates of reads of every class, and their hits."""
    sketches, first, widths = case.sketches(engine)
    with (
        mock.patch.object(classify_plan, "MIN_PREFIX", 10),
        mock.patch.object(classify_plan, "SMALL", 16),
        mock.patch.object(classify_plan, "WIDE", 64),
        mock.patch.object(classify_plan, "TABLE_SLOTS", 64),
        FeatureIndex(engine, case.features, case.targets, case.group_array, 2) as index,
    ):
        found = index.candidates(sketches, first, widths)
        assert [(size > 16) + (size > 64) for size in sorted(found.located.tolist())] in ([0, 0, 1, 1, 2], [0, 1, 2])
        case.check(found, 2)
        case.check_hits(index.hits(sketches, first))
        case.check_shared(index.shared_features(sketches, first, found), 2)


CLASSIFY_CASES = (
    random_case(84, features=30, windows=90, longest=10, reads=5, most=3, width=4),
    ClassifyCase(
        {1: range(256), 2: [60], 3: range(9, 70)},
        [70, 200],
        [0, 1],
        [[[1, 2, 3]], [[2], *[[4, 5, 6, 7]] * 8], [[3]]],
        [2] * 3,
        4,
    ),
)


# Every branch of the kernel, on either class of devices: types of scores, costs, bonuses, and scores that stay.
RECURRENCES = (
    (AlignOptions("prefix", "squared", "none", "uint16"), False),
    (AlignOptions("prefix", "absolute", "dwell", "uint16"), False),
    (AlignOptions("prefix", "absolute", "published", "int32"), False),
    (AlignOptions("prefix", "squared", "none", "float32"), False),
    (AlignOptions("blocks", "absolute", "none", "float32"), True),
    (AlignOptions("blocks", "squared", "none", "int32"), True),
    (AlignOptions("blocks", "squared", "dwell", "int32"), True),
    (AlignOptions("blocks", "absolute", "published", "uint16"), True),
)


FAMILIES: dict[str, tuple[Case, ...]] = {
    "omega": (
        partial(scans, kind="complete", kernel="1", precision="accurate"),
        partial(scans, kind="complete", kernel="2", precision="compat"),
        partial(scans, kind="missing", kernel="2", precision="accurate"),
        partial(scans, kind="complete", kernel="tiles", precision="accurate"),
        partial(scans, kind="unphased", kernel="auto", precision="accurate"),
        partial(scans, kind="multiallelic", kernel="auto", precision="accurate"),
        partial(scans, kind="multiallelic", kernel="auto", precision="compat"),
    ),
    "signatures": (
        partial(signature_scans, fastq=True, method="index", mismatches=1, filtered=False),
        partial(signature_scans, fastq=False, method="auto", mismatches=0, filtered=True),
        partial(signature_scans, fastq=True, method="planes", mismatches=2, filtered=True),
        partial(signature_scans, fastq=True, method="planes", mismatches=0, filtered=False),
        partial(signature_scans, fastq=True, method="brute", mismatches=1, filtered=True),
        partial(signature_scans, fastq=True, method="auto", edits=1),
        partial(signature_scans, fastq=False, method="index", edits=3),
        partial(signature_scans, fastq=True, method="lanes", edits=6),
        partial(signature_scans, fastq=False, method="lanes", edits=9),
        partial(signature_scans, fastq=True, method="lanes", edits=1, few=True),
        partial(overhanging_signatures, mismatches=1),
        partial(overhanging_signatures, long=True),
        partial(overhanging_signatures, edits=2),
        partial(overhanging_signatures, edits=2, long=True),
        partial(signature_tables, head=2),
        partial(signature_brute_force, prefix_sums=False, flat=True),
        partial(signature_brute_force, prefix_sums=True, flat=False),
    ),
    "classify_candidates": tuple(partial(classify_candidates, case=case) for case in CLASSIFY_CASES),
    "kmer_database": (partial(database, words=3), partial(database, words=1)),
    "kmer_slots": (
        partial(encoded_slots, k=40, rest=38),
        partial(encoded_slots, k=55, rest=90),
        partial(encoded_slots, k=96, rest=160),
        partial(encoded_slots, k=128, rest=240),
    ),
    "kmers": (partial(counted, k=40, fastq=True), partial(counted, k=5, fastq=False)),
    "kmer_lines": (
        partial(lined, rest=30, lines=6),
        partial(lined, rest=40, lines=6),
        partial(lined, rest=56, lines=6),
        partial(lined, rest=64, lines=6),
        partial(lined, rest=90, lines=6),
        partial(lined, rest=120, lines=6),
        partial(lined, rest=150, lines=6),
        partial(lined, rest=300, lines=6),
    ),
    "kmer_bins": (
        partial(binned, k=70, canonical=False),
        partial(binned, k=40, canonical=True),
        partial(binned, k=21, canonical=True),
        partial(binned, k=12, canonical=False),
    ),
    "kmer_filter": (
        partial(reads_filtered, k=21, canonical=True, fastq=True),
        partial(reads_filtered, k=40, canonical=False, fastq=False),
        partial(reads_filtered, k=70, canonical=True, fastq=True),
    ),
    "kmer_query": (
        partial(queried, k=21, canonical=True, fastq=True),
        partial(queried, k=40, canonical=False, fastq=False),
        partial(queried, k=70, canonical=True, fastq=True),
    ),
    "kmer_fill": (
        partial(bins_filled, k=70, canonical=True),
        partial(bins_filled, k=50, canonical=True),
        partial(bins_filled, k=40, canonical=False),
        partial(bins_filled, k=30, canonical=True),
        partial(bins_filled, k=21, canonical=True),
        partial(bins_filled, k=12, canonical=False),
    ),
    "idioms": tuple(partial(idioms, source=source) for source in runtime_idioms.SOURCES),
    "linkage": (
        partial(linkage, kind="complete", measure="r2"),
        partial(linkage, kind="missing", measure="nr2"),
        partial(linkage, kind="unphased", measure="r2"),
        partial(linkage, kind="multiallelic", measure="r2"),
    ),
    "sweeps": (
        partial(sweep_patterns, kind="complete", width=8),
        partial(sweep_patterns, kind="missing", width=40),
        partial(sweep_patterns, kind="unphased", width=68),
        partial(haplotype_windows, kind="complete"),
        partial(haplotype_windows, kind="missing", local_memory=0),
        partial(haplotype_windows, kind="unphased"),
        partial(sweep_ratios, kind="complete"),
    ),
    "sweeps_ehh": tuple(
        partial(homozygosity, kind=kind, score=score, method=method, local=local)
        for kind in ("complete", "unphased", "compared")
        for score in (COMPARING if kind == "compared" else SCORES)
        for method, local in (("sorted", False), ("classes", True), ("classes", False))
    ),
    "primitives": tuple(partial(primitives, number=number) for number in range(len(_PRIMITIVES))),
    "sequences": (partial(sequences, fastq=True), partial(sequences, fastq=False), compressed_sequences),
    "signal_alignments": tuple(
        partial(signal_alignments, options=options, state=state) for options, state in RECURRENCES
    ),
    "signal_levels": tuple(
        partial(signal_levels, norm=norm, arithmetic=arithmetic, score=score)
        for norm in NORMS
        for arithmetic, score in (*zip(ARITHMETICS, ARITHMETICS, strict=True), ("int32", "float32"))
    ),
    "signal_starts": tuple(
        partial(signal_starts, bonus=bonus, arithmetic=arithmetic)
        for bonus in BONUSES
        for arithmetic in ARITHMETICS
        if bonus == "none" or arithmetic != "float32"
    ),
    "classify_sketch": (
        partial(window_sketches, sketchlen=16),
        partial(window_sketches, sketchlen=16, triplets=0),
        partial(window_sketches, sketchlen=3, kmerlen=11, soft_masked=True),
        partial(window_sketches, sketchlen=18, kmerlen=4, winlen=25),
        partial(moved_sketches, size=16),
        partial(moved_sketches, size=3),
    ),
    "letters": (partial(letters_in_place, fastq=True), partial(letters_in_place, fastq=False)),
    "classify_index": (partial(indexed_sketches, max_locations=3), partial(indexed_sketches, max_locations=300)),
    "classify_packed": (packed_features, *(partial(packed_numbers, kind=kind) for kind in (np.uint8, np.uint16))),
    "classify_lines": (joined_lines,),
    "common": (hashes, probes),
}  # the longest first, so that none is begun last
