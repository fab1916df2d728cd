"""One channel: a controller that keeps rows open, reads in order or what is ready first, and refreshes.

Requests are planned one after the other. Each takes the earliest clocks for its PRE, ACT and READ that the part allows
after everything planned before it. So an older request always has the right of way, PRE and ACT of a younger one run
ahead while the older one waits (as far as the window reaches), and ACTs and READs go out in the order of the requests.
When a refresh falls due, a request whose READ would not have gone out by then waits: all banks are closed, and it
begins anew after the refresh. All times are whole clocks of the part.

A `Mapping` says where an address lies: bank group, bank, row and column, as fields of its bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hls_model.dram_parts import Part
from hls_model.errors import ModelError

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


LONG_AGO = -(1 << 40)
MAX_SKIPPED = 16  # requests in a row that may go before an older one


@dataclass(frozen=True)
class Command:
    """A command to the part.

    Attributes
    ----------
    clock : int
        When it is on the command bus.
    name : {'ACT', 'PRE', 'READ', 'REF'}
        What it is.
    bank, row : int
        Bank, counted through all groups, and row; -1 for the refresh of all of them.
    """

    clock: int
    name: str
    bank: int
    row: int


class Channel:
    """A channel, its banks closed in the beginning.

    Parameters
    ----------
    mapping : Mapping
        The part and its address map.
    window : int
        Requests that the controller holds: a request enters when the one `window` before it has had its READ.
    first_refresh : int
        Clock at which the first refresh falls due; the others follow every tREFI.
    commands : list of Command, optional
        Receives every command, in the order of planning.

    Attributes
    ----------
    hits, closed, conflicts : int
        Requests that found their row open, their bank closed, or another row open.
    """

    def __init__(
        self, mapping: Mapping, *, window: int = 16, first_refresh: int = 0, commands: list[Command] | None = None
    ) -> None:
        if window < 1:
            raise ModelError(f"the window of a channel is {window}; it has to be 1 or more")
        part = mapping.part
        banks = part.groups * part.banks
        self.part, self.mapping = part, mapping
        self.hits = self.closed = self.conflicts = 0
        self._log = commands
        self._rows = [-1] * banks
        self._activated, self._precharged, self._read = ([LONG_AGO] * banks for _ in range(3))
        self._last_read, self._last_act = [LONG_AGO] * part.groups, [LONG_AGO] * part.groups
        self._any_read = self._any_act = LONG_AGO
        self._four = deque([LONG_AGO] * 4, maxlen=4)  # the last four ACTs
        self._held = deque([LONG_AGO] * window, maxlen=window)  # when the READs of the last requests went out
        self._due = first_refresh
        self._after_refresh = LONG_AGO
        self._row_bus: set[int] = set()  # clocks that are taken
        self._column_bus = set() if part.split_bus else self._row_bus

    def read(self, when: int, access: int) -> int:
        """Plan a READ that arrives at clock `when` (not before those planned earlier).

        Returns
        -------
        int
            The clock in which its last data have come.
        """
        bank, row = self.mapping.locate(access)
        return self._plan(when, bank, row) + self.part.cl + self.part.burst

    def read_all(self, requests: Iterable[tuple[int, int]], *, reorder: bool = False) -> list[int]:
        """Plan (clock, access) requests of ascending clocks, and return when the data of each have come.

        With `reorder`, the request in the window whose READ can go first does, which favours open rows, until the
        oldest has let `MAX_SKIPPED` of them pass (first ready, first come, first served).
        """
        if not reorder:
            return [self.read(when, access) for when, access in requests]
        waiting: deque[tuple[int, int, int, int]] = deque()
        todo = deque((number, when, *self.mapping.locate(access)) for number, (when, access) in enumerate(requests))
        ends = [0] * len(todo)
        skipped = 0
        size = self._held.maxlen or 1
        while todo or waiting:
            while todo and len(waiting) < size:
                waiting.append(todo.popleft())
            chosen = self._first_ready(waiting) if skipped < MAX_SKIPPED else 0
            skipped = skipped + 1 if chosen else 0
            number, when, bank, row = waiting[chosen]
            del waiting[chosen]
            ends[number] = self._plan(when, bank, row) + self.part.cl + self.part.burst
        return ends

    def _first_ready(self, waiting: deque[tuple[int, int, int, int]]) -> int:
        """Place in the queue of the request whose READ can go first; of several, the oldest."""
        entered = self._held[0] + 1
        clocks = [self._steps(max(when, entered), bank, row)[1] for _, when, bank, row in waiting]
        return clocks.index(min(clocks))

    def _plan(self, when: int, bank: int, row: int) -> int:
        """Plan the commands of a request and return the clock of its READ."""
        when = max(when, self._held[0] + 1)
        if self._rows[bank] == row:  # most of them: no more than the READ
            read = self._read_clock(max(when, self._after_refresh), bank, self._activated[bank])
            if read < self._due:
                self.hits += 1
                self._issue("READ", read, bank, row)
                self._end(when, read)
                return read
        while True:
            steps, read = self._steps(when, bank, row)
            if read < self._due:
                break
            self._refresh()
        self._count(bank, row)
        for name, clock in steps:
            self._issue(name, clock, bank, row)
        self._issue("READ", read, bank, row)
        self._end(when, read)
        return read

    def _end(self, when: int, read: int) -> None:
        """Take a planned request into the window."""
        self._held.append(max(self._held[-1], read))
        if len(self._row_bus) + len(self._column_bus) > 4096:
            self._forget(max(when, self._held[0]))

    def _read_clock(self, when: int, bank: int, activated: int) -> int:
        """The earliest clock of a READ of a bank that was activated then."""
        part, group = self.part, bank // self.part.banks
        between = max(part.ccd_s, part.burst)
        clock = max(
            when, activated + part.rcd, self._last_read[group] + max(part.ccd_l, between), self._any_read + between
        )
        return self._free(clock, self._column_bus)

    def _steps(self, when: int, bank: int, row: int) -> tuple[list[tuple[str, int]], int]:
        """The earliest clocks of the PRE and ACT that a request needs, and of its READ."""
        part, group = self.part, bank // self.part.banks
        when = max(when, self._after_refresh)
        steps: list[tuple[str, int]] = []
        activated, precharged = self._activated[bank], self._precharged[bank]
        if self._rows[bank] != row:
            taken: set[int] = set()
            if self._rows[bank] >= 0:
                precharged = self._free(max(when, activated + part.ras, self._read[bank] + part.rtp), self._row_bus)
                steps.append(("PRE", precharged))
                taken = {precharged}
            earliest = max(
                when, precharged + part.rp, self._last_act[group] + part.rrd_l, self._any_act + part.rrd_s,
                self._four[0] + part.faw,
            )  # fmt: skip
            activated = self._free(earliest, self._row_bus, taken)
            steps.append(("ACT", activated))
        return steps, self._read_clock(when, bank, activated)

    @staticmethod
    def _free(clock: int, bus: set[int], also: Iterable[int] = ()) -> int:
        while clock in bus or clock in also:
            clock += 1
        return clock

    def _issue(self, name: str, clock: int, bank: int, row: int) -> None:
        group = bank // self.part.banks
        if name == "READ":
            self._column_bus.add(clock)
            self._read[bank] = self._last_read[group] = self._any_read = clock
        else:
            self._row_bus.add(clock)
            if name == "ACT":
                self._rows[bank] = row
                self._activated[bank] = self._last_act[group] = self._any_act = clock
                self._four.append(clock)
            else:
                self._rows[bank] = -1
                self._precharged[bank] = clock
        if self._log is not None:
            self._log.append(Command(clock, name, bank, row))

    def _refresh(self) -> None:
        """Close every bank once the refresh is due, and refresh."""
        part, start = self.part, max(self._due, self._after_refresh)
        for bank, row in enumerate(self._rows):
            if row >= 0:
                earliest = max(start, self._activated[bank] + part.ras, self._read[bank] + part.rtp)
                self._issue("PRE", self._free(earliest, self._row_bus), bank, row)
        clock = self._free(max(start, max(self._precharged) + part.rp, self._any_act + part.ras), self._row_bus)
        self._row_bus.add(clock)
        if self._log is not None:
            self._log.append(Command(clock, "REF", -1, -1))
        self._after_refresh = clock + part.rfc
        self._due += part.refi

    def _count(self, bank: int, row: int) -> None:
        if self._rows[bank] == row:
            self.hits += 1
        elif self._rows[bank] < 0:
            self.closed += 1
        else:
            self.conflicts += 1

    def _forget(self, before: int) -> None:
        """Drop taken clocks in which no command can go any more."""
        buses = [self._row_bus] if self._column_bus is self._row_bus else [self._row_bus, self._column_bus]
        for bus in buses:
            bus.difference_update([clock for clock in bus if clock < before])
