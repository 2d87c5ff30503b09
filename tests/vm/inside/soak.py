#!/usr/bin/env python3
"""Many events in one session, over and over: soak.py UPBEAT PID SECONDS

Rounds of windows that open and are closed or killed, with one of these in between: the monitor is unplugged and plugged
in again, its mode changes, it is turned off and on, or a VT switch to another session and back. After each
round, when no client is left, the memory and descriptors of the compositor (PID) are counted. Succeeds if both are level
after SECONDS: a leak grows with the rounds.

    rounds   │ warm-up │ early third │   │ late third │     memory(late) - memory(early) is below LARGEST_GROWTH_KIB,
                                                          each third's smallest, to ignore memory in use at the time

A leak grows in every round; the largest amount ever in use grows in steps, with nothing in between. So in the median
round memory grows by no more than LARGEST_STEP_KIB. The thirds are compared only in a soak of many rounds, which has seen
the worst of them.
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
CONNECTOR = next(iter(pathlib.Path("/sys/class/drm").glob("card*-Virtual-1")))
OUTPUT = "Virtual-1"
# Programs of several kinds: idle, always drawing, and with many objects.
PROGRAMS = (["weston-simple-shm"], ["foot", "--app-id", "soak", "sleep", "1000"], ["weston-simple-damage"],
            ["weston-flower"])
# Until caches and pools are filled and malloc has its reserves: at least this many rounds, and this part of a long soak. The
# size of the heap is near to the largest amount ever in use at once, and the worst combination of rounds comes late.
WARM_UP_ROUNDS = 6
WARM_UP_PART = 4
# Three rounds a third, of about 3.5 s each.
FEWEST_ROUNDS = WARM_UP_ROUNDS + 9
# If these are not level, the soak goes on up to this many rounds.
MORE_ROUNDS = 3 * FEWEST_ROUNDS
# Noise of the allocator: one step of its heap (132 KiB), and pages that are reused differently. A leak of a window's
# data is several KiB a window, and there are thirty windows between the thirds.
LARGEST_GROWTH_KIB = 192
# Two pages: a leak of five windows is more.
LARGEST_STEP_KIB = 8
# Rounds in a third: surely more than between two steps of the heap; the last step came after 14 rounds or after 60.
MANY_ROUNDS = 70
# The buffers of the last scenes, which are kept until there are newer scenes: of each of the four windows of a round. 44
# rounds had 37 to 41 without growing. A leak of one in each round would be six between the thirds.
MOST_MORE_DESCRIPTORS = 4
PATIENCE_SECONDS = 10


class Session:
    def __init__(self, upbeat, process):
        self.upbeat, self.process = upbeat, process

    def msg(self, *arguments):
        answer = subprocess.run([self.upbeat, "msg", "--json", *arguments], capture_output=True, text=True, check=False)
        if answer.returncode:
            sys.exit(f"upbeat msg {' '.join(arguments)}: {answer.stderr.strip() or answer.returncode}")
        return json.loads(answer.stdout) if answer.stdout.strip() else {}

    def until(self, what, condition):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                sys.exit(f"{PATIENCE_SECONDS} s were not enough for: {what}")
            time.sleep(0.05)

    def windows(self):
        return len(self.msg("windows")["windows"])

    def outputs(self):
        return len(self.msg("outputs")["outputs"])

    def kibibytes(self):
        """The compositor's private memory in KiB, without mapped files and clients' buffers."""
        for line in pathlib.Path(f"/proc/{self.process}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
        return 0

    def descriptors(self):
        """Number of descriptors of each kind."""
        kinds = collections.Counter()
        for descriptor in pathlib.Path(f"/proc/{self.process}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                kinds[re.sub(r"\d{3,}", "N", os.readlink(descriptor))] += 1
        return kinds


def terminal(*which):
    answer = subprocess.run([sys.executable, HERE / "vt.py", *which], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def plug(there):
    (CONNECTOR / "status").write_text("on" if there else "off", encoding="ascii")
    pathlib.Path("/sys/class/drm/card0/uevent").write_text("change", encoding="ascii")


def replug(session):
    plug(False)
    session.until("the monitor is gone", lambda: session.outputs() == 0)
    plug(True)
    session.until("the monitor is back", lambda: session.outputs() == 1)


def other_terminal(_session):
    ours = terminal()
    terminal("5")
    time.sleep(0.3)
    terminal(ours)
    time.sleep(0.3)


def other_mode(session):
    for mode in ("800x600@60", "1024x768@60"):
        session.msg("output", "mode", OUTPUT, mode)
        time.sleep(0.2)


def off_and_on(session):
    session.msg("output", "off", OUTPUT)
    time.sleep(0.2)
    session.msg("output", "on", OUTPUT)
    time.sleep(0.2)


INTERRUPTIONS = (replug, other_terminal, other_mode, off_and_on)


def one_round(session, number):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    clients = [subprocess.Popen(command, **quiet) for command in PROGRAMS]
    session.until("all windows are there", lambda: session.windows() == len(clients))
    clients.append(subprocess.Popen(PROGRAMS[0], **quiet))  # caught in the middle of what follows
    INTERRUPTIONS[number % len(INTERRUPTIONS)](session)
    for position, client in enumerate(clients):
        if (number + position) % 2:
            client.kill()
        else:
            client.terminate()
    for client in clients:
        client.wait()
    session.until("all windows are gone", lambda: session.windows() == 0)
    time.sleep(0.3)  # the last frame without them


def verdict(samples):
    """Sentences about each resource that is not level."""
    samples = samples[max(WARM_UP_ROUNDS, len(samples) // WARM_UP_PART):]
    third = len(samples) // 3
    early, late = samples[:third], samples[-third:]
    growth = min(memory for memory, _ in late) - min(memory for memory, _ in early)
    more = min(kinds.total() for _, kinds in late) - min(kinds.total() for _, kinds in early)
    print(f"     {len(samples)} rounds after the warm-up: memory {early[0][0]} KiB, then {late[-1][0]} KiB "
          f"(level within {growth} KiB); descriptors {early[0][1].total()}, then {late[-1][1].total()}")
    steps = sorted(after[0] - before[0] for before, after in zip(samples, samples[1:]))
    if steps[len(steps) // 2] > LARGEST_STEP_KIB:
        yield f"memory grows with the rounds: {[memory for memory, _ in samples]}"
    if third >= MANY_ROUNDS and growth > LARGEST_GROWTH_KIB:
        yield f"memory grew by {growth} KiB: {[memory for memory, _ in samples]}"
    if more > MOST_MORE_DESCRIPTORS:
        grown = late[-1][1] - early[0][1]
        yield f"descriptors grew by {more}: {[kinds.total() for _, kinds in samples]}; now more of {dict(grown)}"


def main():
    upbeat, process, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    session = Session(upbeat, process)
    started, samples = time.monotonic(), []
    while time.monotonic() < started + seconds or len(samples) < FEWEST_ROUNDS:
        one_round(session, len(samples))
        samples.append((session.kibibytes(), session.descriptors()))
    complaints = list(verdict(samples))
    # Nine rounds may be unlucky; a real leak goes on in the rounds that follow.
    if complaints and len(samples) < MORE_ROUNDS:
        print("     not level yet:", *complaints)
        while len(samples) < MORE_ROUNDS:
            one_round(session, len(samples))
            samples.append((session.kibibytes(), session.descriptors()))
        complaints = list(verdict(samples))
    sys.exit("\n".join(complaints) or 0)


if __name__ == "__main__":
    main()
