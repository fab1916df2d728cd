"""Models of k-mers: tables in all their forms, files of arrays, and what is no model."""

from __future__ import annotations

import configparser
import gzip
import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.signals import MODELS, KmerModel, read_model, write_model
from oclgenomics.signals.kmers import kmer_at, kmer_numbers, reverse_complements, reversed_kmers


def kmers(k: int) -> list[str]:
    return ["".join(letters) for letters in itertools.product("ACGT", repeat=k)]


def random_model(k: int, seed: int = 1) -> KmerModel:
    rng = np.random.default_rng(seed)
    return KmerModel("m", k, rng.normal(90, 12, 4**k).round(3), rng.uniform(1, 2, 4**k).round(3))


def table(model: KmerModel, head: str = "kmer\tlevel_mean\tlevel_stdv\n", order: list[int] | None = None) -> str:
    named = kmers(model.k)
    lines = [f"{named[i]}\t{model.mean[i]}\t{model.deviation[i]}\n" for i in order or range(4**model.k)]
    return head + "".join(lines)


def same(found: KmerModel, expected: KmerModel) -> None:
    assert (found.name, found.k) == (expected.name, expected.k)
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.deviation, expected.deviation)
    assert found.mean.dtype == found.deviation.dtype == np.float64


def written(tmp_path: Path, text: str, name: str = "m.model") -> Path:
    path = tmp_path / name
    path.write_text(text, newline="")
    return path


def refusal(path: Path | str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_model(path, **options)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_the_model_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    model = read_model("r9.4.1")
    assert (model.name, model.k) == ("r9.4.1", 6)
    assert (model.mean[0], model.deviation[0]) == (86.486336, 1.517846)  # AAAAAA
    lines = MODELS["r9.4.1"].read_text().splitlines()[1:]
    known = {line.split()[0]: float(line.split()[1]) for line in lines}
    assert model.mean.tolist() == [known[kmer] for kmer in kmers(6)]
    folder = MODELS["r9.4.1"].parent
    assert "Mozilla Public License" in (folder / "LICENSE-MPL-2.0.md").read_text()
    assert "Oxford Nanopore" in (folder / "NOTICE.md").read_text()


def test_a_file_with_the_name_of_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, table(random_model(1)), "r9.4.1")
    assert read_model("r9.4.1").k == 6
    assert read_model("./r9.4.1").k == 1


@settings(max_examples=30)
@given(data=st.data(), k=st.integers(1, 3), seed=st.integers(0, 99))
def test_tables(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, k: int, seed: int) -> None:
    """In any order, of either case, with U or T, and whatever ends and separates them."""
    model = random_model(k, seed)
    text = table(model, "", np.random.default_rng(seed).permutation(4**k).tolist())
    for old, new in (("T", "U"), ("\t", "   "), ("\n", "\r\n"), ("\n", "\n# more\n\n")):
        if data.draw(st.booleans()):
            text = text.replace(old, new)
    text = text.lower() if data.draw(st.booleans()) else text
    text = data.draw(st.sampled_from(["", "#kmer\n", "kmer level_mean level_stdv\n", "KMER Mean SD\n\n"])) + text
    packed = gzip.compress(text.encode()) if data.draw(st.booleans()) else text.encode()
    path = tmp_path_factory.mktemp("model") / "m.txt"
    path.write_bytes(packed)
    same(read_model(path), model)


def test_columns_by_their_names(tmp_path: Path) -> None:
    model = random_model(2)
    lines = [f"7 {mean} x {kmer} {sd}\n" for kmer, mean, sd in zip(kmers(2), model.mean, model.deviation, strict=True)]
    path = written(tmp_path, "sd_mean current.mean weight kmer stdv\n" + "".join(lines))
    same(read_model(path), model)


@pytest.mark.parametrize("head", ["", "kmer mean\n", "kmer\tlevel_mean\n"])
def test_models_without_deviations(tmp_path: Path, head: str) -> None:
    text = head + "".join(f"{kmer} {number - 5}\n" for number, kmer in enumerate(kmers(2)))
    model = read_model(written(tmp_path, text))
    assert model.mean.tolist() == list(range(-5, 11))
    assert np.isnan(model.deviation).all()


def test_reversed_kmers(tmp_path: Path) -> None:
    model = random_model(3)
    found = read_model(written(tmp_path, table(model)), reverse_kmers=True)
    named = kmers(3)
    assert found.mean.tolist() == [model.mean[named.index(kmer[::-1])] for kmer in named]
    assert found.deviation.tolist() == [model.deviation[named.index(kmer[::-1])] for kmer in named]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(1)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table(model).encode())))
    assert read_model("-").mean.tolist() == model.mean.tolist()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("AC\t", "AA\t", "line 3: k-mer 'AA' is there a second time"),
        ("AC\t", "AN\t", "line 3: 'AN' is no k-mer of A, C, G and T"),
        ("AC\t", "ACG\t", "line 3: 'ACG' has 3 bases, and the k-mers before it 2"),
        ("AC\t", "AÇ\t", "line 3: 'AÇ' is no k-mer"),
        ("AC\t", "AC\t1\t", "line 3: has 4 fields, and the lines before it 3"),
        ("AC\t", "AC\tx", "line 3: 'x1.0' is not a number"),
        ("AC\t", "AC\tnan\n", "line 3: has 2 fields"),
        ("AC\t1", "AC\tinf\t1\n#", "line 3: 'inf' is not a number"),
        ("AC\t1", "AC\t1_0\t1\n#", "line 3: '1_0' is not a number"),
        ("AC\t1", "AC\t1\t-1\n#", "line 3: '-1' is not a number from 0 on"),
        ("AC\t1", f"AC\t{'9' * 400}\t1\n#", "line 3: '99999999999999999999...' is not a number"),
        ("AC\t1", "AC\t\u0663\t1\n#", "line 3: '\u0663' is not a number"),
        ("AC\t", "#AC\t", "k-mer AC is missing, 1 of 16 in all"),
        ("kmer", "sequence", "line 1: 'level_mean' is not a number"),
        ("level_mean", "weight", "line 1: names no column of means (level_mean, "),
        ("level_stdv", "level_mean", "line 1: names the column 'level_mean' twice"),
        ("kmer\tlevel_mean\tlevel_stdv\n", "AA\n", "line 1: is no table of k-mers: a line has a k-mer and its mean"),
    ],
)
def test_what_is_no_table(tmp_path: Path, old: str, new: str, told: str) -> None:
    text = table(KmerModel("m", 2, np.ones(16), np.ones(16)))
    assert text.count(old) >= 1
    assert told in refusal(written(tmp_path, text.replace(old, new, 1)))


def test_files_without_kmers(tmp_path: Path) -> None:
    assert "has no k-mers" in refusal(written(tmp_path, "# nothing\n\n"))
    assert "the file is empty" in refusal(written(tmp_path, ""))
    assert "neither such a file nor such a model (models: r9.4.1, r10.4.1, rna002, rna004)" in refusal("r9.4.2")
    assert "zero byte" in refusal(written(tmp_path, "AA 1\0"))
    assert "line 1: k-mers have 13 bases; 1 to 12 are read" in refusal(written(tmp_path, "ACGTACGTACGTA 1 1\n"))


# Files of arrays


@settings(max_examples=10)
@given(k=st.integers(1, 5), seed=st.integers(0, 9), name=st.text(max_size=5).filter(lambda text: "\0" not in text))
def test_models_come_back(tmp_path_factory: pytest.TempPathFactory, k: int, seed: int, name: str) -> None:
    path = tmp_path_factory.mktemp("model") / "x"
    model = KmerModel(name, k, random_model(k, seed).mean, np.full(4**k, np.nan) if seed % 2 else random_model(k).mean)
    write_model(path, model)
    same(read_model(path), model)
    whole = path.read_bytes()
    write_model(path, model)
    assert path.read_bytes() == whole


def uncalled4(k: int, seed: int, **more: Any) -> tuple[KmerModel, dict[str, Any]]:
    """A model, and the arrays of it as Uncalled4 has them."""
    model = random_model(k, seed)
    order = np.random.default_rng(seed).permutation(4**k)
    arrays = {
        "kmer": np.array(kmers(k))[order], "current.mean": model.mean[order], "current.stdv": model.deviation[order],
        "current_sd.mean": np.empty(0), "_name": np.str_("m"), "_k": np.int64(k), "_shift": np.int64(1),
    }  # fmt: skip
    return model, arrays | more


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_models_of_uncalled4(tmp_path: Path, k: int, reverse: bool) -> None:
    model, arrays = uncalled4(k, 1, _reverse=np.bool_(reverse))
    np.savez(tmp_path / "x.npz", **arrays)
    found = read_model(tmp_path / "x.npz")
    order = reversed_kmers(k) if reverse else np.arange(4**k)
    same(found, KmerModel("m", k, model.mean[order], model.deviation[order]))
    np.savez(tmp_path / "y.npz", **arrays | {"current.stdv": np.empty(0, np.float32)})
    assert np.isnan(read_model(tmp_path / "y.npz").deviation).all()


@pytest.mark.parametrize(
    ("middle", "spread", "current"),
    [(92.5, 23.0, (92.5, 23.0)), (0.17, 0.89, None), (92.5, 0.0, None), (np.nan, 1.0, None), (90.0, np.inf, None)],
)
def test_the_current_that_a_model_of_uncalled4_knows(
    tmp_path: Path, middle: float, spread: float, current: tuple[float, float] | None
) -> None:
    """Only if it was in pA; and rates are not taken, as those of its R10.4.1 are R9.4.1's."""
    known = {"_pa_mean": np.float64(middle), "_pa_stdv": np.float64(spread), "_sample_rate": np.float64(4000)}
    np.savez(tmp_path / "x.npz", **uncalled4(2, 1)[1] | known)
    found = read_model(tmp_path / "x.npz")
    assert (found.current, found.rate) == (current, None)
    np.savez(tmp_path / "x.npz", **uncalled4(2, 1)[1] | {"_pa_mean": np.float64(middle)})
    assert read_model(tmp_path / "x.npz").current is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"_pa_mean": np.str_("x"), "_pa_stdv": np.float64(1)}, "'_pa_mean' is no number"),
        ({"kmer": np.array(["A", "C", "G", "N"])}, "record 4: 'N' is no k-mer"),
        ({"kmer": np.array(["A", "C", "G", "G"])}, "record 4: k-mer 'G' is there a second time"),
        ({"kmer": np.array(["A", "C", "G"])}, "it has no array 'kmer'"),
        ({"kmer": np.arange(4)}, "it has no array 'kmer'"),
        ({"_k": np.int64(2)}, "record 1: 'A' has 1 bases"),
        ({"_k": np.array("x")}, "'_k' is no whole number"),
        ({"_k": np.int64(-1)}, "'_k' is -1"),
        ({"current.mean": np.array([1, 2, 3, np.nan])}, "means are finite numbers"),
        ({"current.mean": np.ones((2, 2))}, "'current.mean' is no list of numbers"),
        ({"current.stdv": np.ones(3)}, "deviations are numbers from 0 on, as many as means"),
        ({"current.stdv": -np.ones(4)}, "deviations are numbers from 0 on, as many as means"),
        ({"kmer": np.array([object()] * 4)}, "cannot be read as .npz"),
    ],
)
def test_arrays_that_are_no_model(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    np.savez(tmp_path / "x.npz", **uncalled4(1, 1)[1] | changes)
    assert told in refusal(tmp_path / "x.npz")


@pytest.mark.parametrize("missing", ["mean", "deviation", "k"])
def test_missing_arrays(tmp_path: Path, missing: str) -> None:
    arrays: dict[str, Any] = {"mean": np.ones(4), "deviation": np.ones(4), "k": np.int64(1)}
    np.savez(tmp_path / "x.npz", **arrays)
    assert read_model(tmp_path / "x.npz").name == "x"
    del arrays[missing]
    np.savez(tmp_path / "x.npz", **arrays)
    assert f"it has no array '{missing}'" in refusal(tmp_path / "x.npz")


def test_damaged_arrays(tmp_path: Path) -> None:
    write_model(tmp_path / "x", random_model(2))
    whole = (tmp_path / "x").read_bytes()
    for size in (4, 30, 200, len(whole) - 1):
        (tmp_path / "x").write_bytes(whole[:size])
        assert "cannot be read as .npz" in refusal(tmp_path / "x")
    (tmp_path / "x").write_bytes(whole.replace(b"<f8", b"<f2"))
    refusal(tmp_path / "x")


@pytest.mark.parametrize("order", ["<", ">"])
def test_texts_of_what_is_no_character(tmp_path: Path, order: str) -> None:
    arrays = uncalled4(1, 1)[1]
    arrays["kmer"] = arrays["kmer"].astype(f"{order}U1")
    np.savez(tmp_path / "x.npz", **arrays)
    assert read_model(tmp_path / "x.npz").k == 1
    arrays["kmer"] = np.array([65, 67, 71, 0x110000], f"{order}u4").view(f"{order}U1")
    np.savez(tmp_path / "x.npz", **arrays)
    assert "'kmer' has what is no character" in refusal(tmp_path / "x.npz")


# Numbers of k-mers


@given(k=st.integers(1, 6), letters=st.lists(st.integers(0, 3), max_size=20))
def test_numbers(k: int, letters: list[int]) -> None:
    text = "".join("ACGT"[digit] for digit in letters)
    found = kmer_numbers(np.array(letters, np.uint8), k)
    expected = [text[i : i + k] for i in range(len(text) - k + 1)]
    assert [kmer_at(number, k) for number in found.tolist()] == expected
    pairs = str.maketrans("ACGT", "TGCA")
    assert [kmer_at(i, k) for i in reversed_kmers(k)[found].tolist()] == [kmer[::-1] for kmer in expected]
    complements = [kmer[::-1].translate(pairs) for kmer in expected]
    assert [kmer_at(number, k) for number in reverse_complements(k)[found].tolist()] == complements


def test_models_are_installed() -> None:
    setup = configparser.ConfigParser()
    setup.read(Path(__file__).resolve().parents[2] / "setup.cfg")
    assert setup["options.package_data"]["oclgenomics.signals.models"] == "*"
    assert "oclgenomics/signals/models/LICENSE-MPL-2.0.md" in setup["metadata"]["license_files"].split()
    assert all(path.parent.name == "models" and path.is_file() for path in MODELS.values())
