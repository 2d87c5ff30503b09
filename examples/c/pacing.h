/* The pacing of one wl_surface whose frames somebody else commits, such as a Vulkan driver: which refresh the next frame is for, and
 * what became of those before it. Knows Wayland and nothing of Vulkan.
 *
 * All times are nanoseconds on the clock of wp_presentation (CLOCK_MONOTONIC). One thread at a time uses a pacing.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <wayland-client-core.h>

struct wl_surface;
struct pacing;

/* A refresh to draw for. */
struct pacing_target {
    uint64_t id, present;
    /* The time between two refreshes. */
    uint32_t interval;
};

/* A frame that was seen. */
struct pacing_seen {
    /* What its presenter calls it, and when it wished it to be seen; as given to pacing_bind. */
    uint32_t name;
    uint64_t desired;
    /* When it was seen, and for when it was drawn. */
    uint64_t at, target;
    /* How long it was ready before it had to be; negative if it was late. */
    int32_t margin;
};

/* What happened so far. */
struct pacing_counts {
    unsigned presents, bound, seen, on_time, discarded;
};

/* A pacing of `surface`, up to `ahead` frames ahead; NULL if the compositor does not have the protocol. Makes no commit: what it asks
 * for holds from the surface's next one on. */
struct pacing *pacing_new(struct wl_display *display, struct wl_surface *surface, uint32_t ahead);
void pacing_destroy(struct pacing *pacing);

/* The target that the frame being drawn is for; false if there is none. */
bool pacing_target(const struct pacing *pacing, struct pacing_target *target);

/* To be called right before the surface is committed: binds the frame to its target. A frame that wishes to be seen at `desired` (0: as
 * soon as it can) is bound to the target nearest to that, as far ahead as may be drawn. */
void pacing_bind(struct pacing *pacing, uint32_t name, uint64_t desired);

/* To be called right after the commit: asks for the target of the next frame and waits for it, which holds up a program that draws
 * faster than the display shows. */
void pacing_next(struct pacing *pacing);

/* Takes the oldest frame that was seen and not taken; false if there is none. */
bool pacing_take_seen(struct pacing *pacing, struct pacing_seen *seen);
/* How many pacing_take_seen would give. */
unsigned pacing_seen_count(const struct pacing *pacing);

/* The time between two refreshes, 0 before the first target. */
uint32_t pacing_interval(const struct pacing *pacing);
struct pacing_counts pacing_counts(const struct pacing *pacing);
