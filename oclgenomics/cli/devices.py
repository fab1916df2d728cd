"""`oclgenomics devices`: what there is to run on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from oclgenomics import runtime
from oclgenomics.errors import NoDeviceError
from oclgenomics.io.json_text import json_text

if TYPE_CHECKING:
    from oclgenomics.runtime import Device


TOLD = (
    "kind", "family", "name", "vendor", "platform", "platform_version", "driver", "version", "compute_units",
    "global_memory", "max_allocation", "local_memory", "max_work_group", "warp", "unified_memory",
)  # fmt: skip


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "devices", description="List the OpenCL devices; * marks the one `auto` takes.", allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="write JSON (default: a table)")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the devices.

    Raises
    ------
    NoDeviceError
        There is none, which the table could not say better, or none that passes the self-test, after the table.
    """
    devices = runtime.list_devices()
    try:
        automatic = runtime.select_device("auto")
    except NoDeviceError:
        if devices:
            _print(args, devices, None)
        raise
    _print(args, devices, automatic)
    return 0


def _print(args: argparse.Namespace, devices: list[Device], automatic: Device | None) -> None:
    if args.json:
        print(json_text([describe(device, automatic) for device in devices], indent=2))
    else:
        print(_table(devices, automatic))


def describe(device: Device, automatic: Device | None) -> dict[str, Any]:
    """Return a device as plain values; memory in bytes."""
    known = {name: getattr(device, name) for name in TOLD}
    return {"index": device.index, "auto": device == automatic, **known, "self_test": _self_test(device)}


def _self_test(device: Device) -> str:
    """Say what is known of a device; nothing is tested."""
    verdict = runtime.kept_verdict(device)
    return "not yet" if verdict is None else "failed" if verdict.failed else "passed"


def _table(devices: list[Device], automatic: Device | None) -> str:
    rows = [("", "index", "kind", "device", "platform", "driver", "units", "memory", "largest buffer", "self-test")]
    for device in devices:
        mark, index = "*" if device == automatic else "", str(device.index)
        memory, largest = (f"{size / 2**30:.1f} GiB" for size in (device.global_memory, device.max_allocation))
        names = device.kind, device.name, device.platform, device.driver
        rows.append((mark, index, *names, str(device.compute_units), memory, largest, _self_test(device)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
