//! Turns outputs with the device, by its accelerometer.
//!
//! ```text
//!   iio-sensor-proxy ── D-Bus ──► sensor (a thread) ──► orientation (decides) ──► output::hotplug
//!                                    ▲                        ▲
//!       claimed while an output that follows it is on         └── configuration, rotation lock, tablet mode
//! ```
//!
//! The configured transform of an output is the mounting of its panel; the turn of the device is added to it. A transform
//! that the user sets at run time stays until the device is turned, or the lock is released.

mod orientation;
mod sensor;

use std::collections::HashMap;

use calloop::channel::{Event, channel};

use self::orientation::{
    DeviceOrientation, DeviceParts, PanelState, PanelTurn, SensorState, follows_sensor, next_turn,
};
use self::sensor::{AccelerometerThread, SensorReport};
use crate::config::Config;
use crate::input::SeatHardware;
use crate::input::switch::is_built_in;
use crate::output::hotplug::{self, OutputChange};
use crate::output::{OutputState, turn_of};
use crate::output_transform::OutputTransform;
use crate::state::State;
use upbeat_record::ipc::message::OutputRotation;
use upbeat_timing::id::OutputId;

/// State of turning outputs with the device.
#[derive(Debug, Default)]
pub(super) struct SensorRotation {
    thread: SensorThread,
    /// Whether the sensor is claimed.
    is_claimed: bool,
    orientation: Option<DeviceOrientation>,
    is_locked: bool,
    was_unlocked: bool,
    /// Outputs that the sensor has turned, by name: they are known again after they were disabled.
    turned: HashMap<String, TurnedOutput>,
    /// Outputs that turn with the device.
    following: Vec<OutputId>,
    /// Outputs, whether each is on, and the seat's hardware, as of the last update.
    seen: Vec<(OutputId, bool)>,
    seen_hardware: SeatHardware,
    /// The configuration, the lock or the orientation has changed since then.
    is_stale: bool,
}

/// The thread that reads the sensor.
#[derive(Debug, Default)]
enum SensorThread {
    /// No output has needed it yet.
    #[default]
    NotStarted,
    Running(AccelerometerThread),
    /// It cannot be started.
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct TurnedOutput {
    id: OutputId,
    orientation: DeviceOrientation,
}

impl SensorRotation {
    /// Settings of outputs have changed.
    pub(super) const fn configuration_changed(&mut self) {
        self.is_stale = true;
    }

    /// Locks the outputs in their transforms, or lets them turn again.
    pub(super) fn toggle_lock(&mut self) {
        self.is_locked = !self.is_locked;
        self.was_unlocked = !self.is_locked;
        self.is_stale = true;
        tracing::info!(is_locked = self.is_locked, turning_outputs = self.following.len(), "rotation lock");
    }

    /// Whether the rotation lock has an effect: an output turns with the device, or is to be let go.
    pub(super) const fn is_lock_useful(&self) -> bool {
        self.is_locked || !self.following.is_empty()
    }

    /// The transform of an output whose configured transform is `mounting`: with the turn that the sensor has given it.
    pub(super) fn transform(&self, (id, name): (OutputId, &str), mounting: OutputTransform) -> OutputTransform {
        let turned = self.turned.get(name).filter(|turned| turned.id == id);
        turned.map_or(mounting, |turned| turned.orientation.transform(mounting))
    }

    /// How the output turns with the device, for messages; `None` if it does not.
    pub(super) fn describe(&self, output: OutputId) -> Option<OutputRotation> {
        let orientation = self.orientation.map(|orientation| orientation.name().to_owned());
        self.following.contains(&output).then_some(OutputRotation { locked: self.is_locked, orientation })
    }

    /// Whether an update has nothing to do. Called in each turn of the loop.
    fn is_current(&self, state: &State) -> bool {
        !self.is_stale
            && self.seen_hardware == state.input.hardware()
            && state.outputs.states().map(power_state).eq(self.seen.iter().copied())
    }

    /// The orientation that an output was turned for. `current`: its transform.
    fn turned_for(
        &self,
        (id, name): (OutputId, &str),
        mounting: OutputTransform,
        current: OutputTransform,
    ) -> Option<DeviceOrientation> {
        let turned = self.turned.get(name)?;
        // A disabled output comes back with its old transform, an unplugged output with its configured transform.
        (turned.id == id || turned.orientation.transform(mounting) == current).then_some(turned.orientation)
    }
}

/// Turns outputs after a change, and claims the sensor while an output needs it.
pub(super) fn update(state: &mut State) {
    if state.session.rotation.is_current(state) {
        return;
    }
    let changes = plan(state);
    if !changes.is_empty() {
        hotplug::arrange_all(state, &changes);
    }
    let is_needed = state.outputs.states().any(|output| {
        let is_following = state.session.rotation.following.contains(&output.id());
        is_following && output.is_on()
    });
    set_claimed(state, is_needed);
}

/// Decides how outputs turn, and notes it.
fn plan(state: &mut State) -> Vec<OutputChange> {
    let hardware = state.input.hardware();
    let (config, rotation) = (state.session.config.config(), &state.session.rotation);
    let (mut following, mut lit) = (Vec::new(), Vec::new());
    for output in state.outputs.states() {
        let panel = Panel::of(output, config, hardware);
        if panel.follows {
            following.push(panel.id);
        }
        // A dark output is turned when it is on again: the user may just have switched to another virtual terminal.
        if !output.is_on() {
            continue;
        }
        let current = turn_of(output.output());
        let turned_for = rotation.turned_for((panel.id, &panel.name), panel.mounting, current);
        lit.push((panel, turned_for, current));
    }
    let seen = state.outputs.states().map(power_state).collect();
    let rotation = &mut state.session.rotation;
    let sensor = rotation.sensor();
    (rotation.following, rotation.seen, rotation.seen_hardware) = (following, seen, hardware);
    (rotation.is_stale, rotation.was_unlocked) = (false, false);
    let changes = lit.into_iter().filter_map(|(panel, turned_for, current)| {
        let turn = next_turn(PanelState { follows: panel.follows, turned_for }, sensor);
        rotation.note(&panel, turn.map_or(turned_for, PanelTurn::orientation));
        let transform = turn?.transform(panel.mounting);
        tracing::debug!(output = panel.name, ?turn, %transform, "turned with the device");
        let change = OutputChange { turn: Some(transform), ..OutputChange::none(panel.id) };
        (transform != current).then_some(change)
    });
    changes.collect()
}

impl SensorRotation {
    const fn sensor(&self) -> SensorState {
        SensorState { orientation: self.orientation, is_locked: self.is_locked, was_unlocked: self.was_unlocked }
    }

    /// Notes the orientation that an output is turned for; `None`: it is not turned.
    fn note(&mut self, panel: &Panel, orientation: Option<DeviceOrientation>) {
        match orientation {
            Some(orientation) => _ = self.turned.insert(panel.name.clone(), TurnedOutput { id: panel.id, orientation }),
            None => _ = self.turned.remove(&panel.name),
        }
    }
}

/// An output and its configuration.
struct Panel {
    id: OutputId,
    name: String,
    mounting: OutputTransform,
    follows: bool,
}

impl Panel {
    fn of(output: &OutputState, config: &Config, hardware: SeatHardware) -> Self {
        let name = output.output().name();
        let monitor = output.display().identity().map(|identity| identity.to_string());
        let settings = config.output(&name, monitor.as_deref());
        let device = DeviceParts {
            is_built_in: is_built_in(&name),
            has_touchscreen: hardware.has_touchscreen(),
            tablet_mode: hardware.tablet_mode(),
        };
        let follows = follows_sensor(settings.rotation, device);
        Panel { id: output.id(), name, mounting: settings.turn, follows }
    }
}

fn power_state(output: &OutputState) -> (OutputId, bool) {
    (output.id(), output.is_on())
}

/// Claims the sensor or releases it. The thread starts when the sensor is needed for the first time.
fn set_claimed(state: &mut State, is_needed: bool) {
    if is_needed == state.session.rotation.is_claimed {
        return;
    }
    state.session.rotation.is_claimed = is_needed;
    if matches!(state.session.rotation.thread, SensorThread::NotStarted) {
        state.session.rotation.thread = start_thread(state).map_or_else(
            |error| {
                tracing::error!("outputs do not turn with the device: {error}");
                SensorThread::Failed
            },
            SensorThread::Running,
        );
    }
    if let SensorThread::Running(thread) = &state.session.rotation.thread {
        thread.set_claimed(is_needed);
    }
}

fn start_thread(state: &State) -> Result<AccelerometerThread, String> {
    let (sender, reports) = channel::<SensorReport>();
    let received = |event, (): &mut (), state: &mut State| {
        if let Event::Msg(orientation) = event {
            state.session.rotation.orientation = orientation;
            state.session.rotation.is_stale = true;
        }
    };
    state.loop_handle.insert_source(reports, received).map_err(|error| error.to_string())?;
    AccelerometerThread::start(sender).map_err(|error| error.to_string())
}
