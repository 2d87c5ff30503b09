//! Configurations of outputs, gathered request by request, then tested or applied.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_configuration_head_v1::{
    self, Error as HeadError, ZwlrOutputConfigurationHeadV1,
};
use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_configuration_v1::{
    self, Error, ZwlrOutputConfigurationV1,
};
use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_head_v1::{
    AdaptiveSyncState, ZwlrOutputHeadV1,
};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};
use smithay::utils::Transform;

use super::heads::{HeadName, OutputHeadMode};
use super::transaction::{self, HeadConfiguration};
use super::{repeated_positions, unknown_state};
use crate::backend::VideoMode;
use crate::bounds::MAX_EXTENT;
use crate::guard::Handlers;
use crate::output_transform::OutputTransform;
use crate::state::State;
use upbeat_timing::time::Clock;

/// Outputs that one configuration may name. More than exist, because heads of unplugged outputs may be named, too.
const MOST_HEADS: usize = 128;

/// User data of a configuration object.
#[derive(Debug, Default)]
pub struct OutputConfiguration(Mutex<PendingConfiguration>);

#[derive(Debug, Default)]
struct PendingConfiguration {
    /// Serial of the state that the client has seen.
    serial: u32,
    /// It was tested or applied, which a client may do only once.
    used: bool,
    heads: Vec<HeadConfiguration>,
}

/// User data of a configuration head: its configuration and the name of its output.
#[derive(Debug)]
pub struct ConfigurationHead {
    configuration: ZwlrOutputConfigurationV1,
    output: String,
}

impl OutputConfiguration {
    pub(super) fn new(serial: u32) -> Self {
        OutputConfiguration(Mutex::new(PendingConfiguration { serial, ..PendingConfiguration::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, PendingConfiguration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an output. `None` if that is a protocol error, which was sent.
    fn add(&self, object: &ZwlrOutputConfigurationV1, head: &ZwlrOutputHeadV1, enabled: bool) -> Option<String> {
        let output = head.data::<HeadName>().map(|name| name.0.clone()).unwrap_or_default();
        let mut gathered = self.lock();
        if gathered.used {
            object.post_error(Error::AlreadyUsed, "the configuration was tested or applied before");
            return None;
        }
        if gathered.heads.iter().any(|head| head.output == output) || gathered.heads.len() >= MOST_HEADS {
            object.post_error(Error::AlreadyConfiguredHead, format!("{output} is configured already"));
            return None;
        }
        gathered.heads.push(HeadConfiguration { output: output.clone(), enabled, ..HeadConfiguration::default() });
        Some(output)
    }
}

impl Dispatch<ZwlrOutputConfigurationV1, OutputConfiguration, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ZwlrOutputConfigurationV1,
        request: zwlr_output_configuration_v1::Request,
        configuration: &OutputConfiguration,
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwlr_output_configuration_v1::Request;
        let is_test = matches!(request, Request::Test);
        match request {
            Request::EnableHead { id, head } => {
                let output = configuration.add(object, &head, true).unwrap_or_default();
                init.init(id, ConfigurationHead { configuration: object.clone(), output });
            }
            Request::DisableHead { head } => _ = configuration.add(object, &head, false),
            Request::Apply | Request::Test => {
                let mut gathered = configuration.lock();
                if std::mem::replace(&mut gathered.used, true) {
                    object.post_error(Error::AlreadyUsed, "the configuration was tested or applied before");
                    return;
                }
                let (serial, mut heads) = (gathered.serial, std::mem::take(&mut gathered.heads));
                drop(gathered);
                if serial != state.protocols.output_management.serial {
                    object.cancelled();
                    return;
                }
                transaction::choose_rates(state, &mut heads);
                unknown_state::remove_defaults(state, &mut heads);
                repeated_positions::remove(state, &mut heads);
                if is_test {
                    let object = object.clone();
                    let then = move |_: &mut State, result| answer(&object, result, true);
                    return transaction::test_with_drivers(state, &heads, then);
                }
                let wanted = WaitingConfiguration { object: object.clone(), serial, heads };
                queue(&mut state.protocols.output_management.waiting, wanted);
                apply_waiting(state);
            }
            _ => {}
        }
    }
}

/// A configuration that waits to be applied.
#[derive(Debug)]
pub(super) struct WaitingConfiguration {
    object: ZwlrOutputConfigurationV1,
    serial: u32,
    heads: Vec<HeadConfiguration>,
}

/// Queues a configuration and cancels older ones of its client, so that a client that applies all the time does not
/// delay other clients.
fn queue(waiting: &mut VecDeque<WaitingConfiguration>, wanted: WaitingConfiguration) {
    let client = wanted.object.client();
    waiting.retain(|other| {
        let is_older = other.object.client() == client;
        if is_older {
            other.object.cancelled();
        }
        !is_older && other.object.is_alive()
    });
    waiting.push_back(wanted);
}

/// Applies waiting configurations as far as the rate limit allows. A configuration is cancelled if the outputs have
/// changed since.
pub(super) fn apply_waiting(state: &mut State) {
    loop {
        let now = state.clock.now();
        let management = &mut state.protocols.output_management;
        management.due = None;
        let Some(WaitingConfiguration { object, serial, .. }) = management.waiting.front() else { return };
        let is_cancelled = *serial != management.serial || management.applying.is_some();
        if object.is_alive()
            && !is_cancelled
            && let Err(wait) = management.rate_limit.take(now)
        {
            management.due = Some(now + wait);
            return;
        }
        let Some(WaitingConfiguration { object, heads, .. }) = management.waiting.pop_front() else { return };
        if is_cancelled {
            management.cancelled |= management.applying.is_some();
            object.cancelled();
        } else if object.is_alive() {
            let number = management.begin();
            transaction::apply(state, heads, move |state, result| {
                state.protocols.output_management.end(number);
                answer(&object, result, false);
            });
        }
    }
}

fn answer(object: &ZwlrOutputConfigurationV1, result: Result<(), String>, is_test: bool) {
    match result {
        Ok(()) => object.succeeded(),
        Err(reason) => {
            tracing::warn!(%reason, is_test, "a configuration of outputs was refused");
            object.failed();
        }
    }
}

impl Dispatch<ZwlrOutputConfigurationHeadV1, ConfigurationHead, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        object: &ZwlrOutputConfigurationHeadV1,
        request: zwlr_output_configuration_head_v1::Request,
        of: &ConfigurationHead,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let Some(configuration) = of.configuration.data::<OutputConfiguration>() else { return };
        let mut gathered = configuration.lock();
        // A used configuration has no outputs left, so the request has no effect.
        let Some(head) = gathered.heads.iter_mut().find(|head| head.output == of.output) else { return };
        if let Err((error, message)) = set_option(head, request) {
            object.post_error(error, message);
        }
    }
}

/// Stores a request for one output. An invalid request returns the protocol error to send.
fn set_option(
    head: &mut HeadConfiguration,
    request: zwlr_output_configuration_head_v1::Request,
) -> Result<(), (HeadError, &'static str)> {
    use zwlr_output_configuration_head_v1::Request;
    let is_new = match request {
        Request::SetMode { mode } => {
            let of = mode.data::<OutputHeadMode>().filter(|of| of.output == head.output);
            let of = of.ok_or((HeadError::InvalidMode, "the mode belongs to another output"))?;
            head.mode.replace(of.mode).is_none()
        }
        Request::SetCustomMode { width, height, refresh } => {
            let sides = 1..=MAX_EXTENT;
            if !sides.contains(&width) || !sides.contains(&height) || refresh < 0 {
                return Err((HeadError::InvalidCustomMode, "a mode without size"));
            }
            let refresh = refresh.cast_unsigned();
            head.mode.replace(VideoMode { width, height, refresh }).is_none()
        }
        Request::SetPosition { x, y } => head.position.replace((x, y)).is_none(),
        Request::SetTransform { transform: WEnum::Value(transform) } => {
            head.turn.replace(OutputTransform::from(Transform::from(transform))).is_none()
        }
        Request::SetTransform { .. } => return Err((HeadError::InvalidTransform, "there is no such transform")),
        Request::SetScale { scale } => {
            if scale.is_nan() || scale <= 0.0 {
                return Err((HeadError::InvalidScale, "a scale that is not positive"));
            }
            head.scale.replace(scale).is_none()
        }
        Request::SetAdaptiveSync { state: WEnum::Value(sync) } => {
            head.adaptive_sync.replace(sync == AdaptiveSyncState::Enabled).is_none()
        }
        Request::SetAdaptiveSync { .. } => {
            return Err((HeadError::InvalidAdaptiveSyncState, "there is no such state of adaptive sync"));
        }
        _ => return Ok(()),
    };
    if is_new { Ok(()) } else { Err((HeadError::AlreadySet, "this property was set before")) }
}
