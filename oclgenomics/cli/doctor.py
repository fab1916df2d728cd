"""`oclgenomics doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from oclgenomics import selftest
from oclgenomics.io.json_text import json_text

NO_DEVICE = 4


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "doctor",
        description="Check loader, platforms, devices and cache; test every device again. The exit status is 4 if no "
        "device works, or if a job of --self-test gives a wrong result.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="also run a small job of every system, whose result is known, on every device",
    )
    parser.add_argument("--json", action="store_true", help="write JSON (default: text)")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument("--jobs-on", type=int, metavar="INDEX", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the findings."""
    if args.jobs_on is not None:
        selftest.run_jobs(args.jobs_on)
        return 0
    findings = selftest.examine(with_jobs=args.self_test)
    if args.json:
        print(json_text([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"[{finding.state:>7}] {finding.topic}: {finding.text}")
            if finding.remedy:
                print(f"          -> {finding.remedy}")
    works = any(finding.topic.startswith("device") and finding.state == "ok" for finding in findings)
    wrong = any(finding.topic.startswith("jobs") and finding.state == "problem" for finding in findings)
    return 0 if works and not wrong else NO_DEVICE
