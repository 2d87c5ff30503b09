//! Vulkan programs on a CPU driver, with the layer in `examples/vulkan`: each frame is bound to a refresh, and the
//! calls of `VK_GOOGLE_display_timing` are answered.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::session::{TestSession, wait};

/// Mesa's CPU driver for Vulkan.
const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
pub const FRAMES: u32 = 120;
/// A refresh at 60 Hz, in nanoseconds.
const REFRESH: u32 = 16_666_667;

/// A temporary directory with the built layer and sample.
struct Built {
    directory: tempfile::TempDir,
}

impl Built {
    /// Builds the layer and the sample with the system's tools; `None` if tools are missing (`./up test` installs
    /// them).
    fn build() -> Option<Built> {
        let has = |program: &str| {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        let libraries = ["wayland-protocols", "wayland-client", "vulkan"];
        let found = Command::new("pkg-config").arg("--exists").args(libraries).status();
        let is_there = Path::new(LAVAPIPE).exists() && found.is_ok_and(|status| status.success());
        if !is_there || !["cc", "make", "wayland-scanner"].into_iter().all(has) {
            eprintln!("skipped: cc, make, libvulkan-dev, mesa-vulkan-drivers and wayland-protocols are needed");
            return None;
        }
        let built = Built { directory: tempfile::tempdir().unwrap() };
        let layers = built.path("data/vulkan/implicit_layer.d");
        std::fs::create_dir_all(&layers).unwrap();
        let make = Command::new("make")
            .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/vulkan")])
            .arg(format!("OUT={}", built.path("out").display()))
            .args(["all", "install"])
            .env("XDG_DATA_HOME", built.path("data"))
            .env("CFLAGS", "-O2 -Wall -Wextra -Werror")
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(make.success(), "examples/vulkan does not build");
        Some(built)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs a program in a session until it ends, with or without the layer; returns its output and the layer's.
    fn run(&self, session: &TestSession, has_layer: bool, program: &Path, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("XDG_RUNTIME_DIR", session.directory.path())
            .env("WAYLAND_DISPLAY", "test")
            .env("XDG_DATA_HOME", self.path("data"))
            .env("VK_ICD_FILENAMES", LAVAPIPE)
            .env("ENABLE_UPBEAT_LAYER", if has_layer { "1" } else { "0" })
            .env("UPBEAT_LAYER_TELL", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", program.display());
        said
    }
}

/// The numbers of the line that begins with `start`.
fn numbers(said: &str, start: &str) -> Vec<u32> {
    let line = said.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{said}"));
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn unmodified_program_with_the_layer_binds_frames_to_refreshes() {
    let Some(built) = Built::build() else { return };
    let Ok(cube) = which("vkcube-wayland") else {
        eprintln!("skipped: vulkan-tools is needed");
        return;
    };
    let log = built.path("frames.jsonl");
    let session = TestSession::start(&["--output", "640x480", "--frame-log", log.to_str().unwrap()]);
    let said = built.run(&session, true, &cube, &["--c", &FRAMES.to_string()]);
    // "120 presents, 119 bound, 117 seen, 110 of them at their refresh, 1 discarded, 16666667 ns a refresh"
    let [presents, bound, seen, _, _, refresh] = numbers(&said, "upbeat layer: ")[..] else { panic!("{said}") };
    assert_eq!((presents, refresh), (FRAMES, REFRESH), "{said}");
    // The first frame is presented before the layer knows the timing, and the last few frames end with the window.
    assert!(bound >= FRAMES - 2 && seen > 0, "{said}");
    wait("frames ahead in the log", || {
        std::fs::read_to_string(&log).ok()?.contains(r#""pacing":"ahead""#).then_some(())
    });
    let said = built.run(&session, false, &cube, &["--c", "10"]);
    assert!(!said.contains("upbeat layer"), "the layer is disabled: {said}");
}

/// Counts of a program that uses `VK_GOOGLE_display_timing`, of [`FRAMES`] frames.
pub struct DisplayTimingCounts {
    /// Frames drawn for a predicted time.
    pub predicted: u32,
    /// Frames whose presentation time the program received.
    pub told: u32,
    /// Frames presented two refreshes after the frame before, as the program asked.
    pub apart: u32,
}

/// Runs the program with the layer and without it; `None` if it cannot be built.
pub fn timed() -> Option<DisplayTimingCounts> {
    let built = Built::build()?;
    let costs = built.path("costs.csv");
    let rows: String = (0..FRAMES).map(|frame| format!("{frame},1.0,0.5\n")).collect();
    std::fs::write(&costs, format!("frame,cpu_ms,gpu_ms\n{rows}")).unwrap();
    let session = TestSession::start(&["--output", "640x480"]);
    let run = |has_layer, every| {
        let arguments = [costs.to_str().unwrap(), "0", every];
        let said = built.run(&session, has_layer, &built.path("out/sample"), &arguments);
        // "119 drawn for a moment that was predicted, 115 told of, 115 of them at their distance, 16666667 ns a refresh"
        let line = said.lines().find(|line| line.contains("was predicted")).unwrap_or_else(|| panic!("{said}"));
        let [predicted, told, apart, refresh] = numbers(line, "")[..] else { panic!("{said}") };
        (predicted, told, apart, refresh)
    };
    let (predicted, told, apart, refresh) = run(true, "2");
    assert_eq!(refresh, REFRESH);
    assert_eq!(run(false, "2"), (0, 0, 0, 0));
    Some(DisplayTimingCounts { predicted, told, apart })
}

#[test]
fn display_timing_reports_presentation_times_and_honours_desired_times() {
    let Some(DisplayTimingCounts { predicted, told, apart }) = timed() else { return };
    assert!(predicted >= FRAMES - 2 && told > 0 && apart <= told, "{predicted} {told} {apart}");
}

/// Path of a program, searched in `PATH`.
fn which(name: &str) -> Result<PathBuf, std::env::VarError> {
    let path = std::env::var("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.exists());
    found.ok_or(std::env::VarError::NotPresent)
}
