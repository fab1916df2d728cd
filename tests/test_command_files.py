"""Tab completion and man pages are those of the parsers, and work in the shells."""

from __future__ import annotations

import configparser
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARE = ROOT / "packaging/share"
BASH = SHARE / "bash-completion/completions/oclgenomics"
ZSH = SHARE / "zsh/site-functions/_oclgenomics"
FISH = SHARE / "fish/vendor_completions.d/oclgenomics.fish"
TRY_BASH = """
source "$0"
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_oclgenomics
printf '%s\n' "${COMPREPLY[@]}"
"""
TRY_ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^X' list-choices; print rea''dy"
zpty -r shell line '*ready*'
zpty -w -n shell $'oclgenomics kmers co\\x18'
zpty -r shell line '*combine*count*' && print found
"""
CASES = [
    ("oclgenomics k", ["kmers"]),
    ("oclgenomics kmers co", ["combine", "count"]),
    ("oclgenomics kmers count --ma", ["--max-count", "--max-memory"]),
    ("oclgenomics devices --j", ["--json"]),
    ("oclgenomics fpga pro", ["project"]),
    ("oclgenomics kmers count reads", ["reads.fa"]),
    ("oclgenomics kmers count -o reads", ["reads.fa"]),
]


def run(name: str, *words: str, cwd: Path = ROOT) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed (Debian package {name})")
    done = subprocess.run([name, *words], cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_files_are_those_of_the_parsers() -> None:
    made = runpy.run_path(str(ROOT / "packaging/command_files.py"))["files"]()
    there = {str(path.relative_to(SHARE)): path.read_text() for path in SHARE.rglob("*") if path.is_file()}
    stale = {name for name in made.keys() | there.keys() if made.get(name) != there.get(name)}
    assert stale == set(), "run packaging/command_files.py"


def test_all_files_are_installed() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = {
        str(path.relative_to(ROOT)): folder
        for folder, patterns in setup["options.data_files"].items()
        for pattern in patterns.split()
        for path in ROOT.glob(pattern)
    }
    there = {str(path.relative_to(ROOT)): path for path in SHARE.rglob("*") if path.is_file()}
    assert listed == {name: f"share/{path.parent.relative_to(SHARE)}" for name, path in there.items()}


@pytest.mark.parametrize(("line", "found"), CASES)
def test_bash(tmp_path: Path, line: str, found: list[str]) -> None:
    (tmp_path / "reads.fa").touch()
    assert sorted(run("bash", "-c", TRY_BASH, str(BASH), *line.split(), cwd=tmp_path).split()) == found


def test_bash_offers_nothing_for_a_number() -> None:
    assert run("bash", "-c", TRY_BASH, str(BASH), "oclgenomics", "kmers", "count", "-k", "").split() == []


@pytest.mark.parametrize(("line", "found"), CASES)
def test_fish(tmp_path: Path, line: str, found: list[str]) -> None:
    (tmp_path / "reads.fa").touch()
    offered = run("fish", "-N", "-c", f"source {FISH}; complete -C '{line}'", cwd=tmp_path).splitlines()
    assert [one.partition("\t")[0] for one in offered] == found


def test_zsh() -> None:
    run("zsh", "-n", str(ZSH))
    assert run("zsh", "-f", "-c", TRY_ZSH, "zsh", str(ZSH.parent)).endswith("found\n")


def test_man_pages() -> None:
    pages = sorted(map(str, (SHARE / "man/man1").iterdir()))
    messages = run("mandoc", "-T", "lint", "-W", "error", *pages)
    assert messages == ""
