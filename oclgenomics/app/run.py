"""How a verb runs: where, with how many host threads, and how its progress is shown.

All verbs of all systems have one signature::

    verb(input, ..., options=None, *, engine=None, run=None)

and those whose result comes in parts a sibling `iter_NAME` that yields them (`all_parts_of`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeAlias, TypeVar

from oclgenomics.errors import ParameterError
from oclgenomics.io.raw_file import Progress
from oclgenomics.runtime import Device, Engine

EngineLike: TypeAlias = Engine | Device | str | None
"""An engine at work, a device, its name as `oclgenomics.runtime.select_device` takes it, or None: the default one."""

OLD_KEYWORDS = ("device", "max_memory", "threads", "progress")
VerbT = TypeVar("VerbT", bound=Callable[..., Any])
PartT = TypeVar("PartT")
ResultT = TypeVar("ResultT")
Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class Run:
    """What of the host a verb may use, and how it shows its progress.

    Attributes
    ----------
    threads : int, optional
        Host threads that decompress and parse the input; at most 4 if not given. They do not limit the cores that a CPU
        device works with: `OCLGENOMICS_THREADS` limits these, and all host threads, for the whole process, if it is set
        before the first device is used.
    progress : callable, optional
        Called with (bytes read, bytes in all or None) of the file at work.
    """

    threads: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise ParameterError("threads", "give 1 or more", self.threads)


def lent_engine(engine: EngineLike) -> contextlib.AbstractContextManager[Engine]:
    """Lend the engine that is given, which stays open, or open one for the time of the `with` block.

    Raises
    ------
    DeviceError
        There is no such device.
    """
    return contextlib.nullcontext(engine) if isinstance(engine, Engine) else Engine(engine)


def verb(function: VerbT) -> VerbT:
    """Have a verb take the keywords of the version before, too, each with a `DeprecationWarning`.

    `device` and `max_memory` make its engine, `threads` and `progress` its `Run`. Of a generator function the engine
    stays open until the generator is closed.
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        old = {name: kwargs.pop(name) for name in OLD_KEYWORDS if name in kwargs and name not in own}
        if not old:
            return function(*args, **kwargs)
        what = f"{function.__name__}: {', '.join(old)}: give engine=Engine(device, max_memory=...) and run=Run(...)"
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        if "threads" in old or "progress" in old:
            kwargs["run"] = Run(old.get("threads"), old.get("progress"))
        return with_engine(args, kwargs, old.get("device"), old.get("max_memory"))

    def with_engine(args: Any, kwargs: Any, device: Device | str | None, max_memory: int | None) -> Any:
        if kwargs.get("engine") is not None or max_memory is None:
            if "engine" in own:
                kwargs["engine"] = kwargs.get("engine") or device
            return function(*args, **kwargs)
        if inspect.isgeneratorfunction(function):
            return parts(args, kwargs, device, max_memory)
        with Engine(device, max_memory=max_memory) as engine:
            return function(*args, **kwargs | {"engine": engine})

    def parts(args: Any, kwargs: Any, device: Device | str | None, max_memory: int) -> Any:
        with Engine(device, max_memory=max_memory) as engine:
            yield from function(*args, **kwargs | {"engine": engine})

    own = set(inspect.signature(function).parameters)
    return called  # type: ignore[return-value]


def all_parts_of(
    iterate: Callable[Parameters, Generator[PartT, None, None]],
) -> Callable[[Callable[[list[PartT]], ResultT]], Callable[Parameters, ResultT]]:
    """Decorate the function that joins the parts of `iter_NAME`: the verb `NAME`, which takes the same parameters."""

    def decorated(join: Callable[[list[PartT]], ResultT]) -> Callable[Parameters, ResultT]:
        @functools.wraps(join)
        def whole(*args: Parameters.args, **kwargs: Parameters.kwargs) -> ResultT:
            with contextlib.closing(iterate(*args, **kwargs)) as parts:
                return join(list(parts))

        returned = inspect.signature(join).return_annotation
        signature = inspect.signature(iterate).replace(return_annotation=returned)
        vars(whole)["__signature__"] = signature
        whole.__annotations__ = {**iterate.__annotations__, "return": returned}
        return verb(whole)

    return decorated
