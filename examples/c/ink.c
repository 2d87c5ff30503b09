/* ink: lasting ink under the pointer, written into the picture on screen, in plain C.
 *
 * Shows the loops of upbeat_late_latch_v1: a brush tip that the compositor keeps at the pointer, and a front buffer into which
 * the client writes right before the display reads the rows. While there is no front buffer the client commits frames, and draws
 * the predicted rest of a line (upbeat_predicted_input_v1) in orange. Without these protocols it is a plain client.
 *
 * All ink goes into `sheet`, and the box of unseen ink grows. A frame and a write both copy from the sheet: so no ink is lost or
 * drawn twice when the front buffer comes and goes.
 *
 *   ink [POINTS]   the pointer draws while a button is held; with POINTS the program itself draws a spiral of that many
 *                  points, then prints how they were shown
 *
 * Built by `make`, which needs cc, wayland-scanner and libwayland-client.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upbeat-late-latch-v1-client-protocol.h"
#include "upbeat-predicted-input-v1-client-protocol.h"
#include "window.h"

enum { WIDTH = 480, HEIGHT = 320, BUFFERS = 3, NIB = 2, TIP = 15 };
/* Nanoseconds. A copy of ink takes at most COPY; LEAD is COPY and the time by which a wake-up may be late. */
enum { COPY = 300000, LEAD = 2000000 };
enum { PAPER = 0xfff4f1ea, INK = 0xff182a6b, AHEAD = 0xfff08020, BRUSH = 0xffc03030 };

/* Columns and rows from the first to below the last; empty where left >= right. */
struct box {
    int left, top, right, bottom;
};

struct app {
    struct window window;
    struct wl_pointer *pointer;
    struct upbeat_late_latch_manager_v1 *late_latch;
    struct upbeat_predicted_input_manager_v1 *predictions;
    struct wl_surface *tip;
    struct wl_subsurface *tip_position;
    struct wl_callback *frame;
    struct upbeat_follower_v1 *follower;
    struct upbeat_front_buffer_v1 *front;
    struct buffer buffers[BUFFERS], tip_buffer, *current;
    bool is_pressed;
    /* The last point of the pointer or the spiral. */
    double x, y;
    /* How the follower is moved: a value of the enumeration means. */
    uint32_t means;
    /* The lasting ink; the part of it that was not shown; the predicted ink in `current`. */
    uint32_t *sheet;
    struct box unseen, predicted;
    /* The newest prediction, for the next frame. */
    bool has_prediction;
    double ahead_x, ahead_y;
    /* The front buffer: when rows are read, in nanoseconds, and the ink that was written since the event active. */
    bool is_active;
    uint64_t anchor, interval, line_time;
    int32_t first_line;
    struct box written;
    /* Counts of points, frames, and writes. */
    unsigned points, wanted_points, frames, writes, light, missed;
};

static bool is_empty(struct box box) { return box.left >= box.right; }

static struct box join(struct box a, struct box b) {
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    return (struct box){a.left < b.left ? a.left : b.left, a.top < b.top ? a.top : b.top,
                        a.right > b.right ? a.right : b.right, a.bottom > b.bottom ? a.bottom : b.bottom};
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

/* Draws a line and returns the box that it changed. */
static struct box line(uint32_t *pixels, double x0, double y0, double x1, double y1, uint32_t colour) {
    struct box all = {0};
    int steps = (int)ceil(hypot(x1 - x0, y1 - y0)) + 1;
    for (int step = 0; step <= steps; step++) {
        int x = (int)lround(x0 + (x1 - x0) * step / steps), y = (int)lround(y0 + (y1 - y0) * step / steps);
        struct box dot = {x < NIB ? 0 : x - NIB, y < NIB ? 0 : y - NIB, x + NIB < WIDTH ? x + NIB + 1 : WIDTH,
                          y + NIB < HEIGHT ? y + NIB + 1 : HEIGHT};
        if (dot.left >= dot.right || dot.top >= dot.bottom)
            continue;
        for (int row = dot.top; row < dot.bottom; row++)
            for (int column = dot.left; column < dot.right; column++)
                pixels[row * WIDTH + column] = colour;
        all = join(all, dot);
    }
    return all;
}

static void copy(uint32_t *to, const uint32_t *from, struct box box) {
    for (int row = box.top; row < box.bottom; row++)
        memcpy(to + row * WIDTH + box.left, from + row * WIDTH + box.left, (size_t)(box.right - box.left) * 4);
}

/* Lasting ink from the last point to this one. */
static void ink_to(struct app *app, double x, double y) {
    app->unseen = join(app->unseen, line(app->sheet, app->x, app->y, x, y, INK));
    app->x = x, app->y = y;
}

/* The next point of the spiral. */
static void draw_point(struct app *app) {
    double angle = 0.2 * app->points, radius = 0.4 * HEIGHT * app->points++ / app->wanted_points;
    ink_to(app, WIDTH / 2 + radius * cos(angle), HEIGHT / 2 + radius * sin(angle));
}

/* --- frames ------------------------------------------------------------------------------------------------------- */

static void on_frame(void *data, struct wl_callback *callback, uint32_t time) {
    (void)time;
    ((struct app *)data)->frame = NULL;
    wl_callback_destroy(callback);
}

static const struct wl_callback_listener frame_listener = {.done = on_frame};

/* Commits the sheet in a free buffer, and asks to share that buffer. The current buffer may be the front buffer: never free. */
static void show_frame(struct app *app) {
    struct buffer *buffer = NULL;
    for (int i = 0; i < BUFFERS; i++)
        if (!app->buffers[i].busy && &app->buffers[i] != app->current)
            buffer = &app->buffers[i];
    if (!buffer)
        return;
    copy(buffer->pixels, app->sheet, (struct box){0, 0, WIDTH, HEIGHT});
    struct box damage = join(app->unseen, app->predicted);
    app->predicted = app->unseen = (struct box){0};
    if (app->has_prediction && app->is_pressed)
        app->predicted = line(buffer->pixels, app->x, app->y, app->ahead_x, app->ahead_y, AHEAD);
    app->has_prediction = false;
    damage = join(damage, app->predicted);
    buffer->busy = true;
    app->current = buffer;
    wl_surface_attach(app->window.surface, buffer->wl, 0, 0);
    wl_surface_damage_buffer(app->window.surface, damage.left, damage.top, damage.right - damage.left,
                             damage.bottom - damage.top);
    if (app->front)
        upbeat_front_buffer_v1_share(app->front, 0, 0, WIDTH, HEIGHT);
    app->frame = wl_surface_frame(app->window.surface);
    wl_callback_add_listener(app->frame, &frame_listener, app);
    wl_surface_commit(app->window.surface);
    app->frames++;
}

/* --- the front buffer --------------------------------------------------------------------------------------------- */

/* The shared rectangle begins with row 0 of the buffer. */
static uint64_t read_at(struct app *app, int64_t refresh, int row) {
    return app->anchor + (uint64_t)(refresh * (int64_t)app->interval) +
           (uint64_t)((app->first_line + row) * (int64_t)app->line_time);
}

/* When to write the unseen ink. */
static uint64_t write_at(struct app *app) {
    int64_t gap = (int64_t)(now() + COPY - read_at(app, 0, app->unseen.top)), interval = (int64_t)app->interval;
    /* The smallest k for which the first row is not read before now + COPY. */
    int64_t refresh = gap > 0 ? (gap + interval - 1) / interval : gap / interval;
    uint64_t begin = read_at(app, refresh, app->unseen.top) - LEAD;
    /* For a tall box: when the display is done with the last row. */
    uint64_t clear = read_at(app, refresh, app->unseen.bottom - 1) - app->interval;
    return clear > begin && clear < begin + LEAD - COPY ? clear : begin;
}

static void write_front(struct app *app) {
    struct box box = app->unseen;
    copy(app->current->pixels, app->sheet, box);
    app->written = join(app->written, box);
    app->unseen = (struct box){0};
    upbeat_front_buffer_v1_written(app->front, app->writes++, box.left, box.top, box.right - box.left,
                                   box.bottom - box.top);
}

static void on_scan(void *data, struct upbeat_front_buffer_v1 *front, uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec,
                    uint32_t interval, uint32_t line_time, int32_t first_line) {
    struct app *app = data;
    (void)front;
    app->anchor = ((uint64_t)sec_hi << 32 | sec_lo) * UINT64_C(1000000000) + nsec;
    app->interval = interval ? interval : 1;
    app->line_time = line_time, app->first_line = first_line;
}

/* Predicted ink is not lasting: it is overwritten with the sheet. */
static void on_active(void *data, struct upbeat_front_buffer_v1 *front, uint32_t serial, int32_t x, int32_t y,
                      int32_t width, int32_t height) {
    struct app *app = data;
    (void)front, (void)serial, (void)x, (void)y, (void)width, (void)height;
    app->is_active = true;
    app->unseen = join(app->unseen, app->predicted);
    app->written = app->predicted = (struct box){0};
}

/* The last write may have come too late: the next frame shows all that was written. */
static void on_inactive(void *data, struct upbeat_front_buffer_v1 *front, uint32_t serial, uint32_t reason) {
    struct app *app = data;
    fprintf(stderr, "ink: no front buffer, reason %u\n", reason);
    if (app->is_active) {
        upbeat_front_buffer_v1_ack_inactive(front, serial);
        app->unseen = join(app->unseen, app->written);
    }
    app->is_active = false;
}

static void on_light(void *data, struct upbeat_front_buffer_v1 *front, uint32_t id, uint32_t sec_hi, uint32_t sec_lo,
                     uint32_t nsec) {
    (void)front, (void)id, (void)sec_hi, (void)sec_lo, (void)nsec;
    ((struct app *)data)->light++;
}

static void on_missed(void *data, struct upbeat_front_buffer_v1 *front, uint32_t id) {
    (void)front, (void)id;
    ((struct app *)data)->missed++;
}

static const struct upbeat_front_buffer_v1_listener front_listener = {
    .scan = on_scan,
    .active = on_active,
    .inactive = on_inactive,
    .light = on_light,
    .missed = on_missed,
};

/* --- the pointer and its brush tip -------------------------------------------------------------------------------- */

/* A tip that is composed lies above the front buffer, which is then not shared: it is hidden while ink is drawn. */
static bool hides_tip(struct app *app) { return app->front && (app->is_pressed || app->wanted_points > 0); }

/* Without a follower the client moves the tip; that takes effect with the window's commit. */
static void place_tip(struct app *app) {
    if (app->means != UPBEAT_FOLLOWER_V1_MEANS_NONE || hides_tip(app))
        return;
    wl_subsurface_set_position(app->tip_position, (int)lround(app->x) - TIP / 2, (int)lround(app->y) - TIP / 2);
    wl_surface_commit(app->window.surface);
}

static void show_tip(struct app *app, bool is_on_window) {
    bool is_shown = is_on_window && !hides_tip(app);
    wl_surface_attach(app->tip, is_shown ? app->tip_buffer.wl : NULL, 0, 0);
    wl_surface_damage_buffer(app->tip, 0, 0, TIP, TIP);
    wl_surface_commit(app->tip);
}

static void pointer_moved(struct app *app, double x, double y) {
    if (app->is_pressed)
        ink_to(app, x, y);
    app->x = x, app->y = y;
    place_tip(app);
}

/* The tip stands for the cursor. */
static void on_enter(void *data, struct wl_pointer *pointer, uint32_t serial, struct wl_surface *surface, wl_fixed_t x,
                     wl_fixed_t y) {
    struct app *app = data;
    (void)surface;
    wl_pointer_set_cursor(pointer, serial, NULL, 0, 0);
    pointer_moved(app, wl_fixed_to_double(x), wl_fixed_to_double(y));
    show_tip(app, true);
}

static void on_leave(void *data, struct wl_pointer *pointer, uint32_t serial, struct wl_surface *surface) {
    struct app *app = data;
    (void)pointer, (void)serial, (void)surface;
    app->is_pressed = app->has_prediction = false;
    show_tip(app, false);
}

static void on_motion(void *data, struct wl_pointer *pointer, uint32_t time, wl_fixed_t x, wl_fixed_t y) {
    (void)pointer, (void)time;
    pointer_moved(data, wl_fixed_to_double(x), wl_fixed_to_double(y));
}

static void on_button(void *data, struct wl_pointer *pointer, uint32_t serial, uint32_t time, uint32_t button,
                      uint32_t state) {
    struct app *app = data;
    (void)pointer, (void)serial, (void)time, (void)button;
    app->is_pressed = state == WL_POINTER_BUTTON_STATE_PRESSED;
    pointer_moved(app, app->x, app->y);
    show_tip(app, true);
}

static void on_axis(void *data, struct wl_pointer *pointer, uint32_t time, uint32_t axis, wl_fixed_t value) {
    (void)data, (void)pointer, (void)time, (void)axis, (void)value;
}

static const struct wl_pointer_listener pointer_listener = {
    .enter = on_enter,
    .leave = on_leave,
    .motion = on_motion,
    .button = on_button,
    .axis = on_axis,
};

static void on_means(void *data, struct upbeat_follower_v1 *follower, uint32_t means) {
    struct app *app = data;
    (void)follower;
    fprintf(stderr, "ink: the tip is moved by means %u\n", means);
    app->means = means;
    place_tip(app);
}

static const struct upbeat_follower_v1_listener follower_listener = {.means = on_means};

static void on_seat(void *data, struct wl_seat *seat, uint32_t capabilities) {
    struct app *app = data;
    if (!(capabilities & WL_SEAT_CAPABILITY_POINTER) || app->pointer)
        return;
    app->pointer = wl_seat_get_pointer(seat);
    wl_pointer_add_listener(app->pointer, &pointer_listener, app);
}

static const struct wl_seat_listener seat_listener = {.capabilities = on_seat};

static void on_horizon(void *data, struct upbeat_predicted_input_v1 *object, uint32_t horizon, uint32_t reason) {
    (void)data, (void)object, (void)horizon, (void)reason;
}

static void on_predicted(void *data, struct upbeat_predicted_input_v1 *object, uint32_t device, uint32_t id,
                         uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec, wl_fixed_t x, wl_fixed_t y,
                         wl_fixed_t error_x, wl_fixed_t error_y) {
    struct app *app = data;
    (void)object, (void)id, (void)sec_hi, (void)sec_lo, (void)nsec, (void)error_x, (void)error_y;
    if (device != UPBEAT_PREDICTED_INPUT_V1_DEVICE_POINTER)
        return;
    app->has_prediction = true;
    app->ahead_x = wl_fixed_to_double(x), app->ahead_y = wl_fixed_to_double(y);
}

static void on_tool_timestamp(void *data, struct upbeat_predicted_input_v1 *object, uint32_t id, uint32_t sec_hi,
                              uint32_t sec_lo, uint32_t nsec) {
    (void)data, (void)object, (void)id, (void)sec_hi, (void)sec_lo, (void)nsec;
}

static const struct upbeat_predicted_input_v1_listener predicted_listener = {
    .effective = on_horizon,
    .predicted = on_predicted,
    .tool_timestamp = on_tool_timestamp,
};

/* --- the program -------------------------------------------------------------------------------------------------- */

static void make_sheet(struct app *app) {
    window_make_buffers(&app->window, app->buffers, BUFFERS, WIDTH, HEIGHT, WL_SHM_FORMAT_XRGB8888);
    app->sheet = malloc(WIDTH * HEIGHT * 4);
    if (!app->sheet)
        fail("memory for the sheet cannot be allocated");
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        app->sheet[i] = PAPER;
    app->unseen = (struct box){0, 0, WIDTH, HEIGHT};
}

/* The tip: a ring on a subsurface that is committed by itself, and takes no input. */
static void make_tip(struct app *app) {
    window_make_buffers(&app->window, &app->tip_buffer, 1, TIP, TIP, WL_SHM_FORMAT_ARGB8888);
    for (int i = 0; i < TIP * TIP; i++) {
        double distance = hypot(i % TIP - TIP / 2, i / TIP - TIP / 2);
        app->tip_buffer.pixels[i] = distance > TIP / 2 - 2 && distance < TIP / 2 + 0.5 ? BRUSH : 0;
    }
    app->tip = wl_compositor_create_surface(app->window.compositor);
    app->tip_position = wl_subcompositor_get_subsurface(app->window.subcompositor, app->tip, app->window.surface);
    wl_subsurface_set_desync(app->tip_position);
    struct wl_region *nothing = wl_compositor_create_region(app->window.compositor);
    wl_surface_set_input_region(app->tip, nothing);
    wl_region_destroy(nothing);
}

static void use_protocols(struct app *app) {
    if (app->late_latch) {
        app->front = upbeat_late_latch_manager_v1_get_front_buffer(app->late_latch, app->window.surface);
        upbeat_front_buffer_v1_add_listener(app->front, &front_listener, app);
    }
    if (app->late_latch && app->window.seat) {
        app->follower = upbeat_late_latch_manager_v1_get_follower(app->late_latch, app->tip, app->window.seat,
                                                                  UPBEAT_LATE_LATCH_MANAGER_V1_DEVICES_POINTER);
        upbeat_follower_v1_add_listener(app->follower, &follower_listener, app);
        upbeat_follower_v1_set_anchor(app->follower, TIP / 2, TIP / 2);
    }
    if (app->predictions) {
        struct upbeat_predicted_input_v1 *predicted =
            upbeat_predicted_input_manager_v1_get_predicted_input(app->predictions, app->window.surface);
        upbeat_predicted_input_v1_add_listener(predicted, &predicted_listener, app);
    }
}

/* Shows ink that is due; returns the time at which more is due. */
static uint64_t show(struct app *app) {
    if (!app->is_active && !app->frame && (!is_empty(app->unseen) || !is_empty(app->predicted)))
        show_frame(app);
    if (!app->is_active || is_empty(app->unseen))
        return UINT64_MAX;
    uint64_t at = write_at(app);
    if (at > now())
        return at;
    write_front(app);
    return UINT64_MAX;
}

/* Whether all ink is shown: the frame was, and the writes were answered. */
static bool is_shown(struct app *app) {
    return is_empty(app->unseen) && !app->frame && app->writes == app->light + app->missed;
}

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface) {
    struct app *app = data;
    if (strcmp(interface, upbeat_late_latch_manager_v1_interface.name) == 0)
        app->late_latch = wl_registry_bind(registry, name, &upbeat_late_latch_manager_v1_interface, 1);
    else if (strcmp(interface, upbeat_predicted_input_manager_v1_interface.name) == 0)
        app->predictions = wl_registry_bind(registry, name, &upbeat_predicted_input_manager_v1_interface, 1);
}

int main(int argc, char **argv) {
    struct app app = {.wanted_points = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0};
    app.x = WIDTH / 2, app.y = HEIGHT / 2;
    app.window.on_global = on_global, app.window.data = &app;
    window_connect(&app.window);
    if (app.window.seat)
        wl_seat_add_listener(app.window.seat, &seat_listener, &app);
    window_open(&app.window, "ink", "upbeat-ink");
    make_sheet(&app);
    make_tip(&app);
    use_protocols(&app);
    while (!app.window.closed) {
        if (is_shown(&app) && app.wanted_points > 0) {
            if (app.points == app.wanted_points)
                break;
            draw_point(&app);
        }
        window_wait(&app.window, show(&app));
    }
    printf("%u points, %u frames, %u writes, %u of them seen, %u not known to be seen\n", app.points, app.frames,
           app.writes, app.light, app.missed);
    wl_display_disconnect(app.window.display);
    return 0;
}
