"""Import PyOpenCL with every OpenCL runtime of this machine in reach, the one in Intel's wheel included.

The OpenCL loader reads its list of runtimes (ICD files) once, at the first call. Intel's wheel installs an ICD file
that holds a path of its build machine and in a place where no loader looks, so a folder with the system's ICD files and
a right one for Intel is made and shown to the loader during that first call. A list that the user gave by environment
variable is left alone.
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

__all__ = ["INSTALL_HINT", "icd_files", "intel_library", "opencl", "platforms"]

INSTALL_HINT = (
    "install one with: pip install 'pyopencl[pocl]' (any CPU), "
    "or pip install 'oclgenomics[intel]' (Intel's CPU runtime)"
)
SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")
# The ocl-icd loader reads OCL_ICD_VENDORS (folder or file) and OPENCL_VENDOR_PATH; Khronos' the first and the last.
USER_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES")


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
    """List the OpenCL platforms, in the loader's order."""
    return _loaded()[1]


@functools.cache
def _loaded() -> tuple[Any, list[pyopencl.Platform]]:
    with _all_runtimes_in_reach():
        try:
            import pyopencl
        except ImportError as error:
            raise NoDeviceError(f"PyOpenCL cannot be imported ({error}); {INSTALL_HINT}") from error
        try:
            return pyopencl, list(pyopencl.get_platforms())
        except pyopencl.Error:  # the loader's way to say that there is no platform at all
            return pyopencl, []


@contextlib.contextmanager
def _all_runtimes_in_reach() -> Iterator[None]:
    """Point the loader, while the body runs, at a folder that lists Intel's wheel beside the system's runtimes."""
    library = intel_library()
    if library is None or any(os.environ.get(name) for name in USER_VARIABLES) or _lists_intel(icd_files()):
        yield
        return
    with contextlib.ExitStack() as stack:
        folder = _vendor_folder(library, stack)
        os.environ["OCL_ICD_VENDORS"] = str(folder)
        stack.callback(os.environ.pop, "OCL_ICD_VENDORS", None)
        yield


def _lists_intel(files: list[Path]) -> bool:
    """Say whether the system already offers Intel's runtime, which would otherwise appear twice."""
    for file in files:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            name = file.read_text().strip()
            # An ICD file may name a library that is gone: only one that is there counts.
            if "libintelocl.so" in name and (not os.path.isabs(name) or os.path.exists(name)):
                return True
    return False


def _vendor_folder(library: Path, stack: contextlib.ExitStack) -> Path:
    """Make the folder of ICD files, in the cache where it can be kept and in a temporary place where it cannot."""
    wanted = {"oclgenomics-intel.icd": f"{library}\n"}
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
