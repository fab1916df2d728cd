"""`dataclass` like that of the standard library, in a third of the time: commands define a hundred when they start.

The standard one compiles up to eight functions for each class; here only `__init__` is compiled.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, kw_only=False):
        """Return a class as a dataclass, or a decorator that does so.

        Parameters
        ----------
        cls : type, optional
        frozen, eq, repr, kw_only : bool
            As `dataclasses.dataclass` takes them; its other parameters are missing.
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)
        own = set(vars(cls))
        if "__eq__" in own and cls.__hash__ is None:
            own.discard("__hash__")  # Python's doing, not the class's
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # or the standard library would look for a signature
        # The standard one also checks that frozen classes and others do not inherit from each other.
        inherits = any(map(dataclasses.is_dataclass, cls.__bases__))
        dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen and inherits, kw_only=kw_only)(cls)
        params = cls.__dataclass_params__
        params.init, params.repr, params.eq, params.frozen = True, repr, eq, frozen
        methods = {"__init__": _init(cls, frozen)}
        if repr:
            methods["__repr__"] = _repr
        if eq:
            methods |= _comparing(cls, frozen)
        if frozen:
            methods |= _freezing(cls)
        for name, method in methods.items():
            if name not in own:
                setattr(cls, name, method)
        return cls


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()  # the default, as signatures show it, of what a factory makes


def _init(cls: Any, frozen: bool) -> Callable[..., None]:
    """Compile `__init__`."""
    known: dict[str, Any] = {"_factory": _FACTORY, "_set": object.__setattr__}
    parameters: list[str] = []
    keywords: list[str] = []
    body: list[str] = []
    fields = dataclasses.fields(cls)
    for field in fields:
        name, default = field.name, ""
        value = name if field.init else ""
        if field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"], default = field.default_factory, "=_factory"
            value = f"_make_{name}() if {name} is _factory else {name}" if field.init else f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            known[f"_default_{name}"], default = field.default, f"=_default_{name}"
        if field.init:
            (keywords if field.kw_only else parameters).append(name + default)
        if value:
            body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    if keywords:
        keywords.insert(0, "*")
    exec(f"def __init__({', '.join(['self', *parameters, *keywords])}):\n " + ("\n ".join(body) or "pass"), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _comparing(cls: Any, frozen: bool) -> dict[str, Any]:
    """Return what compares instances of the very same class by their fields."""
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    values: Callable[[Any], Any] = (
        attrgetter(*names) if len(names) > 1 else lambda one: tuple(getattr(one, name) for name in names)
    )

    def equal(self: Any, other: object) -> bool:
        return bool(values(self) == values(other)) if type(other) is type(self) else NotImplemented

    return {"__eq__": equal, "__hash__": (lambda self: hash(values(self))) if frozen else None}


def _freezing(cls: Any) -> dict[str, Any]:
    """Return what refuses to change fields; subclasses may have attributes of their own."""
    names = {field.name for field in dataclasses.fields(cls)}

    def assign(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}
