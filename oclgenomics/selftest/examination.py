"""The examination of an installation: what works, what does not, and what to do about it.

`oclgenomics doctor` prints what it finds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from oclgenomics import __version__
from oclgenomics.errors import DeviceError
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.runtime import Device, Engine, cores, diskcache, list_devices, loader, trust
from oclgenomics.runtime.devices import list_platforms
from oclgenomics.runtime.pocl import knows_processor
from oclgenomics.selftest.golden_jobs import JOBS

JOB_SECONDS = 600
PACKAGES = ("pyopencl", "pocl-binary-distribution", "intel-opencl-rt", "numpy", "siphash", "siphash24", "matplotlib")
VARIABLES = (
    "OCLGENOMICS_DEVICE", "OCLGENOMICS_CACHE", "OCLGENOMICS_THREADS", "PYOPENCL_CTX", "OCL_ICD_VENDORS",
    "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "RUSTICL_ENABLE", "POCL_DEVICES", "CUDA_VISIBLE_DEVICES",
    "SLURM_CPUS_PER_TASK", *(name for names in cores.VARIABLES.values() for name in names),
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One line of the report: `state` is 'ok', 'note' or 'problem', `remedy` what to do."""

    topic: str
    state: str
    text: str
    remedy: str = ""


def examine(*, with_jobs: bool = False) -> list[Finding]:
    """Check everything; the golden jobs only if asked."""
    try:
        devices = _devices(with_jobs)
        return [*_versions(), *_variables(), *_cores(), *_loader(), *_icd_files(), *_platforms(), *devices, *_cache()]
    except DeviceError as error:  # PyOpenCL itself cannot be loaded
        return [*_versions(), *_variables(), *_cores(), Finding("loader", "problem", str(error)), *_cache()]


def _versions() -> list[Finding]:
    found = [f"oclgenomics {__version__}", f"Python {sys.version.split()[0]}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"{package} absent")
    return [Finding("versions", "ok", ", ".join(found))]


def _variables() -> list[Finding]:
    return [Finding("variable", "note", f"{name}={os.environ[name]}") for name in VARIABLES if os.environ.get(name)]


def _cores() -> list[Finding]:
    """Say how many cores may be used: the limits of the system and of variables together."""
    cores_here, usable = os.cpu_count() or 1, usable_cores()
    return [Finding("cores", "ok" if usable == cores_here else "note", f"{usable} of {cores_here} may be used")]


def _loader() -> list[Finding]:
    loader.opencl()
    libraries = [path for path in _loaded_libraries() if "libOpenCL" in path.name]
    if not libraries:
        return [Finding("loader", "note", "PyOpenCL is loaded; which OpenCL library it uses cannot be told here")]
    return [Finding("loader", "ok", ", ".join(map(str, libraries)))]


def _loaded_libraries() -> list[Path]:
    """List the shared libraries in this process, where the system shows them."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    return [Path(name) for name in dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines if ".so" in line)]


def _icd_files() -> list[Finding]:
    findings = []
    present = {library.resolve().name for library in _loaded_libraries()}
    for file in loader.icd_files():
        try:
            library = file.read_text().strip()
        except OSError as error:
            findings.append(
                Finding("ICD file", "problem", f"{file}: {error.strerror}", "make it readable or remove it")
            )
            continue
        if _is_loaded(library, present):
            findings.append(Finding("ICD file", "ok", f"{file} -> {library}"))
        else:
            remedy = "install that runtime again, or remove the file"
            if loader.conda_folder() is not None and file.parent == loader.SYSTEM_FOLDER:
                remedy = f"conda's loader does not look there ({loader.CONDA_SYSTEM})"
            findings.append(Finding("ICD file", "note", f"{file} -> {library}, which is not loaded", remedy))
    for name in loader.missing_runtimes():
        loaded = _is_loaded(name, present)
        remedy = "" if loaded else "unset OCL_ICD_VENDORS and OPENCL_VENDOR_PATH, or install that runtime again"
        findings.append(
            Finding("runtime", "ok" if loaded else "problem", f"{name}, found without a working ICD file", remedy)
        )
    return findings


def _is_loaded(library: str, present: set[str]) -> bool:
    """Say whether a library, by path or by name, is among those loaded, whatever their version."""
    return any(loader.library_stem(loaded) == loader.library_stem(library) for loaded in present)


def _platforms() -> list[Finding]:
    findings = []
    for report in list_platforms():
        text = f"{report.index}: {report.name}, {report.version}, {len(report.devices)} device(s)"
        remedy = ""
        if report.trouble and report.name.lower() == "rusticl":
            remedy = "harmless; to use it, set RUSTICL_ENABLE to the driver (llvmpipe, radeonsi, iris, ...)"
        elif report.trouble:
            remedy = "harmless if other devices are listed; else install the driver of the device"
        trouble = f"; {report.trouble}" if report.trouble else ""
        findings.append(Finding("platform", "note" if trouble else "ok", text + trouble, remedy))
    return findings or [Finding("platform", "problem", "there is none", loader.install_hint())]


def _devices(with_jobs: bool) -> list[Finding]:
    findings = []
    for device in list_devices():
        tested = _tested(device)
        findings.append(tested)
        if with_jobs and tested.state == "ok":
            findings += _jobs_on(device)
    return findings


def _tested(device: Device) -> Finding:
    """Run the self-test, whatever is known already, and tell what failed."""
    topic = f"device {device.index}"
    if device.family == "oclgrind":
        return Finding(topic, "note", f"{device}: a simulator, which is not tested")
    try:
        verdict = trust.examine(device)
    except DeviceError as error:
        return Finding(topic, "problem", str(error), "install oclgenomics and what it needs again")
    if verdict.failed:
        wrong = "; ".join(f"{name}: {what}" for name, what in verdict.failed.items())
        return Finding(topic, "problem", f"{device}: fails the self-test: {wrong}", _remedy(device))
    has = ", ".join(_trait(name, value) for name, value in verdict.traits.items() if value) or "no optional trait"
    lacks = ", ".join(name.replace("_", " ") for name, value in verdict.traits.items() if not value)
    units = f"{device.compute_units} compute unit{'s' * (device.compute_units != 1)}"
    text = f"{device}: passes the self-test; has {units}, {has}" + (f"; lacks {lacks}" if lacks else "")
    return Finding(topic, "ok", text)


def _remedy(device: Device) -> str:
    """Say what to do about a device that fails the self-test."""
    if device.family == "pocl" and not knows_processor(device.version):
        return (
            "it is not used: the compiler of this PoCL is older than the processor. A PoCL built with LLVM 19.1 or "
            "later knows AMD's Zen 5, with LLVM 16 Zen 4; conda-forge has one (conda install -c conda-forge pocl). "
            "Devices of Intel's CPU runtime work without it"
        )
    return "it is not used; update or reinstall its driver, or choose another device with -d"


def _trait(name: str, value: bool | float) -> str:
    words = name.replace("_", " ")
    return words if isinstance(value, bool) else f"{words} {value:.1e}"


def _jobs_on(device: Device) -> list[Finding]:
    """Run the golden jobs in a process of its own, because a broken driver may take the process down."""
    topic, remedy = f"jobs on {device.index}", "please report it; until then choose another device with -d"
    command = child_python("-m", "oclgenomics", "doctor", "--jobs-on", str(device.index))
    try:
        done = subprocess.run(
            command, env=child_environment(), capture_output=True, text=True, timeout=JOB_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return [Finding(topic, "problem", f"no answer in {JOB_SECONDS} s", remedy)]
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    findings = [
        Finding(topic, "problem", f"{one['job']}: {one['wrong']}", remedy)
        if one["wrong"]
        else Finding(topic, "ok", f"{one['job']}: right")
        for one in answers
    ]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        trouble = last if done.returncode > 0 else f"ended by {signal.Signals(-done.returncode).name}"
        findings.append(Finding(topic, "problem", trouble, remedy))
    return findings


def run_jobs(index: int) -> None:
    """Write a line of JSON for each golden job: its name and what is wrong, if anything."""
    for name, job in JOBS.items():
        with Engine(str(index)) as engine:
            print(json.dumps({"job": name, "wrong": job(engine) or ""}), flush=True)


def _cache() -> list[Finding]:
    folder = diskcache.wanted_folder()
    if folder is None:
        return [
            Finding("cache", "note", f"off by {diskcache.VARIABLE}", "every start compiles again; unset the variable")
        ]
    distrusted = diskcache.distrusted()
    if distrusted:
        remedy = f"remove it, or set {diskcache.VARIABLE} to a folder of yours; until then every start compiles again"
        return [Finding("cache", "problem", f"{place} is not used: {why}", remedy) for place, why in distrusted]
    try:
        diskcache.write_whole(folder / "writable", b"")
        (folder / "writable").unlink()
    except OSError as error:
        remedy = (
            f"make it writable, or set {diskcache.VARIABLE} to another folder; without it every start compiles again"
        )
        return [Finding("cache", "problem", f"{folder} cannot be written ({error.strerror})", remedy)]
    count, size = diskcache.usage()
    return [Finding("cache", "ok", f"{folder}, {count} entries, {size / 2**20:.1f} of {diskcache.CAP_BYTES >> 20} MiB")]
