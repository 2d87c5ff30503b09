#!/usr/bin/env python3
"""What a window in a window costs: nested.py ALONE.json NESTED.json

Reports of the same probe with the same load in a session, and in a session in a window of that session. Less than a period
may be added from the input and from the commit to the light, and no refresh may be dropped that is not dropped alone.
"""

import json
import sys

PERIOD_MS = 1000 / 60
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
    ok = nested["drops_per_s"] <= alone["drops_per_s"]
    print(f"{'ok  ' if ok else 'FAIL'} nested: drops/s: {alone['drops_per_s']:.2f} alone, {nested['drops_per_s']:.2f} nested")
    sys.exit(0 if kept and ok else 1)


def run(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"][0]


main()
