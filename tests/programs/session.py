"""A headless session, the programs in it, and a web server for the page that browsers show."""

import collections
import contextlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOCKET = "wayland-programs"
OUTPUT = (1600, 1000)
# Timeout in seconds; programs start slowly on a busy machine.
PATIENCE = 30.0
# Seconds until a program that does not end when asked is killed.
GRACE = 3.0


class Web:
    """Serves the page, and receives its reports."""

    def __init__(self, folder):
        self.told = collections.defaultdict(list)
        web = self
        files = {"/page": (os.path.join(HERE, "page.html"), "text/html"),
                 "/heavy": (os.path.join(HERE, "heavy.html"), "text/html"),
                 "/video.webm": (os.path.join(folder, "video.webm"), "video/webm")}

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                path, kind = files.get(self.path.split("?")[0], (None, None))
                if path is None or not os.path.exists(path):
                    return self.send_error(404)
                with open(path, "rb") as file:
                    content = file.read()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                # A browser that was ended does not read the rest.
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(content)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                web.told[self.path.partition("?")[2]].append(json.loads(body or b"{}"))
                self.send_response(204)
                self.end_headers()

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def page(self, *what):
        return f"http://127.0.0.1:{self.port}/page?{'&'.join(what)}"

    def heavy(self, tab):
        return f"http://127.0.0.1:{self.port}/heavy?{tab}"


class Session:
    """A session; at the end of its `with` block it ends with all programs in it."""

    def __init__(self, upbeat):
        self.upbeat = upbeat
        self.folder = tempfile.mkdtemp(prefix="upbeat-programs.")
        self.frame_log = os.path.join(self.folder, "frames.jsonl")
        self.programs = []
        runtime = os.path.join(self.folder, "run")
        os.mkdir(runtime, 0o700)
        config = os.path.join(self.folder, "config.toml")
        with open(config, "w") as file:
            file.write("reduced-motion = true\n")
        self.environment = {name: value for name, value in os.environ.items() if name not in ("WAYLAND_DISPLAY", "DISPLAY")}
        self.environment.update(XDG_RUNTIME_DIR=runtime, HOME=self.folder)
        with open(os.path.join(self.folder, "upbeat.log"), "w") as log:
            self.compositor = subprocess.Popen(
                [upbeat, "--backend", "headless", "--output", f"{OUTPUT[0]}x{OUTPUT[1]}@60", "--config", config,
                 "--frame-log", self.frame_log, "--socket", SOCKET],
                env=self.environment, stdin=subprocess.DEVNULL, stderr=log)
        self.environment["WAYLAND_DISPLAY"] = os.path.join(runtime, SOCKET)
        self.wait("the socket", lambda: os.path.exists(self.environment["WAYLAND_DISPLAY"]))

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        for program in self.programs:
            self.end(program)
        self.compositor.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.compositor.wait(GRACE)
        if self.compositor.poll() is None:
            self.compositor.kill()
            self.compositor.wait()

    @staticmethod
    def end(program):
        """Ends a program's process group."""
        for kind in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, kind)
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(GRACE)
                return

    def forget(self):
        """Deletes the session's folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, what, look, patience=PATIENCE):
        begun = time.monotonic()
        while time.monotonic() - begun < patience:
            found = look()
            if found:
                return found
            time.sleep(0.1)
        raise TimeoutError(f"{what} never came; see {self.folder}")

    def message(self, *words):
        """The answer to `upbeat msg`."""
        environment = dict(self.environment, WAYLAND_DISPLAY=SOCKET)
        done = subprocess.run([self.upbeat, "msg", "--json", *words], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"upbeat msg {' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def windows(self):
        return self.message("windows")["windows"]

    def log(self, name):
        return os.path.join(self.folder, f"{name}.log")

    def start(self, program, shape="windowed", traffic=False):
        """Starts a program. `traffic`: it writes its protocol traffic to its log."""
        environment = dict(self.environment, DBUS_SESSION_BUS_ADDRESS="disabled:", GDK_BACKEND="wayland",
                           QT_QPA_PLATFORM="wayland", SDL_VIDEODRIVER="wayland", MOZ_ENABLE_WAYLAND="1")
        environment.update(program.environment)
        if traffic:
            environment["WAYLAND_DEBUG"] = "1"
        with open(self.log(program.name), "w") as log:
            child = subprocess.Popen(program.command(self.folder, shape), env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log, start_new_session=True)
        self.programs.append(child)
        return child
