//! The report of a probe run, for programs (JSON) and for people (a table).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::pixels::PixelCheck;
use crate::statistics::{Quantiles, format_quantiles};

/// All the runs of a bench, as `--json` prints them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    pub runs: Vec<RunReport>,
}

/// How the window was interacted with during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// No input at all, or the compositor offers no virtual pointer.
    #[default]
    None,
    /// The pointer moved over the window: the client runs freely.
    Free,
    /// The pointer moved over the window with a button held down.
    Held,
}

/// One run: one measured window, and the windows behind it.
///
/// Times are in milliseconds; figures that could not be measured are `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    pub load: String,
    /// The pacing or the compositor's setting: a label from the caller.
    pub pacing: Option<String>,
    /// The compositor's process name.
    pub compositor: Option<String>,
    /// The client's personality: when it draws and commits.
    pub kind: String,
    /// Seed of the costs and of the inputs' times.
    pub seed: u64,
    /// Windows that were drawing, including the measured window.
    pub windows: u32,
    /// Further windows that did nothing.
    #[serde(default)]
    pub idle_windows: u32,
    pub interaction: Interaction,
    /// The display's refresh rate, from presentation feedback, else from the output's mode.
    pub refresh_hz: Option<f64>,
    /// Where the refresh counts come from: `sequence` or, where the compositor reports none, `time`.
    pub drops_from: String,
    /// From the first to the last presented frame.
    pub seconds: f64,
    /// Frames that were presented.
    pub frames: u64,
    /// Frames that the compositor discarded for a newer frame.
    pub discarded: u64,
    /// Injected inputs that a presented frame contains.
    pub inputs: u64,
    /// Presented frames per second.
    pub fps: f64,
    /// Refreshes in which the window owed the display a frame and got nothing new there, per second.
    pub drops_per_s: f64,
    /// Gaps between presented frames of more than 1.26 refresh intervals, per second.
    pub hitches_per_s: f64,
    /// From the injection of an input to the light of the first frame with it.
    pub input_to_light_ms: Option<Quantiles>,
    /// Input→light from recorded pixels, of a verifying run with the same costs and inputs. That run is separate,
    /// because recording costs the compositor time.
    pub input_to_light_pixels_ms: Option<Quantiles>,
    /// Whether the recorded pixels and the presentation times agreed in that run.
    pub pixels: Option<PixelCheck>,
    /// From the arrival of a frame's callback at the client to the frame's light.
    pub callback_to_light_ms: Option<Quantiles>,
    /// From the beginning of the frame's drawing to its light: how old the content is.
    pub content_to_light_ms: Option<Quantiles>,
    /// From the commit to the light.
    pub commit_to_light_ms: Option<Quantiles>,
    /// From the arrival of the frame callback to the commit.
    pub callback_to_commit_ms: Option<Quantiles>,
    /// Cost of the frames as set by the load.
    pub cost_ms: Option<Quantiles>,
    /// CPU time of the compositor for each presented frame of the window.
    pub compositor_cpu_ms_per_frame: Option<f64>,
    /// Wake-ups of the compositor's threads for each refresh.
    pub compositor_wakeups_per_refresh: Option<f64>,
    /// The compositor's scheduling class.
    pub compositor_scheduling: Option<String>,
    /// The client's scheduling class.
    pub scheduling: Option<String>,
    /// Frame callbacks at which the client had no free buffer, counted from its first frame on.
    #[serde(default)]
    pub starved: u64,
    /// Commits per second of the flooding clients; null if there were none.
    #[serde(default)]
    pub flood_commits_per_s: Option<f64>,
    /// The host's noise: 99th percentile of how late a sleeping thread was woken.
    pub sentinel_wake_p99_ms: Option<f64>,
    /// The host's noise: the latest wake-up.
    pub sentinel_wake_max_ms: Option<f64>,
    /// The windows behind this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RunReport>,
}

/// A text table of the runs, one line each; `-` where nothing was measured.
pub fn table(runs: &[RunReport]) -> String {
    let mut rows = vec![
        [
            "compositor",
            "pacing",
            "load",
            "windows",
            "input",
            "fps",
            "drops/s",
            "hitches/s",
            "input→light",
            "in pixels",
            "pixels≠",
            "callback→light",
            "commit→light",
            "cpu/frame",
            "wakes",
            "noise p99",
            "class",
        ]
        .map(str::to_owned),
    ];
    rows.extend(runs.iter().map(cells));
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::from(
        "latencies: p50/p99/max in ms; noise: wake-up of a sleeping thread, ms; pixels≠: frames of a verifying run \
         of which recorded pixels and wp_presentation say different things, of all\n",
    );
    for row in rows {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    text
}

fn cells(run: &RunReport) -> [String; 17] {
    let optional = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
    let interaction = match run.interaction {
        Interaction::None => "none",
        Interaction::Free => "free",
        Interaction::Held => "held",
    };
    [
        run.compositor.clone().unwrap_or("-".into()),
        run.pacing.clone().unwrap_or("-".into()),
        run.load.clone(),
        match run.idle_windows {
            0 => run.windows.to_string(),
            idle => format!("{} +{idle} idle", run.windows),
        },
        interaction.into(),
        format!("{:.1}", run.fps),
        format!("{:.2}", run.drops_per_s),
        format!("{:.2}", run.hitches_per_s),
        format_quantiles(run.input_to_light_ms),
        format_quantiles(run.input_to_light_pixels_ms),
        run.pixels.map_or("-".into(), |check| format!("{}/{}", check.disagree, check.frames)),
        format_quantiles(run.callback_to_light_ms),
        format_quantiles(run.commit_to_light_ms),
        optional(run.compositor_cpu_ms_per_frame, 2),
        optional(run.compositor_wakeups_per_refresh, 1),
        optional(run.sentinel_wake_p99_ms, 3),
        run.compositor_scheduling.clone().or(run.scheduling.clone()).unwrap_or("-".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunReport {
        RunReport {
            load: "flat".into(),
            kind: "draws".into(),
            windows: 1,
            refresh_hz: Some(60.0),
            fps: 60.0,
            callback_to_light_ms: Some(Quantiles { p50: 4.5, p99: 5.25, max: 6.0 }),
            ..RunReport::default()
        }
    }

    #[test]
    fn the_json_has_the_promised_keys_and_reads_back() {
        let report = BenchReport { runs: vec![run()] };
        let json = serde_json::to_string(&report).unwrap();
        for key in ["load", "pacing", "windows", "refresh_hz", "drops_per_s", "fps", "sentinel_wake_p99_ms"] {
            assert!(json.contains(&format!("\"{key}\":")), "{key}");
        }
        assert!(json.contains(r#""callback_to_light_ms":{"p50":4.5,"p99":5.25,"max":6.0}"#));
        assert!(json.contains(r#""input_to_light_ms":null"#));
        assert_eq!(serde_json::from_str::<BenchReport>(&json).unwrap(), report);
    }

    #[test]
    fn the_table_aligns_and_says_dash_for_nothing() {
        let text = table(&[run(), RunReport { load: "heavy:6:20".into(), ..run() }]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        let column = |line: &str, word: &str| line.split(word).next().map(|before| before.chars().count());
        assert_eq!(column(lines[1], "callback→light"), column(lines[2], "4.5/5.2"));
        assert!(lines[2].contains(" - "));
    }
}
