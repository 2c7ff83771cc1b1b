"""Benches: every number in docs/benchmarks.md comes from a command here that anyone can run."""
