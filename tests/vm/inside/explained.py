#!/usr/bin/env python3
"""Checks that every frame of a log that missed its refresh has a reason: explained.py FRAMES.jsonl

Prints the number of frames and of late frames, and how often each reason occurs. For a reason that could have been
prevented, the machine's interference must be recorded, too.
"""

import collections
import json
import sys


# Reasons that are decisions of ours, so no interference is needed.
POLICY = {"queued", "not-visible", "policy-drop"}
# Interference that a kernel with the usual settings counts.
MEASURED = ("over", "timer", "waited", "stolen")


def main():
    frames, late, unexplained = 0, collections.Counter(), []
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["type"] == "left-out":
                unexplained.append(line)
            if line["type"] not in ("output", "client"):
                continue
            frames += 1
            shown = line["presented"]
            if line["why"]:
                late[f"{line['type']}: {line['miss']['kind']}"] += 1
                if not is_measured(line):
                    unexplained.append(line)
            elif shown and shown - line["present"] > line["interval"] // 2 and not is_its_own(line):
                unexplained.append(line)
    print(f"     {frames} frames; late: {dict(late)}")
    for line in unexplained[:5]:
        print(f"     without a reason: {json.dumps(line)}")
    sys.exit(1 if unexplained else 0)


def is_measured(line):
    """Whether the machine's interference is recorded, or not needed."""
    interference = line["interference"]
    if line["miss"]["kind"] in POLICY:
        return True
    return interference is not None and all(interference[name] is not None for name in MEASURED)


def is_its_own(line):
    """Whether the display counts this refresh as the frame's target; the phase was unknown, as after an idle time."""
    due = line["due_sequence"]
    return due is not None and line["sequence"] is not None and line["sequence"] <= due


main()
