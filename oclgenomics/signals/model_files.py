"""K-mer models in files: the one that comes with the package, tables, and NumPy's arrays (ours and Uncalled4's)."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.signals.chemistry import PORES, pore_named
from oclgenomics.signals.kmers import MAX_K, SMALLEST_CURRENT, KmerModel, reversed_kmers
from oclgenomics.signals.model_table import place_kmers, read_table
from oclgenomics.signals.published import PUBLISHED, installed_path

MODELS = {"r9.4.1": Path(__file__).parent / "models" / "r9.4.1.model"}
"""Models that come with the package: `r9.4.1` has 6-mers of DNA at 450 bases per second."""
MODEL_NAMES = (*MODELS, *PUBLISHED)
"""Names of models: those that come with the package, and those that `fetch_model` downloads."""
RATES = {"r9.4.1": 4000.0, **{name: one.rate for name, one in PUBLISHED.items()}}  # samples per second
ZIP = b"PK\x03\x04"
MAX_BYTES = 2 << 30  # of all arrays; more than those of the longest k-mers
OURS = ("mean", "deviation", "k", "name", "pore", "rate")
UNCALLED4 = ("kmer", "current.mean", "current.stdv", "_k", "_name", "_reverse", "_pa_mean", "_pa_stdv")
Arrays = Mapping[str, NDArray[Any]]


def read_model(path_or_name: str | os.PathLike[str], *, reverse_kmers: bool = False) -> KmerModel:
    """Read a k-mer model.

    Text has a k-mer on each line, in any order, uncompressed or compressed. With a head, its columns are `kmer`,
    `level_mean` and `level_stdv`, or as other tools name them; without one, they are the k-mer, its mean and, if there
    is a third, its standard deviation. Lines that start with # are comments. A file of NumPy's arrays (.npz) is one of
    `write_model` or of Uncalled4.

    Which pore and rate of samples a model is for is what the file says: a text by comments such as "# pore: R10.4.1",
    "# rate: 5000" or nanopolish's "#kit r9.4_450bps", arrays by `pore` and `rate`. Otherwise the pore is the one in the
    model's name, as in "r10.4.1_400bps", and not known where that names none.

    Models in standard units, with a mean of about 0, are as good as those in pA, as references are normalised.

    Parameters
    ----------
    path_or_name : str or path-like
        One of `MODEL_NAMES`, of which `fetch_model` gets some; or a file, or "-" for standard input. A file with the
        name of a model is "./r9.4.1".
    reverse_kmers : bool
        The file has k-mers from 3' to 5', as Oxford Nanopore's legacy tables for RNA. Its newer tables have them from
        5' to 3'. Files of Uncalled4 say it themselves.

    Returns
    -------
    KmerModel
        Named as the file says, or as the file without its extension.

    Raises
    ------
    InputError
        The file cannot be read, or does not have all k-mers of one length from 1 to 12 once, with a number for each;
        or the model of this name was not downloaded.
    ParameterError
        K-mers of a named model are to be reversed, which says itself in which order they are.
    """
    given = os.fspath(path_or_name)
    path = os.fspath(installed_path(given) if given in PUBLISHED else MODELS.get(given, given))
    if given not in MODEL_NAMES and given != "-" and not os.path.exists(given):
        known = ", ".join(MODEL_NAMES)
        raise InputError(f"there is neither such a file nor such a model (models: {known})", source=given)
    if reverse_kmers and given in PUBLISHED:
        raise ParameterError("reverse_kmers", f"is for tables from 3' to 5', and {given} is from 5' to 3'", True)
    name = given if given in MODEL_NAMES else _name(given)
    model = read_arrays(path, name) if is_zip(path) else read_table(path, name)
    pore = PUBLISHED[given].pore if given in PUBLISHED else model.pore or pore_named(model.name)
    model = replace(model, pore=pore, rate=model.rate or RATES.get(given))
    if not reverse_kmers:
        return model
    numbers = reversed_kmers(model.k)
    return replace(model, mean=model.mean[numbers], deviation=model.deviation[numbers])


def write_model(path: str | os.PathLike[str], model: KmerModel) -> None:
    """Write a model as .npz, with the arrays `mean`, `deviation`, `k` and `name`, and `pore` and `rate` if known.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    """
    known: dict[str, Any] = {"k": np.int64(model.k), "name": np.str_(model.name)}
    if model.pore:
        known["pore"] = np.str_(model.pore)
    if model.rate is not None:
        known["rate"] = np.float64(model.rate)
    with open_whole(path, "wb", OutputError) as file:
        np.savez(file, mean=model.mean, deviation=model.deviation, **known)


def _name(path: str) -> str:
    """The name of a file without what says its format."""
    name = os.path.basename(path)
    for ending in (".gz", ".npz", ".model", ".txt", ".tsv"):
        name = name.removesuffix(ending)
    return "model" if path == "-" else name or "model"


def is_zip(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a regular file that begins as zip does."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(ZIP)) == ZIP
    except OSError:  # reading it will say so
        return False


def read_arrays(path: str, name: str) -> KmerModel:
    """Read a model from .npz; see `read_model`.

    Parameters
    ----------
    path : str
    name : str
        Of the model, if it has none itself.
    """
    arrays = _load(path)
    try:
        if "current.mean" in arrays:
            return _of_uncalled4(arrays, name, path)
        return _ours(arrays, name)
    except (ValueError, OverflowError) as error:
        raise InputError(f"is no model of k-mers: {error}", source=path) from error


def _load(path: str) -> dict[str, NDArray[Any]]:
    """The arrays that say something to us."""
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size > MAX_BYTES:
            raise InputError(f"holds more than {MAX_BYTES:,} bytes", source=path)
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in {*OURS, *UNCALLED4} & set(stored.files)}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):  # what does not begin as an array comes as bytes
                raise ValueError(f"{name!r} is no array")
            _check_text(array, name)
        return arrays
    except InputError:
        raise
    except Exception as error:  # besides BadZipFile: what zip files and arrays know of damage, and numbers beyond both
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be read as .npz ({reason or type(error).__name__})", source=path) from error


def _check_text(array: NDArray[Any], name: str) -> None:
    """Refuse texts with numbers that are no characters, which Python's own text does not take."""
    if array.dtype.kind == "U":
        codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if codes.max(initial=0) > sys.maxunicode:
            raise ValueError(f"{name!r} has what is no character")


def _ours(arrays: Arrays, name: str) -> KmerModel:
    missing = [key for key in OURS[:3] if key not in arrays]
    if missing:
        raise ValueError(f"it has no array {missing[0]!r}; models of oclgenomics and of Uncalled4 are read")
    k = _whole(arrays["k"], "k")
    deviation = _numbers(arrays["deviation"], "deviation")
    if (deviation < 0).any() or np.isinf(deviation).any():
        raise ValueError("deviations are numbers from 0 on")
    pore = _text(arrays.get("pore"), "")
    if pore and not pore_named(pore):
        raise ValueError(f"'pore' is none of {', '.join(PORES)}")
    rate = None if "rate" not in arrays else float(_one(arrays["rate"], "fiu", "'rate' is no number"))
    means = _numbers(arrays["mean"], "mean")
    return KmerModel(_text(arrays.get("name"), name), k, means, deviation, pore_named(pore), rate)


def _of_uncalled4(arrays: Arrays, name: str, path: str) -> KmerModel:
    """A model of Uncalled4, whose k-mers are in the order of the pore: from 3' to 5' where `_reverse` says so."""
    means = _numbers(arrays["current.mean"], "current.mean")
    kmers = arrays.get("kmer")
    if kmers is None or kmers.dtype.kind != "U" or kmers.shape != means.shape or not len(kmers):
        raise ValueError("it has no array 'kmer' of texts, as many as means")
    listed = kmers.tolist()
    k = _whole(arrays["_k"], "_k") if "_k" in arrays else len(listed[0])
    numbers = place_kmers(listed, k, path)
    if "_reverse" in arrays and _whole(arrays["_reverse"], "_reverse"):
        numbers = reversed_kmers(k)[numbers]
    deviations = _numbers(arrays.get("current.stdv", np.empty(0)), "current.stdv")
    if deviations.shape not in (means.shape, (0,)) or (deviations < 0).any() or np.isinf(deviations).any():
        raise ValueError("deviations are numbers from 0 on, as many as means")
    mean, deviation = np.empty(4**k), np.full(4**k, np.nan)
    mean[numbers] = means
    if len(deviations):
        deviation[numbers] = deviations
    return KmerModel(_text(arrays.get("_name"), name), k, mean, deviation, current=_current(arrays))


def _current(arrays: Arrays) -> tuple[float, float] | None:
    """Mean and deviation in pA of the currents that Uncalled4 standardised; None if what it had was none in pA."""
    names = ("_pa_mean", "_pa_stdv")
    if any(name not in arrays for name in names):
        return None
    middle, spread = (float(_one(arrays[name], "fiu", f"{name!r} is no number")) for name in names)
    plausible = SMALLEST_CURRENT <= middle < np.inf and 0 < spread < np.inf
    return (middle, spread) if plausible else None


def _numbers(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiu" or array.ndim != 1:
        raise ValueError(f"{name!r} is no list of numbers")
    return array.astype(np.float64)


def _one(array: NDArray[Any], kinds: str, trouble: str) -> Any:
    """The only value of an array of one of these kinds."""
    if array.dtype.kind not in kinds or array.size != 1:
        raise ValueError(trouble)
    return array.item()


def _whole(array: NDArray[Any], name: str) -> int:
    value = int(_one(array, "iub", f"{name!r} is no whole number"))
    if not 0 <= value <= MAX_K:
        raise ValueError(f"{name!r} is {value}; k-mers have 1 to {MAX_K} bases")
    return value


def _text(array: NDArray[Any] | None, default: str) -> str:
    known = array is not None and array.dtype.kind == "U" and array.size == 1
    return str(array.item()) if array is not None and known else default
