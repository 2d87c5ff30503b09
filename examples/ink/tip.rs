//! The brush tip: a subsurface that the compositor keeps at the device, or that the program moves where it does not.

use std::io;

use upbeat_client::{FollowMeans, Follower};

use super::common::picture::Picture;
use super::common::window::{ExampleSubsurface, ExampleWindow, WindowInput};

/// Edge of the tip in pixels, and its point that is held at the device.
const SIZE: usize = 17;
const ANCHOR: i32 = 8;
const COLOUR: u32 = 0xffc0_3030;
/// Transparent black.
const CLEAR: u32 = 0;

pub struct BrushTip {
    surface: ExampleSubsurface,
    /// `None` without a seat.
    follower: Option<Follower>,
    /// Where the device is on the sheet.
    at: Option<(f64, f64)>,
    is_drawing: bool,
    /// A composed tip lies above the front buffer, which is then not shared: the tip is hidden while a device draws.
    hides_while_drawing: bool,
    is_shown: bool,
}

impl BrushTip {
    pub fn new(window: &mut ExampleWindow, hides_while_drawing: bool) -> anyhow::Result<Self> {
        let surface = window.subsurface((SIZE, SIZE))?;
        surface.buffers.write(0, &ring(), 0..SIZE, 0..SIZE)?;
        let follower = window.follower(&surface, (ANCHOR, ANCHOR));
        // The tip stands for the cursor.
        window.hide_cursor();
        Ok(BrushTip { surface, follower, at: None, is_drawing: false, hides_while_drawing, is_shown: false })
    }

    pub fn handle_input(&mut self, input: &WindowInput) {
        match *input {
            WindowInput::Pointer { x, y } => self.at = Some((x, y)),
            WindowInput::Button { pressed } => self.is_drawing = pressed,
            WindowInput::Finger { x, y, .. } => (self.at, self.is_drawing) = (Some((x, y)), true),
            WindowInput::Pen { x, y, touches, .. } => (self.at, self.is_drawing) = (Some((x, y)), touches),
            WindowInput::PointerLeft | WindowInput::FingerUp { .. } | WindowInput::PenAway { .. } => {
                (self.at, self.is_drawing) = (None, false);
            }
            _ => {}
        }
    }

    /// Shows or hides the tip, and moves it where the compositor does not: that takes effect with the window's next
    /// commit.
    pub fn update(&mut self) -> io::Result<()> {
        if let Some((x, y)) = self.at.filter(|_| !self.means().is_moved()) {
            self.surface.subsurface.set_position(x.round() as i32 - ANCHOR, y.round() as i32 - ANCHOR);
        }
        let is_shown = self.at.is_some() && !(self.hides_while_drawing && self.is_drawing);
        if is_shown != self.is_shown {
            self.is_shown = is_shown;
            self.surface.buffers.show_first(is_shown)?;
        }
        Ok(())
    }

    fn means(&self) -> FollowMeans {
        self.follower.as_ref().map_or(FollowMeans::None, Follower::means)
    }

    /// How the tip is moved, as text.
    pub fn text(&self) -> String {
        let is_offered = self.follower.as_ref().is_some_and(Follower::is_offered);
        let means = match self.means() {
            FollowMeans::None if !is_offered => "drawn by this program: no upbeat_late_latch_v1",
            FollowMeans::None => "drawn by this program",
            FollowMeans::Composed => "composed by the compositor",
            FollowMeans::Overlay => "on an overlay plane",
            FollowMeans::Cursor => "on the cursor plane",
            FollowMeans::InPlace => "moved in the picture on screen",
        };
        match self.is_shown {
            true => format!("tip {means}"),
            false => "no tip".to_owned(),
        }
    }
}

fn ring() -> Picture {
    let mut picture = Picture::new(SIZE, SIZE);
    let middle = (f64::from(ANCHOR), f64::from(ANCHOR));
    picture.disc(middle, middle.0 - 0.5, COLOUR);
    picture.disc(middle, middle.0 - 2.5, CLEAR);
    picture
}
