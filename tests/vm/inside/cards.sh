# shellcheck shell=bash
# Two display devices in one session: one comes while it runs, windows go from one to the other, and one is pulled out.
# Sourced by `kms`; needs a guest with --gpu vkms+virtio.

first_window() { "$upbeat" msg --json windows | python3 -c "
import json, sys
print(json.load(sys.stdin)['windows'][0]['window'])"; }

plug_card() {
    local module
    # Modules that both drivers need are loaded already.
    for module in /run/modules/*.ko; do /run/busybox insmod "$module" 2>/dev/null || true; done
    [ -d /sys/module/virtio_gpu ]
}
# The virtio display device, bound to its driver or not.
virtio_card() { grep -lx 0x0010 /sys/bus/virtio/devices/*/device | cut -d/ -f6 | head -n 1; }
card_device() { basename "$(readlink -f /sys/bus/virtio/drivers/virtio_gpu/virtio*)"; }

# shows OUTPUT: whether the window of many colours is in the screenshot of that output.
shows() {
    "$upbeat" msg screenshot --output "$1" "$results/on-$1.png" >/dev/null && colours "$results/on-$1.png"
}

cards() {
    [ "$driver" = vkms ] && [ -d /run/modules ] || return 0
    session cards
    weston-simple-shm >/dev/null 2>&1 &
    local client=$! device window
    promise "a window appears" soon windows_are 1
    promise "a second display device can be plugged in" plug_card
    promise "its monitor is on" soon outputs_are 'Virtual-1 Virtual-2'
    window=$(first_window)
    promise "the window is on the first monitor" shows Virtual-1
    "$upbeat" msg workspace 1 --output Virtual-2 --window "$window" >/dev/null
    sleep 1
    promise "it moves to the other device's monitor" shows Virtual-2
    promise "and is not on the first monitor any more" eval '! shows Virtual-1 2>/dev/null'
    device=$(card_device)
    echo "$device" >/sys/bus/virtio/drivers/virtio_gpu/unbind
    promise "a removed device removes its monitor" soon outputs_are Virtual-1
    sleep 1
    promise "but not the window" shows Virtual-1
    promise "the session ends cleanly" end_session
    echo "$device" >/sys/bus/virtio/drivers/virtio_gpu/bind
    sleep 1
    session both_cards
    promise "a session finds both devices" soon outputs_are 'Virtual-1 Virtual-2'
    kill "$client" 2>/dev/null && wait "$client" 2>/dev/null || true
    promise "the session ends cleanly" end_session
    echo "$device" >/sys/bus/virtio/drivers/virtio_gpu/unbind
    # Smithay logs an error, because it cannot restore the old content of a device that is gone.
    promise "the log has no error" [ -z "$(grep -hE ' ERROR upbeat|panicked' "$results"/{cards,both_cards}.log)" ]
}

# The only display device is removed and added again: the session has no output meanwhile, and keeps its windows.
replug() {
    [ "$driver" = virtio ] || return 0
    local renderer=${1:-pixman} client device
    session "replug-$renderer" --renderer "$renderer"
    weston-simple-shm >/dev/null 2>&1 &
    client=$!
    promise "a window appears" soon windows_are 1
    device=$(card_device)
    echo "$device" >/sys/bus/virtio/drivers/virtio_gpu/unbind
    promise "without its only device the session has no monitor" soon has_no_output
    promise "but keeps its window" windows_are 1
    echo "$device" >/sys/bus/virtio/drivers/virtio_gpu/bind
    promise "the device returns with its monitor" soon has_output
    sleep 1
    "$upbeat" msg screenshot "$results/replug-$renderer.png" >/dev/null
    promise "the window is on it" colours "$results/replug-$renderer.png"
    kill "$client" && wait "$client" 2>/dev/null || true
    promise "the session ends cleanly" end_session
    promise "the log has no error" [ -z "$(grep -E ' ERROR upbeat|panicked' "$results/replug-$renderer.log")" ]
}
