"""Whether a device computes correctly here: tested when device, driver and processor meet for the first time.

The test is `selftest.device_test`, in a process of its own, since an abort, a crash or a hang is an answer, too. The
answer is kept on disk, by what it depends on; a failure is tested again after a day. Later runs read one small file.
`OCLGENOMICS_TRUSTED` spares the children of a process the test of what it found right.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics import notices
from oclgenomics.errors import DeviceError, UntrustedDeviceError
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.lazy_names import late
from oclgenomics.runtime import diskcache, pocl, processor
from oclgenomics.runtime.loader import loaded_libraries
from oclgenomics.runtime.source import source_folder

if TYPE_CHECKING:
    from oclgenomics.runtime.devices import Device

futures = late("concurrent.futures")
subprocess = late("subprocess")


TRUSTED = "OCLGENOMICS_TRUSTED"
SECONDS = 60  # of a core, for all idioms together; they need 1 to 3
SECONDS_ALONE = 30
WAITING = 10  # times the time that may be computed
AT_ONCE = 4
DAY = 86400
# Words in the names of a runtime's libraries; of other runtimes, all that have to do with OpenCL.
_LIBRARIES = {
    "pocl": ("libpocl",),
    "intel": ("libintelocl", "libigdrcl"),
    "nvidia": ("nvidia-opencl", "libcuda.so"),
    "rusticl": ("rusticl",),
}
# What the answer depends on: the kernels with all that they include, and the modules of the test.
_TESTED_NAMES = "check_scalar.cl check_vector.cl check_fp64.cl hash.clh bits.clh fetch.clh portable.clh"
TESTED_KERNELS = tuple(f"common/{name}" for name in _TESTED_NAMES.split())
_TEST_MODULES = ("selftest/idioms.py", "selftest/idiom_values.py", "selftest/device_test.py", "runtime/tuning.py")
_POCL_BUILTINS = "../../pocl_binary_distribution/.libs/share/pocl/kernel-*.bc"


@dataclass(frozen=True)
class Verdict:
    """What the self-test said of a device.

    Attributes
    ----------
    failed : dict
        What is wrong with each idiom that failed; empty where the device can be trusted.
    when : float
        Seconds since the epoch.
    traits : dict
        The device's traits, if the test ran to its end.
    """

    failed: dict[str, str]
    when: float = 0.0
    traits: dict[str, Any] = field(default_factory=dict)

    @property
    def trouble(self) -> str:
        """The first failure, in a few words; empty where there is none."""
        if not self.failed:
            return ""
        name, what = next(iter(self.failed.items()))
        more = f" (and {len(self.failed) - 1} more)" if len(self.failed) > 1 else ""
        return f"{name}: {what}{more}"


_known: dict[str, Verdict] = {}


def verdict_on(device: Device) -> Verdict:
    """Return what the self-test says of a device; run it where nobody has, which takes some seconds.

    Raises
    ------
    DeviceError
        The test cannot be started.
    """
    kept = kept_verdict(device)
    if kept is not None:
        return kept
    notices.tell(f"testing device {device.index}, {device}, once on this machine ...")
    verdict = examine(device)
    if diskcache.load("traits", _key(device)) is None:
        notices.tell(
            "the test's answer cannot be kept, so every start tests again; "
            f"set {diskcache.VARIABLE} to a folder of yours that can be written"
        )
    return verdict


def kept_verdict(device: Device) -> Verdict | None:
    """Return what an earlier self-test said of a device, or None."""
    if device.family == "oclgrind":  # a simulator for tests of kernels: right, and far too slow to test
        return Verdict({})
    key = _key(device)
    if key not in _known:
        content = diskcache.load("traits", key)
        if content is not None:
            verdict = Verdict(**json.loads(content))
            if not verdict.failed or time.time() - verdict.when < DAY:
                _know(key, verdict)
        elif key[:16] in os.environ.get(TRUSTED, "").split(","):
            _known[key] = Verdict({})
    return _known.get(key)


def require_trust(device: Device) -> None:
    """Refuse a device that fails the self-test.

    Raises
    ------
    UntrustedDeviceError
        What failed and what to do.
    """
    trouble = verdict_on(device).trouble
    if trouble:
        raise UntrustedDeviceError(
            f"device {device.index}, {device}, fails the self-test: {trouble}; choose another `device` or update "
            "its driver; `oclgenomics doctor` tests again and says more"
        )


def examine(device: Device) -> Verdict:
    """Run the self-test, whatever is known already, and keep what it says.

    Raises
    ------
    DeviceError
        The test cannot be started.
    """
    with notices.doing(f"testing {device.name}"):
        verdict = _test(device)
    diskcache.store("traits", _key(device), json.dumps(vars(verdict)).encode())
    _know(_key(device), verdict)
    return verdict


def _know(key: str, verdict: Verdict) -> None:
    _known[key] = verdict
    trusted = [one for one in os.environ.get(TRUSTED, "").split(",") if one and one != key[:16]]
    os.environ[TRUSTED] = ",".join(trusted if verdict.failed else [*trusted, key[:16]])


def _test(device: Device) -> Verdict:
    """Test all idioms together; where that does not come to its end, find out which one it was."""
    if device.family == "pocl" and not pocl.knows_processor(device.version):
        return Verdict({"compiler": "it is older than this processor and compiles nothing for it"}, time.time())
    run = _run(device, SECONDS)
    failed = {name: wrong for name, wrong in run.answers.items() if wrong}
    if run.trouble:
        failed |= _one_by_one(device, [name for name in run.idioms if run.answers.get(name, "not run")])
    if run.trouble and not failed:
        failed = {"all idioms together": run.trouble}
    return Verdict(failed, time.time(), run.traits)


def _one_by_one(device: Device, names: list[str]) -> dict[str, str]:
    """Test each of these idioms in a process of its own."""
    with futures.ThreadPoolExecutor(min(AT_ONCE, usable_cores())) as pool:
        runs = list(pool.map(lambda name: _run(device, SECONDS_ALONE, name), names))
    found = {name: run.answers.get(name) or run.trouble for name, run in zip(names, runs, strict=True)}
    return {name: what for name, what in found.items() if what}


@dataclass
class _Run:
    """What one process of the self-test answered, and how it ended where that was not well."""

    idioms: list[str] = field(default_factory=list)  # that the device is tested with
    answers: dict[str, str | None] = field(default_factory=dict)
    traits: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""


def _run(device: Device, seconds: int, *only: str) -> _Run:
    limit = WAITING * seconds + 30  # the process ends itself before, if it can be ended at all
    words = [str(device.index), device.key, str(seconds), *only]
    command = child_python("-m", "oclgenomics.selftest.device_test", *words)
    environment = child_environment() | {"POCL_KERNEL_CACHE": "0"}
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as error:
        return _read(error.stdout or b"", f"no answer in {seconds} s")
    except OSError as error:
        raise DeviceError(f"{device} cannot be tested: {sys.executable}: {error.strerror}") from error
    last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    run = _read(done.stdout, _ending(done.returncode, seconds, last))
    if done.returncode > 0 and not run.idioms:
        raise DeviceError(f"{device} cannot be tested: {last}")
    return run


def _read(output: bytes, trouble: str) -> _Run:
    run = _Run(trouble=trouble)
    for line in output.decode(errors="replace").splitlines():
        if line.startswith('{"idioms"'):
            run.idioms = json.loads(line)["idioms"]
        elif line.startswith('{"idiom"'):
            answer = json.loads(line)
            run.answers[answer["idiom"]] = answer["wrong"]
        elif line.startswith('{"traits"'):
            run.traits = json.loads(line)["traits"]
    return run


def _ending(status: int, seconds: int, last: str) -> str:
    if status in (-signal.SIGPROF, -signal.SIGALRM):
        return f"no answer in {seconds} s"
    if status < 0:
        return f"ended by {next((one.name for one in signal.Signals if one == -status), f'signal {-status}')}"
    return last if status else ""


@functools.cache
def _key(device: Device) -> str:
    """Name all that the answer depends on: device, driver, processor, the libraries at work, and the test itself."""
    digest = hashlib.sha256()
    for text in (device.key, processor.description(), *_libraries(device.family)):
        digest.update(text.encode() + b"\0")
    for folder, names in ((source_folder(), TESTED_KERNELS), (Path(__file__).parents[1], _TEST_MODULES)):
        for name in names:
            digest.update((folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def _libraries(family: str) -> list[str]:
    """List the files of a runtime in this process, where they really lie, with their sizes and times."""
    files: set[Path] = set()
    words = _LIBRARIES.get(family, ("opencl", "ocl"))
    for name in loaded_libraries():
        if any(word in os.path.basename(name).lower() for word in words):
            library = Path(name)
            files.add(library.resolve())
            # PoCL reads its built-in functions from the folder of the library, by the path it was loaded by
            files |= {file.resolve() for file in library.parent.glob(_POCL_BUILTINS)}
    found = []
    for file in sorted(files):
        status = file.stat()
        found.append(f"{file} {status.st_size} {status.st_mtime_ns}")
    return found
