//! A picture that the session itself offers to be pasted.

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
use upbeat_record::files::Patient;

const TYPE: &str = "image/png";
/// Clients that paste at once, each with a thread that waits for it to read. Any further client reads an empty file.
const MOST_PASTED: usize = 8;
static PASTED: AtomicUsize = AtomicUsize::new(0);
/// How long a client may take to read all of it: pictures of large screens are some megabytes.
const LONGEST: Duration = Duration::from_secs(30);
/// Bytes that are written at once: what a pipe has room for when its reader took the least.
const PAGE: usize = 4096;

/// The picture.
#[derive(Clone)]
pub struct OwnSelection(Arc<Vec<u8>>);

impl fmt::Debug for OwnSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnSelection({} bytes)", self.0.len())
    }
}

/// From now on a PNG is what is pasted, until something else is copied.
pub fn offer_picture(state: &mut State, png: Arc<Vec<u8>>) {
    let (display, seat) = (state.display_handle.clone(), state.input.seat().clone());
    // The selection of a client ends here: its source, when it is destroyed, must not clear this one.
    state.protocols.selection.clipboard = None;
    set_data_device_selection::<State>(&display, &seat, vec![TYPE.to_owned()], OwnSelection(png));
}

/// A client pastes it, and reads from the other end of `into`.
pub(super) fn send(picture: &OwnSelection, mime_type: &str, into: OwnedFd) {
    if mime_type != TYPE {
        return;
    }
    let more = |count| (count < MOST_PASTED).then_some(count + 1);
    if PASTED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
        tracing::warn!("a screenshot is not pasted: {MOST_PASTED} programs read it already");
        return;
    }
    let pasting = Pasting;
    let OwnSelection(png) = picture.clone();
    let job = move || {
        let _pasting = pasting;
        let written = Patient::new(into).and_then(|mut pipe| write_in_time(&mut pipe, &png));
        written.unwrap_or_else(|error| tracing::debug!("a screenshot was not pasted: {error}"));
    };
    let thread = thread::Builder::new().name("paste".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::warn!("cannot start a thread to paste a screenshot: {error}");
    }
}

/// Writes all of it. A client that reads a little again and again would else keep its thread from others.
fn write_in_time(pipe: &mut Patient, png: &[u8]) -> io::Result<()> {
    let end = Instant::now() + LONGEST;
    png.chunks(PAGE).try_for_each(|page| {
        if Instant::now() > end {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "its reader takes too long"));
        }
        pipe.write_all(page)
    })
}

/// A client that is written to.
struct Pasting;

impl Drop for Pasting {
    fn drop(&mut self) {
        PASTED.fetch_sub(1, Ordering::Relaxed);
    }
}
