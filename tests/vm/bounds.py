#!/usr/bin/env python3
"""bounds: asserts what `upbeat bench latency` measured in the guest, where the host's load cannot be seen.

    bounds.py REPORT.json
    bounds.py --on-vkms FLAT.json HEAVY.json       the first of them, of a session on vkms

Prints each figure with its bound; ends with status 1 when one is exceeded. Milliseconds unless its name says otherwise.
"""

import json
import sys

PERIOD = 1000 / 60
# What a client that floods may cost another one.
FLOOD = 1.0


def find(runs, load, pacing, windows=1, interaction="free"):
    """The one run of this kind; `pacing` as it is labelled, without a miss budget."""
    wanted = (load, pacing, windows, interaction)
    for run in runs:
        label = run["pacing"] or ""
        label = label if "," in label else label.split()[0]
        if (run["load"].split(":")[0], label, run["windows"], run["interaction"]) == wanted:
            return run
    sys.exit(f"bounds: no run of {wanted} in the report")


def figure(run, name):
    value = run
    for part in name.split("."):
        value = value[part]
    return value


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"]


def untouched(flat, free, light):
    """What a window reaches that nobody touches, on whichever display; `light`: a flat one's median."""
    return [
        ("flat, auto", flat, "callback_to_light_ms.p50", light),
        ("flat, auto", flat, "callback_to_light_ms.p99", 6.0),
        ("flat, auto", flat, "drops_per_s", 0.0),
        ("heavy, untouched", free, "callback_to_light_ms.p50", 33.3),
        ("heavy, untouched", free, "drops_per_s", 1.5),
    ]


def main():
    if sys.argv[1] == "--on-vkms":
        [flat], [free] = map(read, sys.argv[2:])
        exceeded = exceeding(untouched(flat, free, 4.2))
        sys.exit(1 if exceeded else 0)
    runs = read(sys.argv[1])
    flat = find(runs, "flat", "auto")
    crowd = find(runs, "flat", "auto", windows=11)
    free = find(runs, "heavy", "auto")
    held = find(runs, "heavy", "auto", interaction="held")
    vsync = find(runs, "flat", "vsync")
    on_demand = find(runs, "heavy", "auto, on-demand2")
    alone = find(runs, "flat", "auto", interaction="none")
    flooded = find(runs, "flat", "auto, 1 flooding", interaction="none")
    gpu, heavy_gpu = find(runs, "flat", "auto, gpu"), find(runs, "heavy", "auto, gpu", interaction="none")
    idle = find(runs, "flat", "auto, ten-idle")
    one, two = (find(runs, "flat", pacing, interaction="held") for pacing in ("auto", "auto, two-processes"))
    bounds = [
        *untouched(flat, free, 3.7),
        # 1 ms of CPU and 5 ms of GPU.
        ("flat, on a GPU", gpu, "callback_to_light_ms.p50", 8.5),
        ("flat, on a GPU", gpu, "callback_to_light_ms.p99", 9.5),
        ("flat, on a GPU", gpu, "drops_per_s", 0.0),
        ("heavy, on a GPU", heavy_gpu, "callback_to_light_ms.p50", figure(free, "callback_to_light_ms.p50") + 0.3),
        ("heavy, on a GPU", heavy_gpu, "drops_per_s", figure(free, "drops_per_s") + 0.2),
        ("flat, ten idle", idle, "callback_to_light_ms.p50", 3.7),
        ("flat, ten idle", idle, "drops_per_s", 0.0),
        ("two processes", two, "drops_per_s", figure(one, "drops_per_s")),
        ("flat, ten others", crowd, "callback_to_light_ms.p50", 6.0),
        ("heavy, touched", held, "callback_to_light_ms.p50", PERIOD + 1.5),
        ("heavy, touched", held, "drops_per_s", 5.9),
        # Who makes buffers when it needs them has what others have, and always one to draw into.
        ("heavy, two on demand", on_demand, "callback_to_light_ms.p50", figure(free, "callback_to_light_ms.p50") + 0.3),
        ("heavy, two on demand", on_demand, "drops_per_s", figure(free, "drops_per_s") + 0.2),
        ("heavy, two on demand", on_demand, "starved", 0),
        ("flat, a flooder", flooded, "callback_to_light_ms.p50", figure(alone, "callback_to_light_ms.p50") + FLOOD),
        ("flat, a flooder", flooded, "callback_to_light_ms.p99", figure(alone, "callback_to_light_ms.p99") + FLOOD),
        ("flat, a flooder", flooded, "drops_per_s", 0.0),
        # One for the client, whose frame is latched with it, and two of ours: its callback, the light. A twentieth for what
        # is not each frame's.
        ("flat, no input", alone, "compositor_wakeups_per_refresh", 3.05),
        # The baseline has to be what it says: two periods, without a drop.
        ("flat, vsync", vsync, "callback_to_light_ms.p50", 2 * PERIOD),
        ("flat, vsync", vsync, "drops_per_s", 0.0),
    ]
    exceeded = exceeding(bounds)
    if figure(vsync, "callback_to_light_ms.p50") < 2 * PERIOD - 1:
        exceeded += 1
        print("FAIL flat, vsync: faster than the baseline can be")
    print(f"{len(bounds) + 1 - exceeded} passed, {exceeded} failed")
    sys.exit(1 if exceeded else 0)


def exceeding(bounds):
    """Prints each figure with its bound. How many exceed it."""
    exceeded = 0
    for what, run, name, bound in bounds:
        value = figure(run, name)
        kept = value <= bound
        exceeded += not kept
        print(f"{'ok  ' if kept else 'FAIL'} {what:<18} {name:<30} {value:8.3f} at most {bound:.3f}")
    return exceeded


if __name__ == "__main__":
    main()
