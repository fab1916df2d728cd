"""Where an address lies: bank group, bank, row and column, as fields of its bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hls_model.dram.parts import Part
from hls_model.errors import ModelError

__all__ = ["FIELDS", "Mapping"]

FIELDS = ("row", "column", "bank", "group")


@dataclass(frozen=True)
class Mapping:
    """The address map of one channel.

    Attributes
    ----------
    part : Part
        What is behind it.
    order : sequence of (str, int)
        Fields from the highest bits on, with their bits; a field may come in several parts. Below the lowest lie the
        bytes of one READ. Empty takes the part's own.

    Raises
    ------
    ModelError
        A field that is none, or whose bits are not those of the part.
    """

    part: Part
    order: Sequence[tuple[str, int]] = ()
    _cuts: tuple[tuple[str, int, int, int], ...] = field(init=False, repr=False)
    _row_cuts: tuple[tuple[int, int, int], ...] = field(init=False, repr=False)
    _bank_cuts: tuple[tuple[int, int, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        order = tuple(self.order) or self.part.order
        sizes = {"row": self.part.rows, "column": self.part.columns, "bank": self.part.banks, "group": self.part.groups}
        for name, size in sizes.items():
            bits = sum(width for other, width in order if other == name)
            if 1 << bits != size:
                raise ModelError(f"the address map has {bits} bits of {name}; {self.part.name} has {size:,} of them")
        if unknown := {name for name, _ in order} - set(FIELDS):
            raise ModelError(f"the address map names {', '.join(sorted(unknown))}; its fields are {', '.join(FIELDS)}")
        cuts, shift, filled = [], 0, dict.fromkeys(FIELDS, 0)
        for name, width in reversed(order):
            cuts.append((name, shift, (1 << width) - 1, filled[name]))
            shift += width
            filled[name] += width
        object.__setattr__(self, "_cuts", tuple(cuts))
        object.__setattr__(self, "_row_cuts", tuple(cut[1:] for cut in cuts if cut[0] == "row"))
        above = {"bank": 0, "group": self.part.banks.bit_length() - 1}  # the bank group stands above the bank
        places = [(shift, mask, place + above[name]) for name, shift, mask, place in cuts if name in above]
        object.__setattr__(self, "_bank_cuts", tuple(places))

    @property
    def accesses(self) -> int:
        """READs that reach every byte of the channel once."""
        part = self.part
        return part.rows * part.columns * part.banks * part.groups

    def fields(self, access: int) -> dict[str, int]:
        """Return the fields of the `access`-th READ's worth of bytes; the addresses wrap around."""
        found = dict.fromkeys(FIELDS, 0)
        for name, shift, mask, place in self._cuts:
            found[name] |= (access >> shift & mask) << place
        return found

    def locate(self, access: int) -> tuple[int, int]:
        """Return the bank, counted through all bank groups, and the row."""
        row = bank = 0
        for shift, mask, place in self._row_cuts:
            row |= (access >> shift & mask) << place
        for shift, mask, place in self._bank_cuts:
            bank |= (access >> shift & mask) << place
        return bank, row

    def access(self, *, row: int = 0, column: int = 0, bank: int = 0, group: int = 0) -> int:
        """Return which READ's worth of bytes has these fields; the inverse of `fields`."""
        given = {"row": row, "column": column, "bank": bank, "group": group}
        return sum((given[name] >> place & mask) << shift for name, shift, mask, place in self._cuts)
