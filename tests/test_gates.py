"""The programs that .ci/run judges by see what they have to see."""

import ast
import itertools
import random
import shutil

import check_skips
import compile_targets
import mutate
import pytest
import smoke_oclgrind

REPORT = '<testsuites><testsuite tests="{}" skipped="{}">{}</testsuite></testsuites>'
SKIPPED = '<testcase name="x"><skipped message="{}">{}</skipped></testcase>'


@pytest.mark.parametrize(
    ("tests", "skips", "status"),
    [
        (3, [], 0),
        (3, [("the kernels for GPUs run on GPUs", "")], 0),
        (3, [("PoCL compiles nothing for this processor", "")], 0),
        (3, [("PyOpenCL has come without PoCL", "")], 1),
        (3, [("KMC is not installed (Debian package kmc)", "")], 1),
        (3, [("collection skipped", "Skipped: could not import 'zarr'")], 1),
        (1, [("the kernels for GPUs run on GPUs", "")], 1),
        (0, [], 1),
    ],
)
def test_a_test_that_was_skipped_for_want_of_a_program_is_a_failure(tmp_path, monkeypatch, tests, skips, status):
    report = tmp_path / "report.xml"
    report.write_text(REPORT.format(tests, len(skips), "".join(SKIPPED.format(*skip) for skip in skips)))
    monkeypatch.setattr("sys.argv", ["check_skips.py", str(report)])
    assert check_skips.main() == status


RACE = """
Read-write data race at global memory address {}
\tKernel: best_tiles

\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  %38 = load float, float addrspace(1)* %arrayidx39, align 4, !dbg !116
\tAt line 24 (column 24) of omega/best_tiles.cl:
\t  #endif

\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  store float %31, float addrspace(1)* %arrayidx18, align 4, !dbg !96
\tAt line 61 (column 18) of omega/candidate.clh:
\t  float best;
"""


def test_messages_of_one_place_are_told_once():
    messages = RACE.format("0x4000000000004") + "Warning: what nobody knows\n" + RACE.format("0x4000000000008")
    assert list(smoke_oclgrind.summary(messages)) == [
        "    2 x Read-write data race at global memory best_tiles omega/best_tiles.cl:24 and omega/candidate.clh:61",
        "    1 x Warning: what nobody knows",
    ]
    assert list(smoke_oclgrind.summary("\n")) == []


def test_each_family_of_kernels_is_simulated_once_in_each_shape():
    tasks = smoke_oclgrind.tasks_of([])
    seen = [(task.shape, family) for task in tasks if not task.broken for family in task.families]
    assert sorted(seen) == sorted(itertools.product(smoke_oclgrind.SHAPES, smoke_oclgrind.FAMILIES))
    assert sum(task.broken for task in tasks) == len(smoke_oclgrind.SIGHT)
    (one,) = [task for task in smoke_oclgrind.tasks_of(["cpu", "letters"]) if not task.broken]
    assert str(one) == "cpu letters"


ASSEMBLY = """
scatter:
\ts_add_u32 s4, s4, get_local_id@rel32@lo+4
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .name:           keys
        .size:           8
    .name:           scatter
    .sgpr_spill_count: 0
    .vgpr_count:     492
    .vgpr_spill_count: 268
amdhsa.target:   amdgcn--amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
"""


def test_spilled_registers_and_missing_functions_are_failures(monkeypatch, tmp_path):
    monkeypatch.setattr(compile_targets, "library", lambda name: [])
    monkeypatch.setattr(compile_targets, "run", lambda *command: "")
    variant = compile_targets.Variant("x.cl", ())
    (tmp_path / "kernel.s").write_text(ASSEMBLY)
    compiled = compile_targets.for_amd("gfx90a")(tmp_path, variant)
    assert compiled.registers == {"scatter": 492}
    assert compiled.failures == [
        "calls get_local_id, which nothing defines",
        "scatter spills 268 vector and 0 scalar registers",
    ]


@pytest.fixture
def part(tmp_path, monkeypatch):
    """Have the program be two systems and all kernels: other modules have the same kinds of places."""
    for path in ("oclgenomics/classify", "oclgenomics/omega", "kernels_cl"):
        shutil.copytree(mutate.ROOT / path, tmp_path / path)
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    mutate.all_mutations.cache_clear()
    yield
    mutate.all_mutations.cache_clear()


@pytest.mark.usefixtures("part")
def test_mutations_of_modules_are_programs_and_those_of_kernels_are_in_code():
    modules, kernels = mutate.all_mutations("")
    drawn = sorted(random.Random(1).sample(modules, 75), key=lambda mutation: mutation.path)
    for path, mutations in itertools.groupby(drawn, lambda mutation: mutation.path):
        text = (mutate.ROOT / path).read_text()
        whole = ast.dump(ast.parse(text))
        for mutation in mutations:
            assert ast.dump(ast.parse(mutation.apply(text))) != whole, mutation.describe()
    for mutation in random.Random(1).sample(kernels, 300):
        line = (mutate.ROOT / mutation.path).read_text()[: mutation.begin].rpartition("\n")[2]
        assert "//" not in line, mutation.describe()
        assert not line.lstrip().startswith("#"), mutation.describe()


@pytest.mark.usefixtures("part")
def test_a_seed_draws_the_same_mutations_again():
    drawn = mutate.draw("", 10, 7)
    assert drawn == mutate.draw("", 10, 7)
    assert sum(mutation.path.startswith("kernels_cl/") for mutation in drawn) == 4
    assert {mutation.path.split("/")[0] for mutation in mutate.draw("kernels_cl/omega", 5, 1)} == {"kernels_cl"}


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("oclgenomics/classify/commands/build.py", ("tests/classify",)),
        ("oclgenomics/fpga/commands/project.py", ("tests/fpga",)),
        ("oclgenomics/cli/main.py", ("tests/cli",)),
        ("oclgenomics/classify/options.py", ("tests/classify",)),
        ("kernels_cl/classify/clip_runs.cl", ("tests/classify",)),
        ("kernels_cl/common/portable.clh", ("tests/runtime", "tests/primitives")),
    ],
)
def test_mutations_are_judged_by_the_tests_of_their_system(path, folders):
    assert (mutate.ROOT / path).exists()
    assert mutate.folders_of(path) == folders
