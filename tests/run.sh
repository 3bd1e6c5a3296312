#!/usr/bin/env bash
# What `make test` runs: sessions of pytest, two at a time. Each of two lanes takes the first session that no lane has
# begun, the longest first, so both end at about the same time. Nearly all builds are on Sail, which takes a third of
# the time; on Spark is what is marked `spark` or `both`. The plugin's own tests are in plugin/tests, on both engines
# too. Where Sail has no wheel, everything is on Spark. `tests/run.sh all`, which is `make test-all`, leaves out no test
# that is marked `exhaustive` or, on Spark, `both_at_length` or `spark_at_length`, and searches properties further.
set -m # the lane beside is a process group, which ends as one
cd "$(dirname "$0")/.." || exit 2
pytest=$PWD/.venv/bin/pytest
builds=() benches=()
for file in tests/python/test_*.py; do
  case $file in
    */test_bench*.py | */test_make_log.py) benches+=("$file") ;;
    *) builds+=("$file") ;;
  esac
done
chosen=(-m 'not exhaustive' --hypothesis-profile=quick)
on_spark_too=(-m '(spark or both) and not exhaustive' --hypothesis-profile=quick)
plugin_chosen=(-m '(spark or both) and not spark_at_length')
if [ "${1-}" = all ]; then
  chosen=(-m '' --hypothesis-profile=exhaustive)
  on_spark_too=(-m 'spark or both or both_at_length' --hypothesis-profile=exhaustive)
  plugin_chosen=(-m 'spark or both')
fi

if ! .venv/bin/python -c 'import pysail' 2> /dev/null; then
  "$pytest" "${chosen[@]}" && cd plugin && exec "$pytest"
  exit
fi

on_sail() { TANGLES_TEST_ENGINE=sail "$pytest" "${chosen[@]}" "${builds[@]}"; }
# These need no kernel: meanwhile the builds on Sail compile those that they need, and once is enough.
plugin_on_spark() { cd plugin && "$pytest" "${plugin_chosen[@]}"; }
on_spark() { "$pytest" "${on_spark_too[@]}" "${builds[@]}" "${benches[@]}"; }
without_engine() { "$pytest" "${chosen[@]}" --ignore-glob='*/python/test_*.py' tests/python; }
plugin_on_sail() { cd plugin && DBT_SPARK_PYTHON_TEST_ENGINE=sail "$pytest"; }
of_benches() { TANGLES_TEST_ENGINE=sail "$pytest" "${chosen[@]}" "${benches[@]}"; }
sessions=(on_sail plugin_on_spark on_spark without_engine plugin_on_sail of_benches)

printed=$PWD/target/tests
rm -rf "$printed" && mkdir -p "$printed"

take_turns() { # prints what the sessions print that this lane takes; ends where one is interrupted
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
# The end of a long log, for whoever reads only that: how each session ended, and then the tests that failed.
failed=0
for session in "${sessions[@]}"; do
  code=$(cat "$printed/$session/code" 2> /dev/null || echo 2)
  [ "$code" = 0 ] || failed=1
  echo "$session: $(tail -n 1 "$printed/$session/out")"
done
cat "$printed"/*/out | grep -E '^(FAILED|ERROR) '
exit $failed
