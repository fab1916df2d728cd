"""Pages for browsers: figures that show values under the pointer, tables that are sorted by a click, and provenance.

A page is one file that needs nothing else: it holds Plotly's script, and its content policy forbids requests. A figure
is traces and a layout as Plotly takes them, in the colours of `oclgenomics.app.figures`; on a dark screen the page
replaces those. Texts from the data go through `label` before Plotly gets them, which would take them for HTML, and
never into its templates; the page escapes all else.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, EN_DASH, GREEN, GREY, INK, LINE, ORANGE, SKY, TONES, WHITE, short_text
from oclgenomics.app.html_output import NEED
from oclgenomics.app.provenance import flat_text
from oclgenomics.app.reports import MISSING
from oclgenomics.app.streams import drawable, printable
from oclgenomics.io.json_text import json_text
from oclgenomics.lazy_names import optional

SHOWN_ROWS = 500  # of a table
FILTERED_ROWS = 12  # from which a table has a box for words to look for
ROOM = 0.2  # above the data, for buttons
SHOWN_APART = ("program", "version", "parameters")  # of what made a result
NAMED_CHROMOSOMES, FEW_CHROMOSOMES, LONGEST_NAME = 40, 5, 18  # on an axis; characters
DASHES = ("dash", "dot", "dashdot", "longdash")
MAX_PLACES, MAX_DIGITS = 4, 12  # of numbers in tables
LISTED = 50  # numbers; longer arrays are packed
PALE = "#F5F7F9"
DARK = {  # what a dark screen has for the colours of paper
    INK: "#E8E8E8", GREY: "#A6ACB3", LINE: "#363B42", PALE: "#1D2126", WHITE: "#15181C", BLUE: "#4DA6DE",
    SKY: "#8CCBF0", ORANGE: "#F0803C", GREEN: "#2CC295",
}  # fmt: skip
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
_AXIS = {
    "gridcolor": LINE, "linecolor": GREY, "tickcolor": GREY, "zeroline": False, "automargin": True, "ticks": "outside",
    "ticklen": 4, "title": {"standoff": 10}, "separatethousands": True, "exponentformat": "none",
}  # fmt: skip
TEMPLATE: dict[str, Any] = {
    "font": {"family": FONT, "size": 13, "color": INK},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 60, "r": 44, "t": 36, "b": 48},
    "xaxis": {**_AXIS, "showgrid": False},
    "yaxis": _AXIS,
    "hoverlabel": {"bgcolor": WHITE, "bordercolor": GREY, "font": {"color": INK, "size": 13}, "align": "left"},
    "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
    "hovermode": "closest",
    "separators": ".,",
    "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": INK},
}
CONFIG = {
    "displaylogo": False,
    "showSendToCloud": False,  # which sends the data of a figure to Plotly's server
    "showLink": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d"],
    "toImageButtonOptions": {"format": "svg"},
}


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure of a page.

    Attributes
    ----------
    title, description : str
        Above the figure; screen readers get both.
    traces : sequence of mapping
        As Plotly takes them; arrays may be NumPy's.
    layout : mapping
        As Plotly takes it, and `narrow`: what narrow screens have instead, `traces` of it in each trace; `widest`: its
        width in pixels at most.
    height : int
        In pixels.
    """

    title: str
    description: str
    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)
    height: int = 420


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a page.

    Attributes
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences
        Texts or numbers; None and NaN are missing. The first `SHOWN_ROWS` are shown.
    note : str
        What the rows are.
    more : str
        Where all rows are: "in FILE".
    total : int, optional
        All rows, if others than these were left out before.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    more: str = ""
    total: int | None = None


@dataclass(frozen=True, eq=False)
class Page:
    """What a page shows.

    Attributes
    ----------
    title : str
        What was found, in a few words.
    below : str
        Of what input.
    parts : sequence of Chart and Table
    facts : mapping of str to str
        Numbers that are read first. What follows a newline is small.
    notes : sequence of str
        What limits the result.
    """

    title: str
    below: str
    parts: Sequence[Chart | Table]
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def text(self, made: Mapping[str, Any]) -> str:
        """Return the page as HTML.

        Parameters
        ----------
        made : mapping
            Its provenance.

        Raises
        ------
        MissingDependencyError
            Plotly is not there.
        """
        charts = [part for part in self.parts if isinstance(part, Chart)]
        figures = [
            {"traces": chart.traces, "layout": {"showlegend": False, **chart.layout}, "height": chart.height}
            for chart in charts
        ]
        given = {"figures": figures, "template": TEMPLATE, "config": CONFIG, "dark": DARK}
        script, plotly = _own("page.js"), _plotly()
        facts = "".join([_fact(name, value) for name, value in self.facts.items()])
        notes = "".join([f"<li>{_shown(note)}</li>" for note in self.notes])
        body = [_figure(part, 1 + charts.index(part)) if isinstance(part, Chart) else _table(part)
                for part in self.parts]  # fmt: skip
        return "".join([
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, plotly)}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{_shown(self.title)} - {_shown(self.below)}</title>\n",
            f"<style>\n{_own('page.css')}</style>\n</head>\n",
            f'<body>\n<main>\n<h1>{_shown(self.title)}</h1>\n<p class="below">{_shown(self.below)}</p>\n',
            f'<dl class="facts">{facts}</dl>\n' if facts else "",
            f'<ul class="notes">{notes}</ul>\n' if notes else "",
            "<noscript><p>The figures need JavaScript; the tables do not.</p></noscript>\n",
            *body,
            f"</main>\n{_foot(made)}",
            f'<script type="application/json" id="figures">{_safe_json(given)}</script>\n',
            f"<script>{plotly}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        ])  # fmt: skip


def label(text: str) -> str:
    """Return a text from the data as Plotly shows it unchanged."""
    return html.escape(printable(text), quote=False)


def shading(power: float = 1) -> list[list[Any]]:
    """Return the tones of `figures` as a colour scale of Plotly's; a power of 2 tells small values apart."""
    return [[(place / (len(TONES) - 1)) ** power, tone] for place, tone in enumerate(TONES)]


def colour_bar(title: str) -> dict[str, Any]:
    """Return what a colour scale is of, above a figure."""
    return {
        "title": {"text": title, "side": "top"}, "orientation": "h", "nticks": 4, "thickness": 10, "outlinewidth": 0,
        "len": 0.4, "x": 0, "xanchor": "left", "y": 1.01, "yanchor": "bottom", "xpad": 0,
    }  # fmt: skip


def vertical(x: float, colour: str, dash: str = "solid", width: float = 2, top: float = 1) -> dict[str, Any]:
    """Return a line from the lower end of a figure upward, as a shape of Plotly's."""
    return {
        "type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": top,
        "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def across(y: float, number: int, axis: str = "y") -> dict[str, Any]:
    """Return a line across a figure, such as a threshold, as a shape of Plotly's; its number chooses the dashes."""
    line = {"color": INK, "width": 1.3, "dash": DASHES[number % len(DASHES)]}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": axis, "y0": y, "y1": y, "line": line}


def window_band(x0: float, x1: float, colour: str, opacity: float, height: str = "paper") -> dict[str, Any]:
    """Return a shaded window as a shape of Plotly's, as high as the figure, or as the axis of a "y2 domain"."""
    return {
        "type": "rect", "x0": x0, "x1": x1, "yref": height, "y0": 0, "y1": 1, "fillcolor": colour, "opacity": opacity,
        "line": {"width": 1, "color": colour}, "layer": "below",
    }  # fmt: skip


def chromosome_axis(tracks: Sequence[tuple[str, NDArray[np.float64]]], scale: float) -> dict[str, Any]:
    """Return the axis of chromosomes that lie end to end: names below their middles, of some if there are many.

    More than a few names are without a "chr" that all of them have.

    Parameters
    ----------
    tracks : sequence of (str, ndarray of float64)
        Names and positions, where they are drawn.
    scale : float
        Bp of a unit of the axis.
    """
    some = tracks[:: -(-len(tracks) // NAMED_CHROMOSOMES)]
    middles = [(float(positions[0]) + float(positions[-1])) / 2 / scale for _, positions in some]
    prefixed = len(some) > FEW_CHROMOSOMES and all(name.startswith("chr") and len(name) > 3 for name, _ in tracks)
    named = [label(short_text(name[3 * prefixed :], LONGEST_NAME)) for name, _ in some]
    ticks = {"tickmode": "array", "tickvals": middles, "ticktext": named, "ticks": ""}
    return {"title": {"text": "Chromosome"}, **ticks}


def count_range(numbers: Sequence[int]) -> str:
    """Return the smallest and the largest of numbers, or the one that all are."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}{EN_DASH}{high:,}"


def note_at(x: float, y: float, text: str, colour: str = INK, **other: Any) -> dict[str, Any]:
    """Return words without an arrow, as an annotation of Plotly's; `y` is a share of the height by default."""
    base = {"x": x, "y": y, "yref": "paper", "text": text, "showarrow": False, "font": {"color": colour, "size": 12}}
    return {**base, "align": "left", **other}


def buttons(views: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return buttons that change the layout of a figure: the names of views and what each sets."""
    made = [{"label": name, "method": "relayout", "args": [dict(values)]} for name, values in views.items()]
    return {
        "type": "buttons", "direction": "right", "buttons": made, "x": 1, "y": 1, "xanchor": "right",
        "yanchor": "top", "font": {"size": 12, "color": INK}, "bgcolor": PALE, "bordercolor": LINE,
    }  # fmt: skip


def views_of_traces(groups: Mapping[str, list[dict[str, Any]]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return all traces of groups, of which one is shown at a time, and the buttons that choose it."""
    traces = [{**trace, "visible": number == 0} for number, group in enumerate(groups.values()) for trace in group]
    owners = [name for name, group in groups.items() for _ in group]
    made = [
        {"label": name, "method": "restyle", "args": [{"visible": [owner == name for owner in owners]}]}
        for name in groups
    ]
    return traces, {**buttons({}), "buttons": made}


def pale(colour: str, share: float) -> str:
    """Return a colour that lets others through."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def height_views(low: float, high: float) -> dict[str, dict[str, Any]]:
    """Return both kinds of the axis of heights, for `buttons`, which have room above the data.

    Parameters
    ----------
    low, high : float
        What is drawn; positive.
    """
    bottom, top = math.log10(low / 1.3), math.log10(high)
    ends = [bottom, top + ROOM * max(top - bottom, 0.3)]
    return {
        "linear": {"yaxis.type": "linear", "yaxis.range": [0, (1 + ROOM) * high], "yaxis.dtick": None},
        "logarithmic": {"yaxis.type": "log", "yaxis.range": ends, "yaxis.dtick": 1 if top - bottom > 2 else None},
    }


def height_axis(views: Mapping[str, Mapping[str, Any]], first: str, title: str) -> dict[str, Any]:
    """Return the axis of heights and the buttons of its kinds, as part of a layout; `first` is shown first."""
    axis = {name.removeprefix("yaxis."): value for name, value in views[first].items()}
    menu = {**buttons(views), "active": list(views).index(first)}
    return {"yaxis": {"title": {"text": title}, **axis}, "updatemenus": [menu]}


# The parts of a page


def _shown(text: object) -> str:
    return html.escape(drawable(str(text)))


def _fact(name: str, value: str) -> str:
    first, _, small = value.partition("\n")
    more = f"<small>{_shown(small)}</small>" if small else ""
    return f"<div><dt>{_shown(name)}</dt><dd>{_shown(first)}{more}</dd></div>"


def _figure(chart: Chart, number: int) -> str:
    place = f"figure-{number}"
    return (
        f'<figure aria-labelledby="{place}-title"><figcaption><h2 id="{place}-title">{_shown(chart.title)}</h2>'
        f'<p id="{place}-text">{_shown(chart.description)}</p></figcaption><div class="plot" id="{place}" role="img" '
        f'aria-labelledby="{place}-title" aria-describedby="{place}-text" style="min-height:{chart.height}px"></div>'
        "</figure>\n"
    )


def _table(table: Table) -> str:
    rows = table.rows[:SHOWN_ROWS]
    total = len(table.rows) if table.total is None else table.total
    notes = [table.note] if table.note else []
    if len(rows) < total:
        notes.append(f"Here are {len(rows):,} of {total:,} rows{f'; all are {table.more}' if table.more else ''}.")
    numeric = [all(_is_number(row[place]) for row in rows) for place in range(len(table.columns))]
    heads = "".join([
        f'<th scope="col"{_of_number(number)}><button type="button">{_shown(name)}</button></th>'
        for name, number in zip(table.columns, numeric, strict=True)
    ])  # fmt: skip
    columns = [_texts([row[place] for row in rows], number) for place, number in enumerate(numeric)]
    body = "\n".join([f"<tr>{''.join(cells)}</tr>" for cells in zip(*columns, strict=True)])
    name = _shown(table.title)
    box = f'<input type="search" aria-label="Rows of {name} with">'
    tools = f'<div class="tools"><label>Find {box}</label><output></output></div>'
    return (
        f'<section class="table"><h2>{name}</h2>'
        + (f'<p class="note">{_shown(" ".join(notes))}</p>' if notes else "")
        + (tools if len(rows) >= FILTERED_ROWS else "")
        + f'<div class="scroll" role="region" aria-label="{name}" tabindex="0"><table><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div></section>\n"
    )


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, np.number))


def _of_number(number: bool) -> str:
    return ' class="number"' if number else ""


def _texts(values: Sequence[Any], number: bool) -> list[str]:
    """The cells of a column."""
    if not number:
        return [f"<td>{MISSING if value is None else _shown(value)}</td>" for value in values]
    places = _places([float(value) for value in values if isinstance(value, (float, np.floating))])
    return [f'<td class="number"{_number(value, places)}</td>' for value in values]


def _places(values: Sequence[float]) -> int | None:
    """Decimals that suit a column: three digits of the smallest number, or one, where others are large.

    None where that takes too many.
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return 0
    first, largest = -math.floor(math.log10(min(sizes))), max(sizes)
    places = max(0, first + 2)
    if largest >= 10:
        places = min(places, max(2 if largest < 1000 else 1, first))
    return places if places <= MAX_PLACES and largest < 10 ** (MAX_DIGITS - places) else None


def _number(value: Any, places: int | None) -> str:
    """What follows the name of a cell's element: its number for sorting, and as it is shown."""
    if value is None or value != value:
        return f">{MISSING}"
    if isinstance(value, (int, np.integer)):
        return f' data-v="{int(value)}">{int(value):,}'
    return f' data-v="{float(value):.9g}">{float(value):{",.4g" if places is None else f",.{places}f"}}'


def _foot(made: Mapping[str, Any]) -> str:
    rows = {"program": f"{made.get('program', '')} {made.get('version', '')}"}
    rows |= {name: flat_text(value) for name, value in made.items() if name not in SHOWN_APART}
    given = made.get("parameters", {}).items()
    parameters = "".join([f"<dt>{_shown(name)}</dt><dd>{_shown(flat_text(value))}</dd>" for name, value in given])
    listed = "".join(
        [f"<dt>{_shown(name)}</dt><dd><code>{_shown(value)}</code></dd>" for name, value in rows.items() if value]
    )
    return (
        f"<footer><h2>Provenance</h2><dl>{listed}</dl><details><summary>All parameters</summary><dl>{parameters}</dl>"
        "</details></footer>\n"
    )


# What makes it work


@functools.cache
def _plotly() -> str:
    """Plotly's script, which ends no element of HTML."""
    text: str = optional("plotly.offline", NEED).get_plotlyjs()
    return text.replace("</script", r"<\/script")


@functools.cache
def _own(name: str) -> str:
    return (resources.files("oclgenomics.app") / name).read_text("utf-8")


def _policy(*scripts: str) -> str:
    """What the page may do: run these scripts, and ask for nothing."""
    sums = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    listed = " ".join([f"'sha256-{one}'" for one in sums])
    return f"default-src 'none'; script-src {listed}; style-src 'unsafe-inline'; img-src data: blob:"


def _safe_json(value: Any) -> str:
    """JSON that ends no element of HTML."""
    text = json_text(_plain(value))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _plain(value: Any) -> Any:
    """A value without arrays of NumPy: short ones as lists, long ones as Plotly takes bytes."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        if value.size <= LISTED or value.dtype.kind not in "iuf":
            return value.tolist()
        wide = value.dtype.kind in "iu" and value.dtype.itemsize == 8  # which JavaScript lacks
        array = value.astype("<f8" if wide else value.dtype.newbyteorder("<"))
        packed = {"dtype": array.dtype.str[1:], "bdata": base64.b64encode(array.tobytes()).decode()}
        return packed if array.ndim == 1 else {**packed, "shape": ", ".join(map(str, array.shape))}
    return value.item() if isinstance(value, np.generic) else value
