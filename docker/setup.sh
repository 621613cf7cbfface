#!/bin/sh
# What a machine needs to run Antumbra and its tests. `make` calls it, a step at a time:
#
#   docker/setup.sh java       a Java that Spark runs on (17 or newer): JAVA_HOME, java, or a package
#   docker/setup.sh postgres   the PostgreSQL server that the tests compare with, and PostgreSQL's JDBC driver if it can be had
#   docker/setup.sh venv       .venv with everything in requirements.lock, and this folder as an editable install
#
# As root a missing package is installed; otherwise the one command that installs it is printed and the script stops.
# Every step is quick when there is nothing to do. PYTHON chooses the interpreter of .venv (default python3).
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "antumbra: $*" >&2; }

# Prints the first of the named packages that this system's package lists know.
first_available() {
    for package in "$@"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            echo "$package"
            return
        fi
    done
    echo "$1"
}

# install WHAT PACKAGE...: installs the first available package, or says how to.
install() {
    what=$1
    shift
    if ! command -v apt-get >/dev/null 2>&1; then
        say "$what is missing, and there is no apt-get here to install it with"
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        say "$what is missing; install it and try again:"
        printf '%s\n' "sudo apt-get install --no-install-recommends $(first_available "$@")" >&2
        exit 1
    fi
    apt-get update -q >&2
    package=$(first_available "$@")
    say "installing $package"
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package" >&2
}

java_is_enough() {
    if [ -n "${JAVA_HOME:-}" ]; then program=$JAVA_HOME/bin/java; else program=java; fi
    command -v "$program" >/dev/null 2>&1 || return 1
    major=$("$program" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
    [ -n "$major" ] && [ "$major" -ge 17 ]
}

setup_java() {
    java_is_enough && return
    if [ -n "${JAVA_HOME:-}" ]; then
        say "JAVA_HOME=$JAVA_HOME is not a Java 17 or newer; set it to one that is, or unset it"
        exit 1
    fi
    install "Java 17 or newer" openjdk-17-jre-headless openjdk-21-jre-headless openjdk-25-jre-headless
    java_is_enough && return
    say "java is still older than 17; set JAVA_HOME to the new one, below /usr/lib/jvm"
    exit 1
}

# Its tests are skipped where it is missing, so nothing stops here, and nothing is waited for long.
setup_jdbc() {
    if [ -e /usr/share/java/postgresql.jar ]; then return; fi
    package=libpostgresql-jdbc-java
    if [ "$(id -u)" -eq 0 ] && apt-cache show "$package" >/dev/null 2>&1; then
        say "installing $package"
        DEBIAN_FRONTEND=noninteractive timeout 120 apt-get install -q -y --no-install-recommends "$package" >&2 && return
    fi
    say "$package is not installed: the tests of PostgreSQL's JDBC driver are skipped"
}

postgres_is_there() {
    for program in /usr/lib/postgresql/*/bin/postgres; do
        if [ -x "$program" ]; then return; fi
    done
    return 1
}

setup_postgres() {
    postgres_is_there || install "PostgreSQL, which the tests compare with," postgresql-15 postgresql
    setup_jdbc
}

# split_lock LOCK FOLDER: writes what compiling kernels takes in FOLDER/kernels.lock, PySpark in FOLDER/spark.lock, and
# the rest in FOLDER/others.lock.
split_lock() {
    awk -v folder="$2" '
        /^[^ #]/ { part = "others" }
        /^(llvmlite|numba|numpy|pyarrow|tzdata)==/ { part = "kernels" }
        /^(py4j|pyspark)==/ { part = "spark" }
        { print >(folder "/" part ".lock") }' "$1"
}

install_packages() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"
}

# Installs the lock into a virtual environment; the stamp says from which lock and pyproject it was made.
setup_venv() {
    python=${PYTHON:-python3}
    stamp=.venv/antumbra-setup
    wanted=$(cat requirements.lock pyproject.toml docker/setup.sh | sha256sum)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && [ -x .venv/bin/antumbra ]; then return; fi
    if ! command -v "$python" >/dev/null 2>&1; then
        say "$python is missing; Antumbra needs Python 3.11 or newer"
        exit 1
    fi
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        say "$("$python" --version) is too old; Antumbra needs Python 3.11 or newer: make setup PYTHON=python3.12"
        exit 1
    fi
    if [ ! -x .venv/bin/python ]; then
        if ! "$python" -c 'import ensurepip' 2>/dev/null; then
            install "venv of Python" "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv" python3-venv
        fi
        "$python" -m venv .venv
    fi
    say "installing the packages of requirements.lock into .venv (about a minute, and a download of 1 GB the first time)"
    # Kernels are compiled while packages arrive, and PySpark is built and started beside the others.
    work=$(mktemp -d)
    jobs=
    trap 'rm -rf "$work"; [ -z "$jobs" ] || kill $jobs 2>/dev/null || true' EXIT
    split_lock requirements.lock "$work"
    install_packages --require-hashes --no-deps -r "$work/kernels.lock"
    # Python may have been told to keep no compiled modules; every start would then compile them all.
    .venv/bin/python -m compileall -q sql ringbuffer views engine bench
    .venv/bin/python -m engine.streams.warm_up &
    kernels=$!
    # PySpark comes as sources: the wheel that is made of them, half a gigabyte, need not be compressed to be unpacked at once.
    {
        install_packages --require-hashes --no-deps --config-settings=--build-option=--compression=stored -r "$work/spark.lock" &&
            .venv/bin/python -m engine.spark.archive
    } &
    spark=$!
    jobs="$kernels $spark"
    install_packages --require-hashes --no-deps -r "$work/others.lock"
    install_packages --no-deps --no-build-isolation -e .
    .venv/bin/python -m engine.embedded.warm_up
    wait "$spark"
    wait "$kernels"
    jobs=
    echo "$wanted" >"$stamp"
}

case "${1:-}" in
java | postgres | venv) "setup_$1" ;;
*)
    say "usage: docker/setup.sh java|postgres|venv"
    exit 2
    ;;
esac
