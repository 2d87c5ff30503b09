# shellcheck shell=bash
# Inside the guest: runs sessions on a real DRM device and checks them. To be sourced by scripts that are called with
# the binary and the driver's name (vkms, virtio). Sets $failed to 1 if a check fails.

results=/tmp/results
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=session.sh
. "$here/session.sh"
upbeat=$(in_memory "$1") driver=$2
read_libraries "$upbeat"
# shellcheck disable=SC2034 # read by those that source this
failed=0

# promise TEXT COMMAND...: prints whether the command succeeds.
promise() {
    local text=$1
    shift
    if "$@"; then echo "ok   $driver: $text"; else
        echo "FAIL $driver: $text"
        failed=1
    fi
}

# soon COMMAND...: succeeds if the command succeeds within five seconds.
soon() {
    local tries
    for ((tries = 0; tries < 50; tries++)); do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    return 1
}

# field FIELD of the first output, as JSON; empty without outputs.
field() { "$upbeat" msg --json outputs | python3 -c "
import json, sys
outputs = json.load(sys.stdin)['outputs']
print(outputs[0]['$1'] if outputs else '')"; }
has_output() { [ -n "$(field name)" ]; }
has_no_output() { [ -z "$(field name)" ]; }
windows() { "$upbeat" msg --json windows | python3 -c "import json, sys; print(len(json.load(sys.stdin)['windows']))"; }
windows_are() { [ "$(windows)" = "$1" ]; }
log_has() { grep -q "$1" "$results/$compositor_name.log"; }

terminal() { python3 "$here/vt.py" "$@"; }
terminal_is() { [ "$(terminal)" = "$1" ]; }
# Of all threads.
switches() { awk '/_ctxt_switches/ { n += $2 } END { print n }' "/proc/$compositor_job/task/"*/status; }
# count_vblanks: starts counting; vblanks: interrupts since then, of all displays.
count_vblanks() {
    [ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing
    echo 0 >/sys/kernel/tracing/trace
    echo 1 >/sys/kernel/tracing/events/drm/drm_vblank_event/enable
}
vblanks() { grep -c 'drm_vblank_event:' /sys/kernel/tracing/trace || true; }
colours() { python3 "$here/picture.py" "$1"; }

outputs() { "$upbeat" msg --json outputs | python3 -c "
import json, sys
print(' '.join(sorted(output['name'] for output in json.load(sys.stdin)['outputs'])))"; }
outputs_are() { [ "$(outputs)" = "$1" ]; }

# session NAME [OPTION...]: starts a session on this machine's displays; session_on BACKEND NAME [OPTION...]: on another backend.
session() { session_on drm "$@"; }
session_on() {
    export UPBEAT_LOG=info
    local backend=$1 name=$2
    shift 2
    start_compositor "$name" "$upbeat" --backend "$backend" --frame-log "$results/$name.jsonl" "$@"
    export UPBEAT_SOCKET=$XDG_RUNTIME_DIR/upbeat-$WAYLAND_DISPLAY.sock
    [ -S "$UPBEAT_SOCKET" ] || UPBEAT_SOCKET=$(find "$XDG_RUNTIME_DIR" -name '*upbeat*' -type s | head -n 1)
}

end_session() {
    export UPBEAT_LOG=info
    local status=0
    kill "$compositor_job"
    wait "$compositor_job" || status=$?
    unset WAYLAND_DISPLAY
    return "$status"
}

# soak SECONDS: windows, monitors, terminals and killed clients, over and over.
soak() {
    [ "$driver" = vkms ] || return 0
    export SEATD_VTBOUND=1
    # Freed memory goes back to the system at once, because memory that malloc keeps for reuse would look like a leak and hide leaks.
    export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=65536 MALLOC_TOP_PAD_=0
    session soak
    unset MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ MALLOC_TRIM_THRESHOLD_ MALLOC_TOP_PAD_
    promise "after $1 s of windows, monitors, terminals and killed clients memory and descriptors are level" \
        python3 "$here/soak.py" "$upbeat" "$compositor_job" "$1"
    promise "the session ends cleanly" end_session
    promise "no frame was late without a reason" python3 "$here/explained.py" "$results/soak.jsonl"
    promise "the log has no error" [ -z "$(grep -E ' ERROR upbeat|panicked' "$results/soak.log")" ]
    export SEATD_VTBOUND=0
}
