//! A session on the displays of this machine: the seat, its display devices and its input devices. All of them can come
//! and go while the session runs.
//!
//! ```text
//!   udev ──► cards ──► connectors ──► outputs          libinput ──► input::handle
//!     added, changed, removed                              │
//!   libseat ── Disabled ──► pause: cards let go ─► input closed ─► outputs dark ─► acknowledge
//!           ── Enabled ───► resume: cards ─► input ─► outputs lit, drawn anew
//! ```

mod cards;
mod renderer_trial;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context;
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, PostAction};
use smithay::backend::udev::{UdevBackend, UdevEvent, primary_gpu};

use super::event_sources::LoopSource;
use crate::backend::ModeId;
use crate::backend::drm::ConfiguredMode;
use crate::backend::seat::{Seat, SeatEvent};
use crate::config::{OutputMode, RefreshRate};
use crate::input::{self, libinput::LibinputDevices};
use crate::output::power;
use crate::state::State;
use cards::Cards;
use upbeat_timing::id::OutputId;

pub(super) struct DrmSession {
    seat: Rc<RefCell<Seat>>,
    cards: Cards,
    devices: Rc<RefCell<LibinputDevices>>,
    /// Outputs that were switched off because another session has the seat; `None`: this session has it.
    paused: Option<Vec<OutputId>>,
    /// Devices that were plugged in meanwhile: the seat opens none before this session has it again.
    arrived: Vec<(libc::dev_t, PathBuf)>,
}

/// Opens the seat, lights every connected monitor, and watches every input device.
pub(super) fn start(handle: &LoopHandle<'static, State>, state: &mut State) -> anyhow::Result<()> {
    let seat = Rc::new(RefCell::new(Seat::open()?));
    let name = seat.borrow().name().to_owned();
    let udev = UdevBackend::new(&name).with_context(|| format!("udev does not list the display devices of {name}"))?;
    let first = primary_gpu(&name).ok().flatten();
    let mut found: Vec<_> = udev.device_list().map(|(id, path)| (id, path.to_owned())).collect();
    // The device that the firmware used comes first: its outputs lie to the left.
    found.sort_by_key(|(id, path)| (Some(path) != first.as_ref(), *id));
    anyhow::ensure!(!found.is_empty(), "there is no display device on {name}: is a driver loaded (see /dev/dri)?");

    let devices = Rc::new(RefCell::new(LibinputDevices::new(&seat)?));
    let cards = Cards::new(seat.clone());
    state.session.drm =
        Some(DrmSession { seat: seat.clone(), cards, devices: devices.clone(), paused: None, arrived: Vec::new() });
    let mut failures: Vec<String> = Vec::new();
    for (id, path) in found {
        let lit = cards::add(handle, state, id, &path).and_then(|()| cards::wait_until_lit(handle, state, id));
        if let Err(error) = lit {
            failures.push(format!("{}: {error:#}", path.display()));
        }
    }
    failures.iter().for_each(|failure| tracing::error!("{failure}"));
    let none = state.session.drm.as_ref().is_none_or(|session| session.cards.is_empty());
    anyhow::ensure!(!none, "no display device can be used: {}", failures.join("; "));

    listen_to_seat(handle, &seat)?;
    let descriptor = devices.borrow().descriptor()?;
    input::set_devices(state, devices.clone());
    let dispatch = move |state: &mut State| {
        devices.borrow_mut().dispatch(state);
        PostAction::Continue
    };
    state
        .session
        .event_sources
        .add_source(LoopSource::Input, descriptor, dispatch)
        .context("cannot watch the input devices")?;
    let for_udev = handle.clone();
    let dispatch = move |event: UdevEvent, _: &mut (), state: &mut State| match event {
        UdevEvent::Added { device_id, path } => cards::add_with_retries(&for_udev, state, device_id, path),
        UdevEvent::Changed { device_id } => cards::scan_device(state, device_id),
        UdevEvent::Removed { device_id } => {
            if let Some(session) = &mut state.session.drm {
                session.arrived.retain(|(id, _)| *id != device_id);
            }
            cards::removed(&for_udev, state, device_id);
        }
    };
    handle.insert_source(udev, dispatch).map_err(|error| anyhow::anyhow!("cannot watch udev: {error}"))?;
    Ok(())
}

fn listen_to_seat(handle: &LoopHandle<'static, State>, seat: &Rc<RefCell<Seat>>) -> anyhow::Result<()> {
    let descriptor = seat.borrow_mut().descriptor()?;
    let (seat, handle_of_source) = (seat.clone(), handle.clone());
    let dispatch = move |_, _: &mut _, state: &mut State| {
        if let Err(error) = seat.borrow_mut().dispatch() {
            tracing::error!(%error, "the seat is lost: the session ends");
            state.session.end(crate::session::ExitStatus::FAILURE);
            return Ok(PostAction::Continue);
        }
        loop {
            let event = seat.borrow_mut().poll_event();
            match event {
                Some(SeatEvent::Disabled) => pause(state),
                Some(SeatEvent::Enabled) => resume(&handle_of_source, state),
                None => return Ok(PostAction::Continue),
            }
        }
    };
    let source = Generic::new(descriptor, Interest::READ, calloop::Mode::Level);
    let inserted = handle.insert_source(source, dispatch);
    inserted.map(|_| ()).map_err(|error| anyhow::anyhow!("cannot watch the seat: {error}"))
}

/// Gives up the devices because another session wants the seat.
fn pause(state: &mut State) {
    let Some(session) = &mut state.session.drm else { return };
    if session.paused.is_some() {
        return;
    }
    let (devices, seat) = (session.devices.clone(), session.seat.clone());
    session.paused = Some(Vec::new());
    // The seat may have revoked the devices already, so they are not used any more. A pending flip completes by
    // itself, and its event is ignored.
    session.cards.pause();
    devices.borrow_mut().suspend(state);
    let lit = power::wanted(state);
    lit.iter().for_each(|id| power::set(state, *id, false));
    if let Some(session) = &mut state.session.drm {
        session.paused = Some(lit);
    }
    if let Err(error) = seat.borrow_mut().acknowledge() {
        tracing::error!(%error, "cannot release the seat to the other session");
    }
    tracing::info!("another session has the seat");
}

/// Takes up the devices again because the seat is ours again.
fn resume(handle: &LoopHandle<'static, State>, state: &mut State) {
    let Some(session) = &mut state.session.drm else { return };
    let Some(lit) = session.paused.take() else { return };
    let arrived = std::mem::take(&mut session.arrived);
    session.cards.resume();
    let devices = session.devices.clone();
    devices.borrow_mut().resume(state);
    lit.into_iter().for_each(|id| power::set(state, id, true));
    // Monitors may have been plugged in or unplugged meanwhile.
    cards::scan_all(state);
    arrived.into_iter().for_each(|(id, path)| cards::add_with_retries(handle, state, id, path));
    tracing::info!("the seat is ours again");
}

impl DrmSession {
    /// Switches the output called `name` to another mode; `None` if it is not a monitor of this session.
    pub(super) fn set_mode(&mut self, name: &str, mode: OutputMode) -> Option<Result<Option<ModeId>, String>> {
        self.cards.set_mode(name, wish(mode))
    }

    pub(super) fn switch_terminal(&mut self, number: u32) {
        if let Err(error) = self.seat.borrow_mut().switch_terminal(number) {
            tracing::warn!(%error, number, "cannot switch the virtual terminal");
        }
    }

    /// Keeps a device for later if another session has the seat. Returns whether it does.
    fn keep_for_later(&mut self, id: libc::dev_t, path: &Path) -> bool {
        if self.is_paused() {
            self.arrived.push((id, path.to_owned()));
        }
        self.is_paused()
    }

    fn is_paused(&self) -> bool {
        self.paused.is_some()
    }
}

fn wish(mode: OutputMode) -> ConfiguredMode {
    let size = (mode.width.cast_signed(), mode.height.cast_signed());
    let slowest = match mode.refresh {
        RefreshRate::Fixed(_) => None,
        RefreshRate::Variable { slowest, .. } => Some(slowest),
    };
    ConfiguredMode { size: Some(size), refresh: Some(mode.refresh.fastest()), slowest }
}
