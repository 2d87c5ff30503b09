//! Tells whether the contents of a scroll view change by themselves, such as a video, or only move.

use smithay::backend::renderer::utils::CommitCounter;
use smithay::reexports::wayland_server::Weak;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::state::{ScrollContent, ViewContentRole, ViewProperties};
use crate::guard;
use crate::surface::render_state::{self, SurfaceRenderState};
use upbeat_timing::scroll::{ContentChange, PixelChange};
use upbeat_timing::time::{Instant, Span};

/// A content when it was last looked at.
#[derive(Debug)]
struct KnownContent {
    surface: Weak<WlSurface>,
    position: (i64, i64),
    commit: CommitCounter,
}

/// How often the contents of a view change in place.
#[derive(Debug, Default)]
pub(super) struct ContentChanges {
    known: Vec<KnownContent>,
    changing: ContentChange,
}

impl ContentChanges {
    /// Whether most of the visible part changes in most refreshes.
    pub const fn is_changing(&self) -> bool {
        self.changing.changes_mostly()
    }

    /// Notes the frame shown at `present`, with `seen` visible pixels of `view`. `touched`: a content was committed
    /// since the frame before.
    pub fn note(&mut self, (present, interval): (Instant, Span), touched: bool, view: &ViewProperties, seen: i64) {
        let change = if touched { self.look(view, seen) } else { PixelChange::None };
        self.changing.note(present, interval, change);
    }

    fn look(&mut self, view: &ViewProperties, seen: i64) -> PixelChange {
        let before = std::mem::take(&mut self.known);
        let (mut changed, mut replaced) = (0.0, 0.0);
        for content in view.contents.iter().filter(|content| content.role == ViewContentRole::Document) {
            let Some((now, drawn)) = inspect(content, &before) else { continue };
            let was_there = before.iter().find(|known| known.surface == now.surface);
            match was_there {
                Some(known) if known.position == now.position => changed += drawn,
                Some(_) => replaced += drawn,
                None => {}
            }
            self.known.push(now);
        }
        // Half of the visible pixels.
        let most = seen as f64 / 2.0;
        match () {
            () if changed >= most => PixelChange::Most,
            () if replaced >= most => PixelChange::Replaced,
            () => PixelChange::None,
        }
    }
}

/// The present state of a content, and how many of its shown pixels were drawn since `before`.
fn inspect(content: &ScrollContent, before: &[KnownContent]) -> Option<(KnownContent, f64)> {
    let surface = content.surface.upgrade().ok()?;
    let last = before.iter().find(|known| known.surface == content.surface).map(|known| known.commit);
    let (commit, drawn) = guard::with_states(&surface, |states| {
        let data = render_state::of(states)?;
        Some((data.current_commit(), drawn_since(&data, last)))
    })?;
    let position = (content.position.0.get(), content.position.1.get());
    Some((KnownContent { surface: content.surface.clone(), position, commit }, drawn))
}

/// How many of a surface's shown pixels were damaged since commit `last`.
fn drawn_since(data: &SurfaceRenderState, last: Option<CommitCounter>) -> f64 {
    let (Some(last), Some(buffer), Some(view)) = (last, data.buffer_size(), data.cut()) else { return 0.0 };
    let scale = f64::from(data.buffer_scale());
    let pixels = |width: i32, height: i32| f64::from(width) * f64::from(height);
    let drawn: f64 = data.damage_since(Some(last)).iter().map(|rect| pixels(rect.size.w, rect.size.h)).sum();
    let whole = (pixels(buffer.w, buffer.h) * scale * scale).max(1.0);
    (drawn / whole).min(1.0) * pixels(view.size.w, view.size.h)
}
