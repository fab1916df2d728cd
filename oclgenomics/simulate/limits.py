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
MAX_SHOWN = 40  # characters of a number


def check_range(parameter: str, value: float, low: float, high: float) -> None:
    """Refuse a value outside its range, and what is no number.

    Raises
    ------
    ParameterError
        The message names the parameter.
    """
    if not low <= value <= high:
        raise ParameterError(parameter, f"must be between {_shown(low)} and {_shown(high)}, not {_shown(value)}")


def check_pair(parameter: str, pair: tuple[float, float], low: float, high: float) -> None:
    """Refuse a least and a most that are outside their range, or in the wrong order.

    Raises
    ------
    ParameterError
        The message names the parameter.
    """
    least, most = pair
    check_range(parameter, least, low, high)
    check_range(parameter, most, low, high)
    if least > most:
        raise ParameterError(parameter, f"the least, {least:,}, is more than the most, {most:,}")


def check_probability(parameter: str, value: float) -> None:
    """Refuse what is no probability.

    Raises
    ------
    ParameterError
        The message names the parameter.
    """
    if not 0 <= value <= 1:
        raise ParameterError(parameter, f"must be a probability, from 0 to 1, not {value:g}")


def check_seed(seed: int) -> None:
    """Refuse a negative seed.

    Raises
    ------
    ParameterError
    """
    if seed < 0:
        raise ParameterError("seed", f"must be 0 or more, not {seed}")


def _shown(value: float) -> str:
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
