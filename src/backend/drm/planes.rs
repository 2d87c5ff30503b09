//! The planes of a pipe that show clients' buffers: which there are, what they show, and what the driver takes.
//!
//! ```text
//!   can_show ─► formats ─► framebuffers ─► TEST_ONLY commit ─► verdict, kept by shape
//!   submit ──► states ─► commit ─► flipped: what was shown before is let go
//! ```

use std::collections::VecDeque;

use drm_fourcc::{DrmFormat, DrmModifier};
use smithay::backend::allocator::format::FormatSet;
use smithay::backend::drm::{DrmDeviceFd, DrmSurface, PlaneClaim, PlaneConfig, PlaneInfo, PlaneState};
use smithay::reexports::drm::control::{framebuffer, plane};
use smithay::utils::{Physical, Rectangle, Transform};

use super::client::{ClientFrames, opaque_format};
use crate::backend::PixelRect;
use crate::backend::plane::{DeviceMemory, PlaneContent, Planes, SourceRect};

/// So many of the driver's answers are remembered; more shapes than a window has while it is moved need no more.
const VERDICTS: usize = 16;

/// So many overlay planes are taken at most: the rest are for the other pipes of the device.
const MOST_OVERLAYS: usize = 4;

/// Planes for clients' buffers.
pub(super) struct ClientPlanes {
    frames: ClientFrames,
    primary: (plane::Handle, FormatSet),
    overlays: Vec<Overlay>,
    /// What the driver said of shapes that it was asked about, the newest last.
    verdicts: VecDeque<(Shape, bool)>,
}

struct Overlay {
    info: PlaneInfo,
    /// Keeps it from being given to another pipe.
    _claim: PlaneClaim,
    /// It may show something.
    lit: bool,
}

/// All of an arrangement that a driver's answer depends on, as far as one can know.
#[derive(Clone, Debug, PartialEq)]
struct Shape(Vec<PlaneShape>);

#[derive(Clone, Debug, PartialEq)]
struct PlaneShape {
    direct: bool,
    size: (u32, u32),
    format: (u32, u64),
    strides: Vec<u32>,
    source: SourceRect,
    target: PixelRect,
}

impl Shape {
    fn of(planes: &Planes) -> Self {
        let shape = |direct: bool, content: &PlaneContent| {
            let memory: &DeviceMemory = &content.memory;
            PlaneShape {
                direct,
                size: (memory.width, memory.height),
                format: (memory.format, memory.modifier),
                strides: memory.parts.iter().map(|part| part.stride).collect(),
                source: content.source,
                target: content.target,
            }
        };
        let direct = planes.direct.iter().map(|content| shape(true, content));
        Shape(direct.chain(planes.overlays.iter().map(|content| shape(false, content))).collect())
    }
}

impl ClientPlanes {
    /// The planes that `surface`'s CRTC has and nobody else uses.
    pub fn new(device: DrmDeviceFd, surface: &DrmSurface) -> Self {
        let primary = surface.plane_info();
        let is_above = |info: &&PlaneInfo| match (info.zpos, primary.zpos) {
            (Some(overlay), Some(primary)) => overlay > primary,
            // Nobody says: overlays lie above.
            _ => true,
        };
        let free = surface.planes().overlay.iter().filter(is_above).filter_map(|info| {
            let claim = surface.claim_plane(info.handle)?;
            Some(Overlay { info: info.clone(), _claim: claim, lit: false })
        });
        // Legacy modesetting knows no planes.
        let overlays = if surface.is_legacy() { Vec::new() } else { free.take(MOST_OVERLAYS).collect() };
        ClientPlanes {
            frames: ClientFrames::new(device),
            primary: (primary.handle, primary.formats.clone()),
            overlays,
            verdicts: VecDeque::new(),
        }
    }

    /// How many overlays there are.
    pub fn overlays(&self) -> u32 {
        u32::try_from(self.overlays.len()).unwrap_or(0)
    }

    /// The formats, with their layouts, that the primary plane can show.
    pub fn formats(&self) -> &FormatSet {
        &self.primary.1
    }

    /// Whether the driver takes `planes`, as far as it tells.
    pub fn can_show(&mut self, surface: &DrmSurface, planes: &Planes) -> bool {
        let shape = Shape::of(planes);
        // Formats are cheap to look at, and a client's new buffer may be one that cannot be imported.
        let Some(states) = self.states(planes, false) else { return false };
        if let Some((_, verdict)) = self.verdicts.iter().find(|(known, _)| *known == shape) {
            return *verdict;
        }
        let verdict = match surface.test_state(states, false) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(%error, "planes cannot show this, so it is composed");
                false
            }
        };
        self.remember(shape, verdict);
        verdict
    }

    /// The driver refused a frame with these.
    pub fn refused(&mut self, planes: &Planes) {
        self.remember(Shape::of(planes), false);
    }

    fn remember(&mut self, shape: Shape, verdict: bool) {
        self.verdicts.retain(|(known, _)| *known != shape);
        if self.verdicts.len() == VERDICTS {
            self.verdicts.pop_front();
        }
        self.verdicts.push_back((shape, verdict));
    }

    /// The mode has changed, or somebody else had the device: the driver may think differently.
    pub fn forget_verdicts(&mut self) {
        self.verdicts.clear();
    }

    /// What to commit so that these are shown, and nothing else is on the overlays. `all`: nobody knows what they show.
    /// `None`: some buffer has no plane that can show it.
    pub fn states(&mut self, planes: &Planes, all: bool) -> Option<Vec<PlaneState<'static>>> {
        let mut states = Vec::with_capacity(planes.overlays.len() + 1);
        if let Some(content) = &planes.direct {
            let framebuffer = self.frames.framebuffer(&content.memory).filter(|_| takes(&self.primary.1, content))?;
            states.push(state(self.primary.0, content, framebuffer));
        }
        let mut used = vec![false; self.overlays.len()];
        for content in &planes.overlays {
            let fits = |(index, overlay): (usize, &Overlay)| !used[index] && takes(&overlay.info.formats, content);
            let index = self.overlays.iter().enumerate().position(fits)?;
            used[index] = true;
            states.push(state(self.overlays[index].info.handle, content, self.frames.framebuffer(&content.memory)?));
        }
        let dark = self.overlays.iter().zip(&used).filter(|(overlay, used)| !**used && (overlay.lit || all));
        states.extend(dark.map(|(overlay, _)| PlaneState { handle: overlay.info.handle, config: None }));
        Some(states)
    }

    /// The driver took these states: which overlays show something from now on.
    pub fn committed(&mut self, states: &[PlaneState<'_>]) {
        for overlay in &mut self.overlays {
            if let Some(state) = states.iter().find(|state| state.handle == overlay.info.handle) {
                overlay.lit = state.config.is_some();
            }
        }
    }

    /// A frame's buffers were let go.
    pub fn tidy(&mut self) {
        self.frames.forget_gone();
    }
}

/// Whether a plane with these formats takes the content. A driver that knows no modifiers takes what lies row by row.
fn takes(formats: &FormatSet, content: &PlaneContent) -> bool {
    let Some(code) = opaque_format(content.memory.format) else { return false };
    let modifier = DrmModifier::from(content.memory.modifier);
    let is_told = formats.contains(&DrmFormat { code, modifier });
    is_told || modifier == DrmModifier::Linear && formats.contains(&DrmFormat { code, modifier: DrmModifier::Invalid })
}

fn state(handle: plane::Handle, content: &PlaneContent, fb: framebuffer::Handle) -> PlaneState<'static> {
    let PlaneContent { source, target, .. } = content;
    let src = Rectangle::new((source.x, source.y).into(), (source.width, source.height).into());
    let dst = Rectangle::<i32, Physical>::new((target.x, target.y).into(), (target.width, target.height).into());
    let transform = Transform::Normal;
    PlaneState {
        handle,
        config: Some(PlaneConfig { src, dst, transform, alpha: 1.0, damage_clips: None, fb, fence: None }),
    }
}
