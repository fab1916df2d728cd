"""Files that come through pipes, as of a shell's `<(zcat x.gz)` or `-`: they are read like others, or refused at once.

What is read once, from its beginning to its end, may be a pipe. Databases, pieces, signals and tree sequences are read
at many places, so they are files.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from helpers.classify_databases import EDGE
from helpers.parsers import PARSERS
from helpers.shared_builds import built_folder

from oclgenomics import sdtw
from oclgenomics.app.files import role_of
from oclgenomics.cli.main import main
from oclgenomics.sdtw.decisions import parse_stages

pytestmark = pytest.mark.one_cpu
HIGH = 900  # a descriptor of a process that has few
MARK = re.compile(r"\{(\w+)=([^}]*)\}")  # the name in `args`, and the file
ALIGNMENT = Path(__file__).parents[1] / "data" / "omega" / "edge"
WINDOWS = "--grid 5 --minwin 100 --maxwin 50k"
THROUGH_PIPES = [
    "kmers count {inputs=r.fq} --only {only=r.fa} -k 9 -o out",
    "kmers histogram {inputs=r.fq} -k 9 -o out",
    "kmers query k.db --file {file=r.fq} -o out",
    "kmers filter k.db {reads=r.fq} -o out",
    "kmers filter k.db --paired {paired=r.fq} {paired=r2.fq} -o out#",
    "kmers matrix a={samples=r.fq} b=r2.fq -k 9 -o out",
    "kmers qv {assemblies=r.fa} k.db -o out",
    "classify build out.db {references=ref.fna} --taxonomy tax --taxpostmap {taxpostmap=map.txt}",
    "classify query t.db {reads=r.fa} -o out",
    "classify query t.db --paired {paired=r.fq} {paired=r2.fq} -o out",
    "classify merge {results=m.txt} {results=m2.txt} --taxonomy tax -o out",
    "classify evaluate {results=t.txt} --truth {truth=truth.tsv} --taxonomy tax -o out",
    "classify plot {reports=a.kreport} -o out.svg",
    f"omega scan {{input=x.vcf}} --samples {{samples=names}} --exclude {{exclude=x.bed}} {WINDOWS} -o out",
    f"omega threshold {{input=n.ms}} --sweeps {{sweeps=n2.ms}} --site 50k --length 100k {WINDOWS} -o out",
    "omega peaks {report=scan.tsv} --threshold {threshold=th.json} -o out",
    "omega ld {input=n.ms} --length 100k --scan {scan=scan.tsv} -o out",
    "sweeps scan n.ms --length 100k --accessible {accessible=x.bed} -o out",
    "sweeps peaks {report=sweeps.tsv} --top 5 --genes {genes=x.bed} -o out",
    "sdtw index {reference=target.fa} --model {model=model.tsv} -o out.sdtw",
    "sdtw classify s.npz --reference target.sdtw --thresholds {thresholds=th.sdtw.json} -o out",
    "signatures scan {samples=r.fq} {signatures=p.fa} -o out",
    "signatures filter {reads=r.fq} {signatures=p.fa} -o out",
    "signatures filter --paired {paired=r.fq} {paired=r2.fq} -p ACG -o out#",
    "simulate signals --target {target=target.fa} --background {background=r.fa} --reads 3 --seed 1 -o out.npz",
]
FROM_FILES = {
    "kmers info {database=k.db} -o out": "is no file; a k-mer database is read from a file only",
    "kmers merge {databases=k.db} k.db -o out": "is no file; a k-mer database is read from a file only",
    "kmers histogram {inputs=k.db} -o out": "database",
    "kmers count r.fq -k 9 --only {only=k.db} -o out": "is a database of `oclgenomics kmers`, neither FASTA nor FASTQ",
    "kmers combine {piece_files=1.piece} 2.piece -o out": "is no file; a piece of a job is read from a file only",
    "kmers count r.fq -k 9 --reference {reference=r.fa} -o out": "no such file; a reference is a file of FASTA",
    "classify info {database=t.db} -o out": "is no file; a database of `oclgenomics classify` is read from a file only",
    "classify verify {databases=t.db}": "is no file; a database of `oclgenomics classify` is read from a file only",
    "sweeps scan x.vcf --ancestral {ancestral=r.fa} -o out": "is no file; ancestral bases are read from a file only",
    "sdtw info {reference=target.sdtw} -o out": "is no file; a reference of `oclgenomics sdtw` is read",
    "sdtw align {signals=s.npz} --reference target.sdtw -o out": "signals are",
    "sdtw align s.npz --reference {references=target.sdtw} -o out": "is no file; a reference of `oclgenomics sdtw`",
    "sdtw classify s.npz --reference {targets=target.sdtw} --stages 1000:3000 -o out": "is no file; a reference of",
    "sdtw classify s.npz --reference target.sdtw --decoy {decoys=target.sdtw} --stages 1000:3000 -o out": "is no file",
    "sdtw calibrate --reference target.sdtw --target {target=target.fa} -o out": "is read twice, as a pipe cannot be",
    "signatures info {panel=p.panel} -o out": "is a panel of `oclgenomics signatures`, neither FASTA nor FASTQ",
    "fpga resources --board {board=board.toml} -o out": "is no known board or design",
}
BARE = ("classify build", "classify plot", "omega peaks", "sdtw index", "simulate")  # whose outputs are not compared
ALIKE = {  # read as those of the same name of another command
    "classify reference", "signatures reference", "fpga input", "fpga samples", "fpga exclude", "sdtw others",
    "sdtw background", "sdtw truth", "simulate model",
    *(f"sweeps {name}" for name in ("input", "samples", "exclude", "threshold", "scan", "background")),
    *(f"{system} piece_files" for system in ("classify", "omega", "sdtw", "signatures", "sweeps")),
}  # fmt: skip
ELSEWHERE = {  # which reads what others of these do, or is no stream by its nature
    "scheduler": "a file of Dask", "taxonomy": "a folder", "genomes": "a folder", "sources": "names of collections",
    "samplesheet": "tests/app/test_samples.py", "demes": "of the package demes", "table": "read_text",
    "compare": "as scan", "price_per_hour": "read_text", "positions": "read_text",
    "clr_spectrum": "read_text", "recombination_map": "read_text", "populations": "read_text",
}  # fmt: skip


def run(*words: object) -> None:
    assert main([*map(str, words), "-q"]) == 0


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files that are read."""
    with pytest.MonkeyPatch.context() as patch:

        def build(place: Path) -> None:
            patch.chdir(place)
            _write_inputs(place)

        return built_folder(tmp_path_factory, "pipes", build)


def _write_inputs(place: Path) -> None:
    text = "".join(np.random.default_rng(1).choice([*"ACGT"], 4000))
    for number, name in enumerate(("r.fq", "r2.fq")):
        reads = (f"@r{at}\n{text[at + number : at + number + 80]}\n+\n{'I' * 80}\n" for at in range(0, 2000, 50))
        (place / name).write_text("".join(reads))
    (place / "r.fa").write_text(f">a\n{text[:300]}\n>b\n{text[500:900]}\n")
    (place / "p.fa").write_text(f">p\n{text[40:70]}\n>q\n{text[200:240]}\n")
    (place / "target.fa").write_text(f">t\n{text[:2000]}\n")
    (place / "tax").mkdir()
    for name in ("names.dmp", "nodes.dmp", "merged.dmp"):
        shutil.copy(EDGE / name, place / "tax" / name)
    shutil.copy(EDGE / "edge_ref.fna", place / "ref.fna")
    shutil.copy(ALIGNMENT / "phased.vcf", place / "x.vcf")
    header = next(line for line in (place / "x.vcf").read_text().splitlines() if line.startswith("#CHROM"))
    (place / "names").write_text("\n".join(header.split()[9:]) + "\n")
    (place / "x.bed").write_text("1\t5\t9\n")
    (place / "map.txt").write_text("accession\taccession.version\ttaxid\tgi\nX\tX.1\t9\t0\n")
    (place / "truth.tsv").write_text("a\t501\t50\tnovel\nb\t502\t50\tnovel\n")
    (place / "board.toml").write_text('preset = "u200"\n')
    kmers = ("".join("ACGT"[number >> shift & 3] for shift in range(8, -1, -2)) for number in range(1 << 10))
    (place / "model.tsv").write_text("".join(f"{kmer}\t{70 + number % 97}\n" for number, kmer in enumerate(kmers)))
    for words in (
        "kmers count -k 9 r.fq -o k.db", "kmers count -k 9 r.fq --shard 1/2 -o 1.piece",
        "kmers count -k 9 r.fq --shard 2/2 -o 2.piece", "classify build t.db ref.fna --taxonomy tax",
        "classify query t.db r.fa --queryids --tophits --lowest species -o m.txt --kreport a.kreport",
        "classify query t.db r.fa --taxids -o t.txt",
        "simulate omega --seed 1 --samples 8 --replicates 20 --sites 30 --length 100k -o n.ms",
        f"omega scan n.ms --length 100k {WINDOWS} -o scan.tsv",
        f"omega threshold n.ms --length 100k {WINDOWS} --json -o th.json",
        "sweeps scan n.ms --length 100k --stat mu --width 10 -o sweeps.tsv",
        "sdtw index target.fa --model r9.4.1 -o target.sdtw", "signatures build p.fa -o p.panel",
        "simulate signals --target target.fa --background random --reads 5 --seed 1 -o s.npz",
    ):  # fmt: skip
        run(*words.split())
    shutil.copy(place / "m.txt", place / "m2.txt")
    shutil.copy(place / "n.ms", place / "n2.ms")
    sdtw.write_thresholds("th.sdtw.json", sdtw.Thresholds(parse_stages("1000:3000"), sdtw.AlignOptions()))


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with all inputs."""
    monkeypatch.chdir(tmp_path)
    for path in inputs.iterdir():
        if path.name not in (".lock", "done"):
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


@contextmanager
def piped(path: str) -> Iterator[int]:
    """The end of a pipe that gives what is in a file, with a number that is in no output, where a label may be one."""
    low, start = os.pipe()
    end = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(low)
    data = memoryview(Path(path).read_bytes())

    def write() -> None:
        try:
            rest = data
            while rest:
                rest = rest[os.write(start, rest) :]
        except OSError:  # nobody reads on
            pass
        finally:
            os.close(start)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield end
    finally:
        os.close(end)
        thread.join()


@contextmanager
def as_standard_input(handle: int) -> Iterator[None]:
    """Have the process read a handle as its standard input."""
    before = os.dup(0)
    os.dup2(handle, 0)
    try:
        with pytest.MonkeyPatch.context() as patch, open(0, closefd=False) as stream:
            patch.setattr(sys, "stdin", stream)
            yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def inner_words(line: str) -> list[str]:
    """The words of a line with the files themselves."""
    return MARK.sub(lambda mark: mark[2], line).split()


def outputs(folder: Path, names: dict[str, str]) -> dict[str, bytes]:
    """Outputs of text without what names the command, and with names in the place of pipes; of others their names."""
    found = {}
    for path in sorted(folder.glob("out*")):
        text = path.read_bytes()
        for pipe, name in names.items():
            text = text.replace(pipe.encode(), name.encode())
            label = b"\n%b\t" % Path(pipe).name.encode()  # of a line, which is the file's name without its suffix
            text = text.replace(label, b"\n%b\t" % Path(name).stem.encode())
        text = re.sub(rb" +", b" ", text)  # columns are as wide as names
        lines = [line for line in text.split(b"\n") if not line.startswith(b"#")]
        found[path.name] = b"" if path.suffix in (".db", ".npz", ".sdtw", ".svg") else b"\n".join(lines)
        path.unlink()
    return found


@pytest.mark.parametrize("line", THROUGH_PIPES)
def test_what_is_read_in_order_may_come_through_pipes(folder: Path, line: str) -> None:
    run(*inner_words(line))
    wanted = outputs(folder, {})
    assert wanted
    assert any(wanted.values()) or line.startswith(BARE)
    with ExitStack() as stack:
        names: dict[str, str] = {}

        def pipe_of(mark: re.Match[str]) -> str:
            name = f"/dev/fd/{stack.enter_context(piped(mark[2]))}"
            names[name] = mark[2]
            return name

        run(*MARK.sub(pipe_of, line).split())
        assert outputs(folder, names) == wanted


@pytest.mark.parametrize("line", FROM_FILES)
@pytest.mark.parametrize("way", ["pipe", "-"])
def test_what_is_read_at_many_places_is_refused_in_one_line(
    folder: Path, line: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (name,) = (mark[2] for mark in MARK.finditer(line))
    capsys.readouterr()
    with ExitStack() as stack:
        end = stack.enter_context(piped(name))
        given = "-" if way == "-" else f"/dev/fd/{end}"
        if way == "-":
            stack.enter_context(as_standard_input(end))
        assert main([*MARK.sub(lambda _: given, line).split(), "-q"]) in (2, 3)
    told = capsys.readouterr().err
    errors = [text for text in told.splitlines() if text.startswith("oclgenomics: error: ")]
    assert len(errors) == 1
    assert FROM_FILES[line] in errors[0]


def test_a_named_pipe_that_nobody_writes_to_is_not_waited_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("named")
    waited: list[str] = []

    def release() -> None:
        """Let a reader go on that waits for somebody to write."""
        with suppress(OSError):
            os.close(os.open("named", os.O_WRONLY | os.O_NONBLOCK))
            waited.append("named")

    for words in ("kmers info", "classify info", "sdtw info", "kmers combine"):
        timer = threading.Timer(10, release)  # only so that a failure is no standstill
        timer.start()
        assert main([*words.split(), "named", "-o", "out"]) == 3
        timer.cancel()
        assert "named: is no file; a " in capsys.readouterr().err
        assert not waited


def test_all_options_that_read_were_tried() -> None:
    tried = {f"{line.split()[0]} {mark[1]}" for line in [*THROUGH_PIPES, *FROM_FILES] for mark in MARK.finditer(line)}
    found = {
        f"{name.split()[1]} {action.dest}"
        for name, parser in PARSERS.items()
        for action in parser._actions
        if role_of(action) == "input" and action.dest not in ELSEWHERE
    }
    assert tried <= found
    assert found - tried == ALIKE
