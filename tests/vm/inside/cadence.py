#!/usr/bin/env python3
"""Checks that the frames of a log were shown one a refresh: cadence.py FRAMES.jsonl COUNT [--ticks]

Asserts that in the longest run of frames without a pause, COUNT consecutive frames were presented in consecutive
refreshes, a vblank interval apart. --ticks: the clock is software, whose ticks may miss a frame now and then.
"""

import json
import sys

# vkms's timestamps are in whole microseconds.
TOLERANCE_NS = 2_000
# Share of frames with software vsync, which promises only the grid.
SHARE_OF_TICKS = 0.95


def main():
    path, count, ticks = sys.argv[1], int(sys.argv[2]), "--ticks" in sys.argv
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    frames = [line for line in lines if line["type"] == "output" and line["presented"]]
    steps = []
    for before, after in zip(frames, frames[1:]):
        apart = after["presented"] - before["presented"]
        refreshes = round(apart / after["interval"])
        exact = abs(apart - refreshes * after["interval"]) <= TOLERANCE_NS * max(1, refreshes)
        steps.append((refreshes, exact, after["sequence"] - before["sequence"] == refreshes))
    if ticks:
        hit = sum(step == (1, True, True) for step in steps)
        off = sum(not exact for _, exact, _ in steps[10:])
        verdict = len(steps) >= count and hit >= SHARE_OF_TICKS * len(steps) and not off
        print(f"     {hit} of {len(steps)} frames one tick after the one before, {off} off the grid")
        sys.exit(0 if verdict else 1)
    longest = run = 0
    for step in steps:
        run = run + 1 if step == (1, True, True) else 0
        longest = max(longest, run)
    print(f"     {longest} consecutive refreshes hit, of {len(steps)} frames")
    sys.exit(0 if longest >= count else 1)


main()
