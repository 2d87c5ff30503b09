//! Reads the orientation of the device from iio-sensor-proxy (`net.hadess.SensorProxy` on the system bus), on a thread
//! of its own, which only waits. The service may start late, end, restart, or never answer.

use std::fmt::Display;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use async_channel::Receiver;
use calloop::channel::Sender;
use futures_lite::{StreamExt, future};
use zbus::address::Address;
use zbus::address::transport::{Transport, UnixSocket};
use zbus::connection::Builder;
use zbus::fdo::{NameOwnerChanged, PropertiesChanged};
use zbus::message::{Flags, Type};
use zbus::names::OwnedUniqueName;
use zbus::zvariant::{OwnedValue, Value};
use zbus::{Connection, MatchRule, Message, MessageStream};

use super::orientation::DeviceOrientation;

/// Name and interface of the service.
const SERVICE: &str = "net.hadess.SensorProxy";
const OBJECT: &str = "/net/hadess/SensorProxy";
const ORIENTATION: &str = "AccelerometerOrientation";
const HAS_ACCELEROMETER: &str = "HasAccelerometer";
/// The value while the service cannot tell the orientation.
const UNDEFINED: &str = "undefined";

const BUS: &str = "org.freedesktop.DBus";
const BUS_OBJECT: &str = "/org/freedesktop/DBus";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// A service that has not answered for this long is left alone until it restarts, or until the sensor is needed anew.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Unread signals of one kind that are kept; more wait in the socket.
const QUEUED_SIGNALS: usize = 16;
/// Characters of an unknown text that the log repeats.
const LOGGED_CHARACTERS: usize = 40;

/// The orientation of the device; `None`: not known, because the service is gone or the sensor is not claimed.
pub type SensorReport = Option<DeviceOrientation>;

/// The thread that waits for the service. It ends when this is dropped.
#[derive(Debug)]
pub struct AccelerometerThread {
    /// Whether the sensor is to be claimed; only the newest wish is kept.
    claims: async_channel::Sender<bool>,
}

impl AccelerometerThread {
    /// Starts the thread. It sends a report for each change of the orientation.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(reports: Sender<SensorReport>) -> std::io::Result<Self> {
        let (claims, wishes) = async_channel::bounded(1);
        let thread = std::thread::Builder::new().name("orientation".to_owned());
        thread.spawn(move || future::block_on(run(wishes, reports)))?;
        Ok(AccelerometerThread { claims })
    }

    /// Claims the sensor, or releases it to save power.
    pub fn set_claimed(&self, is_claimed: bool) {
        // The thread has ended if there is no bus. Then no wish matters.
        let _ = self.claims.force_send(is_claimed);
    }
}

/// Runs until the session drops its end, or until the bus is gone.
async fn run(wishes: Receiver<bool>, reports: Sender<SensorReport>) {
    let connection = match connect().await {
        Ok(connection) => connection,
        Err(error) => return tracing::debug!(%error, "no system bus: no output turns with the device"),
    };
    let mut watch = ServiceWatch {
        connection: connection.clone(),
        reports: reports.clone(),
        owner: None,
        is_wanted: false,
        is_claimed: false,
        reported: None,
        is_unknown_logged: false,
    };
    let watch = watch.run(wishes);
    // The connection's own tasks, such as the reader of its socket, run on this thread, too.
    let tasks = async {
        loop {
            connection.executor().tick().await;
        }
    };
    if let Err(error) = future::or(watch, tasks).await {
        tracing::warn!(%error, "the system bus is lost: no output turns with the device any more");
        let _ = reports.send(None);
    }
}

/// Connects to the system bus. The socket is connected here, because zbus would connect it on the thread pool of the crate
/// `blocking`, whose idle thread stays and wakes up twice a second.
async fn connect() -> zbus::Result<Connection> {
    let address = Address::system()?;
    let name = match address.transport() {
        Transport::Unix(socket) => match socket.path() {
            UnixSocket::File(path) => SocketAddr::from_pathname(path),
            UnixSocket::Abstract(name) => SocketAddr::from_abstract_name(name.as_bytes()),
            _ => return Err(zbus::Error::Unsupported),
        },
        _ => return Err(zbus::Error::Unsupported),
    };
    let socket = UnixStream::connect_addr(&name?)?;
    Builder::async_io_unix_stream(socket).internal_executor(false).method_timeout(REPLY_TIMEOUT).build().await
}

/// The service as this session sees it.
struct ServiceWatch {
    connection: Connection,
    reports: Sender<SensorReport>,
    /// The connection of the service; `None` while it does not run.
    owner: Option<OwnedUniqueName>,
    /// Whether the session needs the sensor.
    is_wanted: bool,
    /// Whether the running service was asked for the sensor.
    is_claimed: bool,
    /// The report that was last sent.
    reported: SensorReport,
    /// Whether an unknown orientation is in the log already.
    is_unknown_logged: bool,
}

/// An event that the thread waits for.
enum WatchEvent {
    /// Whether the session needs the sensor.
    Wanted(bool),
    /// A signal of the bus or of the service.
    Signal(Message),
    /// The session has ended.
    End,
}

impl ServiceWatch {
    async fn run(&mut self, wishes: Receiver<bool>) -> zbus::Result<()> {
        let mut owners = self.subscribe(owner_rule()?).await?;
        let mut properties = self.subscribe(property_rule()?).await?;
        self.owner = self.current_owner().await;
        if self.owner.is_none() {
            tracing::debug!("iio-sensor-proxy does not run: no output turns with the device until it does");
        }
        loop {
            let wish = async { Ok(wishes.recv().await.map_or(WatchEvent::End, WatchEvent::Wanted)) };
            let signal = future::or(next(&mut owners), next(&mut properties));
            match future::or(wish, signal).await? {
                WatchEvent::Wanted(is_wanted) => self.set_wanted(is_wanted).await?,
                WatchEvent::Signal(signal) => self.signalled(&signal).await,
                WatchEvent::End => return Ok(()),
            }
        }
    }

    async fn subscribe(&self, rule: MatchRule<'static>) -> zbus::Result<MessageStream> {
        MessageStream::for_match_rule(rule, &self.connection, Some(QUEUED_SIGNALS)).await
    }

    /// The connection of the service. The bus is asked, so that the service is not started.
    async fn current_owner(&self) -> Option<OwnedUniqueName> {
        let reply = self.connection.call_method(Some(BUS), BUS_OBJECT, Some(BUS), "GetNameOwner", &SERVICE).await;
        reply.ok()?.body().deserialize().ok()
    }

    async fn set_wanted(&mut self, is_wanted: bool) -> zbus::Result<()> {
        if self.is_wanted == is_wanted {
            return Ok(());
        }
        self.is_wanted = is_wanted;
        if is_wanted {
            self.claim().await;
            return Ok(());
        }
        self.report(None);
        match &self.owner {
            Some(owner) if std::mem::take(&mut self.is_claimed) => {
                let release = Message::method_call(OBJECT, "ReleaseAccelerometer")?.destination(owner.clone())?;
                // Nothing depends on the reply, so a service that hangs holds up nothing.
                let release = release.interface(SERVICE)?.with_flags(Flags::NoReplyExpected)?.build(&())?;
                self.connection.send(&release).await
            }
            _ => Ok(()),
        }
    }

    /// Claims the sensor if the session needs it and the service runs, and reads the orientation.
    async fn claim(&mut self) {
        let Some(owner) = self.owner.clone().filter(|_| self.is_wanted) else { return };
        // A service that answers too late has claimed it, too.
        self.is_claimed = true;
        let (connection, to) = (&self.connection, Some(owner));
        let claimed = connection.call_method(to.clone(), OBJECT, Some(SERVICE), "ClaimAccelerometer", &()).await;
        if let Err(error) = claimed {
            return tracing::warn!(%error, "iio-sensor-proxy does not give the accelerometer");
        }
        let read = connection.call_method(to, OBJECT, Some(PROPERTIES), "GetAll", &SERVICE).await;
        let properties = read.and_then(|reply| {
            let properties: std::collections::HashMap<String, OwnedValue> = reply.body().deserialize()?;
            Ok(properties)
        });
        let properties = match properties {
            Ok(properties) => properties,
            Err(error) => return tracing::warn!(%error, "iio-sensor-proxy does not tell the orientation"),
        };
        if let Some(false) = properties.get(HAS_ACCELEROMETER).and_then(|value| bool::try_from(value).ok()) {
            tracing::info!("iio-sensor-proxy has no accelerometer");
        }
        if let Some(orientation) = properties.get(ORIENTATION) {
            self.oriented(orientation);
        }
    }

    async fn signalled(&mut self, signal: &Message) {
        if let Some(changed) = NameOwnerChanged::from_message(signal.clone()) {
            let owner =
                changed.args().ok().and_then(|args| args.new_owner().as_ref().map(|owner| owner.to_owned().into()));
            return self.owner_changed(owner).await;
        }
        let header = signal.header();
        let is_from_service = self.owner.as_ref().is_some_and(|owner| header.sender() == Some(&**owner));
        let Some(changed) = PropertiesChanged::from_message(signal.clone()) else { return };
        let Ok(changed) = changed.args() else { return };
        // Any program can send a signal that looks like the service's.
        if is_from_service
            && self.is_claimed
            && changed.interface_name() == SERVICE
            && let Some(orientation) = changed.changed_properties().get(ORIENTATION)
        {
            self.oriented(orientation);
        }
    }

    /// The service has started, ended, or restarted.
    async fn owner_changed(&mut self, owner: Option<OwnedUniqueName>) {
        if self.owner == owner {
            return;
        }
        match &owner {
            Some(_) => tracing::info!("iio-sensor-proxy runs"),
            None => tracing::info!("iio-sensor-proxy has ended: outputs keep their transforms until it runs again"),
        }
        (self.owner, self.is_claimed, self.is_unknown_logged) = (owner, false, false);
        self.report(None);
        self.claim().await;
    }

    /// The service says how the device lies. While it cannot tell, the last orientation counts.
    fn oriented(&mut self, value: &Value<'_>) {
        match value {
            Value::Str(name) if name.as_str() == UNDEFINED => {}
            Value::Str(name) => match DeviceOrientation::from_name(name) {
                Some(orientation) => self.report(Some(orientation)),
                None => self.log_unknown(&name.chars().take(LOGGED_CHARACTERS).collect::<String>()),
            },
            other => self.log_unknown(&other.value_signature()),
        }
    }

    fn log_unknown(&mut self, orientation: &dyn Display) {
        if !std::mem::replace(&mut self.is_unknown_logged, true) {
            let orientation = orientation.to_string();
            tracing::warn!(?orientation, "iio-sensor-proxy reports an unknown orientation, which is ignored");
        }
    }

    fn report(&mut self, report: SensorReport) {
        if self.reported != report {
            self.reported = report;
            // The session may have ended meanwhile.
            let _ = self.reports.send(report);
        }
    }
}

/// The next signal. A stream ends only with its connection.
async fn next(signals: &mut MessageStream) -> zbus::Result<WatchEvent> {
    let closed = || zbus::Error::Failure("the connection is closed".to_owned());
    signals.next().await.unwrap_or_else(|| Err(closed())).map(WatchEvent::Signal)
}

/// Matches the starts and ends of the service.
fn owner_rule() -> zbus::Result<MatchRule<'static>> {
    let rule = MatchRule::builder().msg_type(Type::Signal).sender(BUS)?.interface(BUS)?;
    Ok(rule.member("NameOwnerChanged")?.add_arg(SERVICE)?.build())
}

/// Matches changes of the service's properties.
fn property_rule() -> zbus::Result<MatchRule<'static>> {
    let rule = MatchRule::builder().msg_type(Type::Signal).sender(SERVICE)?.path(OBJECT)?;
    Ok(rule.interface(PROPERTIES)?.member("PropertiesChanged")?.build())
}
