//! A page flip of our own making, for what Smithay's knows nothing of: properties of the CRTC that go with a frame.

use std::os::fd::AsRawFd;

use smithay::backend::drm::{DrmSurface, PlaneConfig, PlaneState};
use smithay::reexports::drm::control::atomic::AtomicModeReq;
use smithay::reexports::drm::control::{AtomicCommitFlags, Device, RawResourceHandle, framebuffer, plane, property};

/// The values of an object's properties have 16 bits after the point.
const FIXED_POINT: f64 = 65_536.0;

/// Shows `planes` (unrotated, opaque) at the next refresh, with `value` for the CRTC's property; says when it is done like
/// [`DrmSurface::page_flip`].
pub(super) fn flip_with(
    surface: &DrmSurface,
    planes: &[PlaneState<'_>],
    (property, value): (property::Handle, property::RawValue),
) -> std::io::Result<()> {
    let mut request = AtomicModeReq::new();
    request.add_raw_property(surface.crtc().into(), property, value);
    for plane in planes {
        add(&mut request, surface, plane.handle, plane.config.as_ref())?;
    }
    surface.atomic_commit(AtomicCommitFlags::NONBLOCK | AtomicCommitFlags::PAGE_FLIP_EVENT, request)
}

fn add(
    request: &mut AtomicModeReq,
    surface: &DrmSurface,
    plane: plane::Handle,
    config: Option<&PlaneConfig<'_>>,
) -> std::io::Result<()> {
    let wanted = config.map_or_else(|| dark().to_vec(), |config| shown(surface, config));
    let properties = surface.get_properties(plane)?;
    for (handle, _) in &properties {
        let info = surface.get_property(*handle)?;
        let value = wanted.iter().find(|(name, _)| info.name().to_str() == Ok(name));
        if let Some((_, value)) = value {
            request.add_raw_property(plane.into(), *handle, *value);
        }
    }
    Ok(())
}

type Value = (&'static str, property::RawValue);

/// A plane that shows nothing.
fn dark() -> [Value; 2] {
    [("CRTC_ID", 0), ("FB_ID", 0)]
}

/// A plane that shows this. Its driver is not told what is new in it: all is.
fn shown(surface: &DrmSurface, config: &PlaneConfig<'_>) -> Vec<Value> {
    let fixed = |value: f64| (value * FIXED_POINT).round() as u64;
    let signed = |value: i32| i64::from(value).cast_unsigned();
    let number = |handle: RawResourceHandle| u64::from(handle.get());
    let (from, to) = (config.src, config.dst);
    let fence = config.fence.as_ref().map_or(-1, |fence| i64::from(fence.as_raw_fd()));
    vec![
        ("CRTC_ID", number(surface.crtc().into())),
        ("FB_ID", number(framebuffer::Handle::into(config.fb))),
        ("SRC_X", fixed(from.loc.x)),
        ("SRC_Y", fixed(from.loc.y)),
        ("SRC_W", fixed(from.size.w)),
        ("SRC_H", fixed(from.size.h)),
        ("CRTC_X", signed(to.loc.x)),
        ("CRTC_Y", signed(to.loc.y)),
        ("CRTC_W", signed(to.size.w)),
        ("CRTC_H", signed(to.size.h)),
        ("IN_FENCE_FD", fence.cast_unsigned()),
        ("FB_DAMAGE_CLIPS", 0),
    ]
}
