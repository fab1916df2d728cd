"""The page that the server has for browsers, in a browser."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import Browser
from helpers.classify_databases import VIRAL, viral_database
from helpers.classify_serving import PATIENCE, FakeAnswerer, exchange, faked, request_bytes, wait_until

import oclgenomics.classify.serving
from oclgenomics.classify import Index
from oclgenomics.classify.serving import Client, IndexAnswerer, Server
from oclgenomics.classify.serving.server import Address
from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine

FILES = Path(oclgenomics.classify.serving.__file__).parent
TEXT = "document.getElementById('{}').textContent"
ENDED = "!document.getElementById('result').hidden || !document.getElementById('error').hidden"


@pytest.fixture(scope="module")
def some_reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with 2,003 reads of the viruses: a prime number, of which no share is half way between two tenths."""
    path = tmp_path_factory.mktemp("reads") / "se150.fq.gz"
    with gzip.open(VIRAL / "reads" / "se150.fq.gz") as whole:
        path.write_bytes(gzip.compress(b"".join(islice(whole, 4 * 2003))))
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module")
def server(engine: Engine) -> Iterator[Server]:
    @contextmanager
    def make() -> Iterator[IndexAnswerer]:
        with Index(viral_database(), engine=engine) as index:
            yield IndexAnswerer(index)

    with Server(Address(), make) as server:
        yield server


def text(browser: Browser, name: str) -> str:
    return str(browser.run(TEXT.format(name)))


def rows(browser: Browser, column: int) -> list[str]:
    script = f"[...document.querySelectorAll('#rows tr')].map((row) => row.children[{column}].textContent)"
    return list(browser.run(script))


def sent(browser: Browser, server: Server, path: Path) -> None:
    """Open the page, choose a file and wait for what comes of it."""
    browser.troubles.clear()
    browser.open(server.address.url)
    browser.choose("#file", path)
    browser.wait(ENDED)


def wait_for(path: Path, content: bytes) -> None:
    """Wait until a file has been saved, with this content."""
    wait_until(lambda: path.exists() and path.read_bytes() == content)


# Without a browser


@pytest.mark.parametrize(("place", "kind"), [("/", "html"), ("/page.css", "css"), ("/page.js", "javascript")])
def test_the_page_is_sent(server: Server, place: str, kind: str) -> None:
    answer = exchange(server, request_bytes(b"", place, method="GET"))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == f"text/{kind}; charset=utf-8"
    assert answer.body == (FILES / f"page.{'js' if kind == 'javascript' else kind}").read_bytes()
    rules = answer.headers["Content-Security-Policy"].split("; ")
    assert rules[0] == "default-src 'none'"
    assert not [rule for rule in rules if "unsafe" in rule or "*" in rule or "http" in rule]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_is_whole() -> None:
    """It asks for nothing elsewhere, has no code or style within, and its parts know each other's names."""
    page, style, script = ((FILES / f"page.{kind}").read_text() for kind in ("html", "css", "js"))
    addresses = re.findall(r"https?://[^\s'\"]+", page + style + script)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"(?:src|href)=\"(?!data:|#)([^\"]+)\"", page) == ["/page.css", "/page.js", "/openapi.json"]
    assert not re.search(r"<style|style=|<script>|\son[a-z]+=", page)
    assert "@import" not in style
    assert "url(" not in style
    names = re.findall(r"\bid=\"([^\"]+)\"", page)
    assert len(names) == len(set(names))
    assert set(re.findall(r"\bat\(\"([^\"]+)\"\)", script)) <= set(names)
    assert {*re.findall(r"(?:for|aria-labelledby)=\"([^\"]+)\"", page)} <= set(names)
    assert "innerHTML" not in script


# With one


def test_reads_are_shown(browser: Browser, server: Server, some_reads: Path) -> None:
    sent(browser, server, some_reads)
    with Client(server.address.url, timeout=PATIENCE) as client:
        lines = client.classify(some_reads, format="json").splitlines()
    reads = [json.loads(line) for line in lines]
    called = [read for read in reads if read["name"] is not None]
    tiles = browser.run("[...document.querySelectorAll('#tiles dd')].map((tile) => tile.firstChild.textContent)")
    assert tiles[:3] == [
        f"{len(reads):,}",
        f"{100 * len(called) / len(reads):.1f} %",
        str(len({r["name"] for r in called})),
    ]
    assert rows(browser, 0) == [read["read"] for read in reads[:25]]
    assert rows(browser, 2) == [read["name"] or "unclassified" for read in reads[:25]]
    assert text(browser, "shown") == f"{len(reads):,} of {len(reads):,} reads"

    browser.run(
        "document.querySelectorAll('#head button')[5].click(), document.querySelectorAll('#head button')[5].click()"
    )
    hits = [read["candidates"][0]["hits"] if read["candidates"] else 0 for read in reads]
    assert [int(word) for word in rows(browser, 5)] == sorted(hits, reverse=True)[:25]
    assert browser.run("document.querySelectorAll('#head th')[5].getAttribute('aria-sort')") == "descending"

    search = "const box = document.getElementById('search'); box.value = '{}'; box.dispatchEvent(new Event('input'))"
    browser.run(f"{{ {search.format('mumps')} }}")
    found = [read for read in reads if "mumps" in f"{read['read']} {read['name']}".lower()]
    assert text(browser, "shown") == f"{len(found):,} of {len(reads):,} reads"
    browser.run(f"{{ {search.format('no such thing')} }}")
    assert rows(browser, 0) == []
    browser.run(f"{{ {search.format('')} }}")
    browser.run("document.getElementById('after').click()")
    assert text(browser, "page").startswith("2 / ")
    assert browser.troubles == []


def test_taxa_are_chosen(browser: Browser, server: Server, some_reads: Path) -> None:
    sent(browser, server, some_reads)
    with Client(server.address.url, timeout=PATIENCE) as client:
        report = [line.split("\t") for line in client.classify(some_reads, format="kreport").decode().splitlines()]
    own = sorted((int(line[2]) for line in report if line[5].strip() != "root" and line[2] != "0"), reverse=True)
    script = (
        "[...document.querySelectorAll('#below button')].map((button) => button.querySelector('.number').textContent)"
    )
    assert [int(word.replace(",", "")) for word in browser.run(script)] == own
    spoken = browser.run("[...document.querySelectorAll('.arc')].map((arc) => arc.getAttribute('aria-label'))")
    [clade] = [line for line in report if line[5].strip() == "Negarnaviricota"]
    assert f"Negarnaviricota, phylum, {int(clade[1]):,} reads, {float(clade[0]):.1f} %" in spoken

    arc = "[...document.querySelectorAll('.arc')].find((arc) => arc.taxon.name === 'Negarnaviricota')"
    browser.run(f"{arc}.dispatchEvent(new MouseEvent('click'))")
    assert text(browser, "chosen") == "Negarnaviricota"
    assert text(browser, "shown").startswith(f"{int(clade[1]):,} of ")
    browser.wait(f"!{arc}")  # it is the middle now
    browser.run("document.querySelector('.center').dispatchEvent(new MouseEvent('click'))")
    assert text(browser, "chosen") == "Riboviria"
    browser.run("document.querySelector('#crumbs button').click()")
    assert text(browser, "chosen") == "All reads"
    browser.wait("document.querySelectorAll('.arc').length === " + str(len(spoken)))
    key = "new KeyboardEvent('keydown', {key: 'Enter'})"
    browser.run(f"{arc}.dispatchEvent({key})")
    assert text(browser, "chosen") == "Negarnaviricota"
    assert browser.troubles == []


def test_downloads_are_those_of_the_server(browser: Browser, server: Server, some_reads: Path, tmp_path: Path) -> None:
    sent(browser, server, some_reads)
    browser.send("Browser.setDownloadBehavior", session=False, behavior="allow", downloadPath=str(tmp_path))
    with Client(server.address.url, timeout=PATIENCE) as client:
        for format, name in (("tsv", "se150.tsv"), ("kreport", "se150.kreport.txt"), ("json", "se150.jsonl")):
            browser.run(f"document.querySelector('[data-format={format}]').click()")
            browser.wait(f"{TEXT.format('save-text')}.startsWith('{name}')")
            expected = client.classify(some_reads, format=format)
            wait_for(tmp_path / name, expected)
    assert browser.troubles == []


def test_reads_that_are_refused(browser: Browser, server: Server, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("hello")
    sent(browser, server, tmp_path / "note.txt")
    assert text(browser, "error") == "the body: is neither FASTA nor FASTQ: it starts with neither > nor @"
    assert browser.run("document.getElementById('work').hidden && document.getElementById('result').hidden")
    (tmp_path / "none.fa").write_text("")
    browser.choose("#file", tmp_path / "none.fa")
    browser.wait(f"{TEXT.format('error')}.includes('is empty')")
    (tmp_path / "some.fa").write_text(">a\nACGT\n")
    browser.choose("#file", tmp_path / "some.fa")
    browser.wait("!document.getElementById('result').hidden")
    assert rows(browser, 2) == ["unclassified"]


def test_options_are_sent(browser: Browser, server: Server, tmp_path: Path) -> None:
    pairs = b">a\n" + b"ACGT" * 9 + b"\n>a\n" + b"ACGT" * 9 + b"\n"
    (tmp_path / "pairs.fa.gz").write_bytes(gzip.compress(pairs))
    browser.open(server.address.url)
    browser.run("document.getElementById('interleaved').click(); document.getElementById('lowest').value = 'genus'")
    browser.choose("#file", tmp_path / "pairs.fa.gz")
    browser.wait(ENDED)
    assert text(browser, "shown") == "1 of 1 read"
    assert rows(browser, 1) == ["72"]


def test_what_the_page_counts(browser: Browser, server: Server) -> None:
    """Reads of a file, for the progress: as many as the server finds, whatever its layout."""
    browser.open(server.address.url)
    for content, number in (
        (">a\nAC\nGT\n>b\n>c\nA", 3), ("@a\nAC\n+\nII\n@b\nA\n+\n>\n", 2), ("@a\nAC\n+\nII\n@b\nA\n+\nI", 2), ("", 0),
    ):  # fmt: skip
        script = f"countReads(new File([{json.dumps(content)}], 'x'), new AbortController().signal)"
        assert browser.run(script) == number
        packed = list(gzip.compress(content.encode()))
        script = f"countReads(new File([new Uint8Array({packed})], 'x'), new AbortController().signal)"
        assert browser.run(script) == number
    assert (
        browser.run("countReads(new File([new Uint8Array([31, 139, 8, 0])], 'x'), new AbortController().signal)")
        is None
    )


def test_light_and_dark(browser: Browser, server: Server) -> None:
    browser.open(server.address.url)
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = {browser.run(colour)}
    browser.run("document.getElementById('theme').click()")
    seen.add(browser.run(colour))
    browser.open(server.address.url)  # it is kept
    assert browser.run(colour) in seen
    assert len(seen) == 2


def test_nothing_comes_from_elsewhere(browser: Browser, server: Server, some_reads: Path) -> None:
    sent(browser, server, some_reads)
    asked = browser.run("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert asked
    assert [name for name in asked if not name.startswith((server.address.url, "data:"))] == []


# Answers that a test holds in its hands


@dataclass(frozen=True)
class Asked:
    format: str
    content_type: str = "application/x-ndjson"


class SlowAnswerer(FakeAnswerer):
    """Answers with a read, and with another one when it may."""

    def parse(self, parameters: Mapping[str, str]) -> Any:
        return Asked(parameters["format"])

    def answer(self, path: str, query: Any) -> Generator[bytes | memoryview, None, None]:
        if query.format != "json":
            yield b"100.00\t2\t2\tU\t0\tunclassified\n"
            return
        line = {"read": "a", "length": 4, "mate_length": None, "taxid": 0, "rank": None, "name": None, "needed": 2}
        try:
            yield json.dumps(line | {"candidates": []}).encode() + b"\n"
            assert self.go.wait(PATIENCE)
            if self.refuses:
                raise InputError("is bad", source=path, record=2)
            yield json.dumps(line | {"read": "<b>", "candidates": []}).encode() + b"\n"
            until = time.monotonic() + PATIENCE
            while self.endless and time.monotonic() < until:
                yield b"\n"
                time.sleep(0.01)
        except GeneratorExit:
            self.ended.set()
            raise

    refuses = endless = False


def test_progress_is_shown(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "reads.fa").write_text(">a\nACGT\n>b\nACGT\n")
    slow = SlowAnswerer()
    with faked(slow) as server:
        browser.open(server.address.url)
        browser.choose("#file", tmp_path / "reads.fa")
        browser.wait(f"{TEXT.format('done-text')}.startsWith('1 read,')")
        browser.wait("document.getElementById('done').value === 0.5")
        assert browser.run("document.getElementById('sent').value") == 1
        slow.go.set()
        browser.wait(ENDED)
        assert rows(browser, 0) == ["a", "<b>"]  # and no name is taken for a tag
        assert browser.run("document.getElementById('work').hidden")


def test_runs_are_cancelled(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "reads.fa").write_text(">a\nACGT\n")
    slow = SlowAnswerer()
    with faked(slow) as server:
        browser.open(server.address.url)
        browser.choose("#file", tmp_path / "reads.fa")
        browser.wait(f"{TEXT.format('done-text')}.startsWith('1 read,')")
        browser.run("document.getElementById('cancel').click()")
        browser.wait("document.getElementById('work').hidden")
        assert browser.run("document.getElementById('error').hidden")
        slow.endless = True
        slow.go.set()
        assert slow.ended.wait(PATIENCE)  # the server looks at each piece whether it is wanted


def test_answers_that_break_off(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "reads.fa").write_text(">a\nACGT\n")
    slow = SlowAnswerer()
    slow.refuses = True
    slow.go.set()
    with faked(slow) as server:
        sent(browser, server, tmp_path / "reads.fa")
        assert text(browser, "error") != ""
        assert browser.run("document.getElementById('result').hidden")
