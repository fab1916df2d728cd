"""Kernel sources: includes, line numbers, errors."""

from pathlib import Path

import pytest

from oclgenomics.errors import BuildError
from oclgenomics.runtime import source


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of kernel sources in place of the package's."""
    monkeypatch.setattr(source, "source_folder", lambda: tmp_path)
    source.load_source.cache_clear()
    yield tmp_path
    source.load_source.cache_clear()


def test_each_file_is_included_once_with_its_lines(kernels: Path) -> None:
    (kernels / "a.clh").write_text('int a;\n#include "b.clh"\nint a2;\n')
    (kernels / "b.clh").write_text("int b;\n")
    (kernels / "main.cl").write_text('// top\n#include "a.clh"\n  # include "b.clh" // again\nint c;\n')
    assert source.load_source("main.cl").split("\n") == [
        '#line 1 "main.cl"',
        "// top",
        '#line 1 "a.clh"',
        "int a;",
        '#line 1 "b.clh"',
        "int b;",
        '#line 3 "a.clh"',
        "int a2;",
        '#line 3 "main.cl"',
        "",
        '#line 4 "main.cl"',
        "int c;",
        "",
    ]


def test_places_without_line_directives(kernels: Path) -> None:
    (kernels / "a.clh").write_text("int a1;\nint a2;\n")
    (kernels / "main.cl").write_text('int m1;\n#include "a.clh"\nint m3;\n')
    text = source.load_source("main.cl")
    lines = text.splitlines()
    for word, place in (("m1", "main.cl:1"), ("a1", "a.clh:1"), ("a2", "a.clh:2"), ("m3", "main.cl:3")):
        assert source.place_of(text, lines.index(f"int {word};") + 1) == place


def test_missing_files_are_named_with_the_place_that_asks(kernels: Path) -> None:
    (kernels / "main.cl").write_text('\n#include "gone.clh"\n')
    with pytest.raises(BuildError, match=r"gone.clh does not exist \(included at main.cl:2\)"):
        source.load_source("main.cl")
    with pytest.raises(BuildError, match=r"none.cl does not exist"):
        source.load_source("none.cl")


def test_sources_are_ascii(kernels: Path) -> None:
    (kernels / "main.cl").write_bytes("// \u00b5\n".encode())
    with pytest.raises(BuildError, match="not plain ASCII"):
        source.load_source("main.cl")


def test_all_shipped_sources_resolve() -> None:
    folder = source.source_folder()
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.cl")]
    assert "common/hash.cl" in names
    for name in names:
        assert "#include" not in source.load_source(name)
