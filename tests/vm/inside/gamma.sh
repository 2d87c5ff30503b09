# shellcheck shell=bash
# Gamma ramps on a display. To be sourced after drm.sh, by a script that sets $upbeat_path.

# A client's gamma ramp applies to the picture until the client disconnects. A static picture is flipped for it, but not redrawn.
gamma() {
    [ "$driver" = vkms ] || return 0
    local client before composed shown
    client=$(in_memory "$(dirname "$upbeat_path")/examples/gamma")
    session gamma
    sleep 0.5 # the cursor's own shape is read meanwhile
    before=$(python3 "$here/crc.py")
    composed=$(drawn gamma)
    shown=$(flipped gamma)
    "$client" >"$results/gamma.txt" 2>&1 &
    client=$!
    promise "a client gets the display's ramp" soon grep -q '^inverted' "$results/gamma.txt"
    sleep 0.5
    promise "colours are shown through it" [ "$(python3 "$here/crc.py")" != "$before" ]
    promise "the ramp was applied with a frame" [ "$(flipped gamma)" -gt "$shown" ]
    promise "for which nothing was redrawn" [ "$(drawn gamma)" = "$composed" ]
    kill "$client" && wait "$client" 2>/dev/null || true
    sleep 0.5
    promise "without the client the colours are as before" [ "$(python3 "$here/crc.py")" = "$before" ]
    # The guest's clock starts at night, so the colours are warm.
    wlsunset -l 48.1 -L 11.6 >"$results/wlsunset.txt" 2>&1 &
    client=$!
    promise "wlsunset makes the picture warmer" soon is_other_than "$before"
    kill "$client" && wait "$client" 2>/dev/null || true
    promise "and it is as before when wlsunset ends" soon is_as "$before"
    promise "the session ends cleanly" end_session
    promise "the log has no error" [ -z "$(grep -E ' ERROR |WARN upbeat|panicked' "$results/gamma.log")" ]
}

# is_as CRC: whether the scanned-out picture has this checksum.
is_as() { [ "$(python3 "$here/crc.py")" = "$1" ]; }
is_other_than() { ! is_as "$1"; }

# flipped NAME: number of frames that the session showed; drawn NAME: frames with damage.
flipped() { grep -c '"type":"output",' "$results/$1.jsonl" || true; }
drawn() { grep '"type":"output",' "$results/$1.jsonl" | grep -vc '"damage":0,' || true; }
