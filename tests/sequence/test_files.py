"""Names of files, and lists of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.sequence.files import file_names


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with files."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.fa", "b c.fa", "@d.fa"):
        (tmp_path / name).write_text(">r\nACGTACGT\n")
    (tmp_path / "below").mkdir()
    return tmp_path


def test_names_of_files(folder: Path) -> None:
    assert file_names("a.fa") == ["a.fa"]
    assert file_names(Path("a.fa")) == ["a.fa"]
    assert file_names(["-", Path("@d.fa"), "./@d.fa"]) == ["-", "./@d.fa", "./@d.fa"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_list_names_files(folder: Path, newline: str) -> None:
    """Relative to the working folder, wherever the list is."""
    lines = ["# samples", "", "a.fa", "  b c.fa\t", str(folder / "a.fa"), "./@d.fa", "   ", "-"]
    (folder / "below" / "list").write_text("\ufeff" + newline.join(lines), newline="")
    named = ["a.fa", "b c.fa", str(folder / "a.fa"), "./@d.fa", "-"]
    assert file_names(["b c.fa", "@below/list", "a.fa"]) == ["b c.fa", *named, "a.fa"]
    assert file_names("@below/list") == named
    assert file_names(file_names("@below/list")) == named


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.fa\n\nabsent.fa\n", "list.txt, line 3: there is no file absent.fa"),
        ("# x\n@d.fa\n", "list.txt, line 2: @d.fa would be a list in a list"),
        ("\n# none\n", "list.txt: names no file"),
        (None, "list.txt: no such file"),
    ],
)
def test_lists_that_are_refused(folder: Path, text: str | None, message: str) -> None:
    if text is not None:
        (folder / "list.txt").write_text(text)
    with pytest.raises(InputError) as caught:
        file_names("@list.txt")
    assert message in str(caught.value)
    for name in ("@", "@-"):
        with pytest.raises(InputError, match="behind the @ has to come the name of a file"):
            file_names(name)


def test_an_output_that_a_list_names_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "list.txt").write_text("b c.fa\na.fa\n")
    before = (folder / "a.fa").read_bytes()
    for words in (
        ["kmers", "count", "-k", "5", "@list.txt", "-o", "a.fa"],
        ["kmers", "query", "x.db", "--file", "@list.txt", "-o", "a.fa"],
        ["signatures", "scan", "@list.txt", "b c.fa", "-o", "a.fa"],
        ["classify", "query", "x.db", "@list.txt", "-o", "a.fa"],
        ["classify", "query", "x.db", "--paired", "@list.txt", "@list.txt", "-o", "a.fa"],
        ["classify", "build", "a.fa", "@list.txt"],
    ):
        assert main(words) == 2
        assert "the same file as" in capsys.readouterr().err
        assert (folder / "a.fa").read_bytes() == before
