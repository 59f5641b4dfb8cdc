#!/usr/bin/env bash
# Fuzzes the parsers, one target after the other, and tells what each run did.
#
#   scripts/fuzz.sh [--seconds N] [TARGET…]     all targets, for 120 s each, unless it is said otherwise
#
# Needs cargo-fuzz (cargo install cargo-fuzz). The corpus begins with the fixtures and grows under fuzz/corpus/. What
# is found is under fuzz/artifacts/TARGET/, and `cargo fuzz run -s none TARGET FILE` runs it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The longest input, in bytes, and the longest that one may take, in seconds.
INPUT_BYTES_MAX=16384
INPUT_SECONDS_MAX=10

seconds=120
targets=()
while (($#)); do
  case $1 in
    --seconds)
      seconds=$2
      shift
      ;;
    -h | --help)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) targets+=("$1") ;;
  esac
  shift
done
cargo fuzz --version >/dev/null || {
  echo 'fuzz: cargo-fuzz is not here; install it with: cargo install cargo-fuzz' >&2
  exit 1
}
if ((${#targets[@]} == 0)); then
  for file in fuzz/fuzz_targets/*.rs; do
    targets+=("$(basename "$file" .rs)")
  done
fi

# The code is free of `unsafe`, so no sanitizer is asked for, and the stable toolchain does.
cargo fuzz build -s none
PAYONCE_WRITE_CORPUS=$PWD/fuzz/corpus cargo test --quiet -p adapters -p payonce --lib fuzzing
failed=()
for target in "${targets[@]}"; do
  log=fuzz/target/$target.log
  mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
  if cargo fuzz run -s none "$target" -- -max_total_time="$seconds" -max_len=$INPUT_BYTES_MAX \
    -timeout=$INPUT_SECONDS_MAX -print_final_stats=1 >"$log" 2>&1; then
    outcome='nothing found'
  else
    outcome='FOUND SOMETHING'
    failed+=("$target")
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  reached=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
  printf '%-16s %5s s  %12s executions  %s  %s\n' "$target" "$seconds" "${executions:-?}" "${reached:-cov: ?}" "$outcome"
done
if ((${#failed[@]})); then
  printf 'fuzz: see fuzz/target/%s.log\n' "${failed[@]}" >&2
  exit 1
fi
