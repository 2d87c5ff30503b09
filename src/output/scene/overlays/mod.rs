//! The compositor's own user interface, between and above the windows: the overview's cards and titles, the list of
//! shortcuts, notices, questions, the HUD. Panels are plain colours. Text is drawn into a picture once, and cached
//! while it is visible.

mod aim;
mod help;
mod hint;
pub(in crate::output) mod hud;
mod lock;
mod notices;
mod overview;
pub(in crate::output) mod paint;
mod question;
mod region;
mod workspace_indicator;

use std::collections::HashMap;

use smithay::backend::renderer::element::Id;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use crate::scene::{Effect, EffectKind, EffectPicture, RoundedRect, Scene};
use crate::shell::WindowId;
use crate::shell::workspaces::{WorkspaceNumber, Workspaces};
pub(in crate::output) use aim::show as show_aim;
pub(in crate::output) use help::show as show_help;
pub(in crate::output) use hint::show as show_hint;
pub(in crate::output) use hud::{renew as renew_hud, show as show_hud};
pub(in crate::output) use lock::show as show_lock;
pub(in crate::output) use notices::show as show_notices;
pub(in crate::output) use overview::{show as show_overview, show_close_button};
use paint::{OverlayColour, PaintPage, Typeface};
pub(in crate::output) use question::show as show_question;
pub(in crate::output) use region::show as show_region;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Span;
pub(in crate::output) use workspace_indicator::show as show_workspace_indicator;

/// Colours of the list of shortcuts and of the question: the dimmed background, the panel, its heading and text.
const DIM: OverlayColour = [0.0, 0.0, 0.0, 0.45];
const PANEL: OverlayColour = [0.11, 0.13, 0.18, 1.0];
const HEADING: OverlayColour = [1.0, 1.0, 1.0, 1.0];
const TEXT: OverlayColour = [0.88, 0.90, 0.95, 1.0];

/// An element of the user interface; with the output it identifies the element between frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum OverlayPart {
    Aim,
    Dim,
    Panel,
    Keys,
    KeyCap(usize),
    Card(WorkspaceNumber),
    CardName(WorkspaceNumber),
    Selection,
    OverviewDim,
    CloseButton,
    CloseCross,
    Title(WindowId),
    Notice(usize),
    NoticeHeading(usize),
    NoticeText(usize, i32),
    Locked(usize),
    Hint(i32),
    Hud,
    Question(usize),
    Answer(usize),
    Button(usize),
    QuestionPanel,
    QuestionDim,
    RegionDim,
    IndicatorRow,
    IndicatorCell,
    IndicatorNumber(WorkspaceNumber),
}

/// Cached element ids and pictures of text.
#[derive(Debug, Default)]
pub struct OverlayCache {
    names: HashMap<(OutputId, OverlayPart), Id>,
    texts: HashMap<(OutputId, OverlayPart), CachedText>,
    /// Time that the last drawing of the HUD took.
    pub(in crate::output) hud_cost: Span,
}

#[derive(Debug)]
struct CachedText {
    /// Text, typeface and colour of the cached picture.
    says: (String, Typeface, [u32; 4]),
    picture: EffectPicture,
}

impl OverlayCache {
    /// Drops the cache, because no element is visible any more.
    pub fn forget(&mut self) {
        self.names.clear();
        self.texts.clear();
    }

    fn name(&mut self, output: OutputId, part: OverlayPart) -> Id {
        self.names.entry((output, part)).or_insert_with(Id::new).clone()
    }

    fn line(
        &mut self,
        output: OutputId,
        part: OverlayPart,
        text: &str,
        face: Typeface,
        colour: OverlayColour,
    ) -> EffectPicture {
        let says = (text.to_owned(), face, colour.map(f32::to_bits));
        let known = self.texts.get(&(output, part)).filter(|known| known.says == says);
        if let Some(known) = known {
            return known.picture.clone();
        }
        let picture = face.line(text, colour);
        self.texts.insert((output, part), CachedText { says, picture: picture.clone() });
        picture
    }
}

/// The name of a workspace, or else its number; its number, too, if the typeface lacks the script of the name.
fn workspace_label(workspaces: &Workspaces, number: WorkspaceNumber, face: Typeface) -> String {
    let name = workspaces.name_of(number).and_then(|name| face.legible(name.as_str()));
    name.unwrap_or_else(|| number.to_string())
}

/// Adds elements to the scene of one output.
struct OverlaySheet<'a> {
    scene: &'a mut Scene,
    kept: &'a mut OverlayCache,
    output: OutputId,
    area: Rectangle<i32, Logical>,
    scale: f64,
    /// Opacity of all elements: 0 to 1.
    opacity: f64,
}

impl OverlaySheet<'_> {
    fn physical(&self, length: f64) -> i32 {
        (length * self.scale).round() as i32
    }

    /// Converts global logical coordinates to pixels of the output.
    fn rect(&self, rect: Rectangle<f64, Logical>) -> Rectangle<i32, Physical> {
        let start = rect.loc - self.area.loc.to_f64();
        let (left, top) = (self.physical(start.x), self.physical(start.y));
        let (right, bottom) = (self.physical(start.x + rect.size.w), self.physical(start.y + rect.size.h));
        Rectangle::new((left, top).into(), (right - left, bottom - top).into())
    }

    fn add(&mut self, part: OverlayPart, kind: EffectKind) {
        let (id, depth) = (self.kept.name(self.output, part), self.scene.layers.len());
        self.scene.effects.push(Effect { id, depth, opacity: self.opacity.clamp(0.0, 1.0) as f32, kind });
    }

    fn panel(&mut self, part: OverlayPart, rect: Rectangle<i32, Physical>, radius: f64, colour: OverlayColour) {
        self.frame(part, rect, Rectangle::default(), radius, colour);
    }

    /// A panel around `hole`.
    fn frame(
        &mut self,
        part: OverlayPart,
        rect: Rectangle<i32, Physical>,
        hole: Rectangle<i32, Physical>,
        radius: f64,
        colour: OverlayColour,
    ) {
        let radius = self.physical(radius).min(rect.size.w / 2).min(rect.size.h / 2);
        let hole = RoundedRect { rect: Rectangle::new(hole.loc - rect.loc, hole.size), radius: 0 };
        self.add(part, EffectKind::Colour { area: RoundedRect { rect, radius }, hole, colour });
    }

    fn picture(&mut self, part: OverlayPart, at: Point<i32, Physical>, picture: EffectPicture) {
        let size = Size::from((picture.image().width, picture.image().height));
        self.add(part, EffectKind::Picture { rect: Rectangle::new(at, size), picture });
    }

    /// A line of text; `place` computes its top left corner from its size.
    fn text(
        &mut self,
        part: OverlayPart,
        text: &str,
        face: Typeface,
        colour: OverlayColour,
        place: impl FnOnce(Size<i32, Physical>) -> Point<i32, Physical>,
    ) {
        if text.is_empty() {
            return;
        }
        let at = place(Size::from((face.width(text), face.height())));
        let picture = self.kept.line(self.output, part, text, face, colour);
        self.picture(part, at, picture);
    }
}
