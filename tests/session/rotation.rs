//! Rotation by sensor: a bus of our own with a mock of iio-sensor-proxy, and a session whose virtual output follows it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use futures_lite::future::block_on;
use tempfile::TempDir;
use upbeat_record::ipc::IpcClient;
use upbeat_record::ipc::message::event::Event;
use upbeat_record::ipc::message::{OutputInfo, Request, Response};
use zbus::names::OwnedUniqueName;
use zbus::zvariant::Value;

use crate::session::{PATIENCE, TestSession, wait};

const SERVICE: &str = "net.hadess.SensorProxy";
const OBJECT: &str = "/net/hadess/SensorProxy";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const OUTPUT: &str = "HEADLESS-1";

/// A bus with a folder, which also has the session's configuration.
struct TestBus {
    process: Child,
    directory: TempDir,
}

impl TestBus {
    /// `None` if dbus-daemon is not installed, unless `CI=true`.
    fn start() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let configuration = directory.path().join("bus.conf");
        let text = format!(
            r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path={}/bus</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>"#,
            directory.path().display()
        );
        std::fs::write(&configuration, text).unwrap();
        let mut command = Command::new("dbus-daemon");
        command.args(["--nofork", "--print-address=1", "--config-file"]).arg(&configuration).stdout(Stdio::piped());
        let mut process = match command.spawn() {
            Ok(process) => process,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = "dbus-daemon is not installed; it is in the Debian package dbus-daemon";
                assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
                eprintln!("skipped: {message}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("unix:path="), "the bus listens: {address}");
        Some(TestBus { process, directory })
    }

    fn address(&self) -> PathBuf {
        format!("unix:path={}/bus", self.directory.path().display()).into()
    }

    fn connect(&self) -> zbus::Connection {
        let address = self.address();
        block_on(zbus::connection::Builder::address(address.to_str().unwrap()).unwrap().build()).unwrap()
    }

    /// A session on this bus with an output of 640 by 480 pixels. `rule`: options of the output.
    fn session(&self, rule: &str) -> RotatingSession {
        self.configure(rule);
        let configuration = self.directory.path().join("config.toml");
        let arguments = ["--output", "640x480", "--config", configuration.to_str().unwrap()];
        let session =
            TestSession::with_environment(&[("DBUS_SYSTEM_BUS_ADDRESS", self.address().as_path())], &arguments);
        let events = IpcClient::connect(&session.path("test.upbeat.sock")).unwrap().subscribe().unwrap();
        let (sender, transforms) = mpsc::channel();
        std::thread::spawn(move || {
            events.map_while(Result::ok).filter_map(transform).try_for_each(|new| sender.send(new))
        });
        RotatingSession { session, transforms, last: None }
    }

    fn configure(&self, rule: &str) {
        let text = format!("[[output]]\nname = \"{OUTPUT}\"\n{rule}\n");
        std::fs::write(self.directory.path().join("config.toml"), text).unwrap();
    }
}

impl Drop for TestBus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// State of the mock.
#[derive(Default)]
struct MockState {
    orientation: String,
    /// The clients that have the accelerometer, and how often it was claimed.
    claimed_by: Vec<OwnedUniqueName>,
    claims: u32,
    /// Whether calls are never answered.
    hangs: bool,
}

struct MockInterface(Arc<Mutex<MockState>>);

#[zbus::interface(name = "net.hadess.SensorProxy")]
impl MockInterface {
    async fn claim_accelerometer(&self, #[zbus(header)] header: zbus::message::Header<'_>) {
        let hangs = {
            let mut mock = self.0.lock().unwrap();
            mock.claims += 1;
            mock.claimed_by.push(header.sender().unwrap().to_owned().into());
            mock.hangs
        };
        if hangs {
            std::future::pending::<()>().await;
        }
    }

    async fn release_accelerometer(&self, #[zbus(header)] header: zbus::message::Header<'_>) {
        self.0.lock().unwrap().claimed_by.retain(|client| Some(&**client) != header.sender());
    }

    #[zbus(property)]
    async fn has_accelerometer(&self) -> bool {
        true
    }

    #[zbus(property)]
    async fn accelerometer_orientation(&self) -> String {
        self.0.lock().unwrap().orientation.clone()
    }
}

/// A mock of iio-sensor-proxy. It ends when this is dropped.
struct MockService {
    connection: zbus::Connection,
    state: Arc<Mutex<MockState>>,
}

impl MockService {
    fn start(bus: &TestBus, orientation: &str) -> Self {
        Self::start_as(bus, MockState { orientation: orientation.to_owned(), ..MockState::default() })
    }

    fn start_as(bus: &TestBus, state: MockState) -> Self {
        let (connection, state) = (bus.connect(), Arc::new(Mutex::new(state)));
        block_on(async {
            assert!(connection.object_server().at(OBJECT, MockInterface(state.clone())).await.unwrap());
            connection.request_name(SERVICE).await.unwrap();
        });
        MockService { connection, state }
    }

    /// Turns the device, and tells only the clients that have the accelerometer, as the service does.
    fn turn(&self, orientation: &str) {
        self.state.lock().unwrap().orientation = orientation.to_owned();
        for client in self.state.lock().unwrap().claimed_by.clone() {
            signal(&self.connection, &client, orientation);
        }
    }

    fn claimed_by(&self) -> usize {
        self.state.lock().unwrap().claimed_by.len()
    }

    fn end(self) {
        block_on(self.connection.close()).unwrap();
    }
}

/// Sends the signal of a changed orientation to a client.
fn signal(from: &zbus::Connection, to: &OwnedUniqueName, orientation: &str) {
    let changed = HashMap::from([("AccelerometerOrientation", Value::from(orientation))]);
    let body = (SERVICE, changed, Vec::<String>::new());
    block_on(from.emit_signal(Some(to.clone()), OBJECT, PROPERTIES, "PropertiesChanged", &body)).unwrap();
}

/// The transform of the output, if the event has it.
fn transform(event: Event) -> Option<String> {
    match event {
        Event::State(state) => Some(state.outputs[0].transform.clone()),
        Event::Output { output } => Some(output.transform),
        _ => None,
    }
}

struct RotatingSession {
    session: TestSession,
    /// The transforms of the output, from events.
    transforms: mpsc::Receiver<String>,
    last: Option<String>,
}

impl RotatingSession {
    fn output(&mut self) -> OutputInfo {
        let Response::Outputs { outputs, .. } = self.session.ask(Request::Outputs) else { panic!() };
        outputs.into_iter().next().unwrap()
    }

    /// Whether the output is locked, and the orientation of the device.
    fn rotation(&mut self) -> (bool, Option<String>) {
        let rotation = self.output().rotation.expect("it turns with the device");
        (rotation.locked, rotation.orientation)
    }

    /// Waits until the output has another transform than before. The first transform may be that of the session's start.
    #[track_caller]
    fn assert_next_transform(&mut self, expected: &str) {
        loop {
            let transform = self.transforms.recv_timeout(PATIENCE).expect("a transform");
            let before = self.last.replace(transform.clone());
            if transform == expected && before.as_ref() != Some(&transform) {
                return;
            }
            assert!(before.is_none_or(|before| before == transform), "{transform} was not expected before {expected}");
        }
    }

    #[track_caller]
    fn wait_for_orientation(&mut self, expected: Option<&str>) {
        wait("the orientation", || (self.rotation().1.as_deref() == expected).then_some(()));
    }

    fn act(&mut self, action: &str) {
        self.session.ask(Request::Act { action: action.to_owned() });
    }
}

#[test]
fn output_turns_with_the_device_unless_it_is_locked() {
    let Some(bus) = TestBus::start() else { return };
    let service = MockService::start(&bus, "left-up");
    let mut session = bus.session("rotation = \"sensor\"");
    session.assert_next_transform("90");
    let output = session.output();
    assert_eq!((output.geometry.width, output.geometry.height), (480, 640));
    let text = String::from_utf8(session.session.msg(&["outputs"]).stdout).unwrap();
    assert!(text.contains("HEADLESS-1 turns with the device; orientation of the device: left-up"), "{text}");

    // Only the service's own words count. A name that this session does not know changes nothing, nor does a program
    // that sends the same signal.
    let client = service.state.lock().unwrap().claimed_by[0].clone();
    signal(&bus.connect(), &client, "normal");
    service.turn("undefined");
    service.turn("sideways");
    service.turn("bottom-up");
    session.assert_next_transform("180");
    service.turn("right-up");
    session.assert_next_transform("270");

    session.act("rotation-lock");
    assert!(session.rotation().0, "it is locked");
    service.turn("normal");
    session.wait_for_orientation(Some("normal"));
    assert_eq!(session.output().transform, "270");
    session.act("rotation-lock");
    session.assert_next_transform("normal");
    assert_eq!(session.rotation(), (false, Some("normal".to_owned())));
    assert_eq!(service.state.lock().unwrap().claims, 1);
    let threads = session.session.threads();
    assert!(threads.contains(&"orientation".to_owned()), "{threads:?}");
    // The thread pool of the crate `blocking`, which zbus uses, wakes up twice a second.
    assert!(!threads.iter().any(|thread| thread.starts_with("blocking")), "{threads:?}");
}

#[test]
fn transform_that_the_user_sets_stays_until_the_device_is_turned() {
    let Some(bus) = TestBus::start() else { return };
    let service = MockService::start(&bus, "left-up");
    let mut session = bus.session("rotation = \"sensor\"");
    session.assert_next_transform("90");
    assert!(session.session.msg(&["output", "transform", OUTPUT, "flipped"]).status.success());
    session.assert_next_transform("flipped");
    service.turn("undefined");
    service.turn("left-up");
    service.turn("bottom-up");
    session.assert_next_transform("180");
}

#[test]
fn sensor_is_claimed_while_its_output_is_on() {
    let Some(bus) = TestBus::start() else { return };
    let service = MockService::start(&bus, "normal");
    let mut session = bus.session("rotation = \"sensor\"");
    session.wait_for_orientation(Some("normal"));
    assert_eq!(service.claimed_by(), 1);
    assert!(session.session.msg(&["output", "off", OUTPUT]).status.success());
    wait("the release", || (service.claimed_by() == 0).then_some(()));
    session.wait_for_orientation(None);
    service.turn("left-up");
    assert!(session.session.msg(&["output", "on", OUTPUT]).status.success());
    wait("the transform", || (session.output().transform == "90").then_some(()));
    assert_eq!((service.claimed_by(), service.state.lock().unwrap().claims), (1, 2));
}

#[test]
fn service_may_start_late_restart_and_hang() {
    let Some(bus) = TestBus::start() else { return };
    let mut session = bus.session("rotation = \"sensor\"");
    assert_eq!((session.output().transform.as_str(), session.rotation().1), ("normal", None));
    let service = MockService::start(&bus, "left-up");
    session.assert_next_transform("90");
    service.end();
    session.wait_for_orientation(None);
    assert_eq!(session.output().transform, "90", "without a service the output stays as it is");

    let hanging = MockService::start_as(&bus, MockState { hangs: true, ..MockState::default() });
    wait("the claim", || (hanging.claimed_by() == 1).then_some(()));
    assert_eq!(session.output().transform, "90", "the session answers");
    hanging.end();
    let _service = MockService::start(&bus, "right-up");
    session.assert_next_transform("270");
    drop(bus);
    session.wait_for_orientation(None);
    assert_eq!(session.output().transform, "270");
}

#[test]
fn turn_of_the_device_is_added_to_the_configured_transform_also_after_a_reload() {
    let Some(bus) = TestBus::start() else { return };
    let service = MockService::start(&bus, "left-up");
    let mut session = bus.session("rotation = \"sensor\"\ntransform = \"90\"");
    session.assert_next_transform("180");
    bus.configure("rotation = \"sensor\"\ntransform = \"180\"");
    session.session.ask(Request::Reload);
    session.assert_next_transform("270");
    bus.configure("rotation = \"off\"\ntransform = \"180\"");
    session.session.ask(Request::Reload);
    session.assert_next_transform("180");
    assert_eq!(session.output().rotation, None);
    wait("the release", || (service.claimed_by() == 0).then_some(()));
    bus.configure("rotation = \"auto\"\ntransform = \"180\"");
    session.session.ask(Request::Reload);
    assert_eq!(session.output().rotation, None, "a virtual output is no built-in panel");
    bus.configure("rotation = \"sensor\"\ntransform = \"180\"");
    session.session.ask(Request::Reload);
    session.assert_next_transform("270");
}

#[test]
fn session_without_a_system_bus_does_not_turn() {
    let directory = tempfile::tempdir().unwrap();
    let (configuration, nowhere) = (directory.path().join("config.toml"), directory.path().join("nowhere"));
    std::fs::write(&configuration, format!("[[output]]\nname = \"{OUTPUT}\"\nrotation = \"sensor\"\n")).unwrap();
    let address = PathBuf::from(format!("unix:path={}", nowhere.display()));
    let arguments = ["--output", "640x480", "--config", configuration.to_str().unwrap()];
    let mut session = TestSession::with_environment(&[("DBUS_SYSTEM_BUS_ADDRESS", address.as_path())], &arguments);
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    assert_eq!(outputs[0].rotation.as_ref().map(|rotation| rotation.orientation.clone()), Some(None));
    assert!(session.msg(&["output", "off", OUTPUT]).status.success());
    assert!(session.msg(&["output", "on", OUTPUT]).status.success());
    session.ask(Request::Act { action: "rotation-lock".to_owned() });
}
