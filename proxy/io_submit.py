"""Many writes to many sockets by one call: io_submit(2).

Python has no name for it, so it is called by its number. It is old, and allowed in containers, as its successor io_uring
mostly is not. To sockets that do not block it has written what can be written when it returns, and io_getevents(2) tells
how much that was.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from typing import Final

# io_setup, io_destroy, io_submit and io_getevents on each kind of machine.
NUMBERS: Final = {"x86_64": (206, 207, 209, 208), "aarch64": (0, 1, 2, 4)}
_WRITE: Final = 1


class Write(ctypes.Structure):
    """struct iocb of linux/aio_abi.h."""

    descriptor: int
    address: int
    size: int
    _fields_ = (
        ("place", ctypes.c_uint64),
        ("key_and_flags", ctypes.c_uint64),
        ("what", ctypes.c_uint16),
        ("priority", ctypes.c_int16),
        ("descriptor", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("more", ctypes.c_uint64 * 2),
    )


# struct io_event in words of eight bytes: the write's place, its address, its result, one more.
_EVENT_WORDS, _RESULT = 4, 2


class Writes:
    def __init__(self, most: int) -> None:
        """OSError where there is no such call, or it is not allowed, or others have all that there may be of it."""
        # The same machine has other numbers for processes of 32 bits.
        machine = platform.machine() if ctypes.sizeof(ctypes.c_void_p) == 8 else "32 bits"
        if machine not in NUMBERS:
            raise OSError(f"the number of io_submit on {machine} is not known here")
        setup, self._destroy, self._submit, self._getevents = NUMBERS[machine]
        self._call = ctypes.CDLL(None, use_errno=True).syscall
        self._call.restype = ctypes.c_long
        self._call.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * 5]
        self._context = ctypes.c_void_p()
        if self._call(setup, most, ctypes.byref(self._context), None, None, None) < 0:
            raise OSError(ctypes.get_errno(), f"io_setup: {os.strerror(ctypes.get_errno())}")
        writes = (Write * most)()
        self.writes = list(writes)
        for place, write in enumerate(self.writes):
            write.place, write.what = place, _WRITE
        first = ctypes.addressof(writes)
        self._addresses = (ctypes.c_void_p * most)(*range(first, first + ctypes.sizeof(writes), ctypes.sizeof(Write)))
        self._events = (ctypes.c_int64 * (_EVENT_WORDS * most))()
        self._event_words = memoryview(self._events).cast("B").cast("q")

    def close(self) -> None:
        self._call(self._destroy, self._context, None, None, None, None)

    def do(self, count: int) -> dict[int, int]:
        """The first `count`: by its place, how much of each was written, or a number of an error below zero. What has no
        result was not tried."""
        tried = max(0, self._call(self._submit, self._context, count, self._addresses, None, None))
        done: dict[int, int] = {}
        while len(done) < tried:
            found = self._call(self._getevents, self._context, 1, tried, self._events, None)
            if found < 0 and ctypes.get_errno() != errno.EINTR:
                raise OSError(ctypes.get_errno(), f"io_getevents: {os.strerror(ctypes.get_errno())}")
            words = self._event_words[: _EVENT_WORDS * max(0, found)]
            done.update(zip(words[::_EVENT_WORDS].tolist(), words[_RESULT::_EVENT_WORDS].tolist(), strict=True))
        return done
