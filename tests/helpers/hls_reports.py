"""Reports of synthesis and cosimulation with the structure of the vendor's, and numbers of our own."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LARGE", "calls", "cosim", "variables", "vitis", "vivado"]

LARGE = {"BRAM_18K": 4320, "DSP": 6840, "FF": 2364480, "LUT": 1182240, "URAM": 960}
USED = {"BRAM_18K": 90, "DSP": 330, "FF": 81000, "LUT": 92000, "URAM": 0}


def _amounts(values: Mapping[str, object], dsp: str) -> str:
    tags = {name: dsp if name == "DSP" else name for name in values}
    return "".join(f"<{tags[name]}>{value}</{tags[name]}>\n" for name, value in values.items())


def _loop(name: str, *, inner: str = "", listed: bool = False, **values: object) -> str:
    own = f"<Name>{name}</Name>" if listed else ""
    own += "".join(f"<{tag}>{value}</{tag}>" for tag, value in values.items())
    return f"<{name}>{own}{inner}</{name}>\n"


def _profile(head: str, performance: str, rest: str, used: Mapping[str, object], dsp: str) -> str:
    return f"""<profile>
{head}
<PerformanceEstimates>
<PipelineType>none</PipelineType>
{performance}
</PerformanceEstimates>
<AreaEstimates>
<Resources>
{_amounts(used, dsp)}</Resources>
<AvailableResources>
{_amounts(LARGE, dsp)}</AvailableResources>
</AreaEstimates>
<InterfaceSummary><RtlPorts><name>ap_clk</name><Bits>1</Bits></RtlPorts></InterfaceSummary>
{rest}
</profile>
"""


def _head(version: str, top: str, part: str, flow: str = "") -> str:
    return f"""<ReportVersion><Version>{version}</Version></ReportVersion>
<UserAssignments>
<unit>ns</unit>
<ProductFamily>virtexuplus</ProductFamily>
<Part>{part}</Part>
<TopModelName>{top}</TopModelName>
<TargetClockPeriod>4.00</TargetClockPeriod>
<ClockUncertainty>0.50</ClockUncertainty>
{flow}</UserAssignments>"""


def _latency(best: object, worst: object, estimated: float) -> str:
    return f"""<SummaryOfTimingAnalysis>
<EstimatedClockPeriod>{estimated}</EstimatedClockPeriod></SummaryOfTimingAnalysis>
<SummaryOfOverallLatency>
<unit>clock cycles</unit>
<Best-caseLatency>{best}</Best-caseLatency>
<Average-caseLatency>undef</Average-caseLatency>
<Worst-caseLatency>{worst}</Worst-caseLatency>
<Interval-min>{best}</Interval-min>
<Interval-max>{worst}</Interval-max>
</SummaryOfOverallLatency>"""


def vivado(
    *, best: object = 1210, worst: object = 1300, estimated: float = 3.4, part: str = "xcu200-fsgd2104-2-e",
    top: str = "omega_kernel", depth: int = 39,
) -> str:  # fmt: skip
    """A report as up to 2020.1: DSP48E, loops within each other, ranges as elements."""
    inner = _loop("beats", TripCount=32, Latency=70, PipelineII=1, PipelineDepth=depth)
    span = "<range><min>80</min><max>90</max></range>"
    outer = _loop("columns", TripCount=8, Latency="undef", IterationLatency=span, inner=inner)
    prefetch = _loop("prefetch", TripCount=32, Latency=33, PipelineII=1, PipelineDepth=2)
    performance = (
        _latency(best, worst, estimated) + f"\n<SummaryOfLoopLatency>\n{prefetch}{outer}</SummaryOfLoopLatency>"
    )
    return _profile(_head("2020.1", top, part), performance, "", USED, "DSP48E")


def vitis(*, worst: object = "?", trips: str = "1 ~ 32", estimated: float = 2.9) -> str:
    """A report of later versions: DSP, loops of each module, and the loop's functions of their own."""
    loop = _loop(
        "beats", listed=True, TripCount=trips, Latency="38 ~ 70", AbsoluteTimeLatency="0.2 us", PipelineII=1,
        PipelineDepth=40, PipelineType="yes",
    )  # fmt: skip
    module = f"""<Module><Name>omega_kernel_Pipeline_beats</Name><Loops><beats/></Loops>
<PerformanceEstimates><SummaryOfOverallLatency><Best-caseLatency>38</Best-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency>{loop}</SummaryOfLoopLatency></PerformanceEstimates></Module>"""
    head = _head("2022.2", "omega_kernel", "xcu200-fsgd2104-2-e", "<FlowTarget>vitis</FlowTarget>")
    performance = _latency("?", worst, estimated)
    return _profile(head, performance, f"<ModuleInformation>{module}</ModuleInformation>", USED, "DSP")


def cosim(verilog: tuple[str, str, str, str] = ("Pass", "1215", "1215", "1215"), *, total: bool = False) -> str:
    """The table of a cosimulation; `total` adds the column of later versions."""
    last = "|     1215|" if total else "|"
    cells = "|".join(f"{cell:>15}" for cell in (*verilog[1:], "NA", "NA", "NA"))
    nothing = "|".join(["             NA"] * 6)
    return f"""Report time       : Fri 1 Jan 2021.
Solution          : solution.
Simulation tool   : xsim.

+----------+----------+-----------------------------------------------+-----------------------------------------------+
|          |          |                    Latency                    |                    Interval                   |
+   RTL    +  Status  +-----------------------------------------------+-----------------------------------------------+
|          |          |      min      |      avg      |      max      |      min      |      avg      |      max      |
+----------+----------+-----------------------------------------------+-----------------------------------------------+
|      VHDL|        NA|{nothing}{last}
|   Verilog|{verilog[0]:>10}|{cells}{last}
+----------+----------+-----------------------------------------------+-----------------------------------------------+
"""


def variables() -> str:
    """A `lat.rpt`."""
    return "".join(
        f'${name} = "{value}"\n'
        for name, value in (("MAX_LATENCY", 1300), ("MIN_LATENCY", 1215), ("AVER_LATENCY", 1250), ("MAX_THROUGHPUT", 0))
    )


def calls() -> str:
    """A list of transactions."""
    return "                            latency            interval\n" + "".join(
        f"transaction{number:>9}{mark}{cycles:>15}              x\n"
        for number, (mark, cycles) in enumerate(((":", 1200), (" ", 1230), ("", 1215)))
    )
