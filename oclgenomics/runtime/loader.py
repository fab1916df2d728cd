"""Import PyOpenCL with every OpenCL runtime of this machine in reach, also those that no list names rightly.

The OpenCL loader reads its list of runtimes (ICD files) once, at the first call. Three are often missing from it:
Intel's wheel installs an ICD file that holds a path of its build machine, in a place where no loader looks;
containers get the library of NVIDIA's driver without its ICD file; and `OCL_ICD_FILENAMES` is read by one of the two
common loaders only. So a folder with the system's ICD files and right ones for these is made and shown to the loader
during that first call. A folder that the user gave by environment variable is left alone.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.errors import NoDeviceError
from oclgenomics.runtime.diskcache import cache_folder, write_whole

if TYPE_CHECKING:
    import pyopencl

__all__ = ["INSTALL_HINT", "icd_files", "intel_library", "library_stem", "missing_runtimes", "opencl", "platforms"]

INSTALL_HINT = (
    "install one with: pip install 'pyopencl[pocl]' (any CPU), "
    "or pip install 'oclgenomics[intel]' (Intel's CPU runtime)"
)
SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")
# ocl-icd, which PyOpenCL's wheels hold, reads both; Khronos' loader reads the first.
USER_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
NVIDIA_LIBRARY = "libnvidia-opencl.so.1"
NVIDIA_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/usr/lib")


def intel_library() -> Path | None:
    """Find Intel's CPU runtime in the running environment (virtual environment, user site or prefix)."""
    data_folders = dict.fromkeys(
        (sys.prefix, sysconfig.get_path("data"), sys.base_prefix, os.path.expanduser("~/.local"))
    )
    for folder in data_folders:
        library = Path(folder, "lib", "libintelocl.so")
        if library.exists():
            return library
    return None


def nvidia_library() -> Path | None:
    """Find the OpenCL library of NVIDIA's driver, which containers have without an ICD file."""
    for folder in NVIDIA_FOLDERS:
        library = Path(folder, NVIDIA_LIBRARY)
        if library.exists():
            return library
    return None


def icd_files() -> list[Path]:
    """List the ICD files a loader on this machine reads when no variable says otherwise."""
    return sorted(SYSTEM_FOLDER.glob("*.icd")) if SYSTEM_FOLDER.is_dir() else []


def opencl() -> Any:
    """Import PyOpenCL, once, and return the module.

    Raises
    ------
    NoDeviceError
        PyOpenCL is missing or cannot load the OpenCL library.
    """
    return _loaded()[0]


def platforms() -> list[pyopencl.Platform]:
    """List the OpenCL platforms by name and version, because the loader's order changes from run to run."""
    return _loaded()[1]


@functools.cache
def _loaded() -> tuple[Any, list[pyopencl.Platform]]:
    with _all_runtimes_in_reach():
        try:
            import pyopencl
        except ImportError as error:
            raise NoDeviceError(f"PyOpenCL cannot be imported ({error}); {INSTALL_HINT}") from error
        try:
            found = pyopencl.get_platforms()
        except pyopencl.Error:  # the loader's way to say that there is no platform at all
            return pyopencl, []
        return pyopencl, sorted(found, key=_platform_order)


def _platform_order(platform: pyopencl.Platform) -> tuple[str, str]:
    import pyopencl

    try:
        return platform.name.lower(), platform.version
    except pyopencl.Error:  # a broken platform is reported later
        return "", ""


@contextlib.contextmanager
def _all_runtimes_in_reach() -> Iterator[None]:
    """Point the loader, while the body runs, at a folder that lists the system's runtimes and the missing ones."""
    missing = missing_runtimes()
    if not missing or any(os.environ.get(name) for name in USER_VARIABLES):
        yield
        return
    with contextlib.ExitStack() as stack:
        folder = _vendor_folder(missing, stack)
        os.environ["OCL_ICD_VENDORS"] = str(folder)
        stack.callback(os.environ.pop, "OCL_ICD_VENDORS", None)
        yield


def missing_runtimes() -> list[str]:
    """List the libraries of runtimes that are on this machine but in no ICD file of the system, by path or by name."""
    listed = {library_stem(library) for library in map(_library_of, icd_files()) if library}
    found: list[str] = []
    candidates = [library for library in os.environ.get("OCL_ICD_FILENAMES", "").split(os.pathsep) if library]
    candidates += [str(path) for path in (intel_library(), nvidia_library()) if path is not None]
    for library in candidates:
        if library_stem(library) not in listed:
            listed.add(library_stem(library))
            found.append(library)
    return found


def _library_of(file: Path) -> str | None:
    """Read an ICD file: the library it names, or None if that is an absolute path at which there is nothing."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        name = file.read_text().strip()
        return name if not os.path.isabs(name) or os.path.exists(name) else None
    return None


def library_stem(library: str) -> str:
    """Return what all versions of a library's name have in common: "libpocl" of "libpocl.so.2.10.0"."""
    return os.path.basename(library).split(".so")[0]


def _vendor_folder(missing: list[str], stack: contextlib.ExitStack) -> Path:
    """Make the folder of ICD files, in the cache where it can be kept and in a temporary place where it cannot."""
    wanted = {f"oclgenomics-{library_stem(library)}.icd": f"{library}\n" for library in missing}
    for file in icd_files():
        with contextlib.suppress(OSError, UnicodeDecodeError):
            wanted[file.name] = file.read_text()
    root = cache_folder()
    if root is not None:
        # One folder per environment and per list, so that no process changes what another is about to read.
        folder = root / "icd" / _digest(wanted)
        if all((folder / name).exists() for name in wanted):
            return folder
        with contextlib.suppress(OSError):
            for name, text in wanted.items():
                write_whole(folder / name, text.encode())
            return folder
    import tempfile

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oclgenomics-icd-")))
    for name, text in wanted.items():
        (folder / name).write_text(text)
    return folder


def _digest(files: dict[str, str]) -> str:
    import hashlib

    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
