"""References to a database, and more references into one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace

from oclgenomics.classify.building.feature_filters import filtered
from oclgenomics.classify.building.plan import BuildLimits, plan_build
from oclgenomics.classify.building.reference_files import reference_files, stored_letters
from oclgenomics.classify.building.target_naming import NewTargets, join_targets, refuse_known
from oclgenomics.classify.building.target_table import TargetTable
from oclgenomics.classify.building.target_taxa import TaxonSources, open_taxonomy, rank_targets
from oclgenomics.classify.database.checks import MAX_WINDOWS
from oclgenomics.classify.database.database import Database, Features
from oclgenomics.classify.device.indexer import Indexer
from oclgenomics.classify.device.sketcher import Sketcher
from oclgenomics.classify.device.window_cut import cut_windows
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.source import Progress
from oclgenomics.provenance import make_provenance
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.input_progress import InputProgress
from oclgenomics.sequence.letters import letter_blocks

__all__ = ["add", "build"]

DEFAULTS = BuildOptions()


def build(
    references: SequenceFiles,
    options: BuildOptions = DEFAULTS,
    *,
    taxonomy: str | os.PathLike[str] | None = None,
    taxpostmap: Sequence[str | os.PathLike[str]] = (),
    reset_taxa: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Database:
    """Build a database of reference sequences.

    Each record of the references is a target. The database is the same on every device, for every limit of memory,
    and in whatever order the references are given: files are read in the order of their names.

    Parameters
    ----------
    references : path or iterable of path
        FASTA files, plain or packed, or folders, of which all files are taken whose names end as those of FASTA do.
    options : BuildOptions
        What is kept of the references.
    taxonomy : path, optional
        Folder of a taxonomy; see `taxonomy.ncbi.read_taxonomy`. Without one, only sequences are known.
    taxpostmap : sequence of path
        Files that map accessions to taxa, for targets that have none yet.
    reset_taxa : bool
        Prefer these to what headers say.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack the input; at most 4 if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files as they are stored.

    Raises
    ------
    UsageError
        An option is out of range.
    InputError
        A reference is missing, damaged, empty or given twice; or none has a k-mer; or there are too many windows.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.classify.build import build
    >>> database = build("genomes", taxonomy="taxdump")  # doctest: +SKIP
    """
    taxa = TaxonSources(taxonomy, taxpostmap, reset_taxa)
    with lent_engine(engine, device, max_memory) as engine:
        return _Building(engine, options, taxa, threads, progress).run(references, None)


def add(
    database: Database,
    references: SequenceFiles,
    *,
    taxonomy: str | os.PathLike[str] | None = None,
    taxpostmap: Sequence[str | os.PathLike[str]] = (),
    reset_taxa: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Database:
    """Add references behind the targets of a database.

    The result is what building it gives with these references behind those that it has. Parameters and errors are
    those of `build`.

    Parameters
    ----------
    database : Database
    references : path or iterable of path
    taxonomy : path, optional
        That of the database, or a newer one. If not given, taxa are those that the database knows.

    Raises
    ------
    InputError
        Also if a reference is in the database already, or the taxonomy lacks a taxon of it.
    """
    taxa = TaxonSources(taxonomy, taxpostmap, reset_taxa)
    with lent_engine(engine, device, max_memory) as engine:
        return _Building(engine, database.options, taxa, threads, progress).run(references, database)


@dataclass(frozen=True)
class _Building:
    """References on their way to a database."""

    engine: Engine
    options: BuildOptions
    taxa: TaxonSources
    threads: int | None
    progress: Progress | None

    def run(self, references: SequenceFiles, before: Database | None) -> Database:
        """Build a database, or add to one."""
        files = reference_files(file_names(references))
        known = open_taxonomy(self.taxa, before)  # what is wrong with it is told before the work
        if self.options.remove_ambiguous not in (None, "sequence") and not len(known):
            raise UsageError("`remove_ambiguous` counts taxa, so it needs a `taxonomy`")
        table, features = self._read(files, before)
        new = NewTargets.of(table, self.options)
        if before is not None:
            refuse_known(before.targets, new)
        targets = join_targets(None if before is None else before.targets, new, self.options)
        taxonomy, taxon = rank_targets(new, before, known, self.taxa, self.options.sequence_id_format)
        targets = replace(targets, taxon=taxon)
        features = filtered(features, self.options, Lineages.of(taxonomy, targets))
        provenance = make_provenance(asdict(self.options), device=self.engine.device)
        return Database(self.options, targets, taxonomy, features, provenance)

    def _read(self, files: list[str], before: Database | None) -> tuple[TargetTable, Features]:
        """Sketch all records."""
        engine, options = self.engine, self.options
        plan = plan_build(BuildLimits.of(engine), options.sketch, stored_letters(files), options.max_locations)
        windows = 0 if before is None else int(before.targets.windows.sum())
        indexer = Indexer(engine, options, plan.pairs, None if before is None else before.features, windows)
        sketcher, table = Sketcher(engine, options.sketch), TargetTable()
        progress = None if self.progress is None else InputProgress(files, self.progress)
        reading = letter_blocks(
            engine, files, overlap=options.sketch.winlen - 1, join=True, block_bytes=plan.block_bytes,
            threads=self.threads, progress=progress,
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
        found = indexer.windows - windows
        assert found == int(table.windows(options.sketch).sum()), "each window is sketched once"
        features = indexer.finish()
        if not found or not len(features):
            raise _nothing(files, len(table), options.sketch)
        return table, features


def _too_many(source: str) -> InputError:
    return InputError(
        f"with it there are more than {MAX_WINDOWS:,} windows; build several databases, or take a larger `winstride`",
        source=source,
    )


def _nothing(files: list[str], records: int, sketch: SketchOptions) -> InputError:
    source = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    masked = " that are not masked (`min_triplets`, `soft_masked`)" if sketch.masks else ""
    return InputError(
        f"none of {records:,} records has {sketch.kmerlen} letters A, C, G or T in a row{masked}", source=source
    )
