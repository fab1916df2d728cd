"""Keys and values that the primitives accept, and the names of their types in kernels."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.runtime import DeviceArray

__all__ = ["MAX_ITEMS", "TYPES", "KeyShape", "key_shape"]

MAX_ITEMS = (1 << 32) - 1  # places are 32 bits
TYPES = {"uint8": "uchar", "uint16": "ushort", "uint32": "uint", "uint64": "ulong"}


@dataclass(frozen=True)
class KeyShape:
    """Keys of one or several words: word w of key i is item w * stride + i of the array."""

    words: int
    stride: int
    size: int
    bits: int

    @property
    def defines(self) -> dict[str, int | str]:
        """The kernels' `-D` parameters for such keys."""
        return {"KEY": TYPES[f"uint{self.bits // self.words}"], "WORDS": self.words}


def key_shape(task: str, keys: DeviceArray, values: DeviceArray | None, size: int | None) -> KeyShape:
    """Check keys and values and return the keys' shape.

    Parameters
    ----------
    task : str
        Named in errors.
    keys : DeviceArray, uint32 or uint64, (n,) or (words, n)
    values : DeviceArray of unsigned integers, (n,), optional
    size : int, optional
        Keys in use; all if not given.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, or more than `MAX_ITEMS` keys.
    """
    words, stride = keys.shape if len(keys.shape) == 2 else (1, keys.size)
    size = stride if size is None else size
    if keys.dtype.name not in ("uint32", "uint64") or (values is not None and values.dtype.name not in TYPES):
        raise ValueError(f"{task}: {keys} and {values} are not unsigned integers of 32 or 64 bits, and of 8 to 64")
    if not 0 <= size <= min(stride, MAX_ITEMS) or (values is not None and values.size < size):
        raise ValueError(f"{task}: {size} of {stride} keys; at most {MAX_ITEMS} are possible, with a value each")
    return KeyShape(words, stride, size, words * keys.dtype.itemsize * 8)
