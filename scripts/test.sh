#!/usr/bin/env bash
# Everything the project checks, from a clean clone: services, format, lint, build, tests, docs.
#
#   scripts/test.sh [--quick] [nextest arguments]
#
#   --quick   without format, lint and docs
#   others    go to `cargo nextest run`, as in: scripts/test.sh -E 'test(duplicate)'
#
# Starts the private services of scripts/services.sh and stops them at the end, unless they were up
# before or PAYONCE_KEEP_SERVICES=1. With PAYONCE_TEST_DATABASE_URL, PAYONCE_TEST_AMQP_URL,
# PAYONCE_TEST_REDIS_URL and PAYONCE_TEST_RABBITMQ_API set, it uses those and starts nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() {
  printf 'test: %s\n' "$*" >&2
  exit 1
}

quick=0
arguments=()
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    -h | --help)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) arguments+=("$argument") ;;
  esac
done

# Runs a command under a heading, with the time it took.
section() {
  local heading=$1 started=$SECONDS code=0
  shift
  printf '\n== %s\n' "$heading"
  "$@" || code=$?
  printf '== %s: %s, %s s\n' "$heading" "$( ((code)) && echo "failed ($code)" || echo ok)" "$((SECONDS - started))"
  ((code == 0)) || exit "$code"
}

# --- tools --------------------------------------------------------------------------------------

command -v cargo >/dev/null ||
  die 'cargo is not here; install Rust with rustup (https://rustup.rs), which then takes the version in rust-toolchain.toml'

# Some dependencies build C code.
if ! command -v cc >/dev/null; then
  if ((EUID == 0)) && command -v apt-get >/dev/null; then
    section 'C compiler' bash -c 'apt-get update && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends build-essential pkg-config' </dev/null
  else
    die 'there is no C compiler (cc); install one (Debian: apt-get install build-essential pkg-config)'
  fi
fi

# The browser tests drive a real one.
chromium=${PAYONCE_TEST_CHROMIUM:-/usr/bin/chromium}
chromedriver=${PAYONCE_TEST_CHROMEDRIVER:-/usr/bin/chromedriver}
if [[ ! -x $chromium || ! -x $chromedriver ]]; then
  if ((EUID == 0)) && command -v apt-get >/dev/null && [[ -z ${PAYONCE_TEST_CHROMIUM:-}${PAYONCE_TEST_CHROMEDRIVER:-} ]]; then
    section browser bash -c 'apt-get update && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends chromium chromium-driver fonts-dejavu-core' </dev/null
  else
    die "$chromium and $chromedriver are not both here; install them (Debian: apt-get install chromium chromium-driver), or set PAYONCE_TEST_CHROMIUM and PAYONCE_TEST_CHROMEDRIVER"
  fi
fi

# Only the one program: the package would start a server.
get_promtool() {
  local folder=target/tools/promtool.d
  mkdir -p "$folder"
  (
    cd "$folder"
    apt-get download prometheus || { apt-get update && apt-get download prometheus; }
    dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool
  )
  mv "$folder/usr/bin/promtool" target/tools/promtool
  rm -r "$folder"
}

if [[ -z ${PAYONCE_TEST_PROMTOOL:-} ]]; then
  if ! PAYONCE_TEST_PROMTOOL=$(type -P promtool); then
    PAYONCE_TEST_PROMTOOL=$PWD/target/tools/promtool
    if [[ ! -x $PAYONCE_TEST_PROMTOOL ]]; then
      command -v apt-get >/dev/null ||
        die "there is no promtool, which the alert rules are tested with; install Prometheus' tools, or set PAYONCE_TEST_PROMTOOL"
      section promtool get_promtool </dev/null
    fi
  fi
  export PAYONCE_TEST_PROMTOOL
fi

# --- services -----------------------------------------------------------------------------------

missing=() given=()
for name in PAYONCE_TEST_DATABASE_URL PAYONCE_TEST_AMQP_URL PAYONCE_TEST_REDIS_URL PAYONCE_TEST_RABBITMQ_API; do
  if [[ -n ${!name:-} ]]; then
    given+=("$name")
  else
    missing+=("$name")
  fi
done

stop_services() {
  local code=$?
  trap '' INT TERM HUP
  printf '\n'
  # Data that was there before stays; so do the logs of a failure.
  if [[ $code == 0 && $had_data == 0 ]]; then
    ./scripts/services.sh down --wipe
  else
    ./scripts/services.sh down
  fi || true
  exit "$code"
}

services_up() {
  local environment
  environment=$(./scripts/services.sh up) || return
  eval "$environment"
}

if ((${#given[@]} == 0)); then
  had_data=0
  [[ ! -e ${PAYONCE_SERVICES_DIR:-target/services}/state ]] || had_data=1
  if [[ ${PAYONCE_KEEP_SERVICES:-} != 1 ]] && ! ./scripts/services.sh env >/dev/null 2>&1; then
    trap stop_services EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
  fi
  section services services_up
elif ((${#missing[@]})); then
  die "these are set: ${given[*]}; set these too, or none: ${missing[*]}"
else
  echo 'using the services of the PAYONCE_TEST_* variables'
fi

# --- checks -------------------------------------------------------------------------------------

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export PAYONCE_TEST_BIN_DIR=$target/debug

if ((!quick)); then
  section format cargo fmt --all --check
  section lint cargo clippy --workspace --all-targets --locked -- -D warnings
fi
# The tests start the programs.
section build cargo build --workspace --bins --locked
if cargo nextest --version >/dev/null 2>&1; then
  section tests cargo nextest run --workspace --locked "${arguments[@]}"
else
  echo
  echo 'cargo-nextest is not here (https://nexte.st); cargo test runs the tests instead, one at a time'
  section tests env RUST_TEST_THREADS=1 cargo test --workspace --locked "${arguments[@]}"
fi
if ((!quick)); then
  section docs env RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --locked
fi
