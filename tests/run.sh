#!/usr/bin/env bash
# `make test` runs these sessions of pytest, two at a time. Each of two lanes takes the first session that has not begun
# yet, long ones first, so both end at about the same time. Nearly all builds run on Sail, which takes a third of the
# time; tests marked `spark` or `both` run on Spark. The plugin's own tests, in plugin/tests, run on both engines, too,
# and some on tables of Iceberg and Delta Lake.
# On platforms without a wheel of Sail, all tests run on Spark. `tests/run.sh all`, which is `make test-all`, includes
# tests marked `exhaustive` and, on Spark, `both_at_length` and `spark_at_length`, and searches properties further.
set -m # the second lane is a process group, which ends as one
cd "$(dirname "$0")/.." || exit 2
unset TANGLES_TEST_ENGINE DBT_SPARK_PYTHON_TEST_ENGINE # each session sets its own
pytest=$PWD/.venv/bin/pytest
# Builds that several files share, by a fixture of conftest.py, are made once: these files are one session.
uses_shared='^def [^(]*\((.*, )?(fixtures|small|empty|odd_files)[,)]'
shared=() odd=() even=() benches=()
for file in tests/python/test_*.py; do
  if [[ $file = */test_bench* || $file = */test_make_log.py ]]; then
    benches+=("$file")
  elif grep -Eq "$uses_shared" "$file"; then
    shared+=("$file")
  else
    [ ${#odd[@]} -gt ${#even[@]} ] && even+=("$file") || odd+=("$file")
  fi
done
chosen=(-m 'not exhaustive' --hypothesis-profile=quick)
on_spark_too=(-m '(spark or both) and not exhaustive' --hypothesis-profile=quick)
plugin_chosen=(-m '(spark or both) and not spark_at_length')
formats=()
if [ "${1-}" = all ]; then
  chosen=(-m '' --hypothesis-profile=exhaustive)
  on_spark_too=(-m 'spark or both or both_at_length' --hypothesis-profile=exhaustive)
  plugin_chosen=(-m 'spark or both')
  formats=(all)
fi

if ! .venv/bin/python -c 'import pysail' 2> /dev/null; then
  "$pytest" "${chosen[@]}" && cd plugin && exec "$pytest"
  exit
fi

# The other builds on Sail are two halves, of every second file each, so that the lanes take the same time.
shared_on_sail() { TANGLES_TEST_ENGINE=sail "$pytest" "${chosen[@]}" "${shared[@]}"; }
odd_on_sail() { TANGLES_TEST_ENGINE=sail "$pytest" "${chosen[@]}" "${odd[@]}"; }
even_on_sail() { TANGLES_TEST_ENGINE=sail "$pytest" "${chosen[@]}" "${even[@]}"; }
# These tests need no kernel. Meanwhile the builds on Sail compile the kernels, once for all sessions.
plugin_on_spark() { cd plugin && "$pytest" "${plugin_chosen[@]}"; }
on_spark() { "$pytest" "${on_spark_too[@]}" "${shared[@]}" "${odd[@]}" "${even[@]}" "${benches[@]}"; }
without_engine() { "$pytest" "${chosen[@]}" --ignore-glob='*/python/test_*.py' tests/python; }
plugin_on_sail() { cd plugin && DBT_SPARK_PYTHON_TEST_ENGINE=sail "$pytest"; }
on_formats() { tests/formats/run.sh "${formats[@]}"; }
of_benches() { TANGLES_TEST_ENGINE=sail "$pytest" "${chosen[@]}" "${benches[@]}"; }
sessions=(odd_on_sail plugin_on_spark even_on_sail on_spark shared_on_sail on_formats without_engine plugin_on_sail of_benches)

printed=$PWD/target/tests
rm -rf "$printed" && mkdir -p "$printed"

take_turns() { # runs sessions in one lane and prints their output; ends when one is interrupted
  local session code
  for session in "${sessions[@]}"; do
    mkdir "$printed/$session" 2> /dev/null || continue
    ("$session") 2>&1 | tee "$printed/$session/out"
    code=${PIPESTATUS[0]}
    echo "$code" > "$printed/$session/code"
    [ "$code" = 2 ] && return 2
  done
  return 0
}

take_turns > "$printed/beside" 2>&1 &
beside=$!
trap 'kill -- -$beside 2> /dev/null' EXIT
take_turns || exit 2
wait $beside
trap - EXIT
cat "$printed/beside"
# The end of the log lists the result of each session, and then the failed tests.
failed=0
for session in "${sessions[@]}"; do
  code=$(cat "$printed/$session/code" 2> /dev/null || echo 2)
  [ "$code" = 0 ] || failed=1
  echo "$session: $(tail -n 1 "$printed/$session/out")"
done
cat "$printed"/*/out | grep -E '^(FAILED|ERROR) '
exit $failed
