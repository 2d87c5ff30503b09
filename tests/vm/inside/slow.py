#!/usr/bin/env python3
"""Runs a slow driver on one display while an animation runs on another: slow.py FRAMES.jsonl MOST MOST_PLUGGED

Changes the mode of Virtual-1, turns it off and on, unplugs it and plugs it in, each of which takes the driver
SLOW_MODESET_MS with its locks held, and then makes its flips take SLOW_FLIP_MS each. Prints the refreshes without a new frame
that each step cost Virtual-2, and exits with 1 if a step cost more than MOST, or a hotplug more than MOST_PLUGGED.

It runs at the lowest priority, because the only CPU is emulated.
"""

import os
import pathlib
import sys
import time

import ipc
import lost

PARAMETERS = pathlib.Path("/sys/module/vkms/parameters")
OUTPUT, OTHER = "Virtual-1", "Virtual-2"
SLOW_MODESET_MS = 300
SLOW_FLIP_MS = 40
# Seconds from the beginning of each step that are checked: longer than two modesets.
SECONDS = 1
# The log is written ten times a second.
LOG_SECONDS = 0.5


class Session(ipc.Session):
    def mode(self, mode):
        self.ask("set-mode", output=OUTPUT, mode=f"{mode}@60")

    def power(self, on):
        self.ask("set-power", output=OUTPUT, on=on)


def plug(there):
    connector = next(pathlib.Path("/sys/class/drm").glob(f"card*-{OUTPUT}"))
    (connector / "status").write_text("on" if there else "off", encoding="ascii")
    pathlib.Path("/sys/class/drm/card0/uevent").write_text("change", encoding="ascii")


def driver(**parameters):
    for name, value in parameters.items():
        (PARAMETERS / name).write_text(str(value), encoding="ascii")


def nothing():
    pass


def steps(session):
    yield "nothing", nothing
    driver(modeset_sleep_ms=SLOW_MODESET_MS)
    for mode in ("800x600", "640x480") * 3:
        yield f"mode {mode}", lambda: session.mode(mode)
    for _ in range(3):
        yield "off", lambda: session.power(False)
        yield "on", lambda: session.power(True)
        yield "unplugged", lambda: plug(False)
        yield "plugged in", lambda: plug(True)
    driver(modeset_sleep_ms=0, sleep_crtc=0, flip_sleep_ms=SLOW_FLIP_MS)
    for _ in range(2):
        yield "slow flips", nothing
    driver(flip_sleep_ms=0, sleep_crtc=-1)


def main():
    path, most, most_plugged = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.nice(19)
    session, times = Session(), []
    for text, act in steps(session):
        start = time.monotonic()
        act()
        time.sleep(SECONDS)
        times.append((text, start, time.monotonic()))
    time.sleep(LOG_SECONDS)
    lines, kept = lost.read(path), True
    for text, start, end in times:
        cost, shown, late = lost.count(lines, OTHER, start, end)
        own = lost.count(lines, OUTPUT, start, end)[0]
        print(f"     {text}: {cost} lost, {shown} shown, late {late}; {own} of its own")
        kept = kept and cost <= (most_plugged if "plugged" in text else most)
    sys.exit(0 if kept else 1)


main()
