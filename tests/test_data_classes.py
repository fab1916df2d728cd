"""`data_classes.dataclass` makes what the standard library's makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from typing import Any, ClassVar

import pytest

from oclgenomics import data_classes

WAYS = [
    {}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}, {"repr": False},
    {"frozen": True, "kw_only": True},
]  # fmt: skip
NAN = float("nan")  # one, as its hash is that of the object


def body_of(module: Any, how: dict[str, bool]) -> dict[str, Any]:
    """Define the same classes with a module's decorator."""
    dataclass = module.dataclass

    @dataclass(**how)
    class Nothing:
        pass

    @dataclass(**how)
    class One:
        """Text."""

        a: float

    @dataclass(**how)
    class Many:
        kinds: ClassVar[int] = 3
        first: int
        second: str = "x"
        third: list[int] = field(default_factory=list, compare=False)
        fourth: int = field(default=4, repr=False, kw_only=True)
        fifth: list[int] = field(default_factory=lambda: [5], init=False, compare=False)

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError("first")

    @dataclass(**how)
    class Base:
        a: int = 1

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @dataclass(**how)
    class Derived(Base):
        b: int = 2

    class Plain(Derived):
        pass

    return {one.__name__: one for one in (Nothing, One, Many, Base, Derived, Plain)}


def outcome(act: Any) -> Any:
    try:
        return act()
    except Exception as error:
        return type(error), str(error) if not isinstance(error, TypeError) else ""


def seen(classes: dict[str, Any], how: dict[str, bool]) -> list[Any]:
    """Return all that can be seen of the classes."""
    found: list[Any] = []
    given = {
        "Nothing": [{}], "One": [{"a": 1.0}, {"a": 2.0}, {"a": NAN}], "Base": [{}, {"a": 2}], "Plain": [{}, {"b": 3}],
        "Many": [{"first": 1}, {"first": 1, "third": [3]}, {"first": 1, "second": "y"}, {"first": 2, "fourth": 7}],
        "Derived": [{}, {"a": 5}, {"b": 6}],
    }  # fmt: skip
    for name, values in given.items():
        cls = classes[name]
        made = [cls(**one) for one in values]
        found += [str(inspect.signature(cls)), inspect.get_annotations(cls.__init__), cls.__init__.__qualname__]
        found += [cls.__match_args__, [one.name for one in dataclasses.fields(cls)], bool(cls.__hash__)]
        params = cls.__dataclass_params__
        found += [params.frozen, params.eq, params.repr, params.init]
        for one in made:
            shown = repr(one)
            found += [shown if " at 0x" not in shown else "default", vars(one), dataclasses.asdict(one)]
            found += [outcome(lambda one=one: hash(one)) if how.get("frozen") and how.get("eq", True) else None]
            found += [[one == other for other in made], one != one, one == dataclasses.astuple(one)]
            found += [vars(copy.deepcopy(one)), vars(copy.copy(one))]
            changed = copy.copy(one)
            for at in ("a", "first", "new"):
                found += [outcome(lambda one=changed, at=at: setattr(one, at, 9)), dict(vars(changed))]
                found += [outcome(lambda one=changed, at=at: delattr(one, at)), dict(vars(changed))]
        found += [outcome(lambda cls=cls: cls(1, 2, 3, 4, 5, 6)), outcome(lambda cls=cls: cls(none=1))]
    many = classes["Many"]
    found += [vars(dataclasses.replace(many(first=1), second="z")), outcome(lambda: many(first=-1)), outcome(many)]
    found += [many(first=1).third is not many(first=1).third]
    return found


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_classes_are_those_of_the_standard_library(how: dict[str, bool]) -> None:
    ours, theirs = (seen(body_of(module, how), how) for module in (data_classes, dataclasses))
    assert [str(one) for one in ours] == [str(one) for one in theirs]


@data_classes.dataclass(frozen=True)
class Kept:
    """For pickle, which needs a name."""

    a: int
    b: tuple[int, ...] = ()


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,))


@pytest.mark.parametrize("base", [data_classes, dataclasses])
@pytest.mark.parametrize("derived", [data_classes, dataclasses])
@pytest.mark.parametrize("frozen", [(True, True), (True, False), (False, True), (False, False)])
def test_classes_inherit_from_those_of_either_kind(base: Any, derived: Any, frozen: tuple[bool, bool]) -> None:
    @base.dataclass(frozen=frozen[0])
    class Base:
        a: int

    def define() -> Any:
        @derived.dataclass(frozen=frozen[1])
        class Derived(Base):
            b: int

        return Derived(1, 2)

    if frozen[0] != frozen[1]:
        with pytest.raises(TypeError, match="cannot inherit"):
            define()
        return
    made = define()
    assert repr(made).endswith("Derived(a=1, b=2)")
    for name in ("a", "b"):
        if frozen[1]:
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(made, name, 3)
        else:
            setattr(made, name, 3)


def test_a_class_that_holds_itself_is_shown() -> None:
    @data_classes.dataclass
    class Ring:
        inner: list[Any]

    ring = Ring([])
    ring.inner.append(ring)
    assert repr(ring).endswith("Ring(inner=[...])")
