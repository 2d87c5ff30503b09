# shellcheck shell=bash
# Inside the guest: the picture on screen, changed between two refreshes. Sourced by kms.

# `upbeat msg outputs` says what the driver can do. Both cursor answers are known: vkms has a cursor plane, virtio-gpu hides its own.
driver_features() {
    local features
    case $driver in
    vkms) features='driver vkms: asynchronous flips: none; legacy cursor moves: yes; DIRTYFB: not needed' ;;
    virtio) features='driver virtio_gpu: asynchronous flips: none; legacy cursor moves: no; DIRTYFB: needed' ;;
    esac
    "$upbeat" msg outputs >"$results/features.txt"
    promise "the driver's features are known ($(grep -o 'driver .*' "$results/features.txt"))" grep -q "$features" "$results/features.txt"
}

# front_settings OPTION: a configuration that lets clients share buffers, and writes small changes in place.
front_settings() {
    settings=$XDG_RUNTIME_DIR/front.toml
    cat >"$settings" <<END
late-latch = { front-buffers = true }
timing = { in-place = true, in-place-size = 50.0 }
mouse = { acceleration-profile = "flat" }
[[output]]
name = "*"
front-buffer = "$1"
END
}

# The middle of the only window.
window_middle() {
    "$upbeat" msg --json windows | python3 -c "
import json, sys
place = json.load(sys.stdin)['windows'][0]['geometry']
print(place['x'] + place['width'] // 2, place['y'] + place['height'] // 2)"
}
frames_of() { grep -c '"type":"output"' "$results/$1.jsonl"; }

# A client that asks to share its buffer is told that the display cannot. While the mouse moves, the cursor plane has the place of the
# last event before each frame was submitted.
front_refused() {
    [ "$driver" = vkms ] || return 0
    local settings client
    front_settings auto
    session refused --renderer pixman --config "$settings"
    driver_features
    promise "a client that asks to share its buffer is refused: the display" [ "$(python3 "$here/front.py" ask)" = "inactive display" ]
    promise "nothing is said about an option that nobody set" [ -z "$(grep front-buffer "$results/refused.log")" ]
    # Its frames are composed, and take the cursor along.
    weston-simple-shm >/dev/null 2>&1 &
    client=$!
    promise "a window appears" soon windows_are 1
    "$upbeat" msg input move 100 700 >/dev/null
    python3 "$here/newest_cursor.py" drive >"$results/places.json"
    kill "$client" && wait "$client" 2>/dev/null || true
    front_settings on
    "$upbeat" msg reload >/dev/null
    promise "where it is impossible, the log says why" soon log_has 'no effect.*Virtual-1.*row by row'
    promise "the session ends cleanly" end_session
    promise "the cursor plane has the place of the last event before the submission" \
        python3 "$here/newest_cursor.py" judge "$results/places.json" "$results/refused.jsonl"
}

# A small change close to the pointer, with a commit: after a frame for the first, the display's phase is known, and the second is written
# into the picture on screen.
committed_in_place() {
    promise "the window closes" soon windows_are 0
    coproc front { exec python3 "$here/front.py" commit; }
    promise "a window appears" soon windows_are 1
    middle=$(window_middle)
    # The pointer is close, and its image, which is composed here, does not lie above the change.
    "$upbeat" msg input move $((${middle% *} + 40)) $((${middle#* } + 40)) >/dev/null
    sleep 1
    frames=$(frames_of front)
    echo >&"${front[1]}"
    read -r -t 20 answer <&"${front[0]}" || true
    promise "two small changes close to the pointer are shown" [ "$answer" = shown ]
    promise "the second is seen from outside" outside_is 0000ff
    sleep 1
    promise "and at most one frame was composed" [ "$(frames_of front)" -le $((frames + 1)) ]
    kill "$front_PID" && wait "$front_PID" 2>/dev/null || true
}

# outside_is COLOUR: the middle of the window, as it is seen from outside the guest.
outside_is() { [ "$(python3 "$here/outside.py" pixel $middle)" = "$1" ]; }

# Pixels that a client writes into its window reach the screen without a frame. The driver copies the changed pixels of a picture to the
# host when it is told about them, and not before.
front_written() {
    [ "$driver" = virtio ] || return 0
    local settings client middle frames
    front_settings on
    session front --renderer pixman --config "$settings"
    driver_features
    promise "the option has an effect" [ -z "$(grep 'no effect' "$results/front.log")" ]
    coproc front { exec python3 "$here/front.py" write 00ff00 0000ff; }
    read -r -t 20 answer <&"${front[0]}" || true
    promise "a client may share its buffer (${answer:-no answer})" [ "${answer:-}" = active ]
    middle=$(window_middle)
    promise "its window is seen from outside" outside_is ff0000
    sleep 1
    frames=$(frames_of front)
    local colour
    for colour in 00ff00 0000ff; do
        echo >&"${front[1]}"
        read -r -t 20 answer <&"${front[0]}" || true
        promise "its write is lit ($answer)" [ "$answer" = light ]
        promise "and seen from outside" outside_is "$colour"
    done
    sleep 1
    promise "no frame was composed for it" [ "$(frames_of front)" = "$frames" ]
    kill "$front_PID" && wait "$front_PID" 2>/dev/null || true
    committed_in_place
    promise "the last window closes" soon windows_are 0
    sleep 1
    local before
    before=$(switches)
    sleep 2
    promise "nothing wakes up for what is not shared any more" [ "$(switches)" = "$before" ]
    promise "the session ends cleanly" end_session
    promise "the log has no error" [ -z "$(grep -E ' ERROR |panicked' "$results/front.log")" ]
    local card
    card=$(find /dev/dri -name 'card*' | head -n 1)
    promise "without DIRTYFB written pixels are not seen from outside, with it they are" \
        [ "$(python3 "$here/front.py" raw "$card")" = "ff0000 ff0000 0000ff" ]
}
