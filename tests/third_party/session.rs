//! A session, headless or nested in another compositor, and the programs in it.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::picture::ScreenPicture;
use super::pointer::TestVirtualPointer;

/// Timeout for an expected event; long, since programs start slowly on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two polls.
const NAP: Duration = Duration::from_millis(200);
/// Seconds that a program runs after a click, unless `UPBEAT_THIRD_PARTY_SECONDS` is set.
const SECONDS: u64 = 1;
/// Name of the socket; it needs no number, because each session has a directory of its own.
const SOCKET: &str = "wayland-third-party";
/// Socket of the parent compositor of a nested session.
const PARENT_SOCKET: &str = "wayland-parent";
/// The name that sway chooses in an empty directory.
const SWAY_SOCKET: &str = "wayland-1";
/// Name of the configuration file.
const CONFIGURATION: &str = "config.toml";
/// User id for programs that refuse to run as root.
const NOBODY: u32 = 65534;
/// libwayland's message about a client that ended with unread events, or was disconnected.
const UNREAD: &str = "error in client communication";
/// Signs of a protocol error in libwayland's messages and debug output.
const ERRORS: [&str; 5] = ["wl_display@1.error(", "wl_display#1.error(", UNREAD, "Protocol error", "panicked at"];

/// The parent compositor of a nested session.
#[derive(Clone, Copy, Debug)]
pub enum ParentCompositor {
    /// With a kiosk shell, which gives the session its whole screen.
    Weston,
    /// With tiling: it reports no presentation for the first frames of a window.
    Sway,
    Upbeat,
    /// An X server with a screen in memory, without a window manager.
    Xvfb,
}

pub struct ThirdPartySession {
    name: String,
    extent: (u32, u32),
    runtime: tempfile::TempDir,
    /// Directory for pictures and logs.
    folder: PathBuf,
    compositor: Child,
    parent: Option<(Child, tempfile::TempDir)>,
    programs: Vec<(String, Child)>,
    pointer: Option<TestVirtualPointer>,
    /// Capture of the screen without windows.
    empty: Option<ScreenPicture>,
    /// All programs have ended by themselves.
    is_left: bool,
    /// Process ids of programs that ran to their end and succeeded.
    content: RefCell<Vec<u32>>,
}

/// Whether `program` is installed. If not, prints its Debian package; under `CI=true` that is a failure.
pub fn installed(program: &str, package: &str) -> bool {
    let found = is_there(program);
    if !found {
        let message = format!("{program} is not installed; it is in the Debian package {package}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
        eprintln!("skipped: {message}");
    }
    found
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Directory for the pictures and logs of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("third_party").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// File with a program's output and its protocol log.
fn log_of(folder: &Path, program: &str) -> PathBuf {
    let name = Path::new(program).file_name().unwrap().to_str().unwrap();
    folder.join(format!("{name}.log"))
}

fn upbeat(backend: &str, (width, height): (u32, u32), folder: &Path, runtime: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_upbeat"));
    command
        .args(["--backend", backend, "--socket", SOCKET, "--output", &format!("{width}x{height}@60")])
        .arg("--frame-log")
        .arg(folder.join("frames.jsonl"))
        .env("XDG_RUNTIME_DIR", runtime)
        .stderr(File::create(folder.join("compositor.log")).unwrap())
        .stdin(Stdio::null());
    command
}

/// The display number of an X server, which prints it when it is ready.
fn display_number(server: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    format!(":{}", line.trim())
}

impl ParentCompositor {
    /// Command line of the parent, with a screen that has room for a session of this size. A Wayland compositor listens
    /// on [`socket`](Self::socket).
    fn command(self, (width, height): (u32, u32), runtime: &Path) -> Command {
        let mut command;
        match self {
            ParentCompositor::Weston => {
                command = Command::new("weston");
                command.args([
                    "--backend=headless",
                    "--renderer=pixman",
                    "--shell=kiosk",
                    "--no-config",
                    "--idle-time=0",
                ]);
                command.args([format!("--width={width}"), format!("--height={height}")]);
                command.arg(format!("--socket={PARENT_SOCKET}"));
            }
            ParentCompositor::Xvfb => {
                command = Command::new("Xvfb");
                command.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", &format!("{width}x{height}x24")]);
            }
            ParentCompositor::Sway => {
                command = unprivileged_command("sway");
                let config =
                    format!("default_border none\nxwayland disable\noutput * mode --custom {width}x{height}@60Hz\n");
                let path = runtime.join("config");
                fs::write(&path, config).unwrap();
                command.arg("--config").arg(path);
                command.envs([
                    ("WLR_BACKENDS", "headless"),
                    ("WLR_RENDERER", "pixman"),
                    ("WLR_LIBINPUT_NO_DEVICES", "1"),
                ]);
            }
            ParentCompositor::Upbeat => {
                command = Command::new(env!("CARGO_BIN_EXE_upbeat"));
                command.args(["--backend", "headless", "--socket", PARENT_SOCKET]);
                command.args(["--output", &format!("{width}x{height}@60")]);
            }
        }
        command.env("XDG_RUNTIME_DIR", runtime).env_remove("WAYLAND_DISPLAY").stdin(Stdio::null());
        command
    }

    /// Its socket; `None` for an X server, which prints a display number.
    fn socket(self, runtime: &Path) -> Option<PathBuf> {
        match self {
            ParentCompositor::Weston | ParentCompositor::Upbeat => Some(runtime.join(PARENT_SOCKET)),
            ParentCompositor::Sway => Some(runtime.join(SWAY_SOCKET)),
            ParentCompositor::Xvfb => None,
        }
    }

    /// A runtime directory, owned by the user that runs the parent.
    fn runtime(self) -> tempfile::TempDir {
        let runtime = tempfile::tempdir().unwrap();
        if matches!(self, ParentCompositor::Sway) && rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(runtime.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        runtime
    }
}

/// Command for a program that refuses to run as root.
fn unprivileged_command(program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]).args(["--clear-groups", program]);
    command
}

impl ThirdPartySession {
    /// A session with one output of this size. `UPBEAT_RENDERER` is used if the test does not choose a renderer.
    pub fn start(name: &str, extent: (u32, u32), renderer: Option<&str>) -> Self {
        let chosen = std::env::var("UPBEAT_RENDERER").ok();
        let renderer = renderer.or(chosen.as_deref()).map(|renderer| format!("--renderer={renderer}"));
        let (folder, runtime) = (folder(name), tempfile::tempdir().unwrap());
        let mut command = upbeat("headless", extent, &folder, runtime.path());
        let compositor = command.args(renderer).spawn().unwrap();
        Self::new(name, extent, folder, runtime, compositor, None)
    }

    /// A session with one output of this size and a configuration file with this text.
    pub fn start_configured(name: &str, extent: (u32, u32), text: &str) -> Self {
        let (folder, runtime) = (folder(name), tempfile::tempdir().unwrap());
        let config = runtime.path().join(CONFIGURATION);
        fs::write(&config, text).unwrap();
        let mut command = upbeat("headless", extent, &folder, runtime.path());
        let compositor = command.arg("--config").arg(config).spawn().unwrap();
        Self::new(name, extent, folder, runtime, compositor, None)
    }

    /// Replaces the configuration file, which the session reads again by itself or when it is told to.
    pub fn configure(&self, text: &str) {
        fs::write(self.path(CONFIGURATION), text).unwrap();
    }

    /// A session nested in another compositor.
    pub fn start_in(parent: ParentCompositor, name: &str, extent: (u32, u32)) -> Self {
        Self::start_in_with(parent, name, extent, &[])
    }

    /// A nested session with more command-line options.
    pub fn start_in_with(parent: ParentCompositor, name: &str, extent: (u32, u32), options: &[&str]) -> Self {
        let (folder, runtime, parents) = (folder(name), tempfile::tempdir().unwrap(), parent.runtime());
        let mut command = parent.command(extent, parents.path());
        command.stdout(Stdio::piped()).stderr(File::create(folder.join("parent.log")).unwrap());
        let mut outer = command.spawn().unwrap();
        let socket = parent.socket(parents.path());
        let (variable, value) = match &socket {
            None => ("DISPLAY", display_number(&mut outer)),
            Some(socket) => ("WAYLAND_DISPLAY", socket.to_str().unwrap().to_owned()),
        };
        let started = Instant::now();
        while socket.as_ref().is_some_and(|socket| !socket.exists()) {
            assert!(
                started.elapsed() < PATIENCE,
                "{name}: waited too long for the parent compositor; see {}",
                folder.display()
            );
            std::thread::sleep(NAP);
        }
        let mut command = upbeat("nested", extent, &folder, runtime.path());
        let compositor = command.args(options).env_remove("WAYLAND_DISPLAY").env(variable, value).spawn().unwrap();
        Self::new(name, extent, folder, runtime, compositor, Some((outer, parents)))
    }

    fn new(
        name: &str,
        extent: (u32, u32),
        folder: PathBuf,
        runtime: tempfile::TempDir,
        compositor: Child,
        parent: Option<(Child, tempfile::TempDir)>,
    ) -> Self {
        let session = ThirdPartySession {
            name: name.to_owned(),
            extent,
            runtime,
            folder,
            compositor,
            parent,
            programs: Vec::new(),
            pointer: None,
            empty: None,
            is_left: false,
            content: RefCell::default(),
        };
        session.wait("the socket", || session.socket().exists().then_some(()));
        session
    }

    fn socket(&self) -> PathBuf {
        self.runtime.path().join(SOCKET)
    }

    pub fn pid(&self) -> u32 {
        self.compositor.id()
    }

    /// Polls `look` until it returns a value.
    #[track_caller]
    pub fn wait<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "{}: waited too long for {what}; see {}",
                self.name,
                self.folder.display()
            );
            std::thread::sleep(NAP);
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("XDG_RUNTIME_DIR", self.runtime.path()).env("WAYLAND_DISPLAY", SOCKET).env_remove("DISPLAY");
        command.env("GDK_BACKEND", "wayland").env("DBUS_SESSION_BUS_ADDRESS", "disabled:").stdin(Stdio::null());
        command
    }

    /// Starts a program with a protocol log in its log file.
    pub fn spawn(&mut self, words: &[&str]) {
        self.start_program(words, &[("WAYLAND_DEBUG", "1")]);
    }

    /// Starts a program with a protocol log and more environment variables.
    pub fn spawn_in(&mut self, words: &[&str], environment: &[(&str, &str)]) {
        self.start_program(words, &[&[("WAYLAND_DEBUG", "1")], environment].concat());
    }

    /// A path in the session's runtime directory, which is removed at its end.
    pub fn path(&self, name: &str) -> PathBuf {
        self.runtime.path().join(name)
    }

    /// The socket for `upbeat msg` and scripts.
    pub fn private_socket(&self) -> String {
        self.path(&format!("{SOCKET}.upbeat.sock")).to_str().unwrap().to_owned()
    }

    /// The log file of a program.
    pub fn log(&self, name: &str) -> PathBuf {
        log_of(&self.folder, name)
    }

    /// Runs a program until it ends, asserts its success and returns its output.
    #[track_caller]
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.finish(self.command(words[0]).args(&words[1..]));
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a program until it ends; returns whether it succeeded.
    pub fn succeeds(&self, words: &[&str]) -> bool {
        self.finish(self.command(words[0]).args(&words[1..])).status.success()
    }

    /// Runs a command until it ends, and remembers its process id if it succeeded.
    fn finish(&self, command: &mut Command) -> Output {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let process = child.id();
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            self.content.borrow_mut().push(process);
        }
        output
    }

    /// Starts a program without a protocol log, because writing the log takes several times as long as a small frame.
    pub fn spawn_quietly(&mut self, words: &[&str]) {
        self.start_program(words, &[]);
    }

    fn start_program(&mut self, words: &[&str], environment: &[(&str, &str)]) {
        if self.empty.is_none() && is_there("grim") {
            self.empty = Some(self.picture("empty"));
        }
        let log = File::create(log_of(&self.folder, words[0])).unwrap();
        let child = self
            .command(words[0])
            .args(&words[1..])
            .envs(environment.iter().copied())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.programs.push((words[0].to_owned(), child));
    }

    /// Captures the screen with grim, and saves the picture in the test's directory.
    pub fn picture(&self, name: &str) -> ScreenPicture {
        let output = self.finish(self.command("grim").args(["-t", "ppm", "-"]));
        assert!(output.status.success(), "grim: {}", String::from_utf8_lossy(&output.stderr));
        fs::write(self.folder.join(format!("{name}.ppm")), &output.stdout).unwrap();
        ScreenPicture::from_ppm(&output.stdout, self.empty.as_ref())
    }

    /// Captures the screen until a picture is as expected.
    #[track_caller]
    pub fn wait_for_picture(&self, name: &str, expected: impl Fn(&ScreenPicture) -> bool) -> ScreenPicture {
        self.wait(&format!("picture {name}"), || Some(self.picture(name)).filter(|picture| expected(picture)))
    }

    pub fn click(&mut self, x: u32, y: u32) {
        let (socket, extent) = (self.socket(), self.extent);
        self.pointer.get_or_insert_with(|| TestVirtualPointer::connect(&socket, extent)).click(x, y);
    }

    pub fn drag(&mut self, from: (u32, u32), to: (u32, u32)) {
        let (socket, extent) = (self.socket(), self.extent);
        self.pointer.get_or_insert_with(|| TestVirtualPointer::connect(&socket, extent)).drag(from, to);
    }

    pub fn type_text(&self, text: &str) {
        let output = self.finish(self.command("wtype").arg(text));
        assert!(output.status.success(), "wtype: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Lets the programs run for the configured time.
    pub fn linger(&self) {
        let seconds = std::env::var("UPBEAT_THIRD_PARTY_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
        std::thread::sleep(Duration::from_secs(seconds.unwrap_or(SECONDS)));
    }

    /// Waits until the only window has this client class.
    pub fn wait_for_class(&self, class: &str) {
        let found = || {
            let text = self.message(&["windows"]);
            fs::write(self.folder.join("windows.json"), &text).unwrap();
            text.contains(&format!("\"class\": \"{class}\"")).then_some(())
        };
        self.wait(&format!("class {class}"), found);
    }

    /// The JSON answer to `upbeat msg`.
    pub fn message(&self, words: &[&str]) -> String {
        let mut command = self.command(env!("CARGO_BIN_EXE_upbeat"));
        let output = command.args(["msg", "--json"]).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Output and protocol log of a program.
    pub fn traffic(&self, program: &str) -> String {
        String::from_utf8_lossy(&fs::read(log_of(&self.folder, program)).unwrap()).into_owned()
    }

    /// Asserts that the compositor and all programs are running.
    pub fn assert_all_running(&mut self) {
        let compositor = self.compositor.try_wait().unwrap();
        assert!(compositor.is_none(), "{}: the compositor ended: {compositor:?}", self.name);
        for (name, program) in &mut self.programs {
            let ended = program.try_wait().unwrap();
            assert!(ended.is_none(), "{name} ended: {ended:?}; see {}", self.folder.display());
        }
    }

    /// Ends a program with a signal.
    pub fn signal(&mut self, program: &str, signal: rustix::process::Signal) {
        let place = self.programs.iter().position(|(name, _)| name == program).unwrap();
        let (_, mut child) = self.programs.remove(place);
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
    }

    /// Waits until all programs have ended; asserts their success.
    #[track_caller]
    pub fn wait_for_exits(&mut self) {
        let started = Instant::now();
        for (name, program) in &mut self.programs {
            let ended = loop {
                if let Some(ended) = program.try_wait().unwrap() {
                    break ended;
                }
                assert!(started.elapsed() < PATIENCE, "waited too long for {name} to end");
                std::thread::sleep(NAP);
            };
            assert!(ended.success(), "{name} ended: {ended}; see {}", self.folder.display());
        }
        self.is_left = true;
    }

    /// Asserts that no log has a protocol error, and ends the session.
    pub fn end(self) {
        for entry in fs::read_dir(&self.folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "log") {
                let log = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                let is_error = |line: &&str| ERRORS.iter().any(|error| line.contains(error));
                // A client may exit with unread events; libwayland logs this as an error all the same.
                let is_content =
                    |line: &str| self.content.borrow().iter().any(|process| line.contains(&format!("(pid {process})")));
                let is_unread = |line: &str| line.contains(UNREAD) && (self.is_left || is_content(line));
                let error = log.lines().filter(is_error).find(|line| !is_unread(line));
                assert_eq!(error, None, "in {}", path.display());
            }
        }
    }

    fn stop(&mut self) {
        self.pointer = None;
        for (_, program) in &mut self.programs {
            let _ = program.kill();
            let _ = program.wait();
        }
        let _ = self.compositor.kill();
        let _ = self.compositor.wait();
        if let Some((mut parent, _)) = self.parent.take() {
            let _ = parent.kill();
            let _ = parent.wait();
        }
    }
}

impl Drop for ThirdPartySession {
    fn drop(&mut self) {
        self.stop();
    }
}
