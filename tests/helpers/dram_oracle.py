"""What a DRAM allows, clock by clock: the slow and obvious check of any sequence of commands.

It steps through every clock, keeps the state of every bank and the time since every command, and says what is wrong
with a command in words. It shares no code with the controller, only the figures of the part.
"""

from __future__ import annotations

from collections.abc import Iterable

from hls_model.extras.dram import Command, Part

__all__ = ["violations"]

LONG = 1 << 40
POSTPONED = 8  # refreshes that JESD79-4 lets a controller owe


def violations(part: Part, commands: Iterable[Command], first_refresh: int | None = None) -> list[str]:
    """Return every rule that the commands break; with `first_refresh`, also refreshes that come too late."""
    by_clock: dict[int, list[Command]] = {}
    for command in commands:
        by_clock.setdefault(command.clock, []).append(command)
    state = _State(part)
    for clock in range(min(by_clock, default=0), max(by_clock, default=-1) + 1):
        state.tick(clock, by_clock.get(clock, []))
        if first_refresh is not None:
            owed = (clock - first_refresh) // part.refi + 1 - state.refreshes
            if owed > POSTPONED:
                state.found.append(f"{clock}: {owed} refreshes are owed")
    return state.found


class _Bank:
    def __init__(self) -> None:
        self.row: int | None = None
        self.since = dict.fromkeys(("ACT", "PRE", "READ"), LONG)  # clocks since its last command of a kind


class _State:
    def __init__(self, part: Part) -> None:
        self.part = part
        self.banks = [_Bank() for _ in range(part.groups * part.banks)]
        self.since_refresh = LONG
        self.activated: list[int] = []  # clocks since each of the last ACTs
        self.refreshes = 0
        self.found: list[str] = []

    def tick(self, clock: int, commands: list[Command]) -> None:
        for bank in self.banks:
            for name in bank.since:
                bank.since[name] += 1
        self.since_refresh += 1
        self.activated = [age + 1 for age in self.activated]
        self._check_bus(clock, commands)
        for command in commands:
            for broken in self._broken(command):
                self.found.append(f"{clock}: {command.name} bank {command.bank} row {command.row}: {broken}")
            self._apply(command)

    def _check_bus(self, clock: int, commands: list[Command]) -> None:
        columns = sum(command.name == "READ" for command in commands)
        rows = len(commands) - columns
        if max(columns, rows) > 1 or (columns and rows and not self.part.split_bus):
            self.found.append(f"{clock}: {len(commands)} commands in one clock")

    def _broken(self, command: Command) -> Iterable[str]:
        part = self.part
        if self.since_refresh < part.rfc:
            yield "tRFC"
        if command.name == "REF":
            for number, bank in enumerate(self.banks):
                if bank.row is not None:
                    yield f"bank {number} is open"
                if bank.since["PRE"] < part.rp:
                    yield "tRP"
            return
        bank = self.banks[command.bank]
        group = command.bank // part.banks
        if command.name == "ACT":
            if bank.row is not None:
                yield "is open"
            if bank.since["PRE"] < part.rp:
                yield "tRP"
            for number, other in enumerate(self.banks):
                same = number // part.banks == group
                if other.since["ACT"] < (part.rrd_l if same else part.rrd_s):
                    yield "tRRD_L" if same else "tRRD_S"
            if sum(age < part.faw for age in self.activated) >= 4:
                yield "tFAW"
        elif command.name == "PRE":
            if bank.row is None:
                yield "is closed"
            if bank.since["ACT"] < part.ras:
                yield "tRAS"
            if bank.since["READ"] < part.rtp:
                yield "tRTP"
        elif command.name == "READ":
            if bank.row is None or bank.row != command.row:
                yield f"row {bank.row} is open"
            if bank.since["ACT"] < part.rcd:
                yield "tRCD"
            for number, other in enumerate(self.banks):
                same = number // part.banks == group
                if other.since["READ"] < (part.ccd_l if same else part.ccd_s):
                    yield "tCCD_L" if same else "tCCD_S"
                if other.since["READ"] < part.burst:
                    yield "two bursts on the data bus"
        else:
            yield "is no command"

    def _apply(self, command: Command) -> None:
        if command.name == "REF":
            self.since_refresh, self.refreshes = 0, self.refreshes + 1
            return
        bank = self.banks[command.bank]
        bank.since[command.name] = 0
        if command.name == "ACT":
            bank.row = command.row
            self.activated = [age for age in self.activated if age < self.part.faw] + [0]
        elif command.name == "PRE":
            bank.row = None
