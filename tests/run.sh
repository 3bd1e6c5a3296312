#!/usr/bin/env bash
# What `make test` runs, on two engines at once: nearly all builds on Sail, which takes a third of the time; beside them,
# and told when they are done, on Spark what is marked `spark` or `both`, and then what starts neither. The plugin's own
# tests are in plugin/tests, on both engines too, and beside Sail's builds, which are half of the work. Where Sail has no
# wheel, everything is on Spark. `tests/run.sh all`, which is `make test-all`, leaves out nothing that is marked
# `exhaustive` or, on Spark, `both_at_length`.
set -m # what runs beside is a process group, which ends as one
cd "$(dirname "$0")/.." || exit 2
pytest=$PWD/.venv/bin/pytest
builds=(tests/python/test_*.py)
not_now='not exhaustive'
on_spark_too="(spark or both) and $not_now"
[ "${1-}" = all ] && not_now='' && on_spark_too='spark or both or both_at_length'
printed=target/tests.txt
beside=target/tests-beside.txt

if ! .venv/bin/python -c 'import pysail' 2> /dev/null; then
  "$pytest" -m "$not_now" && cd plugin && exec "$pytest"
  exit
fi

mkdir -p target
{
  failed=0
  # The plugin's first, which need no kernel: meanwhile Sail's builds compile them, and once is enough.
  (cd plugin && "$pytest" -m 'spark or both') || failed=$?
  "$pytest" -m "$on_spark_too" "${builds[@]}" || failed=$?
  "$pytest" -m "$not_now" --ignore-glob='*/python/test_*.py' tests/python || failed=$?
  (cd plugin && DBT_SPARK_PYTHON_TEST_ENGINE=sail "$pytest") || failed=$?
  exit $failed
} > "$beside" 2>&1 &
others=$!
trap 'kill -- -$others 2> /dev/null' EXIT
set -o pipefail
TANGLES_TEST_ENGINE=sail "$pytest" -m "$not_now" "${builds[@]}" | tee "$printed"
on_sail=$?
[ $on_sail = 2 ] && exit 2 # interrupted
wait $others
on_others=$?
trap - EXIT
cat "$beside"
# What failed, once more and last: it is what whoever reads the end of a long log is after.
grep -hE '^(FAILED|ERROR) ' "$printed" "$beside"
exit $((on_sail || on_others))
