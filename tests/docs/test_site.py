"""The site: every public name is in the API reference, every page in the contents, and every link leads somewhere."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted({*DOCS.glob("*.md"), *DOCS.glob("how/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"})
PACKAGES = (
    "omega", "sweeps", "kmers", "signatures", "sdtw", "classify", "fpga", "simulate", "variation", "signals", "runtime",
)  # fmt: skip


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pages of the API."""
    folder = tmp_path_factory.mktemp("site") / "api"
    runpy.run_path(str(DOCS / "api_pages.py"))["write_pages"](folder)
    return folder


def offered(module: ModuleType) -> tuple[set[str], list[ModuleType]]:
    """The public names of a module, and the modules among what it offers."""
    public = {name: getattr(module, name) for name in module.__all__ if not name.startswith("_")}
    modules = [value for value in public.values() if inspect.ismodule(value)]
    return {name for name, value in public.items() if not inspect.ismodule(value)}, modules


@pytest.mark.parametrize("package", ["oclgenomics", *(f"oclgenomics.{name}" for name in PACKAGES)])
def test_every_public_name_has_its_page(api: Path, package: str) -> None:
    names, modules = offered(importlib.import_module(package))
    listed = (api / f"{package}.rst").read_text().splitlines()
    assert {name for name in names if f"   {name}" not in listed} == set()
    assert {name for name in names if f":: {name}\n" not in (api / f"{package}.{name}.rst").read_text()} == set()
    contents = (api / "index.rst").read_text().splitlines()
    assert f"   {package}" in contents
    with_names = {module.__name__ for module in modules if offered(module)[0]}
    assert {name for name in with_names if f"   {name}" not in contents} == set()


def test_every_page_is_in_the_contents() -> None:
    listed = set()
    for page, folder in (("index.md", ""), ("how/index.md", "how/")):
        for tree in re.findall(r"```{toctree}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL):
            listed |= {folder + line for line in tree.splitlines() if line and not line.startswith(":")}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES if DOCS in page.parents}
    assert pages - listed == {"index"}
    assert listed - pages == {"api/index"}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []
