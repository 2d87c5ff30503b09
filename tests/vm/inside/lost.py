#!/usr/bin/env python3
"""Counts refreshes of an output without a new frame while its content moved: lost.py FRAMES.jsonl OUTPUT FROM TO

FROM and TO are in seconds of CLOCK_MONOTONIC. Prints the number, and the reasons of late frames in that time.
"""

import collections
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def count(lines, name, start, end):
    """Lost refreshes, refreshes with a new frame, and the late frames by their reasons."""
    start, end = int(start * 1e9), int(end * 1e9)
    # An output that was plugged in again has a new number.
    numbers = {line["output"] for line in lines if line["type"] == "output-name" and line["name"] == name}
    shown, late = [], collections.Counter()
    for line in lines:
        if line["type"] not in ("output", "client") or line["output"] not in numbers:
            continue
        if not start <= line["present"] <= end:
            continue
        if line["miss"]:
            late[f"{line['type']}: {line['miss']['kind']}"] += 1
        if line["type"] == "output" and line["presented"]:
            shown.append((line["presented"], line["interval"]))
    shown.sort()
    # Count the gaps at both ends, too: an output that stopped for good lost all refreshes to the end.
    times = [start] + [when for when, _ in shown] + [end]
    interval = shown[0][1] if shown else 1e9 / 60
    lost = sum(max(0, round((after - before) / interval) - 1) for before, after in zip(times, times[1:]))
    return lost, len(shown), dict(late)


def main():
    lost, shown, late = count(read(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
    print(f"{lost} lost, {shown} shown; late: {late}")


if __name__ == "__main__":
    main()
