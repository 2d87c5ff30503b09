//! A nested session: the parent's windows are outputs, its seat is ours.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Context as _;
use calloop::PostAction;
use smithay::utils::{Logical, Point};

use super::ExitStatus;
use super::parent::{Opened, Parent};
use super::waiting::Heard;
use crate::backend::nested::{ParentEvent, WindowId};
use crate::bindings::Modifier;
use crate::config::{Config, OutputMode, OutputSettings, Scale};
use crate::input::keymap::Keymap;
use crate::input::{self, InputEvent, KeyboardId};
use crate::later;
use crate::output::hotplug::{self, Placement};
use crate::output::{place_of_pixel, power};
use crate::protocol::virtual_keyboard::KeymapFile;
use crate::state::State;
use upbeat_timing::id::OutputId;

/// What outputs are called, before their number.
const NAME: &str = "NESTED-";

/// More windows than this are a mistake in a configuration.
const MOST_OUTPUTS: u32 = 16;

/// What a nested session remembers of its windows.
#[derive(Debug, Default)]
pub(super) struct Nested {
    outputs: HashMap<WindowId, Window>,
    /// The parent's keymap is in use; if not, its keys go through the configured one.
    has_keymap: bool,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    output: OutputId,
    /// It was switched off because nobody sees it, and not because somebody wanted it off.
    is_hidden: bool,
}

/// Connects to the parent and opens a window for each of `modes`; without any, for each output that the configuration
/// names, or one. Their rates are the parent's.
pub(super) fn start(state: &mut State, modes: &[OutputMode]) -> anyhow::Result<()> {
    let mut backend = Parent::connect()?;
    // Super is the parent's.
    state.bindings.modifier = Modifier::Alt;
    let modes = match modes {
        [] => vec![None; configured(state.session.config.config())],
        modes => modes.iter().copied().map(Some).collect(),
    };
    for (number, mode) in (1..).zip(modes) {
        let name = format!("{NAME}{number}");
        let settings = state.session.config.config().output(&name, None);
        let mode = mode.or(settings.mode).unwrap_or_default();
        // A side is at most 16 384, by the type.
        let opened = backend.open(&name, (mode.width as i32, mode.height as i32))?;
        add(state, opened);
    }
    listen(state, backend)
}

/// How many outputs the configuration speaks of by their full names; at least one.
fn configured(config: &Config) -> usize {
    let named = |number: &u32| {
        let name = format!("{NAME}{number}");
        config.outputs.iter().any(|rule| String::from(rule.name.clone()) == name)
    };
    (1..=MOST_OUTPUTS).filter(named).max().unwrap_or(1) as usize
}

fn add(state: &mut State, opened: Opened) {
    let Opened { display, window, scale: parents } = opened;
    let settings = state.session.config.config().output(display.name(), None);
    let OutputSettings { position, scale, turn, pacing, .. } = settings;
    // Where nothing is said it is the parent's.
    let scale = Some(scale.map_or(parents, Scale::factor));
    let placement = Placement { position, scale, turn: Some(turn), pacing: Some(pacing) };
    let id = hotplug::add(state, display, placement);
    power::set(state, id, settings.enabled);
    state.session.nested.outputs.insert(window, Window { output: id, is_hidden: false });
}

fn listen(state: &mut State, backend: Parent) -> anyhow::Result<()> {
    let backend = Rc::new(RefCell::new(backend));
    // What came with the answers at the start waits in there already.
    let first = backend.clone();
    later::soon(state, move |state| _ = hear(state, &first));
    let of_source = backend.clone();
    let listens =
        state.session.waiting.listen(Heard::Displays, &*backend.borrow(), move |state| hear(state, &of_source));
    listens.context("the parent compositor cannot be listened to")
}

/// Takes in what the parent says.
fn hear(state: &mut State, backend: &RefCell<Parent>) -> PostAction {
    let result = backend.borrow_mut().dispatch();
    while let Some(event) = next(backend) {
        heard(state, event);
    }
    backend.borrow().flush();
    match result {
        Ok(()) => PostAction::Continue,
        Err(error) => {
            state.session.fail(error);
            PostAction::Remove
        }
    }
}

fn next(backend: &RefCell<Parent>) -> Option<ParentEvent> {
    backend.borrow_mut().poll_event()
}

fn heard(state: &mut State, event: ParentEvent) {
    match event {
        ParentEvent::Hidden { window } => set_hidden(state, window, true),
        ParentEvent::Visible { window } => set_hidden(state, window, false),
        ParentEvent::Scale { window, scale } => rescale(state, window, scale),
        ParentEvent::Closed { window } => closed(state, window),
        ParentEvent::Keymap { file, size } => {
            let text = KeymapFile::new(file, size).read().ok();
            let keymap = text.and_then(|text| Keymap::compile(&text));
            state.session.nested.has_keymap = keymap.is_some();
            match keymap {
                Some(keymap) => input::keyboard::set_keymap(state, KeyboardId::Parent, Arc::new(keymap)),
                None => tracing::warn!(size, "the parent's keymap cannot be used: the configured one is"),
            }
        }
        ParentEvent::KeyboardLeft => input::keyboard::release_all(state, keyboard(state)),
        event => {
            if let Some(event) = input_event(state, event) {
                input::handle(state, event);
            }
        }
    }
}

/// The keyboard that the parent's keys are those of.
fn keyboard(state: &State) -> KeyboardId {
    if state.session.nested.has_keymap { KeyboardId::Parent } else { KeyboardId::Session }
}

/// A window that nobody sees is an output that is off: whoever draws there is called back once a second.
fn set_hidden(state: &mut State, window: WindowId, hidden: bool) {
    let Some(known) = state.session.nested.outputs.get_mut(&window) else { return };
    let output = known.output;
    if hidden {
        // One that is dark already stays dark for the reason that it has.
        let is_lit = state.outputs.by_id(output).is_some_and(|output| output.is_on());
        known.is_hidden |= is_lit;
        if !is_lit {
            return;
        }
    } else if !std::mem::take(&mut known.is_hidden) {
        return;
    }
    tracing::debug!(window = window.0, hidden, "the parent shows the window, or does not");
    power::set(state, output, !hidden);
}

fn rescale(state: &mut State, window: WindowId, parents: f64) {
    let Some(output) = state.session.nested.outputs.get(&window).map(|window| window.output) else { return };
    let Some(name) = state.outputs.by_id(output).map(|output| output.output().name()) else { return };
    let OutputSettings { position, scale, .. } = state.session.config.config().output(&name, None);
    hotplug::arrange(state, output, position, scale.map_or(parents, Scale::factor));
}

/// The output goes as any other that is unplugged does; the session goes with the last one.
fn closed(state: &mut State, window: WindowId) {
    if let Some(window) = state.session.nested.outputs.remove(&window) {
        hotplug::remove(state, window.output);
    }
    if state.session.nested.outputs.is_empty() {
        tracing::info!("the last window was closed");
        state.session.end(ExitStatus::SUCCESS);
    }
}

/// What the seat says, as every source of input says it.
fn input_event(state: &State, event: ParentEvent) -> Option<InputEvent> {
    Some(match event {
        ParentEvent::Key { time, key, pressed } => InputEvent::Key { time, keyboard: keyboard(state), key, pressed },
        // Masks mean something together with the keymap that they were made from.
        ParentEvent::Modifiers { time, depressed, latched, locked, layout } if state.session.nested.has_keymap => {
            InputEvent::Modifiers { time, keyboard: KeyboardId::Parent, depressed, latched, locked, layout }
        }
        ParentEvent::PointerMoved { time, window, x, y } => {
            InputEvent::PointerPosition { time, position: place(state, window, x, y)? }
        }
        ParentEvent::Button { time, button, pressed } => InputEvent::Button { time, button, pressed },
        ParentEvent::Axis { time, source, horizontal, vertical } => {
            InputEvent::Axis { time, source, horizontal, vertical }
        }
        ParentEvent::TouchDown { time, window, finger, x, y } => {
            InputEvent::TouchDown { time, slot: slot(finger)?, position: place(state, window, x, y)? }
        }
        ParentEvent::TouchMoved { time, window, finger, x, y } => {
            InputEvent::TouchMotion { time, slot: slot(finger)?, position: place(state, window, x, y)? }
        }
        ParentEvent::TouchUp { time, finger } => InputEvent::TouchUp { time, slot: slot(finger)? },
        ParentEvent::TouchFrame { time } => InputEvent::TouchFrame { time },
        ParentEvent::TouchCancelled { time } => InputEvent::TouchCancel { time },
        _ => return None,
    })
}

fn slot(finger: i32) -> Option<u32> {
    u32::try_from(finger).ok()
}

/// A place on a window (physical pixels) in global logical coordinates.
fn place(state: &State, window: WindowId, x: f64, y: f64) -> Option<Point<f64, Logical>> {
    let id = state.session.nested.outputs.get(&window)?.output;
    Some(place_of_pixel(state.outputs.by_id(id)?.output(), Point::from((x, y))))
}
