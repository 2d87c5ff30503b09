# shellcheck shell=bash
# OpenGL ES on a display: renders into the buffers that are scanned out. To be sourced after drm.sh.

# Fewer pixels prove the same, and a software rasteriser on an emulated CPU is slow.
small=$XDG_RUNTIME_DIR/small.toml
printf '[[output]]\nname = "*"\nmode = "640x480@60"\n' >"$small"

# stand_still NAME [OPTION...]: a session that shows a terminal; leaves a screenshot and the checksum of the scanned-out picture.
stand_still() {
    local renderer=$1 client
    session "$renderer" --config "$small" "${@:2}"
    # Not under the pointer, whose shape would depend on how soon the terminal sets it.
    foot -o initial-window-size-pixels=500x380 bash -c 'ls -l /usr; sleep 100' >/dev/null 2>&1 &
    client=$!
    promise "$renderer: a terminal opens" soon windows_are 1
    sleep 1.5
    "$upbeat" msg screenshot "$results/$renderer-still.png" >/dev/null
    if [ "$driver" = vkms ]; then python3 "$here/crc.py" >"$results/$renderer-still.crc"; fi
    kill "$client" && wait "$client" 2>/dev/null || true
    promise "$renderer: it closes" soon windows_are 0
}

end_well() {
    promise "$1: the session ends cleanly" end_session
    promise "$1: the log has no error" [ -z "$(grep -E ' ERROR |panicked' "$results/$1.log")" ]
}

gles() {
    stand_still pixman
    end_well pixman
    promise "a CPU driver is not taken for a GPU" \
        grep -q "drawn by Pixman, with the CPU: " "$results/pixman.log"
    # Render as on a GPU, because a CPU driver would otherwise render to off-screen buffers.
    stand_still gles --renderer auto-in-place
    weston-simple-shm >/dev/null 2>&1 &
    local client=$!
    promise "an animated window appears" soon windows_are 1
    sleep 2
    "$upbeat" msg screenshot "$results/gles-moving.png" >/dev/null
    kill "$client" && wait "$client" 2>/dev/null || true
    end_well gles
    promise "the session logs that it takes the driver for a GPU" grep -q "drawn by OpenGL ES on " "$results/gles.log"
    promise "OpenGL ES draws into the display's own buffers" \
        grep -q "composed in the display's own buffers" "$results/gles.log"
    promise "the screenshot matches pixman's" python3 "$here/agree.py" "$results/pixman-still.png" "$results/gles-still.png"
    if [ "$driver" = vkms ]; then
        promise "and so does the scanned-out picture" cmp "$results/pixman-still.crc" "$results/gles-still.crc"
    fi
    promise "the animation is shown" colours "$results/gles-moving.png"
    promise "its frames are presented on the grid" python3 "$here/composing.py" "$results/gles.jsonl"
}
