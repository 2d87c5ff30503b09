#!/usr/bin/env python3
"""What composing took, and whether frames were presented on the grid of refreshes: composing.py FRAMES.jsonl [MORE...]

The first log is judged; all are described."""

import json
import sys

# vkms's timestamps are in whole microseconds.
TOLERANCE_NS = 2_000
# Of frames that follow a modeset the first may be stamped strangely.
FIRST = 5


def frames_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["type"] == "output" and line["presented"]][FIRST:]


def describe(path, frames):
    costs = sorted(frame["compose_cost"] for frame in frames if frame["damage"])
    late = sum(frame["presented"] > frame["present"] + frame["interval"] // 2 for frame in frames)
    middle, high = costs[len(costs) // 2] / 1e6, costs[len(costs) * 95 // 100] / 1e6
    print(f"     {path.split('/')[-1]}: {len(frames)} frames, composed in {middle:.2f} ms (p95 {high:.2f}), {late} late")


def is_off_grid(before, after):
    apart = after["presented"] - before["presented"]
    refreshes = round(apart / after["interval"])
    return abs(apart - refreshes * after["interval"]) > TOLERANCE_NS * max(1, refreshes)


def main():
    logs = [(path, frames_of(path)) for path in sys.argv[1:]]
    for path, frames in logs:
        describe(path, frames)
    judged = logs[0][1]
    off = sum(is_off_grid(before, after) for before, after in zip(judged, judged[1:]))
    print(f"     {off} off the grid")
    sys.exit(0 if len(judged) >= 30 and not off else 1)


main()
