"""What programs have of what `upbeat msg clients` bounds, and whether it grows."""

import collections
import contextlib
import os
import re
import statistics
import time

import crowds
from session import Session

# Real programs stay below so much of a bound. What follows the installed memory and the limits of the system may be nearer.
MOST_PART = 0.1
MOST_PART_OF_SYSTEM = 0.25
DESCRIPTORS, MAPPED, MEMORY = "descriptors of the session", "MB that the session maps", "MB of memory behind that"
OF_SYSTEM = {DESCRIPTORS, MAPPED, MEMORY, "descriptors", "mapped bytes"}
MB = 1 << 20
# What st_blocks counts.
BLOCK = 512
# Of the addresses that a process has half are its own.
ADDRESSES = (1 << 47) // MB
# What is looked at of a long run: its second quarter against its last. Fewer than so many more are no growth.
FEW = 16
GROWTH = 1.2


class Watch:
    """Looks at one session again and again."""

    def __init__(self, session):
        self.session = session
        # By kind: the most that one client had, and how many one may have.
        self.most, self.bounds = collections.Counter(), {}
        # By client and kind: how many it has had, look by look; and what the session itself has.
        self.history = collections.defaultdict(list)
        self.looked = 0.0

    def look(self):
        if time.monotonic() - self.looked < 1.0:
            return
        self.looked = time.monotonic()
        for client in self.session.message("clients")["clients"]:
            for use in client["uses"]:
                self.note(use["kind"], use["most_used"], use["bound"])
                self.history[client["name"], client["pid"], use["kind"]].append(use["used"])
        process = self.session.compositor.pid
        addresses, memory = mapped(process)
        for kind, used, bound in ((DESCRIPTORS, descriptors(process), limit(process)), (MAPPED, addresses, ADDRESSES),
                                  (MEMORY, memory, installed())):
            self.note(kind, used, bound)
            self.history["the session", process, kind].append(used)

    def note(self, kind, most, bound):
        self.most[kind] = max(self.most[kind], most)
        self.bounds[kind] = bound

    def grown(self):
        """What somebody who was there all the time has more of at the end than in the second quarter."""
        looks = max(map(len, self.history.values()), default=0)
        found = []
        for (name, pid, kind), numbers in self.history.items():
            quarter = len(numbers) // 4
            if quarter == 0 or len(numbers) < looks:
                continue
            before, after = statistics.mean(numbers[quarter:2 * quarter]), statistics.mean(numbers[-quarter:])
            if after > before * GROWTH and after - before > FEW:
                found.append(f"{name} ({pid}): {before:.0f} {kind}, then {after:.0f}")
        return found


def descriptors(process):
    return len(os.listdir(f"/proc/{process}/fd"))


def limit(process):
    with open(f"/proc/{process}/limits") as limits:
        return int(re.search(r"Max open files\s+(\d+)", limits.read())[1])


def mapped(process):
    """Shared memory without a name in the file system, which is what clients draw into: addresses, and what is there. Foot
    maps half a gigabyte a window, and fills some of it."""
    total, files = 0, {}
    with open(f"/proc/{process}/maps") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and "s" in fields[1] and "(deleted)" in fields[5]:
                begin, end = (int(number, 16) for number in fields[0].split("-"))
                total += end - begin
                with contextlib.suppress(OSError):
                    files[fields[4]] = os.stat(f"/proc/{process}/map_files/{fields[0]}").st_blocks * BLOCK
    return total // MB, sum(files.values()) // MB


def installed():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MB


def measure(arguments, crowd, say):
    """One session: what its clients had most of, and what grew."""
    with Session(arguments.upbeat) as session:
        watch = Watch(session)
        for program in crowd.programs:
            session.start(program)
            time.sleep(program.warm_up)
            watch.look()
        session.wait("a window", session.windows)
        crowds.play(session, crowd, arguments.seconds, watch.look)
        ended = [program.args[0] for program in session.programs if program.poll() is not None]
        say(f"{crowd.name}: {len(session.windows())} windows at the end{'; ENDED: ' + ', '.join(ended) if ended else ''}")
        for line in watch.grown():
            say(f"  GROWS: {line}")
    session.forget()
    return watch


def table(watches):
    """Lines of Markdown: kinds, their bounds, and the most that one client of each crowd had."""
    bounds = {kind: bound for watch in watches.values() for kind, bound in watch.bounds.items()}
    yield f"| what | one may have | {' | '.join(watches)} | most |"
    yield f"|---|{'---:|' * (len(watches) + 2)}"
    for kind, bound in sorted(bounds.items(), key=lambda item: -part(watches, *item)):
        cells = " | ".join(str(watch.most[kind]) for watch in watches.values())
        yield f"| {kind} | {bound} | {cells} | {part(watches, kind, bound):.1%} |"


def part(watches, kind, bound):
    return max(watch.most[kind] for watch in watches.values()) / bound


def too_near(watches):
    """The kinds of which a program has too much for the bound."""
    bounds = {kind: bound for watch in watches.values() for kind, bound in watch.bounds.items()}
    return [kind for kind, bound in bounds.items()
            if part(watches, kind, bound) > (MOST_PART_OF_SYSTEM if kind in OF_SYSTEM else MOST_PART)]
