"""The adapter's macros and materializations, a dbt project of their own."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)
