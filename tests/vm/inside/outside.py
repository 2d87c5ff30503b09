#!/usr/bin/env python3
"""Inside the guest: the screen of its virtio-gpu as it is seen from outside, by QEMU.

    outside.py pixel X Y        prints that pixel as rrggbb
    outside.py picture PNG      writes all of it to a file
"""

import json
import os
import struct
import sys
import termios
import time
import tty
import zlib

# QEMU's monitor, and the folder that both sides see (guest.d/run.sh).
MONITOR, SHARED = "/dev/ttyS1", "/run/upbeat-guest"


class Monitor:
    def __init__(self):
        self.port = os.open(MONITOR, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.port)
        settings = termios.tcgetattr(self.port)
        # `read` returns at once. The guest must not sleep until the answer comes: its clock would jump from timer to timer, since
        # the host's work is not counted. The time limit of the whole guest ends a wait for a monitor that is gone.
        settings[6][termios.VMIN], settings[6][termios.VTIME] = 0, 0
        termios.tcsetattr(self.port, termios.TCSANOW, settings)
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        # The terminal echoes what comes before it is raw. The monitor takes that for commands, and answers them with errors, which
        # have no id.
        name = str(time.monotonic_ns())
        os.write(self.port, json.dumps({"execute": command, "arguments": arguments, "id": name}).encode() + b"\n")
        lines = b""
        while True:
            lines += os.read(self.port, 4096)
            # The greeting, or a part of it, and events come before the answer.
            for line in lines.split(b"\n")[:-1]:
                # An earlier program has switched the monitor on already: then this command is unknown.
                if name.encode() not in line or b'"execute"' in line:
                    continue
                if b'"return"' in line or b"CommandNotFound" in line:
                    return
                if b'"error"' in line:
                    sys.exit(f"the monitor refuses {command}: {line.decode()}")

    def screen(self):
        """Width, height and the bytes of the screen, three a pixel."""
        with open(f"{SHARED}/host-path", encoding="utf-8") as file:
            folder = file.read().strip()
        name = f"screen-{time.monotonic_ns()}.ppm"
        self.ask("screendump", filename=f"{folder}/{name}")
        with open(f"{SHARED}/{name}", "rb") as file:
            kind, size, _, pixels = file.read().split(b"\n", 3)
        if kind != b"P6":
            sys.exit(f"the screen comes as {kind}")
        width, height = (int(side) for side in size.split())
        return width, height, pixels


def pixel(screen, x, y):
    width, height, pixels = screen
    if not (0 <= x < width and 0 <= y < height):
        sys.exit(f"({x}, {y}) does not lie on the screen of {width}x{height}")
    return pixels[(y * width + x) * 3 :][:3].hex()


def write(screen, path):
    width, height, pixels = screen
    rows = b"".join(b"\0" + pixels[row * width * 3 : (row + 1) * width * 3] for row in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["pixel", x, y]:
            print(pixel(Monitor().screen(), int(x), int(y)))
        case ["picture", path]:
            write(Monitor().screen(), path)
        case _:
            sys.exit(__doc__)
