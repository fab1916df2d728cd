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


def main() -> int:
    """Print each reason with its number; 1 where one tells of something that is missing, or where nothing ran."""
    suite = ElementTree.parse(sys.argv[1]).getroot().find("testsuite")
    if suite is None or int(suite.get("tests", "0")) == 0:
        print("no test was run")
        return 1
    reasons = Counter(skipped.get("message", "") for skipped in suite.iter("skipped"))
    failed = False
    for reason, number in reasons.most_common():
        missing = WANTING.search(reason) is not None
        failed |= missing
        print(f"{number} skipped: {reason}{'  <- must not be missing' if missing else ''}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
