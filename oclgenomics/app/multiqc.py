"""Custom content for MultiQC: a plot or a table of one sample, which its report shows with those of other samples.

MultiQC takes files whose names end in _mqc.json. Those with the same id, of one sample each, become one plot. Source:
MultiQC's documentation, "Custom content".
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from oclgenomics.app.commands import text_output
from oclgenomics.app.files import writes
from oclgenomics.io.json_text import json_text
from oclgenomics.io.packed_file import name_unpacked

SUFFIX = "_mqc.json"
PARENT = {  # the part of the report that has all content as its sections
    "parent_id": "oclgenomics", "parent_name": "oclgenomics", "parent_description": "Genomics on any OpenCL device.",
}  # fmt: skip


@dataclass(frozen=True)
class Content:
    """What MultiQC shows of a sample.

    Attributes
    ----------
    name : str
        Tells it from all other content, in lower case: "kmers_spectrum".
    title, description : str
        Shown above it.
    kind : {'bargraph', 'linegraph', 'table'}
        Of plot.
    data : mapping
        As that kind of plot takes it: by sample or line, as a rule.
    settings : mapping
        Of the plot: MultiQC's `pconfig`.
    columns : mapping
        Of a table: the title, description and format of each.
    """

    name: str
    title: str
    description: str
    kind: Literal["bargraph", "linegraph", "table"]
    data: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file's JSON."""
        own = f"oclgenomics_{self.name}"
        settings = {"id": f"{own}_plot", "title": f"oclgenomics: {self.title}", **self.settings}
        whole = {
            **PARENT, "id": own, "section_name": self.title, "description": self.description, "plot_type": self.kind,
            "pconfig": settings, **({"headers": self.columns} if self.columns else {}), "data": self.data,
        }  # fmt: skip
        return json_text(whole, indent=1) + "\n"


def add_multiqc_options(group: argparse._ArgumentGroup, what: str) -> None:
    """Add --multiqc and --sample-name; `what` is shown, for the help."""
    written = group.add_argument(
        "--multiqc", type=_multiqc_name, metavar=f"FILE{SUFFIX}", help=f"write {what} for a report of MultiQC"
    )
    writes(written)
    group.add_argument(
        "--sample-name", metavar="NAME", help="what --multiqc calls the sample (default: from the name of the input)"
    )


def _multiqc_name(text: str) -> str:
    if not text.endswith(SUFFIX):
        raise argparse.ArgumentTypeError(f"{text} has to end in {SUFFIX}, by which MultiQC finds it")
    return text


def sample_name(args: argparse.Namespace, inputs: Sequence[str]) -> str:
    """Return what a sample is called: as the user says, or as its first input without suffixes."""
    if args.sample_name:
        return str(args.sample_name)
    first = inputs[0].removeprefix("@")
    return "standard input" if first == "-" else Path(name_unpacked(Path(first).name)).stem


def write_content(args: argparse.Namespace, content: Content) -> None:
    """Write what --multiqc names.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    with text_output(args.multiqc) as stream:
        stream.write(content.text())
