#!/usr/bin/env python3
"""Checks the cost of nesting: nested.py ALONE.json NESTED.json

The reports are of the same probe with the same load, in a session and in a session nested in that session. Nesting may add less
than a period from input to light and from commit to light. It may drop no more refreshes than two sessions' miss budgets
allow, because each session plans for that many misses, and they share one CPU here.
"""

import json
import sys

REFRESH_HZ = 60
PERIOD_MS = 1000 / REFRESH_HZ
MISS_BUDGET = 0.001  # of the refreshes, in a session without a hand on it
LATENCIES = ("input_to_light_ms", "callback_to_light_ms", "commit_to_light_ms")


def main():
    alone, nested = (run(path) for path in sys.argv[1:3])
    kept = True
    for latency in LATENCIES:
        for quantile in ("p50", "p99"):
            added = nested[latency][quantile] - alone[latency][quantile]
            ok = added < PERIOD_MS
            kept &= ok
            print(f"{'ok  ' if ok else 'FAIL'} nested: {latency} {quantile}: {alone[latency][quantile]:.2f} alone, "
                  f"{nested[latency][quantile]:.2f} nested: {added:+.2f}")
    most = alone["drops_per_s"] + 2 * MISS_BUDGET * REFRESH_HZ
    ok = nested["drops_per_s"] <= most
    print(f"{'ok  ' if ok else 'FAIL'} nested: drops/s: {alone['drops_per_s']:.2f} alone, {nested['drops_per_s']:.2f} nested, "
          f"at most {most:.2f}")
    sys.exit(0 if kept and ok else 1)


def run(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"][0]


main()
