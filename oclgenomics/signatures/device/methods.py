"""The methods behind one interface: each block, and each pattern, goes to the one that finds its matches soonest."""

from __future__ import annotations

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.brute import BruteMatcher
from oclgenomics.signatures.device.found import FoundPairs, FoundStarts
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import Method

__all__ = ["Methods"]


class Methods:
    """Finds the matches of patterns in blocks."""

    def __init__(self, engine: Engine, patterns: DevicePatterns, method: Method) -> None:
        self._brute = BruteMatcher(engine, patterns)

    def pairs(self, samples: SampleLetters) -> FoundPairs:
        """Find all pairs of a block."""
        return self._brute.pairs(samples)

    def starts(self, samples: SampleLetters, pairs: FoundPairs) -> FoundStarts:
        """List the matches of some of a block's pairs."""
        raise NotImplementedError
