#!/usr/bin/env python3
"""Checks that no frame of a log was on screen before its content was chosen: causal.py FRAMES.jsonl

That happens if the event of one flip is mistaken for the event of another flip.
"""

import json
import sys


def main():
    frames, wrong = 0, []
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["type"] == "output" and line["presented"]:
                frames += 1
                if line["presented"] < line["latched"]:
                    wrong.append(line)
    print(f"     {frames} frames")
    for line in wrong[:5]:
        print(f"     too early: {json.dumps(line)}")
    sys.exit(1 if wrong or not frames else 0)


main()
