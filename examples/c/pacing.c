/* See pacing.h. The events come on a separate event queue: the program still dispatches its own queue, in any thread. */
#define _GNU_SOURCE
#include "pacing.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wayland-client.h>

#include "upbeat-frame-pacing-v1-client-protocol.h"

#define NANOS UINT64_C(1000000000)
/* The compositor never has more targets and frames in flight. */
enum { TARGETS = 64, FRAMES = 64, SEEN = 64 };
/* A hidden window receives one target a second. A target that has not come after this time does not come. */
#define PATIENCE (2 * NANOS)

struct frame {
    uint64_t id, desired, present;
    uint32_t name, interval;
    bool waits;
};

struct pacing {
    struct wl_display *display;
    struct wl_event_queue *queue;
    struct wl_registry *registry;
    struct upbeat_frame_pacing_manager_v1 *manager;
    struct upbeat_frame_pacing_v1 *pacing;
    /* Targets without a frame. The first belongs to the frame that the program draws now. */
    struct pacing_target targets[TARGETS];
    unsigned n_targets;
    /* Number of targets that the compositor still has to send. */
    unsigned expected;
    /* The last revoked target that was the first of `targets`: the compositor replaces it only once. */
    uint64_t replaced;
    /* Ring of committed frames; `waits`: neither presented nor discarded yet. */
    struct frame frames[FRAMES];
    unsigned next_frame;
    struct pacing_seen seen[SEEN];
    unsigned first_seen, n_seen;
    uint32_t interval, ahead;
    struct pacing_counts counts;
};

static uint64_t join(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static uint64_t nanos(uint32_t high, uint32_t low, uint32_t nsec) { return join(high, low) * NANOS + nsec; }

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOS + (uint64_t)time.tv_nsec;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void on_capabilities(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t limit) {
    (void)data, (void)object, (void)limit;
}

static void on_effective(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t kind, uint32_t ahead,
                         uint32_t min_buffers, uint32_t reason) {
    (void)object, (void)kind, (void)min_buffers, (void)reason;
    ((struct pacing *)data)->ahead = ahead;
}

static void on_target(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t id_hi, uint32_t id_lo,
                      uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec, uint32_t ready_by, uint32_t interval,
                      uint32_t frames_ahead) {
    struct pacing *pacing = data;
    (void)object, (void)ready_by, (void)frames_ahead;
    if (pacing->expected > 0)
        pacing->expected--;
    pacing->interval = interval;
    if (pacing->n_targets < TARGETS)
        pacing->targets[pacing->n_targets++] =
            (struct pacing_target){join(id_hi, id_lo), nanos(sec_hi, sec_lo, nsec), interval};
}

/* The compositor replaces revoked targets without a frame. The first target stays: its frame is in work, and is bound to it. */
static void on_revoked(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t id_hi, uint32_t id_lo,
                       uint32_t reason) {
    struct pacing *pacing = data;
    (void)object, (void)reason;
    for (unsigned i = pacing->n_targets; i-- > 0 && pacing->targets[i].id >= join(id_hi, id_lo);) {
        if (pacing->targets[i].id != pacing->replaced)
            pacing->expected++;
        if (i == 0)
            pacing->replaced = pacing->targets[0].id;
        else
            pacing->n_targets--;
    }
}

static void on_cancelled(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t id_hi, uint32_t id_lo) {
    (void)data, (void)object, (void)id_hi, (void)id_lo;
}

static struct frame *find(struct pacing *pacing, uint64_t id) {
    for (unsigned i = 0; i < FRAMES; i++)
        if (pacing->frames[i].waits && pacing->frames[i].id == id)
            return &pacing->frames[i];
    return NULL;
}

static void on_presented(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t id_hi, uint32_t id_lo,
                         uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec, int32_t margin, uint32_t path) {
    struct pacing *pacing = data;
    (void)object, (void)path;
    pacing->counts.seen++;
    struct frame *frame = find(pacing, join(id_hi, id_lo));
    if (!frame)
        return;
    frame->waits = false;
    uint64_t at = nanos(sec_hi, sec_lo, nsec);
    int64_t late = (int64_t)(at - frame->present), half = frame->interval / 2;
    pacing->counts.on_time += late < half && late > -half;
    if (pacing->n_seen == SEEN) {
        pacing->first_seen = (pacing->first_seen + 1) % SEEN;
        pacing->n_seen--;
    }
    pacing->seen[(pacing->first_seen + pacing->n_seen++) % SEEN] =
        (struct pacing_seen){frame->name, frame->desired, at, frame->present, margin};
}

static void on_discarded(void *data, struct upbeat_frame_pacing_v1 *object, uint32_t id_hi, uint32_t id_lo,
                         uint32_t reason) {
    struct pacing *pacing = data;
    (void)object, (void)reason;
    struct frame *frame = find(pacing, join(id_hi, id_lo));
    if (frame)
        frame->waits = false;
    pacing->counts.discarded++;
}

static const struct upbeat_frame_pacing_v1_listener pacing_listener = {
    .capabilities = on_capabilities,
    .effective = on_effective,
    .target = on_target,
    .revoked = on_revoked,
    .cancelled = on_cancelled,
    .presented = on_presented,
    .discarded = on_discarded,
};

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                      uint32_t version) {
    struct pacing *pacing = data;
    (void)version;
    if (!pacing->manager && strcmp(interface, upbeat_frame_pacing_manager_v1_interface.name) == 0)
        pacing->manager = wl_registry_bind(registry, name, &upbeat_frame_pacing_manager_v1_interface, 1);
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_remove};

/* Reads and dispatches events; waits for the first event until `deadline` (0: no wait). False if the connection is lost. */
static bool read_events(struct pacing *pacing, uint64_t deadline) {
    while (wl_display_prepare_read_queue(pacing->display, pacing->queue) != 0)
        if (wl_display_dispatch_queue_pending(pacing->display, pacing->queue) < 0)
            return false;
    wl_display_flush(pacing->display);
    uint64_t at = now();
    int wait = deadline > at ? (int)((deadline - at) / 1000000) + 1 : 0;
    struct pollfd events = {.fd = wl_display_get_fd(pacing->display), .events = POLLIN};
    if (poll(&events, 1, wait) > 0)
        wl_display_read_events(pacing->display);
    else
        wl_display_cancel_read(pacing->display);
    return wl_display_dispatch_queue_pending(pacing->display, pacing->queue) >= 0;
}

/* --- targets ------------------------------------------------------------------------------------------------------ */

static void request(struct pacing *pacing) {
    upbeat_frame_pacing_v1_request_target(pacing->pacing);
    pacing->expected++;
}

/* Waits until there are `wanted` targets; false after the timeout. */
static bool await_targets(struct pacing *pacing, unsigned wanted) {
    uint64_t deadline = now() + PATIENCE;
    while (pacing->n_targets < wanted) {
        if (pacing->expected == 0)
            request(pacing);
        if (now() >= deadline || !read_events(pacing, deadline)) {
            pacing->expected = 0; /* the next frame requests it again */
            return false;
        }
    }
    return true;
}

static void drop_first(struct pacing *pacing) {
    pacing->n_targets--;
    memmove(pacing->targets, pacing->targets + 1, pacing->n_targets * sizeof *pacing->targets);
}

struct pacing *pacing_new(struct wl_display *display, struct wl_surface *surface, uint32_t ahead) {
    struct pacing *pacing = calloc(1, sizeof *pacing);
    if (!pacing)
        return NULL;
    pacing->display = display;
    pacing->queue = wl_display_create_queue(display);
    struct wl_display *wrapped = wl_proxy_create_wrapper(display);
    wl_proxy_set_queue((struct wl_proxy *)wrapped, pacing->queue);
    pacing->registry = wl_display_get_registry(wrapped);
    wl_proxy_wrapper_destroy(wrapped);
    wl_registry_add_listener(pacing->registry, &registry_listener, pacing);
    if (wl_display_roundtrip_queue(display, pacing->queue) < 0 || !pacing->manager) {
        pacing_destroy(pacing);
        return NULL;
    }
    pacing->pacing = upbeat_frame_pacing_manager_v1_get_frame_pacing(pacing->manager, surface);
    upbeat_frame_pacing_v1_add_listener(pacing->pacing, &pacing_listener, pacing);
    upbeat_frame_pacing_v1_set_pacing(pacing->pacing, UPBEAT_FRAME_PACING_V1_PACING_AHEAD);
    upbeat_frame_pacing_v1_set_ahead_limit(pacing->pacing, ahead);
    return pacing;
}

void pacing_destroy(struct pacing *pacing) {
    if (pacing->pacing)
        upbeat_frame_pacing_v1_destroy(pacing->pacing);
    if (pacing->manager)
        upbeat_frame_pacing_manager_v1_destroy(pacing->manager);
    wl_registry_destroy(pacing->registry);
    wl_event_queue_destroy(pacing->queue);
    free(pacing);
}

bool pacing_target(const struct pacing *pacing, struct pacing_target *target) {
    if (pacing->n_targets == 0)
        return false;
    *target = pacing->targets[0];
    return true;
}

void pacing_bind(struct pacing *pacing, uint32_t name, uint64_t desired) {
    pacing->counts.presents++;
    read_events(pacing, 0);
    /* A target that is passed over keeps its place in the `ahead` limit until a later target is bound. */
    for (uint32_t passed = 1; passed < pacing->ahead && pacing->n_targets > 0; passed++) {
        const struct pacing_target *target = &pacing->targets[0];
        if (target->present + target->interval / 2 >= desired || !await_targets(pacing, 2))
            break;
        drop_first(pacing);
    }
    if (pacing->n_targets == 0)
        return;
    struct pacing_target target = pacing->targets[0];
    drop_first(pacing);
    upbeat_frame_pacing_v1_bind(pacing->pacing, (uint32_t)(target.id >> 32), (uint32_t)target.id);
    pacing->frames[pacing->next_frame++ % FRAMES] =
        (struct frame){target.id, desired, target.present, name, target.interval, true};
    pacing->counts.bound++;
}

void pacing_next(struct pacing *pacing) { await_targets(pacing, 1); }

bool pacing_take_seen(struct pacing *pacing, struct pacing_seen *seen) {
    if (pacing->n_seen == 0)
        return false;
    *seen = pacing->seen[pacing->first_seen];
    pacing->first_seen = (pacing->first_seen + 1) % SEEN;
    pacing->n_seen--;
    return true;
}

unsigned pacing_seen_count(const struct pacing *pacing) { return pacing->n_seen; }

uint32_t pacing_interval(const struct pacing *pacing) { return pacing->interval; }

struct pacing_counts pacing_counts(const struct pacing *pacing) { return pacing->counts; }
