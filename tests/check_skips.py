"""Say what tests were skipped and why, and fail where it was for want of something that .ci/run installs.

    python tests/check_skips.py REPORT

REPORT is what pytest writes with --junitxml.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter

WANTING = re.compile(r"not installed|could not import|No module named|has come without")


def reason_of(skipped: ElementTree.Element) -> str:
    """Return why a test was skipped, or a whole file, whose reason is not where that of a test is."""
    message = skipped.get("message", "")
    return (skipped.text or message) if message == "collection skipped" else message


def main() -> int:
    """Print each reason with its number; 1 where one tells of something that is missing, or where nothing ran."""
    suite = ElementTree.parse(sys.argv[1]).getroot().find("testsuite")
    if suite is None or int(suite.get("tests", "0")) <= int(suite.get("skipped", "0")):
        print("no test was run")
        return 1
    reasons = Counter(reason_of(skipped) for skipped in suite.iter("skipped"))
    failed = False
    for reason, number in reasons.most_common():
        missing = WANTING.search(reason) is not None
        failed |= missing
        print(f"{number} skipped: {reason}{'  <- must not be missing' if missing else ''}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
