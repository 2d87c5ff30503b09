//! The outputs that a session starts with, and what is recorded of them.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Context;
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, PostAction};

use super::SessionOptions;
use crate::backend::Mode;
use crate::backend::headless::record::{PngFolder, Recording};
use crate::backend::headless::{HeadlessBackend, HeadlessOutput, OutputOptions};
use crate::output::hotplug::{self, Placement};
use crate::state::State;

/// What a virtual output is like that nobody described.
const DEFAULT_MODE: Mode = Mode { width: 1280, height: 720, refresh: 60_000 };

/// The cursor plane of a virtual output, in pixels: what most hardware has.
const CURSOR_PLANE: (u32, u32) = (256, 256);

/// Plugs in the virtual outputs that were asked for.
pub(super) fn start_headless(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    options: &SessionOptions,
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
    let modes: Vec<Mode> = options
        .outputs
        .iter()
        .map(|mode| Mode { width: mode.width as i32, height: mode.height as i32, refresh: mode.refresh.fastest() })
        .collect();
    let modes = if modes.is_empty() { vec![DEFAULT_MODE] } else { modes };
    for (number, mode) in modes.into_iter().enumerate() {
        let output = add_headless(state, &format!("HEADLESS-{}", number + 1), mode, Placement::default())?;
        record(state, &output, options)?;
    }
    Ok(())
}

/// Plugs in one virtual output.
pub fn add_headless(state: &mut State, name: &str, mode: Mode, placement: Placement) -> anyhow::Result<HeadlessOutput> {
    let backend = state.session.headless.clone().context("this session has no virtual outputs")?;
    let output = backend.borrow_mut().add_output(
        name,
        mode,
        OutputOptions { cursor_plane: Some(CURSOR_PLANE), ..OutputOptions::default() },
    )?;
    hotplug::add(state, Box::new(output.clone()), placement);
    Ok(output)
}

fn record(state: &mut State, output: &HeadlessOutput, options: &SessionOptions) -> anyhow::Result<()> {
    if let Some(folder) = &options.record {
        let sink = PngFolder::create(folder).with_context(|| format!("cannot record into {}", folder.display()))?;
        state.session.recordings.push(Recording::start(output, sink)?);
    }
    Ok(())
}

/// Ends what the session leaves behind: recordings and the frame log.
pub(super) fn finish(state: &mut State) {
    for recording in state.session.recordings.drain(..) {
        match recording.finish() {
            Ok(tally) => tracing::info!(?tally, "recorded"),
            Err(error) => tracing::error!(%error, "the recording is incomplete"),
        }
    }
    if let Some(log) = state.outputs.frame_log.take()
        && let Err(error) = log.finish()
    {
        tracing::error!(%error);
    }
}
