"""Interrupts end a command whenever they come."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import pytest

from oclgenomics.cli.main import lasting_interrupts


def test_an_interrupt_while_an_object_is_released_is_not_lost() -> None:
    before = sys.unraisablehook

    def drop_and_wait() -> None:
        with lasting_interrupts():
            sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))  # type: ignore[arg-type]
            threading.Event().wait(60)

    with pytest.raises(KeyboardInterrupt):
        drop_and_wait()
    assert sys.unraisablehook is before


def test_other_errors_go_where_they_went(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    dropped = SimpleNamespace(exc_type=ValueError)
    with lasting_interrupts():
        sys.unraisablehook(dropped)  # type: ignore[arg-type]
    assert seen == [dropped]
