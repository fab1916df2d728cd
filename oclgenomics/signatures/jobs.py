"""The scan for signatures as a job, of which other processes do pieces: samples by the bytes of their files."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

from oclgenomics.app.jobs import Job, kept_open
from oclgenomics.app.pieces import PieceFile, Shard, check_same_input
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import InputError
from oclgenomics.io.closing import Closing
from oclgenomics.io.file_slice import stored_size
from oclgenomics.runtime import Engine
from oclgenomics.sequence.files import SequenceFiles, file_names, largest_block
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.pieces import LetterBlock
from oclgenomics.sequence.slices import cut_files
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import Encoder
from oclgenomics.signatures.device.scans import EditScan, MatchScan
from oclgenomics.signatures.formats.panel_file import read_panel
from oclgenomics.signatures.matches.joining import PartJoiner
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import Matches, Samples, ScanPart


@dataclass(frozen=True)
class ScanJob(Job[ScanPart]):
    """A scan of files; its pieces are cut at records of samples.

    Attributes
    ----------
    samples : tuple of str
        Files.
    panel : str
        The file of the signatures.
    options : ScanOptions
    """

    NAME = "signatures scan"
    KINDS = (ScanPart, Samples, Matches)

    samples: tuple[str, ...]
    panel: str
    options: ScanOptions

    @cached_property
    def signatures(self) -> Panel:
        """The signatures themselves."""
        return read_panel(self.panel)

    def open(self) -> None:
        """Read the signatures, so that what is wrong with them comes before a device is opened."""
        _ = self.signatures

    def of(self, samples: Sequence[str]) -> ScanJob:
        """Return the scan of other samples, which need not read the signatures again."""
        other = replace(self, samples=tuple(samples))
        vars(other)["signatures"] = self.signatures
        return other

    def inputs(self) -> tuple[str, ...]:
        return (*self.samples, self.panel)

    def parameters(self) -> Mapping[str, Any]:
        return asdict(self.options)

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[ScanPart, None, None]:
        if shard is None:
            return scan_parts(self.samples, self.signatures, self.options, engine, run)
        return self._piece(engine, run, cut_files(self.samples, shard.number, shard.of), shard.of)

    def _piece(self, engine: EngineLike, run: Run, names: SequenceFiles, of: int) -> Generator[ScanPart, None, None]:
        panel = self.signatures
        key = self.NAME, id(panel), self.options, of  # as long as it is open, nothing else has the panel's id
        with (
            lent_engine(engine) as lent,
            kept_open(lent, key, partial(_Finder, lent, panel, self.options, of)) as finder,
            closing(finder.parts(names, run)) as parts,
        ):
            for part in parts:
                yield part.of_its_own()

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[ScanPart]:
        before = 0  # samples, by which those of the next piece are numbered
        for piece in pieces:
            check_same_input(self.panel, piece, -1)
            numbered = before
            for part in self.read(piece):
                samples = replace(part.samples, number=part.samples.number + before)
                yield ScanPart(samples, replace(part.matches, sample=part.matches.sample + before))
                numbered = max(numbered, int(samples.number.max(initial=-1)) + 1)
            before = numbered


def scan_parts(
    samples: SequenceFiles, panel: Panel, options: ScanOptions, engine: EngineLike, run: Run
) -> Generator[ScanPart, None, None]:
    """Find signatures in samples, block by block; see `oclgenomics.signatures.iter_scan`."""
    names = file_names(samples)
    with (
        lent_engine(engine) as lent,
        kept_open(
            lent, (ScanJob.NAME, id(panel), options), partial(_Finder, lent, panel, options, _blocks_of(lent, names))
        ) as finder,
        closing(finder.parts(names, run)) as parts,
    ):
        yield from parts


def _blocks_of(engine: Engine, names: Sequence[str]) -> int:
    """How many full blocks files are read in, at least, as far as their sizes tell."""
    return max(1, sum(stored_size(name) or 0 for name in names) // largest_block(engine))


class _Finder(Closing):
    """Signatures on a device, which are found in any samples.

    Parameters
    ----------
    engine : Engine
    panel : Panel
    options : ScanOptions
    times : int
        Such samples come so often, as far as is known; see `oclgenomics.signatures.device.methods.Methods`.
    """

    def __init__(self, engine: Engine, panel: Panel, options: ScanOptions, times: int = 1) -> None:
        patterns = panel.patterns(options.strand)
        self._engine, self._panel, self._options = engine, panel, options
        self._overlap = int(patterns.lengths.max()) + options.max_edits - 1
        on_device = DevicePatterns.upload(engine, patterns, options)
        kind = EditScan if options.max_edits else MatchScan
        self._scan: EditScan | MatchScan = kind(engine, on_device, options, times)

    def close(self) -> None:
        """Let go of the device's memory."""
        vars(self).pop("_scan", None)

    def parts(self, samples: SequenceFiles, run: Run) -> Generator[ScanPart, None, None]:
        """Find them in samples, block by block."""
        encoder, joiner, given = Encoder(self._engine), PartJoiner(self._options.report), False
        blocks = letter_blocks(
            self._engine, file_names(samples), overlap=self._overlap, may_be_empty=True, threads=run.threads,
            progress=run.progress,
        )  # fmt: skip
        self._scan.begin()
        with closing(blocks):
            for block in blocks:
                _check_qualities(block, self._options)
                for rows, matches in self._scan.parts(encoder.encode(block)):
                    yield joiner.add(rows, matches)
                    given = True
        if not given:
            yield ScanPart(Samples.none(), Matches.none())


def _check_qualities(block: LetterBlock, options: ScanOptions) -> None:
    if options.min_score > 0 and block.pieces.qualities is None:
        raise InputError("is FASTA, which has no qualities that `min_score` could look at", source=block.source)
