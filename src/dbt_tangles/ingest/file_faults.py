"""The error that ends the reading of a file; `dbt_tangles.reasons.FileFault` has the codes and their meanings."""

from dbt_tangles.reasons import FileFault


class FaultError(Exception):
    """The reading of a file stopped at a fault."""

    def __init__(self, fault: FileFault, detail: str | None = None) -> None:
        super().__init__(detail or fault.description)
        self.fault = fault.value
