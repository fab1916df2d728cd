"""Pages for browsers: what commands write with --html, and what a browser makes of it."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.browser import Browser
from helpers.shared_builds import built_folder
from hypothesis import given, strategies as st

from oclgenomics.app import pages
from oclgenomics.app.pages import Chart, Page, Table, label
from oclgenomics.cli.main import main
from oclgenomics.kmers.analysis.spectrum import read_spectrum
from oclgenomics.kmers.plots import spectrum_page
from oclgenomics.kmers.result import Histogram

EVIL, END = "<script>alert(1)</script>", "</script><b>x&amp;</b>"
MADE = {"program": "oclgenomics", "version": "1", "command": ["oclgenomics", EVIL], "parameters": {"name": END}}
SYSTEMS = (  # as they are written
    "count",
    "matrix",
    "signatures",
    "scan",
    "ld",
    "replicates",
    "sweeps",
    "sweep_replicates",
    "query",
    "targets",
    "evaluate",
    "stream",
    "project",
)


def run(*words: object) -> None:
    assert main([*map(str, words), "-q"]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of all systems, with names that are meant badly."""
    return built_folder(tmp_path_factory, "pages", _write_all)


def _write_all(place: Path) -> None:
    """Write the pages of all systems, and one with all figures and tables, so that a browser reads Plotly once."""
    written: dict[str, Page] = {}
    text = Page.text

    def kept(page: Page, made: Mapping[str, Any]) -> str:
        written[SYSTEMS[len(written)]] = page
        return text(page, made)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Page, "text", kept)
        _write_systems(place)
    owners = [name for name, page in written.items() for part in page.parts if isinstance(part, Chart)]
    (place / "owners.json").write_text(json.dumps(owners))
    parts = [part for page in written.values() for part in page.parts]
    facts = {f"{name}: {fact}": value for name, page in written.items() for fact, value in page.facts.items()}
    notes = [note for page in written.values() for note in page.notes]
    titles = ["; ".join(getattr(page, which) for page in written.values()) for which in ("title", "below")]
    (place / "all.html").write_text(Page(*titles, parts, facts, notes).text(MADE))


def _write_systems(place: Path) -> None:
    rng = np.random.default_rng(1)

    def bases(count: int) -> str:
        return rng.choice(np.frombuffer(b"ACGT", np.uint8), count).tobytes().decode()

    (place / "genes.fa").write_text("".join(f">{name}\n{bases(60)}\n" for name in (EVIL, END)))
    genes = (place / "genes.fa").read_text().splitlines()[1::2]
    odd = place / "<img src=x onerror=alert(1)>.fa"
    odd.write_text("".join(f">{EVIL}{number}\n{bases(200)}{genes[number % 2]}{bases(100)}\n" for number in range(3)))
    run("kmers", "histogram", odd, "-k", 15, "-o", place / "count.tsv", "--html", place / "count.html")
    samples = [f"{EVIL}={odd}", f"{END}={place / 'genes.fa'}"]
    run("kmers", "matrix", *samples, "-k", 15, "-o", place / "m.tsv", "--html", place / "matrix.html")
    words = ["-o", place / "found.tsv", "--html", place / "signatures.html"]
    run("signatures", "scan", odd, place / "genes.fa", *words)
    _write_vcf(place / "x.vcf", rng)
    grid = ("--grid", 20, "--minwin", 100, "--maxwin", 20_000)
    run("omega", "scan", place / "x.vcf", *grid, "-o", place / "x.tsv", "--html", place / "scan.html", "--threshold", 2)
    run("omega", "ld", place / "x.vcf", "--scan", place / "x.tsv", "-o", place / "ld.tsv", "--html", place / "ld.html")
    run("simulate", "omega", "--seed", 1, "--samples", 16, "--replicates", 6, "--sites", 60, "-o", place / "x.ms")
    words = [
        "--length",
        "1M",
        *grid[:4],
        "--maxwin",
        "200k",
        "-o",
        place / "r.tsv",
        "--html",
        place / "replicates.html",
    ]
    run("omega", "scan", place / "x.ms", *words)
    _sweeps(place)
    _classify(place)
    _select(place)
    words = ["--no-measure", "-o", place / "p.txt", "--html", place / "project.html"]
    run("fpga", "project", place / "x.vcf", *grid, "--compare", "u280_hbm", *words)


def _sweeps(place: Path) -> None:
    words = ["--stat", "mu,tajima_d", "-w", 10]
    null = place / "null.json"
    run("sweeps", "threshold", place / "x.ms", "--length", 50_000, *words, "--fpr", 0.2, "--json", "-o", null)
    words += ["-o", place / "sweeps.tsv"]
    run("sweeps", "scan", place / "x.vcf", *words, "--threshold", null, "--html", place / "sweeps.html")
    run("sweeps", "scan", place / "x.ms", "--length", "1M", *words[2:4], "-o", place / "sweep_replicates.tsv", "--html",
        place / "sweep_replicates.html")  # fmt: skip


def _write_vcf(path: Path, rng: np.random.Generator) -> None:
    heads = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *"abcdefgh"]
    lines = ["##fileformat=VCFv4.2", "\t".join(heads)]
    for name in (EVIL, "chr2"):
        for position in np.sort(rng.choice(50_000, 60, replace=False) + 1).tolist():
            calls = ["|".join(map(str, pair)) for pair in rng.integers(0, 2, (8, 2)).tolist()]
            lines.append("\t".join([name, str(position), ".", "A", "C", ".", ".", ".", "GT", *calls]))
    path.write_text("\n".join(lines) + "\n")


def _classify(place: Path) -> None:
    run("simulate", "genomes", "--seed", 1, "--genera", 2, "--species", 2, "--length", 20_000, "-o", place / "world")
    names = place / "world" / "taxonomy" / "names.dmp"
    names.write_text(names.read_text().replace("Genus001", EVIL))
    run("simulate", "reads", "--seed", 1, "--genomes", place / "world", "--reads", 200, "-o", place / "r.fq.gz")
    words = ["--targets", place / "world/references", "-o", place / "q.txt", "--html"]
    run("classify", "run", place / "r.fq.gz", "--taxonomy", place / "world/taxonomy", *words, place / "query.html",
        "--kreport", place / "q.kreport")  # fmt: skip
    run("classify", "run", place / "r.fq.gz", "--lowest", "sequence", *words, place / "targets.html")


def _select(place: Path) -> None:
    signals = ("simulate", "signals", "--reads", 20, "--samples", 4000, "--length", 3000, "--seed")
    run(*signals, 1, "--target-fasta", place / "t.fa", "-o", place / "<b>t.npz")
    run(*signals, 2, "-o", place / "o.npz")
    run("sdtw", "index", place / "t.fa", "--model", "r9.4.1", "-o", place / "t.sdtw")
    words = ["--reference", place / "t.sdtw", "--prefixes", "500,1000", "--trim", "none", "--bootstrap", 50]
    words += ["-o", place / "f.tsv", "--html", place / "evaluate.html"]
    run("sdtw", "evaluate", place / "<b>t.npz", place / "o.npz", *words)
    words = ["--stages", "500:1900,1000:3000", "--reference", place / "t.sdtw", "--trim", "none", "--speed", 0]
    words += ["--duration", 8, "--channels", 8, "-o", place / "s.txt", "--html", place / "stream.html"]
    run("sdtw", "stream", place / "<b>t.npz", place / "o.npz", *words)


# Without a browser


def page(*parts: Chart | Table, **others: Any) -> Page:
    return Page("Title", "below", parts, **others)


def figures_of(text: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="figures">(.*?)</script>', text)
    return dict(json.loads(found))


@pytest.mark.parametrize("name", [EVIL, END, "a\x1b[31m\udc80", 'q" onclick="x', "%{y} $x$"])
def test_names_are_text(name: str) -> None:
    chart = Chart(name, name, [{"type": "bar", "x": [1], "y": [1], "text": [label(name)], "ids": [name]}])
    table = Table(name, [name], [(name,)], name, name, 2)
    text = Page(name, name, [chart, table], {name: name}, [name]).text({**MADE, "command": [name]})
    body = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.S)
    assert EVIL not in text
    assert "<b>" not in body
    assert 'onclick="' not in body
    assert "\x1b" not in text
    text.encode()  # nothing that UTF-8 lacks
    assert text.count("<script") == text.count("</script>") == 3
    assert figures_of(text)["figures"][0]["traces"][0]["text"] == [label(name)]


def test_the_page_asks_for_nothing() -> None:
    text = page(Chart("a", "b", [])).text(MADE)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    rules = policy.split("; ")
    assert rules[0] == "default-src 'none'"
    assert not [rule for rule in rules if "http" in rule or "*" in rule or ("unsafe" in rule and "style" not in rule)]
    own = text.replace(pages._plotly(), "")
    assert not re.findall(r"(?:src|href)=|url\(|https?:|@import|\son[a-z]+=", own)
    config = figures_of(text)["config"]
    assert config["showSendToCloud"] is False
    assert not config["plotlyServerURL"]


def test_a_long_table_says_what_it_leaves_out() -> None:
    rows = [(number, f"row {number}") for number in range(pages.SHOWN_ROWS + 1)]
    text = page(Table("t", ["a", "b"], rows, "All of it.", "in x.tsv")).text(MADE)
    assert text.count("<tr>") == pages.SHOWN_ROWS + 1
    assert "All of it. Here are 500 of 501 rows; all are in x.tsv." in text
    assert "Here are" not in page(Table("t", ["a", "b"], rows[:-1])).text(MADE)
    assert "Here are 500 of 9,000 rows." in page(Table("t", ["a", "b"], rows[:-1], total=9000)).text(MADE)


def cells(values: list[Any]) -> list[tuple[str, str]]:
    """The numbers of the cells of a column for sorting, and what they show."""
    text = pages._table(Table("t", ["a"], [(value,) for value in values]))
    return re.findall(r'<td class="number"(?: data-v="([^"]*)")?>([^<]*)</td>', text)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1234567, 0, -3], ["1,234,567", "0", "-3"]),
        ([0.946, 1.0, None], ["0.946", "1.000", "NA"]),
        ([84.68, 0.02, float("nan")], ["84.68", "0.02", "NA"]),
        ([1e-9, 1234.5], ["1e-09", "1,234"]),
        ([12345.678, 2.0], ["12,345.7", "2.0"]),
        ([0.0], ["0"]),
        ([np.float32(0.5), np.int64(3)], ["0.500", "3"]),
    ],
)
def test_numbers_of_a_column(values: list[Any], shown: list[str]) -> None:
    assert [text for _, text in cells(values)] == shown


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=5))
def test_numbers_sort_as_what_they_are(values: list[float]) -> None:
    assert [float(number) for number, _ in cells([float(value) for value in values])] == pytest.approx(values, rel=1e-8)


@given(st.sampled_from(["<f8", "<f4", "<i8", "<i4", "u1"]), st.integers(0, 200), st.booleans())
def test_arrays_are_what_plotly_unpacks(kind: str, size: int, square: bool) -> None:
    array = np.arange(size).astype(kind)
    array = array.reshape(2, -1) if square and size % 2 == 0 else array
    plain = json.loads(pages._safe_json({"x": array}))["x"]
    if array.size <= pages.LISTED:
        assert plain == array.tolist()
        return
    shape = tuple(map(int, plain["shape"].split(","))) if array.ndim > 1 else array.shape
    unpacked = np.frombuffer(base64.b64decode(plain["bdata"]), np.dtype(plain["dtype"])).reshape(shape)
    assert plain["dtype"] in ("f8", "f4", "i4", "u1")  # those that JavaScript has
    np.testing.assert_array_equal(unpacked, array)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--html", "x.txt"], "x.txt has to end in .html, by which browsers know a page"),
        (["--html", ""], "--html: the name is empty"),
        (["--html", "x.html", "-o", "x.html"], "--html x.html: the same file as -o x.html"),
        (["--html", "no/x.html"], "--html no/x.html: there is no folder no"),
    ],
)
def test_names_that_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "histogram", "x.db", *words]) in (2, 5)
    assert said in capsys.readouterr().err


def test_plotly_is_missed_before_any_work(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert main(["kmers", "histogram", "no such file", "--html", "x.html"]) == 2
    said = capsys.readouterr().err
    assert said == "oclgenomics: error: --html needs Plotly: pip install 'oclgenomics[html]'\n"


def test_nobody_else_imports_plotly(folder: Path) -> None:
    words = ["kmers", "histogram", "-q", "-k", "15", "-o", str(folder / "again.tsv"), str(folder / "genes.fa")]
    code = f"import sys; from oclgenomics.cli.main import main; main({words!r}); "
    code += "sys.exit(bool({'plotly', 'oclgenomics.app.pages'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_page_that_is_half_made_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(
        "oclgenomics.kmers.plots.pages.spectrum_page", lambda *_, **__: page(Chart("a", "b", [{"x": {1}}]))
    )
    (tmp_path / "x.html").write_text("kept")
    words = ["-k", "15", "-o", str(tmp_path / "x.tsv"), "--html", str(tmp_path / "x.html")]
    assert main(["kmers", "histogram", str(folder / "genes.fa"), *words, "-q"]) == 1
    assert (tmp_path / "x.html").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.html", "x.tsv"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_plotly_knows_all_properties(name: str, folder: Path) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    found = figures_of((folder / f"{name}.html").read_text())
    assert found["figures"]
    for figure in found["figures"]:
        layout = {key: value for key, value in figure["layout"].items() if key not in ("narrow", "widest")}
        for shown in (layout, figure["layout"].get("narrow", {})):
            shown = {key: value for key, value in shown.items() if key != "traces"}
            graph_objects.Figure({"data": figure["traces"], "layout": shown})
    graph_objects.Figure({"layout": found["template"]})


def test_combine_writes_the_page(folder: Path, tmp_path: Path) -> None:
    grid = ["--grid", 20, "--minwin", 100, "--maxwin", 20_000]
    for number in (1, 2):
        run("omega", "scan", folder / "x.vcf", *grid, "--shard", f"{number}/2", "-o", tmp_path / f"{number}.piece")
    words = ["-o", tmp_path / "x.tsv", "--html", tmp_path / "x.html", "--threshold", 2]
    run("omega", "combine", tmp_path / "1.piece", tmp_path / "2.piece", *words)
    shown = (tmp_path / "x.html").read_text()
    assert figures_of(shown) == figures_of((folder / "scan.html").read_text())
    assert "<dt>pieces</dt>" in shown


# With one


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def opened(browser: Browser, path: Path) -> None:
    browser.troubles.clear()
    browser.open(path.as_uri())
    browser.wait("document.body.dataset.drawn === 'yes'")


# Texts under the pointer at points of all traces. Each time the figure gets another number, since Plotly looks at the
# pointer of a figure only now and then.
HOVER = """(() => {
    const place = document.getElementById("figure-%d"), texts = [];
    place._fullData.forEach((trace, number) => {
        if (trace.hoverinfo === "skip" || trace.visible !== true || trace.type === "icicle") return;
        const count = trace.z?.length ?? trace.x?.length ?? 0;
        for (const point of [...Array(Math.min(count, 15)).keys()]) {
            place._fullLayout._uid = `${place.id}-${number}-${point}`;
            const there = trace.z ? { xval: point, yval: 0 } : [{ curveNumber: number, pointNumber: point }];
            Plotly.Fx.hover(place, there, trace.yaxis ? trace.xaxis + trace.yaxis : undefined);
            texts.push(place.querySelector(".hoverlayer").textContent);
        }
    });
    return texts.filter((text) => text);
})()"""


def check_wide(browser: Browser, path: Path) -> list[str]:
    """See that a page is whole, and return the texts under the pointer of each of its figures."""
    opened(browser, path)
    assert browser.run("document.documentElement.scrollWidth") <= 1280
    count = int(browser.run("document.querySelectorAll('.plot').length"))
    assert count
    hovers = []
    for number in range(1, count + 1):
        assert browser.run(f"document.querySelectorAll('#figure-{number} .main-svg').length")
        hovers.append("\n".join(browser.run(HOVER % number)))
        assert hovers[-1] or browser.run(f"document.getElementById('figure-{number}').data[0].type") == "icicle", number
    for what in ("td *", "h1 *", "h2 *", "dt *", "dd > :not(small, code)", "code *", ".note *", "figcaption p *"):
        assert browser.run(f"document.querySelectorAll({what!r}).length") == 0, what
    return hovers


def check_narrow(browser: Browser) -> None:
    """See that a page fits a narrow screen, and that it asked for nothing and complained of nothing until now."""
    narrow = {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.send("Emulation.setDeviceMetricsOverride", **narrow)
    browser.wait("[...document.querySelectorAll('.plot')].every((one) => one.layout.width <= 420)")
    assert browser.run("document.documentElement.scrollWidth") <= 420
    assert browser.run("performance.getEntriesByType('resource').length") == 0
    assert browser.run("document.title && document.documentElement.lang") == "en"
    assert browser.troubles == []


@pytest.mark.whole
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_browser_shows_each(name: str, browser: Browser, folder: Path) -> None:
    check_wide(browser, folder / f"{name}.html")
    check_narrow(browser)


def test_a_browser_shows_all(browser: Browser, folder: Path) -> None:
    hovers = check_wide(browser, folder / "all.html")
    owners = json.loads((folder / "owners.json").read_text())
    assert set(owners) == set(SYSTEMS)
    first = {name: owners.index(name) for name in SYSTEMS}
    check_values({name: hovers[number] for name, number in first.items()}, folder)
    check_slices(browser, first["query"] + 1, folder)
    check_narrow(browser)


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a report."""
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")][1:]


def check_values(shown: dict[str, str], folder: Path) -> None:
    """See that the first figure of a system shows the values of its report under the pointer."""
    for name in (EVIL, END):
        assert f"{name} on +200 to 2600 mismatches, quality unknown" in shown["signatures"]
    row = next(row for row in rows_of(folder / "x.tsv") if row[3] != "NA")
    assert f"{EVIL}: {float(row[2]):,.0f} bpω {float(row[3]):.5g}".rstrip("0") in shown["scan"]
    assert f"window {int(row[4]):,}\u2013{int(row[5]):,}, {row[6]} sites" in shown["scan"]
    row = rows_of(folder / "sweeps.tsv")[0]
    assert row[0] == EVIL
    for name, column in (("\u03bc", 6), ("D", 10)):  # of both panels
        value = f"{float(row[column]):.5g}".replace("-", "\u2212").rstrip("0")
        assert f"{EVIL}: {float(row[2]):,.0f} bp{name} {value}" in shown["sweeps"]
    assert f"window {int(row[3]):,}\u2013{int(row[4]):,}, 10 sites" in shown["sweeps"]
    assert f"{EVIL[:11]}" in shown["matrix"]


def check_slices(browser: Browser, number: int, folder: Path) -> None:
    """See that a figure of taxa shows the reads of a clade under the pointer."""
    clades = [line.split("\t") for line in (folder / "q.kreport").read_text().splitlines()]
    reads = next(int(row[1]) for row in clades if row[5].strip() == EVIL)
    place = f"#figure-{number}"
    slices = browser.run(f"[...document.querySelectorAll('{place} .slice')].map((one) => one.textContent)")
    assert any(EVIL[:20] in text for text in slices)
    script = """(() => {
        const texts = [];
        for (const one of document.querySelectorAll('PLACE .slice path.surface')) {
            one.parentNode.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
            texts.push(document.querySelector('PLACE .hoverlayer').textContent);
        }
        return texts.filter((text) => text.includes('genus'));
    })()"""
    found = browser.run(script.replace("PLACE", place))
    assert any(text.startswith(EVIL[:20]) and f"genus {reads:,} reads" in text for text in found), found


def column(browser: Browser, section: int, number: int) -> list[str]:
    script = f"[...document.querySelectorAll('section.table')[{section}].querySelectorAll('tbody tr')]"
    return list(browser.run(f"{script}.filter((row) => !row.hidden).map((row) => row.cells[{number}].textContent)"))


def click(browser: Browser, section: int, number: int) -> str:
    head = f"document.querySelectorAll('section.table')[{section}].querySelectorAll('th')[{number}]"
    return str(browser.run(f"{head}.firstElementChild.click(), {head}.getAttribute('aria-sort')"))


NAMES = [f"chr{number}" for number in range(1, 14)]
NUMBERS = [3.5, -1.0, None, 1e6, 20.0, 0.0, 100.0, 2.0, 7.0, 8.0, 9.0, 10.0, 11.0]


def test_tables_colours_and_paper(browser: Browser, tmp_path: Path) -> None:
    histogram = Histogram(np.arange(1, 40), (1e4 * np.exp(-((np.arange(1, 40) - 20) ** 2) / 40)).astype(np.int64) + 1)
    page = spectrum_page(histogram, read_spectrum(histogram, 21), k=21, title="x")
    table = Table("t", ["a", "b"], list(zip(NAMES, NUMBERS, strict=True))[::-1])
    path = tmp_path / "x.html"
    path.write_text(replace(page, parts=[table, *page.parts]).text(MADE))
    browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        opened(browser, path)
        check_table(browser)
        check_colours(browser)
    finally:
        browser.send("Emulation.setEmulatedMedia", features=[], media="")
    assert browser.troubles == []


def check_table(browser: Browser) -> None:
    """See that the first table of a page is sorted and filtered."""
    assert column(browser, 0, 0) == NAMES[::-1]
    assert click(browser, 0, 0) == "ascending"
    assert column(browser, 0, 0) == NAMES  # 10 comes after 9
    assert click(browser, 0, 1) == "descending"
    order = sorted((value for value in NUMBERS if value is not None), reverse=True)
    shown = [float(text.replace(",", "")) for text in column(browser, 0, 1)[:-1]]
    assert shown == order
    assert column(browser, 0, 1)[-1] == "NA"
    assert click(browser, 0, 1) == "ascending"
    assert [float(text.replace(",", "")) for text in column(browser, 0, 1)[:-1]] == order[::-1]
    assert column(browser, 0, 1)[-1] == "NA"
    browser.run("{ const b = document.querySelector('input'); b.value = 'CHR1'; b.dispatchEvent(new Event('input')) }")
    assert set(column(browser, 0, 0)) == {"chr1", "chr10", "chr11", "chr12", "chr13"}
    assert browser.run("document.querySelector('output').textContent") == "5 of 13 rows"


def check_colours(browser: Browser) -> None:
    """See the colours of a page that is opened on a dark screen, printed, and seen on a light one."""
    ink = "document.querySelector('.xtick text').style.fill"
    bars = "document.getElementById('figure-1').data.find((one) => one.type === 'bar').marker.color"
    assert browser.run(ink) == "rgb(232, 232, 232)"
    assert browser.run(bars) == pages.DARK[pages.BLUE]
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(ink) == "rgb(38, 38, 38)"
    assert browser.run("document.querySelector('details').open")
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(bars) == pages.DARK[pages.BLUE]
    browser.send("Emulation.setEmulatedMedia", features=[])
    written = base64.b64decode(browser.send("Page.printToPDF", printBackground=True)["data"])
    assert written.startswith(b"%PDF")
    assert browser.run(bars) == pages.BLUE
    browser.send("Emulation.setEmulatedMedia", media="print")
    hidden = "getComputedStyle(document.querySelector('{}')).display"
    assert browser.run(hidden.format(".modebar-container")) == "none"
    assert browser.run(hidden.format(".tools")) == "none"
