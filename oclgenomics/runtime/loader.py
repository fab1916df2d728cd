"""Import PyOpenCL with every OpenCL runtime of this machine in reach, including those that no list names correctly.

The OpenCL loader reads its list of runtimes (ICD files) once, at the first call. Three are often missing from it:
Intel's wheel installs an ICD file that holds a path of its build machine, in a place where no loader looks;
containers get the library of NVIDIA's driver without its ICD file; and `OCL_ICD_FILENAMES` is read by one of the two
common loaders only. So a folder with the system's ICD files and right ones for these is made and shown to the loader
during that first call. A folder that the user gave by environment variable is left alone.

PoCL from pip is found without a list, in PyOpenCL's own folder. On processors that are newer than its compiler another
folder takes that one's place, in which its built-in functions fit (`runtime.pocl`).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import sys
import sysconfig
import threading
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.errors import DeviceError, NoDeviceError
from oclgenomics.io.processes import changed_environment
from oclgenomics.runtime import pocl
from oclgenomics.runtime.cores import core_variables, know_foreign, know_read
from oclgenomics.runtime.diskcache import keep_text, lasting_folder
from oclgenomics.runtime.limits import check_limits, limits_hint

if TYPE_CHECKING:
    import pyopencl


BUNDLED = ("pocl-binary-distribution", "intel-opencl-rt", "intel-cmplr-lib-rt")  # on Linux on x86-64


def install_hint() -> str:
    """Say how to get an OpenCL runtime on this machine, or why one that is there may not be found."""
    if hint := limits_hint():
        return hint
    if conda_folder() is not None:
        return (
            "install PoCL for CPUs (conda install -c conda-forge pocl); for a GPU, its vendor's driver and what "
            f"shows it to conda ({CONDA_SYSTEM})"
        )
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        return f"install those that come with oclgenomics again: pip install --force-reinstall {' '.join(BUNDLED)}"
    return (
        "install the OpenCL driver of the GPU's vendor, or PoCL for CPUs (Debian, Ubuntu: apt install pocl-opencl-icd; "
        "Fedora: dnf install pocl; macOS and others: conda install -c conda-forge pocl)"
    )


# PyOpenCL would keep the Python code of its calls in a database in the home folder, and fails where it cannot.
WITHOUT_CACHE = {"PYOPENCL_NO_CACHE": "1"}
CONDA_SYSTEM = "Linux: conda install -c conda-forge ocl-icd-system"
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
    return _first_there(Path(folder, "lib", "libintelocl.so") for folder in data_folders)


def nvidia_library() -> Path | None:
    """Find the OpenCL library of NVIDIA's driver, which containers have without an ICD file."""
    return _first_there(Path(folder, NVIDIA_LIBRARY) for folder in NVIDIA_FOLDERS)


def _first_there(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.exists()), None)


def conda_folder() -> Path | None:
    """Return where the loader of a conda environment looks, if this is one; it does not look in the system's folder."""
    return Path(sys.prefix, "etc/OpenCL/vendors") if Path(sys.prefix, "conda-meta").is_dir() else None


def icd_files() -> list[Path]:
    """List the ICD files of this machine, the system's and those of a conda environment."""
    return [file for folder in (SYSTEM_FOLDER, conda_folder()) if folder for file in sorted(folder.glob("*.icd"))]


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


def pocl_builtins(version: str) -> str:
    """Name the level that the built-in functions of a PoCL device are held to; empty where it takes its own.

    Parameters
    ----------
    version : str
        The device's; another PoCL than that from pip may be there, and compile for another processor.
    """
    level = _fitting_pocl()[0]
    return level if pocl.LEVEL_OF_TARGET.get(pocl.target_of(version)) == level else ""


def begin_loading() -> None:
    """Have the libraries of the runtimes loaded from now on, for a command that will use a device.

    This reports no trouble: the first look at the devices does.
    """
    _early_libraries()


@functools.cache
def early_drivers() -> Sequence[str]:
    """Libraries of runtimes that `begin_loading` loads, by name or by path; none where the user lists them.

    Called before any of them is loaded.
    """
    try:
        check_limits()
    except DeviceError:
        return ()
    if core_variables():
        know_foreign(loaded_libraries())
    return () if _user_lists() else (*filter(None, map(_library_of, icd_files())), *missing_runtimes())


@functools.cache
def _early_libraries() -> EarlyLibraries:
    return EarlyLibraries(early_drivers())


@functools.cache
def _loaded() -> tuple[Any, list[pyopencl.Platform]]:
    check_limits()
    early = _early_libraries()
    with changed_environment() as change:
        change(_list_of_runtimes() | WITHOUT_CACHE)
        try:
            import pyopencl
        except ImportError as error:
            raise NoDeviceError(f"PyOpenCL cannot be imported ({error}); {install_hint()}") from error
        change(_fitting_pocl()[1] | core_variables())  # now, because the import itself sets one of these
        early.wait()
        try:
            found = pyopencl.get_platforms()
        except pyopencl.Error:  # the loader's way to say that there is no platform at all
            return pyopencl, []
        if _holds_misfit():
            found = [platform for platform in found if not _is_pocl(platform)]
        for platform in filter(_is_pocl, found):
            with contextlib.suppress(pyopencl.Error):
                platform.get_devices()  # only at the first of these calls does PoCL read its variables
                know_read("pocl")
        return pyopencl, sorted(found, key=_platform_order)


def _holds_misfit() -> bool:
    """Say whether this process holds PoCL from pip with built-in functions that do not fit, and warn where it does.

    So it is where PyOpenCL was used before, or where a list of the user's names the library: what is loaded once cannot
    be loaded from elsewhere.
    """
    wheel, home = pocl.find_wheel(), _fitting_pocl()[1].get("PYOPENCL_HOME")
    if wheel is None or home is None or str(Path(home, ".libs", wheel.library.name)) in loaded_libraries():
        return False
    warnings.warn(
        "PoCL was loaded with built-in functions that do not fit this processor, and is left out; call "
        "oclgenomics.runtime.list_devices() before PyOpenCL is used, and do not name PoCL from pip in OCL_ICD_VENDORS",
        RuntimeWarning,
        stacklevel=2,
    )
    return True


def _is_pocl(platform: pyopencl.Platform) -> bool:
    return "portable computing language" in _platform_order(platform)[0]


def _platform_order(platform: pyopencl.Platform) -> tuple[str, str]:
    import pyopencl

    try:
        return platform.name.lower(), platform.version
    except pyopencl.Error:  # a broken platform is reported later
        return "", ""


def _list_of_runtimes() -> dict[str, str]:
    """Point the loader at a folder that lists the system's runtimes and the missing ones."""
    missing = missing_runtimes()
    if not missing or _user_lists():
        return {}
    return {"OCL_ICD_VENDORS": str(_vendor_folder(missing))}


def _user_lists() -> bool:
    """Whether the user says which runtimes there are."""
    return any(os.environ.get(name) for name in USER_VARIABLES)


@functools.cache
def _fitting_pocl() -> tuple[str, dict[str, str]]:
    """Return the level of PoCL's built-in functions, if they have to be held to one, and the variables for PoCL."""
    wheel = pocl.find_wheel()
    level = pocl.builtins_for(wheel) if wheel is not None else None
    kept = os.environ.get("POCL_CACHE_DIR")
    if wheel is None or level is None:
        return "", {} if kept else {"POCL_CACHE_DIR": str(lasting_folder("pocl/kernels"))}
    # Kernels that were compiled with other built-in functions must not be found among these.
    kernels = Path(kept, f"oclgenomics-{level}") if kept else lasting_folder(f"pocl/kernels-{level}")
    return level, {"PYOPENCL_HOME": str(pocl.aligned_home(wheel, level)), "POCL_CACHE_DIR": str(kernels)}


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


class _LibraryHead(ctypes.Structure):
    """The first members of `dl_phdr_info`: where a library lies in memory, and the path that it was loaded by."""

    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))


def loaded_libraries() -> set[str]:
    """List the shared libraries of this process by the paths they were loaded by, links not followed."""
    names: set[str] = set()

    def note(head: Any, size: int, data: Any) -> int:
        names.add(os.fsdecode(head.contents.name or b""))
        return 0

    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_LibraryHead), ctypes.c_size_t, ctypes.c_void_p)
    ctypes.CDLL(None).dl_iterate_phdr(callback(note), None)
    return names


def _vendor_folder(missing: list[str]) -> Path:
    """Make the folder of ICD files; what lies there is verified at every start."""
    wanted = {f"oclgenomics-{library_stem(library)}.icd": f"{library}\n" for library in missing}
    for file in icd_files():
        with contextlib.suppress(OSError, UnicodeDecodeError):
            wanted[file.name] = file.read_text()

    def fill(folder: Path) -> None:
        for name, text in wanted.items():
            keep_text(folder / name, text)

    # One folder per environment and per list, so that no process changes what another is about to read.
    digest = hashlib.sha256(repr(sorted(wanted.items())).encode()).hexdigest()[:16]
    return lasting_folder(f"icd/{digest}", fill)


class EarlyLibraries:
    """Begins to load libraries.

    What cannot be loaded is left out without a message; the reason is reported when it is needed. The process does not
    end before all are there: a library that is unloaded while it still starts aborts, or never ends.

    Parameters
    ----------
    libraries : sequence of str
        Names or paths, in the order of loading.
    """

    def __init__(self, libraries: Sequence[str]) -> None:
        self.libraries = libraries
        self._thread: threading.Thread | None = None
        if libraries and hasattr(os, "RTLD_LAZY"):  # not on Windows
            self._thread = threading.Thread(target=_load, args=(libraries,), name="early-libraries")
            self._thread.start()

    def wait(self) -> None:
        """Wait until all are there."""
        if self._thread is not None:
            self._thread.join()


def _load(libraries: Sequence[str]) -> None:
    load = ctypes.CDLL(None).dlopen  # called as a foreign function, which lets Python go on meanwhile
    load.argtypes, load.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    for library in libraries:
        load(os.fsencode(library), os.RTLD_LAZY)
