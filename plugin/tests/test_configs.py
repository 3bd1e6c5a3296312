"""The config `packages` of Python models."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_python.python_model import requirements


def test_packages_that_are_right():
    requirements.check(["pyarrow", "pyspark>=3.5,<5", "No.Such_Package; python_version < '3'", "dbt-core[x]"])


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("no-such-package", r"no-such-package \(not installed\).* pip install 'no-such-package'"),
        ("pyspark<3", r"pyspark<3 \(\d[\d.]+ is installed\).* pip install 'pyspark<3'"),
        ("one two", r"'one two', which is not a valid requirement: .*as pip takes it"),
    ],
)
def test_packages_that_are_not_there(package, said):
    with pytest.raises(DbtRuntimeError, match=said):
        requirements.check(["pyarrow", package])
