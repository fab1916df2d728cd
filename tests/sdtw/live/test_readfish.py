"""The plugin for readfish, driven as readfish 2024.3 drives one: classes of its module are made of the tables of the
configuration, `basecall` gets chunks, their type and calibrations, and `map_reads` the results of it; then the ends of
alignments are looked up among the targets of a region."""

from __future__ import annotations

import importlib
import logging
import sys
import tomllib
import types
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.read_until import BACKGROUND, LEVELS, TARGET, Chunk, read_of, stages_of
from helpers.sdtw_oracle import OracleAligner, many_records, small_squiggle
from numpy.typing import NDArray

from oclgenomics.errors import InputError, MissingDependencyError, OclGenomicsError, OutputError, UsageError
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.sdtw.formats.thresholds import write_thresholds
from oclgenomics.sdtw.live import readfish
from oclgenomics.sdtw.live.channels import CALIBRATED_STEP
from oclgenomics.sdtw.live.workers import given_aligner

RNG = np.random.default_rng(8)
STAGES = stages_of((40, 400.0), (80, 600.0))
GOOD = read_of(LEVELS, 100, seed=1)
BAD = read_of(BACKGROUND.levels, 100, seed=4)
CONSTRUCTS = np.tile(np.random.default_rng(5).uniform(70, 110, 35), (5, 1))  # of the front of reads with barcodes
CONSTRUCTS[:, 6:28] = np.random.default_rng(6).uniform(70, 110, (5, 22))
BARCODES = many_records("barcodes", CONSTRUCTS)
Interval = namedtuple("Interval", "chromosome start end strand")
Calibration = namedtuple("Calibration", "scaling offset")


@dataclass
class Result:
    """With the fields of readfish's."""

    channel: int
    read_id: str
    seq: str
    decision: Any = "no_seq"
    barcode: str | None = None
    basecall_data: Any = None
    alignment_data: list[Any] | None = None


@dataclass
class Region:
    """With what a plugin may look at of readfish's."""

    name: str
    wanted: list[Interval] = field(default_factory=list)
    control: bool = False

    @property
    def targets(self) -> Region:
        return self

    def iter_targets(self) -> list[Interval]:
        return self.wanted


WHOLE = Region("all", [Interval("target_record", 0, float("inf"), strand) for strand in "+-"])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in of readfish."""
    for name in ("readfish", "readfish.plugins", "readfish.plugins.utils"):
        module = types.ModuleType(name)
        module.Result = Result  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(
        readfish, "own_aligner", lambda references, options, *_: given_aligner(OracleAligner(references, options))
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    paths = {name: str(tmp_path / name) for name in ("target.sdtw", "background.sdtw", "stages.json", "log.tsv")}
    write_squiggle(paths["target.sdtw"], TARGET)
    write_squiggle(paths["background.sdtw"], BACKGROUND)
    write_thresholds(paths["stages.json"], STAGES)
    return paths


def decided(result: Any, region: Region) -> str:
    """What readfish makes of alignments: their ends so far are looked up among the targets."""
    places = result.alignment_data
    if not places:
        return "no_map" if result.seq else "no_seq"
    signs = {1: "+", -1: "-"}
    on = any(
        wanted.chromosome == place.ctg
        and wanted.strand == signs[place.strand]
        and wanted.start <= (place.r_st if place.strand == -1 else place.r_en) <= wanted.end
        for place in places
        for wanted in region.wanted
    )
    return ("single" if len(places) == 1 else "multi") + ("_on" if on else "_off")


class Loop:
    """A turn of readfish's loop, in which chunks are those of its client, whole reads so far."""

    def __init__(self, text: str, region: Region = WHOLE, barcodes: dict[str, Region] | None = None) -> None:
        toml = tomllib.loads(text)
        self.region, self.barcodes = region, barcodes or {}
        ((name, settings),) = toml["caller_settings"].items()
        self.caller = importlib.import_module(name).Caller(run_information=None, sample_rate=4000, **settings)
        ((name, settings),) = toml["mapper_settings"].items()
        self.mapper = importlib.import_module(name).Aligner(**settings)
        assert self.mapper.initialised
        self.said = [self.caller.describe(), self.mapper.describe([region], self.barcodes)]

    def turn(self, reads: dict[int, tuple[str, NDArray[Any]]], dtype: Any = np.int16) -> dict[int, str]:
        chunks = [(channel, Chunk(name, data.tobytes(), 500, 1, 500)) for channel, (name, data) in reads.items()]
        calibration = {channel: Calibration(CALIBRATED_STEP, 3.0) for channel in reads}
        results = self.mapper.map_reads(self.caller.basecall(chunks, dtype, calibration))
        return {result.channel: decided(result, self.condition(result.barcode)) for result in results}

    def condition(self, barcode: str | None) -> Region:
        """That of a barcode where there are some; without a name readfish would end with an error."""
        return self.barcodes.get(barcode, self.barcodes["classified"]) if self.barcodes and barcode else self.region

    def end(self) -> None:
        self.caller.disconnect()
        self.mapper.disconnect()


def configuration(**settings: Any) -> str:
    """A mapper's settings, with time enough on a busy machine."""
    lines = [f"{key} = {value!r}" for key, value in ({"max_latency": 60.0, "deadline": 600.0} | settings).items()]
    table = '[{}_settings."oclgenomics.sdtw.live.readfish"]'
    return "\n".join([table.format("caller"), table.format("mapper"), *lines])


@pytest.mark.usefixtures("installed")
def test_reads_are_told_apart(files: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    loop = Loop(configuration(
        reference=files["target.sdtw"], thresholds=files["stages.json"], trim="none", debug_log=files["log.tsv"]
    ))  # fmt: skip
    assert "without a basecaller" in loop.said[0]
    assert "target (decoys: none; stages 40:400, 80:600)" in loop.said[1]
    assert loop.turn({1: ("a", GOOD[:50]), 2: ("b", BAD[:50]), 3: ("c", BAD[:20])}) == {
        1: "no_seq", 2: "single_off", 3: "no_seq",
    }  # fmt: skip
    assert loop.turn({1: ("a", GOOD), 2: ("b", BAD), 4: ("d", GOOD)}) == {
        1: "single_on",
        2: "single_off",
        4: "single_on",
    }
    assert loop.turn({}) == {}
    assert loop.turn({2: ("e", GOOD[:30]), 3: ("c", BAD)}) == {2: "no_seq", 3: "single_off"}
    with caplog.at_level(logging.INFO, "readfish.oclgenomics"):
        loop.end()
    assert "5 reads: 2 accept, 2 reject" in caplog.text
    assert [line.split("\t")[6] for line in Path(files["log.tsv"]).read_text().splitlines()] == [
        "outcome", "reject", "accept", "accept", "reject",
    ]  # fmt: skip


@pytest.mark.usefixtures("installed")
def test_regions_may_be_parts_of_a_sequence(files: dict[str, str]) -> None:
    """The end of the read so far decides, on the strand that it is of."""
    text = configuration(reference=[files["target.sdtw"]], stages="80:600", trim=0, norm="blocks", cost="absolute",
                         arithmetic="int32")  # fmt: skip
    found = OracleAligner((TARGET,), STAGES.options).align(GOOD, np.zeros(1, np.int64), 80)
    where = TARGET.places(found.column[:, 0])
    position, strand = int(where.position[0]), "+-"[where.strand[0]]
    end = position + (TARGET.k if strand == "+" else 0)
    other = "-+"[where.strand[0]]
    for wanted, answer in (
        (Interval("target_record", end, end, strand), "single_on"),
        (Interval("target_record", end + 1, 1000, strand), "single_off"),
        (Interval("target_record", 0, 1000, other), "single_off"),
    ):
        loop = Loop(text, Region("part", [wanted]))
        assert loop.turn({1: ("a", GOOD)}) == {1: answer}
        loop.end()


@pytest.mark.usefixtures("installed")
def test_calibrated_signals(files: dict[str, str]) -> None:
    loop = Loop(configuration(reference=files["target.sdtw"], thresholds=files["stages.json"], trim="none"))
    current = ((np.stack([GOOD, BAD]) + 3.0) * CALIBRATED_STEP).astype(np.float32)
    assert loop.turn({1: ("a", current[0]), 2: ("b", current[1])}, np.float32) == {1: "single_on", 2: "single_off"}
    assert loop.turn({7: ("x", np.full(90, np.nan, np.float32))}, np.float32) == {7: "no_seq"}
    loop.end()


@pytest.mark.usefixtures("installed")
def test_decoys(files: dict[str, str]) -> None:
    loop = Loop(configuration(
        reference=files["target.sdtw"], decoy=files["background.sdtw"], stages="40:0", score="difference", trim="none",
    ))  # fmt: skip
    assert loop.turn({1: ("a", GOOD), 2: ("b", BAD)}) == {1: "single_on", 2: "single_off"}
    loop.end()


TWIN = small_squiggle("twin", LEVELS + np.random.default_rng(2).normal(0, 0.5, len(LEVELS)))


@pytest.mark.usefixtures("installed")
def test_reads_of_several_targets(files: dict[str, str], tmp_path: Path) -> None:
    """A read that a close relative would have accepted as well is an alignment there, too; one that is clear is not."""
    write_squiggle(twin := str(tmp_path / "twin.sdtw"), TWIN)
    text = configuration(reference=[files["background.sdtw"], files["target.sdtw"], twin],
                         thresholds=files["stages.json"], trim="none")  # fmt: skip
    for wanted, answers in (
        ("target_record", ("multi_on", "single_off")),
        ("twin_record", ("multi_on", "single_off")),
        ("background_record", ("multi_off", "single_on")),
    ):
        region = Region("one", [Interval(wanted, 0, float("inf"), strand) for strand in "+-"])
        loop = Loop(text, region)
        assert loop.turn({1: ("a", GOOD), 2: ("b", BAD)}) == dict(enumerate(answers, 1))
        loop.end()


@pytest.mark.usefixtures("installed")
def test_each_target_is_compared_with_the_decoys_by_itself(files: dict[str, str], tmp_path: Path) -> None:
    """By its cost alone the background would have been accepted as well; the decoy is better than it."""
    write_squiggle(twin := str(tmp_path / "twin.sdtw"), TWIN)
    settings = {"reference": [files["background.sdtw"], files["target.sdtw"]], "trim": "none"}
    for stages, answer in (
        ({"stages": "40:4000"}, "multi_on"),
        ({"stages": "40:40", "score": "difference"}, "single_on"),
    ):
        loop = Loop(configuration(decoy=twin, norm="blocks", cost="absolute", arithmetic="int32", **settings, **stages))
        assert loop.turn({1: ("a", GOOD)}) == {1: answer}
        loop.end()


def barcoded(number: int, insert: NDArray[np.int16], seed: int) -> NDArray[np.int16]:
    """A read that begins with a barcode."""
    front = np.repeat(CONSTRUCTS[number], 8) + np.random.default_rng(seed).normal(0, 3, 8 * CONSTRUCTS.shape[1])
    return np.concatenate([np.rint(5 * front).astype(np.int16), insert])


@pytest.mark.usefixtures("installed")
def test_conditions_by_barcode(files: dict[str, str], tmp_path: Path) -> None:
    """Each read is looked up among the targets of its barcode, from the first turn on."""
    write_squiggle(path := str(tmp_path / "barcodes.sdtw"), BARCODES)
    front = 8 * CONSTRUCTS.shape[1]
    text = configuration(reference=[files["target.sdtw"], files["background.sdtw"]], thresholds=files["stages.json"],
                         trim=front, barcodes=path)  # fmt: skip
    whole = {name: Region(name, [Interval(f"{name}_record", 0, float("inf"), strand) for strand in "+-"])
             for name in ("target", "background")}  # fmt: skip
    tables = {"barcodes_1": whole["target"], "barcodes_3": whole["background"],
              "classified": whole["background"], "unclassified": whole["target"]}  # fmt: skip
    loop = Loop(text, whole["target"], tables)
    reads = {1: ("a", barcoded(1, GOOD, 1)), 2: ("b", barcoded(3, GOOD, 2)), 3: ("c", barcoded(4, GOOD, 3)),
             4: ("d", np.append(read_of(RNG.uniform(70, 110, 90), front, 5), GOOD)),
             5: ("e", barcoded(3, BAD, 4))}  # fmt: skip
    assert loop.turn({channel: (name, read[: front + 30]) for channel, (name, read) in reads.items()}) == dict.fromkeys(
        reads, "no_seq"
    )
    assert loop.turn(reads) == {1: "single_on", 2: "single_off", 3: "single_off", 4: "single_on", 5: "single_on"}
    assert [loop.mapper._known[channel][2] for channel in reads] == [
        "barcodes_1", "barcodes_3", "barcodes_4", "unclassified", "barcodes_3",
    ]  # fmt: skip
    new = Chunk("g", GOOD[:30].tobytes(), 500, 1, 500)  # on the channel of a read with a barcode, and not decided
    calls = loop.caller.basecall([(1, new)], np.int16, None)
    assert [result.barcode for result in loop.mapper.map_reads(calls)] == ["unclassified"]
    late = Chunk("f", barcoded(1, GOOD, 9).tobytes(), 900, 1, 500)  # begins in the middle of its read
    calls = loop.caller.basecall([(6, late)], np.int16, None)
    assert [result.barcode for result in loop.mapper.map_reads(calls)] == ["unclassified"]
    loop.end()


@pytest.mark.usefixtures("installed")
def test_barcodes_without_a_reference_are_refused(files: dict[str, str], tmp_path: Path) -> None:
    """But for the two tables that readfish demands: all reads are unclassified then."""
    text = configuration(reference=files["target.sdtw"], thresholds=files["stages.json"], trim="none")
    with pytest.raises(UsageError, match="barcode barcode01 is not known; name their reference with barcodes"):
        Loop(text, WHOLE, {"barcode01": WHOLE, "classified": WHOLE, "unclassified": WHOLE})
    nothing = Region("classified", [], control=True)
    loop = Loop(text, nothing, {"classified": nothing, "unclassified": WHOLE})
    assert loop.turn({1: ("a", GOOD), 2: ("b", BAD)}) == {1: "single_on", 2: "single_off"}
    loop.end()
    write_squiggle(path := str(tmp_path / "barcodes.sdtw"), BARCODES)
    mapper = readfish.Aligner(reference=files["target.sdtw"], thresholds=files["stages.json"], barcodes=path)
    with pytest.raises(UsageError, match="barcode01 is not known; name some of: barcodes_0, barcodes_1"):
        mapper.describe([], {"barcode01": WHOLE})
    mapper.disconnect()
    with pytest.raises(UsageError, match="barcodes is one file"):
        readfish.Aligner(reference=files["target.sdtw"], stages="40:1", barcodes=[path, path])


def test_readfish_is_not_there() -> None:
    with pytest.raises(MissingDependencyError, match="readfish is not installed"):
        readfish.Caller()


@pytest.mark.usefixtures("installed")
def test_callers_have_no_settings() -> None:
    with pytest.raises(UsageError, match="no key config"):
        readfish.Caller(config="dna_r9.4.1_450bps_fast")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"reference": None}, UsageError, "name the target with reference"),
        ({"reference": 3}, UsageError, "reference is a file or a list of files"),
        ({"reference": "nothing.sdtw"}, InputError, "nothing.sdtw"),
        ({"refrence": "x"}, UsageError, "no key refrence; there are arithmetic, "),
        ({"stages": "40:1"}, UsageError, "either thresholds"),
        ({"thresholds": None}, UsageError, "either thresholds"),
        ({"thresholds": None, "stages": "x"}, UsageError, "PREFIX:REJECT"),
        ({"norm": "blocks"}, UsageError, "norm of their own"),
        ({"trim": "much"}, UsageError, "trim is"),
        ({"trim": True}, UsageError, "trim is"),
        ({"max_latency": -1}, UsageError, "max_latency"),
        ({"debug_log": "/nowhere/log"}, OutputError, "/nowhere/log: cannot be written"),
    ],
)
def test_settings_are_checked(
    files: dict[str, str], changes: dict[str, Any], kind: type[OclGenomicsError], message: str
) -> None:
    settings = {"reference": files["target.sdtw"], "thresholds": files["stages.json"]} | changes
    with pytest.raises(kind, match=message):
        readfish.Aligner(**{name: value for name, value in settings.items() if value is not None})


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Region("chip", [Interval("chr20", 0, 5, "+")]), "region chip has target chr20, which the reference lacks"),
        (Region("chip"), "region chip has no targets; name some of: target_record"),
        (Region("chip", control=True), ""),
    ],
)
def test_regions_are_checked(files: dict[str, str], region: Region, message: str) -> None:
    """A region whose targets are no sequences of the reference would have all of its reads unblocked."""
    mapper = readfish.Aligner(reference=files["target.sdtw"], thresholds=files["stages.json"])
    if message:
        with pytest.raises(UsageError, match=message):
            mapper.describe([], {"classified": region})
    else:
        assert mapper.describe([region], {})
    mapper.disconnect()
