#!/usr/bin/env bash
# Runs nights on Iceberg and Delta Lake, the plugin's of a small project and those of tangles (test_same_rows.py), the
# plugin's on a REST catalog of Iceberg, and the tests on an object store. Spark is the pyspark that both formats support,
# in an environment of its own below target/formats: it has that pyspark (requirements-formats.lock) and sees all other
# packages of .venv. Maven gets the jars. If Maven or a package index does not answer, one line says so, and the tests are
# left out; with TANGLES_REQUIRE_JARS=1 that is an error. With the argument `nights` and further ones (`make
# cluster-nights`), `tests.cluster.nights` runs instead of tests.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
case ${1-} in
  '' | nights) ;;
  *) echo "unknown argument $1: give nights or no argument" >&2 && exit 2 ;;
esac
mkdir -p target
lock=requirements-formats.lock place=$PWD/target/formats python=$PWD/.venv/bin/python
venv=$place/venv jars=$place/jars store=$place/store
iceberg="org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
delta="io.delta:delta-spark_4.1_2.13:4.2.0 io.delta:delta-storage:4.2.0"

leave_out() {
  echo "left out the tests on Iceberg and Delta Lake: $1"
  [ "${TANGLES_REQUIRE_JARS-}" = 1 ] && exit 1
  exit 0
}

make_environment() {
  "$python" -m venv --without-pip "$venv" || return
  "$python" -m pip --quiet --python "$venv/bin/python" install --no-deps --require-hashes -r $lock || return
  local packages
  packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  # Its own pyspark comes first; the packages of .venv follow, with its editable ones.
  "$python" -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
    > "$packages/zz_of_venv.pth" || return
  cp $lock "$venv/installed"
}

get_jars() { # prints the paths, separated by commas
  local artifact group name version file files=
  for artifact in "$@"; do
    IFS=: read -r group name version <<< "$artifact"
    file=$jars/$name-$version.jar
    [ -s "$file" ] || timeout 120 mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$jars" >&2 || return
    files=$files,$file
  done
  echo "${files#,}"
}

copy_dependencies() { # gets the dependencies of the pom.xml in the folder $1, into the folder $2 of jars
  cmp -s "$1/pom.xml" "$jars/$2/pom.xml" || {
    timeout 240 mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars/$2" &&
      cp "$1/pom.xml" "$jars/$2/pom.xml"
  }
}

# moto's S3 server, and the jars for s3a://.
make_store() {
  local from=tests/object_store
  cmp -s $from/requirements.lock "$store/installed" || {
    rm -rf "$store" && "$python" -m venv --without-pip "$store" &&
      "$python" -m pip --quiet --python "$store/bin/python" install --no-deps --require-hashes -r $from/requirements.lock &&
      cp $from/requirements.lock "$store/installed"
  } || return
  copy_dependencies $from s3a
}

test_object_store() {
  make_store > "$place.txt" 2>&1 || {
    echo "left out the tests on an object store: a package index or Maven does not answer ($place.txt)"
    [ "${TANGLES_REQUIRE_JARS-}" != 1 ]
    return
  }
  MOTO_SERVER=$store/bin/moto_server FORMATS_PYTHON=$venv/bin/python \
    TANGLES_JARS=$iceberg,$(printf '%s\n' "$jars"/s3a/*.jar | paste -sd, -) \
    "$python" -m pytest -o pythonpath='. tests/python tests/python/kits' -p no:cacheprovider tests/object_store/test_object_store.py
}

# Starts the process $catalog, which keeps everything in the folder $1, and waits for its address in the file $1/address.
start_rest_catalog() {
  local hadoop # Spark has it
  hadoop=$("$venv/bin/python" -c 'import glob, pyspark; print(*glob.glob(f"{pyspark.__path__[0]}/jars/hadoop-client-*"), sep=":")')
  java -Xmx256m -cp "$jars/catalog/*:$hadoop" tests/formats/rest_catalog/RestCatalog.java "$1" > "$1/address" 2> "$place.txt" &
  catalog=$!
  for _ in {1..120}; do
    [ -s "$1/address" ] && return
    kill -0 $catalog 2> /dev/null || break
    sleep 0.5
  done
  echo "the REST catalog does not start ($place.txt)"
  return 1
}

test_rest_catalog() {
  java --list-modules 2> /dev/null | grep '^jdk.compiler@' > /dev/null || {
    echo "left out the tests on a REST catalog: java has no compiler; install a JDK"
    return
  }
  copy_dependencies tests/formats/rest_catalog catalog > "$place.txt" 2>&1 || {
    echo "left out the tests on a REST catalog: Maven does not answer ($place.txt)"
    [ "${TANGLES_REQUIRE_JARS-}" != 1 ]
    return
  }
  local catalog folder result=1
  folder=$(mktemp -d)
  if start_rest_catalog "$folder"; then
    (cd plugin && DBT_SPARK_PYTHON_TEST_ENGINE=rest DBT_SPARK_PYTHON_TEST_JARS=$iceberg \
      DBT_SPARK_PYTHON_TEST_CATALOG=$(cat "$folder/address") \
      "$venv/bin/python" -m pytest -p no:cacheprovider tests/test_nights.py tests/test_snapshot_nights.py)
    result=$?
  fi
  kill $catalog 2> /dev/null
  rm -rf "$folder"
  return $result
}

cmp -s $lock "$venv/installed" || { rm -rf "$venv" && make_environment > "$place.txt" 2>&1; } ||
  leave_out "no environment with $(head -n 1 $lock | cut -d' ' -f1) ($place.txt)"
command -v mvn > /dev/null || leave_out "mvn is not installed"
{ iceberg=$(get_jars $iceberg) && delta=$(get_jars $delta); } 2> "$place.txt" || leave_out "Maven does not answer ($place.txt)"
if [ "${1-}" = nights ]; then
  TANGLES_JARS=$iceberg,$delta exec "$venv/bin/python" -m tests.cluster "$@"
fi
failed=0
for format in iceberg delta; do
  found=${!format}
  (cd plugin && DBT_SPARK_PYTHON_TEST_ENGINE=$format DBT_SPARK_PYTHON_TEST_JARS=$found \
    "$venv/bin/python" -m pytest -p no:cacheprovider tests/test_nights.py tests/test_snapshot_nights.py) || failed=1
  TANGLES_TARGET=$format TANGLES_JARS=$found "$venv/bin/python" -m pytest -p no:cacheprovider tests/formats ||
    failed=1
done
test_rest_catalog || failed=1
test_object_store || failed=1
exit $failed
