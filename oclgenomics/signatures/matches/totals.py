"""What a scan comes to in all, counted part by part, and what its user should know of the input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.notices import number_of
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import Samples, ScanPart

PHRED64_OFFSET = 31  # of the bytes of Illumina 1.3 to 1.7 from those of Sanger
PHRED64_LETTERS = 1000  # as many letters without a low quality are odd


def may_be_phred64(samples: Samples) -> NDArray[np.bool_]:
    """Whether all of a sample's qualities, some 1,000 of them or more, could be Phred + 64."""
    return samples.has_qualities & (samples.least_quality >= PHRED64_OFFSET) & (samples.letters >= PHRED64_LETTERS)


class ScanTotals:
    """Adds up the parts of a scan.

    Parameters
    ----------
    panel : Panel

    Attributes
    ----------
    samples, letters : int
    matching_samples : int
        Those in which any signature matches.
    rows : int
        Rows of matches.
    hits : int
        Matches of these rows.
    longest : int
        Letters of the longest sample.
    """

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self.samples = self.letters = self.matching_samples = self.rows = self.hits = self.longest = 0
        self._scored = 0  # letters with a quality
        self._least_quality = 255
        self._hits_of = np.zeros(len(panel), np.int64)  # of each signature
        self._names: list[NDArray[np.int64]] = []  # a hash of each sample with matches: 8 bytes instead of a name

    def add(self, part: ScanPart) -> None:
        """Count what a part adds."""
        samples = part.samples.ended
        self.samples += len(samples)
        self.letters += int(samples.letters.sum())
        self.rows += len(part.matches)
        self.hits += int(part.matches.hits.sum())
        self.longest = max(self.longest, int(samples.letters.max(initial=0)))
        self._scored += int((samples.letters * samples.has_qualities).sum())
        self._least_quality = min(self._least_quality, int(samples.least_quality.min(initial=255)))
        np.add.at(self._hits_of, part.matches.signature, part.matches.hits)
        names = samples.name[samples.pairs > 0].tolist()
        self.matching_samples += len(names)
        self._names.append(np.fromiter(map(hash, names), np.int64, len(names)))

    @property
    def signatures(self) -> int:
        """Signatures that match in any sample."""
        return int(np.count_nonzero(self._hits_of))

    def most_frequent(self, count: int) -> list[tuple[str, int]]:
        """Return the signatures with the most matches, and how many they have; those without any are left out."""
        most = np.argsort(-self._hits_of, kind="stable")[:count]
        return [(self._panel.names[one], int(self._hits_of[one])) for one in most.tolist() if self._hits_of[one]]

    def warnings(self) -> list[str]:
        """Tell what users may not expect of their input."""
        found = []
        lengths = self._panel.lengths
        too_long = int((lengths > self.longest).sum())
        if not self.samples:
            found.append("the input holds no sample")
        elif too_long == len(lengths):
            least = f"{int(lengths.min()):,} bp"
            found.append(
                f"no sample is as long as a signature: the shortest has {least}, the longest sample {self.longest:,}; "
                "samples are named before signatures"
            )
        elif too_long:
            found.append(f"{too_long:,} of {len(lengths):,} signatures are longer than every sample")
        if self._scored >= PHRED64_LETTERS and self._least_quality >= PHRED64_OFFSET:
            found.append(
                f"the lowest quality of all is {self._least_quality}: if qualities are Phred + 64 (Illumina 1.3 to "
                "1.7), scores are 31 too high"
            )
        names = np.sort(np.concatenate([np.empty(0, np.int64), *self._names]))
        again = int(np.count_nonzero(names[1:] == names[:-1]))
        if again:
            samples = number_of(again, "sample")
            found.append(f"{samples} with matches and the name of another one; sample_number tells them apart")
        return found
