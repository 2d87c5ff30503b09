"""Compares two pacings, in turns within one session."""

import collections
import dataclasses
import json
import statistics
import time

PACINGS = ("auto", "vsync")
# Seconds after a switch that do not count, because the compositor learns the pacing again.
SETTLE = 2.0


@dataclasses.dataclass
class Turn:
    pacing: str
    begun: int
    ended: int
    # By window: its state at the end.
    windows: dict
    dropped: dict


def take(session, count, seconds):
    """Runs `count` turns with each pacing."""
    turns = []
    for number in range(count):
        # Alternate the order, so that neither pacing is always first.
        for pacing in PACINGS if number % 2 == 0 else PACINGS[::-1]:
            session.message("pacing", "HEADLESS-1", pacing)
            time.sleep(SETTLE)
            before, begun = drops(session), now()
            time.sleep(seconds)
            after, ended = drops(session), now()
            dropped = {window: total - before.get(window, 0) for window, total in after.items()}
            turns.append(Turn(pacing, begun, ended, {window["window"]: window for window in session.windows()}, dropped))
    return turns


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def drops(session):
    return {window["window"]: window["drops"]["total"] for window in session.message("stats")["windows"]}


@dataclasses.dataclass
class Figures:
    """A window's figures with one pacing, one for each turn."""
    fps: list
    drops: list
    latencies: list
    classes: collections.Counter
    misses: collections.Counter
    reason: str

    def line(self):
        latency = statistics.median(self.latencies) if self.latencies else float("nan")
        classes = ", ".join(f"{kind} {share:.0%}" for kind, share in shares(self.classes))
        misses = ", ".join(f"{kind} {count}" for kind, count in self.misses.most_common(3))
        return (f"{' '.join(f'{fps:5.1f}' for fps in self.fps)} fps  {statistics.mean(self.drops):5.2f} drops/s"
                f"  {latency:5.1f} ms  {classes}{'; ' if misses else ''}{misses}")


def shares(counter):
    total = sum(counter.values())
    return [(kind, count / total) for kind, count in counter.most_common(2)]


def figures(session, turns):
    """Figures by window and pacing, from the session's frame log. Call it after the session has ended."""
    frames = collections.defaultdict(list)
    with open(session.frame_log) as log:
        for line in log:
            frame = json.loads(line)
            if frame["type"] == "client" and frame["latched"]:
                frames[frame["window"]].append(frame)
    found = {}
    for window in {window for turn in turns for window in turn.windows}:
        for pacing in PACINGS:
            found[window, pacing] = of_window(window, frames[window], [turn for turn in turns if turn.pacing == pacing])
    return found


def of_window(window, frames, turns):
    result = Figures([], [], [], collections.Counter(), collections.Counter(), "")
    for turn in turns:
        seconds = (turn.ended - turn.begun) / 1e9
        shown = [frame for frame in frames if frame["presented"] and turn.begun <= frame["presented"] < turn.ended]
        result.fps.append(len({frame["sequence"] for frame in shown}) / seconds)
        result.drops.append(turn.dropped.get(window, 0) / seconds)
        result.latencies += [(frame["presented"] - frame["callback_sent"]) / 1e6 for frame in shown if frame["callback_sent"]]
        result.classes.update(f"{frame['class']}/{frame['pacing']}/{frame['slack_periods']}" for frame in shown)
        late = [frame for frame in frames if frame["miss"] and turn.begun <= frame["latched"] < turn.ended]
        result.misses.update(frame["miss"]["kind"] for frame in late)
        if window in turn.windows:
            result.reason = turn.windows[window]["reason"]
    return result
