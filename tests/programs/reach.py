"""Checks that pointer, wheel and key events reach a program."""

import os
import re
import time

from session import OUTPUT

EVENTS = {"pointer": r"wl_pointer[@#]\d+\.motion\(", "wheel": r"wl_pointer[@#]\d+\.axis\(", "key": r"wl_keyboard[@#]\d+\.key\("}
PAGE_EVENTS = {"pointer": "pointermove", "wheel": "wheel", "key": "keydown"}


def covers_all(window):
    return window["geometry"]["width"] >= OUTPUT[0] and window["geometry"]["height"] >= OUTPUT[1]


def ready(session, shape):
    """The focused window, once it has the expected size."""
    windows = [window for window in session.windows() if window["geometry"]["width"] > 1 and window["focused"]]
    return windows[0] if windows and covers_all(windows[0]) == (shape != "windowed") else None


def missing(session, program, web, shape):
    """The events that did not reach the program."""
    session.start(program, shape, traffic=True)
    session.wait(f"a {shape} window", lambda: ready(session, shape))
    # Wait, because a browser loads its page after it has mapped its window.
    time.sleep(program.warm_up if program.is_browser else 1.0)
    geometry = ready(session, shape)["geometry"]
    x, y = geometry["x"] + geometry["width"] // 2, geometry["y"] + geometry["height"] // 2
    heard = by_page(web) if program.is_browser else by_traffic(session.log(program.name))
    for words in (("move", str(x - 9), str(y)), ("move", str(x), str(y)), ("scroll", "0", "15"), ("key", "b")):
        session.message("input", *words)
    try:
        session.wait("input", lambda: len(heard()) == len(EVENTS), patience=5.0)
    except TimeoutError:
        pass
    return [event for event in EVENTS if event not in heard()]


def by_traffic(path):
    """Returns a function for the events in the program's protocol log from now on."""
    begun = os.path.getsize(path)

    def heard():
        with open(path, errors="replace") as log:
            log.seek(begun)
            text = log.read()
        return [event for event, pattern in EVENTS.items() if re.search(pattern, text)]
    return heard


def by_page(web):
    """Returns a function for the events that the page reports from now on."""
    before = {name: len(web.told[name]) for name in PAGE_EVENTS.values()}
    return lambda: [event for event, name in PAGE_EVENTS.items() if len(web.told[name]) > before[name]]
