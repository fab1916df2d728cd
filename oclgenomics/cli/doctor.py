"""`oclgenomics doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics import __version__
from oclgenomics.errors import DeviceError

if TYPE_CHECKING:
    from oclgenomics.runtime import Device

__all__ = ["Finding", "add_parser", "examine", "run"]

NO_DEVICE = 4
CHECK_SECONDS = 300
PACKAGES = ("pyopencl", "pocl-binary-distribution", "intel-opencl-rt", "numpy", "siphash", "siphash24", "matplotlib")
VARIABLES = (
    "OCLGENOMICS_DEVICE",
    "OCLGENOMICS_CACHE",
    "PYOPENCL_CTX",
    "OCL_ICD_VENDORS",
    "OPENCL_VENDOR_PATH",
    "OCL_ICD_FILENAMES",
    "RUSTICL_ENABLE",
    "POCL_DEVICES",
    "CUDA_VISIBLE_DEVICES",
)


@dataclass(frozen=True)
class Finding:
    """One line of the report: `state` is 'ok', 'note' or 'problem', `remedy` what to do."""

    topic: str
    state: str
    text: str
    remedy: str = ""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "doctor",
        help="check the OpenCL installation",
        description="Check loader, platforms, devices and cache; exit status 4 if no device works.",
    )
    parser.add_argument("--json", action="store_true", help="write JSON (default: text)")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument("--check-device", type=int, metavar="INDEX", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the findings."""
    if args.check_device is not None:
        print(_compile_and_run(args.check_device))
        return 0
    findings = examine()
    if args.json:
        import json

        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"[{finding.state:>7}] {finding.topic}: {finding.text}")
            if finding.remedy:
                print(f"          -> {finding.remedy}")
    works = any(finding.topic.startswith("device") and finding.state == "ok" for finding in findings)
    return 0 if works else NO_DEVICE


def examine() -> list[Finding]:
    """Check everything."""
    try:
        return [*_versions(), *_variables(), *_loader(), *_icd_files(), *_platforms(), *_devices(), *_cache()]
    except DeviceError as error:  # PyOpenCL itself cannot be loaded
        return [*_versions(), *_variables(), Finding("loader", "problem", str(error)), *_cache()]


def _versions() -> list[Finding]:
    from importlib import metadata

    found = [f"oclgenomics {__version__}", f"Python {sys.version.split()[0]}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"{package} absent")
    return [Finding("versions", "ok", ", ".join(found))]


def _variables() -> list[Finding]:
    return [Finding("variable", "note", f"{name}={os.environ[name]}") for name in VARIABLES if os.environ.get(name)]


def _loader() -> list[Finding]:
    from oclgenomics.runtime import loader

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
    from oclgenomics.runtime import loader

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
    from oclgenomics.runtime.loader import library_stem

    return any(library_stem(loaded) == library_stem(library) for loaded in present)


def _platforms() -> list[Finding]:
    from oclgenomics.runtime.devices import list_platforms
    from oclgenomics.runtime.loader import install_hint

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
    return findings or [Finding("platform", "problem", "there is none", install_hint())]


def _devices() -> list[Finding]:
    from oclgenomics.runtime import list_devices

    return [_checked(device) for device in list_devices()]


def _checked(device: Device) -> Finding:
    """Compile and run kernels in a process of its own, because a broken driver may take the process down."""
    import signal
    import subprocess
    import tempfile

    topic = f"device {device.index}"
    command = [sys.executable, "-m", "oclgenomics", "doctor", "--check-device", str(device.index)]
    remedy = "update or reinstall its driver, or choose another device with -d or OCLGENOMICS_DEVICE"
    with tempfile.TemporaryDirectory() as cache:  # nothing cached, so that the compiler is tested as well
        try:
            done = subprocess.run(
                command,
                env={**os.environ, "OCLGENOMICS_CACHE": cache},
                capture_output=True,
                text=True,
                timeout=CHECK_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Finding(topic, "problem", f"{device}: no answer in {CHECK_SECONDS} s", remedy)
    if done.returncode == 0:
        return Finding(topic, "ok", f"{device}: {done.stdout.strip()}")
    if done.returncode < 0:
        trouble = f"ended by {signal.Signals(-done.returncode).name}"
    else:
        trouble = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return Finding(topic, "problem", f"{device}: {trouble}", remedy)


def _compile_and_run(index: int) -> str:
    import numpy as np

    from oclgenomics.runtime import Engine

    with Engine(str(index)) as engine:
        x = np.arange(1, 1025, dtype=np.float32)
        result = engine.empty((x.size, 4), np.float32)
        kernel = engine.kernel("common/probe_float.cl", "probe_float")
        engine.launch(kernel, (x.size,), None, engine.upload(x), engine.upload(x), result)
        if not np.array_equal(engine.download(result)[:, 3], x * x - x):
            raise DeviceError(f"{engine.device} computes wrongly")
        traits = asdict(engine.traits)
    names = [name.replace("_", " ") for name, value in traits.items() if value]
    missing = [name.replace("_", " ") for name, value in traits.items() if not value]
    return f"compiles and runs; has {', '.join(names) or 'no optional trait'}" + (
        f"; lacks {', '.join(missing)}" if missing else ""
    )


def _cache() -> list[Finding]:
    from oclgenomics.runtime import diskcache

    folder = diskcache.wanted_folder()
    if folder is None:
        return [
            Finding("cache", "note", f"off by {diskcache.VARIABLE}", "every start compiles anew; unset the variable")
        ]
    reason = diskcache.distrust(folder)
    if reason:
        remedy = f"make it yours alone (chmod go-w), or set {diskcache.VARIABLE}; until then every start compiles anew"
        return [Finding("cache", "problem", f"{folder} is not used: {reason}", remedy)]
    try:
        diskcache.write_whole(folder / "writable", b"")
        (folder / "writable").unlink()
    except OSError as error:
        remedy = (
            f"make it writable, or set {diskcache.VARIABLE} to another folder; without it every start compiles anew"
        )
        return [Finding("cache", "problem", f"{folder} cannot be written ({error.strerror})", remedy)]
    count, size = diskcache.usage()
    return [Finding("cache", "ok", f"{folder}, {count} entries, {size / 2**20:.1f} of {diskcache.CAP_BYTES >> 20} MiB")]
