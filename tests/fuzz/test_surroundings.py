"""Around a command: limits of its process, the umask, lists among its inputs, and inputs that unpack to much."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, TIMED, command, draws

from oclgenomics.runtime import diskcache
from oclgenomics.signals import read_signals

pytestmark = pytest.mark.fuzz

READING_LISTS = (
    "kmers count LIST -k 5 -o OUT", "kmers count x.fa LIST -k 5 -o OUT", "kmers count x.fa -k 5 --only LIST -o OUT",
    "kmers histogram LIST -k 5 -o OUT", "kmers histogram LIST -k 5 -o y --plot OUT", "kmers matrix LIST -k 5 -o OUT",
    "kmers matrix a=LIST b=x.fa -k 5 -o OUT", "kmers matrix a=x.fa,LIST -k 5 -o OUT", "kmers filter x.fa LIST -o OUT",
    "kmers query x.fa --file LIST -o OUT", "signatures scan LIST x.fa -o OUT",
    "signatures scan LIST x.fa --summary OUT",
    "classify query x.fa LIST -o OUT", "classify query x.fa x.fa LIST --kreport OUT", "classify build OUT LIST",
    "classify query x.fa --paired LIST LIST -o OUT", "classify add x.fa LIST -o OUT",
    "classify run LIST --targets x.fa -o OUT", "classify run x.fa --targets LIST -o y --krona OUT",
)  # fmt: skip
MIB = 1 << 20
LIMITS = {
    resource.RLIMIT_NOFILE: (4, 64),
    resource.RLIMIT_AS: (64 * MIB, 4096 * MIB),
    resource.RLIMIT_DATA: (64 * MIB, 2048 * MIB),
    resource.RLIMIT_FSIZE: (0, 2 * MIB),
    resource.RLIMIT_STACK: (128 << 10, 16 * MIB),
}
DEFECTS = ("Traceback", "a defect", "bug report", "Segmentation", "leaked")


def test_lists_are_no_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the list and the output are spelled."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for _, rng in draws("lists", SECONDS / 4, each=0.003):
        Path("x.fa").write_text(">r\nACGTACGTACGT\n")
        Path("list").write_text("x.fa\n")
        for link in ("soft", "hard"):
            Path(link).unlink(missing_ok=True)
        Path("soft").symlink_to("list")
        os.link("list", "hard")
        spellings = ["list", "./list", "folder/../list", "soft", "hard", str(tmp_path / "list")]
        one, other = (spellings[number] for number in rng.integers(len(spellings), size=2))
        line = READING_LISTS[int(rng.integers(len(READING_LISTS)))]
        assert command([word.replace("LIST", f"@{one}").replace("OUT", other) for word in line.split()], (2,)) == 2
        assert Path("list").read_text() == "x.fa\n"


def test_nobody_else_enters_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the umask, and whichever of its folders comes first."""
    before = os.umask(0)
    try:
        for number, rng in draws("umask", SECONDS / 8):
            os.umask(int(rng.integers(0o100)))
            root = tmp_path / str(number)
            monkeypatch.setenv(diskcache.VARIABLE, str(root))
            for kind in rng.permutation(["programs", "icd/x", "pocl/a", "traits"]).tolist():
                if "/" in kind:
                    diskcache.keep_text(diskcache.lasting_folder(kind) / "file", "text")
                else:
                    diskcache.store(kind, "key", b"code")
                    assert diskcache.load(kind, "key") == b"code"
            folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
            assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    finally:
        os.umask(before)


def test_arrays_that_unpack_to_much(tmp_path: Path) -> None:
    """Of reads that are cut to a prefix, memory holds the prefix and a block."""
    for number, rng in draws("bombs", SECONDS / 4):
        if number == 20:
            break
        path = tmp_path / "x.npz"
        sizes = rng.integers(0, 1 << int(rng.integers(1, 24)), size=int(rng.integers(1, 4)))
        kinds = rng.choice(["i2", "f4", "f8", "u1"], size=len(sizes)).tolist()
        reads = [np.zeros(size, kind) for size, kind in zip(sizes, kinds, strict=True)]
        np.savez_compressed(path, **{f"r{at}": read for at, read in enumerate(reads)})
        unpacked = sum(member.file_size for member in zipfile.ZipFile(path).infolist())
        tracemalloc.start()
        try:
            lengths = [len(signals.samples) for signals in read_signals(path, max_samples=1000)]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert sum(lengths) == np.minimum(sizes, 1000).sum()
        assert peak < 6 * MIB, f"{peak:,} bytes of {unpacked:,}"


def test_limits_of_the_process(tmp_path: Path) -> None:
    """A command works, or ends with one line that is no talk of defects."""
    (tmp_path / "x.fa").write_text(">r\nACGTACGTACGT\n")
    words = [sys.executable, "-m", "oclgenomics", "kmers", "count", "x.fa", "-k", "5", "-o", "x.db", "-q"]
    for number, rng in draws("limits", 2 * SECONDS if TIMED else 0):
        if not TIMED and number == len(LIMITS):
            break
        limit = list(LIMITS)[number % len(LIMITS)]
        value = int(rng.integers(*LIMITS[limit]))
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
            preexec_fn=lambda limit=limit, value=value: resource.setrlimit(limit, (value, value)),
        )  # fmt: skip
        said = f"limit {limit} of {value}: {done.returncode}: {done.stderr[-500:]}"
        assert done.returncode in (0, 3, 4, 5), said
        assert not any(word in done.stderr for word in DEFECTS), said
        errors = [line for line in done.stderr.splitlines() if line.startswith("oclgenomics: error: ")]
        assert len(errors) == (done.returncode != 0), said
        assert (tmp_path / "x.db").exists() == (done.returncode == 0), said
        (tmp_path / "x.db").unlink(missing_ok=True)
