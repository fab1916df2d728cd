"""Files of thresholds that are damaged or made for something else: refused in one line, or read as what they say."""

from __future__ import annotations

import json
import tempfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, draws, inputs, limited
from helpers.squiggles import random_squiggle

from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.sdtw.decisions.basis import Basis, KindCheck, ReadKind, plain_trim
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds, checked_trim, parse_stages
from oclgenomics.sdtw.formats.thresholds import read_thresholds, record_checksum, write_thresholds
from oclgenomics.sdtw.options import CRESCENT, AlignOptions, Arithmetic, Bonus, Cost, Norm
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions

pytestmark = pytest.mark.fuzz

TARGETS = (random_squiggle((9, 12), 1, "a"), random_squiggle((7,), 2, "b"))
DECOYS = (random_squiggle((8,), 3, "c"),)
KIND = ReadKind("R9", "dna", 4000.0)
STALL = TrimOptions()
BASIS = Basis.of(TARGETS, DECOYS, STALL, KIND)
CHOSEN = Thresholds(
    parse_stages("1000:5500,2000:-3.5..1e4"), AlignOptions(bits=7), "difference", ("a,b", "c"), {"x": [1]}, BASIS
)
SAMPLES = {"one": CHOSEN, "two": Thresholds((Stage(500, 1e300),), CRESCENT)}


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("name", SAMPLES)
def test_thresholds(tmp_path: Path, name: str, sealed: bool) -> None:
    """As they are, only what is laid out otherwise is read; what is sealed anew is read to the letter."""
    path = tmp_path / "x"
    refused = 0
    known = [replace(one, options=one.options.resolved()) for one in SAMPLES.values()]
    for number, data in inputs(texts(), name, SECONDS / 8, each=0.003):
        path.write_bytes(resealed(data) if sealed else data)
        with limited(data, f"thresholds {name}, number {number}"):
            found = read(path)
            if found is None:
                refused += 1
            elif sealed:
                write_thresholds(path, found)
                assert read_thresholds(path) == replace(found, options=found.options.resolved())
            else:
                assert found in known
    assert refused


def resealed(data: bytes) -> bytes:
    """The same under a checksum that fits, if it is JSON at all."""
    try:
        record = json.loads(data)
        record["checksum"] = record_checksum(record)
        return json.dumps(record).encode()
    except (ValueError, TypeError, RecursionError):
        return data


def read(path: Path) -> Thresholds | None:
    """Read a file; None if it is refused, which is in one line."""
    try:
        return read_thresholds(path)
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    return None


def texts() -> dict[str, bytes]:
    """The files of all samples."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        found = {}
        for name, thresholds in SAMPLES.items():
            write_thresholds(path, thresholds)
            found[name] = path.read_bytes()
    return found


def test_a_single_change_is_noticed(tmp_path: Path) -> None:
    """Thresholds that were made for one other option, reference, model, trimming, role or kind of reads."""
    write_thresholds(tmp_path / "x", CHOSEN)
    thresholds = read_thresholds(tmp_path / "x")
    use(thresholds)
    seen = set()
    for number, rng in draws("changes", SECONDS / 4, each=0.003):
        name = list(CHANGES)[number % len(CHANGES)]
        try:
            changed = CHANGES[name](rng)
        except ParameterError:  # options that do not go together
            continue
        if changed is None:
            continue
        with pytest.raises(UsageError) as caught:
            use(thresholds, **changed)
        assert "\n" not in str(caught.value)
        seen.add(name)
    assert seen == set(CHANGES)


def use(
    thresholds: Thresholds,
    *,
    options: AlignOptions = CHOSEN.options,
    targets: tuple[Squiggle, ...] = TARGETS,
    decoys: tuple[Squiggle, ...] = DECOYS,
    trim: TrimOptions | None = STALL,
    kind: ReadKind = KIND,
) -> None:
    """Do all that a classification does before reads are aligned."""
    thresholds.check_options(options)
    checked_trim(thresholds, targets, decoys, trim)
    assert thresholds.basis is not None
    signals = Signals.of([np.zeros(3, np.int16)], rate=kind.rate, pore=kind.pore, molecule=kind.molecule)
    KindCheck(targets + decoys, thresholds.basis.reads).see(signals)


def other_options(rng: np.random.Generator) -> dict[str, Any] | None:
    own = CHOSEN.options.resolved()
    values: dict[str, Any] = {
        "norm": get_args(Norm), "cost": get_args(Cost), "bonus": get_args(Bonus), "arithmetic": get_args(Arithmetic),
        "bits": (5, 6, 7, 8), "step": (1, *range(3, 33)),
    }  # fmt: skip
    assert set(values) == {field.name for field in fields(AlignOptions)}
    name = str(rng.choice(list(values)))
    value = values[name][int(rng.integers(len(values[name])))]
    free: dict[str, Any] = {"bits": None} if name in ("bonus", "arithmetic") else {}
    free |= {"bits": None, "step": None} if name == "norm" else {}
    changed = replace(own, **{**free, name: value})
    return None if changed.resolved() == own else {"options": changed}


def other_trim(rng: np.random.Generator) -> dict[str, Any] | None:
    choices = (
        None,
        TrimOptions(stall=False, extra=int(rng.integers(2000))),
        TrimOptions(extra=int(rng.integers(2000))),
        TrimOptions(max_trim=None),
        TrimOptions(max_trim=int(rng.integers(20_000))),
        TrimOptions(keep=False),
    )
    trim = choices[int(rng.integers(len(choices)))]
    return None if plain_trim(trim) == STALL else {"trim": trim}


FACTS = ("levels", "lengths", "tracks", "track_record", "track_strand", "track_first", "records", "name", "k", "model",
         "model_checksum", "molecule")  # fmt: skip


def other_reference(rng: np.random.Generator) -> dict[str, Any]:
    """One bit of one array, or one of the facts."""
    part = "decoys" if rng.random() < 0.5 else "targets"
    some = list(DECOYS if part == "decoys" else TARGETS)
    at, name = int(rng.integers(len(some))), str(rng.choice(FACTS))
    value: Any = getattr(some[at], name)
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.view(np.uint8)[int(rng.integers(value.nbytes))] ^= np.uint8(1 << int(rng.integers(8)))
    elif name == "molecule":
        value = "rna"
    elif name == "k":
        value += 1
    else:
        value = (*value, "x") if name == "records" else value + "x"
    some[at] = replace(some[at], **{name: value})
    return {part: tuple(some)}


def other_roles(rng: np.random.Generator) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {"targets": TARGETS[::-1]},
        {"targets": TARGETS[:1]},
        {"decoys": ()},
        {"targets": TARGETS + DECOYS, "decoys": ()},
        {"targets": TARGETS[:1], "decoys": TARGETS[1:] + DECOYS},
        {"decoys": (random_squiggle((8,), 4, "c"),)},
    ]
    return choices[int(rng.integers(len(choices)))]


def other_kind(rng: np.random.Generator) -> dict[str, Any]:
    choices = (
        replace(KIND, pore="R10"),
        replace(KIND, pore="RNA004"),
        replace(KIND, molecule="rna"),
        replace(KIND, rate=float(rng.choice([100.0, 3012.0, 3900.0, 5000.0]))),
    )
    return {"kind": choices[int(rng.integers(len(choices)))]}


CHANGES = {
    "options": other_options,
    "trim": other_trim,
    "reference": other_reference,
    "roles": other_roles,
    "kind": other_kind,
}
