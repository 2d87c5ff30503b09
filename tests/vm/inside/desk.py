#!/usr/bin/env python3
"""What a desktop costs whoever draws on it: desk.py BARE.json DESK.json

Reports of the same probe with the same load, alone and beside the programs of a desktop. Both latencies are the same, but for
what the clock of a guest shows of other programs, and no more refreshes are dropped.
"""

import json
import sys

# What may be added, in milliseconds.
ADDED_MS = {"p50": 0.1, "p99": 0.3}
LATENCIES = ("input_to_light_ms", "callback_to_light_ms")


def run(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"][0]


def main():
    bare, desk = (run(path) for path in sys.argv[1:3])
    kept = True
    for latency in LATENCIES:
        for quantile, most in ADDED_MS.items():
            added = desk[latency][quantile] - bare[latency][quantile]
            ok = added <= most
            kept &= ok
            print(f"{'ok  ' if ok else 'FAIL'} desk: {latency} {quantile}: {bare[latency][quantile]:.2f} bare, "
                  f"{desk[latency][quantile]:.2f} on a desktop: {added:+.2f}, at most {most:+.2f}")
    ok = desk["drops_per_s"] <= bare["drops_per_s"]
    print(f"{'ok  ' if ok else 'FAIL'} desk: drops/s: {bare['drops_per_s']:.2f} bare, {desk['drops_per_s']:.2f} on a desktop")
    sys.exit(0 if kept and ok else 1)


main()
