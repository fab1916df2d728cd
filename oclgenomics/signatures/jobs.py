"""The scan for signatures as a job, of which other processes do pieces: samples by the bytes of their files."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from oclgenomics.app.jobs import Job, kept_open
from oclgenomics.app.pieces import PieceFile, Shard, check_same_input
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import InputError
from oclgenomics.io.closing import Closing
from oclgenomics.io.file_slice import stored_size
from oclgenomics.lazy_names import late
from oclgenomics.runtime import Engine
from oclgenomics.sequence.files import SequenceFiles, file_names, largest_block
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import Encoder
from oclgenomics.signatures.device.scans import EditScan, MatchScan
from oclgenomics.signatures.formats.panel_file import read_panel
from oclgenomics.signatures.matches.joining import PartJoiner, best_of_samples
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import Alignments, Matches, Rivals, Samples, ScanPart

if TYPE_CHECKING:
    from oclgenomics.signatures.matches.letters import MatchLetters

match_letters = late("oclgenomics.signatures.matches.letters")
slices = late("oclgenomics.sequence.slices")


@dataclass(frozen=True)
class ScanJob(Job[ScanPart]):
    """A scan of files; its pieces are cut at records of samples.

    Attributes
    ----------
    samples : tuple of str
        Files.
    panel : str or None
        The file of the signatures.
    options : ScanOptions
    patterns : tuple of (str, str)
        Names and bases of signatures, where there is no file of them.
    """

    NAME = "signatures scan"
    KINDS = (ScanPart, Samples, Matches, Alignments, Rivals, NameList)

    samples: tuple[str, ...]
    panel: str | None
    options: ScanOptions
    patterns: tuple[tuple[str, str], ...] = ()

    @cached_property
    def signatures(self) -> Panel:
        """The signatures themselves."""
        return Panel.from_signatures(self.patterns) if self.panel is None else read_panel(self.panel)

    def open(self) -> None:
        """Read the signatures, so that what is wrong with them comes before a device is opened."""
        _ = self.signatures

    def of(self, samples: Sequence[str]) -> ScanJob:
        """Return the scan of other samples, which need not read the signatures again."""
        other = replace(self, samples=tuple(samples))
        vars(other)["signatures"] = self.signatures
        return other

    def inputs(self) -> tuple[str, ...]:
        return self.samples if self.panel is None else (*self.samples, self.panel)

    def parameters(self) -> Mapping[str, Any]:
        return asdict(self.options) | ({"patterns": list(map(list, self.patterns))} if self.panel is None else {})

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[ScanPart, None, None]:
        if shard is None:
            return scan_parts(self.samples, self.signatures, self.options, engine, run)
        return self._piece(engine, run, slices.cut_files(self.samples, shard.number, shard.of), shard.of)

    def _piece(self, engine: EngineLike, run: Run, names: SequenceFiles, of: int) -> Generator[ScanPart, None, None]:
        panel = self.signatures
        key = self.NAME, id(panel), self.options, of  # as long as it is open, nothing else has the panel's id
        with (
            lent_engine(engine) as lent,
            kept_open(lent, key, partial(Finder, lent, panel, self.options, of)) as finder,
            closing(finder.parts(names, run)) as parts,
        ):
            for part in parts:
                yield part.of_its_own()

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[ScanPart]:
        before = 0  # samples, by which those of the next piece are numbered
        for piece in pieces:
            if self.panel is not None:
                check_same_input(self.panel, piece, -1)
            numbered = before
            for part in self.read(piece):
                samples = replace(part.samples, number=part.samples.number + before)
                yield replace(part, samples=samples, matches=replace(part.matches, sample=part.matches.sample + before))
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
            lent, (ScanJob.NAME, id(panel), options), partial(Finder, lent, panel, options, blocks_of(lent, names))
        ) as finder,
        closing(finder.parts(names, run)) as parts,
    ):
        yield from parts


def blocks_of(engine: Engine, names: Sequence[str]) -> int:
    """Return how many full blocks files are read in, at least, as far as their sizes tell."""
    return max(1, sum(stored_size(name) or 0 for name in names) // largest_block(engine))


class Finder(Closing):
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
        options = options.of_pairs
        # The last piece of a record says whether a whole signature, with all edits, ends where the record does.
        whole = options.overhang > 0 and options.max_edits > 0
        self._overlap = int(patterns.lengths.max()) + options.max_edits - 1 + whole
        on_device = DevicePatterns.upload(engine, patterns, options)
        kind = EditScan if options.max_edits else MatchScan
        self._scan: EditScan | MatchScan = kind(engine, on_device, options, times)

    def close(self) -> None:
        """Let go of the device's memory."""
        vars(self).pop("_scan", None)

    def parts(self, samples: SequenceFiles, run: Run) -> Generator[ScanPart, None, None]:
        """Find them in samples, block by block; there is one part at least."""
        given = False
        with closing(self.found(samples, run)) as found:
            for _, part in found:
                yield part
                given = True
        if not given:
            part = self._reported(ScanPart(Samples.none(), Matches.none()))
            yield replace(part, alignments=Alignments.none()) if self._options.alignments else part

    def found(
        self, samples: SequenceFiles, run: Run, block_bytes: int | None = None
    ) -> Generator[tuple[LetterBlock, ScanPart], None, None]:
        """Find them in samples; yield each block, valid until the next one is asked for, with its parts."""
        options = self._options
        encoder = Encoder(self._engine)
        joiner = PartJoiner(options.of_pairs.report, whole=options.alignments)
        letters: MatchLetters | None = None
        if options.alignments:
            letters = match_letters.MatchLetters(self._panel, options)
        size: dict[str, Any] = {} if block_bytes is None else {"block_bytes": block_bytes}
        blocks = letter_blocks(
            self._engine, file_names(samples), overlap=self._overlap, may_be_empty=True, threads=run.threads,
            progress=run.progress, **size,
        )  # fmt: skip
        self._scan.begin()
        with closing(blocks):
            for block in blocks:
                _check_qualities(block, self._options)
                for rows, matches in self._scan.parts(encoder.encode(block)):
                    if letters is not None:
                        letters.see(block, matches)
                    part = self._reported(joiner.add(rows, matches))
                    if letters is not None:
                        part = replace(part, alignments=letters.alignments(block, part.matches))
                    yield block, part
                if letters is not None:
                    letters.end(block, self._scan.earliest)

    def _reported(self, part: ScanPart) -> ScanPart:
        """A part with the best match of each sample alone, if only these are reported."""
        if self._options.report != "read":
            return part
        best, rivals = best_of_samples(part.matches)
        return replace(part, matches=best, rivals=rivals)


def _check_qualities(block: LetterBlock, options: ScanOptions) -> None:
    if options.min_score > 0 and block.pieces.qualities is None:
        raise InputError("is FASTA, which has no qualities that `min_score` could look at", source=block.source)
