#!/usr/bin/env python3
"""Virtual input devices (uinput; needs root), driven from a script.

    uinput.py < SCRIPT

creates a keyboard, a mouse, a touchscreen, a graphics tablet with a pen and a touchpad, waits until udev and the compositor
have had time to find them, and carries out each line of the script:

    key CODE                press and release a key (Linux event code)
    down CODE | up CODE     one half of that; also for buttons (272 is the left one)
    click CODE              press and release a button
    move DX DY              move the mouse
    wheel STEPS             turn its wheel; down is negative
    touch X Y | lift        a finger at a place of the touchscreen (0 to 32767 both ways)
    pen X Y PRESSURE        the pen at a place of the tablet (0 to 32767 both ways); it touches if PRESSURE (0 to 1000) is not 0
    away                    the pen leaves the tablet
    swipe FINGERS DX DY     fingers side by side on the touchpad move this far (hundredths of a millimetre), and leave it
    pinch FROM TO           two fingers on the touchpad change their distance (the same unit), and leave it
    sleep SECONDS
    unplug                  remove all devices

After each line with an event it prints the time (CLOCK_MONOTONIC, seconds) at which the event was written.
"""

import fcntl
import struct
import sys
import time

UI_SET_EVBIT, UI_SET_KEYBIT, UI_SET_RELBIT, UI_SET_ABSBIT, UI_SET_PROPBIT = (
    0x40045564, 0x40045565, 0x40045566, 0x40045567, 0x4004556E)
UI_DEV_CREATE, UI_DEV_DESTROY, UI_DEV_SETUP, UI_ABS_SETUP = 0x5501, 0x5502, 0x405C5503, 0x401C5504
EV_SYN, EV_KEY, EV_REL, EV_ABS = 0, 1, 2, 3
REL_X, REL_Y, REL_WHEEL, REL_WHEEL_HI_RES = 0, 1, 8, 11
ABS_MT_SLOT, ABS_MT_POSITION_X, ABS_MT_POSITION_Y, ABS_MT_TRACKING_ID = 0x2F, 0x35, 0x36, 0x39
ABS_X, ABS_Y, BTN_TOUCH = 0, 1, 0x14A
INPUT_PROP_POINTER, INPUT_PROP_DIRECT, INPUT_PROP_BUTTONPAD = 0, 1, 2
BTN_TOOL_FINGER, BTN_TOOL_DOUBLETAP, BTN_TOOL_TRIPLETAP = 0x145, 0x14D, 0x14E
BTN_LEFT, BTN_MIDDLE = 0x110, 0x112
ABS_PRESSURE, BTN_TOOL_PEN, BTN_STYLUS = 0x18, 0x140, 0x14B
LARGEST = 32767
LARGEST_PRESSURE = 1000
UNITS_PER_MM = 100
# Size of the touchpad: 100 mm by 70 mm.
PAD_WIDTH, PAD_HEIGHT = 100 * UNITS_PER_MM, 70 * UNITS_PER_MM
PAD_FINGERS = 3
# Distance of the fingers in a swipe, and the steps of a gesture.
FINGER_GAP = 20 * UNITS_PER_MM
GESTURE_STEPS, STEP_SECONDS = 30, 0.01
# Seconds; udev, libinput and the compositor find a new device in less.
SETTLE_SECONDS = 0.5


class Device:
    def __init__(self, name, keys=(), relative=(), absolute=(), properties=(INPUT_PROP_DIRECT,)):
        self.file = open("/dev/uinput", "wb", buffering=0)
        for code in keys:
            self.set(UI_SET_EVBIT, EV_KEY)
            self.set(UI_SET_KEYBIT, code)
        for code in relative:
            self.set(UI_SET_EVBIT, EV_REL)
            self.set(UI_SET_RELBIT, code)
        for code, largest in absolute:
            self.set(UI_SET_EVBIT, EV_ABS)
            self.set(UI_SET_ABSBIT, code)
            fcntl.ioctl(self.file, UI_ABS_SETUP, struct.pack("<Hxx6i", code, 0, 0, largest, 0, 0, UNITS_PER_MM))
        for code in properties if absolute else ():
            self.set(UI_SET_PROPBIT, code)
        identity = struct.pack("<4H80sI", 3, 0x1209, len(name), 1, name.encode(), 0)
        fcntl.ioctl(self.file, UI_DEV_SETUP, identity)
        fcntl.ioctl(self.file, UI_DEV_CREATE)

    def set(self, request, value):
        fcntl.ioctl(self.file, request, value)

    def write(self, *events):
        stamp = struct.pack("<qq", 0, 0)
        data = b"".join(stamp + struct.pack("<HHi", *event) for event in (*events, (EV_SYN, 0, 0)))
        self.file.write(data)

    def remove(self):
        fcntl.ioctl(self.file, UI_DEV_DESTROY)
        self.file.close()


class Seat:
    def __init__(self):
        self.keyboard = Device("upbeat test keyboard", keys=range(1, 128))
        self.mouse = Device("upbeat test mouse", keys=range(BTN_LEFT, BTN_MIDDLE + 1),
                            relative=(REL_X, REL_Y, REL_WHEEL, REL_WHEEL_HI_RES))
        contact = ((ABS_X, LARGEST), (ABS_Y, LARGEST), (ABS_MT_SLOT, 9), (ABS_MT_POSITION_X, LARGEST),
                   (ABS_MT_POSITION_Y, LARGEST), (ABS_MT_TRACKING_ID, 65535))
        self.screen = Device("upbeat test touchscreen", keys=(BTN_TOUCH,), absolute=contact)
        self.contact = 0
        self.tablet = Device("upbeat test tablet", keys=(BTN_TOUCH, BTN_TOOL_PEN, BTN_STYLUS),
                             absolute=((ABS_X, LARGEST), (ABS_Y, LARGEST), (ABS_PRESSURE, LARGEST_PRESSURE)))
        self.pad = Device("upbeat test touchpad",
                          keys=(BTN_LEFT, BTN_TOUCH, BTN_TOOL_FINGER, BTN_TOOL_DOUBLETAP, BTN_TOOL_TRIPLETAP),
                          absolute=((ABS_X, PAD_WIDTH), (ABS_Y, PAD_HEIGHT), (ABS_MT_SLOT, PAD_FINGERS - 1),
                                    (ABS_MT_POSITION_X, PAD_WIDTH), (ABS_MT_POSITION_Y, PAD_HEIGHT),
                                    (ABS_MT_TRACKING_ID, 65535)),
                          properties=(INPUT_PROP_POINTER, INPUT_PROP_BUTTONPAD))
        time.sleep(SETTLE_SECONDS)

    def press(self, code, value):
        (self.mouse if code >= BTN_LEFT else self.keyboard).write((EV_KEY, code, value))

    def key(self, code):
        self.press(int(code), 1)
        self.press(int(code), 0)

    click = key

    def down(self, code):
        self.press(int(code), 1)

    def up(self, code):
        self.press(int(code), 0)

    def move(self, x, y):
        self.mouse.write((EV_REL, REL_X, int(x)), (EV_REL, REL_Y, int(y)))

    def wheel(self, steps):
        self.mouse.write((EV_REL, REL_WHEEL, int(steps)), (EV_REL, REL_WHEEL_HI_RES, 120 * int(steps)))

    def touch(self, x, y):
        place = [(EV_ABS, ABS_MT_POSITION_X, int(x)), (EV_ABS, ABS_MT_POSITION_Y, int(y)),
                 (EV_ABS, ABS_X, int(x)), (EV_ABS, ABS_Y, int(y))]
        if self.contact:
            self.screen.write(*place)
            return
        self.contact += 1
        self.screen.write((EV_ABS, ABS_MT_SLOT, 0), (EV_ABS, ABS_MT_TRACKING_ID, self.contact),
                          *place, (EV_KEY, BTN_TOUCH, 1))

    def lift(self):
        self.contact = 0
        self.screen.write((EV_ABS, ABS_MT_SLOT, 0), (EV_ABS, ABS_MT_TRACKING_ID, -1), (EV_KEY, BTN_TOUCH, 0))

    def pen(self, x, y, pressure):
        self.tablet.write((EV_KEY, BTN_TOOL_PEN, 1), (EV_ABS, ABS_X, int(x)), (EV_ABS, ABS_Y, int(y)),
                          (EV_ABS, ABS_PRESSURE, int(pressure)), (EV_KEY, BTN_TOUCH, int(int(pressure) > 0)))

    def away(self):
        self.tablet.write((EV_ABS, ABS_PRESSURE, 0), (EV_KEY, BTN_TOUCH, 0), (EV_KEY, BTN_TOOL_PEN, 0))

    def glide(self, start, end):
        """Puts fingers down at the places of `start`, moves them to the places of `end`, and lifts them."""
        self.pad.write(*self.contacts(start, begins=True), *self.count(len(start), 1))
        for step in range(1, GESTURE_STEPS + 1):
            time.sleep(STEP_SECONDS)
            share = step / GESTURE_STEPS
            self.pad.write(*self.contacts([(a + (c - a) * share, b + (d - b) * share)
                                           for (a, b), (c, d) in zip(start, end)]))
        time.sleep(STEP_SECONDS)
        leaving = [event for slot in range(len(start))
                   for event in ((EV_ABS, ABS_MT_SLOT, slot), (EV_ABS, ABS_MT_TRACKING_ID, -1))]
        self.pad.write(*leaving, *self.count(len(start), 0))

    def contacts(self, places, begins=False):
        events = []
        for slot, (x, y) in enumerate(places):
            events.append((EV_ABS, ABS_MT_SLOT, slot))
            if begins:
                self.contact += 1
                events.append((EV_ABS, ABS_MT_TRACKING_ID, self.contact))
            events += [(EV_ABS, ABS_MT_POSITION_X, round(x)), (EV_ABS, ABS_MT_POSITION_Y, round(y))]
        x, y = places[0]
        return events + [(EV_ABS, ABS_X, round(x)), (EV_ABS, ABS_Y, round(y))]

    @staticmethod
    def count(fingers, down):
        tool = {1: BTN_TOOL_FINGER, 2: BTN_TOOL_DOUBLETAP, 3: BTN_TOOL_TRIPLETAP}[fingers]
        return (EV_KEY, BTN_TOUCH, down), (EV_KEY, tool, down)

    def swipe(self, fingers, x, y):
        first = PAD_WIDTH // 2 - FINGER_GAP * (int(fingers) - 1) / 2 - int(x) / 2
        start = [(first + FINGER_GAP * finger, PAD_HEIGHT // 2 - int(y) / 2) for finger in range(int(fingers))]
        self.glide(start, [(a + int(x), b + int(y)) for a, b in start])

    def pinch(self, before, after):
        # Along the diagonal, because libinput takes fingers one above the other for a palm.
        def apart(distance):
            half = int(distance) / 2 ** 1.5
            return [(PAD_WIDTH // 2 - half, PAD_HEIGHT // 2 + half), (PAD_WIDTH // 2 + half, PAD_HEIGHT // 2 - half)]
        self.glide(apart(before), apart(after))

    def sleep(self, seconds):
        time.sleep(float(seconds))

    def unplug(self):
        for device in (self.keyboard, self.mouse, self.screen, self.tablet, self.pad):
            device.remove()


def main():
    seat = Seat()
    for number, line in enumerate(sys.stdin, 1):
        verb, *arguments = line.split("#")[0].split() or [""]
        if not verb:
            continue
        act = getattr(seat, verb, None)
        if act is None or verb in ("press", "glide", "contacts", "count"):
            sys.exit(f"uinput.py: line {number}: nothing is called '{verb}'")
        act(*arguments)
        print(f"{time.monotonic():.6f} {line.strip()}", flush=True)


if __name__ == "__main__":
    main()
