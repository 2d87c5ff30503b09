/* A window of fixed size in shared memory. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-client.h>

struct buffer {
    struct wl_buffer *wl;
    uint32_t *pixels;
    /* Attached, and not released since. */
    bool busy;
};

struct window {
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct wl_subcompositor *subcompositor;
    struct wl_shm *shm;
    /* NULL if the compositor has none. */
    struct wl_seat *seat;
    struct xdg_wm_base *base;
    struct wl_surface *surface;
    bool configured, closed;
    /* Gets every global of other interfaces, with `data`. */
    void (*on_global)(void *data, struct wl_registry *registry, uint32_t name, const char *interface);
    void *data;
};

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t now(void);

/* Prints a message and ends the program. */
void fail(const char *what);

/* Connects to the compositor and binds its globals. */
void window_connect(struct window *window);

/* Makes the window; it appears with its first buffer. */
void window_open(struct window *window, const char *title, const char *app_id);

/* Makes buffers of four bytes a pixel. */
void window_make_buffers(struct window *window, struct buffer *buffers, int count, int width, int height,
                         uint32_t format);

/* Waits until events were dispatched, or until this time; UINT64_MAX: without limit. */
void window_wait(struct window *window, uint64_t until);

#endif
