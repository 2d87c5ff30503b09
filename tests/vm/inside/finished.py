#!/usr/bin/env python3
"""Checks that frames finished ahead of their refreshes were queued and shown at them: finished.py FRAMES COUNT"""

import json
import sys

# vkms's timestamps are in whole microseconds.
TOLERANCE_NS = 2_000


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    shown = [line for line in lines if line["type"] == "output" and line["presented"] and line["pacing"] == "ahead"]
    early = [frame for frame in shown if frame["present"] - frame["submitted"] > frame["interval"]]
    hit = [frame for frame in early if abs(frame["presented"] - frame["present"]) <= 100 * TOLERANCE_NS]
    most = max((frame["present"] - frame["submitted"]) / frame["interval"] for frame in early) if early else 0
    print(f"     {len(shown)} finished ahead, {len(early)} submitted more than a refresh before (at most {most:.1f}),"
          f" {len(hit)} of them shown in their own")
    sys.exit(0 if len(hit) >= count and len(hit) == len(early) else 1)


main()
