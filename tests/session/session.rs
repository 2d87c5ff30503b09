//! A running session, and programs in it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use tempfile::TempDir;
use upbeat_record::ipc::message::{Request, Response, WindowInfo, WindowStats};
use upbeat_record::ipc::{IpcClient, IpcClientError};

/// Timeout for an expected event: far longer than it takes on any machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);

pub struct TestSession {
    pub directory: TempDir,
    process: Child,
    /// A connection to the private socket, open since the session was up.
    pub client: IpcClient,
}

/// A client process in a session. It is killed on drop.
pub struct ClientProcess {
    process: Child,
    says: BufReader<ChildStdout>,
    /// Lines read so far, for the message of a test that times out.
    said: Vec<String>,
}

/// The command of the binary, with `directory` as its runtime directory.
pub fn upbeat(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_upbeat"));
    command.args(arguments).env("XDG_RUNTIME_DIR", directory).env("XDG_CONFIG_HOME", directory);
    command.env_remove("WAYLAND_DISPLAY").env_remove("DISPLAY").env_remove("UPBEAT_SOCKET").stdin(Stdio::null());
    command
}

/// Runs the binary until it ends.
pub fn run(arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    upbeat(directory.path(), arguments).output().unwrap()
}

/// Polls `done` until it returns a value.
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

/// Whether the pipe becomes readable within [`STEP`].
fn readable(pipe: &ChildStdout) -> bool {
    let step = rustix::event::Timespec::try_from(STEP).unwrap();
    let mut pipes = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut pipes, Some(&step)).is_ok_and(|ready| ready > 0)
}

impl TestSession {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), arguments)
    }

    /// The renderer is Pixman unless `arguments` name another, since Pixman draws the same on every machine.
    pub fn start_in(directory: TempDir, arguments: &[&str]) -> Self {
        Self::running(directory, arguments, &[])
    }

    /// A session with a command; the session ends with its command.
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
        let client = wait("the session", || IpcClient::connect(&path).ok());
        TestSession { directory, process, client }
    }

    /// A session with trace logging into `log`.
    pub fn logging_to(log: impl Into<Stdio>, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = upbeat(directory.path(), &["--renderer", "pixman", "--socket", "test"]);
        let process = command.args(arguments).env("UPBEAT_LOG", "trace").stderr(log).spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the session", || IpcClient::connect(&path).ok());
        TestSession { directory, process, client }
    }

    /// A session with additional environment variables.
    pub fn with_environment(environment: &[(&str, &Path)], arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = upbeat(directory.path(), &["--renderer", "pixman", "--socket", "test"]);
        let process = command.args(arguments).envs(environment.iter().copied()).spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the session", || IpcClient::connect(&path).ok());
        TestSession { directory, process, client }
    }

    /// A session in a window of `parent`. Its errors go to its file `stderr`.
    pub fn nested_in(parent: &TestSession, arguments: &[&str]) -> Self {
        Self::nested_in_directory(tempfile::tempdir().unwrap(), parent, arguments)
    }

    pub fn nested_in_directory(directory: TempDir, parent: &TestSession, arguments: &[&str]) -> Self {
        let complaints = std::fs::File::create(directory.path().join("stderr")).unwrap();
        let mut command = upbeat(directory.path(), arguments);
        command.args(["--socket", "test"]).env("WAYLAND_DISPLAY", parent.path("test")).stderr(complaints);
        let process = command.spawn().unwrap();
        let path = directory.path().join("test.upbeat.sock");
        let client = wait("the nested session", || IpcClient::connect(&path).ok());
        TestSession { directory, process, client }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Names of the session's threads.
    pub fn threads(&self) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        // A thread may end meanwhile.
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
        names.map(|name| name.trim().to_owned()).collect()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts a client in `role`.
    pub fn program(&self, role: &str) -> ClientProcess {
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
        ClientProcess { process, says, said: Vec::new() }
    }

    /// Starts a client in `role`, and waits until it is shown.
    pub fn shown(&self, role: &str) -> ClientProcess {
        let mut program = self.program(role);
        program.wait_for("shown");
        program
    }

    /// The output of `upbeat msg` with these arguments.
    pub fn msg(&self, words: &[&str]) -> Output {
        let socket = self.path("test.upbeat.sock");
        let mut arguments = vec!["msg", "--socket", socket.to_str().unwrap()];
        arguments.extend(words);
        upbeat(self.directory.path(), &arguments).output().unwrap()
    }

    #[track_caller]
    pub fn ask(&mut self, request: Request) -> Response {
        self.client.request(request).unwrap()
    }

    #[track_caller]
    pub fn refused(&mut self, request: Request) -> String {
        match self.client.request(request) {
            Err(IpcClientError::Refused(sentence)) => sentence,
            other => panic!("the request should have been refused: {other:?}"),
        }
    }

    #[track_caller]
    pub fn windows(&mut self) -> Vec<WindowInfo> {
        let Response::Windows { windows } = self.ask(Request::Windows) else { panic!() };
        windows
    }

    #[track_caller]
    pub fn window(&mut self, app_id: &str) -> WindowInfo {
        self.windows().into_iter().find(|window| window.app_id == app_id).expect("its window")
    }

    #[track_caller]
    pub fn statistics(&mut self, app_id: &str) -> WindowStats {
        let Response::Stats { windows, .. } = self.ask(Request::Stats) else { panic!() };
        windows.into_iter().find(|window| window.app_id == app_id).expect("its window")
    }

    /// Number of presented frames of `app_id`.
    #[track_caller]
    pub fn frames(&mut self, app_id: &str) -> u64 {
        self.statistics(app_id).cadence.frames.total
    }

    /// Waits until more frames of `app_id` are presented.
    #[track_caller]
    pub fn wait_for_new_frames(&mut self, app_id: &str) {
        let before = self.frames(app_id);
        wait("new frames", || (self.frames(app_id) >= before + 10).then_some(()));
    }

    /// A screenshot of an output: width, height and pixels as `0xRRGGBB`.
    #[track_caller]
    pub fn picture(&mut self, output: Option<&str>) -> (u32, u32, Vec<u32>) {
        let path = self.path("picture.png");
        let request = Request::Screenshot { output: output.map(str::to_owned), path: path.clone() };
        // Retry, because an output without a first frame refuses a screenshot.
        let response = wait("a picture", || self.client.request(request.clone()).ok());
        let Response::Screenshot { width, height, .. } = response else { panic!() };
        let file = BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (width, height));
        let pixels = bytes.chunks_exact(3).map(|rgb| u32::from_be_bytes([0, rgb[0], rgb[1], rgb[2]])).collect();
        (width, height, pixels)
    }

    /// Ends the session with a quit request.
    pub fn quit(mut self) -> (ExitStatus, TempDir) {
        self.ask(Request::Quit);
        let status = wait("the session to end", || self.process.try_wait().unwrap());
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        (status, directory)
    }

    /// Waits until the session has ended by itself; returns its errors, too.
    #[track_caller]
    pub fn end_of_nested(&mut self) -> (ExitStatus, String) {
        let status = wait("the session to end", || self.process.try_wait().unwrap());
        (status, std::fs::read_to_string(self.path("stderr")).unwrap())
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.process), signal).unwrap();
    }
}

impl Drop for TestSession {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl ClientProcess {
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Reads the client's output until the line `word`.
    #[track_caller]
    pub fn wait_for(&mut self, word: &str) {
        let start = Instant::now();
        while self.next_line(word, start + PATIENCE).is_none_or(|line| line != word) {}
    }

    /// The next line of output; `None` if there is none within [`STEP`]. Panics after `deadline`, with `word` in its
    /// message.
    #[track_caller]
    fn next_line(&mut self, word: &str, deadline: Instant) -> Option<&str> {
        let said = &self.said;
        assert!(Instant::now() < deadline, "waited too long for {word:?}; the client printed {said:?}");
        if self.says.buffer().is_empty() && !readable(self.says.get_ref()) {
            return None;
        }
        let mut line = String::new();
        let length = self.says.read_line(&mut line).unwrap();
        assert_ne!(length, 0, "the client ended without printing {word:?}; it printed {said:?}");
        self.said.push(line.trim().to_owned());
        self.said.last().map(String::as_str)
    }

    /// Waits until the client has ended by itself.
    #[track_caller]
    pub fn wait_for_its_end(mut self) {
        wait("the client to end", || self.process.try_wait().unwrap());
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
