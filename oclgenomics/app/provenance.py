"""What made a result: program, version, command, parameters and device, for every report of the package.

A record holds no time of day, so that equal work gives equal bytes.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oclgenomics import __version__
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.runtime import Device

metadata = late("importlib.metadata")

LIBRARIES = ("numpy", "pyopencl")  # that results are computed with


def make_provenance(
    parameters: Mapping[str, Any], *, command: Sequence[str] = (), device: Device | None = None
) -> dict[str, Any]:
    """Return a record of what made a result.

    Parameters
    ----------
    parameters : mapping of str to object
        Written in the order of their names: sets as sorted lists, other objects that JSON does not know as their text.
    command : sequence of str
        The words of the command line; empty for work called from Python.
    device : Device, optional
        Where it was computed; left out for work that needs none.

    Returns
    -------
    dict of str to object
        'program', 'version', 'command', 'parameters' and, with a device, 'device'; plain values throughout.

    Examples
    --------
    >>> from dataclasses import asdict
    >>> from oclgenomics.omega import ScanOptions
    >>> make_provenance(asdict(ScanOptions(grid=10, minwin=1, maxwin=100)))["parameters"]["grid"]
    10
    """
    record: dict[str, Any] = {
        "program": "oclgenomics",
        "version": __version__,
        "command": list(command),
        "parameters": {name: _plain(value) for name, value in sorted(parameters.items())},
    }
    if device is not None:
        record["device"] = device_record(device)
    return record


def device_record(device: Device) -> dict[str, str]:
    """Return what tells a device from others, as records of what made a result have it."""
    return {name: getattr(device, name) for name in ("name", "kind", "platform", "platform_version", "driver")}


def versions_text() -> str:
    """Return the versions of this program and of what it runs on as YAML, one in each line: ``numpy: "2.1.0"``."""
    found = {"oclgenomics": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return "".join([f'{name}: "{version}"\n' for name, version in found.items()])


def _plain(value: Any) -> Any:
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    return value if isinstance(value, (str, int, float, bool, list, tuple, dict, type(None))) else str(value)


def provenance_lines(provenance: Mapping[str, Any]) -> str:
    """Return what made a table, as '# name: value' lines."""
    return "".join([f"# {name}: {flat_text(value)}\n" for name, value in provenance.items()])


def flat_text(value: Any) -> str:
    """Return a value as one line; lists as words, mappings as name=value words."""
    if isinstance(value, Mapping):
        value = [f"{name}={flat_text(item)}" for name, item in value.items()]
    if isinstance(value, (list, tuple)):
        value = " ".join(flat_text(item) for item in value)
    return " ".join(str(value).split())
