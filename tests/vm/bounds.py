#!/usr/bin/env python3
"""bounds: asserts the figures of `upbeat bench latency` from the guest, where the host's load has no effect.

    bounds.py REPORT.json
    bounds.py --short REPORT.json                  of short.list, in a build with every check
    bounds.py --on-vkms FLAT.json HEAVY.json       the first of them, from a session on vkms
    bounds.py --beside ONE.json MANY.json...       a window beside idle windows, as inside/neighbours measures it
    bounds.py --cost REPORT.json...                a session on vkms, as inside/cost measures it

Prints each figure with its bound; exits with status 1 if a figure exceeds its bound. Figures are in milliseconds unless the name has
another unit.
"""

import json
import sys

PERIOD = 1000 / 60
# Largest cost of a flooding client for another client, in milliseconds of latency.
FLOOD = 1.0
# Largest cost of idle windows for a window that draws: a share of its CPU time, and milliseconds of latency.
BESIDE_CPU = 0.1
# The goal for p99 is 0.2 ms; 0.24 to 0.32 were measured.
BESIDE_LATENCY = {"p50": 0.2, "p99": 0.4}
# Largest cost of a frame by window size, in milliseconds of CPU: on vkms, and on the virtual display ("headless").
# Measured: 0.613, 1.242, 1.720, and 0.519 on the virtual display; the rest is a margin for another compiler.
FRAME_CPU = {"320x240": 0.63, "800x600": 1.28, "1024x768": 1.78, "320x240 headless": 0.535}
# Our wake-ups per frame: three of the main thread (the client and its latch, the light, the callback) and on vkms two of the
# presenter (a frame, the flip). Measured: 5.00 and 5.07, and 3.00; the rest is for events that do not belong to a frame.
FRAME_WAKE_UPS = 5.2
FRAME_WAKE_UPS_HEADLESS = 3.1
SMALLEST = "320x240"
# How many fewer frames a client with varying costs may make than with callbacks at the refresh, on a variable rate, in percent: half
# a percent by design, and as much for the different moments at which its costs fall. On the narrow range its long frames find the
# panel repeating a picture more often; it is 4 ms sooner there. Measured: 1.0 and 2.4.
FEWER_FRAMES = {"48-144": 1.2, "40-60": 2.8}


def find(runs, load, pacing, windows=1, interaction="free"):
    """The only run of this kind; `pacing` is its label without a miss budget."""
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
    """Bounds of a window without interaction, on any display; `light`: the median for the flat load."""
    return [
        ("flat, auto", flat, "callback_to_light_ms.p50", light),
        ("flat, auto", flat, "callback_to_light_ms.p99", 4.3),
        ("flat, auto", flat, "drops_per_s", 0.0),
        ("heavy, untouched", free, "callback_to_light_ms.p50", 33.3),
        ("heavy, untouched", free, "drops_per_s", 1.5),
    ]


def beside(runs):
    """The cost of a window's frame beside idle windows, compared with its cost beside the first of them."""
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
    """The cost of a frame of each size, our wake-ups for it, and the latency of the smallest."""
    bounds = []
    for run in runs:
        name = run["pacing"]
        size = name.split()[0]
        if name in FRAME_CPU:
            bounds.append((name, run, "compositor_cpu_ms_per_frame", FRAME_CPU[name]))
            wake_ups = FRAME_WAKE_UPS_HEADLESS if name.endswith("headless") else FRAME_WAKE_UPS
            bounds.append((name, run, "compositor_wakeups_per_refresh", wake_ups))
        if size == SMALLEST:
            bounds.append((name, run, "callback_to_light_ms.p50", 3.9))
        bounds.append((name, run, "drops_per_s", 0.0))
    return bounds


def short(runs):
    """Bounds of the test command, for a build with all checks and runs of a few seconds: 3.71, 3.75, 32.95 ms and
    1.6 drops a second were measured."""
    flat, heavy = find(runs, "flat", "auto"), find(runs, "heavy", "auto")
    return [
        ("flat, auto", flat, "callback_to_light_ms.p50", 4.2),
        ("flat, auto", flat, "callback_to_light_ms.p99", 6.0),
        ("flat, auto", flat, "drops_per_s", 0.0),
        ("heavy, untouched", heavy, "callback_to_light_ms.p50", 33.4),
        ("heavy, untouched", heavy, "drops_per_s", 2.0),
    ]


def first_seconds(runs):
    """No frame of a client's first seconds is dropped, at any rate, and after the first frames it is just in time."""
    bounds = []
    for rate in ("60", "144", "240"):
        auto, vsync = (find(runs, "flat", f"{pacing}, 1920x1080@{rate}") for pacing in ("auto", "vsync"))
        name = f"flat, first seconds, {rate} Hz"
        bounds += [
            (name, auto, "callback_to_light_ms.p50", 3.7),
            (name, auto, "drops_per_s", 0.0),
            (name, vsync, "drops_per_s", 0.0),
        ]
    return bounds


def variable_rates(runs):
    """A client with varying costs makes as many frames just in time as with callbacks at the refresh, but for a share."""
    bounds = []
    for rates, most in FEWER_FRAMES.items():
        auto, vsync = (find(runs, "heavy", f"{pacing}, 1920x1080@{rates}") for pacing in ("auto", "vsync"))
        lost = {"lost_percent": 100 * (1 - figure(auto, "fps") / figure(vsync, "fps"))}
        bounds.append((f"heavy, {rates} Hz", lost, "lost_percent", most))
    return bounds


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
    furnished = find(runs, "flat", "auto, four-workspaces")
    one, two = (find(runs, "flat", pacing, interaction="held") for pacing in ("auto", "auto, two-processes"))
    two_beside = find(runs, "flat", "auto, two-processes", windows=2, interaction="held")
    bounds = [
        *untouched(flat, free, 3.65),
        # 1 ms of CPU and 5 ms of GPU. A thread of the host stands for the GPU: its time is not counted, and it is late on a busy host
        # (one frame of 1 800 in one of four runs on a quiet host). So single drops are no verdict: `./up measure host` prints them.
        ("flat, on a GPU", gpu, "callback_to_light_ms.p50", 8.5),
        ("flat, on a GPU", gpu, "callback_to_light_ms.p99", 9.5),
        ("heavy, on a GPU", heavy_gpu, "callback_to_light_ms.p50", figure(free, "callback_to_light_ms.p50") + 0.3),
        ("heavy, on a GPU", heavy_gpu, "drops_per_s", figure(free, "drops_per_s") + 0.2),
        ("flat, ten idle", idle, "callback_to_light_ms.p50", 3.7),
        ("flat, ten idle", idle, "drops_per_s", 0.0),
        ("flat, decorated", decorated, "callback_to_light_ms.p50", figure(bare, "callback_to_light_ms.p50") + 0.1),
        ("flat, decorated", decorated, "callback_to_light_ms.p99", figure(bare, "callback_to_light_ms.p99") + 0.3),
        ("flat, decorated", decorated, "drops_per_s", 0.0),
        # Forty idle windows on four workspaces, with title bars, an edge around the focused one, and rules.
        ("flat, four workspaces", furnished, "callback_to_light_ms.p50", figure(flat, "callback_to_light_ms.p50") + 0.1),
        ("flat, four workspaces", furnished, "callback_to_light_ms.p99", figure(flat, "callback_to_light_ms.p99") + 0.3),
        ("flat, four workspaces", furnished, "drops_per_s", 0.0),
        ("two processes", two, "drops_per_s", figure(one, "drops_per_s")),
        ("two processes, beside another", two_beside, "drops_per_s", figure(two, "drops_per_s")),
        ("flat, ten others", crowd, "callback_to_light_ms.p50", 6.0),
        ("heavy, touched", held, "callback_to_light_ms.p50", 17.7),
        ("heavy, touched", held, "drops_per_s", 5.2),
        ("flat, a flooder", flooded, "callback_to_light_ms.p50", figure(alone, "callback_to_light_ms.p50") + FLOOD),
        ("flat, a flooder", flooded, "callback_to_light_ms.p99", figure(alone, "callback_to_light_ms.p99") + FLOOD),
        ("flat, a flooder", flooded, "drops_per_s", 0.0),
        # One wake-up for the client, whose frame is latched with it, and two of ours: its callback and the light. A twentieth is for
        # events that do not belong to a frame.
        ("flat, no input", alone, "compositor_wakeups_per_refresh", 3.05),
        # The vsync baseline must have its two periods of latency, without a drop.
        ("flat, vsync", vsync, "callback_to_light_ms.p50", 2 * PERIOD),
        ("flat, vsync", vsync, "drops_per_s", 0.0),
    ]
    # A client that allocates buffers on demand is as fast as other clients, and always has a buffer to draw into.
    for most, run in on_demand.items():
        name = f"heavy, {most or 'any'} on demand"
        bounds += [
            (name, run, "callback_to_light_ms.p50", figure(free, "callback_to_light_ms.p50") + 0.3),
            (name, run, "drops_per_s", figure(free, "drops_per_s") + 0.2),
            (name, run, "starved", 0),
        ]
    bounds += first_seconds(runs) + variable_rates(runs)
    exceeded = exceeding(bounds)
    if figure(vsync, "callback_to_light_ms.p50") < 2 * PERIOD - 1:
        exceeded += 1
        print("FAIL flat, vsync: faster than the baseline can be")
    print(f"{len(bounds) + 1 - exceeded} passed, {exceeded} failed")
    sys.exit(1 if exceeded else 0)


def exceeding(bounds):
    """Prints each figure with its bound. Returns how many exceed it."""
    exceeded = 0
    for what, run, name, bound in bounds:
        value = figure(run, name)
        kept = value <= bound
        exceeded += not kept
        print(f"{'ok  ' if kept else 'FAIL'} {what:<28} {name:<30} {value:8.3f} at most {bound:.3f}")
    return exceeded


if __name__ == "__main__":
    main()
