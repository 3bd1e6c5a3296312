"""The evaluation of ScuttleSort's document (section 4) and its open questions; `python -m bench evaluation`."""

from bench.evaluation.counts import run

__all__ = ["run"]
