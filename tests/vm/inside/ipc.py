"""A persistent connection to a session's private socket, because starting a program takes as long as a frame on an emulated CPU."""

import json
import os
import socket
import sys


class Session:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["UPBEAT_SOCKET"])
        self.answers = self.socket.makefile()

    def ask(self, kind, **rest):
        question = {"version": 1, "request": {"kind": kind, **rest}}
        self.socket.sendall(json.dumps(question).encode() + b"\n")
        answer = json.loads(self.answers.readline())
        if "ok" not in answer:
            sys.exit(f"{kind}: {answer}")

    def input(self, event, **rest):
        self.ask("input", events=[{"event": event, **rest}])
