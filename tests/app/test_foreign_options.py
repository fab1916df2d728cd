"""Options of programs that users come from: the error names ours, and none takes an option from a command."""

from __future__ import annotations

import argparse
import re

import pytest

from oclgenomics.app.commands import OneLineParser
from oclgenomics.cli.main import _parser, main

COUNT, QUERY, RUN = "kmers count -k 3 reads.fa -o reads.db", "classify query db reads.fa", "classify run reads.fa"
SCAN = "signatures scan samples.fa panel.fa"
CASES = [
    (f"{QUERY} --report out.txt", "--report: use --kreport FILE"),
    (f"{QUERY} --report=out.txt", "--report: use --kreport FILE"),
    ("classify query --db world reads.fa", "--db: name the database before the reads"),
    (f"{RUN} --targets a.fa --minimum-hit-groups 3", "--minimum-hit-groups: use --hitmin N"),
    (f"{QUERY} --use-names", "--use-names: not needed; --format native writes names"),
    (f"{COUNT} -ci2", "-ci2: use --min-count N"),
    (f"{COUNT} -cx100", "-cx100: use --max-count N"),
    (f"{COUNT} -cs255", "-cs255: use --counter-max N"),
    (f"{COUNT} -fm", "-fm: not needed; FASTA and FASTQ are recognised (BAM: samtools fastq)"),
    (f"{COUNT} -t4", "-t4: use --threads N"),
    (
        f"{COUNT} -m8",
        "-m8: use -k K for the length of k-mers, --max-memory SIZE for the memory, as in --max-memory 8G",
    ),
    (
        "kmers count -C -m 21 -s 100M reads.fa -o reads.db",
        "-C: not needed; the canonical k-mer is counted unless --no-canonical is given; -m: use -k K; "
        "-s: not needed; the table grows, and --max-memory SIZE limits it",
    ),
    (f"{SCAN} -f panel.txt", "-f: name the file of patterns last"),
    ("signatures filter reads.fa -g ACGT -p ACGT", "-g: give the adapter with --pattern, and --trim before"),
    (f"{SCAN} -m 2", "-m: use --max-mismatch M"),
    ("omega scan a.ms -memLimit 8", "-memLimit: use --max-memory"),
]


@pytest.mark.parametrize(("words", "message"), CASES)
def test_the_error_names_our_option(capsys: pytest.CaptureFixture[str], words: str, message: str) -> None:
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"oclgenomics: error: {message}\n"


def test_other_errors_stay(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUERY.split(), "--nonesuch", "x"]) == 2
    message = "unknown arguments: --nonesuch x (options: oclgenomics classify query --help)"
    assert capsys.readouterr().err == f"oclgenomics: error: {message}\n"


@pytest.mark.parametrize(
    "action", ["kmers count", "classify query", "classify run", "signatures scan", "signatures filter", "omega scan"]
)
def test_options_that_are_named_exist(action: str) -> None:
    parser: argparse.ArgumentParser = _parser()
    for word in action.split():
        parser = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction)).choices[word]
    assert isinstance(parser, OneLineParser)
    for use in parser.foreign.values():
        assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", use)) <= parser._option_string_actions.keys()
    assert not any(re.fullmatch(name, known) for name in parser.foreign for known in parser._option_string_actions)
