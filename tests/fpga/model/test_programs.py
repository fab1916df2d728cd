"""Programs that the model runs: their output, and a failure in one line."""

from __future__ import annotations

import sys

import pytest

from hls_model import ModelError
from hls_model.programs import output_of


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_is_what_the_program_writes() -> None:
    assert output_of(python("import sys; print('out'); print('note', file=sys.stderr)"), "it failed") == "out\n"


def test_input_is_handed_on() -> None:
    assert output_of(python("print(input() * 2)"), "it failed", "ab") == "abab\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('first'); print('a.v:3: Error: no such port'); print('last'); raise SystemExit(2)", "a.v:3: Error: no"),
        ("print('ERROR: no such module'); print('last'); raise SystemExit(1)", "ERROR: no such module"),
        ("print('first'); print('  last  '); raise SystemExit(1)", "last"),
        ("raise SystemExit(7)", "exit status 7"),
    ],
)
def test_a_failure_is_one_telling_line(code: str, said: str) -> None:
    with pytest.raises(ModelError, match=f"^the build failed: {said}[^\n]*$"):
        output_of(python(code), "the build failed")
