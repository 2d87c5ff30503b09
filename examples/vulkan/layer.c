/* VK_LAYER_UPBEAT_frame_pacing: upbeat_frame_pacing_v1 for unmodified Vulkan programs on Wayland.
 *
 *   - The layer binds each present to a refresh. The program draws several frames ahead (UPBEAT_LAYER_AHEAD, default 3), so that the
 *     waiting frames hide a slow frame. vkQueuePresentKHR returns when the refresh of the next frame is known.
 *   - VK_GOOGLE_display_timing reports the compositor's refresh duration, and the presentation times and margins of frames. A frame with
 *     a desired time is bound to the refresh nearest to that time.
 *   - upbeatGetNextPresentTime, from vkGetDeviceProcAddr, is the presentation time of the frame that the program draws now. It is not an
 *     extension of Vulkan.
 *
 * ENABLE_UPBEAT_LAYER=1 enables the layer. It does nothing on X11, and on compositors without the protocol. It suits programs that move
 * by a fixed step a frame, or by the times of the layer. The motion of a program that uses its own clock becomes uneven.
 *
 * UPBEAT_LAYER_TELL=1 prints counts of the frames when the surface is destroyed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VK_USE_PLATFORM_WAYLAND_KHR
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "pacing.h"

#define EXPORT __attribute__((visibility("default")))
enum { AHEAD = 3, MOST_AHEAD = 16 };

/* Functions of the next layer, or of the driver, for an instance or a device. */
struct instance {
    struct instance *next;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr get;
    PFN_vkDestroyInstance destroy;
    PFN_vkCreateWaylandSurfaceKHR create_surface;
    PFN_vkDestroySurfaceKHR destroy_surface;
};

struct device {
    struct device *next;
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get;
    PFN_vkDestroyDevice destroy;
    PFN_vkCreateSwapchainKHR create_swapchain;
    PFN_vkDestroySwapchainKHR destroy_swapchain;
    PFN_vkQueuePresentKHR present;
};

struct surface {
    struct surface *next;
    VkSurfaceKHR handle;
    struct wl_display *display;
    struct wl_surface *wayland;
    /* NULL before the first swapchain, and if the compositor lacks the protocol. */
    struct pacing *pacing;
};

struct swapchain {
    struct swapchain *next;
    VkSwapchainKHR handle;
    struct surface *surface;
};

/* Guards the lists. Their items need no lock: Vulkan requires that only one thread at a time uses an object. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct instance *instances;
static struct device *devices;
static struct surface *surfaces;
static struct swapchain *swapchains;

/* A dispatchable object begins with a pointer to the loader's table. All objects of one device have the same table. */
static void *key(const void *handle) { return *(void *const *)handle; }

static struct instance *instance_of(const void *handle) {
    pthread_mutex_lock(&lock);
    struct instance *found = instances;
    while (found && key(found->handle) != key(handle))
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static struct device *device_of(const void *handle) {
    pthread_mutex_lock(&lock);
    struct device *found = devices;
    while (found && key(found->handle) != key(handle))
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static struct surface *surface_of(VkSurfaceKHR handle) {
    pthread_mutex_lock(&lock);
    struct surface *found = surfaces;
    while (found && found->handle != handle)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

/* The pacing of a swapchain; NULL if it has none. */
static struct pacing *pacing_of(VkSwapchainKHR handle) {
    pthread_mutex_lock(&lock);
    struct swapchain *found = swapchains;
    while (found && found->handle != handle)
        found = found->next;
    struct pacing *pacing = found && found->surface ? found->surface->pacing : NULL;
    pthread_mutex_unlock(&lock);
    return pacing;
}

/* Removes the item with the handle `wanted` from a list; `taken` is NULL if there is none. */
#define TAKE(list, wanted, taken)                                                                                      \
    do {                                                                                                               \
        pthread_mutex_lock(&lock);                                                                                     \
        __typeof__(list) *link = &(list);                                                                              \
        while (*link && (*link)->handle != (wanted))                                                                   \
            link = &(*link)->next;                                                                                     \
        (taken) = *link;                                                                                               \
        if (*link)                                                                                                     \
            *link = (*link)->next;                                                                                     \
        pthread_mutex_unlock(&lock);                                                                                   \
    } while (0)

#define PUT(list, made)                                                                                                \
    do {                                                                                                               \
        pthread_mutex_lock(&lock);                                                                                     \
        (made)->next = (list);                                                                                         \
        (list) = (made);                                                                                               \
        pthread_mutex_unlock(&lock);                                                                                   \
    } while (0)

static uint32_t frames_ahead(void) {
    const char *said = getenv("UPBEAT_LAYER_AHEAD");
    unsigned long wanted = said ? strtoul(said, NULL, 10) : AHEAD;
    return wanted < 1 ? 1 : wanted > MOST_AHEAD ? MOST_AHEAD : (uint32_t)wanted;
}

static void tell(const struct pacing *pacing) {
    const char *said = getenv("UPBEAT_LAYER_TELL");
    if (!said || strcmp(said, "1") != 0)
        return;
    struct pacing_counts counts = pacing_counts(pacing);
    fprintf(stderr, "upbeat layer: %u presents, %u bound, %u seen, %u of them at their refresh, %u discarded, %u ns a refresh\n",
            counts.presents, counts.bound, counts.seen, counts.on_time, counts.discarded, pacing_interval(pacing));
}

/* --- instances and surfaces --------------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *made) {
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)info->pNext;
    while (chain &&
           (chain->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || chain->function != VK_LAYER_LINK_INFO))
        chain = (VkLayerInstanceCreateInfo *)chain->pNext;
    struct instance *instance = calloc(1, sizeof *instance);
    if (!chain || !instance) {
        free(instance);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    instance->get = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)instance->get(VK_NULL_HANDLE, "vkCreateInstance");
    VkResult result = create ? create(info, allocator, made) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        free(instance);
        return result;
    }
    instance->handle = *made;
    instance->destroy = (PFN_vkDestroyInstance)instance->get(*made, "vkDestroyInstance");
    instance->create_surface = (PFN_vkCreateWaylandSurfaceKHR)instance->get(*made, "vkCreateWaylandSurfaceKHR");
    instance->destroy_surface = (PFN_vkDestroySurfaceKHR)instance->get(*made, "vkDestroySurfaceKHR");
    PUT(instances, instance);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle, const VkAllocationCallbacks *allocator) {
    struct instance *instance;
    if (!handle)
        return;
    TAKE(instances, handle, instance);
    if (!instance)
        return;
    instance->destroy(handle, allocator);
    free(instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_surface(VkInstance handle, const VkWaylandSurfaceCreateInfoKHR *info,
                                                     const VkAllocationCallbacks *allocator, VkSurfaceKHR *made) {
    VkResult result = instance_of(handle)->create_surface(handle, info, allocator, made);
    struct surface *surface = result == VK_SUCCESS ? calloc(1, sizeof *surface) : NULL;
    if (surface) {
        surface->handle = *made;
        surface->display = info->display;
        surface->wayland = info->surface;
        PUT(surfaces, surface);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_surface(VkInstance handle, VkSurfaceKHR wanted,
                                                  const VkAllocationCallbacks *allocator) {
    struct surface *surface;
    TAKE(surfaces, wanted, surface);
    if (surface && surface->pacing) {
        tell(surface->pacing);
        pacing_destroy(surface->pacing);
    }
    free(surface);
    instance_of(handle)->destroy_surface(handle, wanted, allocator);
}

/* --- devices and swapchains --------------------------------------------------------------------------------------- */

/* Copies the extension names without the layer's own extension. Returns their count. */
static uint32_t without_ours(const VkDeviceCreateInfo *info, const char **names) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], VK_GOOGLE_DISPLAY_TIMING_EXTENSION_NAME) != 0)
            names[kept++] = info->ppEnabledExtensionNames[i];
    return kept;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *made) {
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)info->pNext;
    while (chain &&
           (chain->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || chain->function != VK_LAYER_LINK_INFO))
        chain = (VkLayerDeviceCreateInfo *)chain->pNext;
    struct device *device = calloc(1, sizeof *device);
    const char **names = calloc(info->enabledExtensionCount + 1, sizeof *names);
    VkResult result = VK_ERROR_INITIALIZATION_FAILED;
    if (chain && device && names) {
        PFN_vkGetInstanceProcAddr get = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
        device->get = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
        chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
        PFN_vkCreateDevice create = (PFN_vkCreateDevice)get(instance_of(physical)->handle, "vkCreateDevice");
        VkDeviceCreateInfo kept = *info;
        kept.enabledExtensionCount = without_ours(info, names);
        kept.ppEnabledExtensionNames = names;
        if (create)
            result = create(physical, &kept, allocator, made);
    }
    free(names);
    if (result != VK_SUCCESS) {
        free(device);
        return result;
    }
    device->handle = *made;
    device->destroy = (PFN_vkDestroyDevice)device->get(*made, "vkDestroyDevice");
    device->create_swapchain = (PFN_vkCreateSwapchainKHR)device->get(*made, "vkCreateSwapchainKHR");
    device->destroy_swapchain = (PFN_vkDestroySwapchainKHR)device->get(*made, "vkDestroySwapchainKHR");
    device->present = (PFN_vkQueuePresentKHR)device->get(*made, "vkQueuePresentKHR");
    PUT(devices, device);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks *allocator) {
    struct device *device;
    if (!handle)
        return;
    TAKE(devices, handle, device);
    if (!device)
        return;
    device->destroy(handle, allocator);
    free(device);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice handle, const VkSwapchainCreateInfoKHR *info,
                                                       const VkAllocationCallbacks *allocator, VkSwapchainKHR *made) {
    struct surface *surface = surface_of(info->surface);
    uint32_t ahead = frames_ahead();
    if (surface && !surface->pacing)
        surface->pacing = pacing_new(surface->display, surface->wayland, ahead);
    VkSwapchainCreateInfoKHR wanted = *info;
    if (surface && surface->pacing) {
        /* With FIFO the driver waits for a frame callback before each commit, so that no frame can be ahead. Targets keep the order,
         * and limit the program's rate as FIFO does. */
        if (wanted.presentMode == VK_PRESENT_MODE_FIFO_KHR)
            wanted.presentMode = VK_PRESENT_MODE_MAILBOX_KHR;
        /* The image on screen, the waiting images, and the image in work. */
        if (wanted.minImageCount < ahead + 2)
            wanted.minImageCount = ahead + 2;
    }
    struct device *device = device_of(handle);
    VkResult result = device->create_swapchain(handle, &wanted, allocator, made);
    if (result != VK_SUCCESS && surface && surface->pacing) /* the driver lacks the mode or the images */
        result = device->create_swapchain(handle, info, allocator, made);
    struct swapchain *swapchain = result == VK_SUCCESS ? calloc(1, sizeof *swapchain) : NULL;
    if (swapchain) {
        swapchain->handle = *made;
        swapchain->surface = surface;
        PUT(swapchains, swapchain);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_swapchain(VkDevice handle, VkSwapchainKHR wanted,
                                                    const VkAllocationCallbacks *allocator) {
    struct swapchain *swapchain;
    TAKE(swapchains, wanted, swapchain);
    free(swapchain);
    device_of(handle)->destroy_swapchain(handle, wanted, allocator);
}

/* --- presenting --------------------------------------------------------------------------------------------------- */

/* The program's VkPresentTimesInfoGOOGLE, or NULL; `link` is the pNext field that points to it. */
static const VkPresentTimesInfoGOOGLE *times_of(VkPresentInfoKHR *info, const void ***link) {
    *link = &info->pNext;
    while (**link && ((const VkBaseInStructure *)**link)->sType != VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE)
        *link = (const void **)&((VkBaseInStructure *)**link)->pNext;
    return **link;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_present(VkQueue queue, const VkPresentInfoKHR *given) {
    VkPresentInfoKHR info = *given;
    const void **link;
    const VkPresentTimesInfoGOOGLE *times = times_of(&info, &link);
    if (times) /* unlink it: the driver lacks the extension */
        *link = times->pNext;
    for (uint32_t i = 0; i < info.swapchainCount; i++) {
        struct pacing *pacing = pacing_of(info.pSwapchains[i]);
        const VkPresentTimeGOOGLE *time =
            times && times->pTimes && i < times->swapchainCount ? &times->pTimes[i] : NULL;
        if (pacing)
            pacing_bind(pacing, time ? time->presentID : 0, time ? time->desiredPresentTime : 0);
    }
    VkResult result = device_of(queue)->present(queue, &info);
    if (times)
        *link = times;
    for (uint32_t i = 0; result >= 0 && i < info.swapchainCount; i++) {
        struct pacing *pacing = pacing_of(info.pSwapchains[i]);
        if (pacing)
            pacing_next(pacing);
    }
    return result;
}

/* --- VK_GOOGLE_display_timing, and one function more --------------------------------------------------------------- */

/* 60 Hz, in nanoseconds, before the compositor has sent an interval. */
#define USUAL_REFRESH UINT64_C(16666667)

static VKAPI_ATTR VkResult VKAPI_CALL get_refresh(VkDevice device, VkSwapchainKHR swapchain,
                                                  VkRefreshCycleDurationGOOGLE *refresh) {
    struct pacing *pacing = pacing_of(swapchain);
    uint32_t interval = pacing ? pacing_interval(pacing) : 0;
    (void)device;
    refresh->refreshDuration = interval ? interval : USUAL_REFRESH;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_past(VkDevice device, VkSwapchainKHR swapchain, uint32_t *count,
                                               VkPastPresentationTimingGOOGLE *timings) {
    struct pacing *pacing = pacing_of(swapchain);
    uint32_t there = pacing ? pacing_seen_count(pacing) : 0, given = 0;
    (void)device;
    if (!timings) {
        *count = there;
        return VK_SUCCESS;
    }
    struct pacing_seen seen;
    while (given < *count && pacing && pacing_take_seen(pacing, &seen)) {
        uint64_t interval = pacing_interval(pacing), spare = seen.margin > 0 ? (uint64_t)seen.margin : 0;
        timings[given++] = (VkPastPresentationTimingGOOGLE){
            .presentID = seen.name,
            .desiredPresentTime = seen.desired,
            .actualPresentTime = seen.at,
            /* Earlier by the whole refreshes of its margin. */
            .earliestPresentTime = seen.at - (interval ? spare / interval * interval : 0),
            .presentMargin = spare,
        };
    }
    *count = given;
    return given < there ? VK_INCOMPLETE : VK_SUCCESS;
}

/* The presentation time of the frame that the program draws now, in nanoseconds of CLOCK_MONOTONIC; VK_NOT_READY without a target. */
static VKAPI_ATTR VkResult VKAPI_CALL get_next(VkDevice device, VkSwapchainKHR swapchain, uint64_t *present) {
    struct pacing *pacing = pacing_of(swapchain);
    struct pacing_target target;
    (void)device;
    if (!pacing || !pacing_target(pacing, &target))
        return VK_NOT_READY;
    *present = target.present;
    return VK_SUCCESS;
}

/* --- the loader's entry points ------------------------------------------------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_address(VkInstance instance, const char *name);

struct function {
    const char *name;
    PFN_vkVoidFunction address;
};

static const struct function of_instances[] = {
    {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_address},
    {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
    {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance},
    {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
    {"vkCreateWaylandSurfaceKHR", (PFN_vkVoidFunction)create_surface},
    {"vkDestroySurfaceKHR", (PFN_vkVoidFunction)destroy_surface},
};

static const struct function of_devices[] = {
    {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_address},
    {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
    {"vkCreateSwapchainKHR", (PFN_vkVoidFunction)create_swapchain},
    {"vkDestroySwapchainKHR", (PFN_vkVoidFunction)destroy_swapchain},
    {"vkQueuePresentKHR", (PFN_vkVoidFunction)queue_present},
    {"vkGetRefreshCycleDurationGOOGLE", (PFN_vkVoidFunction)get_refresh},
    {"vkGetPastPresentationTimingGOOGLE", (PFN_vkVoidFunction)get_past},
    {"upbeatGetNextPresentTime", (PFN_vkVoidFunction)get_next},
};

static PFN_vkVoidFunction ours(const struct function *functions, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].address;
    return NULL;
}

#define OURS(functions, name) ours(functions, sizeof(functions) / sizeof *(functions), name)

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice handle, const char *name) {
    PFN_vkVoidFunction found = OURS(of_devices, name);
    struct device *device = found ? NULL : device_of(handle);
    return device ? device->get(handle, name) : found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_address(VkInstance handle, const char *name) {
    PFN_vkVoidFunction found = OURS(of_instances, name);
    if (!found)
        found = OURS(of_devices, name);
    struct instance *instance = found || !handle ? NULL : instance_of(handle);
    return instance ? instance->get(handle, name) : found;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *wanted);

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *wanted) {
    if (wanted->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT || wanted->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    wanted->loaderLayerInterfaceVersion = 2;
    wanted->pfnGetInstanceProcAddr = get_instance_address;
    wanted->pfnGetDeviceProcAddr = get_device_address;
    wanted->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
