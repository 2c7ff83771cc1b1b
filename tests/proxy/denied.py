"""A proxy that the kernel refuses io_submit, as some sandboxes do: `python -m tests.proxy.denied serve …` is
`python -m proxy serve …`, behind a filter of system calls (seccomp(2))."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

from proxy.__main__ import main
from proxy.io_submit import NUMBERS

# linux/bpf_common.h and linux/seccomp.h: load the call's number, compare, return.
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def deny() -> None:
    """From now on, and what this process becomes: io_setup is not permitted."""
    instructions = (
        (LOAD, 0, 0, 0),
        (IF_EQUAL, 0, 1, NUMBERS[platform.machine()][0]),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    for word in ((PR_SET_NO_NEW_PRIVS, 1, None), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(program))):
        if prctl(*word, None, None) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    deny()
    sys.exit(main())
