//! A picture that the session itself offers to be pasted.

use std::fmt;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use smithay::wayland::selection::data_device::set_data_device_selection;

use crate::faults::{self, Fault};
use crate::files::Patient;
use crate::state::State;

const TYPE: &str = "image/png";
/// Clients that paste at once, each with a thread that waits for it to read. Any further client reads an empty file.
const MOST_PASTED: usize = 8;
static PASTED: AtomicUsize = AtomicUsize::new(0);

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
    let (display, seat) = (state.display_handle.clone(), state.input.seat.clone());
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
        return;
    }
    let pasting = Pasting;
    let OwnSelection(png) = picture.clone();
    let job = move || {
        let _pasting = pasting;
        let written = Patient::new(into).and_then(|mut pipe| pipe.write_all(&png));
        written.unwrap_or_else(|error| tracing::debug!("a screenshot was not pasted: {error}"));
    };
    let thread = thread::Builder::new().name("paste".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::warn!("cannot start a thread to paste a screenshot: {error}");
    }
}

/// A client that is written to.
struct Pasting;

impl Drop for Pasting {
    fn drop(&mut self) {
        PASTED.fetch_sub(1, Ordering::Relaxed);
    }
}
