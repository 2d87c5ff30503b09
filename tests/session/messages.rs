//! The answers of `upbeat msg` about a running session, and its effects on the session.

use upbeat_record::ipc::message::WorkspaceOrder;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{OutputOrWindow, Request, Response};
use upbeat_timing::id::WindowId;
use upbeat_timing::pacing::{ClientClass, Pacing, PacingWish};
use upbeat_timing::record::Blame;

use crate::client::{COLOUR, SIZE};
use crate::session::{TestSession, wait};

fn words(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn version_and_outputs_are_reported() {
    let mut session = TestSession::start(&["--output", "640x480@75", "--output", "320x200"]);
    let Response::Version { wayland_display, backend, renderer, .. } = session.ask(Request::Version) else { panic!() };
    assert_eq!((wayland_display.as_str(), backend.as_str(), renderer.as_str()), ("test", "headless", "pixman"));
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    let told: Vec<_> =
        outputs.iter().map(|output| (output.name.as_str(), output.mode.to_string(), output.geometry.x)).collect();
    assert_eq!(told, [("HEADLESS-1", "640x480@75".to_owned(), 0), ("HEADLESS-2", "320x200@60".to_owned(), 640)]);
    assert!(outputs.iter().all(|output| output.on && output.wish == PacingWish::Auto));
    let text = words(&session.msg(&["outputs"]));
    assert!(text.contains("HEADLESS-1") && text.contains("640x480@75"), "{text}");
    assert!(outputs.iter().all(|output| output.driver.is_none()) && !text.contains("driver"), "{text}");
}

#[test]
fn version_names_the_renderer_and_the_reason_for_it() {
    let mut session = TestSession::start(&["--output", "320x200", "--renderer", "auto"]);
    let Response::Version { renderer, .. } = session.ask(Request::Version) else { panic!() };
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    let drawn_by = &outputs[0].drawn_by;
    match renderer.as_str() {
        // Without a GPU the answer says so.
        "pixman" => assert!(drawn_by.starts_with("Pixman, with the CPU: "), "{drawn_by}"),
        "gles" => assert!(drawn_by.starts_with("OpenGL ES on "), "{drawn_by}"),
        other => panic!("{other}"),
    }
    let text = words(&session.msg(&["outputs"]));
    assert!(text.contains(&format!("drawn by {drawn_by}")), "{text}");
}

#[test]
fn drawing_window_is_listed_with_its_costs() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let program = session.shown("draw");
    session.wait_for_new_frames("draw");
    let window =
        wait("its class", || Some(session.window("draw")).filter(|window| window.class != ClientClass::Unknown));
    assert_eq!((window.geometry.width, window.geometry.height), SIZE);
    assert!(window.focused && window.visible);
    assert_eq!(window.output.as_deref(), Some("HEADLESS-1"));
    assert_eq!((window.wish, window.title.as_str()), (PacingWish::Auto, "draw"));
    assert!(window.pid.is_some() && window.cost.is_some() && window.budget.is_some(), "{window:?}");
    assert!(!window.reason.is_empty());
    let statistics = session.statistics("draw");
    assert!(statistics.callback_to_light.is_some() && statistics.commit_to_light.is_some());
    let text = words(&session.msg(&["stats"]));
    assert!(text.contains("callback→light") && text.contains("(draw)"), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&session.msg(&["windows", "--json"]).stdout).unwrap();
    assert_eq!(json["windows"][0]["app_id"], "draw");
    drop(program);
    wait("the window to go", || session.windows().is_empty().then_some(()));
}

#[test]
fn clients_are_listed_with_usage_and_limits() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("draw");
    let Response::Clients { clients, bugs: 0, .. } = session.ask(Request::Clients) else { panic!() };
    let [client] = &clients[..] else { panic!("{clients:?}") };
    assert_eq!((client.pid, &client.sandbox), (session.window("draw").pid, &None));
    let windows = client.uses.iter().find(|one| one.kind == "windows").unwrap();
    assert_eq!((windows.used, windows.most_used, windows.bound), (1, 1, 1_024));
    assert!(client.objects > 5 && client.uses.iter().all(|one| one.fraction() < 0.1), "{client:?}");
    let text = words(&session.msg(&["clients"]));
    assert!(text.contains(&client.name) && text.contains("of 1024 windows"), "{text}");
}

#[test]
fn workspaces_are_listed_and_switched_and_windows_moved_between_them() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("draw");
    let window = session.window("draw").window;
    let number = |number: u8| number.try_into().unwrap();
    let list = |session: &mut TestSession| {
        let Response::Workspaces { workspaces } = session.ask(Request::Workspaces) else { panic!() };
        workspaces.into_iter().map(|it| (it.number.get(), it.active, it.windows.len())).collect::<Vec<_>>()
    };
    assert_eq!(list(&mut session), [(1, true, 1)]);
    let order = WorkspaceOrder {
        output: Some("HEADLESS-1".to_owned()),
        number: Some(number(3)),
        name: None,
        window: Some(window),
    };
    assert_eq!(session.ask(Request::Workspace(order)), Response::Done);
    assert_eq!(list(&mut session), [(1, true, 0), (3, false, 1)]);
    wait("it to be hidden", || (!session.window("draw").visible).then_some(()));
    assert!(words(&session.msg(&["workspace", "3"])).is_empty());
    assert_eq!(list(&mut session), [(3, true, 1)]);
    wait("it to be seen", || session.window("draw").visible.then_some(()));
    let text = words(&session.msg(&["workspaces"]));
    assert!(text.contains("HEADLESS-1") && text.contains('3'), "{text}");
    assert!(words(&session.msg(&["workspace", "10"])).contains("1 to 9"));
    assert!(words(&session.msg(&["workspace", "1", "--output", "DP-9"])).contains("there is HEADLESS-1"));
}

#[test]
fn named_workspaces_are_ordered_listed_and_follow_a_reload() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, "workspaces = [\"mail\", \"my music\"]").unwrap();
    let arguments = ["--output", "640x480", "--config", path.to_str().unwrap()];
    let mut session = TestSession::start_in(directory, &arguments);
    let _program = session.shown("draw");
    let window = session.window("draw").window;
    let list = |session: &mut TestSession| {
        let Response::Workspaces { workspaces } = session.ask(Request::Workspaces) else { panic!() };
        workspaces.into_iter().map(|it| (it.number.get(), it.name, it.windows.len())).collect::<Vec<_>>()
    };
    let name = |name: &str| Some(name.to_owned());
    assert!(words(&session.msg(&["workspace", "my", "music", "--window", &window.0.to_string()])).is_empty());
    assert_eq!(list(&mut session), [(1, None, 0), (11, name("my music"), 1)]);
    assert!(words(&session.msg(&["act", "workspace", "my", "music"])).is_empty());
    assert_eq!(list(&mut session), [(11, name("my music"), 1)]);
    let shown = session.window("draw");
    assert_eq!((shown.workspace.map(u8::from), shown.workspace_name), (Some(11), name("my music")));
    let table = words(&session.msg(&["workspaces"]));
    assert!(table.contains("my music") && !table.contains("11"), "{table}");

    let order = |number: Option<u8>, name: Option<&str>| {
        let number = number.map(|number| number.try_into().unwrap());
        Request::Workspace(WorkspaceOrder { output: None, number, name: name.map(str::to_owned), window: None })
    };
    let unknown = "there is no workspace called \"post\"; there are 1 to 9, \"mail\" and \"my music\"";
    assert_eq!(session.refused(order(None, Some("post"))), unknown);
    assert!(words(&session.msg(&["workspace", "post"])).contains(unknown));
    assert!(words(&session.msg(&["act", "move-to-workspace", "post"])).contains(unknown));
    assert!(session.refused(order(None, None)).contains("the number or the name of a workspace was expected"));
    assert!(session.refused(order(Some(3), Some("mail"))).contains("not both"));
    assert_eq!(session.refused(order(Some(12), None)), "there is no workspace 12; the last is 11");
    assert!(session.refused(order(None, Some("7"))).contains("expected a name, not a number"));
    assert_eq!(session.ask(order(Some(10), None)), Response::Done);
    assert_eq!(list(&mut session), [(10, name("mail"), 0), (11, name("my music"), 1)]);

    std::fs::write(&path, "workspaces = [\"my music\"]").unwrap();
    assert!(session.msg(&["reload"]).status.success());
    assert_eq!(list(&mut session), [(1, None, 0), (10, name("my music"), 1)]);
    std::fs::write(&path, "").unwrap();
    assert!(session.msg(&["reload"]).status.success());
    assert_eq!(list(&mut session), [(1, None, 1)]);
}

#[test]
fn a_screenshot_has_the_pixels_that_are_on_screen() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("idle");
    let place = session.window("idle").geometry;
    let index = |x: i32, y: i32| (y * 640 + x) as usize;
    // Wait, because the client's callback comes when its content is latched, which is before light.
    let (width, height, pixels) = wait("its first light", || {
        Some(session.picture(None)).filter(|(.., pixels)| pixels[index(place.x + 1, place.y + 1)] == COLOUR)
    });
    assert_eq!((width, height), (640, 480));
    let at = |x: i32, y: i32| pixels[index(x, y)];
    let background = 0x1d_23_30;
    let corners = [(place.x, place.y), (place.x + SIZE.0 - 1, place.y + SIZE.1 - 1)];
    assert_eq!(corners.map(|(x, y)| at(x, y)), [COLOUR; 2]);
    // The border is drawn by the compositor, because the window floats without its own decoration; it has the focus.
    let edge = 0x73_a5_ff;
    assert_eq!([at(place.x - 1, place.y), at(place.x + SIZE.0, place.y + SIZE.1 - 1)], [edge; 2]);
    assert_eq!([at(place.x - 3, place.y), at(place.x + SIZE.0 + 2, place.y + SIZE.1 - 1)], [background; 2]);
    assert!(session.refused(Request::Screenshot { output: None, path: "picture.png".into() }).contains("absolute"));
    let text = words(&session.msg(&["screenshot", "--output", "DP-9", "/tmp/never.png"]));
    assert!(text.contains("there is no output called DP-9; there is HEADLESS-1"), "{text}");
}

#[test]
fn late_client_is_explained_in_a_sentence() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("late");
    let window = session.window("late").window;
    let request = Request::WhyLate { target: Some(OutputOrWindow::Window(window)), limit: 100 };
    let miss = wait("a late frame that the client is to blame for", || {
        let Response::WhyLate { misses } = session.ask(request.clone()) else { panic!() };
        misses.into_iter().find(|miss| miss.blame == Blame::Client)
    });
    assert!(miss.sentence.starts_with(&format!("{window} (late) missed refresh {}: ", miss.refresh)), "{miss:?}");
    let text = words(&session.msg(&["why-late", "--window", &window.0.to_string(), "-n", "1"]));
    assert!(text.contains("s ago: window") && text.lines().count() == 1, "{text}");
    let unknown = Request::WhyLate { target: Some(OutputOrWindow::Window(WindowId(77))), limit: 1 };
    assert_eq!(session.refused(unknown), format!("there is no window 77; there is {}", window.0));
}

#[test]
fn pacing_changes_while_it_runs_for_an_output_and_for_a_window() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("draw");
    let number = session.window("draw").window.0.to_string();
    assert!(session.msg(&["pacing", "HEADLESS-1", "vsync-late"]).status.success());
    wait("the output's pacing", || (session.window("draw").pacing == Pacing::VsyncLate).then_some(()));
    assert!(session.msg(&["pacing", &number, "vsync"]).status.success());
    let window = wait("the window's pacing", || Some(session.window("draw")).filter(|w| w.pacing == Pacing::Vsync));
    assert_eq!((window.wish, window.reason.as_str()), (PacingWish::Vsync, "configured"));
    session.wait_for_new_frames("draw");
}

#[test]
fn injected_input_moves_the_pointer_and_the_window_under_it() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("idle");
    // Wait, because the callback comes before light, and the pointer hits only windows on screen.
    wait("its first light", || {
        let Response::Stats { windows, .. } = session.ask(Request::Stats) else { panic!() };
        windows.iter().any(|window| window.commit_to_light.is_some()).then_some(())
    });
    let before = session.window("idle").geometry;
    let (x, y) = (f64::from(before.x + 20), f64::from(before.y + 20));
    const SUPER: u32 = 125;
    const LEFT: u32 = 0x110;
    let drag = vec![
        InputEvent::PointerMove { x, y },
        InputEvent::Key { key: SUPER, pressed: true },
        InputEvent::Button { button: LEFT, pressed: true },
        InputEvent::PointerMoveBy { dx: 50.0, dy: -30.0 },
    ];
    session.ask(Request::Input { events: drag });
    wait("the window to follow", || {
        let now = session.window("idle").geometry;
        ((now.x, now.y) == (before.x + 50, before.y - 30)).then_some(())
    });
    let release =
        vec![InputEvent::Button { button: LEFT, pressed: false }, InputEvent::Key { key: SUPER, pressed: false }];
    session.ask(Request::Input { events: release });
    assert!(session.msg(&["input", "key", "a"]).status.success());
}

#[test]
fn frame_log_is_started_and_stopped_at_run_time_and_converts_to_a_trace() {
    let session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("late");
    let directory = tempfile::tempdir().unwrap();
    let (log, trace) = (directory.path().join("log.jsonl"), directory.path().join("trace"));
    assert!(words(&session.msg(&["record", "--stop"])).contains("no frame log is being written"));
    let nowhere = words(&session.msg(&["record", "/nowhere/log.jsonl"]));
    assert!(nowhere.contains("/nowhere/log.jsonl: No such file"), "{nowhere}");
    assert_eq!(words(&session.msg(&["record", log.to_str().unwrap()])), "");
    let again = words(&session.msg(&["record", "/tmp/never.jsonl"]));
    assert!(again.contains("a frame log is being written"), "{again}");
    // Every frame of this client is late. A miss is logged once the fate of its frame is known.
    wait("a miss in the log", || std::fs::read_to_string(&log).ok().filter(|text| text.contains("missed refresh")));
    let ended = words(&session.msg(&["record", "--stop"]));
    assert!(ended.contains("lines were written"), "{ended}");
    let written = std::fs::read_to_string(&log).unwrap();
    let names = written.lines().take(3).collect::<String>();
    assert!(names.contains("HEADLESS-1") && names.contains("late"), "{names}");
    let misses = written.lines().filter(|line| !line.contains("\"why\":null") && line.contains("\"why\"")).count();

    let upbeat = env!("CARGO_BIN_EXE_upbeat");
    let arguments = [log.as_os_str(), "-o".as_ref(), trace.as_os_str()];
    let output = std::process::Command::new(upbeat).arg("trace").args(arguments).output().unwrap();
    assert!(words(&output).contains(&format!("{misses} of them missed")), "{}", words(&output));
    assert!(std::fs::metadata(&trace).unwrap().len() > 1_000);
}

/// A script that only subscribes to events, as in the documentation.
struct Script {
    process: std::process::Child,
    lines: std::sync::mpsc::Receiver<String>,
    last: String,
}

impl Script {
    fn start(session: &TestSession) -> Option<Self> {
        use std::io::BufRead;
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/events/follow.py");
        let socket = session.path("test.upbeat.sock");
        let mut command = std::process::Command::new(path);
        let process = command.env("UPBEAT_SOCKET", socket).stdout(std::process::Stdio::piped()).spawn();
        let Ok(mut process) = process else {
            eprintln!("skipped: there is no python3");
            return None;
        };
        let (says, lines) = std::sync::mpsc::channel();
        let out = std::io::BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| _ = says.send(line)));
        Some(Script { process, lines, last: String::new() })
    }

    /// The script's last list of windows.
    fn windows(&mut self) -> String {
        self.last = self.lines.try_iter().last().unwrap_or_else(|| std::mem::take(&mut self.last));
        self.last.clone()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn script_of_thirty_lines_follows_the_windows() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let Some(mut script) = Script::start(&session) else { return };
    let text = include_str!("../../examples/events/follow.py");
    assert!(text.lines().skip_while(|line| !line.starts_with("import")).count() <= 30);
    let programs = [session.shown("draw"), session.shown("idle"), session.shown("draw")];
    let mut agree = |session: &mut TestSession, what: &str| {
        wait(what, || {
            let told = |window: upbeat_record::ipc::message::WindowInfo| {
                serde_json::json!([window.window, window.title, window.focused, window.workspace])
            };
            let windows: Vec<_> = session.windows().into_iter().map(told).collect();
            let heard: serde_json::Value = serde_json::from_str(&script.windows()).ok()?;
            (heard == serde_json::Value::from(windows)).then_some(())
        });
    };
    agree(&mut session, "three windows");
    let numbers: Vec<u32> = session.windows().iter().map(|window| window.window.0).collect();
    for place in [2, 1, 0, 2] {
        assert!(session.msg(&["focus", &numbers[place].to_string()]).status.success());
        agree(&mut session, "another focus");
        assert!(session.msg(&["workspace", "3", "--window", &numbers[0].to_string()]).status.success());
        assert!(session.msg(&["act", "next-workspace"]).status.success());
        agree(&mut session, "workspaces");
    }
    drop(programs);
    agree(&mut session, "no window");
}

#[test]
fn output_changes_are_applied_and_impossible_changes_are_refused() {
    let mut session = TestSession::start(&["--output", "640x480@144"]);
    let output = |session: &mut TestSession| {
        let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
        outputs[0].clone()
    };
    for words in [
        &["output", "scale", "HEADLESS-1", "2"][..],
        &["output", "position", "HEADLESS-1", "-100", "50"],
        &["output", "vrr", "HEADLESS-1", "on"],
    ] {
        let answer = session.msg(words);
        assert!(answer.status.success(), "{words:?}: {}", self::words(&answer));
    }
    let now =
        wait("the rate", || Some(output(&mut session)).filter(|output| output.mode.to_string().contains("48-144")));
    assert_eq!((now.scale, now.geometry.x, now.geometry.y, now.geometry.width), (2.0, -100, 50, 320));
    assert!(session.msg(&["output", "vrr", "HEADLESS-1", "off"]).status.success());
    wait("the rate", || (output(&mut session).mode.to_string() == "640x480@144").then_some(()));
    assert!(session.msg(&["output", "transform", "HEADLESS-1", "90"]).status.success());
    let turned = output(&mut session);
    assert_eq!((turned.transform.as_str(), turned.geometry.width, turned.geometry.height), ("90", 240, 320));
    let transform = Request::SetTransform { output: "HEADLESS-1".to_owned(), transform: "around".to_owned() };
    assert!(session.refused(transform).contains("flipped-90"));
    let slowest = Request::SetVrr { output: "HEADLESS-1".to_owned(), on: true, slowest: Some(200.0) };
    assert!(session.refused(slowest).contains("a lowest rate below 144 Hz"));
    let scale = Request::SetScale { output: "HEADLESS-1".to_owned(), scale: 9.0 };
    assert!(session.refused(scale).contains("from 0.5 to 8"));
    assert!(session.refused(Request::Act { action: "dance".to_owned() }).contains("\"maximise\""));
    assert!(session.refused(Request::Focus { window: WindowId(9) }).contains("there is no window 9"));
    let layouts = words(&session.msg(&["layout"]));
    assert!(layouts.contains("in use"), "{layouts}");
}
