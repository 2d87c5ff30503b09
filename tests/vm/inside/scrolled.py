#!/usr/bin/env python3
"""A client of upbeat_scroll_v1 in plain Python, whose document lies in one buffer of the display's own memory.

    scrolled.py show DEVICE             shows a view of 2000 rows, drawn once; prints its events, and sleeps
    scrolled.py pass SIZE HERE...       drags the view to these rows, one after another, and prints the picture's checksum at each
    scrolled.py fling DEVICE SIZE       flings it, and prints each framebuffer and source of the planes meanwhile, as JSON
    scrolled.py judge FLING FRAMES      checks that the plane kept its framebuffer, its source moved and nothing was composed
"""

import fcntl
import json
import mmap
import os
import re
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../examples/python"))
import ahead  # noqa: E402
import ipc  # noqa: E402

ahead.PROTOCOLS += [
    "/usr/share/wayland-protocols/unstable/linux-dmabuf/linux-dmabuf-unstable-v1.xml",
    os.path.join(HERE, "../../../protocols/upbeat-scroll-v1.xml"),
]
WIDTH, HEIGHT, ROWS = 320, 240, 2000
XRGB = int.from_bytes(b"XR24", "little")
# _IOWR('d', nr, struct), as in drm_mode.h and drm.h
CREATE_DUMB, MAP_DUMB, HANDLE_TO_FD = 0xC02064B2, 0xC01064B3, 0xC00C642D
WAIT_VBLANK, RELATIVE = 0xC018643A, 1
REPORT_SECONDS, REPORT_PIXELS = 0.008, 8


def memory(device, width, height, row):
    """A dumb buffer; the pixels of a row encode its number."""
    card = os.open(device, os.O_RDWR)
    made = fcntl.ioctl(card, CREATE_DUMB, struct.pack("=IIIIIIQ", height, width, 32, 0, 0, 0, 0))
    handle, stride, size = struct.unpack("=IIIIIIQ", made)[4:]
    offset = struct.unpack("=IIQ", fcntl.ioctl(card, MAP_DUMB, struct.pack("=IIQ", handle, 0, 0)))[2]
    with mmap.mmap(card, size, offset=offset) as pixels:
        for y in range(height):
            pixels[y * stride : y * stride + width * 4] = struct.pack("=I", row(y)) * width
    shared = fcntl.ioctl(card, HANDLE_TO_FD, struct.pack("=IIi", handle, os.O_RDWR | os.O_CLOEXEC, -1))
    return struct.unpack("=IIi", shared)[2], stride


def show(device):
    display = ahead.Display()
    base, compositor = display.bind("xdg_wm_base", 1), display.bind("wl_compositor", 4)
    base.on["ping"] = base.pong
    dmabuf = display.bind("zwp_linux_dmabuf_v1", 3)

    def buffer(width, height, row):
        descriptor, stride = memory(device, width, height, row)
        params = dmabuf.create_params()
        params.add(descriptor, 0, 0, stride, 0, 0)
        return params.create_immed(width, height, XRGB, 0)

    surface, tile = compositor.create_surface(), compositor.create_surface()
    xdg = base.get_xdg_surface(surface)
    configured = []
    xdg.on["configure"] = lambda serial: (xdg.ack_configure(serial), configured.append(serial))
    xdg.get_toplevel().set_app_id("scrolled")
    surface.commit()
    while not configured:
        display.dispatch()
    display.bind("wl_subcompositor", 1).get_subsurface(tile, surface)
    view = display.bind("upbeat_scroll_manager_v1", 1).get_view(surface)
    view.on["effective"] = lambda mode, reason: print("effective", mode, reason, flush=True)

    # At rest, one frame is drawn for a target, to learn from its feedback how it was displayed.
    pacing = display.bind("upbeat_frame_pacing_manager_v1", 1).get_frame_pacing(tile)
    paths = {number: name for name, number in pacing.interface.enums["path"].items()}
    pacing.on["presented"] = lambda *presented: print("presented", paths[presented[-1]], flush=True)

    def rested(x, y, *rest):
        print("rest", y, flush=True)
        pacing.request_target()

    def draw(high, low, *target):
        pacing.bind(high, low)
        tile.attach(document, 0, 0)
        tile.damage(0, 0, 1, 1)
        tile.commit()
        surface.commit()

    view.on["rest"], pacing.on["target"] = rested, draw
    view.get_content(tile).set_position(0, 0)
    view.set_document(0, 0, WIDTH, ROWS)
    view.set_axes(view.enum("axes", "vertical"))
    view.set_inputs(view.enum("inputs", "finger"))
    view.set_options(view.enum("options", "unpredicted"))
    document = buffer(WIDTH, ROWS, lambda y: (y * 0x010307 + 0x203040) & 0xFFFFFF)
    tile.attach(document, 0, 0)
    tile.damage(0, 0, WIDTH, ROWS)
    tile.commit()
    surface.attach(buffer(WIDTH, HEIGHT, lambda _: 0xFF0000), 0, 0)
    surface.damage(0, 0, WIDTH, HEIGHT)
    surface.commit()
    while True:
        display.dispatch()


def hand(size):
    """Fingers over the middle of the screen."""
    width, height = (int(side) for side in size.split("x"))
    session = ipc.Session()
    session.input("pointer-move", x=width / 2, y=height / 2)
    return session


def pull(session, rows):
    while rows:
        step = max(-REPORT_PIXELS, min(REPORT_PIXELS, rows))
        session.input("fingers-scroll", dx=0.0, dy=float(step))
        rows -= step
        time.sleep(REPORT_SECONDS)


def pull_and_hold(session, rows):
    """Holds the fingers still for so long that lifting them is no fling."""
    pull(session, rows)
    time.sleep(0.2)
    session.input("fingers-lift")
    time.sleep(0.1)


def go_through(size, places):
    session = hand(size)
    # Further than the document is long: it stops at its beginning.
    pull_and_hold(session, -ROWS)
    at = 0
    for place in places:
        pull_and_hold(session, place - at)
        at = place
        print(place, subprocess.check_output(["python3", f"{HERE}/crc.py"], text=True).strip(), flush=True)


def planes():
    with open("/sys/kernel/debug/dri/0/state", encoding="utf-8") as file:
        text = file.read()
    found = []
    for block in re.split(r"^plane\[\d+\]: ", text, flags=re.M)[1:]:
        framebuffer = int(re.search(r"fb=(\d+)", block)[1])
        target, source = (re.search(rf"{name}-pos=(\S+)", block)[1] for name in ("crtc", "src"))
        if framebuffer:
            found.append([framebuffer, target.split("+")[0], source])
    return found


def area(plane):
    width, height = re.match(r"(\d+)x(\d+)", plane[1]).groups()
    return int(width) * int(height)


def wait_for_vblank(card):
    fcntl.ioctl(card, WAIT_VBLANK, struct.pack("=IIqq", RELATIVE, 1, 0, 0))


def fling(device, size):
    session = hand(size)
    card = os.open(device, os.O_RDWR)
    seen = []
    # In the first frames of the motion, the session tests the plane with the driver.
    pull(session, 24 * REPORT_PIXELS)
    begun = time.monotonic()
    session.input("fingers-lift")
    while time.monotonic() < begun + 0.5:
        # Read right after a refresh, when nothing commits, because the reader holds all locks of a commit for a millisecond or two.
        wait_for_vblank(card)
        seen.append(planes())
    print(json.dumps({"begun": begun, "seen": seen}))


def judge(path, frames):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    shown = [[plane for plane in planes if plane[1] == f"{WIDTH}x{HEIGHT}"] for planes in report["seen"]]
    if not all(len(planes) == 1 for planes in shown):
        return f"in {sum(not planes for planes in shown)} of {len(shown)} looks the view was on no plane"
    buffers, sources = {planes[0][0] for planes in shown}, [planes[0][2] for planes in shown]
    composed = {(plane[0], plane[2]) for planes in report["seen"] for plane in [max(planes, key=area)]}
    if len(buffers) != 1 or len(composed) != 1:
        return f"framebuffers change: {buffers}, below it {composed}"
    with open(frames, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    begun = report["begun"] * 1e9
    inside = [
        record
        for record in records
        if record["type"] == "output" and record["presented"] and begun < record["presented"] < begun + 0.5e9
    ]
    drawn = [record["frame"] for record in inside if record["damage"]]
    numbers = [record["sequence"] for record in inside]
    # At least half a second's worth; the state is read once a refresh, or a little less often.
    moved, gaps = len(set(sources)), [pair for pair in zip(numbers, numbers[1:]) if pair[1] != pair[0] + 1]
    print(f"{len(inside)} refreshes, {moved} sources seen, {len(drawn)} composed, {len(gaps)} missed")
    is_right = len(inside) >= 28 and moved >= 20 and not drawn and not gaps
    return 0 if is_right else f"composed: {drawn}, missed: {gaps}, sources: {sources}"


match sys.argv[1:]:
    case ["show", device]:
        show(device)
    case ["pass", size, *places]:
        go_through(size, [int(place) for place in places])
    case ["fling", device, size]:
        fling(device, size)
    case ["judge", report, frames]:
        sys.exit(judge(report, frames))
