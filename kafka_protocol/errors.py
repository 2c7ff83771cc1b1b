"""The one error that leaves this package."""

from __future__ import annotations


class CodecError(Exception):
    """Bytes that are no such message, or a message that can't be bytes: which, in which version, where and why."""

    def __init__(self, message: str, version: int, field: str, offset: int | None, reason: str) -> None:
        place = f" at byte {offset}" if offset is not None else ""
        super().__init__(f"{message} v{version}, {field or 'as a whole'}{place}: {reason}")
        self.message = message
        self.version = version
        self.field = field
        self.offset = offset
        self.reason = reason
