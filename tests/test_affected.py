"""A change affects the tests of what it touches, and of what rests on that."""

from __future__ import annotations

import subprocess

import affected
import pytest

INSIDE = ["git", "rev-parse", "--is-inside-work-tree"]
if subprocess.run(INSIDE, cwd=affected.ROOT, capture_output=True, check=False).returncode:
    pytest.skip("not a checkout of git, whose files are asked for", allow_module_level=True)


@pytest.mark.parametrize(
    ("changed", "some", "none"),
    [
        ("oclgenomics/kmers/plan/bins.py", "tests/kmers/", "tests/variation/"),
        ("oclgenomics/omega/commands/peaks.py", "tests/omega/", "tests/kmers/"),
        ("oclgenomics/runtime/engine.py", "tests/sdtw/", "tests/data/"),
        ("kernels_cl/omega/rank.clh", "tests/omega/", "tests/sdtw/"),
        ("kernels_cl/common/hash.clh", "tests/classify/", "tests/data/"),
        ("docs/kmers-format.md", "tests/kmers/", "tests/omega/"),
    ],
)
def test_a_change_leads_to_tests(changed: str, some: str, none: str) -> None:
    found = affected.affected_tests([changed])
    assert [test for test in found if test.startswith(some)]
    assert not [test for test in found if test.startswith(none)]


@pytest.mark.parametrize(
    "page", ["docs/omega.md", "docs/trust.md", "docs/how/kmers.md", "docs/images/ld.png", "README.md"]
)
def test_pages_lead_to_the_tests_of_all_pages(page: str) -> None:
    assert {"tests/docs/test_examples.py", "tests/docs/test_site.py"} <= {*affected.affected_tests([page])}


def test_tests_affect_themselves_and_settings_all() -> None:
    every = affected.affected_tests(["setup.cfg"])
    assert len(every) > 100
    assert affected.affected_tests(every[:1]) == every[:1]
    assert affected.affected_tests(["tests/helpers/products.py"])
    assert affected.affected_tests(["benchmarks/" + 3 * "no" + ".txt"]) == []


def test_names_that_packages_offer_lead_to_their_modules() -> None:
    assert affected.offered()["oclgenomics.omega.ScanOptions"] == "oclgenomics.omega.options"
    assert "oclgenomics/omega/options.py" in set(affected.name_files("oclgenomics.omega", "ScanOptions"))
