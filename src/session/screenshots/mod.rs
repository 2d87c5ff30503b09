//! Screenshots that the user takes with a shortcut: written to a PNG file and put on the clipboard.
//!
//! ```text
//!   shortcut ─► shot of the screen, or a window's scene ─► thread: pixels, PNG, file ─► main thread: clipboard, notice
//! ```
//!
//! The main thread copies no pixels. Windows that rules exclude from screen capture are black in screenshots too.

mod screenshot_folder;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use calloop::channel::{self, Event};
use smithay::utils::{Logical, Point, Rectangle};

use crate::backend::{PixelBuffer, PixelRect, ScreenSnapshot};
use crate::bindings::ScreenshotOf;
use crate::ipc::screenshot::{ScreenshotSlot, encode, upright};
use crate::output::{WindowPicture, geometry, picture_of_window};
use crate::output_transform::OutputTransform;
use crate::protocol::selection;
use crate::render::OffScreen;
use crate::scene::Scene;
use crate::shell::notices::{self, ResultNotice};
use crate::shell::region_selection;
use crate::state::State;
use screenshot_folder::ScreenshotFolders;
use upbeat_record::faults::{self, Fault};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock as _, Instant, Span};

/// Key of the notices about screenshots: each replaces the previous one.
const PURPOSE: &str = "screenshot";
const SAVED: &str = "Screenshot saved; it can be pasted";
const SAVED_ALONE: &str = "Screenshot saved";
const NOT_SAVED: &str = "The screenshot was not saved, but it can be pasted";
const NOT_TAKEN: &str = "No screenshot was taken";
/// How long a screen may take to show a frame without the cursor and the picking overlay. That takes some frames; a
/// screen that takes longer shows no frames at all.
const PATIENCE: Span = Span::from_millis(1_000);

/// Takes a screenshot. While the session is locked it does nothing, and shows no notice because the lock screen shows
/// none.
pub(super) fn take(state: &mut State, of: ScreenshotOf) {
    if state.shell.lock().takes_input() || state.shell.lock().covers() {
        return;
    }
    match of {
        ScreenshotOf::Screen => take_of_screen(state),
        ScreenshotOf::Window => take_of_window(state),
        ScreenshotOf::Region => region_selection::begin(state),
    }
}

fn take_of_screen(state: &mut State) {
    let output = super::respond::focused_output(state).and_then(|id| state.outputs.by_id(id));
    let screen = output.and_then(|output| state.shell.workspaces().screen(&output.output().name()));
    match screen {
        Some(screen) => region_selection::pick_all(state, screen),
        None => show_failure(state, NOT_TAKEN, "There is no screen."),
    }
}

/// Takes a screenshot of an output, or of `part` of it (global logical coordinates).
fn take_of_output(state: &mut State, id: OutputId, part: Option<Rectangle<f64, Logical>>) {
    let Some(output) = state.outputs.by_id(id) else { return };
    let part = part.map(|part| {
        let (area, scale) = (geometry(output.output()), output.output().current_scale().fractional_scale());
        pixels_of(part, area.loc.to_f64(), scale)
    });
    let (shot, turn) = (output.picture(&state.shell, false), crate::output::turn_of(output.output()));
    match shot {
        Some(shot) => write(state, ScreenshotSource::Screen(shot, turn, part)),
        None => show_failure(state, NOT_TAKEN, "The screen is dark."),
    }
}

/// Takes the screenshot of a picked screen or region once the screen shows it undimmed and without the cursor. If the
/// screen shows no new frame in time, no screenshot is taken. Returns when to check again.
pub(super) fn update(state: &mut State) -> Option<Instant> {
    if state.shell.lock().takes_input() {
        region_selection::cancel(state);
        return None;
    }
    let picked = state.shell.overlays().region().picked()?;
    let name = state.shell.workspaces().name(picked.screen);
    let output = state.outputs.states().find(|output| Some(&*output.output().name()) == name);
    let is_ready = output.is_none_or(|output| !output.is_on() || output.is_ready_for_screenshot());
    let end = picked.picked_at + PATIENCE;
    if !is_ready && state.clock.now() < end {
        return Some(end);
    }
    let id = output.map(|output| output.id());
    region_selection::cancel(state);
    match id.filter(|_| is_ready) {
        Some(id) => take_of_output(state, id, picked.area),
        None if is_ready => show_failure(state, NOT_TAKEN, "The screen is gone."),
        None => show_failure(state, NOT_TAKEN, "The screen shows nothing new."),
    }
    None
}

/// The physical pixels that a part (global logical coordinates) covers, even partly, of an output whose top left corner
/// is at `corner`.
fn pixels_of(part: Rectangle<f64, Logical>, corner: Point<f64, Logical>, scale: f64) -> PixelRect {
    let (start, end) = (part.loc - corner, part.loc - corner + part.size.to_point());
    let (x, y) = ((start.x * scale).floor() as i32, (start.y * scale).floor() as i32);
    let (right, bottom) = ((end.x * scale).ceil() as i32, (end.y * scale).ceil() as i32);
    PixelRect { x, y, width: right - x, height: bottom - y }
}

/// Cuts a part out of a picture, clipped to the picture.
fn cut(seen: &PixelBuffer, part: PixelRect) -> Result<PixelBuffer, String> {
    let (left, top) = (part.x.clamp(0, seen.width), part.y.clamp(0, seen.height));
    let (right, bottom) = ((part.x + part.width).min(seen.width), (part.y + part.height).min(seen.height));
    if left >= right || top >= bottom {
        return Err("The region is not on the screen.".to_owned());
    }
    let row = |y: i32| &seen.pixels[(y * seen.width + left) as usize..(y * seen.width + right) as usize];
    let pixels = (top..bottom).flat_map(|y| row(y).iter().copied()).collect();
    Ok(PixelBuffer { width: right - left, height: bottom - top, pixels })
}

fn take_of_window(state: &mut State) {
    let Some(id) = state.shell.focused() else { return show_failure(state, NOT_TAKEN, "No window has the focus.") };
    picture_of_window(state, id, |state, picture| match picture {
        Some(WindowPicture::Drawn(pixels)) => {
            write(state, ScreenshotSource::Screen(ScreenSnapshot::copied(pixels), OutputTransform::NORMAL, None))
        }
        Some(WindowPicture::Scene(scene)) => write(state, ScreenshotSource::Scene(scene)),
        None => show_failure(state, NOT_TAKEN, "The window cannot be drawn."),
    });
}

/// Source of a screenshot's pixels.
enum ScreenshotSource {
    /// A shot of an output, the output's transform, and the part to keep (in the upright picture); `None` keeps all.
    Screen(ScreenSnapshot, OutputTransform, Option<PixelRect>),
    /// A window's scene, which the thread draws.
    Scene(Box<Scene>),
}

/// Messages of the screenshot thread.
enum ScreenshotMessage {
    /// The PNG for the clipboard. Sent before the file is written, because writing may take seconds and the user
    /// may copy something else meanwhile.
    Picture(Arc<Vec<u8>>),
    /// The thread has finished.
    End {
        /// Path of the file, or the reason why there is none.
        result: Result<PathBuf, ScreenshotError>,
        /// Holds client buffers, which only the main thread may release.
        _scene: Option<Box<Scene>>,
    },
}

/// Why there is no file, as a sentence.
enum ScreenshotError {
    /// There are no pixels.
    Picture(String),
    /// The file could not be written.
    File(String),
}

/// Writes a screenshot on a thread of its own.
fn write(state: &mut State, source: ScreenshotSource) {
    let Some(writing) = ScreenshotSlot::begin() else {
        return show_failure(state, NOT_TAKEN, "Other screenshots are being written.");
    };
    let config = &state.session.config().screenshots;
    let folders = ScreenshotFolders::new(&config.folder, |name| std::env::var_os(name));
    let (sender, messages) = channel::channel::<ScreenshotMessage>();
    let mut is_finished = false;
    let inserted = state.loop_handle.insert_source(messages, move |event, (), state| match event {
        Event::Msg(ScreenshotMessage::Picture(png)) => {
            if state.session.config().screenshots.clipboard {
                selection::offer_picture(state, png);
            }
        }
        Event::Msg(ScreenshotMessage::End { result, .. }) => {
            is_finished = true;
            finish(state, result);
        }
        Event::Closed if !is_finished => show_failure(state, NOT_TAKEN, "No thread could be started to write it."),
        Event::Closed => {}
    });
    if let Err(error) = inserted {
        return show_failure(state, NOT_TAKEN, &error.to_string());
    }
    // If no thread can be started, `sender` is dropped together with the job, and `Event::Closed` reports the failure.
    let job = move || {
        let _writing = writing;
        let (pixels, scene) = source.read();
        let png = pixels.and_then(|pixels| {
            let mut png = Vec::new();
            encode(&pixels, &mut png).map_err(|error| error.to_string())?;
            Ok(Arc::new(png))
        });
        let result = png.map_err(ScreenshotError::Picture).and_then(|png| {
            _ = sender.send(ScreenshotMessage::Picture(png.clone()));
            folders.write(&png).map_err(ScreenshotError::File)
        });
        _ = sender.send(ScreenshotMessage::End { result, _scene: scene });
    };
    let thread = thread::Builder::new().name("screenshot".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::warn!("cannot start a thread for a screenshot: {error}");
    }
}

impl ScreenshotSource {
    /// The upright pixels, and the scene if there was one.
    fn read(self) -> (Result<PixelBuffer, String>, Option<Box<Scene>>) {
        match self {
            ScreenshotSource::Screen(shot, turn, part) => {
                let pixels = shot.whole().ok_or_else(|| "The screen cannot be read.".to_owned());
                // Give the buffer back to the display before the picture is compressed.
                drop(shot);
                let seen = pixels.map(|pixels| upright(pixels, turn));
                let cut_out = |seen: PixelBuffer| match part {
                    Some(part) => cut(&seen, part),
                    None => Ok(seen),
                };
                (seen.and_then(cut_out), None)
            }
            ScreenshotSource::Scene(scene) => {
                let drawn = OffScreen::new().and_then(|mut painter| painter.draw(&scene));
                (drawn.map_err(|error| error.to_string()), Some(scene))
            }
        }
    }
}

fn finish(state: &mut State, result: Result<PathBuf, ScreenshotError>) {
    let is_pasted = state.session.config().screenshots.clipboard;
    match result {
        Ok(path) => {
            let heading = if is_pasted { SAVED } else { SAVED_ALONE };
            show_notice(state, heading, &path.display().to_string(), false);
        }
        Err(ScreenshotError::File(error)) if is_pasted => show_failure(state, NOT_SAVED, &error),
        Err(ScreenshotError::File(error) | ScreenshotError::Picture(error)) => show_failure(state, NOT_TAKEN, &error),
    }
}

fn show_failure(state: &mut State, heading: &str, reason: &str) {
    tracing::warn!("{heading}: {reason}");
    show_notice(state, heading, reason, true);
}

fn show_notice(state: &mut State, heading: &str, text: &str, is_failure: bool) {
    let (heading, text, at) = (heading.to_owned(), text.to_owned(), state.clock.now());
    notices::show_result(state, ResultNotice { purpose: PURPOSE.to_owned(), heading, text, at, is_failure });
}
