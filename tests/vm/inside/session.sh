# shellcheck shell=bash
# Inside the guest: start a compositor, measure it with the probe, end it. To be sourced; needs $probe (the probe's path)
# and $results (a folder in memory, so that no write waits for the host while something is measured).

export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/0}
mkdir -p "$results"
runs=0

die() { echo "$*" >&2; exit 1; }

# start_compositor NAME COMMAND...: runs it and waits for its socket; sets WAYLAND_DISPLAY and compositor_pid.
start_compositor() {
    local name=$1
    shift
    rm -f "$XDG_RUNTIME_DIR"/wayland-*
    "$@" >"$results/$name.log" 2>&1 </dev/null &
    compositor_job=$!
    compositor_name=$name
    local socket='' tries=0
    while [ -z "$socket" ]; do
        kill -0 "$compositor_job" 2>/dev/null || fail_compositor "ended before it had a socket"
        [ $((tries += 1)) -le 300 ] || fail_compositor "had no socket after 30 s"
        sleep 0.1
        socket=$(find "$XDG_RUNTIME_DIR" -maxdepth 1 -name 'wayland-*' -type s | head -n 1)
    done
    WAYLAND_DISPLAY=$(basename "$socket")
    export WAYLAND_DISPLAY
    sleep 2 # outputs, fonts, first frames
    read_mapped_files "$compositor_job"
}

fail_compositor() {
    tail -n 30 "$results/$compositor_name.log" >&2
    die "$compositor_name $*"
}

stop_compositor() {
    kill "$compositor_job" 2>/dev/null || true
    wait "$compositor_job" 2>/dev/null || true
    # A device is free again only when the last child is gone.
    sleep 1
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

# measure LABEL [PROBE OPTION...]: one run against the compositor; its report goes to $results.
measure() {
    local label=$1 status=0
    shift
    runs=$((runs + 1))
    local report
    report=$(printf '%s/%03d.json' "$results" "$runs")
    timeout 600 "$probe" --json --label "$label" "$@" >"$report" || status=$?
    if [ "$status" != 0 ]; then
        rm -f "$report"
        tail -n 30 "$results/$compositor_name.log" >&2
        die "the probe failed with $status on $compositor_name ($label: $*)"
    fi
    echo "measured $compositor_name $label: $*" >&2
}
