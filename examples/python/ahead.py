#!/usr/bin/env python3
"""A client of upbeat_frame_pacing_v1 in plain Python: it reads the protocols' XML and writes to the socket itself.

    examples/python/ahead.py [FRAMES]

A bar moves to and fro. The client draws three frames ahead, each for its presentation time. At the middle of the run
the bar turns round, as if the user had pressed a key: the client cancels the waiting frames, and the motion goes on from
the last frame that is shown. At the end the client prints how many frames were shown at their refresh.

Needs wayland.xml (libwayland-dev) and xdg-shell.xml (wayland-protocols). The client never reads a clock: all its times
are times of targets.
"""

import array
import mmap
import os
import socket
import struct
import sys
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOLS = [
    "/usr/share/wayland/wayland.xml",
    "/usr/share/wayland-protocols/stable/xdg-shell/xdg-shell.xml",
    os.path.join(HERE, "../../protocols/upbeat-frame-pacing-v1.xml"),
]

WIDTH, HEIGHT, BAR = 320, 120, 24
AHEAD = 3
BUFFERS = AHEAD + 1  # "one buffer more than this limit"
CROSSING = 1_500_000_000  # nanoseconds from one edge to the other


# --- the wire -------------------------------------------------------------------------------------------------------


class Interface:
    def __init__(self, element):
        self.name = element.get("name")
        self.requests = {r.get("name"): (i, r) for i, r in enumerate(element.findall("request"))}
        self.events = element.findall("event")
        self.enums = {
            e.get("name"): {x.get("name"): int(x.get("value"), 0) for x in e.findall("entry")}
            for e in element.findall("enum")
        }


class Object:
    """A protocol object. Requests are methods; `on` has a handler for each event name."""

    def __init__(self, display, interface, number, version):
        self.display, self.interface, self.number, self.version = display, interface, number, version
        self.on = {}

    def __getattr__(self, name):
        opcode, request = self.interface.requests[name]
        return lambda *arguments: self.display.send(self, opcode, request, arguments)

    def enum(self, enum, entry):
        return self.interface.enums[enum][entry]


class Display:
    def __init__(self):
        self.interfaces = {}
        for path in PROTOCOLS:
            for element in xml.parse(path).getroot().findall("interface"):
                self.interfaces[element.get("name")] = Interface(element)
        name = os.environ.get("WAYLAND_DISPLAY", "wayland-0")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], name))
        self.buffer, self.objects, self.next = b"", {}, 1
        self.display = self.make("wl_display", 1)
        self.display.on["error"] = self.failed
        self.display.on["delete_id"] = lambda number: self.objects.pop(number, None)
        self.globals = {}
        self.registry = self.display.get_registry()
        self.registry.on["global"] = lambda number, name, version: self.globals.update({name: (number, version)})
        self.roundtrip()

    def failed(self, number, code, message):
        raise SystemExit(f"protocol error {code} of object {number}: {message}")

    def make(self, name, version):
        made = Object(self, self.interfaces[name], self.next, version)
        self.objects[self.next] = made
        self.next += 1
        return made

    def send(self, target, opcode, request, arguments):
        body, descriptors, made, arguments = b"", [], None, list(arguments)
        for argument in request.findall("arg"):
            kind = argument.get("type")
            if kind == "new_id":
                name = argument.get("interface")
                if name is None:  # wl_registry.bind
                    name, version = arguments.pop(0), arguments.pop(0)
                    body += string(name) + struct.pack("=I", version)
                else:
                    version = target.version
                made = self.make(name, version)
                body += struct.pack("=I", made.number)
                continue
            value = arguments.pop(0)
            if kind == "fd":
                descriptors.append(value)
            elif kind == "object":
                body += struct.pack("=I", value.number if value else 0)
            elif kind == "string":
                body += string(value)
            else:
                body += struct.pack("=i" if kind == "int" else "=I", value)
        message = struct.pack("=II", target.number, (8 + len(body)) << 16 | opcode) + body
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.socket.sendmsg([message], ancillary)
        return made

    def bind(self, name, version):
        if name not in self.globals:
            raise SystemExit(f"the compositor does not have {name}")
        number, offered = self.globals[name]
        return self.registry.bind(number, name, min(version, offered))

    def dispatch(self):
        """Waits for events and calls their handlers."""
        data = self.socket.recv(65536)
        if not data:
            raise SystemExit("the compositor hung up")
        self.buffer += data
        while len(self.buffer) >= 8:
            number, head = struct.unpack_from("=II", self.buffer)
            length, opcode = head >> 16, head & 0xFFFF
            if len(self.buffer) < length:
                return
            body, self.buffer = self.buffer[8:length], self.buffer[length:]
            if number in self.objects:
                self.handle(self.objects[number], opcode, body)

    def handle(self, target, opcode, body):
        event, values, at = target.interface.events[opcode], [], 0
        for argument in event.findall("arg"):
            kind = argument.get("type")
            if kind in ("string", "array"):
                (length,) = struct.unpack_from("=I", body, at)
                raw = body[at + 4 : at + 4 + length]
                values.append(raw[:-1].decode() if kind == "string" else raw)
                at += 4 + (length + 3) // 4 * 4
            else:
                (value,) = struct.unpack_from("=i" if kind == "int" else "=I", body, at)
                values.append(value)
                at += 4
        if event.get("name") in target.on:
            target.on[event.get("name")](*values)

    def roundtrip(self):
        done = []
        self.display.sync().on["done"] = done.append
        while not done:
            self.dispatch()


def string(text):
    raw = text.encode() + b"\0"
    return struct.pack("=I", len(raw)) + raw + b"\0" * (-len(raw) % 4)


# --- frame pacing ---------------------------------------------------------------------------------------------------


def join(high, low):
    return high << 32 | low


def nanos(sec_hi, sec_lo, nsec):
    return join(sec_hi, sec_lo) * 1_000_000_000 + nsec


class Animation:
    """The bar's position at a time, from a start position and a direction."""

    def __init__(self, place, since, direction):
        self.place, self.since, self.direction = place, since, direction

    def at(self, present):
        place = self.place + self.direction * (present - self.since) / CROSSING
        return 1 - abs(place % 2 - 1)

    def turned(self, present):
        place = self.place + self.direction * (present - self.since) / CROSSING
        return Animation(place, present, -self.direction)


class Window:
    def __init__(self, frames):
        self.wanted = frames
        display = self.display = Display()
        shm, base = display.bind("wl_shm", 1), display.bind("xdg_wm_base", 1)
        base.on["ping"] = base.pong
        manager = display.bind("upbeat_frame_pacing_manager_v1", 1)
        self.surface = display.bind("wl_compositor", 4).create_surface()
        xdg = base.get_xdg_surface(self.surface)
        xdg.on["configure"] = lambda serial: (xdg.ack_configure(serial), setattr(self, "configured", True))
        toplevel = xdg.get_toplevel()
        toplevel.set_title("ahead")
        toplevel.set_app_id("upbeat-ahead-python")
        toplevel.on["close"] = lambda: setattr(self, "closed", True)
        self.configured = self.closed = False
        self.make_buffers(shm)

        self.targets = []  # targets without a frame: (id, present, interval)
        self.waiting = {}  # committed frames: id -> (present, interval, animation)
        self.expected = 0  # number of targets that the compositor still has to send
        self.animation, self.last = None, None
        self.cancelling, self.turned = None, False
        self.committed = self.shown = self.on_time = self.discarded = self.cancelled = 0

        pacing = self.pacing = manager.get_frame_pacing(self.surface)
        for event in ("target", "revoked", "cancelled", "presented", "discarded", "effective"):
            pacing.on[event] = getattr(self, "on_" + event)
        pacing.set_pacing(pacing.enum("pacing", "ahead"))
        pacing.set_ahead_limit(AHEAD)
        self.surface.commit()
        while not self.configured:
            display.dispatch()

    def make_buffers(self, shm):
        size = WIDTH * HEIGHT * 4
        memory = os.memfd_create("ahead")
        os.truncate(memory, size * BUFFERS)
        self.pixels = mmap.mmap(memory, size * BUFFERS)
        pool = shm.create_pool(memory, size * BUFFERS)
        self.buffers, self.free = [], list(range(BUFFERS))
        for index in range(BUFFERS):
            buffer = pool.create_buffer(index * size, WIDTH, HEIGHT, WIDTH * 4, shm.enum("format", "xrgb8888"))
            buffer.on["release"] = lambda index=index: self.free.append(index)
            self.buffers.append(buffer)
        pool.destroy()

    # Events

    def on_effective(self, pacing, ahead, min_buffers, reason):
        print(f"pacing {pacing}, {ahead} ahead with {min_buffers} buffers, reason {reason}", file=sys.stderr)

    def on_target(self, id_hi, id_lo, sec_hi, sec_lo, nsec, ready_by, interval, frames_ahead):
        self.expected = max(0, self.expected - 1)
        self.targets.append((join(id_hi, id_lo), nanos(sec_hi, sec_lo, nsec), interval))

    def on_revoked(self, id_hi, id_lo, reason):
        first = join(id_hi, id_lo)
        kept = [target for target in self.targets if target[0] < first]
        self.expected += len(self.targets) - len(kept)  # the compositor replaces them without a request
        self.targets = kept

    def on_presented(self, id_hi, id_lo, sec_hi, sec_lo, nsec, margin, path):
        present, interval, animation = self.waiting.pop(join(id_hi, id_lo))
        self.last = (present, animation)
        self.shown += 1
        self.on_time += abs(nanos(sec_hi, sec_lo, nsec) - present) < interval / 2

    def on_discarded(self, id_hi, id_lo, reason):
        del self.waiting[join(id_hi, id_lo)]
        self.discarded += 1
        self.cancelled += reason == self.pacing.enum("discard_reason", "cancelled")

    def on_cancelled(self, id_hi, id_lo):
        first = join(id_hi, id_lo)
        # The last frame that is kept: a waiting frame, or else the last presented frame.
        kept = [frame for number, frame in sorted(self.waiting.items()) if number < first]
        present, animation = (kept[-1][0], kept[-1][2]) if kept else self.last
        self.animation = animation.turned(present)
        self.cancelling = None

    # Drawing

    def turn_round(self):
        """Turns as if after a key press: the waiting frames show the old direction."""
        self.turned = True
        first = min(self.waiting, default=None)
        if first is None:
            self.animation = self.animation.turned(self.last[0])
            return
        self.cancelling = first
        self.pacing.cancel_from(first >> 32, first & 0xFFFFFFFF)

    def draw(self, index, present):
        left = int(self.animation.at(present) * (WIDTH - BAR))
        ground, bar = b"\x40\x30\x20\xff", b"\x40\xb0\xe0\xff"
        row = ground * left + bar * BAR + ground * (WIDTH - BAR - left)
        self.pixels[index * len(row) * HEIGHT : (index + 1) * len(row) * HEIGHT] = row * HEIGHT

    def work(self):
        while self.committed < self.wanted and self.cancelling is None:
            if not self.targets:
                if self.expected == 0:
                    self.pacing.request_target()
                    self.expected = 1
                return
            if not self.free:
                return
            number, present, interval = self.targets.pop(0)
            if self.animation is None:
                self.animation = Animation(0, present, 1)
            index = self.free.pop(0)
            self.draw(index, present)
            self.surface.attach(self.buffers[index], 0, 0)
            self.surface.damage_buffer(0, 0, WIDTH, HEIGHT)
            self.pacing.bind(number >> 32, number & 0xFFFFFFFF)
            self.surface.commit()
            self.waiting[number] = (present, interval, self.animation)
            self.committed += 1

    def run(self):
        while not self.closed and self.shown + self.discarded < self.wanted:
            self.work()
            self.display.dispatch()
            if not self.turned and self.shown > self.wanted // 2:
                self.turn_round()
        print(
            f"{self.committed} frames: {self.shown} shown, {self.on_time} of them at their refresh,"
            f" {self.discarded} discarded, {self.cancelled} of them cancelled"
        )


if __name__ == "__main__":
    if "-h" in sys.argv or "--help" in sys.argv:
        raise SystemExit(__doc__)
    Window(int(sys.argv[1]) if len(sys.argv) > 1 else 600).run()
