/* ahead: a window that draws three frames ahead, in plain C.
 *
 * Shows the loop of upbeat_frame_pacing_v1: ask for targets, draw each frame for the time of its target, bind, commit.
 * A bar moves across the window. Its position follows from the target's time alone, never from the time of drawing.
 *
 *   ahead [FRAMES]     shows FRAMES frames (default 600), then prints how many frames were shown, how many of
 *                      them at their refresh, and how many were discarded
 *
 * Built by `make`, which needs cc, wayland-scanner and libwayland-client.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wayland-client.h>

#include "upbeat-frame-pacing-v1-client-protocol.h"
#include "xdg-shell-client-protocol.h"

enum { WIDTH = 320, HEIGHT = 200, BAR = 16, AHEAD = 3, BUFFERS = AHEAD + 1 };
#define NANOS UINT64_C(1000000000)
/* The bar crosses the window once in this time. */
#define CROSSING (2 * NANOS)

struct buffer {
    struct wl_buffer *wl;
    uint32_t *pixels;
    bool busy;
};

/* A target without a frame. `present` in nanoseconds of the presentation clock. */
struct target {
    uint64_t id, present;
};

/* A committed frame. Times in nanoseconds. */
struct frame {
    uint64_t id, present;
    uint32_t interval;
};

struct app {
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct wl_shm *shm;
    struct xdg_wm_base *base;
    struct upbeat_frame_pacing_manager_v1 *manager;
    struct wl_surface *surface;
    struct xdg_surface *xdg;
    struct xdg_toplevel *toplevel;
    struct upbeat_frame_pacing_v1 *pacing;
    struct buffer buffers[BUFFERS];
    struct target targets[64];
    int n_targets;
    struct frame frames[64];
    uint32_t interval;
    bool configured, closed;
    /* Counts of frames; `wanted` comes from the command line. */
    unsigned committed, shown, on_time, discarded, wanted;
};

static uint64_t join(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static uint64_t nanos(uint32_t high, uint32_t low, uint32_t nsec) { return join(high, low) * NANOS + nsec; }

static void fail(const char *what) {
    fprintf(stderr, "ahead: %s\n", what);
    exit(1);
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static void buffer_release(void *data, struct wl_buffer *wl) {
    (void)wl;
    ((struct buffer *)data)->busy = false;
}

static const struct wl_buffer_listener buffer_listener = {.release = buffer_release};

static void make_buffers(struct app *app) {
    const size_t size = WIDTH * HEIGHT * 4;
    int fd = memfd_create("ahead", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(size * BUFFERS)) < 0)
        fail("memory for buffers cannot be allocated");
    uint8_t *memory = mmap(NULL, size * BUFFERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        fail("buffers cannot be mapped");
    struct wl_shm_pool *pool = wl_shm_create_pool(app->shm, fd, (int32_t)(size * BUFFERS));
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &app->buffers[i];
        buffer->pixels = (uint32_t *)(memory + size * (size_t)i);
        buffer->wl = wl_shm_pool_create_buffer(pool, (int32_t)(size * (size_t)i), WIDTH, HEIGHT, WIDTH * 4,
                                               WL_SHM_FORMAT_XRGB8888);
        wl_buffer_add_listener(buffer->wl, &buffer_listener, buffer);
    }
    wl_shm_pool_destroy(pool);
    close(fd);
}

static struct buffer *free_buffer(struct app *app) {
    for (int i = 0; i < BUFFERS; i++)
        if (!app->buffers[i].busy)
            return &app->buffers[i];
    return NULL;
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static void draw(struct buffer *buffer, uint64_t present) {
    int left = (int)(present % CROSSING * (WIDTH - BAR) / CROSSING);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            buffer->pixels[y * WIDTH + x] = x >= left && x < left + BAR ? 0xffe0b040 : 0xff203040;
}

/* Draws for each target while there is a free buffer. Requests one new target for each frame. */
static void draw_ahead(struct app *app) {
    struct buffer *buffer;
    while (app->n_targets > 0 && app->committed < app->wanted && (buffer = free_buffer(app))) {
        struct target target = app->targets[0];
        memmove(app->targets, app->targets + 1, (size_t)--app->n_targets * sizeof target);
        draw(buffer, target.present);
        buffer->busy = true;
        wl_surface_attach(app->surface, buffer->wl, 0, 0);
        wl_surface_damage_buffer(app->surface, 0, 0, WIDTH, HEIGHT);
        upbeat_frame_pacing_v1_bind(app->pacing, (uint32_t)(target.id >> 32), (uint32_t)target.id);
        wl_surface_commit(app->surface);
        app->frames[app->committed++ % 64] = (struct frame){target.id, target.present, app->interval};
        upbeat_frame_pacing_v1_request_target(app->pacing);
    }
}

/* --- frame pacing ------------------------------------------------------------------------------------------------- */

static void on_capabilities(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t limit) {
    (void)data, (void)pacing, (void)limit;
}

static void on_effective(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t kind, uint32_t ahead,
                         uint32_t min_buffers, uint32_t reason) {
    (void)data, (void)pacing;
    fprintf(stderr, "ahead: pacing %u, %u ahead with %u buffers, reason %u\n", kind, ahead, min_buffers, reason);
}

static void on_target(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t id_hi, uint32_t id_lo,
                      uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec, uint32_t ready_by, uint32_t interval,
                      uint32_t frames_ahead) {
    struct app *app = data;
    (void)pacing, (void)ready_by, (void)frames_ahead;
    app->interval = interval;
    if (app->n_targets < 64)
        app->targets[app->n_targets++] = (struct target){join(id_hi, id_lo), nanos(sec_hi, sec_lo, nsec)};
}

/* The compositor replaces each revoked target that has no frame, without a request. */
static void on_revoked(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t id_hi, uint32_t id_lo,
                       uint32_t reason) {
    struct app *app = data;
    (void)pacing, (void)reason;
    while (app->n_targets > 0 && app->targets[app->n_targets - 1].id >= join(id_hi, id_lo))
        app->n_targets--;
}

static void on_cancelled(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t id_hi, uint32_t id_lo) {
    (void)data, (void)pacing, (void)id_hi, (void)id_lo;
}

static void on_presented(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t id_hi, uint32_t id_lo,
                         uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec, int32_t margin, uint32_t path) {
    struct app *app = data;
    (void)pacing, (void)margin, (void)path;
    uint64_t id = join(id_hi, id_lo), at = nanos(sec_hi, sec_lo, nsec);
    app->shown++;
    for (int i = 0; i < 64; i++) {
        const struct frame *frame = &app->frames[i];
        int64_t late = (int64_t)(at - frame->present);
        if (frame->id == id && late < frame->interval / 2 && late > -(int64_t)(frame->interval / 2))
            app->on_time++;
    }
}

static void on_discarded(void *data, struct upbeat_frame_pacing_v1 *pacing, uint32_t id_hi, uint32_t id_lo,
                         uint32_t reason) {
    struct app *app = data;
    (void)pacing, (void)id_hi, (void)id_lo, (void)reason;
    app->discarded++;
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

/* --- window ------------------------------------------------------------------------------------------------------- */

static void base_ping(void *data, struct xdg_wm_base *base, uint32_t serial) {
    (void)data;
    xdg_wm_base_pong(base, serial);
}

static const struct xdg_wm_base_listener base_listener = {.ping = base_ping};

static void xdg_configure(void *data, struct xdg_surface *xdg, uint32_t serial) {
    struct app *app = data;
    xdg_surface_ack_configure(xdg, serial);
    app->configured = true;
}

static const struct xdg_surface_listener xdg_listener = {.configure = xdg_configure};

static void toplevel_configure(void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height,
                               struct wl_array *states) {
    (void)data, (void)toplevel, (void)width, (void)height, (void)states;
}

static void toplevel_close(void *data, struct xdg_toplevel *toplevel) {
    (void)toplevel;
    ((struct app *)data)->closed = true;
}

static const struct xdg_toplevel_listener toplevel_listener = {
    .configure = toplevel_configure,
    .close = toplevel_close,
};

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                      uint32_t version) {
    struct app *app = data;
    (void)version;
    if (strcmp(interface, wl_compositor_interface.name) == 0)
        app->compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 4);
    else if (strcmp(interface, wl_shm_interface.name) == 0)
        app->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    else if (strcmp(interface, xdg_wm_base_interface.name) == 0)
        app->base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
    else if (strcmp(interface, upbeat_frame_pacing_manager_v1_interface.name) == 0)
        app->manager = wl_registry_bind(registry, name, &upbeat_frame_pacing_manager_v1_interface, 1);
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_remove};

static void open_window(struct app *app) {
    app->surface = wl_compositor_create_surface(app->compositor);
    app->xdg = xdg_wm_base_get_xdg_surface(app->base, app->surface);
    xdg_surface_add_listener(app->xdg, &xdg_listener, app);
    app->toplevel = xdg_surface_get_toplevel(app->xdg);
    xdg_toplevel_add_listener(app->toplevel, &toplevel_listener, app);
    xdg_toplevel_set_title(app->toplevel, "ahead");
    xdg_toplevel_set_app_id(app->toplevel, "upbeat-ahead");
    app->pacing = upbeat_frame_pacing_manager_v1_get_frame_pacing(app->manager, app->surface);
    upbeat_frame_pacing_v1_add_listener(app->pacing, &pacing_listener, app);
    upbeat_frame_pacing_v1_set_pacing(app->pacing, UPBEAT_FRAME_PACING_V1_PACING_AHEAD);
    upbeat_frame_pacing_v1_set_ahead_limit(app->pacing, AHEAD);
    wl_surface_commit(app->surface);
}

int main(int argc, char **argv) {
    struct app app = {.wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 600};
    if (app.wanted == 0)
        fail("usage: ahead [FRAMES]");
    app.display = wl_display_connect(NULL);
    if (!app.display)
        fail("no compositor answers on $WAYLAND_DISPLAY");
    wl_registry_add_listener(wl_display_get_registry(app.display), &registry_listener, &app);
    if (wl_display_roundtrip(app.display) < 0)
        fail("the compositor hung up");
    if (!app.compositor || !app.shm || !app.base)
        fail("the compositor lacks wl_compositor, wl_shm or xdg_wm_base");
    if (!app.manager)
        fail("the compositor does not have upbeat_frame_pacing_manager_v1");
    xdg_wm_base_add_listener(app.base, &base_listener, &app);
    make_buffers(&app);
    open_window(&app);
    while (!app.configured)
        if (wl_display_dispatch(app.display) < 0)
            fail("the compositor hung up");
    for (int i = 0; i < AHEAD; i++)
        upbeat_frame_pacing_v1_request_target(app.pacing);
    while (!app.closed && app.shown + app.discarded < app.wanted) {
        draw_ahead(&app);
        if (wl_display_dispatch(app.display) < 0)
            fail("the compositor hung up");
    }
    printf("%u frames: %u shown, %u of them at their refresh, %u discarded\n", app.committed, app.shown, app.on_time,
           app.discarded);
    wl_display_disconnect(app.display);
    return 0;
}
