//! The figures of the HUD above an output's frames ([`overlays::show_hud`](crate::output::scene::overlays::show_hud)).

use crate::output::OutputState;
use crate::output::clients::statistics;
use crate::output::scene::overlays::hud::{FRAMES, FrameColumn, HudFigures, WORDS, milliseconds};
use crate::shell::Shell;
use crate::surface::SurfaceRegistry;
use upbeat_record::trace::why_late;
use upbeat_timing::record::FrameRecord;
use upbeat_timing::time::Span;

/// The figures of `output`; `cost`: time that the last HUD took to draw.
pub(in crate::output) fn figures(
    output: &OutputState,
    (shell, surfaces): (&Shell, &SurfaceRegistry),
    windows: &statistics::WindowHistories,
    cost: Span,
) -> HudFigures {
    let first = output.records.len().saturating_sub(FRAMES);
    let frames = output.records.iter().skip(first).map(column).collect();
    let mut lines = vec![heading(output, cost)];
    lines.extend(paced(output, shell, surfaces, windows).take(WORDS));
    lines.extend(missed(output, shell, windows));
    HudFigures { frames, lines }
}

/// How a frame's time was spent, in refreshes.
fn column(record: &FrameRecord) -> FrameColumn {
    let times = [record.composed, record.rendered, record.submitted, record.presented];
    let mut before = record.latched;
    let stages = times.map(|time| {
        let length = time.map_or(Span::ZERO, |time| (time - before).max(Span::ZERO));
        before = time.unwrap_or(before).max(before);
        length.as_seconds_f64() / record.interval.as_seconds_f64().max(1e-6)
    });
    FrameColumn { stages, missed: record.miss.is_some() }
}

fn heading(output: &OutputState, cost: Span) -> String {
    let rate = output.records.last().map_or(0.0, |record| 1.0 / record.interval.as_seconds_f64().max(1e-6));
    let compose = output.statistics.compose.summary().map_or(Span::ZERO, |summary| summary.p50);
    let light = output.statistics.latch_to_light.summary().map_or(Span::ZERO, |summary| summary.p50);
    format!(
        "{} {rate:.0} Hz: drawn {}, to light {}, this {}",
        output.output.name(),
        milliseconds(compose),
        milliseconds(light),
        milliseconds(cost)
    )
}

/// Pacing of the windows on an output, the focused window first.
fn paced<'a>(
    output: &'a OutputState,
    shell: &'a Shell,
    surfaces: &'a SurfaceRegistry,
    windows: &'a statistics::WindowHistories,
) -> impl Iterator<Item = String> + 'a {
    let focused = shell.focused();
    let mut seen: Vec<_> = shell.visible_windows().rev().collect();
    seen.sort_by_key(|window| Some(window.id) != focused);
    seen.into_iter().filter_map(move |window| {
        let entry = surfaces.get(window.surface()).filter(|entry| entry.output() == Some(output.id))?;
        let pacer = output.pacer(entry.client())?;
        let history = windows.get(entry.id()).map(|history| &history.statistics);
        let light = history.and_then(|history| history.input_to_light.summary());
        let light = light.map_or_else(String::new, |it| format!(", input to light {}", milliseconds(it.p50)));
        let (pacing, _) = pacer.effective();
        Some(format!("{}: {pacing}, {}{light}", window.app_id().unwrap_or_default(), pacer.class()))
    })
}

/// Why the last missed frames were missed, the latest first.
fn missed(output: &OutputState, shell: &Shell, windows: &statistics::WindowHistories) -> impl Iterator<Item = String> {
    let name = output.output.name();
    let own = output
        .records
        .iter()
        .rev()
        .filter_map(|record| Some((record.present, why_late::output_sentence(record, &name)?)));
    let own: Vec<_> = own.take(WORDS).collect();
    let of_clients = windows.recent().filter(|record| record.output == output.id).filter_map(|record| {
        let app_id = record.window.and_then(|id| shell.window(id)).and_then(|window| window.app_id());
        Some((record.present, why_late::client_sentence(record, &app_id.unwrap_or_default())?))
    });
    let mut all: Vec<_> = own.into_iter().chain(of_clients).collect();
    all.sort_by_key(|(present, _)| std::cmp::Reverse(*present));
    all.into_iter().take(WORDS).map(|(_, sentence)| sentence)
}
