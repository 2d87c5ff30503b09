#!/usr/bin/env python3
"""Asserts the results of `upbeat bench scroll` in the guest.

    scroll.py FOLDER

FOLDER has the reports of `scroll`: scroll.json, across.json, others.json, busy.json, frames.json, frames-across.json, seen.json,
seen-across.json, age-*.json. Prints a line for each check; exits with 1 if a check fails.
"""

import json
import pathlib
import sys

# Allowed renders beyond the formula: a tenth, and one a run, since nothing is rendered ahead at the start.
MORE, FIRST = 1.1, 1
# A render wakes its client for the request, for the released buffers, and once more.
MOST_WAKE_UPS = 3
# By speed (px/s): the factor by which a screen takes less CPU time than with a render for each frame.
LESS = {100: 50, 1000: 10}
# Fingers report every 8 ms, so at a latch the last report is half of that old on average. Then other allowed delay, in ms.
HALF_A_REPORT, LOST = 4.0, 1.0


def runs(folder, name):
    with open(folder / name, encoding="utf-8") as file:
        return json.load(file)["runs"]


def main():
    folder = pathlib.Path(sys.argv[1])
    faults = 0

    def check(run, is_so, what):
        nonlocal faults
        faults += not is_so
        across = " across" if run.get("across") else ""
        print(f"{'ok  ' if is_so else 'FAIL'} scroll: {run['input']} px/s{across}, N = {run['n']}: {what}")

    def of(name, across):
        return [run | {"across": across} for run in runs(folder, name)]

    frames = {
        (across, float(run["input"])): run
        for name, across in (("frames.json", False), ("frames-across.json", True))
        for run in runs(folder, name)
    }
    for run in of("scroll.json", False) + of("across.json", True) + of("others.json", False):
        seconds = run["renders"] / run["client_fps"] if run["client_fps"] else 1.0
        most = MORE * run["formula_fps"] * seconds + FIRST
        check(run, 0 < run["renders"] <= most, f"{run['renders']} renders, at most {most:.1f}")
        check(run, run["drops"] == 0, f"{run['drops']} refreshes missed {run.get('late_because', '')}")
        wake_ups = run["client_wakeups_per_frame"]
        check(run, wake_ups <= MOST_WAKE_UPS, f"{wake_ups:.2f} wake-ups a render")
        speed = abs(float(run["input"]))
        ours, theirs = run["client_cpu_ms_per_screen"], frames[run["across"], speed]["client_cpu_ms_per_screen"]
        less = f"{ours:.2f} ms a screen, {theirs:.2f} where each frame is rendered"
        check(run, ours * LESS[round(speed)] <= theirs, less)
    for run in runs(folder, "busy.json") if (folder / "busy.json").exists() else []:
        took = f"a render takes {run['render_ms']:.1f} ms"
        check(run, run["drops"] == 0, f"{took}: {run['drops']} refreshes missed {run.get('late_because', '')}")
    for run in of("seen.json", False) + of("seen-across.json", True):
        is_seen = run["blank_rows"] == 0 and run["pictures"] > 1
        check(run, is_seen, f"{run['blank_rows']} blank rows in {run['pictures']} pictures")
    for path in sorted(folder.glob("age-*.json")):
        for run in runs(folder, path.name):
            age, latched = run["sample_to_light_ms"], run["latched_to_light_ms"]
            most = latched + HALF_A_REPORT + LOST
            what = f"a render takes {run['render_ms']:.1f} ms, what fingers said {age:.2f} ms to light, at most {most:.2f}"
            check(run, age <= most, what)
    sys.exit(1 if faults else 0)


main()
