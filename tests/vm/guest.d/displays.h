/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * What the guest's vkms has beyond the kernel's: several displays on one card, and a driver that takes its time.
 * vkms.sh puts it into the unpacked source; vkms_drv.c includes it where its helpers' headers are known.
 *
 *   displays           how many, 1 to MOST_DISPLAYS; each has its own planes, CRTC, encoder and connector
 *   modeset_sleep_ms   how long a commit takes that switches a mode, lights a display or makes it dark
 *   flip_sleep_ms      how long any commit takes
 *   sleep_crtc         whose commits: an index, or -1 for all
 *
 * All but the first can be written while the module is in use: /sys/module/vkms/parameters.
 */
#include <linux/delay.h>

static int displays = 1;
module_param(displays, int, 0444);
static int modeset_sleep_ms;
module_param(modeset_sleep_ms, int, 0644);
static int flip_sleep_ms;
module_param(flip_sleep_ms, int, 0644);
static int sleep_crtc = -1;
module_param(sleep_crtc, int, 0644);

static int number_of_displays(void)
{
	return clamp(displays, 1, MOST_DISPLAYS);
}

static int init_outputs(struct vkms_device *device)
{
	for (int i = 0; i < number_of_displays(); i++) {
		int error = vkms_output_init(device, i);

		if (error)
			return error;
	}
	drm_mode_config_reset(&device->drm);
	return 0;
}

static void destroy_workqueues(struct vkms_device *device)
{
	for (int i = 0; i < MOST_DISPLAYS; i++)
		if (device->outputs[i].composer_workq)
			destroy_workqueue(device->outputs[i].composer_workq);
}

/*
 * vkms holds a CRTC's spin lock from atomic_begin to atomic_flush, with interrupts off, and turns them on when it lets go
 * of it. The helper begins all CRTCs of a commit before it flushes the first, so interrupts would be on while the second
 * one's lock is held, which its timer takes. One after another there is one lock at a time.
 */
static void commit_planes(struct drm_device *dev, struct drm_atomic_state *state)
{
	struct drm_crtc *crtc;
	struct drm_crtc_state *old;
	int i;

	if (number_of_displays() == 1) {
		drm_atomic_helper_commit_planes(dev, state, 0);
		return;
	}
	for_each_old_crtc_in_state(state, crtc, old, i)
		drm_atomic_helper_commit_planes_on_crtc(old);
}

/*
 * Whoever commits holds the locks of all that the state contains until this returns: of its CRTCs and planes, and for a
 * modeset the one of all connectors. Tests do not get here.
 */
static int commit_slowly(struct drm_device *dev, struct drm_atomic_state *state, bool nonblock)
{
	struct drm_crtc *crtc;
	struct drm_crtc_state *new;
	int i, longest = 0;

	for_each_new_crtc_in_state(state, crtc, new, i) {
		if (READ_ONCE(sleep_crtc) >= 0 && READ_ONCE(sleep_crtc) != drm_crtc_index(crtc))
			continue;
		longest = max(longest, READ_ONCE(flip_sleep_ms));
		if (drm_atomic_crtc_needs_modeset(new))
			longest = max(longest, READ_ONCE(modeset_sleep_ms));
	}
	if (longest > 0)
		msleep(longest);
	return drm_atomic_helper_commit(dev, state, nonblock);
}
