"""The config `packages` of a model: what has to be in the environment that the model runs in."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from dbt_common.exceptions import DbtRuntimeError
from packaging.requirements import InvalidRequirement, Requirement


def check(packages: Iterable[str]) -> None:
    """Refuse a model that needs what is not installed here: a session's environment is the user's, and stays as it is.

    Args:
        packages: Requirements, as pip takes them.

    Raises:
        DbtRuntimeError: Some are not installed, or in a version that does not fit; the message names them and the
            remedy.
    """
    missing = {text: fault for text in packages if (fault := fault_of(text))}
    if missing:
        listed = ", ".join(f"{text} ({fault})" for text, fault in missing.items())
        quoted = " ".join(f"'{text}'" for text in missing)
        raise DbtRuntimeError(
            f"the model's `packages` are not all in this environment: {listed}. "
            f"The submission method `session` installs nothing: pip install {quoted}"
        )


def fault_of(text: str) -> str | None:
    """What keeps one requirement from being met; None if it is, or need not be."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement as error:
        raise DbtRuntimeError(f"the model's `packages` has {text!r}, which pip does not take: {error}") from None
    if wanted.marker and not wanted.marker.evaluate():
        return None
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return "not installed"
    return None if wanted.specifier.contains(found, prereleases=True) else f"{found} is installed"
