//! Answers of the private socket about frames: their number, their rates, and the reasons of late frames.

use super::{ResponseOrReason, find_output, windows};
use crate::state::State;
use upbeat_record::ipc::message::{Miss, OutputOrWindow, OutputStats, Response, WindowStats};
use upbeat_timing::id::WindowId;
use upbeat_timing::record::WindowStatistics;
use upbeat_timing::time::{Clock, Instant};

/// Statistics of every output and window.
pub(super) fn all(state: &State) -> Response {
    let now = state.clock.now();
    let outputs = state.outputs.states();
    let outputs = outputs.map(|output| OutputStats::new(&output.output().name(), output.statistics(), now)).collect();
    let none = WindowStatistics::default();
    let windows = windows::with_surfaces(state).map(|(window, entry)| {
        let statistics = state.outputs.statistics().get(entry.id()).map_or(&none, |history| &history.statistics);
        WindowStats::new(windows::number(window), &window.app_id().unwrap_or_default(), statistics, now)
    });
    Response::Stats { outputs, windows: windows.collect() }
}

/// The newest `limit` late frames of `target`, or of all outputs and windows.
pub(super) fn why_late(state: &State, target: Option<&OutputOrWindow>, limit: usize) -> ResponseOrReason {
    let now = state.clock.now();
    let mut misses = match target {
        None => of_outputs(state, now, None),
        Some(OutputOrWindow::Output(name)) => {
            find_output(state, name)?;
            of_outputs(state, now, Some(name))
        }
        Some(OutputOrWindow::Window(number)) => {
            windows::client_of(state, *number)?;
            Vec::new()
        }
    };
    match target {
        None => misses.extend(of_windows(state, now, None)),
        Some(OutputOrWindow::Window(number)) => misses.extend(of_windows(state, now, Some(*number))),
        Some(OutputOrWindow::Output(_)) => {}
    }
    Ok(Response::WhyLate { misses: Miss::newest(misses, limit) })
}

fn of_outputs(state: &State, now: Instant, only: Option<&str>) -> Vec<Miss> {
    let outputs = state.outputs.states().map(|output| (output.output().name(), output));
    let wanted = outputs.filter(|(name, _)| only.is_none_or(|only| only == name));
    wanted
        .flat_map(|(name, output)| {
            output.records().iter().filter_map(|record| Miss::of_output(record, &name, now)).collect::<Vec<_>>()
        })
        .collect()
}

fn of_windows(state: &State, now: Instant, only: Option<WindowId>) -> Vec<Miss> {
    let app_id = |number: Option<WindowId>| {
        let window = windows::with_surfaces(state).find(|(window, _)| Some(windows::number(window)) == number);
        window.and_then(|(window, _)| window.app_id()).unwrap_or_default()
    };
    let records = state.outputs.statistics().iter().flat_map(|(_, history)| history.missed.iter());
    let wanted = records.filter(|record| only.is_none() || record.window == only);
    wanted.filter_map(|record| Miss::of_client(record, &app_id(record.window), now)).collect()
}
