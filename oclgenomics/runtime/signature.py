"""The parameters of kernels, read from their sources: what a launch may be given, by name and type.

OpenCL can tell names and types of a built kernel's parameters (`CL_KERNEL_ARG_*`), but not of one that came from a
binary. The source is always there, so they are read from it.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.errors import BuildError
from oclgenomics.runtime.preprocess import Macro, expand, preprocess

_SCALARS: dict[str, type[np.generic]] = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64,
}  # fmt: skip
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__global", "global", "__local", "local", "__constant"}
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(")
# Patterns that begin with a plain word are found some 20 times as soon as with \b before it.
_KERNEL = re.compile(r"__kernel(?<!\w__kernel)\b")
_TYPEDEF = re.compile(r"typedef(?<!\wtypedef)\s+([^;{}()]+?)\s*\b(\w+)\s*;")
_STRUCT = re.compile(r"typedef(?<!\wtypedef)\s+struct\s*\{([^{}]*)\}\s*(\w+)\s*;")
_VECTOR = re.compile(r"(?:2|3|4|8|16)$")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Attributes
    ----------
    name : str
    kind : str
        As the source writes it, type names resolved: "uint", "float2".
    pointer : bool
    dtype : numpy dtype or None
        Of a scalar or a structure of scalars, or of the items of the array that a pointer leads to, a vector's lanes
        counting as items; None for pointers to structures, which take any array.
    """

    name: str
    kind: str
    pointer: bool
    dtype: np.dtype[Any] | None

    def cast(self, value: Any) -> np.generic:
        """Return a scalar argument in the parameter's type, or a structure from a mapping that names all its members.

        Raises
        ------
        TypeError
            It is no number, a fraction where whole numbers are asked for, or no mapping with all members.
        ValueError
            The type does not hold it.
        """
        if self._members:
            if not isinstance(value, Mapping) or not all(member.name in value for member in self._members):
                names = ", ".join(member.name for member in self._members)
                raise TypeError(f"{self.kind} takes a mapping with {names}")
            members = tuple(member.cast(value[member.name]) for member in self._members)
            structure: Any = np.array(members, self.dtype)[()]
            return structure  # type: ignore[no-any-return]
        numbers, low, high, make = self._limits
        number: Any = value.item() if isinstance(value, np.generic) else value
        if not isinstance(number, numbers):
            raise TypeError(f"{value!r} of type {type(value).__name__} is no {self.kind}")
        if not low <= number <= high and math.isfinite(number):
            raise ValueError(f"{number} does not fit into {self.kind}")
        return make(number)

    @functools.cached_property
    def _members(self) -> tuple[Parameter, ...]:
        """Those of a structure."""
        if self.pointer or self.dtype is None or self.dtype.names is None:
            return ()
        dtypes = [(name, self.dtype[name]) for name in self.dtype.names]
        return tuple(Parameter(name, dtype.name, False, dtype) for name, dtype in dtypes)

    @functools.cached_property
    def _limits(self) -> tuple[Any, float, float, type[np.generic]]:
        """Types of numbers that are taken, the least and the greatest, and the type they are cast to."""
        assert self.dtype is not None
        if self.dtype.kind == "f":
            most = float(np.finfo(self.dtype).max)
            return (int, float), -most, most, self.dtype.type
        limits = np.iinfo(self.dtype)
        return (int,), int(limits.min), int(limits.max), self.dtype.type


@dataclass(frozen=True)
class Signature:
    """A kernel's parameters, in their order, and their places by name."""

    kernel: str
    parameters: tuple[Parameter, ...]

    @functools.cached_property
    def places(self) -> dict[str, int]:
        """Where each parameter is."""
        return {parameter.name: place for place, parameter in enumerate(self.parameters)}

    def check_names(self, given: Mapping[str, Any]) -> None:
        """Refuse arguments that are missing or that the kernel does not have.

        Raises
        ------
        TypeError
            Which they are.
        """
        if given.keys() == self.places.keys():
            return
        missing = ", ".join(name for name in self.places if name not in given)
        extra = ", ".join(name for name in given if name not in self.places)
        told = [f"{missing} missing"] * bool(missing) + [f"{extra} unknown"] * bool(extra)
        raise TypeError(f"{self.kernel}: arguments {'; '.join(told)}; it takes {', '.join(self.places)}")


@functools.lru_cache(maxsize=256)
def signatures_of(text: str, defines: tuple[tuple[str, str], ...]) -> dict[str, Signature]:
    """Read the signatures of all kernels of a source.

    Parameters
    ----------
    text : str
        The source with its includes resolved (`source.load_source`).
    defines : tuple of (name, value)
        `-D` parameters.

    Returns
    -------
    dict of str to Signature
        By name.

    Raises
    ------
    BuildError
        A parameter's type is not one of OpenCL's numbers, nor a structure of them, nor a pointer.
    """
    active, macros = preprocess(text, dict(defines))
    types = {name: definition.strip() for definition, name in _TYPEDEF.findall(_without_attributes(active))}
    structures = {name: _structure(body) for body, name in _STRUCT.findall(_without_attributes(active))}
    found = {}
    for match in _KERNEL.finditer(active):
        head = _without_attributes(active[match.end() : active.index("{", match.end())])
        head = _without_attributes(expand(head, macros))
        name, parameters = _parsed(head, types, structures, macros)
        found[name] = Signature(name, parameters)
    return found


def _structure(body: str) -> np.dtype[Any] | None:
    """The type of a structure with these members, laid out as OpenCL does; None unless all of them are scalars."""
    fields: list[tuple[str, type[np.generic]]] = []
    for declaration in filter(None, map(str.strip, body.split(";"))):
        kind, _, names = declaration.partition(" ")
        if kind not in _SCALARS or not all(_WORD.fullmatch(name.strip()) for name in names.split(",")):
            return None
        fields += [(name.strip(), _SCALARS[kind]) for name in names.split(",")]
    return np.dtype(fields, align=True)


def _parsed(
    head: str, types: Mapping[str, str], structures: Mapping[str, np.dtype[Any] | None], macros: Mapping[str, Macro]
) -> tuple[str, tuple[Parameter, ...]]:
    """Name and parameters, from `void name(...)`."""
    before, _, rest = head.partition("(")
    inside = rest[: rest.rindex(")")]
    texts = [text.strip() for text in inside.split(",") if text.strip()]
    name = before.split()[-1]
    return name, tuple(_parameter(name, text, types, structures, macros) for text in texts)


def _parameter(
    kernel: str,
    text: str,
    types: Mapping[str, str],
    structures: Mapping[str, np.dtype[Any] | None],
    macros: Mapping[str, Macro],
) -> Parameter:
    pointer = "*" in text
    *words, name = _WORD.findall(text)
    written = " ".join(word for word in words if word not in _QUALIFIERS)
    seen = set()
    while written in types and written not in seen:
        seen.add(written)
        written = expand(types[written], macros)
    base: Any = _SCALARS.get(_VECTOR.sub("", written) if pointer else written)
    if base is None and not pointer:
        base = structures.get(written)
    if base is None and not pointer:
        raise BuildError(f"kernel {kernel}: parameter {name} is of type {written}, which nothing is cast to")
    return Parameter(name, written, pointer, None if base is None else np.dtype(base))


def _without_attributes(text: str) -> str:
    """Leave out `__attribute__((...))`."""
    kept, place = [], 0
    for match in _ATTRIBUTE.finditer(text):
        if match.start() < place:
            continue
        kept.append(text[place : match.start()])
        depth, place = 2, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[place], 0)
            place += 1
    return "".join([*kept, text[place:]])
