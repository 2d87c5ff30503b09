//! A nested session: windows in a parent compositor are our outputs, and the parent's seat is our input.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Context as _;
use calloop::PostAction;
use smithay::utils::{Logical, Point};

use super::ExitStatus;
use super::event_sources::LoopSource;
use super::parent_backend::{OpenedParentWindow, ParentBackend};
use super::parent_device;
use crate::backend::nested::{ParentEvent, WindowId};
use crate::bindings::Modifier;
use crate::config::{Config, OutputMode, OutputScale, OutputSettings};
use crate::deferred_calls;
use crate::input::keymap::CompiledKeymap;
use crate::input::{self, InputEvent, KeyboardId};
use crate::output::hotplug::{self, Placement};
use crate::output::{place_of_pixel, power};
use crate::protocol::virtual_keyboard::KeymapFile;
use crate::state::State;
use upbeat_timing::id::OutputId;

/// The name of an output, before its number.
const NAME: &str = "NESTED-";

/// More windows than this are a mistake in a configuration.
const MOST_OUTPUTS: u32 = 16;

#[derive(Debug, Default)]
pub(super) struct Nested {
    outputs: HashMap<WindowId, NestedWindowState>,
    /// Whether the parent's keymap is in use. If not, key codes from the parent are mapped by the configured keymap.
    has_keymap: bool,
}

#[derive(Clone, Copy, Debug)]
struct NestedWindowState {
    output: OutputId,
    /// The output was switched off because the parent hides the window, not by a request to switch it off.
    is_hidden: bool,
}

/// Connects to the parent and opens a window for each of `modes`. If `modes` is empty, it opens a window for each
/// output that the configuration names, or one window. The refresh rates are the parent's.
pub(super) fn start(state: &mut State, modes: &[OutputMode]) -> anyhow::Result<()> {
    let mut backend = ParentBackend::connect()?;
    if let Some(renderer) = state.outputs.renderer_mut() {
        parent_device::choose(renderer, &mut backend)?;
    }
    // The parent uses the Super key for its own shortcuts.
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

/// The number of outputs that the configuration lists by their full names, at least 1.
fn configured(config: &Config) -> usize {
    let named = |number: &u32| {
        let name = format!("{NAME}{number}");
        config.outputs.iter().any(|rule| String::from(rule.name.clone()) == name)
    };
    (1..=MOST_OUTPUTS).filter(named).max().unwrap_or(1) as usize
}

fn add(state: &mut State, opened: OpenedParentWindow) {
    let OpenedParentWindow { display, window, scale: parents } = opened;
    let settings = state.session.config.config().output(display.name(), None);
    let OutputSettings { position, scale, turn, pacing, front_buffer, .. } = settings;
    // Without a configured scale, the parent's is used.
    let scale = Some(scale.map_or(parents, OutputScale::factor));
    let placement = Placement { position, scale, turn: Some(turn), pacing: Some(pacing), front_buffer };
    let id = hotplug::add(state, display, placement);
    power::set(state, id, settings.enabled);
    state.session.nested.outputs.insert(window, NestedWindowState { output: id, is_hidden: false });
}

fn listen(state: &mut State, backend: ParentBackend) -> anyhow::Result<()> {
    let backend = Rc::new(RefCell::new(backend));
    // Events that arrived with the replies at the start are queued already, and do not make the descriptor readable.
    let first = backend.clone();
    deferred_calls::queue(state, move |state| _ = dispatch(state, &first));
    let of_source = backend.clone();
    let listens = state
        .session
        .event_sources
        .add_source(LoopSource::Displays, &*backend.borrow(), move |state| dispatch(state, &of_source));
    listens.context("cannot watch the connection to the parent compositor")
}

fn dispatch(state: &mut State, backend: &RefCell<ParentBackend>) -> PostAction {
    let result = backend.borrow_mut().dispatch();
    while let Some(event) = next(backend) {
        handle_event(state, event);
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

fn next(backend: &RefCell<ParentBackend>) -> Option<ParentEvent> {
    backend.borrow_mut().poll_event()
}

fn handle_event(state: &mut State, event: ParentEvent) {
    match event {
        ParentEvent::Hidden { window } => set_hidden(state, window, true),
        ParentEvent::Visible { window } => set_hidden(state, window, false),
        ParentEvent::Scale { window, scale } => rescale(state, window, scale),
        ParentEvent::Closed { window } => remove_window(state, window),
        ParentEvent::Keymap { file, size } => {
            let text = KeymapFile::new(file, size).read().ok();
            let keymap = text.and_then(|text| CompiledKeymap::compile(&text));
            state.session.nested.has_keymap = keymap.is_some();
            match keymap {
                Some(keymap) => input::keyboard::set_keymap(state, KeyboardId::Parent, Arc::new(keymap)),
                None => tracing::warn!(size, "the parent's keymap cannot be used: using the configured keymap"),
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

/// The keyboard whose keymap applies to the parent's key codes.
fn keyboard(state: &State) -> KeyboardId {
    if state.session.nested.has_keymap { KeyboardId::Parent } else { KeyboardId::Session }
}

/// Switches the output of a hidden window off: then its clients get a frame callback only once a second.
fn set_hidden(state: &mut State, window: WindowId, hidden: bool) {
    let Some(known) = state.session.nested.outputs.get_mut(&window) else { return };
    let output = known.output;
    if hidden {
        // An output that was switched off on request stays off for that reason.
        let is_lit = state.outputs.by_id(output).is_some_and(|output| output.is_on());
        known.is_hidden |= is_lit;
        if !is_lit {
            return;
        }
    } else if !std::mem::take(&mut known.is_hidden) {
        return;
    }
    tracing::debug!(window = window.0, hidden, "the parent has shown or hidden the window");
    power::set(state, output, !hidden);
}

fn rescale(state: &mut State, window: WindowId, parents: f64) {
    let Some(output) = state.session.nested.outputs.get(&window).map(|window| window.output) else { return };
    let Some(name) = state.outputs.by_id(output).map(|output| output.output().name()) else { return };
    let OutputSettings { position, scale, .. } = state.session.config.config().output(&name, None);
    hotplug::arrange(state, output, position, scale.map_or(parents, OutputScale::factor));
}

/// Removes the output of a closed window, as if it were unplugged. The session ends with its last window.
fn remove_window(state: &mut State, window: WindowId) {
    if let Some(window) = state.session.nested.outputs.remove(&window) {
        hotplug::remove(state, window.output);
    }
    if state.session.nested.outputs.is_empty() {
        tracing::info!("the last window was closed");
        state.session.end(ExitStatus::SUCCESS);
    }
}

fn input_event(state: &State, event: ParentEvent) -> Option<InputEvent> {
    Some(match event {
        ParentEvent::Key { time, key, pressed } => InputEvent::Key { time, keyboard: keyboard(state), key, pressed },
        // Modifier masks only have a meaning together with the keymap that they were made from.
        ParentEvent::Modifiers { time, depressed, latched, locked, layout } if state.session.nested.has_keymap => {
            InputEvent::Modifiers { time, keyboard: KeyboardId::Parent, depressed, latched, locked, layout }
        }
        ParentEvent::PointerMoved { time, window, x, y } => {
            InputEvent::PointerPosition { time, position: to_global(state, window, x, y)? }
        }
        ParentEvent::Button { time, button, pressed } => InputEvent::Button { time, button, pressed },
        ParentEvent::Axis { time, source, horizontal, vertical } => {
            InputEvent::Axis { time, source, horizontal, vertical }
        }
        ParentEvent::TouchDown { time, window, finger, x, y } => {
            InputEvent::TouchDown { time, slot: slot(finger)?, position: to_global(state, window, x, y)? }
        }
        ParentEvent::TouchMoved { time, window, finger, x, y } => {
            InputEvent::TouchMotion { time, slot: slot(finger)?, position: to_global(state, window, x, y)? }
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

/// Converts a position in a window (physical pixels) to global logical coordinates.
fn to_global(state: &State, window: WindowId, x: f64, y: f64) -> Option<Point<f64, Logical>> {
    let id = state.session.nested.outputs.get(&window)?.output;
    Some(place_of_pixel(state.outputs.by_id(id)?.output(), Point::from((x, y))))
}
