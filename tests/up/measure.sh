# shellcheck shell=bash
# `./up measure`: measurements that take long, or depend on the host. Sourced by ../../up.

readonly all_measures="counted scroll host peers programs soak fuzz"
# Seconds for each measurement, unless UPBEAT_MEASURE_SECONDS is set.
readonly measure_seconds=${UPBEAT_MEASURE_SECONDS:-600}
# Well-formed requests of random clients.
readonly measure_requests=5000000
# Cases of each property, where the test command tries 256.
readonly measure_cases=5000

# All checks in the guest: fails if a bound is exceeded.
measure_counted() { tests/vm/test; }

# Every way to scroll a document by every input, in the guest; without a verdict. One JSON file for each table.
measure_scroll() { tests/vm/scroll --out "$logs/scroll"; }

# Figures of this host beside its own noise; without a verdict.
measure_host() {
    cargo build --workspace --all-targets || return 1
    cargo test --workspace --no-fail-fast --lib --tests -- --ignored --nocapture --test-threads 1 timed::
    cargo bench --bench decisions --bench compose -- --quick
    tests/vm/latency --list tests/vm/gpu.list
}

# Other compositors on vkms, with the same client and loads.
measure_peers() { tests/vm/peers && tests/vm/peers --cost; }

# Third-party programs, each for a minute, with typical input.
measure_programs() {
    UPBEAT_THIRD_PARTY_SECONDS=60 cargo test --workspace --test third_party -- --test-threads 1 || return 1
    cargo build --release --bin upbeat && tests/programs/run --upbeat target/release/upbeat
}

# One session with all kinds of events, for ten minutes: it must not grow.
measure_soak() { tests/fuzz/run soak "$measure_seconds"; }

# Random clients and properties with new seeds. A failure becomes a test: properties keep it beside their sources, clients in
# tests/fuzz/corpus.
measure_fuzz() {
    local seed=${UPBEAT_FUZZ_SEED:-$((RANDOM * 32768 + RANDOM))} status=0 script
    say "seed $seed"
    export UPBEAT_FUZZ_SEED=$seed
    tests/fuzz/run requests "$measure_requests" || status=1
    tests/fuzz/run bytes "$measure_seconds" || status=1
    tests/fuzz/run files "$measure_seconds" || status=1
    for script in "${TMPDIR:-/tmp}"/upbeat-fuzz/*.jsonl; do
        [ -e "$script" ] || continue
        cp "$script" "tests/fuzz/corpus/found-$(basename "$script")"
        say "tests/fuzz/corpus/found-$(basename "$script") is a test from now on: give it a name that describes the failure, and commit it"
    done
    PROPTEST_RNG_SEED=$seed PROPTEST_CASES=$measure_cases cargo test --workspace --lib --tests || status=1
    return $status
}

run_measures() {
    local measure started failed=() times=()
    [ $# -gt 0 ] || set -- $all_measures
    for measure in "$@"; do
        [[ " $all_measures " == *" $measure "* ]] || fail "no such measure: $measure; there are $all_measures"
    done
    prepare_tests
    raise_descriptors
    mkdir -p "$logs"
    for measure in "$@"; do
        say "--- $measure"
        started=$SECONDS
        if "measure_$measure" 2>&1 | tee "$logs/measure-$measure.log"; then
            times+=("$measure $((SECONDS - started)) s")
        else
            times+=("$measure $((SECONDS - started)) s FAILED")
            failed+=("$measure")
        fi
    done
    say "all in $SECONDS s:"
    printf '  %s\n' "${times[@]}" >&2
    [ ${#failed[@]} = 0 ] || fail "failed: ${failed[*]}"
}
