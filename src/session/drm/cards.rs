//! The display devices of the seat.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use calloop::timer::{TimeoutAction, Timer};
use calloop::{LoopHandle, RegistrationToken};

use drm_fourcc::DrmFormat;

use crate::backend::drm::{Card, Change, Drawer, DrmError, ModeWish};
use crate::backend::plane::DeviceMemory;
use crate::backend::seat::Seat;
use crate::output::hotplug::{self, Placement};
use crate::output::power;
use crate::protocol::syncobj;
use crate::render::Renderer;
use crate::state::State;
use crate::time::{Clock, MonotonicClock};

/// How long after a device could not be opened it is tried again, and how often. The kernel registers a device's name some
/// milliseconds before the device.
const RETRY_AFTER: Duration = Duration::from_millis(100);
const RETRIES: u32 = 10;

/// A device number, as udev tells it.
type DeviceId = libc::dev_t;

struct Open {
    id: DeviceId,
    card: Rc<RefCell<Card>>,
    /// What the seat knows it by.
    descriptor: RawFd,
    /// Wakes the loop when an output has something to say.
    events: RegistrationToken,
}

/// All display devices that are open.
pub(crate) struct Cards {
    seat: Rc<RefCell<Seat>>,
    open: Vec<Open>,
}

impl Cards {
    pub(super) fn new(seat: Rc<RefCell<Seat>>) -> Self {
        Cards { seat, open: Vec::new() }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn pause(&mut self) {
        self.open.iter().for_each(|open| open.card.borrow_mut().pause());
    }

    pub(super) fn resume(&mut self) {
        for open in &self.open {
            if let Err(error) = open.card.borrow_mut().resume() {
                tracing::error!(%error, "a display device cannot be used again");
            }
        }
    }

    pub(super) fn set_mode(&mut self, name: &str, wish: ModeWish) -> Option<Result<(), String>> {
        let open = self.open.iter().find(|open| open.card.borrow().has(name))?;
        let set = open.card.borrow_mut().set_mode(name, wish, MonotonicClock.now());
        Some(set.map_err(|error| error.to_string()))
    }
}

/// A device was plugged in while the session runs. udev may tell of it before the kernel lets it be opened: then it is tried
/// again.
pub(super) fn plugged(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId, path: PathBuf) {
    // Whoever renders for a program opens the other nodes.
    if !is_display_node(&path) {
        return;
    }
    let Err(error) = add(handle, state, id, &path) else { return };
    tracing::debug!("{}: {error:#}; it is tried again", path.display());
    let (again, mut tries) = (handle.clone(), RETRIES);
    let retry = move |_, (): &mut (), state: &mut State| {
        tries -= 1;
        match add(&again, state, id, &path) {
            Ok(()) => TimeoutAction::Drop,
            Err(_) if tries > 0 && path.exists() => TimeoutAction::ToDuration(RETRY_AFTER),
            Err(error) => {
                tracing::error!("{}: {error:#}", path.display());
                TimeoutAction::Drop
            }
        }
    };
    if let Err(error) = handle.insert_source(Timer::from_duration(RETRY_AFTER), retry) {
        tracing::error!(%error, "a display device is not tried again");
    }
}

/// `/dev/dri/card1`, not `/dev/dri/renderD129`.
fn is_display_node(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"card"))
}

/// Opens a device and lights what is plugged into it.
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
    let descriptor = seat.borrow_mut().open_device(path).context("the seat does not open it")?;
    let raw = descriptor.as_raw_fd();
    let opened = open(handle, descriptor);
    let (card, events) = opened.inspect_err(|_| seat.borrow_mut().forget(raw))?;
    session.cards.open.push(Open { id, card: card.clone(), descriptor: raw, events });
    draw_on(state, &card.borrow());
    syncobj::offer(state, card.borrow().device());
    scan(state, id, &card);
    Ok(())
}

/// Whoever composes, for the display device of this number.
struct Composer<'a>(Option<&'a mut Renderer>, u64);

impl Drawer for Composer<'_> {
    fn formats(&self, device: u64) -> Vec<DrmFormat> {
        self.0.as_ref().map_or(Vec::new(), |renderer| renderer.target_formats(device))
    }

    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String> {
        let renderer = self.0.as_mut().ok_or("nobody draws")?;
        renderer.try_target(self.1, memory).map_err(|error| error.to_string())
    }
}

/// A renderer that is better off on a display device moves there.
fn draw_on(state: &mut State, card: &Card) {
    let Some(renderer) = state.outputs.renderer.as_mut().filter(|renderer| renderer.wants_device()) else { return };
    match renderer.move_to(card.device().clone(), card.number()) {
        Ok(()) => tracing::info!(driver = card.driver(), "OpenGL ES draws on the display device"),
        Err(reason) => {
            tracing::warn!(
                driver = card.driver(),
                %reason,
                "OpenGL ES draws off screen: frames are read back and copied"
            );
        }
    }
}

fn open(
    handle: &LoopHandle<'static, State>,
    descriptor: std::os::fd::OwnedFd,
) -> anyhow::Result<(Rc<RefCell<Card>>, RegistrationToken)> {
    let (heard, events) = calloop::ping::make_ping()?;
    let card = Rc::new(RefCell::new(Card::new(descriptor, heard)?));
    // What happened, the outputs say themselves in the turn that this starts. The source keeps the device until that is
    // pulled out: dropped at the end of the session, Smithay would put back what was on screen before, which drivers
    // refuse; the console does so by itself when the device is closed.
    let kept = card.clone();
    let events = handle.insert_source(events, move |(), _, _| {
        let _ = &kept;
    });
    let events = events.map_err(|error| anyhow::anyhow!("its flips cannot be listened to: {error}"))?;
    Ok((card, events))
}

/// Something was plugged into a device, or pulled out.
pub(super) fn changed(state: &mut State, id: DeviceId) {
    let Some(session) = &state.session.drm else { return };
    // Another session's device is not asked: that is done when it is ours again.
    if session.is_paused() {
        return;
    }
    let card = session.cards.open.iter().find(|open| open.id == id).map(|open| open.card.clone());
    if let Some(card) = card {
        scan(state, id, &card);
    }
}

/// The same for all devices.
pub(super) fn look_again(state: &mut State) {
    let Some(session) = &state.session.drm else { return };
    let cards: Vec<_> = session.cards.open.iter().map(|open| (open.id, open.card.clone())).collect();
    cards.iter().for_each(|(id, card)| scan(state, *id, card));
}

/// A device was pulled out.
pub(super) fn removed(handle: &LoopHandle<'static, State>, state: &mut State, id: DeviceId) {
    let Some(session) = &mut state.session.drm else { return };
    let Some(index) = session.cards.open.iter().position(|open| open.id == id) else { return };
    let Open { card, descriptor, events, .. } = session.cards.open.remove(index);
    handle.remove(events);
    session.cards.seat.borrow_mut().forget(descriptor);
    let left = session.cards.open.first().map(|open| open.card.borrow().device().clone());
    // The outputs hear of it from their displays.
    card.borrow_mut().unplug();
    syncobj::device_removed(state, left.as_ref());
    draw_elsewhere(handle, state, &card.borrow());
}

/// OpenGL ES drew on a device that is gone: it moves to another, or off screen. What it drew into on other devices, it may
/// not reach from there: their monitors are lit anew.
fn draw_elsewhere(handle: &LoopHandle<'static, State>, state: &mut State, gone: &Card) {
    match state.outputs.renderer.as_mut().map(|renderer| renderer.leave(gone.number())) {
        Some(Ok(true)) => tracing::info!(driver = gone.driver(), "OpenGL ES has left the device that is gone"),
        Some(Err(error)) => return tracing::error!(%error, "OpenGL ES cannot draw without the device that is gone"),
        Some(Ok(false)) | None => return,
    }
    let Some(session) = &state.session.drm else { return };
    let cards: Vec<_> = session.cards.open.iter().map(|open| open.card.clone()).collect();
    for card in &cards {
        draw_on(state, &card.borrow());
        card.borrow_mut().unplug();
    }
    // Not before their outputs have heard of it.
    let lit = handle.insert_source(Timer::from_duration(RETRY_AFTER), |_, (), state: &mut State| {
        look_again(state);
        TimeoutAction::Drop
    });
    if let Err(error) = lit {
        tracing::error!(%error, "monitors stay dark");
    }
}

fn scan(state: &mut State, device: DeviceId, card: &Rc<RefCell<Card>>) {
    let config = state.session.config.config().clone();
    let wish = |name: &str| config.output(name).mode.map_or(ModeWish::default(), super::wish);
    let now = state.clock.now();
    let mut drawer = Composer(state.outputs.renderer.as_mut(), card.borrow().number());
    let changes = card.borrow_mut().scan(wish, &mut drawer, now);
    let changes = changes.unwrap_or_else(|error: DrmError| {
        tracing::error!(driver = card.borrow().driver(), %error, "the monitors are not known");
        Vec::new()
    });
    for change in changes {
        match change {
            Change::Plugged(output) => {
                let name = crate::backend::Display::name(&output).to_owned();
                let mode = crate::session::outputs::mode_of(&output);
                tracing::info!(output = name, %mode, "monitor plugged in");
                crate::protocol::dmabuf::offer(state, device, &output.scanout_formats());
                let settings = config.output(&name);
                let (position, scale) = (settings.position, Some(settings.scale.factor()));
                let placement = Placement { position, scale, pacing: Some(settings.pacing) };
                let id = hotplug::add(state, Box::new(output), placement);
                power::set(state, id, settings.enabled);
            }
            Change::Unplugged(name) => tracing::info!(output = name, "monitor unplugged"),
            Change::Unusable(name, error) => tracing::error!(output = name, %error, "a monitor cannot be used"),
        }
    }
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
