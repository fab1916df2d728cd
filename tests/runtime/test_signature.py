"""What is read of kernels' heads is what the compiler says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.kernel_heads import FOR_CPUS, told_apart, told_heads
from helpers.products import on_one_cpu

from oclgenomics.errors import BuildError
from oclgenomics.runtime import Device, Engine, program, program as kernel_cache
from oclgenomics.runtime.preprocess import expand, preprocess
from oclgenomics.runtime.signature import signatures_of
from oclgenomics.runtime.source import load_source, source_folder

# All that kernels are written for: one of each pair of alternatives, and then the other.
VARIANTS: list[dict[str, int | str]] = [
    {"VW": 1, "CPU": 0, "LANES": 64, "EACH": 8, "ROOT": 4, "UNITS": 1, "TYPE": "uint", "KEY": "ulong", "WORDS": 2},
    {"VW": 8, "CPU": 1, "LANES": 1, "EACH": 8, "ROOT": 1, "UNITS": 1, "TYPE": "ulong", "KEY": "uint", "WORDS": 1},
]
MORE: list[dict[str, int | str]] = [
    {"KEEP_HEADS": 1, "SUM": "ulong", "WEIGHTED": 1, "SEGMENTED": 1, "MAXIMUM": 0, "SPLIT": 1, "VALUE": "uint"},
    {"KEEP_HEADS": 0, "SUM": "uint", "WEIGHTED": 0, "SEGMENTED": 0, "MAXIMUM": 1, "COMPAT": 1, "MASKED": 1},
]
OTHERS: dict[str, int | str] = {
    "KEY_BYTES": 6, "PROBES": 4, "CANONICAL": 1, "SHORT": 0, "EVERY": 65280, "STRETCH": 960, "TALLIED": 1024,
    "ITEMS": 16, "LANES_I": 8, "MEASURE": 0, "STORED": 2, "PER_HAPLOTYPE": 0, "NAMES": 1, "QUALITIES": 1,
    "CARRY_SAVE": 0, "WIDE": 0, "ROWS_EACH": 4, "MIN_QUALITY": 1, "GENOTYPES": 0, "STAGE_LINES": 1,
}  # fmt: skip


def sources() -> list[str]:
    folder = source_folder()
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.cl"))


@pytest.mark.parametrize("source", sources())
@pytest.mark.parametrize("number", [0, *on_one_cpu(1)])
def test_heads_are_read_as_the_compiler_reads_them(device: Device, source: str, number: int) -> None:
    """Names and types, as OpenCL tells them of a program that was built from its source."""
    defines = {**VARIANTS[number], **MORE[number], **OTHERS}
    if number:
        for name in ("NAMES", "QUALITIES", "MIN_QUALITY"):
            del defines[name]
    if device.kind != "cpu" and source in FOR_CPUS:
        pytest.skip("kernels for CPU devices, on which compilers of GPUs crash")
    told = (told_heads if device.kind == "cpu" else told_apart)(device, source, defines)
    if told is None:
        pytest.skip("this variant is none that the source is written for")
    found = signatures_of(load_source(source), tuple((name, str(value)) for name, value in defines.items()))
    assert told.keys() == found.keys()
    for kernel, arguments in told.items():
        read = [(one.name, one.pointer, one.dtype) for one in found[kernel].parameters]
        # PoCL's headers put a prefix before the names of built-in functions, also where they name an argument.
        assert [name for name, *_ in read] == [name.removeprefix("_cl_") for name, *_ in arguments]
        for (name, pointer, dtype), (_, true_pointer, true_type) in zip(read, arguments, strict=True):
            assert pointer == true_pointer, name
            if true_type is not None:  # else it is a name of the source's own
                assert dtype == np.dtype(true_type), name


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True), ("0", False), ("VW == 4", True), ("VW != 4", False), ("!VW", False), ("!defined(VW)", False),
        ("defined VW && VW > 3", True), ("defined(X) || VW % 2", False), ("UNKNOWN", False), ("VW >= 2u + 2u", True),
        ("(VW & 4) == 0x4ul", True), ("TWICE(VW) == 8", True), ("VW / 3 == 1", True), ("!(VW == 1) && !X", True),
    ],
)  # fmt: skip
def test_conditions(condition: str, holds: bool) -> None:
    text = f"#define TWICE(x) (2 * (x))\n#if {condition}\nyes\n#else\nno\n#endif\n"
    assert preprocess(text, {"VW": "4"})[0].split() == ["yes" if holds else "no"]


def test_a_condition_that_cannot_be_read() -> None:
    with pytest.raises(BuildError, match=r"#if 1 \? 2 : 3"):
        preprocess("#if 1 ? 2 : 3\n#endif", {})


def test_nested_and_alternative_conditions() -> None:
    text = "#ifdef A\n#if B == 1\none\n#elif B == 2\ntwo\n#elif 1\nelse\n#else\nnever\n#endif\n#else\n#endif"
    assert [preprocess(text, {"A": "", "B": b})[0].split() for b in "123"] == [["one"], ["two"], ["else"]]
    assert preprocess(text, {"B": "1"})[0].split() == []


def test_macros() -> None:
    text = """
    #define PASTE_(a, b) a##b // "
    #define PASTE(a, b) PASTE_(a, b)
    #define WIDTH 8 /* lanes
    #define WIDTH 4 */
    #define LOOP LOOP + 1
    #define TWO int x, \\
        int y
    #undef GONE
    PASTE(int, WIDTH) LOOP (TWO) GONE "WIDTH // no comment" PASTE
    """
    kept, macros = preprocess(text, {"GONE": "1"})
    assert expand(kept.split('"')[0], macros).split() == ["int8", "LOOP", "+", "1", "(int", "x,", "int", "y)", "GONE"]
    assert '"WIDTH // no comment"' in kept


def test_types() -> None:
    text = """
    typedef LONG sum_t;
    #define OUT , __global float4 *restrict out, __local uchar *room
    typedef struct { int a; } Thing;
    __kernel __attribute__((reqd_work_group_size(8, 1, 1)))
    void first(__global const sum_t *sums, const volatile uint n, sum_t one OUT, __global Thing *things) {}
    __kernel void second(void) {}
    #if 0
    __kernel void third(int a) {}
    #endif
    """
    found = signatures_of(text.replace("(void)", "()"), (("LONG", "long"),))
    assert list(found) == ["first", "second"]
    assert [(one.name, one.kind, one.pointer, one.dtype) for one in found["first"].parameters] == [
        ("sums", "long", True, np.int64),
        ("n", "uint", False, np.uint32),
        ("one", "long", False, np.int64),
        ("out", "float4", True, np.float32),
        ("room", "uchar", True, np.uint8),
        ("things", "Thing", True, None),
    ]
    assert found["second"].parameters == ()
    with pytest.raises(BuildError, match="kernel f: parameter thing is of type Thing"):
        signatures_of("__kernel void f(Thing thing) {}", ())


@pytest.mark.parametrize(
    ("kind", "value", "cast"),
    [
        ("int", 2**31 - 1, np.int32(2**31 - 1)), ("uint", 2**31, np.uint32(2**31)), ("ulong", 1, np.uint64(1)),
        ("float", 3, np.float32(3)), ("float", float("inf"), np.float32("inf")), ("double", 0.1, np.float64(0.1)),
        ("uchar", True, np.uint8(1)), ("float", np.float64(0.5), np.float32(0.5)), ("long", np.uint8(7), np.int64(7)),
    ],
)  # fmt: skip
def test_numbers_are_cast(kind: str, value: Any, cast: np.generic) -> None:
    parameter = signatures_of(f"__kernel void f({kind} x) {{}}", ())["f"].parameters[0]
    found = parameter.cast(value)
    assert (found, found.dtype) == (cast, cast.dtype)


@pytest.mark.parametrize(("kind", "value"), [("int", 2**31), ("uchar", 256), ("float", 1e39), ("ulong", -1)])
def test_numbers_that_do_not_fit(kind: str, value: float) -> None:
    parameter = signatures_of(f"__kernel void f({kind} x) {{}}", ())["f"].parameters[0]
    with pytest.raises(ValueError, match=f"does not fit into {kind}"):
        parameter.cast(value)


STRUCTURES = """
typedef struct { int first, last; float scale; ulong many; } numbers_t;
typedef struct { int first[2]; } others_t;
__kernel void take(numbers_t numbers, __global others_t *others, __global float *out)
{
    out[0] = (float)(numbers.first + 10 * numbers.last) * numbers.scale + (float)numbers.many;
}
"""


def test_structures_of_numbers() -> None:
    numbers, others, _ = signatures_of(STRUCTURES, ())["take"].parameters
    assert numbers.dtype == np.dtype([("first", "i4"), ("last", "i4"), ("scale", "f4"), ("many", "u8")], align=True)
    assert (others.pointer, others.dtype) == (True, None)
    given = {"first": 1, "last": np.int64(2), "scale": 0.5, "many": 1 << 63, "more": 9}
    assert numbers.cast(given).tolist() == (1, 2, 0.5, 1 << 63)
    with pytest.raises(ValueError, match="does not fit into int32"):
        numbers.cast(given | {"last": 1 << 31})
    for wrong in (7, {"first": 1}, None):
        with pytest.raises(TypeError, match="numbers_t takes a mapping with first, last, scale, many"):
            numbers.cast(wrong)
    with pytest.raises(BuildError, match="which nothing is cast to"):
        signatures_of(STRUCTURES.replace("__global others_t *others", "others_t others"), ())


def test_a_structure_comes_as_it_was_given(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (program, kernel_cache):
        monkeypatch.setattr(module, "load_source", lambda _: STRUCTURES)
    with Engine(device) as engine:
        out = engine.empty(1, np.float32)
        kernel = engine.kernel("omega/pair_values.cl", "take")
        numbers = {"first": 1, "last": 2, "scale": 0.5, "many": 4}
        engine.launch(kernel, (1,), (1,), numbers=numbers, others=None, out=out)
        assert engine.download(out).tolist() == [14.5]
