#!/usr/bin/env python3
"""Whether every frame that the display showed late was late by whole refreshes: on_grid.py FRAMES.jsonl

A display that was given a frame in time may show it a refresh late: whoever does it in the kernel was not let run. Late by
another time than refreshes take, it was asked for at a time that is none of a refresh.
"""

import json
import sys

# Of an interval: more than timestamps scatter, less than a grid that is guessed is wrong by, nearly always.
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
