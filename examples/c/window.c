#define _GNU_SOURCE
#include "window.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "xdg-shell-client-protocol.h"

#define NANOS UINT64_C(1000000000)

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOS + (uint64_t)time.tv_nsec;
}

void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static void buffer_release(void *data, struct wl_buffer *wl) {
    (void)wl;
    ((struct buffer *)data)->busy = false;
}

static const struct wl_buffer_listener buffer_listener = {.release = buffer_release};

void window_make_buffers(struct window *window, struct buffer *buffers, int count, int width, int height,
                         uint32_t format) {
    const size_t size = (size_t)(width * height * 4);
    int fd = memfd_create("window", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(size * (size_t)count)) < 0)
        fail("memory for buffers cannot be allocated");
    uint8_t *memory = mmap(NULL, size * (size_t)count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        fail("buffers cannot be mapped");
    struct wl_shm_pool *pool = wl_shm_create_pool(window->shm, fd, (int32_t)size * count);
    for (int i = 0; i < count; i++) {
        buffers[i].pixels = (uint32_t *)(memory + size * (size_t)i);
        buffers[i].wl = wl_shm_pool_create_buffer(pool, (int32_t)size * i, width, height, width * 4, format);
        wl_buffer_add_listener(buffers[i].wl, &buffer_listener, &buffers[i]);
    }
    wl_shm_pool_destroy(pool);
    close(fd);
}

/* --- globals ------------------------------------------------------------------------------------------------------ */

static void base_ping(void *data, struct xdg_wm_base *base, uint32_t serial) {
    (void)data;
    xdg_wm_base_pong(base, serial);
}

static const struct xdg_wm_base_listener base_listener = {.ping = base_ping};

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                      uint32_t version) {
    struct window *window = data;
    (void)version;
    if (strcmp(interface, wl_compositor_interface.name) == 0)
        window->compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 4);
    else if (strcmp(interface, wl_subcompositor_interface.name) == 0)
        window->subcompositor = wl_registry_bind(registry, name, &wl_subcompositor_interface, 1);
    else if (strcmp(interface, wl_shm_interface.name) == 0)
        window->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    else if (strcmp(interface, wl_seat_interface.name) == 0 && !window->seat)
        window->seat = wl_registry_bind(registry, name, &wl_seat_interface, 1);
    else if (strcmp(interface, xdg_wm_base_interface.name) == 0)
        window->base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
    else
        window->on_global(window->data, registry, name, interface);
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_remove};

void window_connect(struct window *window) {
    window->display = wl_display_connect(NULL);
    if (!window->display)
        fail("no compositor answers on $WAYLAND_DISPLAY");
    wl_registry_add_listener(wl_display_get_registry(window->display), &registry_listener, window);
    if (wl_display_roundtrip(window->display) < 0)
        fail("the compositor hung up");
    if (!window->compositor || !window->subcompositor || !window->shm || !window->base)
        fail("the compositor lacks wl_compositor, wl_subcompositor, wl_shm or xdg_wm_base");
    xdg_wm_base_add_listener(window->base, &base_listener, window);
}

/* --- window ------------------------------------------------------------------------------------------------------- */

static void xdg_configure(void *data, struct xdg_surface *xdg, uint32_t serial) {
    xdg_surface_ack_configure(xdg, serial);
    ((struct window *)data)->configured = true;
}

static const struct xdg_surface_listener xdg_listener = {.configure = xdg_configure};

static void toplevel_configure(void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height,
                               struct wl_array *states) {
    (void)data, (void)toplevel, (void)width, (void)height, (void)states;
}

static void toplevel_close(void *data, struct xdg_toplevel *toplevel) {
    (void)toplevel;
    ((struct window *)data)->closed = true;
}

static const struct xdg_toplevel_listener toplevel_listener = {
    .configure = toplevel_configure,
    .close = toplevel_close,
};

void window_open(struct window *window, const char *title, const char *app_id) {
    window->surface = wl_compositor_create_surface(window->compositor);
    struct xdg_surface *xdg = xdg_wm_base_get_xdg_surface(window->base, window->surface);
    xdg_surface_add_listener(xdg, &xdg_listener, window);
    struct xdg_toplevel *toplevel = xdg_surface_get_toplevel(xdg);
    xdg_toplevel_add_listener(toplevel, &toplevel_listener, window);
    xdg_toplevel_set_title(toplevel, title);
    xdg_toplevel_set_app_id(toplevel, app_id);
    wl_surface_commit(window->surface);
    while (!window->configured)
        if (wl_display_dispatch(window->display) < 0)
            fail("the compositor hung up");
}

void window_wait(struct window *window, uint64_t until) {
    struct pollfd descriptor = {.fd = wl_display_get_fd(window->display), .events = POLLIN};
    if (wl_display_prepare_read(window->display) == 0) {
        uint64_t time = now(), left = until > time ? until - time : 0;
        struct timespec timeout = {(time_t)(left / NANOS), (long)(left % NANOS)};
        wl_display_flush(window->display);
        if (ppoll(&descriptor, 1, until == UINT64_MAX ? NULL : &timeout, NULL) > 0)
            wl_display_read_events(window->display);
        else
            wl_display_cancel_read(window->display);
    }
    if (wl_display_dispatch_pending(window->display) < 0)
        fail("the compositor hung up");
}
