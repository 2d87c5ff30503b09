# shellcheck shell=bash
# Traces the ioctls of each thread. To be sourced after drm.sh.

# Does everything that a session does with a display, while the kernel traces every ioctl with the name of its thread.
threads() {
    [ "$driver" = vkms ] || return 0
    local scanout tracing=/sys/kernel/tracing settings=$XDG_RUNTIME_DIR/threads.toml connector client all others
    scanout=$(in_memory "$(dirname "$upbeat_path")/examples/scanout")
    connector=$(find /sys/class/drm -maxdepth 1 -name 'card*-Virtual-1' | head -n 1)
    echo 'planes = true' >"$settings"
    [ -d $tracing/events ] || mount -t tracefs none $tracing
    session threads --config "$settings"
    all=$(outputs)
    others=${all#Virtual-1}
    echo 8192 >$tracing/buffer_size_kb
    echo >$tracing/trace
    echo 1 >$tracing/events/syscalls/sys_enter_ioctl/enable
    "$scanout" --size 320x240 --frames 60 >/dev/null 2>&1 &
    client=$!
    promise "a window appears" soon windows_are 1
    sleep 2
    "$upbeat" msg screenshot "$results/threads.png" >/dev/null
    "$upbeat" msg input move 10 10 >/dev/null && sleep 0.2 && "$upbeat" msg input move 60 60 >/dev/null
    "$upbeat" msg output mode Virtual-1 800x600@60 >/dev/null && sleep 1
    "$upbeat" msg output off Virtual-1 >/dev/null && sleep 0.5 && "$upbeat" msg output on Virtual-1 >/dev/null && sleep 1
    echo off >"$connector/status" && echo change >/sys/class/drm/card0/uevent
    promise "an unplugged monitor is gone" soon outputs_are "${others# }"
    echo on >"$connector/status" && echo change >/sys/class/drm/card0/uevent
    promise "a plugged-in monitor is turned on" soon outputs_are "$all"
    sleep 1
    kill "$client" && wait "$client" 2>/dev/null || true
    sleep 1
    echo 0 >$tracing/events/syscalls/sys_enter_ioctl/enable
    grep sys_ioctl $tracing/trace >"$results/ioctls.txt" || true
    promise "the main thread makes no ioctl that can block" python3 "$here/threads.py" "$results/ioctls.txt" "$compositor_job"
    promise "the session ends cleanly" end_session
    promise "the log has no error" [ -z "$(grep -E ' ERROR |panicked' "$results/threads.log")" ]
}
