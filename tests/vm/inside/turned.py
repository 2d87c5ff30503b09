#!/usr/bin/env python3
"""Checks the picture, touch and pen input of a transformed output: turned.py UPBEAT FOLDER

A window fills the output, in quarters of four colours. For each wl_output.transform, at three scales: the scanned-out picture must
have each colour in the corner that the transform requires, and a finger or a pen in a corner must send a position within that
quarter. The pen acts as a pointer, since the window does not bind tablets. The pictures are written to FOLDER for inspection. Needs
root, and a buffer that can be mapped, so a CPU renderer.
"""

import fcntl
import mmap
import os
import select
import struct
import subprocess
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/python"))
import ahead  # noqa: E402
import planes  # noqa: E402
from gestures import fixed  # noqa: E402

OUTPUT, CARD = "Virtual-1", "/dev/dri/card0"
SCALES = ("1", "1.5", "2")
RED, GREEN, BLUE, WHITE = 0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF
# Colours in the upright picture: top left, top right, bottom left, bottom right.
QUARTERS = (RED, GREEN, BLUE, WHITE)
# Colours on the panel in the same order: the picture is flipped first, then turned anticlockwise.
ON_PANEL = {
    "normal": (RED, GREEN, BLUE, WHITE),
    "90": (GREEN, WHITE, RED, BLUE),
    "180": (WHITE, BLUE, GREEN, RED),
    "270": (BLUE, RED, WHITE, GREEN),
    "flipped": (GREEN, RED, WHITE, BLUE),
    "flipped-90": (RED, BLUE, GREEN, WHITE),
    "flipped-180": (BLUE, WHITE, RED, GREEN),
    "flipped-270": (WHITE, GREEN, BLUE, RED),
}
# Places as shares of the panel's width and height.
CORNERS = ((0.125, 0.125), (0.875, 0.125), (0.125, 0.875), (0.875, 0.875))
LARGEST_TOUCH = 32767
PATIENCE_SECONDS = 20
# Seconds; longer than the time between two attempts with a finger.
SILENCE_SECONDS = 1
GETFB, MAP_DUMB, CLOSE_GEM = 0xC01C64AD, 0xC01064B3, 0x40086409


class Quarters:
    """A window that fills the output, whatever its size becomes."""

    def __init__(self):
        display = self.display = ahead.Display()
        self.shm, base = display.bind("wl_shm", 1), display.bind("xdg_wm_base", 1)
        base.on["ping"] = base.pong
        self.surface = display.bind("wl_compositor", 4).create_surface()
        xdg = base.get_xdg_surface(self.surface)
        xdg.on["configure"] = lambda serial: (xdg.ack_configure(serial), self.draw())
        toplevel = xdg.get_toplevel()
        self.wanted = self.drawn = (0, 0)
        toplevel.on["configure"] = lambda width, height, _states: setattr(self, "wanted", (width, height))
        toplevel.set_app_id("quarters")
        toplevel.set_fullscreen(None)
        seat = display.bind("wl_seat", 1)
        touch, pointer = seat.get_touch(), seat.get_pointer()
        self.touched = []
        touch.on["down"] = lambda _serial, _time, _surface, _finger, x, y: self.touched.append((fixed(x), fixed(y)))
        self.pointed, self.pressed = (0, 0), []
        pointer.on["enter"] = lambda _serial, _surface, x, y: setattr(self, "pointed", (fixed(x), fixed(y)))
        pointer.on["motion"] = lambda _time, x, y: setattr(self, "pointed", (fixed(x), fixed(y)))
        pointer.on["button"] = lambda _serial, _time, _button, state: self.pressed.append(self.pointed) if state else None
        self.surface.commit()

    def draw(self):
        width, height = self.drawn = self.wanted
        if not width or not height:
            return
        colour = [struct.pack("<I", colour) for colour in QUARTERS]
        row = [colour[at] * (width // 2) + colour[at + 1] * (width - width // 2) for at in (0, 2)]
        pixels = row[0] * (height // 2) + row[1] * (height - height // 2)
        memory = os.memfd_create("quarters")
        os.truncate(memory, len(pixels))
        mmap.mmap(memory, len(pixels))[:] = pixels
        pool = self.shm.create_pool(memory, len(pixels))
        os.close(memory)
        self.surface.attach(pool.create_buffer(0, width, height, width * 4, self.shm.enum("format", "xrgb8888")), 0, 0)
        self.surface.damage_buffer(0, 0, width, height)
        self.surface.commit()

    def until(self, done):
        """Dispatches until `done` is true; returns whether it became true in time."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not done():
            if time.monotonic() > end:
                return False
            if select.select([self.display.socket], [], [], 0.05)[0]:
                self.display.dispatch()
        return True

    def quarter(self, place):
        """The colour at a place of the window."""
        x, y = (int(at >= side // 2) for at, side in zip(place, self.drawn))
        return QUARTERS[x + 2 * y]


def scanned_out():
    """Width, height and rows of pixels that the primary plane scans out."""
    plane = max(planes.state(), key=planes.area)
    number = plane["framebuffer"]
    # Several pictures may lie in one framebuffer.
    left, top = (int(float(edge)) for edge in plane["source"].split("+")[1:])
    width, height = (int(float(side)) for side in plane["source"].split("+")[0].split("x"))
    with open(CARD, "r+b", buffering=0) as card:
        answer = fcntl.ioctl(card, GETFB, struct.pack("=7I", number, *[0] * 6))
        _, _, _, pitch, _, _, handle = struct.unpack("=7I", answer)
        _, _, offset = struct.unpack("=IIQ", fcntl.ioctl(card, MAP_DUMB, struct.pack("=IIQ", handle, 0, 0)))
        with mmap.mmap(card.fileno(), pitch * (top + height), mmap.MAP_SHARED, mmap.PROT_READ, offset=offset) as memory:
            starts = [pitch * (top + row) + 4 * left for row in range(height)]
            rows = [memory[start:start + 4 * width] for start in starts]
        fcntl.ioctl(card, CLOSE_GEM, struct.pack("=II", handle, 0))
    return width, height, rows


def in_corners(width, height, rows):
    pixel = lambda x, y: struct.unpack_from("<I", rows[int(y * height)], 4 * int(x * width))[0] & 0xFFFFFF
    return tuple(pixel(x, y) for x, y in CORNERS)


def keep(path, width, height, rows):
    """Every other pixel, as a PNG."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    def line(row):
        return b"\0" + b"".join(row[at + 2:at + 3] + row[at + 1:at + 2] + row[at:at + 1] for at in range(0, 4 * width, 8))
    pixels = zlib.compress(b"".join(line(row) for row in rows[::2]), 1)
    header = struct.pack(">IIBBBBB", (width + 1) // 2, (height + 1) // 2, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def names(colours):
    known = {RED: "red", GREEN: "green", BLUE: "blue", WHITE: "white"}
    return " ".join(known.get(colour, f"{colour:06x}") for colour in colours)


def felt(window, devices):
    """Whether a finger in the middle reaches the window."""
    devices.stdin.write(f"touch {LARGEST_TOUCH // 2} {LARGEST_TOUCH // 2}\nlift\nsleep 0.3\n")
    devices.stdin.flush()
    time.sleep(0.4)
    return bool(window.touched)


def hits(window, devices):
    """The quarter that a finger in each corner of the panel hits."""
    found = []
    for corner in CORNERS:
        window.touched.clear()
        x, y = (round(share * LARGEST_TOUCH) for share in corner)
        devices.stdin.write(f"touch {x} {y}\nlift\n")
        devices.stdin.flush()
        window.until(lambda: window.touched)
        found.append(window.quarter(window.touched[0]) if window.touched else 0)
    return tuple(found)


def written(window, devices):
    """The quarter that a pen in each corner of the panel hits."""
    found = []
    for corner in CORNERS:
        window.pressed.clear()
        x, y = (round(share * LARGEST_TOUCH) for share in corner)
        devices.stdin.write(f"pen {x} {y} 0\nsleep 0.05\npen {x} {y} 600\nsleep 0.05\npen {x} {y} 0\naway\n")
        devices.stdin.flush()
        window.until(lambda: window.pressed)
        found.append(window.quarter(window.pressed[0]) if window.pressed else 0)
    return tuple(found)


def main():
    upbeat, folder = sys.argv[1:]
    tell = lambda *words: subprocess.run([upbeat, "msg", "output", *words], check=True, stdout=subprocess.DEVNULL)
    window, wrong = Quarters(), 0
    devices = subprocess.Popen([os.path.join(os.path.dirname(os.path.abspath(__file__)), "uinput.py")],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    # Repeat, because touches are lost until udev has reported the device, which takes a while.
    if not window.until(lambda: felt(window, devices)):
        sys.exit("no finger is felt")
    # Discard the touches of earlier attempts.
    while select.select([window.display.socket], [], [], SILENCE_SECONDS)[0]:
        window.display.dispatch()
    for turn, expected in ON_PANEL.items():
        for scale in SCALES:
            tell("transform", OUTPUT, turn)
            tell("scale", OUTPUT, scale)
            seen = window.until(lambda: in_corners(*scanned_out()) == expected)
            picture = scanned_out()
            keep(os.path.join(folder, f"turned-{turn}-{scale}.png"), *picture)
            hit, marked = hits(window, devices), written(window, devices)
            right = seen and hit == expected and marked == expected
            wrong += not right
            print(f"     {turn} at {scale}: {names(in_corners(*picture))} seen, {names(hit)} hit, {names(marked)} written"
                  + ("" if right else f", {names(expected)} would be right"), flush=True)
    devices.stdin.close()
    devices.wait()
    sys.exit(f"{wrong} of {len(ON_PANEL) * len(SCALES)} are wrong" if wrong else 0)


main()
