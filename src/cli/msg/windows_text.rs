//! The text of `upbeat msg windows`.

use super::table::{TextTable, millis, printable};
use upbeat_record::ipc::message::WindowInfo;
use upbeat_timing::time::Span;

/// Headings of the table. A heading that starts with a space is that of a right-aligned column.
pub(super) const WINDOW_COLUMNS: [&str; 15] = [
    " window",
    "app",
    "output",
    " workspace",
    "class",
    " slope",
    "asked",
    "paced",
    " budget",
    " cost p50",
    " p99",
    " cpu p50",
    " p99",
    " slack",
    "state",
];

/// A table of the windows, and the reason for the pacing of each.
pub(super) fn windows_text(windows: &[WindowInfo]) -> String {
    let mut table = TextTable::new(&WINDOW_COLUMNS);
    for window in windows {
        table.row(vec![
            window.window.0.to_string(),
            printable(&window.app_id),
            window.output.clone().unwrap_or_else(|| "-".to_owned()),
            window.workspace.map_or_else(|| "-".to_owned(), |number| number.to_string()),
            window.class.to_string(),
            window.slope.map_or_else(|| "-".to_owned(), |slope| format!("{slope:.2}")),
            window.wish.to_string(),
            window.pacing.to_string(),
            optional(window.budget),
            optional(window.cost.map(|cost| cost.p50)),
            optional(window.cost.map(|cost| cost.p99)),
            optional(window.cpu.map(|cpu| cpu.p50)),
            optional(window.cpu.map(|cpu| cpu.p99)),
            window.slack_periods.to_string(),
            state(window),
        ]);
    }
    let reasons = windows.iter().map(|window| {
        let early = window.early_callbacks.iter().map(|verdict| format!("; early callbacks {verdict}"));
        let title = if window.title.is_empty() { String::new() } else { format!(", \"{}\"", printable(&window.title)) };
        format!("{}{title}: {}{}\n", window.window, window.reason, early.collect::<String>())
    });
    format!("{table}\n{}", reasons.collect::<String>())
}

fn state(window: &WindowInfo) -> String {
    let words = [
        (window.focused, "focused"),
        (window.urgent, "urgent"),
        (window.minimised, "minimised"),
        (!window.visible && !window.minimised, "hidden"),
    ];
    let words = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned());
    let labels = window.content.iter().chain(&window.tag).map(|label| printable(label));
    words.chain([layout(window)]).chain(labels).collect::<Vec<_>>().join(", ")
}

/// How a window lies on its workspace, such as `column 2, tab 1`.
fn layout(window: &WindowInfo) -> String {
    let layout = window.layout;
    let mode = layout.snapped.map_or_else(|| layout.mode.to_string(), |part| part.to_string());
    match layout.column {
        Some(place) => {
            let row = if place.tabs { "tab" } else { "row" };
            let mode = if mode == "tiled" { String::new() } else { format!("{mode}, ") };
            format!("{mode}column {}, {row} {}", place.column, place.row)
        }
        None => mode,
    }
}

pub(super) fn optional(span: Option<Span>) -> String {
    span.map_or_else(|| "-".to_owned(), millis)
}
