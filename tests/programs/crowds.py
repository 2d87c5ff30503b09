"""Groups of programs that users have open at a time, with many windows, tabs and menus, and input for them."""

import dataclasses
import os
import random
import time

from programs import LINES, SDL, Program, chromium, firefox
from session import HERE

TABS = 30
# Input for a program, as arguments of `upbeat msg input`. "wait" waits for a popup. "more" waits for a new window; the input
# after it goes to that window.
PLAIN = (("key", "f10"), ("key", "escape"), ("scroll", "0", "45"), ("scroll", "0", "-45"), ("key", "tab"), ("key", "down"))
# For programs that quit at Escape.
SHORT = ((("scroll", "0", "45"),), (("key", "down"),), (("button", "left"),), (("button", "right"),))
MENU = (("button", "right"), ("wait",), ("key", "escape"))
CLICK = (("button", "left"),)
BROWSER = (
    (("key", "ctrl+tab"),), (("key", "ctrl+t"), ("wait",), ("key", "ctrl+w")), (("key", "ctrl+n"), ("more",), ("key", "ctrl+shift+w")),
    (("key", "alt+f"), ("wait",), ("key", "escape")), (("key", "ctrl+f"), ("key", "a"), ("key", "escape")), (("key", "pagedown"),),
    (("key", "home"), ("wait",), ("button", "left"), ("wait",), ("key", "escape")),
)


@dataclasses.dataclass
class Crowd:
    name: str
    programs: list
    # Sequences of input, played one after another at random places.
    deeds: tuple
    # Programs are also ended and started again.
    restarts: bool = True


def all_of(web):
    """All crowds by their names."""
    tabs = [web.heavy(tab) for tab in range(TABS)]
    deeds = tuple((words,) for words in PLAIN) + (MENU, CLICK)
    qml = "/usr/lib/qt6/bin/qml"
    weston = ("flower", "subsurfaces", "stacking", "editor", "dnd", "smoke", "clickdot", "eventdemo", "terminal", "simple-damage")
    gtk = (("gtk4-demo", ()), ("gtk4-demo", ("--run=fishbowl",)), ("gtk4-demo", ("--run=listview_colors",)),
           ("gtk4-widget-factory", ()), ("gtk4-icon-browser", ()), ("gtk4-node-editor", ()))
    crowds = [
        Crowd("Firefox, 30 tabs", [Program("firefox", "firefox-esr", "firefox-esr", special=firefox(*tabs), warm_up=30.0)],
              BROWSER + (MENU, CLICK, (PLAIN[2],)), restarts=False),
        Crowd("Chromium, 30 tabs", [Program("chromium", "chromium", "chromium", special=chromium(*tabs), warm_up=30.0)],
              BROWSER + (MENU, CLICK, (PLAIN[2],)), restarts=False),
        Crowd("GTK 4", [Program(f"gtk {number}", "gtk-4-examples", name, words) for number, (name, words) in enumerate(gtk)], deeds),
        Crowd("Qt", [Program("qt", "qml-qt6", qml, (os.path.join(HERE, "windows.qml"), "--", "20"),
                             environment={"QT_QUICK_BACKEND": "software"})], deeds),
        Crowd("SDL 2", [Program(f"sdl {name}", "libsdl2-tests", SDL + name, ("--windows", "4", "--resizable"))
                        for name in ("testdraw2", "testsprite2", "testwm2", "testgl2")], SHORT),
        Crowd("mpv", [Program(f"mpv {rate}", "mpv", "mpv", ("--no-config", "--no-audio", "--no-terminal", "--vo=wlshm",
                                                              f"av://lavfi:testsrc=size=1280x720:rate={rate}"))
                      for rate in (24, 30, 60)], deeds),
        Crowd("foot, 13 windows", [
            Program("foot server", "foot", "foot", ("--server=foot.socket",), warm_up=1.0),
            *(Program(f"foot {number}", "foot", "footclient", ("--server-socket=foot.socket", "sh", "-c", LINES), warm_up=0.2)
              for number in range(13))], deeds),
        Crowd("glmark2", [Program(f"glmark2 {number}", "glmark2-es2-wayland", "glmark2-es2-wayland", ("--run-forever",))
                          for number in range(2)], SHORT),
        Crowd("Weston's", [Program(f"weston {name}", "weston", f"weston-{name}", warm_up=0.5) for name in weston], deeds),
    ]
    return {crowd.name: crowd for crowd in crowds}


def play(session, crowd, seconds, look):
    """Plays input in a session for `seconds`, with a fixed seed; `look` is called about once a second."""
    chance = random.Random(crowd.name)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        place = somewhere(session, chance)
        if place is None:
            break
        session.message("input", "move", *place)
        do(session, chance.choice(crowd.deeds))
        time.sleep(0.3)
        if crowd.restarts and chance.random() < 0.1:
            restart(session, crowd, chance)
        look()


def do(session, deed):
    before = len(session.windows())
    for words in deed:
        if words == ("wait",):
            time.sleep(0.4)
        elif words == ("more",):
            try:
                session.wait("another window", lambda: len(session.windows()) > before)
            except TimeoutError:
                return
            time.sleep(1.0)
        else:
            session.message("input", *words)


def somewhere(session, chance):
    """A place in one of the windows, away from its close button."""
    windows = [window["geometry"] for window in session.windows() if window["geometry"]["width"] > 1]
    if not windows:
        return None
    window = chance.choice(windows)
    return (str(window["x"] + int(window["width"] * chance.uniform(0.1, 0.8))),
            str(window["y"] + int(window["height"] * chance.uniform(0.3, 0.9))))


def restart(session, crowd, chance):
    """Ends a program and starts it again; never the first, because other programs may need it."""
    if len(crowd.programs) < 2:
        return
    place = chance.randrange(1, len(crowd.programs))
    session.end(session.programs[place])
    child = session.start(crowd.programs[place])
    session.programs.remove(child)
    session.programs[place] = child
    time.sleep(crowd.programs[place].warm_up)
