# shellcheck shell=bash
# Inside the guest: starts a compositor, measures it with the probe, ends it. To be sourced by the scripts in this folder, which
# set $probe (the probe's path, for `measure`) and $results (a folder in memory, so that no write waits for the host during a
# measurement).

export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/0}
mkdir -p "$results"
run_number=0
compositor_job=
compositor_name=

# Log lines with the guest's time.
note() { printf '[%7.2f] %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*" >&2; }
die() { note "$*"; exit 1; }

# in_memory PROGRAM: copies it into memory, so that no page comes from the host, and a new build does not change it.
in_memory() {
    cp "$1" "/run/${1##*/}"
    echo "/run/${1##*/}"
}

# start_compositor NAME COMMAND...: runs it and waits for its socket; sets WAYLAND_DISPLAY.
start_compositor() {
    compositor_name=$1
    shift
    rm -f "$XDG_RUNTIME_DIR"/wayland-*
    "$@" >"$results/$compositor_name.log" 2>&1 </dev/null &
    compositor_job=$!
    local socket='' tries=0
    while [ -z "$socket" ]; do
        kill -0 "$compositor_job" 2>/dev/null || die_of_compositor "ended before it had a socket"
        [ $((tries += 1)) -le 300 ] || die_of_compositor "had no socket after 30 s"
        sleep 0.1
        socket=$(find "$XDG_RUNTIME_DIR" -maxdepth 1 -name 'wayland-*' ! -name '*.*' -type s -printf '%f\n' | head -n 1)
    done
    export WAYLAND_DISPLAY=$socket
    sleep 1 # outputs, fonts, first frames
    read_mapped_files "$compositor_job"
    note "$compositor_name is up"
}

stop_compositor() {
    kill "$compositor_job" 2>/dev/null || true
    wait "$compositor_job" 2>/dev/null || true
    unset WAYLAND_DISPLAY
}

die_of_compositor() {
    tail -n 30 "$results/$compositor_name.log" >&2
    die "$compositor_name: $*"
}

# Reads every file that the process has mapped, so that no page comes from the host during a measurement. Such a wait is the only
# time here that is not counted in instructions.
read_mapped_files() {
    local file
    awk '$6 ~ /^\// { print $6 }' "/proc/$1/maps" | sort -u | while read -r file; do
        # Skip mapped devices, because reading them could block.
        if [ -f "$file" ]; then cat "$file" >/dev/null || true; fi
    done
}

# Does the same for a program that does not run yet.
read_libraries() {
    local file
    ldd "$1" | grep -o '/[^ ]*' | while read -r file; do cat "$file" >/dev/null; done
}

# first_session UPBEAT: a session that is not measured. It reads what is loaded at run time: drivers, fonts, cursors. Where pages
# come from the host during a measurement, the first session's frames seem to cost a millisecond more for some seconds.
first_session() {
    "$1" bench latency --verify 0 --load flat --windows 1 --pacing auto --duration 1 </dev/null >/dev/null ||
        die "failed with $?: the first session"
}

# measure LABEL [PROBE OPTION...]: one run against the compositor; its report goes to $results.
measure() {
    local label=$1 report status=0
    shift
    run_number=$((run_number + 1))
    report=$(printf '%s/%03d.json' "$results" "$run_number")
    timeout 900 "$probe" --json --label "$label" "$@" >"$report" </dev/null || status=$?
    if [ "$status" != 0 ]; then
        rm -f "$report"
        die_of_compositor "the probe ended with $status ($label: $*)"
    fi
    note "$compositor_name, $label: $*"
    keep_results
}

# Copies the results out between two runs, so that a failure or timeout of a later run does not lose them.
keep_results() { cp "$results"/* /out/; }
