#!/usr/bin/env python3
"""Prints the time for composing, and checks that frames were presented on the grid of refreshes: composing.py FRAMES.jsonl"""

import json
import sys

# vkms's timestamps are in whole microseconds.
TOLERANCE_NS = 2_000
# After a pause of this many refreshes the kernel may have disabled vblank interrupts. When they are enabled again, the first
# vblank has no exact time, and the grid has moved.
PAUSE = 60
FEWEST = 30


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    frames = [line for line in lines if line["type"] == "output" and line["presented"]]
    judged = off = 0
    fresh = True
    for before, after in zip(frames, frames[1:]):
        apart = after["presented"] - before["presented"]
        refreshes = round(apart / after["interval"])
        paused = refreshes > PAUSE
        if not (fresh or paused):
            judged += 1
            off += abs(apart - refreshes * after["interval"]) > TOLERANCE_NS * max(1, refreshes)
        fresh = paused
    costs = sorted(frame["compose_cost"] / 1e6 for frame in frames if frame["damage"])
    middle, high = costs[len(costs) // 2], costs[len(costs) * 95 // 100]
    print(f"     {judged} frames, {off} off the grid, composed in {middle:.2f} ms (p95 {high:.2f})")
    sys.exit(0 if judged >= FEWEST and not off else 1)


main()
