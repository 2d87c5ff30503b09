# shellcheck shell=bash
# Inside the guest: start a compositor, measure it with the probe, end it. To be sourced by the scripts beside it, which
# set $probe (the probe's path, for `measure`) and $results (a folder in memory, so that no write waits for the host while something is
# measured).

export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/0}
mkdir -p "$results"
run_number=0
compositor_job=
compositor_name=

# With the guest's time.
note() { printf '[%7.2f] %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*" >&2; }
die() { note "$*"; exit 1; }

# in_memory PROGRAM: copies it to where no page of it has to be fetched from the host, nor changes while it is built anew.
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

# Reads every file that the process has mapped, so that no page is fetched from the host while it is measured: such a
# wait is the one thing whose length is not counted in instructions.
read_mapped_files() {
    local file
    awk '$6 ~ /^\// { print $6 }' "/proc/$1/maps" | sort -u | while read -r file; do
        # Not the devices, which are mapped too and would be waited for.
        if [ -f "$file" ]; then cat "$file" >/dev/null || true; fi
    done
}

# The same for a program that does not run yet.
read_libraries() {
    local file
    ldd "$1" | grep -o '/[^ ]*' | while read -r file; do cat "$file" >/dev/null; done
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

# Hands over what there is, between two runs: a later one that fails or takes too long does not take it along.
keep_results() { cp "$results"/* /out/; }
