"""The settings of traces are with the others."""

from proxy.settings import Traces

__all__ = ["Traces"]
