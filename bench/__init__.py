"""Benchmarks: `python -m bench` (`make bench`); what they measure is in README.md."""
