#!/usr/bin/env python3
"""The place of the cursor plane while a mouse moves, beside the newest event.

    newest_cursor.py drive              moves the mouse by one pixel a millisecond and prints, as JSON, the times of its events, and of the
                                        places of the cursor plane that were read meanwhile
    newest_cursor.py judge PLACES FRAMES
                                        checks that the plane has the place of the last event before each frame was submitted

The guest has one CPU, so no event is written while the compositor works between a latch and the submission.
"""

import bisect
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import planes  # noqa: E402
import uinput  # noqa: E402

STEPS, STEP_SECONDS, REST_SECONDS = 400, 0.001, 0.5
# Microseconds. An event this long before the submission is in the plane: it was read, handled and sent to the presenter.
HANDLED = 100
# The presenter commits a submitted frame in this time. While an earlier frame is in flight it waits, and its cursor is moved on.
COMMITTED = 300
FEWEST = 20


def micros():
    return time.monotonic_ns() // 1_000


def place():
    shown = planes.state()
    cursor = min(shown, key=planes.area)
    return int(cursor["position"].split("+")[1])


def drive():
    seat = uinput.Seat()
    # Until the compositor knows the mouse, which takes long on a machine that just started.
    unknown, tries = place(), 0
    while place() == unknown:
        tries += 1
        if tries > 50:
            sys.exit("the mouse does not move the cursor")
        seat.move(1, 0)
        time.sleep(0.2)
    time.sleep(REST_SECONDS)
    first, events, places = place(), [], []
    end = micros()
    for _ in range(STEPS):
        begun = micros()
        seat.move(1, 0)
        events.append((begun, micros()))
        end += int(STEP_SECONDS * 1e6)
        if micros() < end:
            begun = micros()
            places.append((begun, place() - first, micros()))
        while micros() < end:
            time.sleep(0.0002)
    time.sleep(REST_SECONDS)
    print(json.dumps({"events": events, "places": places, "moved": place() - first}))


def judge(places, frames):
    with open(places, encoding="utf-8") as file:
        run = json.load(file)
    with open(frames, encoding="utf-8") as file:
        log = [json.loads(line) for line in file]
    if run["moved"] != len(run["events"]):
        return f"{len(run['events'])} events moved the cursor by {run['moved']}"
    # The times of the log are nanoseconds.
    submits = sorted(frame["submitted"] // 1_000 for frame in log if frame["type"] == "output" and frame["submitted"])
    begins, ends = zip(*run["events"])
    known = 0
    for begun, moved, ended in run["places"]:
        index = bisect.bisect(submits, begun - COMMITTED) - 1
        if index < 0 or bisect.bisect(submits, ended) - 1 != index:
            continue  # a frame was submitted meanwhile
        submitted = submits[index]
        fewest = bisect.bisect(ends, submitted - HANDLED)
        most = bisect.bisect(begins, ended)
        if not fewest <= moved <= most:
            return f"at {begun} µs the plane was at {moved}; {fewest} events came before the submission at {submitted}, {most} in all"
        known += 1
    return 0 if known >= FEWEST else f"only {known} places are known"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["drive"]:
            drive()
        case ["judge", places_path, frames_path]:
            sys.exit(judge(places_path, frames_path))
        case _:
            sys.exit(__doc__)
