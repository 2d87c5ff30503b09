//! Starts and ends a frame log while the session runs. The main thread never waits for the file.

use std::path::PathBuf;

use super::windows;
use crate::ipc::{RequestOutcome, Ticket};
use crate::state::State;
use upbeat_record::ipc::message::Response;
use upbeat_record::trace::FrameLog;

/// Starts a frame log at `path`; without a path, ends the log that is being written.
pub(super) fn begin_or_end(state: &mut State, path: Option<PathBuf>, ticket: &Ticket<'_>) -> RequestOutcome {
    match path {
        Some(path) => begin(state, path, ticket),
        None => end(state, ticket),
    }
}

fn begin(state: &mut State, path: PathBuf, ticket: &Ticket<'_>) -> RequestOutcome {
    if !path.is_absolute() {
        return RequestOutcome::refused(format!("an absolute path was expected, not {}", path.display()));
    }
    if state.outputs.frame_log().is_some_and(|log| !log.is_over()) {
        return RequestOutcome::refused("a frame log is being written; `upbeat msg record --stop` ends it");
    }
    let completion = ticket.completion();
    let log = match FrameLog::create_in_background(path, |opened| completion.finish(opened.map(|()| Response::Done))) {
        Ok(log) => log,
        Err(error) => return RequestOutcome::refused(error.to_string()),
    };
    for output in state.outputs.states() {
        log.name_output(output.id(), &output.output().name());
    }
    for (window, _) in windows::with_surfaces(state) {
        log.name_window(windows::number(window), &window.app_id().unwrap_or_default());
    }
    state.outputs.set_frame_log(log);
    RequestOutcome::Pending
}

fn end(state: &mut State, ticket: &Ticket<'_>) -> RequestOutcome {
    let Some(log) = state.outputs.take_frame_log() else {
        return RequestOutcome::refused("no frame log is being written");
    };
    let completion = ticket.completion();
    log.end(|result| {
        completion
            .finish(result.map(|summary| Response::Recorded { lines: summary.lines, left_out: summary.left_out }));
    });
    RequestOutcome::Pending
}
