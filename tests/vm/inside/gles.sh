# shellcheck shell=bash
# OpenGL ES on a display: draws into the buffers that are scanned out. To be sourced after drm.sh.

# draw_with RENDERER: a session that shows what stands still and what moves; leaves screenshots, and the checksum of what
# is scanned out.
draw_with() {
    local renderer=$1 client
    session "$renderer" --renderer "$renderer"
    foot bash -c 'ls -l /usr; sleep 100' >/dev/null 2>&1 &
    client=$!
    promise "$renderer: a terminal opens" soon windows_are 1
    sleep 2
    "$upbeat" msg screenshot "$results/$renderer-still.png" >/dev/null
    if [ "$driver" = vkms ]; then python3 "$here/crc.py" >"$results/$renderer-still.crc"; fi
    kill "$client" && wait "$client" 2>/dev/null || true
    promise "$renderer: it closes" soon windows_are 0
    weston-simple-shm >/dev/null 2>&1 &
    client=$!
    promise "$renderer: a window that moves appears" soon windows_are 1
    sleep 2
    "$upbeat" msg screenshot "$results/$renderer-moving.png" >/dev/null
    kill "$client" && wait "$client" 2>/dev/null || true
    promise "$renderer: the session ends in order" end_session
    promise "$renderer: nothing went wrong" [ -z "$(grep -E ' ERROR |panicked' "$results/$renderer.log")" ]
}

gles() {
    draw_with pixman
    draw_with gles
    promise "OpenGL ES draws into the display's own buffers" \
        grep -q "composed in the display's own buffers" "$results/gles.log"
    promise "the picture is pixman's" python3 "$here/agree.py" "$results/pixman-still.png" "$results/gles-still.png"
    if [ "$driver" = vkms ]; then
        promise "and so is what is scanned out" cmp "$results/pixman-still.crc" "$results/gles-still.crc"
    fi
    promise "what moves is seen" colours "$results/gles-moving.png"
    promise "its frames are on the grid" python3 "$here/composing.py" "$results/gles.jsonl" "$results/pixman.jsonl"
}
