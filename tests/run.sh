#!/usr/bin/env bash
# `tests/run.sh quick` is the part of `make test` that runs pytest: tests without an engine, builds on Sail and the
# plugin's tests on Sail, and on Spark the complete build of the fixtures with all data and unit tests. `tests/run.sh
# long` is `make test-long`: tests marked `long`, searches of properties with more examples, all else on Spark, table
# formats and an object store. The end of the output lists the result of each session of pytest, its failed tests, and the 40
# slowest tests and fixtures. Without a wheel of Sail for the platform, all tests run on Spark.
set -um # a session beside another is a process group, which ends with this script
trap 'kill -- $(jobs -p | sed s/^/-/) 2> /dev/null' EXIT
cd "$(dirname "$0")/.." || exit 2
unset TANGLES_TEST_ENGINE DBT_SPARK_PYTHON_TEST_ENGINE # each session sets its own
pytest=$PWD/.venv/bin/pytest printed=$PWD/target/tests
rm -rf "$printed" && mkdir -p "$printed"

session() { # runs a command in the folder $2, with its output in a file with the name $1
  local code=0
  (cd "$2" && shift 2 && "$@") > "$printed/$1" 2>&1 || code=$?
  [ $code = 0 ] || { touch "$printed/failed" && cat "$printed/$1"; }
  printf '%s\n' "$1:" "$(tail -n 1 "$printed/$1")"
  [ $code != 2 ] || exit 2 # interrupted
}

on_sail() { session "$1" . env TANGLES_TEST_ENGINE=sail "$pytest" -n 2 "${@:2}"; }
plugin_on_sail() { session plugin_on_sail plugin env DBT_SPARK_PYTHON_TEST_ENGINE=sail "$pytest" "$@"; }

case ${1-} in
  quick | long) ;;
  *) echo "unknown argument '${1-}': give quick or long" >&2 && exit 2 ;;
esac
if ! .venv/bin/python -c 'import pysail' 2> /dev/null; then
  session on_spark . "$pytest" -m "$([ "$1" = quick ] && echo 'not long')"
  session plugin_on_spark plugin "$pytest"
elif [ "$1" = quick ]; then
  { plugin_on_sail -m 'not long' && session examples_on_spark . "$pytest" tests/python/test_unit_tests.py; } &
  on_sail on_sail -m 'not long'
  wait
else
  on_sail long_on_sail -m 'long or hypothesis' --hypothesis-profile=long
  { plugin_on_sail -m long && session plugin_on_spark plugin "$pytest" -m 'spark or both'; } &
  session on_spark . "$pytest" -m 'spark or both'
  wait
  session on_formats . tests/formats/run.sh
fi

grep -hE '^(FAILED|ERROR) ' "$printed"/*
echo "The slowest tests and fixtures:"
grep -hE '^ *[0-9.]+s (call|setup|teardown) ' "$printed"/* | sort -rn | head -n 40
[ ! -e "$printed/failed" ]
