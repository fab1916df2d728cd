"""Tell the simulator oclgrind truly which memory the host has written.

It keeps a map of the bytes that were written for each buffer. The maps follow kernels exactly, but not the host:

- A store by the host makes the map anew and as large as the store. So after a fill, which stores item by item, or
  after a write to a part of a buffer, all other bytes count as never written, whatever kernels write there.
- A mapped buffer and memory that the host shares count as never written.
- A new buffer inherits the map of a freed one whose number it gets.

Here whole buffers are written at once, a kernel writes parts, what was mapped counts as written, and no buffer is
freed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pyopencl

__all__ = ["truly_written"]

_COPY = """
__kernel void copy_part(__global const uchar *part, ulong start, __global uchar *whole)
{
    whole[start + get_global_id(0)] = part[get_global_id(0)];
}
"""
_MIN_BYTES = 16  # of a buffer; a smaller array has no use for the rest


class _Keeper:
    """Stands in for some of PyOpenCL's calls."""

    def __init__(self) -> None:
        self._enqueue_copy, self._enqueue_kernel = pyopencl.enqueue_copy, pyopencl.enqueue_nd_range_kernel
        self._enqueue_map = pyopencl.enqueue_map_buffer
        self._kept: list[Any] = []
        self._copiers: dict[int, Any] = {}  # by context
        kept = self._kept

        class Buffer(pyopencl.Buffer):
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                kept.append(self)

            def release(self) -> None:
                pass

        self.Buffer = Buffer

    def enqueue_copy(self, queue: Any, target: Any, source: Any, **options: Any) -> Any:
        if not isinstance(target, pyopencl.Buffer):
            return self._enqueue_copy(queue, target, source, **options)
        if not isinstance(source, np.ndarray):
            raise NotImplementedError("copies on the device need a kernel here")
        start = options.pop("dst_offset", 0)
        if target.size <= _MIN_BYTES or (start == 0 and source.nbytes >= target.size):
            return self._enqueue_copy(queue, target, source, dst_offset=start, **options)
        return self._write_part(queue, target, source, start, options.get("wait_for"))

    def enqueue_fill_buffer(
        self, queue: Any, target: Any, pattern: Any, offset: int, size: int, wait_for: Any = None
    ) -> Any:
        items = np.full(size // pattern.nbytes, pattern)
        return self.enqueue_copy(queue, target, items, dst_offset=offset, wait_for=wait_for)

    def enqueue_map_buffer(self, queue: Any, buffer: Any, *args: Any, **options: Any) -> Any:
        content = np.empty(buffer.size, np.uint8)
        self._enqueue_copy(queue, content, buffer)
        self._enqueue_copy(queue, buffer, content)
        return self._enqueue_map(queue, buffer, *args, **options)

    def _write_part(self, queue: Any, target: Any, source: Any, start: int, wait_for: Any) -> Any:
        context = queue.context
        if context.int_ptr not in self._copiers:
            program = pyopencl._Program(context, _COPY)
            program.build(b"", context.devices)
            self._copiers[context.int_ptr] = pyopencl.Program(program)
        kernel = pyopencl.Kernel(self._copiers[context.int_ptr], "copy_part")
        flags = pyopencl.mem_flags.READ_ONLY | pyopencl.mem_flags.COPY_HOST_PTR
        kernel.set_args(self.Buffer(queue.context, flags, hostbuf=source), np.uint64(start), target)
        event = self._enqueue_kernel(queue, kernel, (source.nbytes,), None, wait_for=wait_for)
        event.wait()
        return event


@contextlib.contextmanager
def truly_written() -> Iterator[None]:
    """Have the simulator know what the host writes, for engines that do not share memory with it."""
    keeper = _Keeper()
    names = ("Buffer", "enqueue_copy", "enqueue_fill_buffer", "enqueue_map_buffer")
    with mock.patch.multiple(pyopencl, **{name: getattr(keeper, name) for name in names}):
        yield
