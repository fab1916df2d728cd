"""From references to a database, on a device."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace

import numpy as np

from oclgenomics.app.provenance import make_provenance
from oclgenomics.app.run import Run
from oclgenomics.classify.database.database import MAX_WINDOWS, Database
from oclgenomics.classify.database.features import Features, filtered
from oclgenomics.classify.database.references import (
    NewTargets,
    TargetTable,
    TaxonSources,
    join_targets,
    open_taxonomy,
    rank_targets,
    reference_files,
    refuse_known,
    stored_letters,
)
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.device.indexer import Indexer
from oclgenomics.classify.device.sketches import Sketcher, cut_windows
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.classify.plan import plan_build
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.errors import InputError, UsageError
from oclgenomics.notices import number_of
from oclgenomics.runtime import Engine
from oclgenomics.sequence.aligned_reads import aligned_format
from oclgenomics.sequence.files import InputProgress, SequenceFiles, file_names
from oclgenomics.sequence.letters import letter_blocks


def build_database(
    engine: Engine,
    references: SequenceFiles,
    options: BuildOptions,
    taxa: TaxonSources,
    run: Run,
    *,
    before: Database | None = None,
) -> Database:
    """Build a database of references, or add them to one; errors are those of `api.build` and `api.add`.

    Parameters
    ----------
    engine : Engine
    references : path or iterable of path
    options : BuildOptions
        Those of the database before, if there is one.
    taxa : TaxonSources
    run : Run
    before : Database, optional
        The one whose targets come first.
    """
    files = reference_files(file_names(references))
    known = known_taxa(options, taxa, before)
    new, features = read_references(engine, files, options, run, before)
    made = database_of(new, features, options, taxa, known, before)
    counted = count_clades(engine, made.features, Lineages.of(made.taxonomy, made.targets))
    return replace(made, provenance=make_provenance(asdict(options), device=engine.device), known=counted)


def known_taxa(options: BuildOptions, taxa: TaxonSources, before: Database | None = None) -> Taxonomy:
    """Return the taxonomy of a build, read so that what is wrong with it is reported before the work."""
    known = open_taxonomy(taxa, before)
    if options.remove_ambiguous not in (None, "sequence") and not len(known):
        raise UsageError("`remove_ambiguous` counts taxa, so it needs a `taxonomy`")
    return known


def database_of(
    new: NewTargets,
    features: Features,
    options: BuildOptions,
    taxa: TaxonSources,
    known: Taxonomy,
    before: Database | None = None,
) -> Database:
    """Make a database of references that were read.

    Parameters
    ----------
    new : NewTargets
        They come behind the targets of the database before.
    features : Features
        Those of all targets, before any are removed.
    options, taxa, before
        See `build_database`.
    known : Taxonomy
        See `known_taxa`.

    Returns
    -------
    Database
        Its provenance names no device.
    """
    if not new.windows.any() or not len(features):
        raise _nothing(new, options.sketch)
    if before is not None:
        refuse_known(before.targets, new)
    targets = join_targets(None if before is None else before.targets, new)
    taxonomy, taxon = rank_targets(new, before, known, taxa, options.sequence_id_format)
    targets = replace(targets, taxon=taxon)
    features = filtered(features, options, Lineages.of(taxonomy, targets))
    return Database(options, targets, taxonomy, features, make_provenance(asdict(options)))


def read_references(
    engine: Engine, files: Sequence[str], options: BuildOptions, run: Run, before: Database | None = None
) -> tuple[NewTargets, Features]:
    """Sketch all records of files; parameters are those of `build_database`.

    Returns
    -------
    targets : NewTargets
    features : Features
        Those of the database before among them, and none removed.
    """
    limits = engine.limits(engine.memory.used)
    plan = plan_build(limits, options.sketch, stored_letters(files), options.max_locations)
    windows = 0 if before is None else int(before.targets.windows.sum())
    indexer = Indexer(engine, options, plan.pairs, None if before is None else before.features, windows)
    sketcher, table = Sketcher(engine, options.sketch), TargetTable()
    progress = None if run.progress is None else InputProgress(files, run.progress)
    reading = letter_blocks(
        engine, files, overlap=options.sketch.winlen - 1, join=True, block_bytes=plan.block_bytes,
        threads=run.threads, progress=progress,
    )  # fmt: skip
    with closing(reading) as blocks:
        for block in blocks:
            if block.pieces.qualities is not None:
                raise _no_references(block.source)
            table.add(block)
            cut = cut_windows(block.pieces, options.sketch)
            if indexer.windows + cut.size > MAX_WINDOWS:
                raise _too_many(block.source)
            indexer.add(sketcher.sketch(block.text, cut))
    found, new = indexer.windows - windows, table.named(options)
    assert found == int(new.windows.sum()), "each window is sketched once"
    return new, indexer.finish()


def check_windows(new: NewTargets) -> None:
    """Refuse references that have too many windows.

    Raises
    ------
    InputError
        With the file that is one too many.
    """
    beyond = np.flatnonzero(np.cumsum(new.windows) > MAX_WINDOWS)
    if len(beyond):
        raise _too_many(new.sources[new.source[beyond[0]]])


def _no_references(source: str) -> InputError:
    """The error for a file of reads."""
    aligned = aligned_format(source)
    remedy = "" if aligned is None else " (samtools fasta makes it of contigs that are kept so)"
    told = f"is {aligned or 'FASTQ'}, which reads are in; references are FASTA{remedy}"
    return InputError(told, source=source)


def _too_many(source: str) -> InputError:
    return InputError(
        f"with it there are more than {MAX_WINDOWS:,} windows; build several databases, or take a larger `winstride`",
        source=source,
    )


def _nothing(new: NewTargets, sketch: SketchOptions) -> InputError:
    files, records = new.sources, len(new.ids)
    source = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    masked = " that are not masked (`min_triplets`, `soft_masked`)" if sketch.masks else ""
    return InputError(
        f"none of {number_of(records, 'record')} has {sketch.kmerlen} bases A, C, G or T in a row{masked}",
        source=source,
    )
