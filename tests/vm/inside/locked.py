#!/usr/bin/env python3
"""Locks the session again and again while animation frames wait for their refreshes, and watches the primary plane
from then on.

    locked.py take ROUNDS       locks this often; prints as JSON when each lock was requested and confirmed, and the plane's content
                                after that, read twice a refresh
    locked.py judge TAKEN FRAMES    checks that locks found frames waiting, and that only the lock was shown after `locked`

Checksums of the scanned-out picture would prove the same, but take vkms longer than a refresh here.
"""

import json
import mmap
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../examples/python"))
import ahead  # noqa: E402
import ipc  # noqa: E402
import planes  # noqa: E402

ahead.PROTOCOLS.append("/usr/share/wayland-protocols/staging/ext-session-lock/ext-session-lock-v1.xml")
# Pause between two readings of the plane: less than half a refresh.
LOOK_SECONDS, LOOKS = 0.007, 40
# As many frames as our animations render ahead.
WAITING = 4


class Locker:
    def __init__(self):
        display = self.display = ahead.Display()
        self.compositor, self.shm = display.bind("wl_compositor", 4), display.bind("wl_shm", 1)
        self.output = display.bind("wl_output", 1)
        self.manager = display.bind("ext_session_lock_manager_v1", 1)
        self.buffers = {}

    def buffer(self, width, height):
        if (width, height) not in self.buffers:
            self.buffers[width, height] = self.fill(width, height)
        return self.buffers[width, height]

    def fill(self, width, height):
        size = width * height * 4
        memory = os.memfd_create("lock")
        os.truncate(memory, size)
        with mmap.mmap(memory, size) as pixels:
            pixels[:] = b"\x00\x00\x60\x00" * (width * height)
        pool = self.shm.create_pool(memory, size)
        os.close(memory)
        return pool.create_buffer(0, width, height, width * 4, self.shm.enum("format", "xrgb8888"))

    def take(self):
        """Locks. Returns the lock, and when it was requested and confirmed."""
        asked, told = time.monotonic_ns(), []
        lock, surface = self.manager.lock(), self.compositor.create_surface()
        lock.on["locked"] = lambda: told.append(time.monotonic_ns())
        lock.on["finished"] = lambda: sys.exit("the lock was refused")
        part = lock.get_lock_surface(surface, self.output)

        def configure(serial, width, height):
            part.ack_configure(serial)
            surface.attach(self.buffer(width, height), 0, 0)
            surface.damage(0, 0, width, height)
            surface.commit()

        part.on["configure"] = configure
        while not told:
            self.display.dispatch()
        return lock, part, surface, asked, told[0]


def look(times):
    """Reads the primary plane's content this often."""
    shown = []
    for _ in range(times):
        shown.append(max(planes.state(), key=planes.area))
        time.sleep(LOOK_SECONDS)
    return shown


def take(rounds):
    session, locker, locks = ipc.Session(), Locker(), []
    for number in range(rounds):
        session.ask("act", action="overview")
        # The animation lasts for a fifth of a second, and frames wait from its second frame on.
        before = look(8 + number)
        lock, part, surface, asked, told = locker.take()
        shown = look(LOOKS)
        locks.append({"asked": asked, "told": told, "until": time.monotonic_ns(), "before": before, "shown": shown})
        lock.unlock_and_destroy()
        part.destroy()
        surface.destroy()
        locker.display.roundtrip()
        time.sleep(0.6)
    print(json.dumps(locks))


def judge(taken, frames):
    with open(taken, encoding="utf-8") as file:
        locks = json.load(file)
    with open(frames, encoding="utf-8") as file:
        frames = [line for line in map(json.loads, file) if line["type"] == "output" and line["submitted"]]
    found = wrong = 0
    for number, lock in enumerate(locks):
        waiting = [line for line in frames if line["submitted"] < lock["asked"] < line["present"]]
        found += len(waiting) >= WAITING
        shown, last = lock["shown"], lock["shown"][-1]
        others = sum(picture != last for picture in shown)
        moved = sum(one != other for one, other in zip(lock["before"], lock["before"][1:]))
        # The frame log must agree.
        after = [line for line in frames if line["presented"] and lock["told"] < line["presented"] < lock["until"]]
        print(f"     lock {number}, told after {(lock['told'] - lock['asked']) / 1e6:.0f} ms: {len(waiting)} frames wait,"
              f" {moved} changes were seen before, of {len(shown)} looks after {others} find another picture,"
              f" {len(after)} frames are shown after it")
        wrong += others > 0 or len(after) > 0 or moved == 0
    sys.exit(0 if wrong == 0 and found >= len(locks) // 4 else f"{found} locks found {WAITING} frames waiting, {wrong} were wrong")


match sys.argv[1:]:
    case ["take", rounds]:
        take(int(rounds))
    case ["judge", taken, frames]:
        judge(taken, frames)
    case _:
        sys.exit(__doc__)
