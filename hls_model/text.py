"""Numbers and other values as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from hls_model.errors import ModelError
from hls_model.ranges import Range

MAX_SHOWN = 60  # characters of a value in a message
SECONDS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
FEW = 10_000
LARGE = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
ENERGIES = (("MJ", 1e6), ("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3))


def percent(share: float, digits: int = 0) -> str:
    """Write a share, 1.0 being all of it, in percent."""
    return f"{100 * share:.{digits}f} %"


def shown(value: object) -> str:
    """Write a value that was given, as a message shows it."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of some names.

    Raises
    ------
    ModelError
    """
    known = list(choices)
    if value not in known:
        raise ModelError(f"{name} is {value!r}; choose one of {', '.join(known)}")


def bytes_text(value: int) -> str:
    """Write a number of bytes, such as 38.6 GB."""
    return count_text(value, "B")


def count_text(value: int, unit: str) -> str:
    """Write a count with three digits or all of a few, such as 38.6 GB, 4.82 G omegas or 988 starts."""
    if value < FEW:
        return f"{value:,} {unit}"
    prefix, scale = next(entry for entry in LARGE if value >= entry[1])
    number = f"{value / scale:.3g}"
    return f"{number} {prefix}{unit}" if unit == "B" else f"{number} {prefix} {unit}".replace("  ", " ")


def seconds_text(seconds: float) -> str:
    """Write a time with three digits or more, in the unit that suits."""
    if not seconds:
        return "0 s"
    unit, scale = _seconds_unit(seconds)
    return f"{_three_digits(seconds / scale)} {unit}"


def joules_text(joules: Range) -> str:
    """Write an energy with its bounds, in the unit that suits its likely value."""
    unit, scale = next(((unit, scale) for unit, scale in ENERGIES if joules.likely >= scale), ENERGIES[-1])
    return range_text(joules.times(1 / scale), unit)


def range_text(value: Range, unit: str = "s") -> str:
    """Write the likely value of a figure with its unit and, where they read differently, its bounds.

    Parameters
    ----------
    value : Range
    unit : str
        What stands behind the likely value; "" for a bare number. Seconds ("s") become ms, us or ns as suits.

    Returns
    -------
    str
        Such as "1.5 s (1.2-2.4)"; bounds of which one is negative are written "(-3 to 2)".
    """
    scale = 1.0
    if unit == "s":
        unit, scale = _seconds_unit(value.likely or value.high)
    low, likely, high = (_three_digits(bound / scale) for bound in (value.low, value.likely, value.high))
    text = f"{likely} {unit}".rstrip()
    between = "-" if value.low >= 0 else " to "
    return text if low == likely == high else f"{text} ({low}{between}{high})"


def _seconds_unit(seconds: float) -> tuple[str, float]:
    """The unit in which a time reads best, and its seconds."""
    if not seconds:
        return SECONDS[0]
    return next((entry for entry in SECONDS if seconds >= entry[1]), SECONDS[-1])


def _three_digits(value: float) -> str:
    """A number with three digits, or all of its whole ones."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"
