//! The runs of `upbeat bench scroll`: the same input with each way to scroll, each in its own session.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::course::{ScrollCourse, ScrollInput};
use super::figures::ScrollRun;
use super::options::ScrollMode;
use super::recorded_rows;
use super::scroller::FIRST;
use crate::run::{BenchError, SessionBackend, SessionFolder, output_records};
use upbeat_timing::record::FrameRecord;
use upbeat_timing::time::{Instant, Span};

/// Dimensions to compare: every combination is a run.
#[derive(Clone, Debug, clap::Args)]
pub struct ScrollBenchOptions {
    /// Inputs: speeds in pixels per second (up if negative), `wheel`, `touch=FILE`, `touchpad=FILE`; the files are
    /// recordings
    #[arg(long, value_name = "INPUT", value_delimiter = ',', allow_hyphen_values = true,
          default_values = ["100", "1000", "5000", "wheel"])]
    pub input: Vec<ScrollInput>,
    /// Ways to scroll: `view`, `viewport`, `frames`
    #[arg(long, value_enum, value_name = "MODE", value_delimiter = ',',
          default_values_t = [ScrollMode::View, ScrollMode::Viewport, ScrollMode::Frames])]
    pub mode: Vec<ScrollMode>,
    /// Distance from the view's near edge to the end of the content rendered ahead, in lengths of the view
    #[arg(long, value_name = "VIEWS", value_delimiter = ',', default_values_t = [1.5, 2.0, 2.5])]
    pub n: Vec<f64>,
    /// How long each run scrolls
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Seconds of rest after each second at a constant speed
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub pause: f64,
    /// Time to render one window, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 4.0)]
    pub cost: f64,
    /// Show the document at the fingers' last report, without prediction. With `--record` and a speed: also measure its
    /// age
    #[arg(long)]
    pub unpredicted: bool,
    /// Scroll right and left instead of down and up
    #[arg(long)]
    pub across: bool,
    /// Record the output and count blank rows. Recording costs time, so the drops of such a run mean nothing
    #[arg(long)]
    pub record: bool,
    /// Give the virtual display overlay planes, which show the client's buffers without a copy
    #[arg(long)]
    pub planes: bool,
    /// Backend of the sessions
    #[arg(long, value_enum, default_value_t)]
    pub backend: SessionBackend,
    /// Size of the display
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720")]
    pub size: String,
    /// Refresh rate of the display
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    pub refresh: f64,
    /// Renderer of the compositor
    #[arg(long, value_name = "NAME")]
    pub renderer: Option<String>,
}

/// Overlay planes with `--planes`: more than the tiles that a view shows at once, and as many as the virtual display can
/// have.
const OVERLAY_PLANES: u32 = 8;

#[derive(Clone, Debug, Default, Serialize)]
pub struct ScrollReport {
    /// In the order of execution.
    pub runs: Vec<ScrollRun>,
}

impl ScrollBenchOptions {
    /// Makes every run, one after another; `progress` is called before each.
    ///
    /// # Errors
    /// If a session cannot be started, or ends without figures.
    pub fn run(&self, upbeat: &Path, mut progress: impl FnMut(&str)) -> Result<ScrollReport, BenchError> {
        let folder = SessionFolder::create(upbeat)?;
        let mut report = ScrollReport::default();
        for input in &self.input {
            for mode in &self.mode {
                let all: &[f64] = if *mode == ScrollMode::Frames { &[1.0] } else { &self.n };
                for n in all {
                    let title = format!("{input}, {}, N = {n}", mode.name());
                    progress(&title);
                    report.runs.push(self.session(input, *mode, *n, &title, &folder)?);
                }
            }
        }
        Ok(report)
    }

    fn session(
        &self,
        input: &ScrollInput,
        mode: ScrollMode,
        n: f64,
        title: &str,
        folder: &SessionFolder,
    ) -> Result<ScrollRun, BenchError> {
        let ahead = (n - 1.0).clamp(0.1, 4.0);
        let config = format!(
            "pacing = \"auto\"\nreduced-motion = true\n[scroll]\nviews = true\nbudget = 40.0\nahead = {ahead:?}\n"
        );
        let (log, film) = (folder.path("frames.ndjson"), folder.path("film"));
        let _ = std::fs::remove_file(&log);
        let session =
            folder.session(title, &format!("{}@{}", self.size, self.refresh), &config)?.with_backend(self.backend);
        let mut session = session.with_option("--frame-log", &log);
        if let Some(renderer) = &self.renderer {
            session = session.with_option("--renderer", renderer);
        }
        if self.planes {
            session = session.with_option("--overlay-planes", OVERLAY_PLANES.to_string());
        }
        if self.record {
            session = session.with_option("--record-stream", &film);
        }
        let pairs = [
            ("--mode", mode.name().to_owned()),
            ("--input", input.to_string()),
            ("--seconds", self.seconds.to_string()),
            ("--pause", self.pause.to_string()),
            ("--cost", self.cost.to_string()),
            ("--n", n.to_string()),
            ("--predicts", (!self.unpredicted).to_string()),
            ("--across", self.across.to_string()),
        ];
        let pairs = pairs.into_iter().map(|(name, value)| format!("{name}={value}"));
        let mut run: ScrollRun = session.run("scroller", pairs)?;
        let records = output_records(log)?;
        run.count_drops(&records);
        run.note_composed(&records);
        run.note_refresh(self.refresh);
        run.is_on_planes = self.planes;
        run.refresh_hz = self.refresh;
        run.pause_s = self.pause;
        if let Some((from, to)) = run.moving.first().zip(run.moving.last()).filter(|_| self.record) {
            let pixels = |source| BenchError::Pixels { run: title.to_owned(), source };
            let seen = recorded_rows::read(&film, from.0, to.1, self.across).map_err(pixels)?;
            (run.blank_rows, run.pictures) = (Some(seen.blank), seen.pictures);
            if let Some(launched) = run.launched {
                run.note_first_screen(launched, seen.first_whole);
            }
            if matches!(input, ScrollInput::Speed(_) | ScrollInput::Touchpad(_)) {
                self.note_pixels(&mut run, input, &seen.tops, &records);
            }
        }
        Ok(run)
    }
}

impl ScrollBenchOptions {
    fn note_pixels(&self, run: &mut ScrollRun, input: &ScrollInput, tops: &[(Instant, i64)], records: &[FrameRecord]) {
        let span = |seconds: f64| Span::from_nanos((seconds * 1e9) as i64);
        let Ok(course) = ScrollCourse::of(input, span(self.seconds), span(self.pause), (0, 0)) else { return };
        let Some(began) = run.moving.first().and_then(|(moves, _)| course.began(*moves)) else { return };
        let tops: Vec<_> = tops.iter().map(|(at, row)| (*at, (*row - FIRST) as f64)).collect();
        let reports: Vec<_> = course.reports().map(|(at, gone)| (began + at, gone)).collect();
        run.note_error(&tops, &reports);
        if self.unpredicted && matches!(input, ScrollInput::Speed(_)) {
            run.note_age(&tops, &reports, records);
        }
    }
}

/// A text table of the runs, one line each.
pub fn table(runs: &[ScrollRun]) -> String {
    let mut text = String::from(
        "input        mode        N  frames/s  formula  commits/s  render ms  wake-ups/frame  client ms/screen  \
         compositor ms/screen  drops/s  stalls  blank    MB\n",
    );
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    for run in runs {
        let _ = writeln!(
            text,
            "{:<12} {:<9} {:>3.1} {:>9.2} {:>8} {:>10.1} {:>10.1} {:>15.1} {:>17.2} {:>21} {:>8.2} {:>7} {:>6} {:>5.1}",
            run.input.rsplit('/').next().unwrap_or_default(),
            run.mode,
            run.n,
            run.client_fps,
            number(run.formula_fps),
            run.commits_per_s,
            run.render_ms,
            run.client_wakeups_per_frame,
            run.client_cpu_ms_per_screen,
            number(run.compositor_cpu_ms_per_screen),
            run.drops_per_s,
            run.stalls,
            run.blank_rows.map_or_else(|| "-".to_owned(), |rows| rows.to_string()),
            run.buffer_megabytes,
        );
    }
    text.push_str(
        "\ninput        mode        N  first screen ms  render ahead ms  screens  refreshes  MB ahead  behind  spare  \
         composed  wake-ups/s\n",
    );
    for run in runs {
        let _ = writeln!(
            text,
            "{:<12} {:<9} {:>3.1} {:>16} {:>16} {:>8} {:>10} {:>9.2} {:>7.2} {:>6.2} {:>9} {:>11}",
            run.input.rsplit('/').next().unwrap_or_default(),
            run.mode,
            run.n,
            number(run.first_screen_ms),
            number(run.extended_render_ms),
            number(run.extended_render_screens),
            number(run.extended_render_refreshes),
            run.ahead_megabytes,
            run.behind_megabytes,
            run.spare_megabytes,
            run.composed_part.map_or_else(|| "-".to_owned(), |part| format!("{:.0} %", part * 100.0)),
            number(run.compositor_wakeups_per_s),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::options::PageOptions;
    use super::*;

    #[derive(clap::Parser)]
    struct ScrollCommandLine {
        #[command(flatten)]
        options: ScrollBenchOptions,
    }

    #[derive(clap::Parser)]
    struct ScrollerArgs {
        #[command(flatten)]
        options: PageOptions,
    }

    #[test]
    fn the_client_knows_every_mode_and_input() {
        let options = ScrollCommandLine::try_parse_from(["bench", "--input=-100,wheel"])
            .map_err(|error| error.to_string())
            .unwrap()
            .options;
        for (mode, input) in options.mode.iter().flat_map(|mode| options.input.iter().map(move |input| (mode, input))) {
            let line = ["scroller".to_owned(), format!("--mode={}", mode.name()), format!("--input={input}")];
            let page = ScrollerArgs::try_parse_from(line).map_err(|error| error.to_string()).unwrap().options;
            assert_eq!((page.mode, &page.input), (*mode, input));
        }
    }
}
