"""Numbers and other values as people read them."""

from __future__ import annotations

from hls_model.ranges import Range

__all__ = ["joules_text", "percent", "range_text", "seconds_text", "shown"]

MAX_SHOWN = 60  # characters of a value in a message
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


def seconds_text(seconds: float) -> str:
    """Write a time with three digits or more, in the unit that suits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:,.3g} {unit}" if seconds < 1000 * scale else f"{seconds / scale:,.0f} {unit}"
    return f"{seconds * 1e9:,.3g} ns" if seconds else "0 s"


def joules_text(joules: Range) -> str:
    """Write an energy with its bounds, in the unit that suits its likely value."""
    unit, scale = next(((unit, scale) for unit, scale in ENERGIES if joules.likely >= scale), ENERGIES[-1])
    return range_text(joules.times(1 / scale), unit)


def range_text(values: Range, unit: str = "") -> str:
    """Write the likely value and its bounds, or the value alone where it is known."""
    low, likely, high = (f"{value:,.0f}" if value >= 100 else f"{value:,.3g}" for value in vars(values).values())
    value = f"{likely} {unit}".rstrip()
    return value if values.low == values.high else f"{value} ({low} to {high})"
