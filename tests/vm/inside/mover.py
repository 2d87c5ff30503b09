#!/usr/bin/env python3
"""Moves a session's pointer, over its private socket.

    mover.py about X Y SECONDS              around a place, for this long
    mover.py drag X Y TO_X TO_Y             from one place to another, with Super and the left button held
"""

import itertools
import sys
import time

import ipc

# More often than displays refresh, as mice do.
STEP_SECONDS = 0.008
REACH = 40
DRAG_STEPS = 50
SUPER, LEFT = 125, 272


def about(session, x, y, seconds):
    until = time.monotonic() + seconds
    for step in itertools.count():
        if time.monotonic() > until:
            return
        session.input("pointer-move", x=x + step % REACH, y=y + step % REACH)
        time.sleep(STEP_SECONDS)


def drag(session, x, y, to_x, to_y):
    session.input("pointer-move", x=x, y=y)
    session.input("key", key=SUPER, pressed=True)
    session.input("button", button=LEFT, pressed=True)
    for step in range(1, DRAG_STEPS + 1):
        time.sleep(STEP_SECONDS)
        share = step / DRAG_STEPS
        session.input("pointer-move", x=x + (to_x - x) * share, y=y + (to_y - y) * share)
    session.input("button", button=LEFT, pressed=False)
    session.input("key", key=SUPER, pressed=False)


def main():
    {"about": about, "drag": drag}[sys.argv[1]](ipc.Session(), *map(float, sys.argv[2:]))


main()
