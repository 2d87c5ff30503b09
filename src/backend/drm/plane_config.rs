//! Builds plane configurations, in Smithay's types.

use smithay::backend::drm::{PlaneConfig, PlaneDamageClips};
use smithay::reexports::drm::control::{framebuffer, property};
use smithay::utils::{Physical, Point, Rectangle, Size, Transform};

/// The id of the damage clips' blob; valid as long as `clips` lives.
pub(super) fn blob(clips: &PlaneDamageClips) -> property::Value<'static> {
    match clips.blob() {
        property::Value::Blob(number) => property::Value::Blob(number),
        // No other kind of value occurs; blob 0 means that the whole plane is damaged.
        _ => property::Value::Blob(0),
    }
}

/// A whole framebuffer, unscaled, at a position of the CRTC.
pub(super) fn whole(fb: framebuffer::Handle, (width, height): (i32, i32), (x, y): (i32, i32)) -> PlaneConfig<'static> {
    PlaneConfig {
        src: Rectangle::from_size((f64::from(width), f64::from(height)).into()),
        dst: Rectangle::<i32, Physical>::new(Point::from((x, y)), Size::from((width, height))),
        transform: Transform::Normal,
        alpha: 1.0,
        damage_clips: None,
        fb,
        fence: None,
    }
}

/// A picture of `size` within a framebuffer, from row `top` on, that fills the CRTC.
pub(super) fn part(fb: framebuffer::Handle, top: i32, size: (i32, i32)) -> PlaneConfig<'static> {
    let mut config = whole(fb, size, (0, 0));
    config.src.loc.y = f64::from(top);
    config
}
