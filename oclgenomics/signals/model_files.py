"""Models of k-mers from files, and the one that comes with the package."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from oclgenomics.errors import InputError
from oclgenomics.signals.chemistry import pore_named
from oclgenomics.signals.kmer_model import KmerModel
from oclgenomics.signals.kmer_numbers import reversed_kmers
from oclgenomics.signals.model_arrays import is_zip, read_arrays, write_model
from oclgenomics.signals.model_table import read_table

__all__ = ["MODELS", "read_model", "write_model"]

MODELS = {"r9.4.1": Path(__file__).parent / "models" / "r9.4.1.model"}
"""Models that come with the package: `r9.4.1` has 6-mers of DNA at 450 bases per second."""

RATES = {"r9.4.1": 4000.0}  # samples per second of R9.4.1 on all sequencers


def read_model(path_or_name: str | os.PathLike[str], *, reverse_kmers: bool = False) -> KmerModel:
    """Read a model of k-mers.

    Text has a k-mer on each line, in any order, plain or packed. With a head, its columns are `kmer`, `level_mean` and
    `level_stdv`, or as other tools name them; without one, they are the k-mer, its mean and, if there is a third, its
    standard deviation. Lines that start with # are comments. A file of NumPy's arrays (.npz) is one of `write_model`
    or of Uncalled4.

    Which pore and rate of samples a model is for is what the file says: a text by comments such as "# pore: R10.4.1",
    "# rate: 5000" or nanopolish's "#kit r9.4_450bps", arrays by `pore` and `rate`. Otherwise the pore is the one in the
    model's name, as in "r10.4.1_400bps", and not known where that names none.

    Models in standard units, with a mean of about 0, are as good as those in pA, as references are normalised.

    Parameters
    ----------
    path_or_name : str or path-like
        One of `MODELS`; or a file, or "-" for standard input. A file with the name of a model is "./r9.4.1".
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
        The file cannot be read, or does not have all k-mers of one length from 1 to 12 once, with a number for each.
    """
    given = os.fspath(path_or_name)
    path = os.fspath(MODELS.get(given, given))
    if given not in MODELS and given != "-" and not os.path.exists(given):
        known = ", ".join(MODELS)
        raise InputError(f"there is neither such a file nor such a model (models: {known})", source=given)
    name = given if given in MODELS else _name(given)
    model = read_arrays(path, name) if is_zip(path) else read_table(path, name)
    model = replace(model, pore=model.pore or pore_named(model.name), rate=model.rate or RATES.get(given))
    if not reverse_kmers:
        return model
    numbers = reversed_kmers(model.k)
    return replace(model, mean=model.mean[numbers], deviation=model.deviation[numbers])


def _name(path: str) -> str:
    """The name of a file without what says its format."""
    name = os.path.basename(path)
    for ending in (".gz", ".npz", ".model", ".txt", ".tsv"):
        name = name.removesuffix(ending)
    return "model" if path == "-" else name or "model"
