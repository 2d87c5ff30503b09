//! The session's own selection: a screenshot to be pasted.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use smithay::wayland::selection::data_device::set_data_device_selection;

use crate::state::State;
use upbeat_record::faults::{self, Fault};
use upbeat_record::files::PipeWriter;

const TYPE: &str = "image/png";
/// Clients that paste at the same time, each with a thread that writes to it. Any further client reads an empty file.
const MOST_PASTED: usize = 8;
static PASTED: AtomicUsize = AtomicUsize::new(0);
/// How long a client may take to read all of it: pictures of large screens are some megabytes.
const LONGEST: Duration = Duration::from_secs(30);
/// Bytes of one write: a pipe takes so many without blocking whenever it is writable.
const PAGE: usize = 4096;

#[derive(Clone)]
pub struct ScreenshotSelection(Arc<Vec<u8>>);

impl fmt::Debug for ScreenshotSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScreenshotSelection({} bytes)", self.0.len())
    }
}

/// Sets the clipboard to a PNG, until a client sets another selection.
pub fn offer_picture(state: &mut State, png: Arc<Vec<u8>>) {
    let (display, seat) = (state.display_handle.clone(), state.input.seat().clone());
    // The selection of a client ends here, because its source, when it is destroyed, must not clear this one.
    state.protocols.selection.clipboard = None;
    set_data_device_selection::<State>(&display, &seat, vec![TYPE.to_owned()], ScreenshotSelection(png));
}

/// Writes the picture into `into`, for a client that pastes it.
pub(super) fn send(picture: &ScreenshotSelection, mime_type: &str, into: OwnedFd) {
    if mime_type != TYPE {
        return;
    }
    let more = |count| (count < MOST_PASTED).then_some(count + 1);
    if PASTED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
        tracing::warn!("a screenshot is not pasted: {MOST_PASTED} programs read it already");
        return;
    }
    let pasting = PasteSlot;
    let ScreenshotSelection(png) = picture.clone();
    let job = move || {
        let _pasting = pasting;
        let written = PipeWriter::new(into).and_then(|mut pipe| write_in_time(&mut pipe, &png));
        written.unwrap_or_else(|error| tracing::debug!("a screenshot was not pasted: {error}"));
    };
    let thread = thread::Builder::new().name("paste".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::warn!("cannot start a thread to paste a screenshot: {error}");
    }
}

/// Writes all of it within [`LONGEST`], since a client that reads slowly would otherwise keep its thread from other
/// clients.
fn write_in_time(pipe: &mut PipeWriter, png: &[u8]) -> io::Result<()> {
    let end = Instant::now() + LONGEST;
    png.chunks(PAGE).try_for_each(|page| {
        if Instant::now() > end {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "its reader takes too long"));
        }
        pipe.write_all(page)
    })
}

/// Counts a client that pastes, until it is dropped.
struct PasteSlot;

impl Drop for PasteSlot {
    fn drop(&mut self) {
        PASTED.fetch_sub(1, Ordering::Relaxed);
    }
}
