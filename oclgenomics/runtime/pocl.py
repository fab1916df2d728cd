"""PoCL from pip, held to built-in functions that fit what it compiles for.

PoCL compiles kernels for the newest processor that its LLVM knows, but takes its library of built-in functions by the
instruction sets of the processor at hand. On processors newer than its LLVM the two differ: PoCL 3.0 compiles for
`znver3` on an AMD processor with AVX-512 and links the library made for AVX-512. Kernel and built-in function then pass
64-byte vectors in different registers, and results are wrong without an error.

PoCL looks for its libraries next to its own file. So a folder of links stands in for that of the wheel, in which every
library above the level of PoCL's target is a link to the one of that level.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.lazy_names import late
from oclgenomics.runtime import diskcache, processor

subprocess = late("subprocess")


# Instruction sets that have a library of built-in functions, each containing those before.
LEVELS = ("sse2", "ssse3", "sse41", "avx", "avx_f16c", "avx2", "avx512")
# LLVM's names of processors, by the highest level that it then compiles for. A name that is not here is left alone: the
# self-test of devices has the last word.
_TARGETS = {
    "avx512": "skylake-avx512 skx cascadelake cooperlake cannonlake icelake-client icelake-server tigerlake "
    "sapphirerapids rocketlake knl knm graniterapids emeraldrapids x86-64-v4 znver4 znver5",
    "avx2": "haswell core-avx2 broadwell skylake alderlake bdver4 znver1 znver2 znver3 x86-64-v3",
    "sse2": "generic x86-64",
}
LEVEL_OF_TARGET = {name: level for level, names in _TARGETS.items() for name in names.split()}
ASK_SECONDS = 120
_ASK = """
import pyopencl
for platform in pyopencl.get_platforms():
    if "Portable Computing Language" in platform.name:
        print(platform.get_devices()[0].version)
        break
"""


@dataclass(frozen=True)
class Wheel:
    """The files of PoCL as the wheels of PyOpenCL and PoCL bring them.

    Attributes
    ----------
    home : Path
        PyOpenCL's folder; `.libs` in it holds the library and its ICD file.
    library : Path
        The shared library.
    data : Path
        The folder with `share/pocl` and the libraries that PoCL needs.
    """

    home: Path
    library: Path
    data: Path

    @property
    def mark(self) -> str:
        """Text that changes when another wheel is installed."""
        status = self.library.stat()
        return f"{self.library}|{status.st_size}|{status.st_mtime_ns}"


def find_wheel() -> Wheel | None:
    """Find PoCL from pip without importing anything; None where PyOpenCL comes without it."""
    spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    data = home.parent / "pocl_binary_distribution" / ".libs"
    try:
        name = (home / ".libs" / "pocl.icd").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    library = home / ".libs" / name
    return Wheel(home, library, data) if library.is_file() and (data / "share" / "pocl").is_dir() else None


def level_of(flags: frozenset[str]) -> str | None:
    """Return the level of the built-in functions that PoCL takes on a processor, or None below AVX2."""
    return "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else None


def target_of(version: str) -> str:
    """Return LLVM's name of the processor that a PoCL device compiles for, from the device's version.

    That ends with device, architecture, vendor, system, environment and processor, with hyphens between them, such as
    "pthread-x86_64-pc-linux-gnu-skylake-avx512".
    """
    return "".join(version.strip().split("-", 5)[5:])


def knows_processor(version: str) -> bool:
    """Say from a device's version whether PoCL's compiler knows the processor; where not, it compiles nothing.

    LLVM calls a processor that is newer than itself "generic", a name that its own compiler then refuses.
    """
    return target_of(version) != "generic"


def builtins_for(wheel: Wheel) -> str | None:
    """Return the level to which the built-in functions have to be held, or None where PoCL takes the right ones."""
    here = level_of(processor.instruction_sets())
    if here is None:
        return None
    target = LEVEL_OF_TARGET.get(_target(wheel))
    return target if target is not None and LEVELS.index(target) < LEVELS.index(here) else None


def aligned_home(wheel: Wheel, level: str) -> Path:
    """Return a folder to stand in for the wheel's home, whose built-in functions are held to one level.

    It lies in the cache, or in a temporary place where that cannot be. Each link is verified whenever this is called.

    Raises
    ------
    OSError
        There is no place for it.
    """
    digest = hashlib.sha256(f"{wheel.mark}|{level}".encode()).hexdigest()[:16]
    root = diskcache.lasting_folder(f"pocl/{digest}", lambda folder: link_home(wheel, folder, _held_to(wheel, level)))
    return root / "pyopencl"


def link_home(wheel: Wheel, folder: Path, libraries: dict[str, str]) -> None:
    """Lay out links to a wheel's files.

    Parameters
    ----------
    wheel : Wheel
        What the links lead to.
    folder : Path
        Gets `pyopencl/.libs` and `pocl_binary_distribution/.libs`, as the wheels have them.
    libraries : dict of str to str
        Names of files of built-in functions, and of the files that stand in for them.
    """
    code, data = folder / "pyopencl" / ".libs", folder / "pocl_binary_distribution" / ".libs"
    for place in (code, data / "share" / "pocl"):
        place.mkdir(parents=True, exist_ok=True)
        for level in (place, *(above for above in place.parents if above.is_relative_to(folder))):
            if level.stat().st_mode & 0o077:  # as the umask made it
                level.chmod(0o700)
    set_link(code / wheel.library.name, wheel.library)
    diskcache.keep_text(code / "pocl.icd", f"{code / wheel.library.name}\n")
    for file in wheel.data.iterdir():
        if file.name != "share":
            set_link(data / file.name, file)
    for file in (wheel.data / "share" / "pocl").iterdir():
        set_link(data / "share" / "pocl" / file.name, file.with_name(libraries.get(file.name, file.name)))


def set_link(link: Path, target: Path) -> None:
    """Let a link lead to its target, whatever is there now; other processes see the old or the new one."""
    if link.is_symlink() and Path(os.readlink(link)) == target:
        return
    beside = link.with_name(f".new-{os.getpid()}-{link.name}")
    beside.unlink(missing_ok=True)
    beside.symlink_to(target)
    os.replace(beside, link)


def _held_to(wheel: Wheel, level: str) -> dict[str, str]:
    """Map each library of built-in functions above a level to the one of that level."""
    names = [file.name for file in (wheel.data / "share" / "pocl").glob("kernel-*.bc")]
    held = {}
    for name in names:
        stem = name.removesuffix(".bc")
        above = next((one for one in LEVELS[LEVELS.index(level) + 1 :] if stem.endswith(f"-{one}")), None)
        if above is not None:
            held[name] = f"{stem.removesuffix(above)}{level}.bc"
    return {name: lower for name, lower in held.items() if lower in names}


def _target(wheel: Wheel) -> str:
    """Return LLVM's name of the processor that PoCL compiles for; asked once for each wheel and processor."""
    key = hashlib.sha256(f"{wheel.mark}|{processor.description()}".encode()).hexdigest()
    kept = diskcache.load("pocl", key)
    if kept is None:
        kept = _ask()
        if kept:
            diskcache.store("pocl", key, kept)
    return kept.decode()


def _ask() -> bytes:
    """Start PoCL in a process of its own, since a library that is loaded once cannot be loaded from elsewhere."""
    empty = diskcache.lasting_folder("pocl/none")
    environment = child_environment() | {"OCL_ICD_VENDORS": str(empty), "POCL_CACHE_DIR": str(empty)}
    try:
        done = subprocess.run(
            child_python("-c", _ASK), env=environment, capture_output=True, timeout=ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return target_of(done.stdout.decode(errors="replace")).encode() if done.returncode == 0 else b""
