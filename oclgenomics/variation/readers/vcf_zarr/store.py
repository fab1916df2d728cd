"""A Zarr group on disk, folder or zip file, whose troubles become errors of one line."""

from __future__ import annotations

import math
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, library_errors
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.source import Source
from oclgenomics.lazy_names import optional
from oclgenomics.variation.readers.sniff import store_format
from oclgenomics.variation.readers.vcf_zarr.codecs import check_codecs

STRINGS = "TUO"
MAX_CHUNK_BYTES = 1 << 32  # bytes, unpacked; a chunk that is not stored is made of fill values, whatever its size
MAX_WHOLE_SIZE = 1 << 27  # elements of an array that is read whole: names of samples, contigs and filters


class ZarrStore:
    """The arrays of a Zarr group (version 2 or 3 of the format), opened for reading.

    Parameters
    ----------
    path : str
        Folder, or zip file whose top level is that folder.

    Attributes
    ----------
    source : str
        The path.

    Raises
    ------
    InputError
        No Zarr group, or a damaged one.
    MissingDependencyError
        zarr is not installed.
    """

    def __init__(self, path: str) -> None:
        self.source = path
        self._file: Any = None
        self._packed: zipfile.ZipFile | None = None  # the same file, for metadata before zarr sees them
        _check(path)
        zarr = optional("zarr", f"{path}: VCF Zarr needs zarr: pip install 'oclgenomics[zarr]'")
        pool = zarr.config.set({"threading.max_workers": usable_cores()})  # which the first group of the process starts
        with library_errors("no Zarr group, or a damaged one", self.source), pool:
            if not os.path.isdir(path):
                self._file, self._packed = zarr.storage.ZipStore(path, mode="r"), zipfile.ZipFile(path)
            # A path is never taken for an address, and metadata are those whose codecs are checked, not a copy of them.
            folder = zarr.storage.LocalStore(path, read_only=True) if self._file is None else self._file
            self._group: Any = zarr.open_group(folder, mode="r", use_consolidated=False)
        self._arrays: dict[str, Any] = {}

    def close(self) -> None:
        """Close the zip file."""
        for file in (self._file, self._packed):
            if file is not None:
                file.close()

    def array(self, name: str, kinds: str, dimensions: tuple[int, ...], length: int | None = None) -> Any | None:
        """An array of the group, None if it has no such array.

        Parameters
        ----------
        name : str
            Its name.
        kinds : str
            NumPy's letters of the types it may have; `STRINGS` for text.
        dimensions : tuple of int
            How many dimensions it may have.
        length : int, optional
            Its first dimension.

        Raises
        ------
        InputError
            It has another type or shape, chunks of more than 4 GiB, a codec that is not allowed, or cannot be opened.
        """
        check_codecs(self.source, name, self._packed)
        with library_errors(f"the array {name} cannot be opened", self.source):
            array = self._group.get(name)
            if array is None:
                return None
            kind, shape = array.dtype.kind, array.shape
            chunk_bytes = math.prod(array.chunks) * array.dtype.itemsize
        if kind not in kinds or len(shape) not in dimensions or shape[0] != (shape[0] if length is None else length):
            raise InputError(f"the array {name} is {array.dtype} of shape {shape}, unlike VCF Zarr", source=self.source)
        if chunk_bytes > MAX_CHUNK_BYTES:
            raise InputError(f"the array {name} has chunks of more than {MAX_CHUNK_BYTES:,} bytes", source=self.source)
        self._arrays[name] = array
        return array

    def need(self, name: str, kinds: str, dimensions: int, length: int | None = None) -> Any:
        """An array without which nothing can be read; see `array`."""
        array = self.array(name, kinds, (dimensions,), length)
        if array is None:
            raise InputError(f"no VCF Zarr: it lacks the array {name}", source=self.source)
        return array

    def read(self, name: str, *where: slice) -> NDArray[Any]:
        """A part of an array that has been asked for by `array` or `need`; all of it if no slice is given."""
        array = self._arrays[name]
        if not where and array.size > MAX_WHOLE_SIZE:
            trouble = f"the array {name} has {array.size:,} elements; at most {MAX_WHOLE_SIZE:,} are read"
            raise InputError(trouble, source=self.source)
        with library_errors(f"the array {name} is damaged", self.source):
            return np.asarray(array[where or slice(None)])

    def has(self, name: str) -> bool:
        """If an array that has been asked for is there."""
        return name in self._arrays


def _check(path: str) -> None:
    """Refuse what cannot be a group before zarr is imported."""
    if path == "-":
        raise InputError("a VCF Zarr is read from a folder or a zip file, not from standard input", source=path)
    if store_format(path) != "vcz":
        with Source(path):  # says what is wrong with a file that cannot be opened
            raise InputError("no VCF Zarr: neither the folder of a Zarr group nor a zip file of it", source=path)
