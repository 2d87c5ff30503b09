#!/usr/bin/env python3
"""An animated program that measures when its first frame and the frames after it are presented.

    frames.py [--output NAME] [--seconds S] [--refreshes R]

Opens a window (in the middle of the output NAME if given, since only a fullscreen window may choose its output), draws a
frame after each callback for S seconds, and requests presentation feedback for each. Prints the results, and exits with 1 if the
first frame was presented later than R refreshes after its commit, or if fewer than SEEN_SHARE of the refreshes in that time showed
a new frame.
"""

import argparse
import mmap
import os
import select
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/python"))
import ahead  # noqa: E402

ahead.PROTOCOLS.append("/usr/share/wayland-protocols/stable/presentation-time/presentation-time.xml")
# Smallest share of refreshes with a new frame.
SEEN_SHARE = 0.95
# Size of the damage; the content does not matter.
PATCH = 64
SIZE = (256, 256)
# Timeout for the first frame.
PATIENCE_SECONDS = 10
HZ = 60


class Window:
    """A small window with two buffers of one colour each: on an emulated CPU a whole screen takes several refreshes."""

    def __init__(self, app_id, output=None):
        display = self.display = ahead.Display()
        shm, self.base = display.bind("wl_shm", 1), display.bind("xdg_wm_base", 1)
        self.base.on["ping"] = self.base.pong
        self.surface = display.bind("wl_compositor", 4).create_surface()
        self.xdg = self.base.get_xdg_surface(self.surface)
        configured = []
        self.xdg.on["configure"] = lambda serial: (self.xdg.ack_configure(serial), configured.append(serial))
        self.toplevel = self.xdg.get_toplevel()
        self.toplevel.set_app_id(app_id)
        if output:
            self.toplevel.set_fullscreen(output_called(display, output))
        self.surface.commit()
        while not configured:
            display.dispatch()
        self.buffers = self.make_buffers(shm)
        self.drawn = 0

    def make_buffers(self, shm):
        width, height = SIZE
        length = width * height * 4
        memory = os.memfd_create("frames")
        os.truncate(memory, 2 * length)
        pixels = mmap.mmap(memory, 2 * length)
        pixels[:] = b"\x40" * length + b"\xa0" * length
        pool = shm.create_pool(memory, 2 * length)
        return [pool.create_buffer(index * length, width, height, width * 4, shm.enum("format", "xrgb8888"))
                for index in range(2)]

    def draw(self):
        """Prepares the next frame, without its commit."""
        self.surface.attach(self.buffers[self.drawn % 2], 0, 0)
        self.surface.damage_buffer(0, 0, PATCH, PATCH)
        self.drawn += 1


def output_called(display, name):
    found, registry = [], display.display.get_registry()

    def bind(number, kind, version):
        if kind == "wl_output":
            output = registry.bind(number, kind, min(version, 4))
            output.on["name"] = lambda said: found.append(output) if said == name else None
    registry.on["global"] = bind
    display.roundtrip()
    display.roundtrip()
    if not found:
        sys.exit(f"frames.py: there is no output called {name}")
    return found[0]


class Animation:
    def __init__(self, window, seconds, refreshes):
        self.window, self.seconds, self.refreshes = window, seconds, refreshes
        self.presentation = window.display.bind("wp_presentation", 1)
        self.commits, self.seen, self.discarded = [], {}, 0

    def frame(self, _time=0):
        if self.commits and time.monotonic() > self.commits[0] + self.seconds:
            return
        self.window.draw()
        self.window.surface.frame().on["done"] = self.frame
        number = len(self.commits)
        feedback = self.presentation.feedback(self.window.surface)
        feedback.on["presented"] = lambda high, low, nanos, *_: self.seen.update(
            {number: ahead.nanos(high, low, nanos) / 1e9})
        feedback.on["discarded"] = self.discard
        self.commits.append(time.monotonic())
        self.window.surface.commit()

    def discard(self):
        self.discarded += 1

    def run(self):
        self.frame()
        deadline = self.commits[0] + max(self.seconds + 1, PATIENCE_SECONDS)
        while self.is_going_on() and time.monotonic() < deadline:
            if select.select([self.window.display.socket], [], [], 0.1)[0]:
                self.window.display.dispatch()

    def is_going_on(self):
        over = time.monotonic() > self.commits[0] + self.seconds
        return not (over and len(self.seen) + self.discarded == len(self.commits))

    def verdict(self):
        first = (self.seen[0] - self.commits[0]) * HZ if 0 in self.seen else None
        end = self.commits[0] + self.seconds
        in_time = sum(when <= end for when in self.seen.values())
        said = "not seen" if first is None else f"seen {first:.2f} refreshes after its commit"
        print(f"     the first frame was {said}; {len(self.seen)} of {len(self.commits)} frames were, "
              f"{in_time} of them in {self.seconds} s")
        return first is not None and first <= self.refreshes and in_time >= SEEN_SHARE * HZ * self.seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output")
    parser.add_argument("--seconds", type=float, default=2.5)
    parser.add_argument("--refreshes", type=float, default=2)
    options = parser.parse_args()
    animation = Animation(Window("frames", options.output), options.seconds, options.refreshes)
    animation.run()
    sys.exit(0 if animation.verdict() else 1)


if __name__ == "__main__":
    main()
