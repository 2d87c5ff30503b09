//! `upbeat bench`: measure a session from outside.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};

use upbeat_bench::animations::{self, AnimationOptions, WindowsOptions};
use upbeat_bench::client::{ClientOptions, run_companion, run_with_others};
use upbeat_bench::ink::{self, InkOptions, SheetOptions};
use upbeat_bench::interrupt::{self, InterruptOptions, OverviewOptions, PlayerOptions};
use upbeat_bench::latency::LatencyOptions;
use upbeat_bench::report::{BenchReport, table};
use upbeat_bench::scroll::{self, PageOptions, ScrollBenchOptions};
use upbeat_bench::smoothness::{self, GameOptions, SmoothnessOptions};

#[derive(Debug, Args)]
pub(super) struct BenchArguments {
    #[command(subcommand)]
    bench: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Compare the pacings with the same client and the same costs, each in a headless session of its own.
    Latency {
        #[command(flatten)]
        options: LatencyOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Play an animation with heavy frames, once with vsync and once ahead, each in a headless session of its own.
    Smoothness {
        #[command(flatten)]
        options: SmoothnessOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Open, resize and close windows on a slow renderer, with frames rendered ahead and without.
    Animations {
        #[command(flatten)]
        options: AnimationOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Client of `animations`: open its windows in the session at WAYLAND_DISPLAY and print both sides' processor time
    /// as JSON.
    Windows {
        #[command(flatten)]
        options: WindowsOptions,
    },
    /// Press a key while an animation is drawn just in time, ahead, and ahead with a queue that cannot be changed.
    Interrupt {
        #[command(flatten)]
        options: InterruptOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Scroll a long document: moved by the compositor, by its client with a viewport, and rendered in each frame.
    Scroll {
        #[command(flatten)]
        options: ScrollBenchOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
        /// Also write the JSON to FILE.
        #[arg(long, value_name = "FILE")]
        report: Option<PathBuf>,
    },
    /// Client of `scroll`: show its document in the session at WAYLAND_DISPLAY, scroll, and print the costs as JSON.
    Scroller {
        #[command(flatten)]
        options: PageOptions,
    },
    /// Client of `interrupt`: play its animation in the session at WAYLAND_DISPLAY, press a key, and print the delay as
    /// JSON.
    Player {
        #[command(flatten)]
        options: PlayerOptions,
    },
    /// Open two windows, press a key that opens and closes the overview, and print the times as JSON.
    Overview {
        #[command(flatten)]
        options: OverviewOptions,
    },
    /// Draw ink under a moving pen in every mode, each in a headless session of its own; figures come from recorded
    /// pixels.
    Ink {
        #[command(flatten)]
        options: InkOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Client of `ink`: draw in the session at WAYLAND_DISPLAY, and print the strokes as JSON.
    Sheet {
        #[command(flatten)]
        options: SheetOptions,
    },
    /// Client of `smoothness`: play its animation in the session at WAYLAND_DISPLAY and print the shown frames as JSON.
    Game {
        #[command(flatten)]
        options: GameOptions,
    },
    /// Client of `latency`: measure the session at WAYLAND_DISPLAY, of this or any other compositor.
    Probe {
        #[command(flatten)]
        options: Box<ClientOptions>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
}

impl BenchArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let program = std::env::current_exe().context("this program's own path")?;
        let (report, json) = match self.bench {
            BenchCommand::Latency { options, json } => {
                (options.run(&program, |run| eprintln!("measuring {run}"))?, json)
            }
            BenchCommand::Smoothness { options, json } => {
                let report = options.run(&program, |run| eprintln!("measuring {run}"))?;
                if json {
                    println!("{}", serde_json::to_string(&report)?);
                } else {
                    print!("{}", smoothness::table(&report.runs));
                }
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Animations { options, json } => {
                let report = options.run(&program, |run| eprintln!("measuring {run}"))?;
                if json {
                    println!("{}", serde_json::to_string(&report)?);
                } else {
                    print!("{}", animations::table(&report.runs));
                }
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Windows { options } => {
                println!("{}", serde_json::to_string(&animations::run(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Interrupt { options, json } => {
                let report = options.run(&program, |run| eprintln!("measuring {run}"))?;
                if json {
                    println!("{}", serde_json::to_string(&report)?);
                } else {
                    print!("{}", interrupt::table(&report.runs));
                }
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Ink { options, json } => {
                let report = options.run(&program, |run| eprintln!("measuring {run}"))?;
                if json {
                    println!("{}", serde_json::to_string(&report)?);
                } else {
                    print!("{}", ink::table(&report.runs));
                }
                return Ok(report.ended_early.map_or(ExitCode::SUCCESS, |why| {
                    eprintln!("there are not all figures: {why}");
                    ExitCode::FAILURE
                }));
            }
            BenchCommand::Sheet { options } => {
                println!("{}", serde_json::to_string(&ink::run(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Scroll { options, json, report: file } => {
                let report = options.run(&program, |run| eprintln!("measuring {run}"))?;
                let text = serde_json::to_string(&report)?;
                if let Some(file) = file {
                    std::fs::write(&file, &text).with_context(|| file.display().to_string())?;
                }
                if json {
                    println!("{text}");
                } else {
                    print!("{}", scroll::table(&report.runs));
                }
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Scroller { options } => {
                println!("{}", serde_json::to_string(&scroll::run(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Player { options } => {
                println!("{}", serde_json::to_string(&interrupt::run(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Overview { options } => {
                println!("{}", serde_json::to_string(&interrupt::run_overview(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Game { options } => {
                println!("{}", serde_json::to_string(&smoothness::run(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Probe { options, .. } if options.companion.is_some() => {
                println!("{}", serde_json::to_string(&run_companion(&options)?)?);
                return Ok(ExitCode::SUCCESS);
            }
            BenchCommand::Probe { options, json } => {
                let others = || {
                    let mut command = Command::new(&program);
                    command.args(["bench", "probe"]);
                    command
                };
                (BenchReport { runs: vec![run_with_others(&options, others)?] }, json)
            }
        };
        if json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            print!("{}", table(&report.runs));
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::config::Config;
    use upbeat_timing::pacing::PacingWish;

    #[derive(clap::Parser)]
    struct BenchCommandLine {
        #[command(subcommand)]
        bench: BenchCommand,
    }

    fn bench(line: &[&str]) -> BenchCommand {
        BenchCommandLine::try_parse_from([&["bench"], line].concat()).unwrap_or_else(|error| panic!("{error}")).bench
    }

    fn read(configurations: Vec<String>) -> Vec<Config> {
        assert!(!configurations.is_empty());
        let read = |text: &String| toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        configurations.iter().map(read).collect()
    }

    #[test]
    fn sessions_understand_the_configurations_of_all_benchmarks() {
        let shapes = <upbeat_bench::shape::ClientShape as clap::ValueEnum>::value_variants();
        for shape in shapes.iter().map(ToString::to_string) {
            let line = ["latency", "--miss-budget", "0.1,5", "--pacing", "just-in-time", "--shape", &shape];
            let BenchCommand::Latency { options, .. } = bench(&line) else { panic!("{line:?}") };
            let configurations = read(options.configurations());
            assert!(configurations.iter().all(|config| config.pacing == PacingWish::JustInTime), "{shape}");
        }
        read(InkOptions::configurations());
        let BenchCommand::Animations { options, .. } = bench(&["animations"]) else { panic!("another benchmark") };
        for (config, frames) in read(options.configurations()).iter().zip(&options.frames_ahead) {
            assert_eq!(config.animations.frames_ahead.frames(), *frames);
            assert!(config.animations.enabled && !config.reduced_motion);
        }
        let line = ["interrupt", "--own", "--backend", "drm", "--size", "640x480"];
        let BenchCommand::Interrupt { options, .. } = bench(&line) else { panic!("{line:?}") };
        let configurations = read(options.configurations());
        for config in &configurations {
            assert!(config.output("Virtual-1", None).mode.is_some_and(|mode| (mode.width, mode.height) == (640, 480)));
            assert_eq!(config.animations.frames_ahead.frames(), options.ahead);
        }
        assert!(configurations.iter().any(|config| !config.animations.supersede), "one answer queues");
    }
}
