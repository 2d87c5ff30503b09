//! A running session, and programs in it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use tempfile::TempDir;
use upbeat_record::ipc::message::{Request, Response, Window, WindowStats};
use upbeat_record::ipc::{Client, ClientError};

/// Until something that has to happen has happened: far longer than it takes on any machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);

pub struct Session {
    pub directory: TempDir,
    process: Child,
    /// Asks; connected when the session is up.
    pub client: Client,
}

/// A program in a session. It ends with this value.
pub struct Program {
    process: Child,
    says: BufReader<ChildStdout>,
    /// Each line that was read, for a test that waits in vain.
    said: Vec<String>,
}

/// The binary, told to make a session in `directory`.
pub fn upbeat(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_upbeat"));
    command.args(arguments).env("XDG_RUNTIME_DIR", directory).env("XDG_CONFIG_HOME", directory);
    command.env_remove("WAYLAND_DISPLAY").env_remove("DISPLAY").env_remove("UPBEAT_SOCKET").stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn run(arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    upbeat(directory.path(), arguments).output().unwrap()
}

/// Returns once `done` gives something.
#[track_caller]
pub fn wait<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = done() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(STEP);
    }
}

/// Whether there is something to read in a moment.
fn readable(pipe: &ChildStdout) -> bool {
    let step = rustix::event::Timespec::try_from(STEP).unwrap();
    let mut pipes = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut pipes, Some(&step)).is_ok_and(|ready| ready > 0)
}

impl Session {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), arguments)
    }

    /// Drawn by Pixman where nobody says who draws: the same on every machine.
    pub fn start_in(directory: TempDir, arguments: &[&str]) -> Self {
        Self::running(directory, arguments, &[])
    }

    /// The same with a program inside, whose end ends it.
    pub fn running(directory: TempDir, arguments: &[&str], program: &[&str]) -> Self {
        let drawn_by = ["--renderer", "pixman"];
        let drawn_by = if arguments.contains(&drawn_by[0]) { &[][..] } else { &drawn_by };
        let mut command = upbeat(directory.path(), drawn_by);
        command.args(arguments).args(["--socket", "test"]);
        if !program.is_empty() {
            command.arg("--").args(program);
        }
        let process = command.spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the session", || Client::connect(&path).ok());
        Session { directory, process, client }
    }

    /// One that logs all that it can, to `log`.
    pub fn logging_to(log: impl Into<Stdio>, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = upbeat(directory.path(), &["--renderer", "pixman", "--socket", "test"]);
        let process = command.args(arguments).env("UPBEAT_LOG", "trace").stderr(log).spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the session", || Client::connect(&path).ok());
        Session { directory, process, client }
    }

    /// One that is told more by its environment.
    pub fn told(environment: &[(&str, &Path)], arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = upbeat(directory.path(), &["--renderer", "pixman", "--socket", "test"]);
        let process = command.args(arguments).envs(environment.iter().copied()).spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the session", || Client::connect(&path).ok());
        Session { directory, process, client }
    }

    /// A session in a window of `parent`. What it complains of is in its file `stderr`.
    pub fn nested_in(parent: &Session, arguments: &[&str]) -> Self {
        Self::nested_in_directory(tempfile::tempdir().unwrap(), parent, arguments)
    }

    pub fn nested_in_directory(directory: TempDir, parent: &Session, arguments: &[&str]) -> Self {
        let complaints = std::fs::File::create(directory.path().join("stderr")).unwrap();
        let mut command = upbeat(directory.path(), arguments);
        command.args(["--socket", "test"]).env("WAYLAND_DISPLAY", parent.path("test")).stderr(complaints);
        let process = command.spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the nested session", || Client::connect(&path).ok());
        Session { directory, process, client }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts a client that plays `role`, and waits until it has been shown, if it says so.
    pub fn program(&self, role: &str) -> Program {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "client_program", "--nocapture", "--test-threads=1"])
            .env("XDG_RUNTIME_DIR", self.directory.path())
            .env("WAYLAND_DISPLAY", "test")
            .env(super::client::VARIABLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let says = BufReader::new(process.stdout.take().unwrap());
        Program { process, says, said: Vec::new() }
    }

    /// The same, once it has been shown.
    pub fn shown(&self, role: &str) -> Program {
        let mut program = self.program(role);
        program.wait_for("shown");
        program
    }

    /// What `upbeat msg` says to these words, as a person would type them.
    pub fn msg(&self, words: &[&str]) -> Output {
        let socket = self.path("test.upbeat.sock");
        let mut arguments = vec!["msg", "--socket", socket.to_str().unwrap()];
        arguments.extend(words);
        upbeat(self.directory.path(), &arguments).output().unwrap()
    }

    #[track_caller]
    pub fn ask(&mut self, request: Request) -> Response {
        self.client.ask(request).unwrap()
    }

    #[track_caller]
    pub fn refused(&mut self, request: Request) -> String {
        match self.client.ask(request) {
            Err(ClientError::Refused(sentence)) => sentence,
            other => panic!("should have been refused: {other:?}"),
        }
    }

    #[track_caller]
    pub fn windows(&mut self) -> Vec<Window> {
        let Response::Windows { windows } = self.ask(Request::Windows) else { panic!() };
        windows
    }

    #[track_caller]
    pub fn window(&mut self, app_id: &str) -> Window {
        self.windows().into_iter().find(|window| window.app_id == app_id).expect("its window")
    }

    #[track_caller]
    pub fn statistics(&mut self, app_id: &str) -> WindowStats {
        let Response::Stats { windows, .. } = self.ask(Request::Stats) else { panic!() };
        windows.into_iter().find(|window| window.app_id == app_id).expect("its window")
    }

    /// How many frames of `app_id` reached light.
    #[track_caller]
    pub fn frames(&mut self, app_id: &str) -> u64 {
        self.statistics(app_id).cadence.frames.total
    }

    /// `app_id` goes on: it shows more frames than it had.
    #[track_caller]
    pub fn goes_on(&mut self, app_id: &str) {
        let before = self.frames(app_id);
        wait("new frames", || (self.frames(app_id) >= before + 10).then_some(()));
    }

    /// A picture of an output: width, height and its pixels as `0xRRGGBB`.
    #[track_caller]
    pub fn picture(&mut self, output: Option<&str>) -> (u32, u32, Vec<u32>) {
        let path = self.path("picture.png");
        let request = Request::Screenshot { output: output.map(str::to_owned), path: path.clone() };
        // Before its first light an output is dark, and says so.
        let response = wait("a picture", || self.client.ask(request.clone()).ok());
        let Response::Screenshot { width, height, .. } = response else { panic!() };
        let file = BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (width, height));
        let pixels = bytes.chunks_exact(3).map(|rgb| u32::from_be_bytes([0, rgb[0], rgb[1], rgb[2]])).collect();
        (width, height, pixels)
    }

    /// Ends it with `upbeat msg quit`.
    pub fn quit(mut self) -> (ExitStatus, TempDir) {
        self.ask(Request::Quit);
        let status = wait("the session to end", || self.process.try_wait().unwrap());
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        (status, directory)
    }

    /// Waits until it has ended by itself; what it complained of.
    #[track_caller]
    pub fn end_of_nested(&mut self) -> (ExitStatus, String) {
        let status = wait("the session to end", || self.process.try_wait().unwrap());
        (status, std::fs::read_to_string(self.path("stderr")).unwrap())
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.process), signal).unwrap();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Program {
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Reads what it says until it says `word`.
    #[track_caller]
    pub fn wait_for(&mut self, word: &str) {
        let start = Instant::now();
        while self.next_line(word, start + PATIENCE).is_none_or(|line| line != word) {}
    }

    /// The next line that it says by `deadline`; `None` if it says nothing for a moment.
    #[track_caller]
    fn next_line(&mut self, word: &str, deadline: Instant) -> Option<&str> {
        let said = &self.said;
        assert!(Instant::now() < deadline, "waited too long for {word:?}; the client said {said:?}");
        if self.says.buffer().is_empty() && !readable(self.says.get_ref()) {
            return None;
        }
        let mut line = String::new();
        let length = self.says.read_line(&mut line).unwrap();
        assert_ne!(length, 0, "the client ended without saying {word:?}; it said {said:?}");
        self.said.push(line.trim().to_owned());
        self.said.last().map(String::as_str)
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn wait_for_its_end(mut self) {
        wait("the client to end", || self.process.try_wait().unwrap());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
