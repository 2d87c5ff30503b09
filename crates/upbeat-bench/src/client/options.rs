//! The probe's command line, and the same options as arguments for the other windows.

use std::ffi::OsString;
use std::path::PathBuf;

use super::input::WINDOW;
use super::personality::ProbeKind;
use crate::load::ClientLoad;
use upbeat_timing::time::Span;

/// The first display device.
pub const DEVICE: &str = "/dev/dri/card0";

/// Requests of a flooding client
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FloodKind {
    /// Commits that change nothing: the shortest request there is, 8 bytes, so that the most of them fit into a read
    Commits,
    /// New content with each commit, without waiting for a callback or for the buffer's release
    Frames,
}

impl FloodKind {
    /// The kinds of flood alternate.
    pub(super) const fn of(number: u32) -> Self {
        if number.is_multiple_of(2) { FloodKind::Commits } else { FloodKind::Frames }
    }

    /// Commits in a batch: under 3 KB, so that libwayland's buffer of 4 KB never overflows between two flushes.
    pub(super) const fn batch(self) -> u64 {
        match self {
            FloodKind::Commits => 320,
            FloodKind::Frames => 50,
        }
    }
}

/// Content, duration and input of a probe.
#[derive(Clone, Debug, clap::Args)]
pub struct ClientOptions {
    /// Kind of program that the client imitates
    #[arg(long, value_enum, default_value_t = ProbeKind::Draws)]
    pub kind: ProbeKind,
    /// Cost of a frame: `flat[:MS[:NOISE]]`, `heavy[:MEDIAN_MS:P95_MS]`, or a CSV trace
    #[arg(long, default_value = "flat")]
    pub load: ClientLoad,
    /// Seed of the costs and of the times of the inputs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How long to measure, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    pub duration: f64,
    /// Measure this many frames instead
    #[arg(long, conflicts_with = "duration")]
    pub frames: Option<u32>,
    /// How long to draw before measuring, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub warm_up: f64,
    /// Keep a pointer button pressed during the run: the window is interacted with
    #[arg(long)]
    pub hold: bool,
    /// Inject no pointer input
    #[arg(long, conflicts_with = "hold")]
    pub no_input: bool,
    /// Mean number of injected inputs per second; the gaps are random between half and one and a half of the mean
    #[arg(long, value_name = "PER_SECOND", default_value_t = 30.0, value_parser = rate)]
    pub input_rate: f64,
    /// Windows in all, each in its own process
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub windows: u32,
    /// Cost of a frame of the other windows
    #[arg(long, value_name = "LOAD", default_value = "flat:0.5")]
    pub others_load: ClientLoad,
    /// Further clients that send requests as fast as the compositor reads them
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub flood: u32,
    /// Further windows that do nothing, opened before the measured one
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub idle_windows: u32,
    /// How many of these windows each client has
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub idle_per_client: u32,
    /// The window's size: the smallest, or larger. Each frame changes all of it
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value_t = ProbeWindowSize(WINDOW), conflicts_with = "gpu")]
    pub size: ProbeWindowSize,
    /// Buffers of the window
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub buffers: u32,
    /// Make a buffer only when none is free, as toolkits do
    #[arg(long)]
    pub on_demand: bool,
    /// Share of a frame's cost that another process works for, while this process waits: 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub elsewhere: f64,
    /// Share of a frame's cost that a GPU works for once the frame is committed: 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share, conflicts_with = "elsewhere")]
    pub gpu: f64,
    /// The display device whose memory and timelines stand for the GPU's
    #[arg(long, value_name = "NODE", default_value = DEVICE)]
    pub device: PathBuf,
    /// Further windows that draw for a moment, request one more callback and then stop
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub idle: u32,
    /// Leave the title bar and the edge of the window to the compositor
    #[arg(long)]
    pub leave_decoration: bool,
    /// Rate of a client with its own clock, in hertz
    #[arg(long, value_name = "HZ", default_value_t = 50.0, value_parser = rate)]
    pub own_hz: f64,
    /// The window's application id
    #[arg(long, default_value = "upbeat-probe")]
    pub app_id: String,
    /// Process id of the compositor, when it is not the process at the other end of the socket
    #[arg(long, value_name = "PID")]
    pub compositor_pid: Option<u32>,
    /// A label for the report: the pacing, or the compositor's settings
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Internal: write the injected inputs and the presented frames to this file
    #[arg(long, hide = true, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Internal: be one of the flooding clients, until stdin closes
    #[arg(long, hide = true, value_enum, requires = "companion")]
    pub flooding: Option<FloodKind>,
    /// Internal: draw this many frames and then nothing
    #[arg(long, hide = true, value_name = "COUNT", requires = "companion")]
    pub fall_silent: Option<u32>,
    /// Internal: be this many windows that do nothing, until stdin closes
    #[arg(long, hide = true, value_name = "COUNT", requires = "companion")]
    pub resting: Option<u32>,
    /// Internal: be the other window of this number, until stdin closes
    #[arg(long, hide = true, value_name = "NUMBER")]
    pub companion: Option<u32>,
}

impl ClientOptions {
    /// The arguments that make another probe the other window of this number.
    pub(super) fn companion_arguments(&self, number: u32) -> Vec<OsString> {
        let pairs = [
            ("--companion", number.to_string()),
            ("--kind", ProbeKind::Draws.to_string()),
            ("--load", self.others_load.to_string()),
            ("--seed", self.seed.wrapping_add(u64::from(number)).to_string()),
            ("--buffers", self.buffers.to_string()),
            ("--app-id", format!("{}-{number}", self.app_id)),
        ];
        let words = pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        words.chain(["--no-input".to_owned()]).map(OsString::from).collect()
    }

    /// The arguments that make another probe the flooding client of this number.
    pub(super) fn flooder_arguments(&self, number: u32) -> Vec<OsString> {
        let flood = clap::ValueEnum::to_possible_value(&FloodKind::of(number));
        let flood = flood.map_or(String::new(), |value| value.get_name().to_owned());
        let mut arguments = self.companion_arguments(self.windows + number);
        arguments.extend(["--flooding".to_owned(), flood].map(OsString::from));
        arguments
    }

    /// The arguments that make another probe the idle window of this number, which stops drawing after a moment.
    pub(super) fn idle_arguments(&self, number: u32) -> Vec<OsString> {
        let mut arguments = self.companion_arguments(self.windows + self.flood + number);
        arguments.extend(["--fall-silent".to_owned(), IDLE_AFTER.to_string()].map(OsString::from));
        arguments
    }

    /// The arguments that make another probe all the windows of this run that do nothing.
    pub(super) fn resting_arguments(&self) -> Vec<OsString> {
        let mut arguments = self.companion_arguments(self.windows + self.flood);
        let (count, each) = (self.idle_windows.to_string(), self.idle_per_client.to_string());
        let words = ["--resting".to_owned(), count, "--idle-per-client".to_owned(), each];
        let decorated = self.leave_decoration.then(|| "--leave-decoration".to_owned());
        arguments.extend(words.into_iter().chain(decorated).map(OsString::from));
        arguments
    }

    pub(super) fn warm_up(&self) -> Span {
        Span::from_millis_f64(self.warm_up * 1e3)
    }

    /// The measured time; [`Span::MAX`] when frames are counted instead.
    pub(super) fn duration(&self) -> Span {
        if self.frames.is_some() { Span::MAX } else { Span::from_millis_f64(self.duration * 1e3) }
    }
}

/// Width and height of the window in pixels: at least [`WINDOW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeWindowSize(pub(super) (usize, usize));

impl std::fmt::Display for ProbeWindowSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.0.0, self.0.1)
    }
}

impl std::str::FromStr for ProbeWindowSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = |number: &str| number.parse::<u16>().ok().map(usize::from);
        let size = text.split_once('x').and_then(|(width, height)| Some((read(width)?, read(height)?)));
        let size = size.filter(|(width, height)| *width >= WINDOW.0 && *height >= WINDOW.1);
        size.map(ProbeWindowSize)
            .ok_or_else(|| format!("a width and a height of at least {} are wanted", ProbeWindowSize(WINDOW)))
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        use clap::{Args as _, FromArgMatches as _};
        let matches = Self::augment_args(clap::Command::new("probe")).get_matches_from(["probe"]);
        #[expect(clippy::expect_used, reason = "every argument has a default, so no argument at all is a valid line")]
        Self::from_arg_matches(&matches).expect("defaults")
    }
}

/// Frames that an idle window draws before it stops: enough for the compositor to classify the client.
const IDLE_AFTER: u32 = 60;
/// Longest run, as a guard against wrong units: a day.
const LONGEST_SECONDS: f64 = 86_400.0;
/// Highest rate of inputs or of a client's own clock.
const FASTEST_HZ: f64 = 10_000.0;

fn seconds(text: &str) -> Result<f64, String> {
    in_range(text, 0.0, LONGEST_SECONDS, "seconds")
}

fn share(text: &str) -> Result<f64, String> {
    in_range(text, 0.0, 1.0, "a share")
}

fn rate(text: &str) -> Result<f64, String> {
    in_range(text, 0.1, FASTEST_HZ, "times per second")
}

fn in_range(text: &str, least: f64, most: f64, unit: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("expected a number from {least} to {most} ({unit})")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct ProbeCommandLine {
        #[command(flatten)]
        options: ClientOptions,
    }

    #[test]
    fn another_window_understands_the_arguments_it_is_given() {
        let options = ClientOptions { seed: 5, ..ClientOptions::default() };
        let arguments = std::iter::once("probe".into()).chain(options.companion_arguments(3));
        let other = ProbeCommandLine::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}")).options;
        assert_eq!(other.companion, Some(3));
        assert_eq!(other.seed, 8);
        assert_eq!(other.load.to_string(), "flat:0.5");
        assert!(other.no_input && !other.hold);
        let arguments = std::iter::once("probe".into()).chain(options.flooder_arguments(1));
        let flooder = ProbeCommandLine::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}")).options;
        assert_eq!(flooder.flooding, Some(FloodKind::Frames));
    }

    #[test]
    fn invalid_values_are_rejected_with_a_reason() {
        for (argument, value, needle) in [
            ("--duration", "-1", "a number from 0"),
            ("--load", "heavie", "neither flat, heavy"),
            ("--own-hz", "0", "times per second"),
            ("--windows", "0", "not in 1.."),
            ("--size", "100x600", "at least 320x240"),
            ("--size", "800", "at least 320x240"),
        ] {
            let message = ProbeCommandLine::try_parse_from(["probe".to_owned(), format!("{argument}={value}")])
                .err()
                .unwrap()
                .to_string();
            assert!(message.contains(needle), "{argument} {value}: {message}");
        }
    }
}
