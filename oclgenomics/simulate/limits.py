"""How much may be simulated: what is beyond any use, or beyond memory, is refused at once."""

from __future__ import annotations

from oclgenomics.errors import ParameterError

MAX_SAMPLES = 1_000_000  # haplotypes
MAX_LINEAGES = 100_000  # of the package's own coalescent, whose lineages hold a bit for each haplotype
MAX_SITES = 100_000_000  # of a replicate
MAX_REPLICATES = 1_000_000
MAX_POPULATION = 10**12  # diploid individuals
MAX_RHO = 10**9  # 4 N r of a region
MAX_GENERATIONS = 10**7  # of a sweep
MAX_SHOWN = 40  # letters of a number


def check_range(parameter: str, value: float, low: float, high: float) -> None:
    """Refuse a value outside its range, and what is no number.

    Raises
    ------
    ParameterError
        The message names the parameter.
    """
    if not low <= value <= high:
        raise ParameterError(parameter, f"must be between {_shown(low)} and {_shown(high)}, not {_shown(value)}")


def _shown(value: float) -> str:
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
