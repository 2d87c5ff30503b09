//! The sheet: lasting ink, the text above it, and the part of both that no buffer has yet.

use std::collections::HashMap;
use std::ops::Range;

use upbeat_client::{PredictedDevice, PredictedPoint, SharedRect};

use super::common::picture::{LETTER, Picture};
use super::common::window::WindowInput;

const PAPER: u32 = 0x00f4_f1ea;
const INK: u32 = 0x0018_2a6b;
const AHEAD: u32 = 0x00f0_8020;
const TEXT: u32 = 0x00d0_d8e0;
/// Half the width of a stroke, in pixels.
const NIB: f64 = 3.0;
/// Distance of the text to the edges, and of its lines, in pixels.
const MARGIN: i32 = 16;
const LINE: i32 = LETTER + 8;

/// Columns and rows of the sheet, from the first to below the last; empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InkBox {
    pub columns: Range<usize>,
    pub rows: Range<usize>,
}

impl InkBox {
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() || self.rows.is_empty()
    }

    /// Extends this box by another box.
    pub fn add(&mut self, other: &InkBox) {
        let both = |a: &Range<usize>, b: &Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        if self.is_empty() {
            self.clone_from(other);
        } else if !other.is_empty() {
            *self = InkBox { columns: both(&self.columns, &other.columns), rows: both(&self.rows, &other.rows) };
        }
    }

    /// Left, top, width, height.
    pub fn rect(&self) -> SharedRect {
        let (x, y) = (self.columns.start as i32, self.rows.start as i32);
        (x, y, self.columns.len() as i32, self.rows.len() as i32)
    }
}

/// The ink so far, and the last position of each drawing device.
pub struct InkSheet {
    paper: Picture,
    nibs: HashMap<PredictedDevice, (f64, f64)>,
    is_pressed: bool,
    texts: Vec<String>,
    /// Changes that are in no shown buffer.
    unseen: InkBox,
    /// The predicted ink in the newest frame. It does not last.
    predicted: InkBox,
}

impl InkSheet {
    pub fn new((width, height): (usize, usize)) -> Self {
        let mut paper = Picture::new(width, height);
        paper.fill(PAPER);
        let unseen = InkBox { columns: 0..width, rows: 0..height };
        let (nibs, texts) = (HashMap::new(), Vec::new());
        InkSheet { paper, nibs, is_pressed: false, texts, unseen, predicted: InkBox::default() }
    }

    pub fn handle_input(&mut self, input: WindowInput) {
        match input {
            WindowInput::Button { pressed } => {
                self.is_pressed = pressed;
                self.nibs.remove(&PredictedDevice::Pointer);
            }
            WindowInput::Pointer { x, y } if self.is_pressed => self.ink_to(PredictedDevice::Pointer, (x, y)),
            WindowInput::Finger { finger, x, y, .. } => self.ink_to(PredictedDevice::Touch(finger as u32), (x, y)),
            WindowInput::Pen { tool, x, y, touches: true } => self.ink_to(PredictedDevice::Tool(tool), (x, y)),
            WindowInput::FingerUp { finger } => {
                self.nibs.remove(&PredictedDevice::Touch(finger as u32));
            }
            WindowInput::Pen { tool, .. } | WindowInput::PenAway { tool } => {
                self.nibs.remove(&PredictedDevice::Tool(tool));
            }
            _ => {}
        }
    }

    fn ink_to(&mut self, device: PredictedDevice, to: (f64, f64)) {
        let from = self.nibs.insert(device, to).unwrap_or(to);
        let changed = line(&mut self.paper, from, to, INK);
        self.unseen.add(&changed);
    }

    /// Replaces the text.
    pub fn set_texts(&mut self, texts: Vec<String>) {
        if texts != self.texts {
            let before = self.text_box();
            self.texts = texts;
            let after = self.text_box();
            self.unseen.add(&before);
            self.unseen.add(&after);
        }
    }

    fn text_box(&self) -> InkBox {
        let letters = self.texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
        let end = |length: i32, most: usize| ((MARGIN + length + LETTER) as usize).min(most);
        let right = end(letters as i32 * LETTER, self.paper.width);
        InkBox { columns: 0..right, rows: 0..end(self.texts.len() as i32 * LINE, self.paper.height) }
    }

    /// Changes that are in no shown buffer.
    pub fn unseen(&self) -> &InkBox {
        &self.unseen
    }

    /// Part of the buffer on screen may be older than the sheet.
    pub fn repeat(&mut self, part: &InkBox) {
        self.unseen.add(part);
    }

    /// From now on only lasting ink is shown: the next write covers the predicted ink.
    pub fn end_prediction(&mut self) {
        let predicted = std::mem::take(&mut self.predicted);
        self.unseen.add(&predicted);
    }

    /// The whole sheet for a frame, with the predicted path of each drawing device.
    pub fn frame(&mut self, points: &[PredictedPoint]) -> Picture {
        let mut picture = self.paper.clone();
        self.predicted = InkBox::default();
        for point in points {
            if let Some(from) = self.nibs.get(&point.device) {
                self.predicted.add(&line(&mut picture, *from, (point.x, point.y), AHEAD));
            }
        }
        self.draw_texts(&mut picture);
        self.unseen = InkBox::default();
        picture
    }

    /// Hands the unseen part to `write`: pixels of the sheet outside of this box are not up to date.
    pub fn write<E>(&mut self, write: impl FnOnce(&Picture, &InkBox) -> Result<(), E>) -> Result<InkBox, E> {
        let part = std::mem::take(&mut self.unseen);
        let text = self.text_box();
        let is_below_text = part.rows.start < text.rows.end && part.columns.start < text.columns.end;
        if is_below_text {
            let mut picture = self.paper.clone();
            self.draw_texts(&mut picture);
            write(&picture, &part)?;
        } else {
            write(&self.paper, &part)?;
        }
        Ok(part)
    }

    fn draw_texts(&self, picture: &mut Picture) {
        for (row, text) in self.texts.iter().enumerate() {
            picture.text((MARGIN, MARGIN + row as i32 * LINE), text, TEXT);
        }
    }
}

/// Draws a line; returns the changed part.
fn line(picture: &mut Picture, from: (f64, f64), to: (f64, f64), colour: u32) -> InkBox {
    let steps = (to.0 - from.0).hypot(to.1 - from.1).ceil().max(1.0);
    for step in 0..=steps as u32 {
        let way = f64::from(step) / steps;
        picture.disc((from.0 + way * (to.0 - from.0), from.1 + way * (to.1 - from.1)), NIB, colour);
    }
    let range = |a: f64, b: f64, most: usize| {
        let inside = |edge: f64| (edge.max(0.0) as usize).min(most);
        inside((a.min(b) - NIB).floor())..inside((a.max(b) + NIB).ceil() + 1.0)
    };
    InkBox { columns: range(from.0, to.0, picture.width), rows: range(from.1, to.1, picture.height) }
}
