/* sample: a Vulkan window with frame costs from a file, to measure the effect of the layer.
 *
 *   sample COSTS.csv [FRAMES [EVERY]]    COSTS.csv has the columns that `upbeat simulate` reads: frame,cpu_ms,gpu_ms. For each frame the
 *                                        program sleeps for the sum of both costs, and then draws. FRAMES: number of frames (0: all).
 *                                        EVERY: the desired time of each frame is EVERY refreshes after the frame before.
 *
 * The sample also runs without the layer. If the device has VK_GOOGLE_display_timing, the sample uses it. If there is
 * upbeatGetNextPresentTime, the colour of a frame follows from its presentation time. At the end the sample prints its frame rate, counts
 * of reported frames, and by how much its sleeps were too long.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define VK_USE_PLATFORM_WAYLAND_KHR
#include <vulkan/vulkan.h>
#include <wayland-client.h>

#include "xdg-shell-client-protocol.h"

enum { WIDTH = 320, HEIGHT = 240, MOST_IMAGES = 16, MOST_FRAMES = 1000000 };
#define NANOS UINT64_C(1000000000)
/* The period of the colours. */
#define ROUND (2 * NANOS)

typedef VkResult(VKAPI_PTR *next_present)(VkDevice, VkSwapchainKHR, uint64_t *);

struct app {
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct xdg_wm_base *base;
    struct wl_surface *surface;
    bool configured, closed;
    VkInstance instance;
    VkPhysicalDevice physical;
    uint32_t family;
    VkDevice device;
    VkQueue queue;
    VkSurfaceKHR vk_surface;
    VkSwapchainKHR swapchain;
    VkImage images[MOST_IMAGES];
    VkCommandBuffer commands[MOST_IMAGES];
    VkSemaphore acquired, drawn;
    VkFence idle;
    next_present next;
    /* Functions of VK_GOOGLE_display_timing; NULL without the extension. */
    PFN_vkGetRefreshCycleDurationGOOGLE get_refresh;
    PFN_vkGetPastPresentationTimingGOOGLE get_past;
    uint64_t refresh, last_desired, last_seen;
    uint32_t presents, every;
    /* Reported frames, and those presented at least EVERY refreshes after the frame before. */
    unsigned told, apart;
};

static void fail(const char *what) {
    fprintf(stderr, "sample: %s\n", what);
    exit(1);
}

static void check(VkResult result, const char *what) {
    if (result < 0)
        fail(what);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOS + (uint64_t)time.tv_nsec;
}

/* --- costs -------------------------------------------------------------------------------------------------------- */

/* Reads the cost of each frame, in nanoseconds. Returns the number of frames. */
static size_t read_costs(const char *path, uint64_t *costs) {
    FILE *file = fopen(path, "r");
    if (!file)
        fail("the file of costs cannot be opened");
    char line[256];
    size_t count = 0;
    while (count < MOST_FRAMES && fgets(line, sizeof line, file)) {
        double cpu, gpu;
        if (sscanf(line, "%*u,%lf,%lf", &cpu, &gpu) == 2 && cpu >= 0 && gpu >= 0 && cpu + gpu < 1e4)
            costs[count++] = (uint64_t)((cpu + gpu) * 1e6);
    }
    fclose(file);
    if (count == 0)
        fail("the file has no costs; its columns are frame,cpu_ms,gpu_ms");
    return count;
}

static int by_size(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* --- window ------------------------------------------------------------------------------------------------------- */

static void base_ping(void *data, struct xdg_wm_base *base, uint32_t serial) {
    (void)data;
    xdg_wm_base_pong(base, serial);
}

static const struct xdg_wm_base_listener base_listener = {.ping = base_ping};

static void xdg_configure(void *data, struct xdg_surface *xdg, uint32_t serial) {
    xdg_surface_ack_configure(xdg, serial);
    ((struct app *)data)->configured = true;
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
    else if (strcmp(interface, xdg_wm_base_interface.name) == 0)
        app->base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_remove};

static void open_window(struct app *app) {
    app->display = wl_display_connect(NULL);
    if (!app->display)
        fail("no compositor answers on $WAYLAND_DISPLAY");
    wl_registry_add_listener(wl_display_get_registry(app->display), &registry_listener, app);
    if (wl_display_roundtrip(app->display) < 0 || !app->compositor || !app->base)
        fail("the compositor lacks wl_compositor or xdg_wm_base");
    xdg_wm_base_add_listener(app->base, &base_listener, app);
    app->surface = wl_compositor_create_surface(app->compositor);
    struct xdg_surface *xdg = xdg_wm_base_get_xdg_surface(app->base, app->surface);
    xdg_surface_add_listener(xdg, &xdg_listener, app);
    struct xdg_toplevel *toplevel = xdg_surface_get_toplevel(xdg);
    xdg_toplevel_add_listener(toplevel, &toplevel_listener, app);
    xdg_toplevel_set_title(toplevel, "Vulkan sample");
    xdg_toplevel_set_app_id(toplevel, "upbeat-vulkan-sample");
    wl_surface_commit(app->surface);
    while (!app->configured)
        if (wl_display_dispatch(app->display) < 0)
            fail("the compositor hung up");
}

/* --- Vulkan ------------------------------------------------------------------------------------------------------- */

static bool has_display_timing(VkPhysicalDevice physical) {
    uint32_t count = 0;
    vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    VkExtensionProperties *extensions = calloc(count + 1, sizeof *extensions);
    bool has = false;
    if (extensions && vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions) >= 0)
        for (uint32_t i = 0; i < count; i++)
            has |= strcmp(extensions[i].extensionName, VK_GOOGLE_DISPLAY_TIMING_EXTENSION_NAME) == 0;
    free(extensions);
    return has;
}

static void open_device(struct app *app) {
    const char *of_instance[] = {VK_KHR_SURFACE_EXTENSION_NAME, VK_KHR_WAYLAND_SURFACE_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_0};
    VkInstanceCreateInfo instance = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledExtensionCount = 2,
        .ppEnabledExtensionNames = of_instance,
    };
    check(vkCreateInstance(&instance, NULL, &app->instance), "no Vulkan instance");
    VkWaylandSurfaceCreateInfoKHR surface = {
        .sType = VK_STRUCTURE_TYPE_WAYLAND_SURFACE_CREATE_INFO_KHR,
        .display = app->display,
        .surface = app->surface,
    };
    check(vkCreateWaylandSurfaceKHR(app->instance, &surface, NULL, &app->vk_surface), "no surface");
    uint32_t one = 1, families = 16;
    check(vkEnumeratePhysicalDevices(app->instance, &one, &app->physical), "no device");
    VkQueueFamilyProperties properties[16];
    vkGetPhysicalDeviceQueueFamilyProperties(app->physical, &families, properties);
    VkBool32 shows = VK_FALSE;
    for (app->family = 0; app->family < families; app->family++) {
        vkGetPhysicalDeviceSurfaceSupportKHR(app->physical, app->family, app->vk_surface, &shows);
        if (shows && properties[app->family].queueFlags & VK_QUEUE_GRAPHICS_BIT)
            break;
    }
    if (one == 0 || app->family == families)
        fail("no device can present to Wayland surfaces");
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = app->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const char *of_device[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_GOOGLE_DISPLAY_TIMING_EXTENSION_NAME};
    bool has_timing = has_display_timing(app->physical);
    VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = has_timing ? 2 : 1,
        .ppEnabledExtensionNames = of_device,
    };
    check(vkCreateDevice(app->physical, &device, NULL, &app->device), "the device cannot be created");
    vkGetDeviceQueue(app->device, app->family, 0, &app->queue);
    if (has_timing) {
        app->get_refresh = (PFN_vkGetRefreshCycleDurationGOOGLE)vkGetDeviceProcAddr(
            app->device, "vkGetRefreshCycleDurationGOOGLE");
        app->get_past = (PFN_vkGetPastPresentationTimingGOOGLE)vkGetDeviceProcAddr(
            app->device, "vkGetPastPresentationTimingGOOGLE");
    }
    app->next = (next_present)vkGetDeviceProcAddr(app->device, "upbeatGetNextPresentTime");
}

static void make_images(struct app *app) {
    VkSurfaceFormatKHR formats[64];
    uint32_t n_formats = 64, images = MOST_IMAGES;
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(app->physical, app->vk_surface, &n_formats, formats), "no formats");
    VkSwapchainCreateInfoKHR swapchain = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = app->vk_surface,
        .minImageCount = 3,
        .imageFormat = formats[0].format,
        .imageColorSpace = formats[0].colorSpace,
        .imageExtent = {WIDTH, HEIGHT},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
        .clipped = VK_TRUE,
    };
    check(vkCreateSwapchainKHR(app->device, &swapchain, NULL, &app->swapchain), "no swapchain");
    check(vkGetSwapchainImagesKHR(app->device, app->swapchain, &images, app->images), "no images");
    VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = app->family,
    };
    VkCommandPool pool;
    check(vkCreateCommandPool(app->device, &pool_info, NULL, &pool), "no command pool");
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = MOST_IMAGES,
    };
    check(vkAllocateCommandBuffers(app->device, &commands, app->commands), "no command buffers");
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(vkCreateSemaphore(app->device, &semaphore, NULL, &app->acquired), "no semaphore");
    check(vkCreateSemaphore(app->device, &semaphore, NULL, &app->drawn), "no semaphore");
    check(vkCreateFence(app->device, &fence, NULL, &app->idle), "no fence");
}

static void move_to(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to,
                    VkAccessFlags before, VkAccessFlags after) {
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = before,
        .dstAccessMask = after,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL,
                         1, &barrier);
}

/* Fills the image with the colour of the time `seen`. */
static void record(VkCommandBuffer commands, VkImage image, uint64_t seen) {
    float phase = (float)(seen % ROUND) / (float)ROUND;
    VkClearColorValue colour = {{0.1f, phase, 1 - phase, 1}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    vkBeginCommandBuffer(commands, &begin);
    move_to(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
            VK_ACCESS_TRANSFER_WRITE_BIT);
    vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour, 1, &range);
    move_to(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
            VK_ACCESS_TRANSFER_WRITE_BIT, 0);
    vkEndCommandBuffer(commands);
}

/* Counts the presented frames that the driver or the layer reports. */
static void hear(struct app *app) {
    VkPastPresentationTimingGOOGLE past[16];
    VkRefreshCycleDurationGOOGLE refresh;
    uint32_t count = 16;
    if (app->get_refresh(app->device, app->swapchain, &refresh) >= 0)
        app->refresh = refresh.refreshDuration;
    if (app->get_past(app->device, app->swapchain, &count, past) < 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        app->told++;
        app->apart += past[i].actualPresentTime >= app->last_seen + app->every * app->refresh - app->refresh / 4;
        app->last_seen = past[i].actualPresentTime;
    }
}

/* The desired presentation time of this frame; 0: as soon as possible. */
static uint64_t wish(struct app *app) {
    if (app->every < 2 || app->last_seen == 0)
        return 0;
    uint64_t desired = app->last_desired + app->every * app->refresh;
    app->last_desired = desired > app->last_seen ? desired : app->last_seen + app->every * app->refresh;
    return app->last_desired;
}

static void draw(struct app *app, uint64_t seen) {
    uint32_t index;
    check(vkAcquireNextImageKHR(app->device, app->swapchain, UINT64_MAX, app->acquired, VK_NULL_HANDLE, &index),
          "no image");
    record(app->commands[index], app->images[index], seen);
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &app->acquired,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &app->commands[index],
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &app->drawn,
    };
    check(vkQueueSubmit(app->queue, 1, &submit, app->idle), "the frame cannot be submitted");
    if (app->get_past)
        hear(app);
    VkPresentTimeGOOGLE time = {++app->presents, wish(app)};
    VkPresentTimesInfoGOOGLE times = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE,
        .swapchainCount = 1,
        .pTimes = &time,
    };
    VkPresentInfoKHR present = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .pNext = app->get_past ? &times : NULL,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &app->drawn,
        .swapchainCount = 1,
        .pSwapchains = &app->swapchain,
        .pImageIndices = &index,
    };
    check(vkQueuePresentKHR(app->queue, &present), "the frame cannot be presented");
    check(vkWaitForFences(app->device, 1, &app->idle, VK_TRUE, UINT64_MAX), "the frame is never drawn");
    vkResetFences(app->device, 1, &app->idle);
}

/* Sleeps for `nanos`; returns by how much the sleep was too long. */
static uint64_t work(uint64_t nanos) {
    uint64_t until = now() + nanos;
    struct timespec time = {(time_t)(until / NANOS), (long)(until % NANOS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
    return now() - until;
}

int main(int argc, char **argv) {
    static uint64_t costs[MOST_FRAMES], late[MOST_FRAMES];
    static struct app app;
    if (argc < 2)
        fail("usage: sample COSTS.csv [FRAMES [EVERY]]");
    size_t count = read_costs(argv[1], costs), wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (wanted == 0 || wanted > count)
        wanted = count;
    app.every = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    open_window(&app);
    open_device(&app);
    make_images(&app);
    uint64_t started = now(), predicted = 0;
    size_t frame = 0;
    for (; frame < wanted && !app.closed; frame++) {
        uint64_t seen = now();
        if (app.next && app.next(app.device, app.swapchain, &seen) == VK_SUCCESS)
            predicted++;
        late[frame] = work(costs[frame]);
        draw(&app, seen);
        wl_display_dispatch_pending(app.display);
    }
    double seconds = (double)(now() - started) / 1e9;
    qsort(late, frame, sizeof *late, by_size);
    printf("%zu frames in %.1f s, %.1f a second; slept too long by %.2f ms (p50), %.2f (p99)\n", frame, seconds,
           (double)frame / seconds, frame ? (double)late[frame / 2] / 1e6 : 0,
           frame ? (double)late[frame * 99 / 100] / 1e6 : 0);
    printf("%llu drawn for a moment that was predicted, %u told of, %u of them at their distance, %llu ns a refresh\n",
           (unsigned long long)predicted, app.told, app.apart, (unsigned long long)app.refresh);
    vkDeviceWaitIdle(app.device);
    vkDestroySwapchainKHR(app.device, app.swapchain, NULL);
    vkDestroySurfaceKHR(app.instance, app.vk_surface, NULL);
    return 0;
}
