#!/usr/bin/env python3
"""Prints the windows of the session at each change: a line of JSON, the topmost window first.

    examples/events/follow.py

It never polls: the session sends the whole state once, and then each change (docs/messages.md).
"""

import json
import os
import socket

connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["UPBEAT_SOCKET"])
connection.sendall(b'{"version":1,"request":{"kind":"events"}}\n')
windows = []
for line in connection.makefile():
    event = json.loads(line).get("event", {})
    kind = event.get("kind")
    if kind == "state":
        windows = event["windows"]
    elif kind == "window":
        window = event["window"]
        known = [place for place, other in enumerate(windows) if other["window"] == window["window"]]
        windows[known[0] if known else 0 : known[0] + 1 if known else 0] = [window]
    elif kind == "window-closed":
        windows = [window for window in windows if window["window"] != event["window"]]
    elif kind == "order":
        windows.sort(key=lambda window: event["windows"].index(window["window"]))
    else:
        continue
    print(json.dumps([[w["window"], w["title"], w["focused"], w["workspace"]] for w in windows]), flush=True)
