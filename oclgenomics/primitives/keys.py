"""Keys and values that the primitives accept, and the names of their types in kernels."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.runtime import DeviceArray, Engine

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


@dataclass(frozen=True)
class Items:
    """Keys, each with a value if there are any, as passes move them from some arrays to others."""

    keys: DeviceArray
    values: DeviceArray | None = None

    @property
    def defines(self) -> dict[str, int | str]:
        """The kernels' `-D` parameter for such values."""
        return {} if self.values is None else {"VALUE": TYPES[self.values.dtype.name]}

    def like(self, engine: Engine) -> Items:
        """Allocate arrays of the same shapes."""
        values = None if self.values is None else engine.empty(self.values.shape, self.values.dtype)
        return Items(engine.empty(self.keys.shape, self.keys.dtype), values)

    def moved(self, out: Items) -> dict[str, DeviceArray | None]:
        """What kernels take that move them to the arrays of others."""
        values = {} if self.values is None else {"values": self.values, "values_out": out.values}
        return {"keys": self.keys, "out": out.keys, **values}


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


GROUPS = 2048  # enough for the largest GPUs to be full, few enough that each can look at all the others' totals
CPU_SPANS = 64
ROOTS = (8, 4, 2)  # of the work-items that scan together, best first


def scan_lanes(engine: Engine) -> tuple[int, int]:
    """Return how many work-items of a GPU scan together, a square number, and its root: see group_scan.clh."""
    root = next((root for root in ROOTS if root * root <= engine.device.max_work_group), ROOTS[-1])
    return engine.group_size(root * root, least=ROOTS[-1] ** 2), root


def spans(size: int, tile: int, most: int) -> tuple[int, int]:
    """Distribute `size` items over at most `most` groups in whole tiles; return (groups, items of a group)."""
    tiles = -(-size // tile)
    each = max(1, -(-tiles // most))
    return -(-tiles // each), each * tile
