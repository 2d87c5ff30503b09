//! The virtual outputs of a session: at its start, plugged in and unplugged later, and their changes of mode.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Context;
use calloop::PostAction;

use super::event_sources::LoopSource;
use crate::backend::headless::{HeadlessBackend, OutputOptions};
use crate::backend::{Display, EdidIdentity, VideoMode};
use crate::config::{Config, OutputMode, OutputScale, OutputSettings, RefreshRate};
use crate::output::clients::rules;
use crate::output::hotplug::{self, OutputChange, Placement, ScaleChange};
use crate::output::in_place;
use crate::output::mode_switch::{self, RequestedMode};
use crate::output::{OutputState, parking, power};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Span;

/// Size of a virtual output's cursor plane, in pixels: as most hardware has it.
const CURSOR_PLANE: (u32, u32) = (256, 256);

/// The name of a virtual output, before its number.
const NAME: &str = "HEADLESS-";

/// Most bytes of a connector's name. The kernel's names have 32 at most.
const LONGEST_NAME: usize = 32;

/// More virtual outputs than this are a mistake, in a configuration or in a script.
const MOST_OUTPUTS: u32 = 32;

/// Starts the headless backend and plugs in outputs with `modes`. If `modes` is empty, it plugs in the outputs that the
/// configuration names, or one output.
pub(super) fn start(state: &mut State, modes: &[OutputMode]) -> anyhow::Result<()> {
    let backend = HeadlessBackend::new()?;
    let backend = Rc::new(RefCell::new(backend));
    state.session.headless = Some(backend.clone());
    let of_source = backend.clone();
    let dispatch = move |_: &mut State| {
        of_source.borrow_mut().dispatch();
        PostAction::Continue
    };
    let listens = state.session.event_sources.add_source(LoopSource::Displays, &*backend.borrow(), dispatch);
    listens.context("cannot watch the virtual displays")?;
    if modes.is_empty() {
        for _ in 0..configured(state.session.config.config()) {
            plug_in(state, VirtualOutput::default())?;
        }
    }
    for mode in modes {
        plug_in(state, VirtualOutput { mode: Some(*mode), ..VirtualOutput::default() })?;
    }
    Ok(())
}

/// The number of outputs that the configuration lists by their full names, at least 1.
fn configured(config: &Config) -> u32 {
    let named = |number: &u32| {
        let name = format!("{NAME}{number}");
        config.outputs.iter().any(|rule| String::from(rule.name.clone()) == name)
    };
    (1..=MOST_OUTPUTS).filter(named).max().unwrap_or(1)
}

/// A virtual output to plug in.
#[derive(Debug, Default)]
pub(super) struct VirtualOutput {
    /// It has precedence over the configured mode.
    pub mode: Option<OutputMode>,
    /// Name of the connector; `None`: the next free `HEADLESS-` name.
    pub connector: Option<String>,
    /// The monitor's identity.
    pub monitor: Option<EdidIdentity>,
}

/// The connector's name for a new virtual output.
fn connector_name(state: &mut State, wanted: Option<String>) -> anyhow::Result<String> {
    let is_taken = |state: &State, name: &str| {
        let shown = state.outputs.iter().any(|output| output.name() == name);
        shown || state.outputs.parked().iter().any(|parked| parked.display().name() == name)
    };
    if let Some(name) = wanted {
        let is_fit = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        anyhow::ensure!(is_fit, "a connector's name has 1 to {LONGEST_NAME} ASCII characters without spaces");
        anyhow::ensure!(!is_taken(state, &name), "there is an output called {name} already");
        return Ok(name);
    }
    loop {
        state.session.last_output += 1;
        let name = format!("{NAME}{}", state.session.last_output);
        if !is_taken(state, &name) {
            return Ok(name);
        }
    }
}

/// Plugs in one more virtual output as the configuration describes it.
pub(super) fn plug_in(state: &mut State, new: VirtualOutput) -> anyhow::Result<OutputId> {
    let backend = state.session.headless.clone().context("this session has no virtual outputs")?;
    anyhow::ensure!(
        backend.borrow().outputs().len() < MOST_OUTPUTS as usize,
        "there are {MOST_OUTPUTS} virtual outputs already"
    );
    let VirtualOutput { mode, connector, monitor: identity } = new;
    let name = connector_name(state, connector)?;
    let monitor = identity.as_ref().map(ToString::to_string);
    let settings = state.session.config.config().output(&name, monitor.as_deref());
    let (mode, variable_refresh) = video_mode(mode.or(settings.mode).unwrap_or_default());
    let defaults = OutputOptions::default();
    let queue = usize::from(state.session.config.config().animations.frames_ahead.frames());
    // Memory for a buffer is allocated when the buffer is first used.
    let buffers = defaults.buffers + queue;
    let options = OutputOptions {
        cursor_plane: Some(CURSOR_PLANE),
        overlays: state.session.overlay_planes,
        front_buffer: true,
        sampler_thread: true,
        variable_refresh,
        identity,
        buffers,
        queue,
        ..defaults
    };
    let output = {
        let mut backend = backend.borrow_mut();
        let output = backend.add_output(&name, mode, options)?;
        // Drop the hotplug event of this output: it is added below.
        while backend.poll_hotplug().is_some() {}
        output
    };
    state.session.recordings.begin(&output)?;
    let id = hotplug::add(state, Box::new(output), placement(&settings));
    power::set(state, id, settings.enabled);
    Ok(id)
}

pub(super) fn unplug(state: &mut State, name: &str) -> Result<(), String> {
    let backend = state.session.headless.clone();
    let removed = backend.is_some_and(|backend| {
        let mut backend = backend.borrow_mut();
        let removed = backend.remove_output(name);
        while backend.poll_hotplug().is_some() {}
        removed
    });
    if !removed {
        return Err(format!("there is no virtual output called {name}"));
    }
    match hotplug::by_name(state, name) {
        Some(id) => hotplug::remove(state, id),
        // A disabled output: its connector is free at once.
        None => parking::forget_gone(state),
    }
    Ok(())
}

/// Changes the mode of an output: to any mode for a virtual output, to one of the monitor's own modes for a monitor.
/// [`mode_switch::wait`] reports later whether the driver accepts the mode.
///
/// # Errors
/// The output has no such mode.
pub(super) fn set_mode(state: &mut State, name: &str, mode: OutputMode) -> Result<Vec<RequestedMode>, String> {
    let shown = state.outputs.states().find(|output| output.output().name() == name);
    let before = shown.map(|output| (output.id(), output.display().mode(), output.display().slowest_rate()));
    let (wanted, variable_refresh) = video_mode(mode);
    if let Some(result) = state.session.drm.as_mut().and_then(|drm| drm.set_mode(name, mode)) {
        let mode = result?;
        return Ok(before
            .map(|(output, before, slowest)| RequestedMode { output, mode, wanted, before, slowest })
            .into_iter()
            .collect());
    }
    let output = state.session.headless.as_ref().and_then(|backend| backend.borrow().output(name).cloned());
    let output = output.ok_or_else(|| format!("{name} is no virtual output: its mode cannot be set"))?;
    output.reconfigure(wanted, variable_refresh).map(|()| Vec::new()).map_err(|error| format!("{name}: {error}"))
}

/// The monitor's maker, model and serial number, by which rules find it.
fn monitor(display: &dyn Display) -> Option<String> {
    display.identity().map(|identity| identity.to_string())
}

/// The placement that the configuration gives an output.
pub(super) fn placement(settings: &OutputSettings) -> Placement {
    Placement {
        position: settings.position,
        scale: settings.scale.map(OutputScale::factor),
        turn: Some(settings.turn),
        pacing: Some(settings.pacing),
        front_buffer: settings.front_buffer,
    }
}

/// Applies the differences between `old` and `new` that concern existing outputs.
pub(super) fn apply_changes(state: &mut State, old: &Config, new: &Config) -> Result<(), String> {
    let parked = apply_changes_to_parked(state, old, new);
    let known = |output: &OutputState| (output.id(), output.output().name(), monitor(output.display()));
    let outputs: Vec<_> = state.outputs.states().map(known).collect();
    let mut result = parked;
    for (id, name, monitor) in outputs {
        let settings = |config: &Config| config.output(&name, monitor.as_deref());
        let (before, now) = (settings(old), settings(new));
        if before.pacing != now.pacing {
            rules::set_output_wish(state, id, now.pacing);
        }
        if (before.position, before.scale, before.turn) != (now.position, now.scale, now.turn) {
            let scale = ScaleChange::or_guessed(now.scale.map(OutputScale::factor));
            let turn = Some(state.session.rotation.transform((id, &name), now.turn));
            let change = OutputChange { position: now.position, scale, turn, ..OutputChange::none(id) };
            hotplug::arrange_all(state, &[change]);
        }
        if before.front_buffer != now.front_buffer {
            in_place::set_front_buffer_option(state, id, now.front_buffer);
        }
        if before.enabled != now.enabled {
            power::set(state, id, now.enabled);
        }
        if before.mode != now.mode
            && let Some(mode) = now.mode
        {
            let asked = set_mode(state, &name, mode);
            result = result.and(asked.map(|asked| mode_switch::wait(state, asked, Box::new(log_refused_mode))));
        }
    }
    result
}

/// Applies the differences to outputs that are disabled: they count when the outputs return.
fn apply_changes_to_parked(state: &mut State, old: &Config, new: &Config) -> Result<(), String> {
    let mut modes = Vec::new();
    for parked in state.outputs.parked_mut() {
        let (name, monitor) = (parked.display().name().to_owned(), monitor(parked.display()));
        let settings = |config: &Config| config.output(&name, monitor.as_deref());
        let (before, now) = (settings(old), settings(new));
        let kept = parked.placement().clone();
        let is_arranged = (before.position, before.scale, before.turn) != (now.position, now.scale, now.turn);
        let arranged = if is_arranged { placement(&now) } else { kept.clone() };
        let pacing = if before.pacing == now.pacing { kept.pacing } else { Some(now.pacing) };
        let same_front = before.front_buffer == now.front_buffer;
        let front_buffer = if same_front { kept.front_buffer } else { now.front_buffer };
        let is_placed = is_arranged && now.position.is_some();
        parked.replace_placement(Placement { pacing, front_buffer, ..arranged }, is_placed);
        modes.extend(now.mode.filter(|_| before.mode != now.mode).map(|mode| (name, mode)));
    }
    let asked = modes.into_iter().map(|(name, mode)| set_mode(state, &name, mode).map(|_| ()));
    asked.fold(Ok(()), Result::and)
}

/// Logs that a configured mode was refused. The previous mode stays in use.
fn log_refused_mode(_state: &mut State, result: Result<(), String>) {
    if let Err(reason) = result {
        tracing::warn!(%reason, "the configured mode cannot be shown");
    }
}

/// Converts a mode for a display: the mode and, with a variable rate, its range of refresh intervals (shortest,
/// longest).
fn video_mode(mode: OutputMode) -> (VideoMode, Option<(Span, Span)>) {
    let variable = match mode.refresh {
        RefreshRate::Fixed(_) => None,
        RefreshRate::Variable { slowest, fastest } => {
            Some((Span::from_millihertz(fastest), Span::from_millihertz(slowest)))
        }
    };
    // A side is at most 16 384, by the type.
    (VideoMode { width: mode.width as i32, height: mode.height as i32, refresh: mode.refresh.fastest() }, variable)
}

/// A display's mode in the form that users write.
pub(super) fn mode_of(display: &dyn Display) -> OutputMode {
    let VideoMode { width, height, refresh } = display.mode();
    let refresh = match display.capabilities().variable_refresh {
        None => RefreshRate::Fixed(refresh),
        Some((_, longest)) => RefreshRate::Variable { slowest: longest.to_millihertz(), fastest: refresh },
    };
    OutputMode { width: width.max(1) as u32, height: height.max(1) as u32, refresh }
}
