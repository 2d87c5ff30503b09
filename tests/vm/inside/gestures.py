#!/usr/bin/env python3
"""A client of zwp_pointer_gestures_v1: shows a grey window and prints each gesture when it is over.

    gestures.py         one line a gesture: "swipe of 3 fingers, 20 updates, right", "pinch of 2 fingers, 20 updates, 2.1 times"
"""

import mmap
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/python"))
import ahead  # noqa: E402

ahead.PROTOCOLS.append("/usr/share/wayland-protocols/unstable/pointer-gestures/pointer-gestures-unstable-v1.xml")
SIDE = 400


def fixed(value):
    """A wl_fixed, which the reader takes for an unsigned word."""
    return (value - (1 << 32) if value >> 31 else value) / 256


class Gestures:
    def __init__(self):
        display = self.display = ahead.Display()
        self.show()
        pointer = display.bind("wl_seat", 1).get_pointer()
        gestures = display.bind("zwp_pointer_gestures_v1", 1)
        swipe, pinch = gestures.get_swipe_gesture(pointer), gestures.get_pinch_gesture(pointer)
        swipe.on.update({"begin": self.begin, "update": self.swiped, "end": lambda *end: self.end("swipe", *end)})
        pinch.on.update({"begin": self.begin, "update": self.pinched, "end": lambda *end: self.end("pinch", *end)})

    def show(self):
        display = self.display
        shm, base = display.bind("wl_shm", 1), display.bind("xdg_wm_base", 1)
        base.on["ping"] = base.pong
        surface = display.bind("wl_compositor", 4).create_surface()
        xdg = base.get_xdg_surface(surface)
        configured = []
        xdg.on["configure"] = lambda serial: (xdg.ack_configure(serial), configured.append(serial))
        xdg.get_toplevel().set_app_id("gestures")
        surface.commit()
        while not configured:
            display.dispatch()
        memory = os.memfd_create("gestures")
        os.truncate(memory, SIDE * SIDE * 4)
        mmap.mmap(memory, SIDE * SIDE * 4)[:] = b"\x80" * (SIDE * SIDE * 4)
        pool = shm.create_pool(memory, SIDE * SIDE * 4)
        surface.attach(pool.create_buffer(0, SIDE, SIDE, SIDE * 4, shm.enum("format", "xrgb8888")), 0, 0)
        surface.damage_buffer(0, 0, SIDE, SIDE)
        surface.commit()

    def begin(self, serial, when, surface, fingers):
        self.fingers, self.updates, self.x, self.y, self.scale = fingers, 0, 0, 0, 1

    def swiped(self, when, x, y):
        self.updates, self.x, self.y = self.updates + 1, self.x + fixed(x), self.y + fixed(y)

    def pinched(self, when, x, y, scale, rotation):
        self.updates, self.scale = self.updates + 1, fixed(scale)

    def end(self, kind, serial, when, cancelled):
        across = ("left", "right")[self.x > 0] if abs(self.x) > abs(self.y) else ("up", "down")[self.y > 0]
        what = across if kind == "swipe" else f"{self.scale:.1f} times"
        ending = ", cancelled" if cancelled else ""
        print(f"{kind} of {self.fingers} fingers, {self.updates} updates, {what}{ending}", flush=True)


def main():
    gestures = Gestures()
    while True:
        gestures.display.dispatch()


if __name__ == "__main__":
    main()
