"""From references to a database, on a device."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace

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
from oclgenomics.classify.device.indexer import Indexer
from oclgenomics.classify.device.sketches import Sketcher, cut_windows
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.classify.plan import plan_build
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.errors import InputError, UsageError
from oclgenomics.runtime import Engine
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
    known = open_taxonomy(taxa, before)  # so that what is wrong with it is reported before the work
    if options.remove_ambiguous not in (None, "sequence") and not len(known):
        raise UsageError("`remove_ambiguous` counts taxa, so it needs a `taxonomy`")
    new, features = _read(engine, files, options, run, before)
    if before is not None:
        refuse_known(before.targets, new)
    targets = join_targets(None if before is None else before.targets, new)
    taxonomy, taxon = rank_targets(new, before, known, taxa, options.sequence_id_format)
    targets = replace(targets, taxon=taxon)
    features = filtered(features, options, Lineages.of(taxonomy, targets))
    return Database(options, targets, taxonomy, features, make_provenance(asdict(options), device=engine.device))


def _read(
    engine: Engine, files: list[str], options: BuildOptions, run: Run, before: Database | None
) -> tuple[NewTargets, Features]:
    """Sketch all records."""
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
                raise InputError("is FASTQ, which reads are in; references are FASTA", source=block.source)
            table.add(block)
            cut = cut_windows(block.pieces, options.sketch)
            if indexer.windows + cut.size > MAX_WINDOWS:
                raise _too_many(block.source)
            indexer.add(sketcher.sketch(block.text, cut))
    found, new = indexer.windows - windows, table.named(options)
    assert found == int(new.windows.sum()), "each window is sketched once"
    features = indexer.finish()
    if not found or not len(features):
        raise _nothing(files, len(new.ids), options.sketch)
    return new, features


def _too_many(source: str) -> InputError:
    return InputError(
        f"with it there are more than {MAX_WINDOWS:,} windows; build several databases, or take a larger `winstride`",
        source=source,
    )


def _nothing(files: list[str], records: int, sketch: SketchOptions) -> InputError:
    source = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    masked = " that are not masked (`min_triplets`, `soft_masked`)" if sketch.masks else ""
    return InputError(
        f"none of {records:,} records has {sketch.kmerlen} bases A, C, G or T in a row{masked}", source=source
    )
