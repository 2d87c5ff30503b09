#!/usr/bin/env python3
"""Checks the cost of other programs for a client that draws: desk.py [--recorded TAKEN LEAST] BARE.json DESK.json

The reports are of the same probe with the same load, alone and beside the programs of a desktop. The latencies may differ only by
the effect of other programs on the guest's clock, and no more refreshes may be dropped. Beside a recorder, which has taken TAKEN
pictures of at least LEAST, only the drops count, because its copies are additional work.
"""

import json
import sys

# Allowed additional latency, in milliseconds.
ADDED_MS = {"p50": 0.1, "p99": 0.3}
LATENCIES = ("input_to_light_ms", "callback_to_light_ms")


def run(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"][0]


def verdict(ok, text):
    print(f"{'ok  ' if ok else 'FAIL'} desk: {text}")
    return ok


def main():
    words = sys.argv[1:]
    recorded = None
    if words[0] == "--recorded":
        recorded, words = [int(word) for word in words[1:3]], words[3:]
    bare, desk = (run(path) for path in words)
    kept = True
    for latency in LATENCIES:
        for quantile, most in ADDED_MS.items():
            added = desk[latency][quantile] - bare[latency][quantile]
            text = f"{latency} {quantile}: {bare[latency][quantile]:.2f} bare, {desk[latency][quantile]:.2f} beside others: {added:+.2f}"
            if recorded:
                print(f"     desk: {text}")
            else:
                kept &= verdict(added <= most, f"{text}, at most {most:+.2f}")
    kept &= verdict(desk["drops_per_s"] <= bare["drops_per_s"],
                    f"drops/s: {bare['drops_per_s']:.2f} bare, {desk['drops_per_s']:.2f} beside others")
    if recorded:
        taken, least = recorded
        kept &= verdict(taken >= least, f"{taken} pictures were recorded, at least {least}")
    sys.exit(0 if kept else 1)


main()
