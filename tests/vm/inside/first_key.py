#!/usr/bin/env python3
"""Checks that the first key after a pause is shown as soon as other keys: first_key.py FRAMES.jsonl

Uses the time from the key to the light of the frame that answers it, from the frame log. The last key comes after an idle
minute; it may take at most WORST times the 99th percentile of the keys before.
"""

import json
import sys

PAUSE_NS = 50_000_000_000
WORST = 1.2
# The terminal's first keys, for which it loads glyphs.
WARM_UP = 20
FEWEST = 200


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        frames = [line for line in map(json.loads, file) if line["type"] == "client"]
    answers = sorted((line["input"], line["presented"] - line["input"]) for line in frames
                     if line["input"] and line["presented"])
    late = [index for index in range(1, len(answers)) if answers[index][0] - answers[index - 1][0] > PAUSE_NS]
    if len(late) != 1 or late[0] < FEWEST:
        sys.exit(f"{len(answers)} answered keys, pauses before {late}")
    steady = sorted(latency for _, latency in answers[WARM_UP:late[0]])
    p50, p99 = steady[len(steady) // 2], steady[len(steady) * 99 // 100]
    first = answers[late[0]][1]
    print(f"     {len(steady)} keys to light: p50 {p50 / 1e6:.2f} ms, p99 {p99 / 1e6:.2f} ms; "
          f"the first after the pause: {first / 1e6:.2f} ms")
    sys.exit(0 if first <= WORST * p99 else 1)


main()
