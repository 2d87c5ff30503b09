//! Prints answers as tables or JSON.

use std::io::{self, IsTerminal, Write};
use std::iter;
use std::process::ExitCode;

use super::legend;
use super::outputs_text::{disabled_text, outputs_text};
use super::table::{TextTable, printable};
use super::windows_text::{optional, windows_text};
use upbeat_record::ipc::EventSubscription;
use upbeat_record::ipc::message::layouts::KeyboardLayouts;
use upbeat_record::ipc::message::workspace::WorkspaceLayout;
use upbeat_record::ipc::message::{
    CadenceStats, ClientUse, EndedClient, LayerInfo, Miss, OutputStats, Response, WindowStats, WorkspaceInfo,
};
use upbeat_timing::record::DistributionSummary;
use upbeat_timing::time::Span;

/// Prints one JSON document.
pub(super) fn json(response: &Response) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", escaped(&serde_json::to_string_pretty(response)?))
}

/// Prints tables and sentences. Times are in milliseconds. Explanations follow on a terminal, and if `explained`.
pub(super) fn text(response: &Response, explained: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(render(response).as_bytes())?;
    // The explanations are for people, so they are left out when a program reads the output.
    if explained || out.is_terminal() { out.write_all(legend::of(response).as_bytes()) } else { Ok(()) }
}

/// Prints the JSON Schema.
pub(super) fn schema(schema: &schemars::Schema) -> anyhow::Result<ExitCode> {
    writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(schema)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints each event as a line of JSON, until the session closes the connection.
pub(super) fn events(follower: EventSubscription) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    for event in follower {
        writeln!(out, "{}", escaped(&serde_json::to_string(&event?)?))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Escapes control characters in JSON, because a terminal would take some of them for commands.
fn escaped(json: &str) -> String {
    let is_left = |letter: char| letter.is_control() && letter != '\n';
    json.chars().fold(String::with_capacity(json.len()), |mut out, letter| {
        if is_left(letter) {
            out += &format!("\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
        out
    })
}

fn render(response: &Response) -> String {
    match response {
        Response::Done => String::new(),
        Response::Version { version, wayland_display, backend, renderer, x11 } => {
            format!("upbeat {version} on {wayland_display}, backend {backend}, renderer {renderer}\nX11: {x11}\n")
        }
        Response::Outputs { outputs, disabled } => outputs_text(outputs) + &disabled_text(disabled),
        Response::Windows { windows } => windows_text(windows),
        Response::Clients { clients, bugs, ended } => format!("{}{}", clients_table(clients), ended_text(ended, *bugs)),
        Response::Workspaces { workspaces } => workspaces_table(workspaces).to_string(),
        Response::Stats { outputs, windows } => stats_text(outputs, windows),
        Response::WhyLate { misses } if misses.is_empty() => "No frame was late.\n".to_owned(),
        Response::WhyLate { misses } => {
            let line = |miss: &Miss| format!("{:>9} s ago: {}\n", seconds(miss.ago), printable(&miss.sentence));
            misses.iter().map(line).collect()
        }
        Response::Layers { layers } => layers_table(layers).to_string(),
        Response::Keyboard { keyboard } => layouts_text(keyboard),
        Response::Picked { window: Some(window) } => format!("{}\n", window.0),
        Response::Picked { window: None } => String::new(),
        Response::Recorded { lines, left_out: 0 } => format!("{lines} lines were written\n"),
        Response::Recorded { lines, left_out } => {
            format!("{lines} lines were written, {left_out} records left out: the disk is too slow\n")
        }
        Response::Screenshot { output, path, width, height } => {
            format!("{output}, {width}x{height} pixels: {}\n", path.display())
        }
    }
}

/// Headings of the tables, for their explanations. A heading that starts with a space is that of a right-aligned column.
pub(super) const CLIENT_COLUMNS: [&str; 5] = ["  pid", "program", "sandbox", " objects", "closest to its limits"];
pub(super) const WORKSPACE_COLUMNS: [&str; 5] = ["output", " workspace", "seen", "layout", "windows"];
pub(super) const LAYER_COLUMNS: [&str; 6] = ["namespace", "  pid", "output", "level", "at", "size"];
pub(super) const CADENCE_COLUMNS: [&str; 9] =
    ["", " fps", " drops/s", " hitches/s", " drops", " late: client", " compositor", " display", " by choice"];
pub(super) const LENGTH_COLUMNS: [&str; 6] = ["milliseconds", "", " p50", " p99", " max", " frames"];

/// How many kinds of resources are printed for a client: the kinds in which it came closest to its limits.
const USES_TOLD: usize = 3;

fn clients_table(clients: &[ClientUse]) -> TextTable {
    let mut table = TextTable::new(&CLIENT_COLUMNS);
    for client in clients {
        let mut uses: Vec<_> = client.uses.iter().collect();
        uses.sort_by(|a, b| b.fraction().total_cmp(&a.fraction()));
        let shown = uses.iter().take(USES_TOLD);
        let shown: Vec<_> = shown.map(|one| format!("{} of {} {}", one.most_used, one.bound, one.kind)).collect();
        table.row(vec![
            client.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            printable(&client.name),
            client.sandbox.as_deref().map_or_else(|| "-".to_owned(), printable),
            client.objects.to_string(),
            shown.join(", "),
        ]);
    }
    table
}

fn ended_text(ended: &[EndedClient], bugs: u32) -> String {
    let heading = if ended.is_empty() { "" } else { "\nended of late:\n" };
    let line = |EndedClient { pid, name, reason, times, ago }: &EndedClient| {
        let times = if *times > 1 { format!(", {times} times in a row") } else { String::new() };
        format!("{:>9} s ago: {} (pid {pid}){times}: {}\n", seconds(*ago), printable(name), printable(reason))
    };
    let bugs = (bugs > 0)
        .then(|| format!("{bugs} panics were caught, and each ended a client: the log has them; please report them\n"));
    iter::once(heading.to_owned()).chain(ended.iter().map(line)).chain(bugs).collect()
}

fn workspaces_table(workspaces: &[WorkspaceInfo]) -> TextTable {
    let mut table = TextTable::new(&WORKSPACE_COLUMNS);
    for WorkspaceInfo { output, number, name, active, layout, urgent, windows } in workspaces {
        let windows: Vec<String> = windows.iter().map(|window| window.0.to_string()).collect();
        let seen = format!("{}{}", if *active { "yes" } else { "no" }, if *urgent { ", urgent" } else { "" });
        let own = name.as_deref().map_or_else(|| number.to_string(), printable);
        let layout = match layout {
            WorkspaceLayout::Floating => "floating",
            WorkspaceLayout::Strip => "strip",
        };
        table.row(vec![output.clone(), own, seen, layout.to_owned(), windows.join(", ")]);
    }
    table
}

fn layers_table(layers: &[LayerInfo]) -> TextTable {
    let mut table = TextTable::new(&LAYER_COLUMNS);
    for LayerInfo { namespace, pid, output, level, geometry } in layers {
        table.row(vec![
            printable(namespace),
            pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            output.clone(),
            level.to_string(),
            format!("{},{}", geometry.x, geometry.y),
            format!("{}x{}", geometry.width, geometry.height),
        ]);
    }
    table
}

fn layouts_text(keyboard: &KeyboardLayouts) -> String {
    let line = |(number, name): (u32, &String)| {
        let used = if number == keyboard.active { "  in use" } else { "" };
        format!("{number} {}{used}\n", printable(name))
    };
    (0..).zip(&keyboard.layouts).map(line).collect()
}

/// Two tables: how steadily frames come, and how long things take.
fn stats_text(outputs: &[OutputStats], windows: &[WindowStats]) -> String {
    let mut steadiness = TextTable::new(&CADENCE_COLUMNS);
    let mut lengths = TextTable::new(&LENGTH_COLUMNS);
    for output in outputs {
        steadiness.row(cadence_row(output.output.clone(), &output.cadence));
        for (what, summary) in
            [("compose", output.compose), ("woke late", output.wake), ("latch→light", output.latch_to_light)]
        {
            lengths.row(summary_row(output.output.clone(), what, summary));
        }
    }
    for window in windows {
        let name = format!("{} ({})", window.window, printable(&window.app_id));
        steadiness.row(cadence_row(name.clone(), &window.cadence));
        for (what, summary) in [
            ("input→light", window.input_to_light),
            ("callback→light", window.callback_to_light),
            ("commit→light", window.commit_to_light),
        ] {
            lengths.row(summary_row(name.clone(), what, summary));
        }
    }
    format!("{steadiness}\n{lengths}")
}

fn cadence_row(name: String, cadence: &CadenceStats) -> Vec<String> {
    vec![
        name,
        format!("{:.1}", cadence.frames.per_second),
        format!("{:.2}", cadence.drops.per_second),
        format!("{:.2}", cadence.hitches.per_second),
        cadence.drops.total.to_string(),
        cadence.misses.client.to_string(),
        cadence.misses.compositor.to_string(),
        cadence.misses.display.to_string(),
        cadence.misses.policy.to_string(),
    ]
}

fn summary_row(name: String, what: &str, summary: Option<DistributionSummary>) -> Vec<String> {
    vec![
        name,
        what.to_owned(),
        optional(summary.map(|summary| summary.p50)),
        optional(summary.map(|summary| summary.p99)),
        optional(summary.map(|summary| summary.max)),
        summary.map_or(0, |summary| summary.samples).to_string(),
    ]
}

fn seconds(span: Span) -> String {
    format!("{:.3}", span.as_seconds_f64())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use upbeat_record::ipc::message::{Frequency, LogicalRect, OutputOrWindow, WindowInfo, WindowLayout};
    use upbeat_timing::id::{ClientId, WindowId};
    use upbeat_timing::pacing::{ClientClass, Pacing, PacingWish};
    use upbeat_timing::record::{Blame, BlameCounts};

    fn summary(p50: i64, p99: i64, max: i64) -> Option<DistributionSummary> {
        let us = Span::from_micros;
        Some(DistributionSummary { p50: us(p50), p99: us(p99), max: us(max), samples: 100 })
    }

    #[test]
    fn control_characters_in_client_names_are_not_printed() {
        let text = windows_text(&[window(1, "\u{1b}]0;owned\u{7}\u{9b}2J")]);
        assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text:?}");
        assert!(text.contains("owned"));
    }

    #[test]
    fn control_characters_from_clients_are_escaped_everywhere() {
        let bad = "\u{1b}]0;owned\u{7}\u{9b}2J\u{7f}";
        let titled = WindowInfo { title: bad.to_owned(), tag: Some(bad.to_owned()), ..window(1, bad) };
        let miss = Miss {
            target: OutputOrWindow::Window(WindowId(1)),
            refresh: 1,
            ago: Span::ZERO,
            blame: Blame::Client,
            sentence: format!("window 1 ({bad}) missed refresh 1."),
        };
        let is_harmless = |text: &str| !text.chars().any(|letter| letter.is_control() && letter != '\n');
        for response in [Response::Windows { windows: vec![titled] }, Response::WhyLate { misses: vec![miss] }] {
            let (text, json) = (render(&response), escaped(&serde_json::to_string_pretty(&response).unwrap()));
            assert!(is_harmless(&text) && text.contains("owned"), "{text:?}");
            assert!(is_harmless(&json), "{json:?}");
            // Nothing is lost in the conversion.
            assert_eq!(serde_json::from_str::<Response>(&json).unwrap(), response);
        }
    }

    fn window(number: u32, app_id: &str) -> WindowInfo {
        WindowInfo {
            window: WindowId(number),
            client: ClientId(1),
            pid: Some(77),
            app_id: app_id.to_owned(),
            title: "title".to_owned(),
            tag: (number == 12).then(|| "places".to_owned()),
            content: (number == 12).then(|| "photo".to_owned()),
            geometry: LogicalRect::default(),
            focused: number == 1,
            urgent: false,
            minimised: false,
            visible: number == 1,
            output: Some("HEADLESS-1".to_owned()),
            workspace: None,
            layout: WindowLayout::default(),
            workspace_name: None,
            class: ClientClass::Draws,
            slope: Some(0.98),
            wish: PacingWish::Auto,
            pacing: Pacing::JustInTime,
            reason: "it draws after its callback and fits one period".to_owned(),
            early_callbacks: (number == 12).then(|| "not proven: nothing moves in it".to_owned()),
            budget: Some(Span::from_micros(3_100)),
            cost: summary(2_010, 2_500, 4_000),
            cpu: None,
            slack_periods: 0,
        }
    }

    #[test]
    fn windows_are_a_table_and_the_reasons_sentences() {
        let response = Response::Windows { windows: vec![window(1, "foot"), window(12, "org.gnome.Nautilus")] };
        expect![[r#"
            window  app                 output      workspace  class  slope  asked  paced         budget  cost p50   p99  cpu p50  p99  slack  state
                 1  foot                HEADLESS-1          -  draws   0.98  auto   just-in-time    3.10      2.01  2.50        -    -      0  focused, floating
                12  org.gnome.Nautilus  HEADLESS-1          -  draws   0.98  auto   just-in-time    3.10      2.01  2.50        -    -      0  hidden, floating, photo, places

            window 1, "title": it draws after its callback and fits one period
            window 12, "title": it draws after its callback and fits one period; early callbacks not proven: nothing moves in it
        "#]].assert_eq(&render(&response));
    }

    #[test]
    fn statistics_and_misses_read_well() {
        let cadence = CadenceStats {
            frames: Frequency { per_second: 59.94, total: 600 },
            drops: Frequency { per_second: 0.1, total: 1 },
            hitches: Frequency { per_second: 0.1, total: 1 },
            misses: BlameCounts { client: 1, ..Default::default() },
        };
        let outputs = vec![OutputStats {
            output: "HEADLESS-1".to_owned(),
            cadence,
            compose: summary(300, 900, 1_200),
            wake: summary(20, 90, 400),
            latch_to_light: summary(2_000, 2_100, 18_000),
        }];
        let windows = vec![WindowStats {
            window: WindowId(1),
            app_id: "foot".to_owned(),
            cadence,
            input_to_light: None,
            callback_to_light: summary(4_200, 5_100, 21_000),
            commit_to_light: summary(2_100, 2_900, 19_000),
        }];
        let misses = vec![Miss {
            target: OutputOrWindow::Window(WindowId(1)),
            refresh: 1234,
            ago: Span::from_millis(1_250),
            blame: Blame::Client,
            sentence: "window 1 (foot) missed refresh 1234: it took 9.1 ms of the 6.2 ms budgeted.".to_owned(),
        }];
        let text = render(&Response::Stats { outputs, windows }) + &render(&Response::WhyLate { misses });
        expect![[r#"
                              fps  drops/s  hitches/s  drops  late: client  compositor  display  by choice
            HEADLESS-1       59.9     0.10       0.10      1             1           0        0          0
            window 1 (foot)  59.9     0.10       0.10      1             1           0        0          0

            milliseconds                      p50   p99    max  frames
            HEADLESS-1       compose         0.30  0.90   1.20     100
            HEADLESS-1       woke late       0.02  0.09   0.40     100
            HEADLESS-1       latch→light     2.00  2.10  18.00     100
            window 1 (foot)  input→light        -     -      -       0
            window 1 (foot)  callback→light  4.20  5.10  21.00     100
            window 1 (foot)  commit→light    2.10  2.90  19.00     100
                1.250 s ago: window 1 (foot) missed refresh 1234: it took 9.1 ms of the 6.2 ms budgeted.
        "#]]
        .assert_eq(&text);
    }
}
