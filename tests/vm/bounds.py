#!/usr/bin/env python3
"""bounds: asserts what `upbeat bench latency` measured in the guest, where the host's load cannot be seen.

    bounds.py REPORT.json
    bounds.py --short REPORT.json                  of short.list, in a build with every check
    bounds.py --on-vkms FLAT.json HEAVY.json       the first of them, of a session on vkms
    bounds.py --beside ONE.json MANY.json...       of a window beside windows that do nothing, as inside/neighbours measures it
    bounds.py --cost REPORT.json...                of a session on vkms, as inside/cost measures it

Prints each figure with its bound; ends with status 1 when one is exceeded. Milliseconds unless its name says otherwise.
"""

import json
import sys

PERIOD = 1000 / 60
# What a client that floods may cost another one.
FLOOD = 1.0
# What windows that do nothing may cost the one that draws: this part of its CPU, and these milliseconds of its latency.
BESIDE_CPU = 0.1
# Of the latest of a hundred 0.2 ms is wanted; 0.24 to 0.32 were measured.
BESIDE_LATENCY = {"p50": 0.2, "p99": 0.4}
# What a frame of each size may cost on vkms, in milliseconds of CPU, and how often we wake for it: three times the main thread
# (the client and its latch, the light, the callback), twice the presenter (a frame, the flip). A tenth for what is not each
# frame's.
# Measured: 0.603, 1.242, 1.720 and 5.07; the rest is for another compiler.
FRAME_CPU = {"320x240": 0.63, "800x600": 1.28, "1024x768": 1.78}
FRAME_WAKE_UPS = 5.2
SMALLEST = "320x240"


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


def beside(runs):
    """What a window's frame costs beside others, held to what it costs beside the first of them."""
    first = runs[0]
    bounds = []
    for run in runs:
        name = run["pacing"].split(",")[0]
        cpu = figure(first, "compositor_cpu_ms_per_frame") * (1 + BESIDE_CPU)
        bounds.append((name, run, "compositor_cpu_ms_per_frame", cpu))
        for quantile, more in BESIDE_LATENCY.items():
            light = f"callback_to_light_ms.{quantile}"
            bounds.append((name, run, light, figure(first, light) + more))
        bounds.append((name, run, "drops_per_s", 0.0))
    return bounds


def cost(runs):
    """What a frame of each size costs, how often we wake for it, and how soon the smallest is light."""
    bounds = []
    for run in runs:
        name = run["pacing"]
        size, *beside_others = name.split(" ", 1)
        if not beside_others:
            bounds.append((name, run, "compositor_cpu_ms_per_frame", FRAME_CPU[size]))
            bounds.append((name, run, "compositor_wakeups_per_refresh", FRAME_WAKE_UPS))
        if size == SMALLEST:
            bounds.append((name, run, "callback_to_light_ms.p50", 3.9))
        bounds.append((name, run, "drops_per_s", 0.0))
    return bounds


def short(runs):
    """What the test command asserts, of a build that checks everything twice, and of a few seconds: 3.71, 3.75, 32.95 ms and
    1.6 drops a second were measured."""
    flat, heavy = find(runs, "flat", "auto"), find(runs, "heavy", "auto")
    return [
        ("flat, auto", flat, "callback_to_light_ms.p50", 4.2),
        ("flat, auto", flat, "callback_to_light_ms.p99", 6.0),
        ("flat, auto", flat, "drops_per_s", 0.0),
        ("heavy, untouched", heavy, "callback_to_light_ms.p50", 33.4),
        ("heavy, untouched", heavy, "drops_per_s", 2.0),
    ]


def main():
    modes = {"--short": short, "--on-vkms": lambda runs: untouched(*runs, 3.9), "--beside": beside, "--cost": cost}
    if sys.argv[1] in modes:
        runs = [run for path in sys.argv[2:] for run in read(path)]
        sys.exit(1 if exceeding(modes[sys.argv[1]](runs)) else 0)
    runs = read(sys.argv[1])
    flat = find(runs, "flat", "auto")
    crowd = find(runs, "flat", "auto", windows=11)
    free = find(runs, "heavy", "auto")
    held = find(runs, "heavy", "auto", interaction="held")
    vsync = find(runs, "flat", "vsync")
    on_demand = {most: find(runs, "heavy", f"auto, on-demand{most}") for most in ("2", "3", "4", "")}
    alone = find(runs, "flat", "auto", interaction="none")
    flooded = find(runs, "flat", "auto, 1 flooding", interaction="none")
    gpu, heavy_gpu = find(runs, "flat", "auto, gpu"), find(runs, "heavy", "auto, gpu", interaction="none")
    idle = find(runs, "flat", "auto, ten-idle")
    bare, decorated = (find(runs, "flat", pacing, windows=2) for pacing in ("auto", "auto, decorated"))
    one, two = (find(runs, "flat", pacing, interaction="held") for pacing in ("auto", "auto, two-processes"))
    bounds = [
        *untouched(flat, free, 3.7),
        # 1 ms of CPU and 5 ms of GPU, which a thread of the host serves: it is not counted, and late where the host is busy (one
        # frame of 1 800 in one of four runs on a quiet host). So single drops are no verdict: `./up measure host` prints them.
        ("flat, on a GPU", gpu, "callback_to_light_ms.p50", 8.5),
        ("flat, on a GPU", gpu, "callback_to_light_ms.p99", 9.5),
        ("heavy, on a GPU", heavy_gpu, "callback_to_light_ms.p50", figure(free, "callback_to_light_ms.p50") + 0.3),
        ("heavy, on a GPU", heavy_gpu, "drops_per_s", figure(free, "drops_per_s") + 0.2),
        ("flat, ten idle", idle, "callback_to_light_ms.p50", 3.7),
        ("flat, ten idle", idle, "drops_per_s", 0.0),
        ("flat, decorated", decorated, "callback_to_light_ms.p50", figure(bare, "callback_to_light_ms.p50") + 0.1),
        ("flat, decorated", decorated, "callback_to_light_ms.p99", figure(bare, "callback_to_light_ms.p99") + 0.3),
        ("flat, decorated", decorated, "drops_per_s", 0.0),
        ("two processes", two, "drops_per_s", figure(one, "drops_per_s")),
        ("flat, ten others", crowd, "callback_to_light_ms.p50", 6.0),
        ("heavy, touched", held, "callback_to_light_ms.p50", PERIOD + 1.5),
        ("heavy, touched", held, "drops_per_s", 5.9),
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
    # Who makes buffers when it needs them has what others have, and always one to draw into.
    for most, run in on_demand.items():
        name = f"heavy, {most or 'any'} on demand"
        bounds += [
            (name, run, "callback_to_light_ms.p50", figure(free, "callback_to_light_ms.p50") + 0.3),
            (name, run, "drops_per_s", figure(free, "drops_per_s") + 0.2),
            (name, run, "starved", 0),
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
        print(f"{'ok  ' if kept else 'FAIL'} {what:<28} {name:<30} {value:8.3f} at most {bound:.3f}")
    return exceeded


if __name__ == "__main__":
    main()
