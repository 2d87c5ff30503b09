#!/usr/bin/env python3
"""A module for waybar: the workspaces of the session and the title of the focused window.

    examples/events/waybar.py [OUTPUT]

waybar.jsonc in this folder has the lines for Waybar's configuration. Waybar starts the module and shows its output. The
module sleeps until the session sends a change.
"""

import html
import json
import os
import socket
import sys

output = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WAYBAR_OUTPUT_NAME")
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["UPBEAT_SOCKET"])
connection.sendall(b'{"version":1,"request":{"kind":"events"}}\n')
titles, workspaces, focused, told = {}, [], None, ""
for line in connection.makefile():
    event = json.loads(line).get("event", {})
    kind = event.get("kind")
    if kind == "state":
        titles = {window["window"]: window["title"] for window in event["windows"]}
    if kind in ("state", "workspaces"):
        workspaces = event["workspaces"]
    for window in event.get("windows", []) if kind == "state" else [event["window"]] if kind == "window" else []:
        titles[window["window"]] = window["title"]
        if window["focused"]:
            focused = window["window"]
        elif focused == window["window"]:
            focused = None
    if kind == "window-closed":
        titles.pop(event["window"], None)
    here = [space for space in workspaces if output in (None, space["output"])]
    numbers = [f"[{space['number']}]" if space["active"] else str(space["number"]) for space in here]
    text = " ".join(numbers + [titles.get(focused, "")]).strip()
    if text != told:
        told = text
        # Waybar reads both as markup.
        tooltip = html.escape("\n".join(titles.values()))
        print(json.dumps({"text": html.escape(text), "tooltip": tooltip, "class": "upbeat"}), flush=True)
