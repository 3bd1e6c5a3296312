"""The interfaces that are not public, each by itself: an upgrade that breaks one fails here first.

`replaced_listener` and `socket_filter` are in `test_local_socket`.
"""

import logging
import threading

import pytest

from dbt_process import run_python
from dbt_spark_python.fences import hadoop, known_session, quiet_libraries

SAIL = """
import sys
from dbt_spark_python.engines import sail_server
from dbt_spark_python.fences import single_query
session = sail_server.connect({}, sys.argv[1])
"""
ASKED_ONCE = """
asked = []
stub = session.client._stub
for name in ("ExecutePlan", "AnalyzePlan", "Config"):
    call = getattr(stub, name)
    setattr(stub, name, lambda request, call=call, name=name, **more: asked.append(name) or call(request, **more))
query = "select 1 as one, cast('a' as binary) as b"
single_query.query_once(session, query).collect()  # a session's first query asks for settings
asked.clear()
print(single_query.query_once(session, query).collect(), asked)
"""


@pytest.mark.spark
def test_hadoop_of_a_spark_session(spark):
    found = hadoop.find_hadoop(spark)
    assert found.configuration.get("fs.defaultFS", "file:///").startswith("file:")
    assert found.path("/a/b").getName() == "b"


@pytest.mark.both
def test_a_session_is_known_to_other_threads(spark):
    found = []
    asks = threading.Thread(target=lambda: found.append(known_session.find_session()))
    asks.start()
    asks.join()
    assert found == [spark]


def test_a_session_at_a_unix_socket_gets_a_query_once(tmp_path):
    pytest.importorskip("pysail")
    done = run_python(SAIL + ASKED_ONCE, tmp_path)
    assert done.stdout == "[Row(one=1, b=b'a')] ['ExecutePlan']\n", done.stderr


IN_ANOTHER_THREAD = """
import _thread, time
from dbt_spark_python.fences.stopped_functions import stop_functions
def function():
    while True:
        time.sleep(0.01)
_thread.start_new_thread(function, ())
time.sleep(0.2)
begin = time.monotonic()
stop_functions(10.0)
print(time.monotonic() - begin < 5)
"""


def test_functions_in_threads_of_an_engine_end():
    done = run_python(IN_ANOTHER_THREAD)
    assert done.stdout == "True\n", done.stderr


def test_a_library_is_quiet():
    quiet_libraries.quiet_libraries()
    assert not logging.getLogger("SQLQueryContextLogger").isEnabledFor(logging.ERROR)
