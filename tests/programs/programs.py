"""The programs: their command lines and Debian packages."""

import dataclasses
import os
import shutil

from session import HERE

SHAPES = ("windowed", "maximised", "fullscreen")
SDL = "/usr/libexec/installed-tests/SDL2/"
# Firefox shows no start page and asks no question.
FIREFOX_SETTINGS = {
    "browser.aboutwelcome.enabled": "false", "browser.shell.checkDefaultBrowser": "false",
    "datareporting.policy.dataSubmissionEnabled": "false", "toolkit.telemetry.reportingpolicy.firstRun": "false",
    "app.normandy.enabled": "false", "network.captive-portal-service.enabled": "false", "media.autoplay.default": "0",
}
# A terminal that scrolls for five seconds, and then idles.
SCROLL = 'for i in $(seq 250); do seq 200; sleep .02; done; sleep 10000'
LINES = 'while :; do echo "a line that scrolls by"; sleep .01; done'


@dataclasses.dataclass
class Program:
    name: str
    package: str
    executable: str
    # Arguments, and additional arguments for a maximised and a fullscreen window; None: not possible.
    arguments: tuple = ()
    maximised: tuple | None = ()
    fullscreen: tuple | None = ()
    environment: dict = dataclasses.field(default_factory=dict)
    # A function for the whole command instead: (folder, shape) -> words.
    special: object = None
    is_browser: bool = False
    # Seconds until the program is ready.
    warm_up: float = 4.0

    def installed(self):
        return shutil.which(self.executable) is not None

    def shapes(self):
        given = {"windowed": (), "maximised": self.maximised, "fullscreen": self.fullscreen}
        return [shape for shape in SHAPES if given[shape] is not None]

    def command(self, folder, shape):
        if self.special:
            return self.special(folder, shape)
        extra = {"windowed": (), "maximised": self.maximised, "fullscreen": self.fullscreen}[shape]
        return [self.executable, *self.arguments, *extra]


def firefox(*addresses):
    def command(folder, shape):
        profile = os.path.join(folder, "firefox")
        os.makedirs(profile, exist_ok=True)
        with open(os.path.join(profile, "user.js"), "w") as file:
            file.writelines(f'user_pref("{name}", {value});\n' for name, value in FIREFOX_SETTINGS.items())
        if shape == "maximised":
            with open(os.path.join(profile, "xulstore.json"), "w") as file:
                file.write('{"chrome://browser/content/browser.xhtml": {"main-window": {"sizemode": "maximized"}}}')
        extra = {"windowed": ["--width", "800", "--height", "600"], "maximised": [], "fullscreen": ["--kiosk"]}[shape]
        return ["firefox-esr", "--no-remote", "--profile", profile, *extra, *addresses]
    return command


def chromium(*addresses):
    def command(folder, shape):
        extra = {"windowed": "--window-size=800,600", "maximised": "--start-maximized", "fullscreen": "--start-fullscreen"}
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        return ["chromium", *root, "--ozone-platform=wayland", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--autoplay-policy=no-user-gesture-required",
                f"--user-data-dir={os.path.join(folder, 'chromium')}", extra[shape], *addresses]
    return command


def mpv(rate):
    return Program(f"mpv {rate}", "mpv", "mpv",
                   ("--no-config", "--no-audio", "--no-terminal", "--loop", "--vo=wlshm",
                    f"av://lavfi:testsrc=size=320x240:rate={rate}"), ("--window-maximized=yes",), ("--fs",))


def all_of(web):
    """All programs, by their names."""
    page = web.page("animate", "scroll", "video")
    foot = ("--override", "initial-window-size-pixels=600x400")
    programs = [
        Program("firefox", "firefox-esr", "firefox-esr", special=firefox(page), is_browser=True, warm_up=10.0),
        Program("chromium", "chromium", "chromium", special=chromium(page), is_browser=True, warm_up=8.0),
        # Its window can be resized, but not by an argument or a key.
        Program("gtk4 fishbowl", "gtk-4-examples", "gtk4-demo", ("--run=fishbowl",), None, None, warm_up=10.0),
        Program("qt", "qml-qt6", "/usr/lib/qt6/bin/qml", (os.path.join(HERE, "moving.qml"), "--"), ("maximised",), ("fullscreen",),
                {"QT_QUICK_BACKEND": "software"}),
        mpv(24), mpv(30), mpv(60),
        Program("sdl testdraw2", "libsdl2-tests", SDL + "testdraw2", ("--vsync", "--resizable"), ("--maximize",),
                ("--fullscreen-desktop",)),
        Program("sdl testdraw2, free", "libsdl2-tests", SDL + "testdraw2", ("--resizable",), None, None),
        Program("sdl testgl2", "libsdl2-tests", SDL + "testgl2", ("--vsync", "--resizable"), ("--maximize",),
                ("--fullscreen-desktop",)),
        Program("weston-simple-egl", "weston", "weston-simple-egl", (), ("-m",), ("-f",)),
        Program("glmark2", "glmark2-es2-wayland", "glmark2-es2-wayland", ("-b", "build:duration=10000"), None, ("--fullscreen",)),
        Program("foot", "foot", "foot", (*foot, "sh", "-c", LINES), None, None),
        Program("foot, at rest", "foot", "foot", ("cat",), None, None),
        Program("idle terminal", "foot", "foot", (*foot, "sh", "-c", SCROLL), None, None, warm_up=8.0),
    ]
    return {program.name: program for program in programs}
