"""Shows a session while a program allocates without end, and checks that the session ends this program."""

import os
import subprocess
import time

from programs import LINES, Program
from session import HERE, SOCKET, Session

# Seconds between two readings of the list of clients.
PAUSE = 1.5
ENDS_WITHIN = 60.0


def show(arguments, say):
    """Runs a scrolling terminal beside a program that allocates without end. Returns the faults."""
    neighbour = Program("foot", "foot", "foot", ("--override", "initial-window-size-pixels=900x500", "sh", "-c", LINES))
    if not neighbour.installed():
        say(f"skipped: attacked: {neighbour.executable} is not installed")
        return []
    with Session(arguments.upbeat) as session:
        session.start(neighbour)
        session.wait("a terminal", session.windows)
        time.sleep(neighbour.warm_up)
        hungry = session.start(Program("hungry", "", os.path.join(HERE, "hungry")))
        ends = time.monotonic() + ENDS_WITHIN
        while hungry.poll() is None and time.monotonic() < ends:
            say(listed(session))
            time.sleep(PAUSE)
        say(listed(session))
        if arguments.picture:
            session.message("screenshot", os.path.abspath(arguments.picture))
        for name in ("hungry", "upbeat"):
            with open(session.log(name)) as log:
                say(f"{name}: {log.read().strip()}")
        wrong = [] if hungry.poll() is not None else ["attacked: the program was not ended"]
        wrong += [] if session.windows() else ["attacked: the terminal beside it is gone"]
    session.forget()
    return wrong


def listed(session):
    """The list of clients, as a user reads it."""
    environment = dict(session.environment, WAYLAND_DISPLAY=SOCKET)
    return subprocess.run([session.upbeat, "msg", "clients"], env=environment, capture_output=True, text=True, check=True).stdout
