/* The pacing of one wl_surface whose frames a library commits, such as a Vulkan driver. It binds each frame to the refresh of its
 * target, and reports when frames were presented. It uses Wayland only, not Vulkan.
 *
 * All times are nanoseconds on the clock of wp_presentation (CLOCK_MONOTONIC). Only one thread at a time may use a pacing.
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

/* A presented frame. */
struct pacing_seen {
    /* The arguments of pacing_bind. */
    uint32_t name;
    uint64_t desired;
    /* The time at which it was presented, and its target's time. */
    uint64_t at, target;
    /* The time from ready to its deadline; negative if it was late. */
    int32_t margin;
};

/* Counts of frames since pacing_new. */
struct pacing_counts {
    unsigned presents, bound, seen, on_time, discarded;
};

/* A pacing of `surface`, up to `ahead` frames ahead; NULL if the compositor lacks the protocol. It does not commit: its requests take
 * effect with the surface's next commit. */
struct pacing *pacing_new(struct wl_display *display, struct wl_surface *surface, uint32_t ahead);
void pacing_destroy(struct pacing *pacing);

/* The target of the frame that the program draws now; false if there is no target. */
bool pacing_target(const struct pacing *pacing, struct pacing_target *target);

/* Call it right before the commit of the surface. It binds the frame to a target: the target nearest to the time `desired`, or the next
 * target if `desired` is 0. `ahead` limits the number of targets that it passes over. */
void pacing_bind(struct pacing *pacing, uint32_t name, uint64_t desired);

/* Call it right after the commit. It requests the target of the next frame and waits for it. So a program cannot draw faster than the
 * display shows its frames. */
void pacing_next(struct pacing *pacing);

/* Takes the oldest presented frame that was not taken yet; false if there is none. */
bool pacing_take_seen(struct pacing *pacing, struct pacing_seen *seen);
/* The number of frames left for pacing_take_seen. */
unsigned pacing_seen_count(const struct pacing *pacing);

/* The time between two refreshes, 0 before the first target. */
uint32_t pacing_interval(const struct pacing *pacing);
struct pacing_counts pacing_counts(const struct pacing *pacing);
