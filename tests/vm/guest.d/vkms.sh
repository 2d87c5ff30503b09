# shellcheck shell=bash
# The kernel's vkms with several displays and a driver that takes its time (displays.h). Sourced by prepare.sh.

# change_line FILE TIMES PATTERN REPLACEMENT: in so many lines, or there is something else in that file than was expected.
change_line() {
    local file=$1 times=$2 pattern=$3 replacement=$4 found
    found=$(sed -n "\#$pattern#p" "$file" | wc -l)
    if [ "$found" != "$times" ]; then
        echo "$file: $found lines have '$pattern', not $times: this is not the vkms that vkms.sh was written for"
        return 1
    fi
    sed -i "s#$pattern#$replacement#" "$file"
}

# several_displays DIRECTORY: with vkms's source, of Linux 6.12.
several_displays() {
    local source=$1
    cp "$here/guest.d/displays.h" "$source/displays.h"
    # An array of outputs instead of one; each user of the one is told which.
    change_line "$source/vkms_drv.h" 1 '^\tstruct vkms_output output;' '\tstruct vkms_output outputs[MOST_DISPLAYS];'
    change_line "$source/vkms_drv.h" 1 '^\#define NUM_OVERLAY_PLANES' '\#define MOST_DISPLAYS 4\n&'
    change_line "$source/vkms_output.c" 1 '&vkmsdev->output;' '\&vkmsdev->outputs[index];'
    change_line "$source/vkms_output.c" 1 'possible_crtcs = 1;' 'possible_crtcs = drm_crtc_mask(crtc);'
    change_line "$source/vkms_crtc.c" 1 '&vkmsdev->output;' 'drm_crtc_to_vkms_output(crtc);'
    change_line "$source/vkms_crtc.c" 1 '^\tstruct vkms_device \*vkmsdev = .*' ''
    change_line "$source/vkms_crtc.c" 1 '^\tstruct drm_device \*dev = crtc->dev;' ''
    # What is written back is what the first shows.
    change_line "$source/vkms_output.c" 1 'if (vkmsdev->config->writeback)' 'if (vkmsdev->config->writeback \&\& index == 0)'
    change_line "$source/vkms_writeback.c" 4 'vkmsdev->output\>' 'vkmsdev->outputs[0]'
    # Once all of them are there.
    change_line "$source/vkms_output.c" 1 '^\tdrm_mode_config_reset(dev);' ''
    change_line "$source/vkms_drv.c" 1 'return vkms_output_init(vkmsdev, 0);' 'return init_outputs(vkmsdev);'
    change_line "$source/vkms_drv.c" 1 'drm_vblank_init(&vkms_device->drm, 1)' 'drm_vblank_init(\&vkms_device->drm, number_of_displays())'
    change_line "$source/vkms_drv.c" 1 '^\tif (vkms->output.composer_workq)' '\tdestroy_workqueues(vkms);'
    change_line "$source/vkms_drv.c" 1 '^\t\tdestroy_workqueue(vkms->output.composer_workq);' ''
    change_line "$source/vkms_drv.c" 1 'drm_atomic_helper_commit_planes(dev, old_state, 0);' 'commit_planes(dev, old_state);'
    change_line "$source/vkms_drv.c" 1 'atomic_commit = drm_atomic_helper_commit,' 'atomic_commit = commit_slowly,'
    change_line "$source/vkms_drv.c" 1 '^DEFINE_DRM_GEM_FOPS' '\#include "displays.h"\n\n&'
}
