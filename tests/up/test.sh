# shellcheck shell=bash
# `./up test`: runs every step, prints its time, and at the end the failures. Sourced by ../../up.

# MiB of disk for building and running all tests, guest included; measured, and a little more.
readonly disk_wanted_mib=6000
# Without nextest a test counts as hung this many seconds after libtest called it slow, a minute after its start; if tests run
# one at a time, after its start. The limits of nextest are in .config/nextest.toml.
readonly hang_seconds=180
# Longer for the fuzzers, because they start processes of their own, end a hung one themselves and name its seed.
readonly fuzz_hang_seconds=1140
# Lines of a failed step that are printed at the end, unless its failed tests are known.
readonly lines_of_a_step=8

readonly all_steps="format lint doc unit wlcs guest"
readonly logs=target/up

# Warns early, because a disk that fills up makes tests fail without naming the reason.
say_if_disk_is_small() {
    local free_mib
    free_mib=$(df --output=avail --block-size=1M "$here" | tail -n1)
    [ "$free_mib" -ge "$disk_wanted_mib" ] || say "only $free_mib MiB of disk are free here: all tests together take up to $disk_wanted_mib"
}

# Some tests open a thousand buffers, but many login shells allow fewer descriptors.
readonly descriptors_wanted=4096
raise_descriptors() {
    local soft
    soft=$(ulimit -Sn)
    [ "$soft" = unlimited ] || [ "$soft" -ge "$descriptors_wanted" ] || ulimit -Sn "$descriptors_wanted" ||
        say "only $soft open files are allowed here: tests with a thousand buffers will fail"
}

has_nextest() { cargo nextest --version >/dev/null 2>&1; }

# watched SECONDS ARGUMENT...: `cargo test`; a test binary is ended if a test hangs for SECONDS.
watched() {
    local limit=$1 runner
    shift
    runner=CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')_RUNNER
    local watchdog=("$runner=$here/tests/up/watchdog $limit")
    # A path with a blank cannot be part of the runner, so it goes into PATH.
    [[ $here != *' '* ]] || watchdog=(PATH="$here/tests/up:$PATH" "$runner=watchdog $limit")
    env "${watchdog[@]}" cargo test --workspace --no-fail-fast "$@"
}

step_format() { cargo fmt --all --check; }
step_lint() { cargo clippy --workspace --all-targets -- --deny warnings; }
step_doc() { RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps; }
step_unit() {
    local status=0 target=${CARGO_TARGET_DIR:-target}
    # Tests start the examples as programs.
    cargo build --workspace --all-targets || return 1
    rm -f "$target/nextest/ci/junit.xml"
    if has_nextest; then
        cargo nextest run --workspace --profile ci || status=1
    else
        # All test targets except the three below.
        watched "$hang_seconds" --lib --bins --test '[!fst]*' --test frame_path --test simulate --test timelines || status=1
        watched "$fuzz_hang_seconds" --test fuzz || status=1
        # One at a time, because sessions with programs share the host's CPU.
        watched "$hang_seconds" --test session --test third_party -- --test-threads 1 || status=1
    fi
    cargo test --workspace --doc || status=1
    return $status
}
step_wlcs() { tests/wlcs/run; }
step_guest() { tests/vm/test short; }

# run_step STEP: runs a step, and writes its output to its log, too.
run_step() {
    # Cargo draws its progress bar only on a terminal, unless it is forced.
    local progress=auto
    [ ! -t 2 ] || progress=always
    CARGO_TERM_PROGRESS_WHEN=$progress CARGO_TERM_PROGRESS_WIDTH=80 "step_$1" 2>&1 | tee "$logs/$1.log"
    return "${PIPESTATUS[0]}"
}

# why STEP: prints the failures in a few lines, and the path of the log.
why() {
    local log=$here/$logs/$1.log target=${CARGO_TARGET_DIR:-target}
    say "failed: $1; see $log"
    if [ "$1" = unit ]; then
        python3 tests/up/failures.py "$target/nextest/ci/junit.xml" "$log" "$here/$logs/failed" >&2
        grep -E '^error(\[|:)' "$log" | head -n "$lines_of_a_step" >&2 || true
    else
        { grep -E 'FAIL|^error|^wlcs: |FAILED' "$log" || tail -n "$lines_of_a_step" "$log"; } | tail -n "$lines_of_a_step" >&2
    fi
}

prepare_tests() {
    # shellcheck disable=SC2086
    need_rust $rust_test_packages
    # shellcheck disable=SC2086
    install $build_packages $run_packages $test_packages
    install_weston
    # If mdBook is installed, a test builds the book; the links of its pages are checked without mdBook, too.
    get_mdbook >/dev/null 2>&1 || say "mdBook cannot be had: that the book builds is not tested"
}

run_tests() {
    local step started failed=() times=()
    [ $# -gt 0 ] || set -- $all_steps
    for step in "$@"; do
        [[ " $all_steps " == *" $step "* ]] || fail "no such step: $step; there are $all_steps"
    done
    prepare_tests
    say_if_disk_is_small
    raise_descriptors
    mkdir -p "$logs"
    rm -rf "$logs/failed"
    # In the background, because the guest is mostly downloads, and needed last.
    if [[ " $* " == *" guest "* ]]; then
        set -m # a process group of its own, to end all of it
        tests/vm/guest prepare &
        preparing=$!
        trap 'kill -- "-$preparing" 2>/dev/null || true' EXIT
        set +m
    fi
    for step in "$@"; do
        say "--- $step"
        started=$SECONDS
        # Go on after a failed step, so that all failures are reported.
        if run_step "$step"; then
            times+=("$step $((SECONDS - started)) s")
        else
            times+=("$step $((SECONDS - started)) s FAILED")
            failed+=("$step")
        fi
    done
    say "all in $SECONDS s:"
    printf '  %s\n' "${times[@]}" >&2
    [ ${#failed[@]} = 0 ] || { for step in "${failed[@]}"; do why "$step"; done; fail "failed: ${failed[*]}"; }
}
