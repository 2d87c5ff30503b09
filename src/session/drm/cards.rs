//! The DRM devices of the seat: opening, hotplug, and scans of their connectors.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use calloop::{LoopHandle, RegistrationToken};

use super::renderer_trial::{self, RendererTrial};
use crate::backend::drm::{CardEvent, ConfiguredMode, DrmCard, DrmOutput};
use crate::backend::seat::Seat;
use crate::backend::{Display as _, EdidIdentity, ModeId};
use crate::deferred_calls;
use crate::output::hotplug;
use crate::output::power;
use crate::protocol::syncobj;
use crate::render::Renderer;
use crate::session::renderer::RendererDrawer;
use crate::session::virtual_outputs;
use crate::state::State;
use crate::surface::scanout_feedback;

/// A device that cannot be opened is retried after this delay, up to `RETRIES` times, because the kernel registers the
/// device's name some milliseconds before the device.
const RETRY_AFTER: Duration = Duration::from_millis(100);
const RETRIES: u32 = 10;

/// Device number (`st_rdev`), as udev reports it.
type DeviceId = libc::dev_t;

struct OpenCard {
    id: DeviceId,
    card: Rc<RefCell<DrmCard>>,
    /// The descriptor by which libseat identifies the device.
    descriptor: RawFd,
    /// Event source that wakes the loop when an output of the device has events.
    events: RegistrationToken,
    /// A renderer context on this device, while it is being tested. The device's monitors wait for the result.
    renderer_trial: Option<RendererTrial>,
}

pub(crate) struct Cards {
    seat: Rc<RefCell<Seat>>,
    open: Vec<OpenCard>,
}

impl Cards {
    pub(super) fn new(seat: Rc<RefCell<Seat>>) -> Self {
        Cards { seat, open: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn get(&mut self, id: DeviceId) -> Option<&mut OpenCard> {
        self.open.iter_mut().find(|open| open.id == id)
    }

    pub(super) fn pause(&mut self) {
        self.open.iter().for_each(|open| open.card.borrow_mut().pause());
    }

    pub(super) fn resume(&mut self) {
        for open in &self.open {
            open.card.borrow_mut().resume();
        }
    }

    pub(super) fn set_mode(&mut self, name: &str, wish: ConfiguredMode) -> Option<Result<Option<ModeId>, String>> {
        let open = self.open.iter().find(|open| open.card.borrow().has(name))?;
        let set = open.card.borrow_mut().set_mode(name, wish);
        Some(set.map_err(|error| error.to_string()))
    }
}

/// Adds a device that was plugged in while the session runs, or when this session has the seat again. Opening is
/// retried, because udev may announce a device before the kernel lets it be opened.
pub(super) fn add_with_retries(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId, path: PathBuf) {
    // Render nodes are opened by the renderer.
    if !is_display_node(&path) || is_for_later(state, id, &path) {
        return;
    }
    let Err(error) = add(handle, state, id, &path) else { return };
    tracing::debug!("{}: {error:#}; retrying", path.display());
    let (again, mut tries) = (handle.clone(), RETRIES);
    let retry = move |state: &mut State| {
        tries -= 1;
        if is_for_later(state, id, &path) {
            return None;
        }
        match add(&again, state, id, &path) {
            Ok(()) => None,
            Err(_) if tries > 0 && path.exists() => Some(RETRY_AFTER),
            Err(error) => {
                tracing::error!("{}: {error:#}", path.display());
                None
            }
        }
    };
    if let Err(error) = deferred_calls::add_timer(handle, RETRY_AFTER, retry) {
        tracing::error!(%error, "cannot schedule a retry to open a display device");
    }
}

/// Whether another session has the seat, so that the device is opened later.
fn is_for_later(state: &mut State, id: DeviceId, path: &Path) -> bool {
    state.session.drm.as_mut().is_some_and(|session| session.keep_for_later(id, path))
}

/// Whether the path is a primary node (`/dev/dri/card1`) and not a render node (`/dev/dri/renderD128`).
fn is_display_node(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"card"))
}

/// Starts to open a device. Its monitors are lit once it is open.
pub(super) fn add(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    id: DeviceId,
    path: &Path,
) -> anyhow::Result<()> {
    let Some(session) = &mut state.session.drm else { return Ok(()) };
    if session.cards.open.iter().any(|open| open.id == id) {
        return Ok(());
    }
    let seat = session.cards.seat.clone();
    let descriptor = seat.borrow_mut().open_device(path).context("the seat cannot open it")?;
    let raw = descriptor.as_raw_fd();
    let opened = open(handle, id, descriptor);
    let (card, events) = opened.inspect_err(|_| seat.borrow_mut().forget(raw))?;
    session.cards.open.push(OpenCard { id, card, descriptor: raw, events, renderer_trial: None });
    Ok(())
}

/// Blocks until a device is open and its monitors are lit. Only for the start of the session, when no frame is due.
pub(super) fn wait_until_lit(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    id: DeviceId,
) -> anyhow::Result<()> {
    let Some(card) = card(state, id) else { return Ok(()) };
    loop {
        let change = card.borrow_mut().wait().context("the device does not answer")?;
        let is_settled = matches!(change, CardEvent::Scanned | CardEvent::ScanFailed(_));
        handle_change(handle, state, id, &card, change)?;
        // Programs that start before the renderer is chosen would not be offered GPU memory.
        let patience = state.outputs.renderer().map_or(Duration::ZERO, Renderer::patience);
        finish_renderer_trial(handle, state, id, patience);
        if is_settled {
            return Ok(());
        }
    }
}

fn card(state: &State, id: DeviceId) -> Option<Rc<RefCell<DrmCard>>> {
    let session = state.session.drm.as_ref()?;
    session.cards.open.iter().find(|open| open.id == id).map(|open| open.card.clone())
}

/// Handles all changes that a device has reported.
fn dispatch(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId, card: &Rc<RefCell<DrmCard>>) {
    loop {
        let Some(change) = card.borrow_mut().poll() else { return };
        if let Err(error) = handle_change(handle, state, id, card, change) {
            tracing::error!("a display device: {error:#}");
        }
    }
}

/// Starts to test a renderer context on this device, if the renderer would gain by moving there. Returns whether a test
/// has begun: then the device's monitors wait for its result.
fn start_renderer_trial(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    id: DeviceId,
    card: &Rc<RefCell<DrmCard>>,
) -> bool {
    let State { outputs, session, .. } = state;
    let Some(renderer) = outputs.renderer_mut() else { return false };
    let again = handle.clone();
    let known = move |state: &mut State| finish_renderer_trial(&again, state, id, Duration::ZERO);
    let drawing = renderer_trial::begin(handle, renderer, &card.borrow(), known);
    let begins = drawing.is_some();
    if let Some(open) = session.drm.as_mut().and_then(|session| session.cards.get(id)) {
        open.renderer_trial = drawing;
    }
    begins
}

/// Scans the device's monitors if the test of its renderer context is finished, or after waiting `patience` for it.
fn finish_renderer_trial(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId, patience: Duration) {
    let State { outputs, session, .. } = state;
    let Some(open) = session.drm.as_mut().and_then(|session| session.cards.get(id)) else { return };
    let (Some(drawing), Some(renderer)) = (open.renderer_trial.take(), outputs.renderer_mut()) else { return };
    let card = open.card.clone();
    open.renderer_trial = drawing.finish(handle, renderer, card.borrow().driver(), patience);
    if open.renderer_trial.is_some() {
        return;
    }
    // While the session runs, outputs of this device may not have handled earlier events yet.
    if patience.is_zero() { scan_soon(handle, id) } else { scan(state, &card) }
}

/// Scans the device's monitors a little later, so that its outputs have handled earlier events by then.
fn scan_soon(handle: &LoopHandle<'static, State>, id: DeviceId) {
    let soon = deferred_calls::add_timer(handle, RETRY_AFTER, move |state| {
        scan_device(state, id);
        None
    });
    if let Err(error) = soon {
        tracing::error!(%error, "cannot schedule a scan of the monitors: they stay dark");
    }
}

fn open(
    handle: &LoopHandle<'static, State>,
    id: DeviceId,
    descriptor: OwnedFd,
) -> anyhow::Result<(Rc<RefCell<DrmCard>>, RegistrationToken)> {
    let (wake_up, events) = calloop::ping::make_ping()?;
    let card = Rc::new(RefCell::new(DrmCard::new(descriptor, wake_up)?));
    // The outputs themselves report the fate of their frames, in the turn that this source starts. The source keeps
    // the device alive until it is unplugged. If the device were dropped at the end of the session, Smithay would
    // restore the previous screen contents. Drivers refuse this, and the console does it by itself when the device
    // is closed.
    let (kept, of_source) = (card.clone(), handle.clone());
    let events = handle.insert_source(events, move |(), (), state| dispatch(&of_source, state, id, &kept));
    let events = events.map_err(|error| anyhow::anyhow!("cannot watch the events of the device: {error}"))?;
    Ok((card, events))
}

/// Scans a device after a hotplug event.
pub(super) fn scan_device(state: &mut State, id: DeviceId) {
    let Some(session) = &state.session.drm else { return };
    // While another session has the device, do not query it: resuming scans it anyway.
    if session.is_paused() {
        return;
    }
    // Monitors that wait for the test of a renderer context are scanned after it.
    if let Some(open) = session.cards.open.iter().find(|open| open.id == id && open.renderer_trial.is_none()) {
        scan(state, &open.card);
    }
}

/// Like [`scan_device`], for all devices.
pub(super) fn scan_all(state: &mut State) {
    let Some(session) = &state.session.drm else { return };
    let known = session.cards.open.iter().filter(|open| open.renderer_trial.is_none());
    known.for_each(|open| scan(state, &open.card));
}

/// Handles the removal of a device.
pub(super) fn removed(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId) {
    let Some(card) = close(handle, state, id) else { return };
    let Some(session) = &state.session.drm else { return };
    let left = session.cards.open.iter().find_map(|open| open.card.borrow().device().cloned());
    // The outputs learn of the removal from their displays.
    card.borrow_mut().unplug();
    syncobj::device_removed(state, left.as_ref());
    move_renderer_off(handle, state, &card.borrow());
}

/// Closes a device and gives it back to the seat.
fn close(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId) -> Option<Rc<RefCell<DrmCard>>> {
    let cards = &mut state.session.drm.as_mut()?.cards;
    let index = cards.open.iter().position(|open| open.id == id)?;
    let OpenCard { card, descriptor, events, renderer_trial: drawing, .. } = cards.open.remove(index);
    handle.remove(events);
    cards.seat.borrow_mut().forget(descriptor);
    if let (Some(drawing), Some(renderer)) = (drawing, state.outputs.renderer_mut()) {
        drawing.give_up(handle, renderer);
    }
    Some(card)
}

/// Moves OpenGL ES to another device, or off screen, if it used the device that is `gone`. The new context cannot reach
/// the buffers that it had on other devices, so their monitors are lit again with new buffers.
fn move_renderer_off(handle: &LoopHandle<'static, State>, state: &mut State, gone: &DrmCard) {
    match state.outputs.renderer_mut().map(|renderer| renderer.device_removed(gone.number())) {
        Some(Ok(true)) => tracing::info!(driver = gone.driver(), "OpenGL ES has left the device that is gone"),
        Some(Err(error)) => return tracing::error!(%error, "OpenGL ES cannot draw without the device that is gone"),
        Some(Ok(false)) | None => return,
    }
    let Some(session) = &state.session.drm else { return };
    let cards: Vec<_> = session.cards.open.iter().map(|open| (open.id, open.card.clone())).collect();
    for (id, card) in &cards {
        start_renderer_trial(handle, state, *id, card);
        card.borrow_mut().unplug();
    }
    // Only after the outputs of these devices have handled the removal.
    let lit = deferred_calls::add_timer(handle, RETRY_AFTER, |state| {
        scan_all(state);
        None
    });
    if let Err(error) = lit {
        tracing::error!(%error, "cannot schedule a scan of the monitors: they stay dark");
    }
}

/// Starts a scan of the device's connectors.
fn scan(state: &State, card: &Rc<RefCell<DrmCard>>) {
    let config = state.session.config.config().clone();
    let wish = move |name: &str, identity: Option<&EdidIdentity>| {
        let monitor = identity.map(ToString::to_string);
        config.output(name, monitor.as_deref()).mode.map_or(ConfiguredMode::default(), super::wish)
    };
    let drawer = RendererDrawer(state.outputs.renderer().and_then(Renderer::targets));
    card.borrow().scan(wish, Box::new(drawer));
}

/// Handles a change that a device has reported.
///
/// # Errors
/// The device cannot be used.
fn handle_change(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    device: DeviceId,
    card: &Rc<RefCell<DrmCard>>,
    change: CardEvent,
) -> anyhow::Result<()> {
    match change {
        CardEvent::Opened => {
            if let Some(opened) = card.borrow().device() {
                syncobj::offer(state, opened);
            }
            if !start_renderer_trial(handle, state, device, card) {
                scan(state, card);
            }
        }
        CardEvent::Failed(error) => {
            close(handle, state, device);
            return Err(error.into());
        }
        CardEvent::Plugged(output) => add_output(state, device, output),
        CardEvent::Unplugged(name) => tracing::info!(output = name, "monitor unplugged"),
        CardEvent::Unusable(name, error) => tracing::error!(output = name, %error, "a monitor cannot be used"),
        CardEvent::ScanFailed(error) => {
            tracing::error!(driver = card.borrow().driver(), %error, "cannot list the monitors");
        }
        CardEvent::Scanned => {}
    }
    Ok(())
}

fn add_output(state: &mut State, device: DeviceId, output: DrmOutput) {
    let name = output.name().to_owned();
    let mode = crate::session::virtual_outputs::mode_of(&output);
    let monitor = output.identity().map(|identity| identity.to_string());
    tracing::info!(output = name, %mode, monitor, "monitor plugged in");
    let feedback = crate::protocol::dmabuf::offer(state, device, &output.scanout_formats());
    let settings = state.session.config.config().output(&name, monitor.as_deref());
    let id = hotplug::add(state, Box::new(output), virtual_outputs::placement(&settings));
    if let (Some(feedback), Some(added)) = (feedback, state.outputs.by_id(id)) {
        scanout_feedback::set_feedback(added.output(), feedback);
    }
    power::set(state, id, settings.enabled);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_nodes_are_no_displays() {
        assert!(is_display_node(Path::new("/dev/dri/card1")));
        assert!(!is_display_node(Path::new("/dev/dri/renderD128")));
        assert!(!is_display_node(Path::new("/dev/dri")));
    }
}
