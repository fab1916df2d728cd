"""Panels: files of signatures against the reader of records, wrong letters found by their byte, and both strands."""

from __future__ import annotations

import gzip
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.sequence.records import read_records
from oclgenomics.signatures.api import read_panel
from oclgenomics.signatures.panels import panel as panels
from oclgenomics.signatures.panels.letters import IUPAC, sets_of
from oclgenomics.signatures.panels.panel import Panel

ALPHABET = "".join(IUPAC) + "".join(IUPAC).lower()
signature_lists = st.lists(st.text(ALPHABET, min_size=1, max_size=30), min_size=1, max_size=12)
ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])


@st.composite
def fasta(draw, letters=signature_lists) -> tuple[str, list[tuple[str, str]]]:
    """A text, and the names and letters in it."""
    text, signatures = draw(st.sampled_from(["", "\n", "\r\n\r"])), []
    for number, whole in enumerate(draw(letters)):
        name = draw(st.sampled_from(["s", "a>b", ">", "@x", "é"])) + str(number)
        text += f">{draw(st.sampled_from(['', ' ', chr(9)]))}{name}{draw(st.sampled_from(['', ' > two words']))}"
        cuts = sorted({0, len(whole), *draw(st.lists(st.integers(0, len(whole)), max_size=4))})
        for begin, end in pairwise(cuts):
            text += draw(ends) + whole[begin:end]
        text += draw(ends)
        signatures.append((name, whole))
    return text if draw(st.booleans()) else text.rstrip("\r\n"), signatures


@st.composite
def fastq(draw, letters=signature_lists) -> tuple[str, list[tuple[str, str]]]:
    text, signatures = draw(st.sampled_from(["", "\n", "\r\n\n"])), []
    for number, whole in enumerate(draw(letters)):
        end = draw(st.sampled_from(["\n", "\r\n"]))
        title = draw(st.sampled_from(["+", f"+s{number} more"]))
        text += end.join([f"@s{number} more", whole, title, "@" * len(whole), ""])
        text += draw(st.sampled_from(["", "\n", "\r\n"]))
        signatures.append((f"s{number}", whole))
    return text, signatures


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("panel") / "panel"


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@given(st.one_of(fasta(), fastq()))
def test_a_file_holds_what_the_reader_of_records_finds(path, made):
    text, signatures = made
    read = read_panel(written(path, text))
    assert [(record.name, record.letters.decode()) for record in read_records(path)] == signatures
    assert_panel(read, signatures)
    assert_panel(Panel.from_signatures(signatures), signatures)
    assert_panel(Panel.from_signatures((name, letters.encode()) for name, letters in signatures), signatures)


def assert_panel(panel: Panel, signatures: list[tuple[str, str]]) -> None:
    assert panel.names == tuple(name for name, _ in signatures)
    assert panel.sets.dtype == np.uint8
    assert panel.offsets.dtype == np.int64
    assert panel.offsets[0] == 0
    assert panel.lengths.tolist() == [len(letters) for _, letters in signatures]
    np.testing.assert_array_equal(panel.sets, sets_of("".join(letters for _, letters in signatures)))
    assert len(panel) == len(signatures)


@given(st.data(), st.sampled_from("*-X.# \t0é"))
def test_a_wrong_letter_is_told_with_its_byte(path, data, wrong):
    texts = data.draw(signature_lists)
    record = data.draw(st.integers(0, len(texts) - 1))
    at = data.draw(st.integers(0, len(texts[record]) - 1))
    texts[record] = texts[record][:at] + wrong + texts[record][at + 1 :]
    text, signatures = data.draw(
        st.one_of(fasta(st.just(texts)), fastq(st.just(texts)) if wrong not in "é \t" else st.nothing())
    )
    with pytest.raises(InputError) as caught:
        read_panel(written(path, text))
    told = str(caught.value)
    place = re.match(rf"{re.escape(str(path))}, record {record + 1}, byte ([0-9]+): ", told)
    assert text.encode()[int(place[1]) :].decode()[0] == wrong
    assert f": signature {signatures[record][0]}, base {at + 1}: {wrong!r} is no nucleotide" in told
    with pytest.raises(InputError, match=f"^record {record + 1}: signature "):
        Panel.from_signatures(signatures)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">a\nAC\n>b\n>c\nGT\n", "record 2: signature b has no letters"),
        (">a\nAC\n>b", "record 2: signature b has no letters"),
        (">", "record 1: signature  has no letters"),
        (">a\nAC\n>b\nGT\n>a x\nAC\n>c\n*\n", "record 3: signature a has the name of record 1"),
        (">a\nA*\n>a\nAC\n", "record 1, byte 4: signature a, base 2: '*'"),
        ("@a\nAC\n+\nII\n@b\nA-\n+\nII\n", "record 2, byte 15: signature b, base 2: '-'"),
        ("@a\nAC\n+\nI\n", "record 1, byte 0: letters and qualities"),
        ("ACGT\n", "is neither FASTA nor FASTQ"),
        ("\n\r\n", "is neither FASTA nor FASTQ"),
        ("", "the file is empty"),
    ],
)
def test_refusals(path, text, message):
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}')}.*{re.escape(message)}"):
        read_panel(written(path, text))


def test_a_panel_needs_a_signature():
    with pytest.raises(InputError, match=r"^holds no signature$"):
        Panel.from_signatures([])


def test_packed_files(path):
    path.write_bytes(gzip.compress(b">a\nAC\n") + gzip.compress(b"GT\n>b\nN\n"))
    assert_panel(read_panel(path), [("a", "ACGT"), ("b", "N")])
    path.write_bytes(gzip.compress(b">a\nAC\n") + gzip.compress(b"G?\n>b\nN\n"))
    with pytest.raises(InputError, match="record 1, byte 7: signature a, base 4"):
        read_panel(path)
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(InputError, match="is neither FASTA nor FASTQ"):
        read_panel(path)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
@given(texts=signature_lists)
def test_strands(at_once, texts):
    panel = Panel.from_signatures((str(number), text) for number, text in enumerate(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panels, "TURNED_AT_ONCE", at_once)
        strands = {strand: panel.patterns(strand) for strand in ("+", "-", "both")}
    turned = [reverse_complement(text) for text in texts]
    for strand, expected in (("+", texts), ("-", turned), ("both", texts + turned)):
        patterns = strands[strand]
        assert len(patterns) == len(expected)
        assert [patterns.of(number).tolist() for number in range(len(patterns))] == [
            sets_of(text).tolist() for text in expected
        ]
        assert patterns.lengths.tolist() == [len(text) for text in expected]
        assert patterns.signature.tolist() == [*range(len(texts))] * (len(expected) // len(texts))
        signs = {"+": [0], "-": [1], "both": [0, 1]}[strand]
        assert patterns.strand.tolist() == [sign for sign in signs for _ in texts]
        assert (patterns.sets.dtype, patterns.offsets.dtype) == (np.uint8, np.int64)
        assert (patterns.signature.dtype, patterns.strand.dtype) == (np.int32, np.uint8)


def reverse_complement(text: str) -> str:
    return text[::-1].translate(str.maketrans("ACGTUMRSVWYHKDBNacgtumrsvwyhkdbn", "TGCAAKYSBWRDMHVNtgcaakysbwrdmhvn"))
