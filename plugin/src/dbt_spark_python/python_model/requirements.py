"""The config `packages` of models: requirements that are checked before the first model, and never installed."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from packaging.requirements import InvalidRequirement, Requirement


def check(config: Mapping[str, Any]) -> None:
    """Refuse a model whose config names packages that this environment lacks."""
    packages = config.get("packages") or []
    faults = {text: _fault_of(text) for text in ([packages] if isinstance(packages, str) else packages)}
    if missing := {text: fault for text, fault in faults.items() if fault}:
        listed = ", ".join(f"{text} ({fault})" for text, fault in missing.items())
        quoted = " ".join(f"'{text}'" for text in missing)
        raise DbtRuntimeError(
            f"this environment lacks some of the model's `packages`: {listed}. "
            f"Install them, because the submission method `session` does not: pip install {quoted}"
        )


def _fault_of(text: str) -> str | None:
    """Return why one requirement is not met; None if it is met or does not apply."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement as error:
        fault = str(error).partition("\n")[0]  # the next lines point at the place
        raise DbtRuntimeError(
            f"the model's `packages` has {text!r}, which is not a valid requirement: {fault}. Write a name with an "
            f"optional version, as pip takes it: 'numpy>=2'"
        ) from None
    if wanted.marker and not wanted.marker.evaluate():
        return None
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return "not installed"
    return None if wanted.specifier.contains(found, prereleases=True) else f"{found} is installed"
