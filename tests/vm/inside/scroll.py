#!/usr/bin/env python3
"""Asserts the results of `upbeat bench scroll` in the guest.

    scroll.py FOLDER

FOLDER has the reports of `scroll`: scroll.json, across.json, others.json, first.json, planes.json, busy.json, frames.json,
frames-across.json, seen.json, seen-across.json, age-*.json. Prints a line for each check; exits with 1 if a check fails.
"""

import json
import pathlib
import statistics
import sys

# Allowed renders beyond the formula: a tenth, and one a run, since nothing is rendered ahead at the start.
MORE, FIRST = 1.1, 1
# A render wakes its client for the request, for the released buffers, and once more.
MOST_WAKE_UPS = 3
# By speed (px/s): the factor by which a screen takes less CPU time than with a render for each frame.
LESS = {100: 50, 1000: 10}
# On average, the first screen of a view is lit at most this much later than that of a client that renders each frame, in ms: half a
# refresh. The phase of the display when a client starts moves each start by up to a refresh, and so the means of some twenty by
# two or three milliseconds.
LATER = 8.3
# A tile as a part of a screen: tiles are rendered as a whole. At rest, the content on both sides is 4/3 of that ahead of a motion.
TILE, AT_REST = 0.25, 4 / 3
# Reports of runs that recorded nothing.
NOT_RECORDED = ("first", "scroll", "across", "others", "planes", "frames", "frames-across")
# Megabytes of a screen.
SCREEN = 640 * 480 * 4 / 1e6
# Fingers report every 8 ms, so at a latch the last report is half of that old on average. Then other allowed delay, in ms.
HALF_A_REPORT, LOST = 4.0, 1.0


def runs(folder, name):
    with open(folder / name, encoding="utf-8") as file:
        return json.load(file)["runs"]


faults = 0


def check(run, is_so, what):
    global faults
    faults += not is_so
    across = " across" if run.get("across") else ""
    print(f"{'ok  ' if is_so else 'FAIL'} scroll: {run['input']} px/s{across}, N = {run['n']}: {what}")


def check_moving(run, frames):
    """A view at a constant speed, beside `frames`, the client that renders each frame."""
    seconds = run["renders"] / run["client_fps"] if run["client_fps"] else 1.0
    most = MORE * run["formula_fps"] * seconds + FIRST
    check(run, 0 < run["renders"] <= most, f"{run['renders']} renders, at most {most:.1f}")
    check(run, run["drops"] == 0, f"{run['drops']} refreshes missed {run.get('late_because', '')}")
    wake_ups = run["client_wakeups_per_frame"]
    check(run, wake_ups <= MOST_WAKE_UPS, f"{wake_ups:.2f} wake-ups a render")
    ours, theirs = run["client_cpu_ms_per_screen"], frames["client_cpu_ms_per_screen"]
    less = f"{ours:.2f} ms a screen, {theirs:.2f} where each frame is rendered"
    check(run, ours * LESS[round(abs(float(run["input"])))] <= theirs, less)
    ahead, render = run["n"] - 1, run["extended_render_screens"]
    costs = f"a render costs as much as {render:.2f} screens, {run['extended_render_refreshes']:.2f} refreshes"
    check(run, render <= AT_REST * ahead + 2 * TILE, costs)
    memory = [run[f"{part}_megabytes"] / SCREEN for part in ("ahead", "behind", "spare")]
    most = [ahead + TILE, AT_REST / 2 * ahead + TILE, ahead + 2 * TILE]
    text = " / ".join(f"{part:.2f}" for part in memory)
    check(run, all(part <= limit for part, limit in zip(memory, most)), f"{text} screens ahead, behind and spare")


def check_first(runs):
    """The first screen of views, beside that of clients that render each frame."""
    view, frames = ([run["first_screen_ms"] for run in runs if run["mode"] == mode] for mode in ("view", "frames"))
    ours, theirs = statistics.mean(view), statistics.mean(frames)
    text = f"{len(view)} first screens after {ours:.1f} ms, {len(frames)} without a view after {theirs:.1f}"
    check(next(run for run in runs if run["mode"] == "view"), ours <= theirs + LATER, text)


def check_age(run):
    age, latched = run["sample_to_light_ms"], run["latched_to_light_ms"]
    most = latched + HALF_A_REPORT + LOST
    what = f"a render takes {run['render_ms']:.1f} ms, what fingers said {age:.2f} ms to light, at most {most:.2f}"
    check(run, age <= most, what)


def main():
    folder = pathlib.Path(sys.argv[1])

    def of(name, across=False):
        return [run | {"across": across} for run in runs(folder, name)]

    frames = {
        (run["across"], float(run["input"])): run for run in of("frames.json") + of("frames-across.json", True)
    }
    for run in of("scroll.json") + of("across.json", True) + of("others.json"):
        check_moving(run, frames[run["across"], abs(float(run["input"]))])
    for run in of("planes.json"):
        seen = f"on planes, {run['composed_part']:.0%} composed, {run['drops']} refreshes missed"
        check(run, run["composed_part"] == 0 and run["drops"] == 0, seen)
    check_first(sum((of(f"{name}.json") for name in NOT_RECORDED), []))
    for run in of("busy.json") if (folder / "busy.json").exists() else []:
        took = f"a render takes {run['render_ms']:.1f} ms"
        check(run, run["drops"] == 0, f"{took}: {run['drops']} refreshes missed {run.get('late_because', '')}")
    for run in of("seen.json") + of("seen-across.json", True):
        is_seen = run["blank_rows"] == 0 and run["pictures"] > 1
        check(run, is_seen, f"{run['blank_rows']} blank rows in {run['pictures']} pictures")
    for path in sorted(folder.glob("age-*.json")):
        for run in of(path.name):
            check_age(run)
    sys.exit(1 if faults else 0)


main()
