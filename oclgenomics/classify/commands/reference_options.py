"""What `build`, `add`, `run` and `merge` share: references, where taxa come from, and databases that are made."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import (
    add_device_options,
    add_message_options,
    provenance,
    say,
    started_progress,
)
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import reads_sequences
from oclgenomics.classify import database, taxonomy
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of

if TYPE_CHECKING:
    from oclgenomics.classify.database.database import Database
    from oclgenomics.classify.options import BuildOptions
    from oclgenomics.runtime import Engine


primitives = late("oclgenomics.primitives")

SHOWN_TARGETS = 5


def add_references(parser: argparse.ArgumentParser, *, option: bool = False) -> None:
    """Add the references; `option`: as --targets, in a command whose other files are reads."""
    more: dict[str, Any] = {"dest": "references", "required": True} if option else {}
    references = parser.add_argument(
        "--targets" if option else "references", nargs="+", metavar="REF", **more,
        help="references: FASTA files, uncompressed or compressed, or folders of such, or @LIST for those that a text "
        "file names; taken in the order of their names",
    )  # fmt: skip
    reads_sequences(references, _files_of_reference)


def add_building_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add references, where taxa come from, how and where they are read; return the group of outputs."""
    add_references(parser)
    add_taxon_options(parser)
    add_device_options(parser)
    group = parser.add_argument_group("output")
    add_manifest_option(group)
    add_message_options(group)
    return group


def add_manifest_option(group: argparse._ArgumentGroup) -> None:
    """Add whether a database gets a manifest."""
    group.add_argument(
        "--manifest", action="store_true",
        help="also write the SHA-256 of the database to DB.sha256, for sha256sum --check and `classify verify`",
    )  # fmt: skip


def add_taxon_options(parser: argparse.ArgumentParser) -> None:
    """Add where the taxa of targets come from."""
    group = parser.add_argument_group("taxa")
    folder = group.add_argument(
        "--taxonomy", metavar="DIR",
        help="folder with nodes.dmp and names.dmp, and maybe merged.dmp, assembly summaries and *.accession2taxid "
        "(default: none, so only sequences are known)",
    )  # fmt: skip
    reads_taxonomy(folder)
    maps = group.add_argument(
        "--taxpostmap", action="append", default=[], metavar="FILE",
        help="accession2taxid file, uncompressed or compressed (gzip, bzip2, xz, zstd), for targets that have no taxon "
        "yet; may be given more than once",
    )  # fmt: skip
    reads(maps)
    group.add_argument(
        "--reset-taxa", action="store_true", help="prefer accession2taxid files to headers and to assembly summaries"
    )


def reads_taxonomy(action: argparse.Action) -> argparse.Action:
    """Declare that an option names the folder of a taxonomy to read."""

    return reads(action, lambda _, folder: [str(file) for file in taxonomy.taxonomy_files(folder)])


def with_manifest(args: argparse.Namespace, path: str) -> Iterable[str]:
    """Return the files of a database that is written."""
    return [path, database.manifest_path(path)] if args.manifest else [path]


def built(
    args: argparse.Namespace,
    engine: Engine,
    label: str,
    options: BuildOptions | None = None,
    before: Database | None = None,
) -> Database:
    """Build a database of the references, or add them to one, under a line of progress."""
    progress = started_progress(args, label)
    how: dict[str, Any] = {
        "taxonomy": args.taxonomy, "taxpostmap": args.taxpostmap, "reset_taxa": args.reset_taxa, "engine": engine,
        "run": classify.Run(args.threads, progress.update),
    }  # fmt: skip
    if before is None:
        made, made_by = classify.build(args.references, options, **how), provenance(args, engine)
    else:
        made = classify.add(before, args.references, **how)
        made_by = provenance(args, engine) | {"before": before.provenance}
    progress.clear()
    return replace(made, provenance=made_by)


def write_built(
    args: argparse.Namespace, made: Database, output: str, start: float, engine: Engine | None = None, before: int = 0
) -> None:
    """Write a database, and say what it holds, how fast it was made, what was removed, and what has no taxon.

    Parameters
    ----------
    args : Namespace
    made : Database
    output : str
        Its file.
    start : float
        When the work began, by `time.perf_counter`.
    engine : Engine, optional
        Packs and counts features and makes checksums.
    before : int
        Targets that were there before.
    """
    how: dict[str, Any] = {}
    if engine is not None:
        how = {"summer": primitives.block_summer(engine), "packer": classify.FeaturePacker(engine)}
    classify.write_database(output, made, manifest=getattr(args, "manifest", False), **how)
    seconds = time.perf_counter() - start
    bases = int(made.targets.letters[before:].sum())
    targets, features = made.targets, made.features
    say(
        args,
        f"{number_of(len(targets), 'target')}, {number_of(int(targets.windows.sum()), 'window')}, "
        f"{number_of(len(features), 'feature')}, {number_of(len(features.locations), 'location')} in {seconds:.2f} s "
        f"({bases / max(seconds, 1e-9) / 1e6:.1f} Mbp/s); wrote {output}",
    )
    removed = features.dead
    if removed:
        say(args, f"left out: {number_of(removed, 'feature')} in too many places")
    if len(features) and removed == len(features):
        say(args, "warning: all features were removed, so no read will be classified")
    if len(made.taxonomy):
        unranked = (targets.taxon == taxonomy.NO_TAXON).nonzero()[0].tolist()
        if unranked:
            first = ", ".join(targets.names[target] for target in unranked[:SHOWN_TARGETS])
            more = ", ..." if len(unranked) > SHOWN_TARGETS else ""
            say(args, f"warning: {len(unranked):,} of {len(targets):,} targets have no taxon: {first}{more}")


def _files_of_reference(args: argparse.Namespace, given: str) -> Iterable[str]:
    """The files that a reference names, and the assembly summaries next to them."""
    files = database.files_of(given)
    return [*files, *map(str, taxonomy.summaries_beside(files))]
