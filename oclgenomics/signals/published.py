"""K-mer models that Oxford Nanopore publishes and that do not come with the package: where they are, and their folder.

A table is known by the identifier of the git blob that it is in the repository, which is a checksum of its content.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from oclgenomics.errors import InputError, OutputError, UsageError, reason_of
from oclgenomics.io.downloads import Downloader, digest_of
from oclgenomics.io.raw_file import Progress

VARIABLE = "OCLGENOMICS_MODELS"
REPOSITORY = "https://github.com/nanoporetech/kmer_models"
COMMIT = "4e56daed7fbb79b538f58e41262d5c54b07356ea"
MODELS_SOURCE = f"https://raw.githubusercontent.com/nanoporetech/kmer_models/{COMMIT}"
LICENCE = f"(c) Oxford Nanopore Technologies Ltd., Mozilla Public License 2.0, from {REPOSITORY}"


@dataclass(frozen=True)
class PublishedModel:
    """A table of Oxford Nanopore's.

    Attributes
    ----------
    pore : str
        Family of the pore, one of `oclgenomics.signals.chemistry.PORES`.
    rate : float
        Samples per second of the signals that it is used for.
    k : int
        Length of its k-mers.
    path : str
        In the repository.
    blob : str
        Identifier of the git blob with these bytes.
    """

    pore: str
    rate: float
    k: int
    path: str
    blob: str


PUBLISHED = {
    "r10.4.1": PublishedModel(
        "R10", 5000.0, 9, "dna_r10.4.1_e8.2_400bps/9mer_levels_v1.txt", "3a4ea15a1f1723be60f7d258bd375b3f62279731"
    ),
    "rna002": PublishedModel(
        "R9", 3012.0, 5, "rna_r9.4_180mv_70bps/5mer_levels_v1.txt", "6721161065e592a98939fe17eeda237324396bfc"
    ),
    "rna004": PublishedModel(
        "RNA004", 4000.0, 9, "rna004/9mer_levels_v1.txt", "9654acb752e4f2e85d4293b38509275d83be77a0"
    ),
}
"""Models by name: 9-mers of DNA on R10.4.1 at 400 bases per second, and of direct RNA."""


def models_folder() -> Path:
    """Return the folder of models that were downloaded, which may not be there yet.

    It is `$OCLGENOMICS_MODELS`, else `oclgenomics/models` in `$XDG_DATA_HOME` or `~/.local/share`.

    Raises
    ------
    UsageError
        There is no such user, or no home.
    """
    given = os.environ.get(VARIABLE, "").strip()
    data = os.environ.get("XDG_DATA_HOME", "").strip() or "~/.local/share"
    try:
        return Path(given).expanduser() if given else Path(data).expanduser() / "oclgenomics" / "models"
    except RuntimeError as error:
        raise UsageError(f"there is no home folder for models; set {VARIABLE} to a folder") from error


def model_path(name: str) -> Path:
    """Return where a published model lies when it was downloaded."""
    return models_folder() / f"{name}.txt"


def check_name(name: str) -> None:
    """Refuse a name that is none of `PUBLISHED`.

    Raises
    ------
    UsageError
    """
    if name not in PUBLISHED:
        raise UsageError(f"{name}: there is no such published model; choose one of {', '.join(PUBLISHED)}")


def installed_path(name: str) -> Path:
    """Return where a published model lies, having checked it.

    Raises
    ------
    InputError
        It is not there, or is another file than the published one; the message says how to get it.
    """
    path, command = model_path(name), f"`oclgenomics sdtw fetch-model {name}`"
    if not path.exists():
        raise InputError(
            f"the model is not installed: {command} downloads it from {REPOSITORY} (MPL-2.0), or give a file of it",
            source=name,
        )
    if digest_of(os.fspath(path), PUBLISHED[name].blob) != PUBLISHED[name].blob:
        trouble = f"is not the published table of {name}, or cannot be read: {command} gets it anew"
        raise InputError(trouble, source=os.fspath(path))
    return path


def fetch_model(
    name: str,
    *,
    source: str = MODELS_SOURCE,
    progress: Progress | None = None,
    wait: Callable[[float], object] | None = None,
) -> Path:
    """Download a published model into the folder of models; nothing comes again that is there.

    Parameters
    ----------
    name : str
        One of `PUBLISHED`.
    source : str
        Address of a folder with the files of the repository.
    progress, wait
        As of `oclgenomics.io.downloads.Downloader`.

    Raises
    ------
    UsageError
        There is no such model.
    InputError
        The server cannot be reached, has no such file, or another one than the published one.
    OutputError
        The file cannot be written.
    MissingDependencyError
        The package requests is not installed.
    """
    check_name(name)
    net, path = Downloader(1, progress, wait), model_path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent}: cannot be made ({reason_of(error)})") from error
    net.get(f"{source.rstrip('/')}/{PUBLISHED[name].path}", os.fspath(path), PUBLISHED[name].blob)
    return path
