#!/usr/bin/env python3
"""A client of upbeat_late_latch_v1 in plain Python that writes into its window while it is on screen.

    front.py ask                shows a window, asks to share its buffer, and prints the answer: "active" or "inactive REASON"
    front.py write COLOUR...    does the same, then waits for lines on its standard input: after each it writes the next colour (rrggbb)
                                into the shared buffer, commits nothing, and prints the answer: "light" or "missed"
    front.py commit             shows a window; after a line on its standard input commits green and then blue for 16x16 pixels in its middle,
                                and prints "shown" after the callback of the second
    front.py raw DEVICE         without a compositor: writes into a buffer that the device shows, and prints the screen's pixel
                                as it was shown, after the write, and after DIRTYFB
"""

import fcntl
import mmap
import os
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../examples/python"))
import ahead  # noqa: E402
import outside  # noqa: E402

ahead.PROTOCOLS.append(os.path.join(HERE, "../../../protocols/upbeat-late-latch-v1.xml"))
SIDE, EDGE, FIRST = 200, 20, 0xFF0000
SHARED = (EDGE, EDGE, SIDE - 2 * EDGE, SIDE - 2 * EDGE)
MIDDLE = (SIDE // 2 - 8, SIDE // 2 - 8, 16, 16)


class Window:
    """A window whose buffer can be written to."""

    def __init__(self):
        self.display = ahead.Display()
        self.surface = self.buffer = None
        base, compositor = self.display.bind("xdg_wm_base", 1), self.display.bind("wl_compositor", 4)
        shm, manager = self.display.bind("wl_shm", 1), self.display.bind("upbeat_late_latch_manager_v1", 1)
        base.on["ping"] = base.pong
        memory = os.memfd_create("front")
        os.truncate(memory, SIDE * SIDE * 4)
        self.pixels = mmap.mmap(memory, SIDE * SIDE * 4)
        self.pixels[:] = struct.pack("=I", FIRST) * (SIDE * SIDE)
        pool = shm.create_pool(memory, SIDE * SIDE * 4)
        self.buffer = pool.create_buffer(0, SIDE, SIDE, SIDE * 4, shm.enum("format", "xrgb8888"))
        surface, configured = compositor.create_surface(), []
        self.surface = surface
        xdg = base.get_xdg_surface(surface)
        xdg.on["configure"] = lambda serial: (xdg.ack_configure(serial), configured.append(serial))
        xdg.get_toplevel().set_app_id("front")
        surface.commit()
        self.wait(configured)
        self.manager, self.shows = manager, []
        self.commit((0, 0, SIDE, SIDE))

    def commit(self, changed):
        """Shows the changed part (left, top, width, height)."""
        self.shows.clear()
        self.surface.frame().on["done"] = self.shows.append
        self.surface.attach(self.buffer, 0, 0)
        self.surface.damage(*changed)
        self.surface.commit()

    def share(self):
        self.front, self.answers = self.manager.get_front_buffer(self.surface), []
        reasons = {number: name for name, number in self.front.interface.enums["reason"].items()}
        on = self.front.on
        on["active"] = lambda *rest: self.answers.append("active")
        on["inactive"] = lambda serial, reason: self.answers.append(f"inactive {reasons[reason]}")
        on["light"] = lambda *rest: self.answers.append("light")
        on["missed"] = lambda *rest: self.answers.append("missed")
        self.front.share(*SHARED)
        self.commit((0, 0, SIDE, SIDE))

    def wait(self, condition):
        while not condition:
            self.display.dispatch()

    def answer(self):
        self.wait(self.answers)
        print(self.answers.pop(0), flush=True)

    def fill(self, place, colour):
        x, y, width, height = place
        for row in range(y, y + height):
            start = (row * SIDE + x) * 4
            self.pixels[start : start + width * 4] = struct.pack("=I", colour) * width

    def write(self, number, colour):
        self.fill(SHARED, colour)
        self.front.written(number, *SHARED)


def ask():
    """Waits for the end of the window's opening, which is an answer as well."""
    window = Window()
    window.share()
    while not window.answers or window.answers[-1] == "inactive changed":
        window.display.dispatch()
    print(window.answers[-1], flush=True)
    window.answers.clear()
    return window


def write(colours):
    window = ask()
    for number, colour in enumerate(colours):
        if not sys.stdin.readline():
            return
        window.write(number, int(colour, 16))
        window.answer()
    while True:
        window.display.dispatch()


def commit():
    window = Window()
    window.wait(window.shows)
    sys.stdin.readline()
    for colour in (0x00FF00, 0x0000FF):
        window.fill(MIDDLE, colour)
        window.commit(MIDDLE)
        window.wait(window.shows)
        time.sleep(0.05)  # several refreshes
    print("shown", flush=True)
    while True:
        window.display.dispatch()


# --- without a compositor -------------------------------------------------------------------------------------------

# _IOWR('d', nr, struct), as in drm_mode.h
CREATE_DUMB, MAP_DUMB, ADD_FRAMEBUFFER = 0xC02064B2, 0xC01064B3, 0xC01C64AE
RESOURCES, CONNECTOR, CRTC, SET_CRTC, DIRTYFB = 0xC04064A0, 0xC05064A7, 0xC06864A1, 0xC06864A2, 0xC01864B1
CARD_RESOURCES, GET_CONNECTOR = "=4Q8I", "=4Q12I"
MODE_BYTES = 68


def raw(device):
    card = os.open(device, os.O_RDWR)
    crtc, connector, mode = first_route(card)
    width, height = struct.unpack_from("=H", mode, 4)[0], struct.unpack_from("=H", mode, 14)[0]
    made = fcntl.ioctl(card, CREATE_DUMB, struct.pack("=IIIIIIQ", height, width, 32, 0, 0, 0, 0))
    handle, stride, size = struct.unpack("=IIIIIIQ", made)[4:]
    added = fcntl.ioctl(card, ADD_FRAMEBUFFER, struct.pack("=7I", 0, width, height, stride, 32, 24, handle))
    framebuffer = struct.unpack("=7I", added)[0]
    offset = struct.unpack("=IIQ", fcntl.ioctl(card, MAP_DUMB, struct.pack("=IIQ", handle, 0, 0)))[2]
    monitor = outside.Monitor()
    seen = lambda: outside.pixel(monitor.screen(), width // 2, height // 2)  # noqa: E731
    with mmap.mmap(card, size, offset=offset) as pixels:
        pixels[:] = struct.pack("=I", FIRST) * (size // 4)
        connectors = bytearray(struct.pack("=I", connector))
        set_crtc(card, crtc, framebuffer, connectors, mode)
        shown = seen()
        pixels[:] = struct.pack("=I", 0x0000FF) * (size // 4)
        written = seen()
        clip = bytearray(struct.pack("=4H", 0, 0, width, height))
        fcntl.ioctl(card, DIRTYFB, struct.pack("=4IQ", framebuffer, 0, 0, 1, address(clip)))
        print(shown, written, seen())


def address(memory):
    import ctypes

    return ctypes.addressof((ctypes.c_char * len(memory)).from_buffer(memory))


def set_crtc(card, crtc, framebuffer, connectors, mode):
    head = struct.pack("=Q7I", address(connectors), 1, crtc, framebuffer, 0, 0, 0, 1)
    fcntl.ioctl(card, SET_CRTC, head + bytes(mode))


def first_route(card):
    """The first CRTC, the first connector and its first mode."""
    counts = struct.unpack(CARD_RESOURCES, fcntl.ioctl(card, RESOURCES, struct.pack(CARD_RESOURCES, *[0] * 12)))[4:8]
    lists = [bytearray(4 * max(1, count)) for count in counts]
    asked = struct.pack(CARD_RESOURCES, *(address(known) for known in lists), *counts, 0, 0, 0, 0)
    fcntl.ioctl(card, RESOURCES, asked)
    crtc, connector = (struct.unpack_from("=I", lists[kind])[0] for kind in (1, 2))
    # Pointers to encoders, modes, properties and their values; counts of modes, properties and encoders; the encoder, the connector.
    empty = struct.pack("=4Q", 0, 0, 0, 0) + struct.pack("=12I", 0, 0, 0, 0, connector, 0, 0, 0, 0, 0, 0, 0)
    modes = struct.unpack(GET_CONNECTOR, fcntl.ioctl(card, CONNECTOR, empty))[4]
    memory = bytearray(MODE_BYTES * modes)
    full = struct.pack("=4Q", 0, address(memory), 0, 0) + struct.pack("=12I", modes, 0, 0, 0, connector, 0, 0, 0, 0, 0, 0, 0)
    fcntl.ioctl(card, CONNECTOR, full)
    return crtc, connector, memory[:MODE_BYTES]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask"]:
            ask()
        case ["commit"]:
            commit()
        case ["write", *colours]:
            write(colours)
        case ["raw", device]:
            raw(device)
        case _:
            sys.exit(__doc__)
