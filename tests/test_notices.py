"""Messages on standard error: shown, kept silent, and wiped on terminals."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from helpers.shared_programs import own_programs

from oclgenomics import notices
from oclgenomics.runtime import Device, Engine, diskcache


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal of 40 columns in place of standard error; not as a fixture, since pytest changes it afterwards."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    return stream


def test_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with notices.of_command():
        for _ in range(2):
            notices.tell_once("once")
            notices.tell("each time")
    assert terminal.getvalue().split("\n") == [f"oclgenomics: {text}" for text in ("once", *2 * ["each time"])] + [""]


def test_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with notices.of_command(quiet=True):
        notices.tell("nothing")
        with notices.doing("nothing"):
            pass
    assert terminal.getvalue() == ""


def test_a_command_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one command was told to keep to itself, or told once, is told again for the next."""
    terminal = open_terminal(monkeypatch)
    with pytest.raises(KeyError), notices.of_command(quiet=True):
        raise KeyError
    for _ in range(2):
        with notices.of_command():
            notices.tell_once("once")
    assert terminal.getvalue() == 2 * "oclgenomics: once\n"


def test_no_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    notices.tell("nobody")
    with notices.doing("nothing"):
        pass


def test_what_is_compiled_is_shown_and_wiped(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with own_programs(), Engine(device) as first, Engine(device) as second:
        monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path))
        for engine in (first, second):
            engine.kernel("common/hash.cl", "hash_numbers")
    shown = terminal.getvalue().split("\r")
    assert [line.rstrip() for line in shown if line.strip()] == ["compiling common/hash.cl"]  # once: then it is kept
    assert {len(line) for line in shown if line} == {39}


def test_files_hold_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with notices.doing("compiling"):
        pass
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [(0, ("region",), "0 regions"), (1, ("region",), "1 region"), (1024, ("region",), "1,024 regions"),
     (1, ("copy", "copies"), "1 copy"), (2, ("copy", "copies"), "2 copies")],
)  # fmt: skip
def test_nouns_agree_with_their_number(count: int, words: tuple[str, ...], text: str) -> None:
    assert notices.number_of(count, *words) == text
