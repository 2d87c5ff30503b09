#!/usr/bin/env python3
"""Checks that every late frame was late by whole refreshes: on_grid.py FRAMES.jsonl

A display that got a frame in time may show it a refresh late, if the kernel's worker was not scheduled. A frame that is late by
another time was planned for a time that is no refresh.
"""

import json
import sys

# Share of an interval: more than the jitter of timestamps, and less than the error of a wrong grid in nearly all cases.
TOLERANCE = 1 / 50


def main():
    late, off = 0, []
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["type"] == "output" and line["miss"] and line["miss"]["kind"] == "display-fault":
                late += 1
                if not is_on_grid(line):
                    off.append(line)
    print(f"     {late} late by the display's fault, {len(off)} of them off the grid")
    for line in off[:5]:
        print(f"     {json.dumps(line)}")
    sys.exit(1 if off else 0)


def is_on_grid(line):
    refreshes = (line["presented"] - line["present"]) / line["interval"]
    return abs(refreshes - round(refreshes)) <= TOLERANCE


main()
