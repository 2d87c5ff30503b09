//! The virtual outputs of a session: those that it starts with, and those that come, change and go.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Context;
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, PostAction};

use crate::backend::headless::{HeadlessBackend, OutputOptions};
use crate::backend::{Display, Mode};
use crate::config::{Config, OutputMode, OutputSettings, Refresh};
use crate::output::hotplug::{self, Placement};
use crate::output::{power, rules};
use crate::state::State;
use crate::time::Span;
use crate::timing::id::OutputId;

/// The cursor plane of a virtual output, in pixels: what most hardware has.
const CURSOR_PLANE: (u32, u32) = (256, 256);

/// What virtual outputs are called, before their number.
const NAME: &str = "HEADLESS-";

/// More virtual outputs than this are a mistake, in a configuration or in a script.
const MOST_OUTPUTS: u32 = 32;

/// Listens to the virtual displays and plugs in the outputs with `modes`; without any, those that the configuration
/// names, or one.
pub(super) fn start(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    modes: &[OutputMode],
) -> anyhow::Result<()> {
    let backend = HeadlessBackend::new()?;
    let descriptor = std::os::fd::AsFd::as_fd(&backend).try_clone_to_owned()?;
    let backend = Rc::new(RefCell::new(backend));
    state.session.headless = Some(backend.clone());
    handle
        .insert_source(Generic::new(descriptor, Interest::READ, calloop::Mode::Level), move |_, _, _| {
            backend.borrow_mut().dispatch();
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("the virtual displays cannot be listened to: {error}"))?;
    if modes.is_empty() {
        for _ in 0..configured(state.session.config.config()) {
            plug_in(state, None)?;
        }
    }
    for mode in modes {
        plug_in(state, Some(*mode))?;
    }
    Ok(())
}

/// How many outputs the configuration speaks of by their full names; at least one.
fn configured(config: &Config) -> u32 {
    let named = |number: &u32| {
        let name = format!("{NAME}{number}");
        config.outputs.iter().any(|rule| String::from(rule.name.clone()) == name)
    };
    (1..=MOST_OUTPUTS).filter(named).max().unwrap_or(1)
}

/// Plugs in one more virtual output, as the configuration describes it. `mode` counts before the configured one.
pub(super) fn plug_in(state: &mut State, mode: Option<OutputMode>) -> anyhow::Result<OutputId> {
    let backend = state.session.headless.clone().context("this session has no virtual outputs")?;
    anyhow::ensure!(
        backend.borrow().outputs().len() < MOST_OUTPUTS as usize,
        "there are {MOST_OUTPUTS} virtual outputs already"
    );
    state.session.last_output += 1;
    let name = format!("{NAME}{}", state.session.last_output);
    let settings = state.session.config.config().output(&name);
    let (mode, variable_refresh) = video_mode(mode.or(settings.mode).unwrap_or_default());
    let defaults = OutputOptions::default();
    let queue = usize::from(state.session.config.config().animations.frames_ahead.frames());
    // Their memory is taken when they are first wanted.
    let buffers = defaults.buffers + queue;
    let options = OutputOptions { cursor_plane: Some(CURSOR_PLANE), variable_refresh, buffers, queue, ..defaults };
    let output = {
        let mut backend = backend.borrow_mut();
        let output = backend.add_output(&name, mode, options)?;
        // We know already.
        while backend.poll_hotplug().is_some() {}
        output
    };
    state.session.recordings.begin(&output)?;
    let OutputSettings { enabled, position, scale, pacing, .. } = settings;
    let placement = Placement { position, scale: Some(scale.factor()), pacing: Some(pacing) };
    let id = hotplug::add(state, Box::new(output), placement);
    power::set(state, id, enabled);
    Ok(id)
}

/// Pulls the plug of a virtual output.
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
    if let Some(id) = hotplug::by_name(state, name) {
        hotplug::remove(state, id);
    }
    Ok(())
}

/// Changes the mode of an output: any for a virtual one, one of its own for a monitor.
pub(super) fn set_mode(state: &mut State, name: &str, mode: OutputMode) -> Result<(), String> {
    if let Some(result) = state.session.drm.as_mut().and_then(|drm| drm.set_mode(name, mode)) {
        return result;
    }
    let output = state.session.headless.as_ref().and_then(|backend| backend.borrow().output(name).cloned());
    let output = output.ok_or_else(|| format!("{name} is no virtual output: its mode cannot be set"))?;
    let (mode, variable_refresh) = video_mode(mode);
    output.reconfigure(mode, variable_refresh).map_err(|error| format!("{name}: {error}"))
}

/// Applies what `new` says differently from `old` about the outputs that there are.
pub(super) fn refit(state: &mut State, old: &Config, new: &Config) -> Result<(), String> {
    let outputs: Vec<_> = state.outputs.states().map(|output| (output.id, output.output.name())).collect();
    let mut result = Ok(());
    for (id, name) in outputs {
        let (before, now) = (old.output(&name), new.output(&name));
        if before.pacing != now.pacing {
            rules::set_output_wish(state, id, now.pacing);
        }
        if (before.position, before.scale) != (now.position, now.scale) {
            hotplug::arrange(state, id, now.position, now.scale.factor());
        }
        if before.enabled != now.enabled {
            power::set(state, id, now.enabled);
        }
        if before.mode != now.mode
            && let Some(mode) = now.mode
        {
            result = result.and(set_mode(state, &name, mode));
        }
    }
    result
}

/// A mode and its range of intervals (shortest, longest), if it is a variable one, as a display takes them.
fn video_mode(mode: OutputMode) -> (Mode, Option<(Span, Span)>) {
    let variable = match mode.refresh {
        Refresh::Fixed(_) => None,
        Refresh::Variable { slowest, fastest } => {
            Some((Span::from_millihertz(fastest), Span::from_millihertz(slowest)))
        }
    };
    // A side is at most 16 384, by the type.
    (Mode { width: mode.width as i32, height: mode.height as i32, refresh: mode.refresh.fastest() }, variable)
}

/// A display's mode as people write it.
pub(super) fn mode_of(display: &dyn Display) -> OutputMode {
    let Mode { width, height, refresh } = display.mode();
    let refresh = match display.capabilities().variable_refresh {
        None => Refresh::Fixed(refresh),
        Some((_, longest)) => Refresh::Variable { slowest: longest.to_millihertz(), fastest: refresh },
    };
    OutputMode { width: width.max(1) as u32, height: height.max(1) as u32, refresh }
}
