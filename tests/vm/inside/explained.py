#!/usr/bin/env python3
"""Whether every frame of a log that missed its refresh has a reason: explained.py FRAMES.jsonl

Prints how many frames there were, how many were late, and the reasons with their numbers. Where somebody could have
prevented it, what the machine did meanwhile has to be there, too.
"""

import collections
import json
import sys


# Decided so: nobody was kept from anything.
POLICY = {"queued", "not-visible", "policy-drop"}
# What a kernel with the usual settings counts.
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
    """Whether it says what the machine did meanwhile, or need not."""
    interference = line["interference"]
    if line["miss"]["kind"] in POLICY:
        return True
    return interference is not None and all(interference[name] is not None for name in MEASURED)


def is_its_own(line):
    """Whether the display counts the refresh as the one it was made for: the phase was not known, as after an idle."""
    due = line["due_sequence"]
    return due is not None and line["sequence"] is not None and line["sequence"] <= due


main()
