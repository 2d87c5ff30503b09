/* scroll: a document that the compositor scrolls while this client sleeps, in plain C.
 *
 * Shows the loop of upbeat_scroll_v1: a view, and a tile that is larger than the view. The client draws a new tile when the
 * compositor sends the region of the document that it wants next. Between two tiles the client receives no frame callback and no
 * input event.
 *
 *   scroll [RENDERS]   glides through the document, down or up and to the right or left in turns, until RENDERS tiles were
 *                      drawn (default 20), then prints its wake-ups and the scrolled distance; a wheel or a touchpad
 *                      scrolls, too, in both axes
 *
 * Built by `make`, which needs cc, wayland-scanner and libwayland-client.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wayland-client.h>

#include "upbeat-scroll-v1-client-protocol.h"
#include "xdg-shell-client-protocol.h"

/* Pixels; the document has 6250 lines in 64 columns of text. */
enum { WIDTH = 320, HEIGHT = 240, LINE = 16, DOCUMENT_WIDTH = 20480, DOCUMENT_HEIGHT = 100000 };
/* Distance of a glide. */
enum { GLIDE = 2000 };

struct region {
    int32_t x, y, width, height;
};

struct app {
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct wl_subcompositor *subcompositor;
    struct wl_shm *shm;
    struct xdg_wm_base *base;
    struct upbeat_scroll_manager_v1 *manager;
    struct wl_surface *surface;
    struct xdg_surface *xdg;
    struct xdg_toplevel *toplevel;
    struct upbeat_scroll_view_v1 *view;
    struct wl_surface *tile;
    struct upbeat_scroll_content_v1 *content;
    bool configured, closed;
    /* The wanted region of the document. */
    struct region wanted;
    bool is_wanted;
    unsigned renders, wanted_renders, wake_ups, rests;
    uint32_t serial;
    /* Scrolled distance, and its part along the lines. */
    int64_t way, across;
    /* The offset at the last rest. */
    int32_t x, y;
};

static void fail(const char *what) {
    fprintf(stderr, "scroll: %s\n", what);
    exit(1);
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static void buffer_release(void *data, struct wl_buffer *buffer) {
    (void)data;
    wl_buffer_destroy(buffer);
}

static const struct wl_buffer_listener buffer_listener = {.release = buffer_release};

/* The colour of a position in the document: lines of different lengths in columns, with a bar every fifty lines. */
static uint32_t pixel(int64_t column, int64_t row) {
    int64_t line = row / LINE + column / WIDTH * 7, x = column % WIDTH;
    if (line % 50 == 0)
        return 0xffe0b040;
    bool is_text = row % LINE > 4 && x > 12 && x < 60 + (line * 2654435761u) % (WIDTH - 80) && (x / 6 + line) % 7 != 0;
    return is_text ? 0xff203040 : 0xfff4f0e8;
}

static struct wl_buffer *draw(struct app *app, struct region region) {
    const size_t width = (size_t)region.width, size = width * (size_t)region.height * 4;
    int fd = memfd_create("scroll", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        fail("memory for a tile cannot be allocated");
    uint32_t *pixels = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pixels == MAP_FAILED)
        fail("a tile cannot be mapped");
    for (int32_t row = 0; row < region.height; row++)
        for (int32_t column = 0; column < region.width; column++)
            pixels[(size_t)row * width + (size_t)column] = pixel(region.x + column, region.y + row);
    munmap(pixels, size);
    struct wl_shm_pool *pool = wl_shm_create_pool(app->shm, fd, (int32_t)size);
    struct wl_buffer *buffer =
        wl_shm_pool_create_buffer(pool, 0, region.width, region.height, region.width * 4, WL_SHM_FORMAT_XRGB8888);
    wl_buffer_add_listener(buffer, &buffer_listener, NULL);
    wl_shm_pool_destroy(pool);
    close(fd);
    return buffer;
}

/* Shows another region of the document. The tile's buffer and its position are applied together, with the view's commit. */
static void render(struct app *app, struct region region) {
    wl_surface_attach(app->tile, draw(app, region), 0, 0);
    wl_surface_damage_buffer(app->tile, 0, 0, region.width, region.height);
    wl_surface_commit(app->tile);
    upbeat_scroll_content_v1_set_position(app->content, region.x, region.y);
    wl_surface_commit(app->surface);
    app->renders++;
}

/* --- the view ----------------------------------------------------------------------------------------------------- */

/* Every second glide is along the lines. */
static void go_on(struct app *app) {
    bool is_across = app->rests % 2 == 1;
    int32_t x = app->x < DOCUMENT_WIDTH / 2 ? GLIDE : -GLIDE, y = app->y < DOCUMENT_HEIGHT / 2 ? GLIDE : -GLIDE;
    upbeat_scroll_view_v1_scroll_by(app->view, is_across ? x : 0, is_across ? 0 : y,
                                    UPBEAT_SCROLL_VIEW_V1_BEHAVIOR_GLIDE, ++app->serial);
}

static void on_budget(void *data, struct upbeat_scroll_view_v1 *view, uint32_t kilopixels) {
    (void)data, (void)view;
    fprintf(stderr, "scroll: budget of %u thousand pixels\n", kilopixels);
}

static void on_effective(void *data, struct upbeat_scroll_view_v1 *view, uint32_t mode, uint32_t reason) {
    (void)data, (void)view;
    fprintf(stderr, "scroll: mode %u, reason %u\n", mode, reason);
}

/* Only the newest region counts: earlier regions have scrolled out of view. */
static void on_wanted(void *data, struct upbeat_scroll_view_v1 *view, int32_t x, int32_t y, int32_t width,
                      int32_t height, uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec) {
    struct app *app = data;
    (void)view, (void)sec_hi, (void)sec_lo, (void)nsec;
    app->wanted = (struct region){x, y, width, height};
    app->is_wanted = true;
}

static void on_low_water(void *data, struct upbeat_scroll_view_v1 *view, uint32_t side, uint32_t px, uint32_t sec_hi,
                         uint32_t sec_lo, uint32_t nsec) {
    (void)data, (void)view, (void)side, (void)px, (void)sec_hi, (void)sec_lo, (void)nsec;
}

static void on_rest(void *data, struct upbeat_scroll_view_v1 *view, int32_t x, int32_t y, wl_fixed_t x_fraction,
                    wl_fixed_t y_fraction, uint32_t serial) {
    struct app *app = data;
    (void)view, (void)x_fraction, (void)y_fraction, (void)serial;
    app->way += abs(x - app->x) + abs(y - app->y);
    app->across += abs(x - app->x);
    app->x = x, app->y = y;
    app->rests++;
    go_on(app);
}

static void on_offset(void *data, struct upbeat_scroll_view_v1 *view, int32_t x, int32_t y, wl_fixed_t x_fraction,
                      wl_fixed_t y_fraction, wl_fixed_t velocity_x, wl_fixed_t velocity_y, uint32_t serial,
                      uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec) {
    (void)data, (void)view, (void)x, (void)y, (void)x_fraction, (void)y_fraction, (void)velocity_x, (void)velocity_y;
    (void)serial, (void)sec_hi, (void)sec_lo, (void)nsec;
}

static const struct upbeat_scroll_view_v1_listener view_listener = {
    .budget = on_budget,
    .effective = on_effective,
    .wanted = on_wanted,
    .low_water = on_low_water,
    .rest = on_rest,
    .offset = on_offset,
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
    else if (strcmp(interface, wl_subcompositor_interface.name) == 0)
        app->subcompositor = wl_registry_bind(registry, name, &wl_subcompositor_interface, 1);
    else if (strcmp(interface, wl_shm_interface.name) == 0)
        app->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    else if (strcmp(interface, xdg_wm_base_interface.name) == 0)
        app->base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
    else if (strcmp(interface, upbeat_scroll_manager_v1_interface.name) == 0)
        app->manager = wl_registry_bind(registry, name, &upbeat_scroll_manager_v1_interface, 1);
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
    xdg_toplevel_set_title(app->toplevel, "scroll");
    xdg_toplevel_set_app_id(app->toplevel, "upbeat-scroll");
    wl_surface_commit(app->surface);
    while (!app->configured)
        if (wl_display_dispatch(app->display) < 0)
            fail("the compositor hung up");
}

/* The window becomes a view: its own buffer is the background. */
static void make_view(struct app *app) {
    app->view = upbeat_scroll_manager_v1_get_view(app->manager, app->surface);
    upbeat_scroll_view_v1_add_listener(app->view, &view_listener, app);
    upbeat_scroll_view_v1_set_document(app->view, 0, 0, DOCUMENT_WIDTH, DOCUMENT_HEIGHT);
    upbeat_scroll_view_v1_set_axes(app->view,
                                   UPBEAT_SCROLL_VIEW_V1_AXES_HORIZONTAL | UPBEAT_SCROLL_VIEW_V1_AXES_VERTICAL);
    upbeat_scroll_view_v1_set_inputs(app->view, UPBEAT_SCROLL_VIEW_V1_INPUTS_DRAG | UPBEAT_SCROLL_VIEW_V1_INPUTS_WHEEL |
                                                    UPBEAT_SCROLL_VIEW_V1_INPUTS_FINGER);
    app->tile = wl_compositor_create_surface(app->compositor);
    wl_subcompositor_get_subsurface(app->subcompositor, app->tile, app->surface);
    app->content = upbeat_scroll_view_v1_get_content(app->view, app->tile);
    wl_surface_attach(app->surface, draw(app, (struct region){0, DOCUMENT_HEIGHT, WIDTH, HEIGHT}), 0, 0);
    render(app, (struct region){0, 0, WIDTH, HEIGHT * 2});
}

int main(int argc, char **argv) {
    struct app app = {.wanted_renders = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20};
    if (app.wanted_renders == 0)
        fail("usage: scroll [RENDERS]");
    app.display = wl_display_connect(NULL);
    if (!app.display)
        fail("no compositor answers on $WAYLAND_DISPLAY");
    wl_registry_add_listener(wl_display_get_registry(app.display), &registry_listener, &app);
    if (wl_display_roundtrip(app.display) < 0)
        fail("the compositor hung up");
    if (!app.compositor || !app.subcompositor || !app.shm || !app.base)
        fail("the compositor lacks wl_compositor, wl_subcompositor, wl_shm or xdg_wm_base");
    if (!app.manager)
        fail("the compositor does not have upbeat_scroll_manager_v1");
    xdg_wm_base_add_listener(app.base, &base_listener, &app);
    open_window(&app);
    make_view(&app);
    go_on(&app);
    while (!app.closed && app.renders < app.wanted_renders) {
        if (wl_display_dispatch(app.display) < 0)
            fail("the compositor hung up");
        app.wake_ups++;
        if (app.is_wanted) {
            app.is_wanted = false;
            render(&app, app.wanted);
        }
    }
    printf("%u tiles drawn, woken %u times, %lld pixels in %u glides, %lld of them across\n", app.renders, app.wake_ups,
           (long long)app.way, app.rests, (long long)app.across);
    wl_display_disconnect(app.display);
    return 0;
}
