#!/usr/bin/env bash
# Runs the tests of Python models with each supported version of dbt and Spark, every one in an environment of its own,
# and prints the table for the README. Environments stay below the folder given (default: target/matrix).
#
#   ENGINES   which engines: `sail`, `local` (Spark), or both, the default; nothing only installs
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
place=${1:-target/matrix}
engines=${ENGINES-sail local}
mkdir -p "$place"
failed=0

# Python, dbt-core, dbt-spark, pyspark: each version of each at least once.
cells="
3.10 1.10 1.9 4.0
3.11 1.10 1.10 4.0
3.12 1.11 1.11 4.1
3.11 1.11 1.11 4.2
3.11 1.11 1.11 4.3
3.13 1.11 1.11 4.3
"

find_python() { # prints the interpreter of a version, where there is one
  local found
  found=$(ls -d "$HOME"/.pyenv/versions/"$1".*/bin/python 2> /dev/null | tail -1)
  [ -n "$found" ] || found=$(command -v "python$1")
  [ -n "$found" ] && echo "$found"
}

echo "| Python | dbt-core | dbt-spark | pyspark | on Spark | on Sail |"
echo "| --- | --- | --- | --- | --- | --- |"
while read -r python core adapter spark; do
  [ -n "$python" ] || continue
  venv=$place/$python-$core-$adapter-$spark
  if [ ! -e "$venv/ready" ]; then
    interpreter=$(find_python "$python") || { echo "| $python | not here | | | | |"; continue; }
    extra=engines
    [ "$spark" != 4.3 ] || extra=spark # Sail refuses it
    "$interpreter" -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --editable ".[$extra,test]" "dbt-core==$core.*" "dbt-spark==$adapter.*" \
        "pyspark[connect]==$spark.*" "pandas<3" > "$venv/pip.txt" 2>&1 && touch "$venv/ready"
  fi
  if [ ! -e "$venv/ready" ]; then
    echo "| $python | $core | $adapter | $spark | cannot be installed | $(grep ERROR "$venv/pip.txt" | head -1 | cut -c1-100) |"
    failed=1
    continue
  fi
  versions=$("$venv/bin/python" -c "
from importlib.metadata import version
import platform
print(platform.python_version(), *map(version, ('dbt-core', 'dbt-spark', 'pyspark')), sep=' | ')")
  declare -A said=([sail]="" [local]="")
  for engine in $engines; do
    [ "$engine" != sail ] || "$venv/bin/python" -c 'import pysail' 2> /dev/null || continue
    DBT_SPARK_PYTHON_TEST_ENGINE=$engine "$venv/bin/python" -m pytest -p no:cacheprovider \
      tests/test_python_models.py tests/test_incremental.py > "$venv/$engine.txt" 2>&1 || failed=1
    said[$engine]=$(tail -1 "$venv/$engine.txt" | sed -E 's/ in [0-9.]+s.*//; s/^=+ | =+$//g; s/, [0-9]+ (skipped|warnings?)//g')
  done
  echo "| $versions | ${said[local]} | ${said[sail]} |"
done <<< "$cells"
exit $failed
