"""Compile every kernel for GPUs that are not here, and fail on errors and where registers do not suffice.

    python tests/compile_targets.py [--whole] [TARGET ...]

Which variants of the sources there are is not listed but seen: small jobs run on a CPU device with the kernels for
GPUs, and what the package builds meanwhile is noted. Of options that multiply, each pair of values is built somewhere;
with --whole, each combination and each size of a k-mer, and for GPUs like others as well (`LIKE_OTHERS`). Then LLVM
compiles it for AMD's GPUs and for NVIDIA's with the OpenCL library libclc, and for SPIR-V, which Intel's GPUs take.
Where ptxas is installed, it says what NVIDIA's driver would make of the PTX. Debian packages: clang-19 and libclc-19,
always the same, because what spills depends on them; and clang-N and llvm-spirv-N.
"""

from __future__ import annotations

import itertools
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from helpers.launches import (
    FAMILIES,
    KINDS,
    Case,
    counted,
    database,
    kernel_names,
    linkage,
    scans,
    sequences,
    signal_alignments,
)
from helpers.products import covering

from oclgenomics.omega.device import sites
from oclgenomics.omega.options import LD_MEASURES, PRECISIONS
from oclgenomics.runtime import Engine, list_devices, program
from oclgenomics.runtime.source import load_source
from oclgenomics.runtime.tuning import Tuning
from oclgenomics.sdtw import AlignOptions
from oclgenomics.sdtw.options import ARITHMETICS, BONUSES, COSTS, NORMS

GPU = Tuning(vector_width=1, local_size=256, builtin_popcount=True, shape="gpu")
WORDS, ALL_WORDS = (1, 2, 3, 8), range(1, 9)  # of a k-mer
CLANG = 19
TRANSLATORS = range(30, 13, -1)  # versions of llvm-spirv
# which GPUs never get
CPU_SOURCES = {
    "classify/find_candidates.cl",
    "classify/find_in_lanes.cl",
    "common/check_vector.cl",
    "kmers/encode_cpu_device.cl",
    "kmers/encode_slots.cl",
    "kmers/fill_bins.cl",
    "kmers/find_starts.cl",
    "kmers/sample_prefixes.cl",
    "kmers/line_tables.cl",
    "kmers/marked_sections.cl",
}
# libclc has no 64-bit atomics for PTX, though NVIDIA's compiler has, and plain OpenCL 1.2 has none.
INT64_ATOMICS = {"common/probe_int64_atomics.cl"}
LIBCLC = Path("/usr/lib/clc")
_SIZES = re.compile(r"^ +(?:- )?\.(name|vgpr_count|[sv]gpr_spill_count): +(\S+)$", re.MULTILINE)
_CALLED = re.compile(r"(\w+)@(?:got)?(?:pc)?rel32@lo")
_LABEL = re.compile(r"^(\w+):", re.MULTILINE)
_PTXAS_NAME = re.compile(r"Function properties for (\w+)\n.*?(\d+) bytes spill stores.*\n.*?Used (\d+) registers")


@dataclass(frozen=True)
class Variant:
    """A source and the options it is built with."""

    source: str
    options: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source} {' '.join(self.options)}"


@dataclass(frozen=True)
class Compiled:
    """What came of a variant: the registers of each kernel, and what is wrong with it."""

    variant: Variant
    registers: dict[str, int]
    failures: list[str]


Compiler = Callable[[Path, Variant], Compiled]


# Which variants there are


def jobs(*, whole: bool) -> Iterator[Case]:
    """List jobs that build the variants for GPUs that the commands do."""
    for family in FAMILIES.values():
        yield from family
    of_scans = itertools.product(KINDS, LD_MEASURES, PRECISIONS, (False, True))
    for kind, ld, precision, wide in chosen((job for job in of_scans if not refused(*job[:3])), whole=whole):
        job = partial(scans, kind=kind, kernel="2", precision=precision, ld=ld)
        yield partial(_with_wide_products, job) if wide else job
    for kind, measure, wide in chosen(itertools.product(KINDS, ("r2", "nr2"), (False, True)), whole=whole):
        job = partial(linkage, kind=kind, measure=measure)
        yield partial(_with_wide_products, job) if wide else job
    words = ALL_WORDS if whole else WORDS
    for number, canonical in itertools.product(words, (False, True)):
        yield partial(counted, k=32 * number - 1, fastq=True, canonical=canonical)
    yield from (partial(database, words=number) for number in words)
    for fastq, names, qualities in itertools.product((False, True), repeat=3):
        yield partial(sequences, fastq=fastq, names=names, qualities=qualities)
    of_signals = itertools.product(NORMS, COSTS, BONUSES, ARITHMETICS, (False, True))
    possible = [
        job for job in of_signals if (job[2] == "none" or job[3] != "float32") and (job[0] == "blocks" or not job[4])
    ]
    for norm, cost, bonus, arithmetic, state in chosen(possible, whole=whole):
        yield partial(signal_alignments, options=AlignOptions(norm, cost, bonus, arithmetic), state=state)


def refused(kind: str, ld: str, precision: str) -> bool:
    """Say whether scans refuse these options together, whose pairs with others have to occur elsewhere."""
    needs_haplotypes = ld != "RSQUARE" or (kind == "unphased" and precision == "compat")
    return (kind in ("unphased", "multiallelic") and needs_haplotypes) or (ld, precision) == ("ABSDOM2", "accurate")


def chosen(product: Iterable[tuple[Any, ...]], *, whole: bool) -> list[tuple[Any, ...]]:
    """Return combinations in which each pair of values occurs, or all."""
    product = list(product)
    some = covering(product, 2)
    return [choice for choice in product if whole or choice in some]


def _with_wide_products(job: Case, device: Engine) -> None:
    """Do a job as if there were so many haplotypes that products of counts take 64 bits."""
    with mock.patch.object(sites, "WIDE_BITS", 1):
        job(device)


def variants(*, whole: bool = False) -> list[Variant]:
    """Run the jobs, on Intel's CPU runtime, and return what they build."""
    found: dict[Variant, None] = {}
    build = program._from_source

    def noted(context: Any, device: Any, source: str, text: str, options: list[str]) -> Any:
        found[Variant(source, tuple(options))] = None
        return build(context, device, source, text, [*options, "-cl-opt-disable"])  # sooner done

    intel = next(device for device in list_devices() if device.family == "intel" and device.kind == "cpu")
    with (
        Engine(intel, tuning=GPU) as device,  # first, for what is kept of its self-test
        mock.patch.object(program, "_from_source", noted),
        mock.patch.dict(os.environ, {"OCLGENOMICS_CACHE": "off"}),
    ):
        for job in jobs(whole=whole):
            job(device)
    missing = {source for source, _ in kernel_names()} - CPU_SOURCES - {variant.source for variant in found}
    if missing:
        raise SystemExit(f"no job builds {', '.join(sorted(missing))}; add one to tests/helpers/launches.py")
    return [variant for variant in found if variant.source not in CPU_SOURCES]


# Compilers


def library(name: str) -> list[str]:
    """Return the options that link a file of libclc, if it and its compiler are installed."""
    path = LIBCLC / name
    if shutil.which(f"clang-{CLANG}") is None or not path.exists():
        raise SystemExit(f"there is no clang-{CLANG} or no {path}: install clang-{CLANG} and libclc-{CLANG}")
    return ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(path)]


def translator() -> int:
    """Return the newest version of which both llvm-spirv and clang are installed."""
    for number in TRANSLATORS:
        if shutil.which(f"clang-{number}") and shutil.which(f"llvm-spirv-{number}"):
            return number
    raise SystemExit("there is no llvm-spirv-N with a clang-N: install both, for instance of version 15")


def run(command: list[str], folder: Path) -> str:
    """Run a compiler and return what it says where it fails, or ""."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"{command[0]} ended with {done.returncode}")


def clang(number: int, triple: str, variant: Variant, *more: str) -> list[str]:
    """Return a command that compiles `kernel.cl` as a driver does."""
    return [f"clang-{number}", "-x", "cl", "-target", triple, *variant.options, *more, "kernel.cl"]


def for_amd(processor: str) -> Compiler:
    """Compile to assembly, whose metadata tell registers and what was spilled."""
    linked = ["-nogpulib", *library("amdgcn--amdhsa.bc")]

    def compiled(folder: Path, variant: Variant) -> Compiled:
        more = [f"-mcpu={processor}", *linked, "-O3", "-S", "-o", "kernel.s"]
        error = run(clang(CLANG, "amdgcn--amdhsa", variant, *more), folder)
        if error:
            return Compiled(variant, {}, [error])
        text = (folder / "kernel.s").read_text()
        lost = set(_CALLED.findall(text)) - set(_LABEL.findall(text))
        failures = [f"calls {name}, which nothing defines" for name in sorted(lost)]
        registers: dict[str, int] = {}
        kernels = text.partition("amdhsa.kernels:")[2].partition("amdhsa.target:")[0].split("\n  - ")[1:]
        for kernel in kernels:
            values = dict(_SIZES.findall("\n    " + kernel))
            registers[values["name"]] = int(values["vgpr_count"])
            spilled = {kind: int(values[f"{kind}gpr_spill_count"]) for kind in "vs"}
            if any(spilled.values()):
                failures.append(f"{values['name']} spills {spilled['v']} vector and {spilled['s']} scalar registers")
        return Compiled(variant, registers, failures if registers else [*failures, "holds no kernel"])

    return compiled


def for_nvidia(processor: str) -> Compiler:
    """Compile to PTX, and with ptxas to machine code, whose registers it tells."""
    linked, ptxas = library("nvptx64--nvidiacl.bc"), shutil.which("ptxas")

    def compiled(folder: Path, variant: Variant) -> Compiled:
        if variant.source in INT64_ATOMICS:
            return Compiled(variant, {}, [])
        more = [f"-march={processor}", *linked, "-O3", "-S", "-o", "kernel.ptx"]
        error = run(clang(CLANG, "nvptx64--nvidiacl", variant, *more), folder)
        if error:
            return Compiled(variant, {}, [error])
        lost = re.findall(r"^\.extern \.func.*?(\w+)$", (folder / "kernel.ptx").read_text(), re.MULTILINE)
        failures = [f"calls {name}, which nothing defines" for name in lost]
        if ptxas is None or lost:
            return Compiled(variant, {}, failures)
        command = [ptxas, f"-arch={processor}", "-v", "kernel.ptx", "-o", "kernel.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        found = _PTXAS_NAME.findall(done.stderr)
        failures += [f"{name} spills {spilled} bytes" for name, spilled, _ in found if int(spilled)]
        if done.returncode or not found:
            failures.append(done.stderr.strip() or "ptxas says nothing")
        return Compiled(variant, {name: int(used) for name, _, used in found}, failures)

    return compiled


def for_spirv() -> Compiler:
    """Compile to SPIR-V, and have spirv-val look at it where it is installed.

    Without optimisation, which brings instructions that SPIR-V lacks.
    """
    number, check = translator(), shutil.which("spirv-val")

    def compiled(folder: Path, variant: Variant) -> Compiled:
        error = run(clang(number, "spir64", variant, "-O0", "-emit-llvm", "-c", "-o", "kernel.bc"), folder)
        error = error or run(
            [f"llvm-spirv-{number}", "--spirv-max-version=1.0", "kernel.bc", "-o", "kernel.spv"], folder
        )
        if check and not error:
            environment = "spv1.0" if variant.source in INT64_ATOMICS else "opencl1.2"
            error = run([check, "--target-env", environment, "kernel.spv"], folder)
        return Compiled(variant, {}, [error] if error else [])

    return compiled


TARGETS: dict[str, Callable[[], Compiler]] = {
    "gfx90a": lambda: for_amd("gfx90a"),  # MI200
    "gfx942": lambda: for_amd("gfx942"),  # MI300
    "gfx1100": lambda: for_amd("gfx1100"),  # RX 7900
    "nvptx64": lambda: for_nvidia("sm_75"),
    "spirv": for_spirv,
}

LIKE_OTHERS = ("gfx942",)  # has the registers of gfx90a


def compile_one(compiler: Compiler, variant: Variant) -> Compiled:
    """Compile a variant in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.cl").write_text(load_source(variant.source))
        return compiler(Path(folder), variant)


def report(target: str, compiled: list[Compiled]) -> int:
    """Print what came of one target; return how many variants failed."""
    failed = [one for one in compiled if one.failures]
    used = {(name, one.variant): count for one in compiled for name, count in one.registers.items()}
    most = max(used, key=used.__getitem__, default=None)
    largest = f"; most registers: {used[most]} in {most[0]}" if most else ""
    print(f"{target}: {len(compiled) - len(failed)} of {len(compiled)} variants{largest}", flush=True)
    for one in failed:
        print(f"  {one.variant}")
        for failure in one.failures:
            print("    " + failure.replace("\n", "\n    "), flush=True)
    return len(failed)


def main() -> int:
    """Compile for the targets that the command line names, or all; 1 where anything fails."""
    named = [word for word in sys.argv[1:] if word != "--whole"]
    whole = "--whole" in sys.argv[1:]
    wanted = named or [target for target in TARGETS if whole or target not in LIKE_OTHERS]
    unknown = [target for target in wanted if target not in TARGETS]
    if unknown:
        raise SystemExit(f"no target {unknown[0]}; there are {', '.join(TARGETS)}")
    start = time.perf_counter()
    compilers = {target: TARGETS[target]() for target in wanted}
    found = variants(whole=whole)
    print(f"{len(found)} variants seen in {time.perf_counter() - start:.0f} s", flush=True)
    os.nice(19)  # compilers have time, unlike tests that run beside them
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = {target: pool.map(partial(compile_one, compilers[target]), found) for target in wanted}
        failed = sum(report(target, list(results[target])) for target in wanted)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    seconds = time.perf_counter() - start
    print(f"{len(wanted)} targets: {failed or 'no'} failures in {seconds:.0f} s, {used:.0f} s of processors")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
