//! The worker's state of a device: it opens the device, scans its connectors and sets up outputs.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use calloop::ping::Ping;
use smithay::backend::drm::{DrmDevice, DrmDeviceFd, PlaneClaim, PlaneInfo};
use smithay::reexports::drm::control::{Device as _, Mode as DrmMode, connector, crtc, plane};
use smithay::reexports::drm::{Device as _, DriverCapability};
use smithay::utils::DeviceFd;

use super::atomic::{self, AtomicCrtc, CommitKind};
use super::command_queue::{QueueReceiver, QueueSender, queue};
use super::connector::{self as connectors, ConnectedMonitor};
use super::crtc::Crtc;
use super::cursor::CursorImages;
use super::flip_clock::FlipClock;
use super::flipper::{Flipper, FlipperParts};
use super::gamma::Gamma;
use super::messages::PresenterCommand;
use super::mode::mode_of;
use super::monitor_check::{FoundMonitor, LitMonitor, MonitorChange};
use super::pipe::{PipeChannels, PipeProperties};
use super::planes::{ClientPlanes, MOST_OVERLAYS};
use super::presenter::{self, PresenterChannels};
use super::scanout::{ScanoutAllocator, ScanoutBuffers};
use super::vrr::VariableRates;
use super::worker::WorkerHandle;
use super::{ConfiguredMode, DrmError, driver_features, edid, fence, kms, mode, vblank};
use crate::backend::{DeviceRenderer, EdidIdentity};
use upbeat_timing::time::{Clock, MonotonicClock};

/// The kernel's virtual display driver.
const SIMULATED: &str = "vkms";

/// A result for the main thread.
pub(super) enum WorkerResult {
    Opened { device: DrmDeviceFd, driver: String },
    Failed(DrmError),
    Plugged(Box<(PipeProperties, ScanoutBuffers, PipeChannels)>),
    Unplugged(connector::Handle),
    Modes(connector::Handle, Vec<DrmMode>),
    Unusable(String, DrmError),
    Scanned,
    ScanFailed(DrmError),
}

/// Sends results and wakes the main thread.
#[derive(Clone)]
pub(super) struct WorkerReports {
    results: QueueSender<WorkerResult>,
    wakeup: Ping,
}

impl WorkerReports {
    pub fn new(results: QueueSender<WorkerResult>, wakeup: Ping) -> Self {
        WorkerReports { results, wakeup }
    }

    pub fn send(&self, result: WorkerResult) {
        self.results.send(result);
        self.wakeup.ping();
    }
}

/// Returns the configured mode of a monitor, by its connector and identity.
pub(super) type ModeChooser = Box<dyn Fn(&str, Option<&EdidIdentity>) -> ConfiguredMode + Send>;

/// A request to scan the connectors.
pub(super) struct ScanRequest {
    pub wish: ModeChooser,
    /// The renderer for the outputs' buffers.
    pub renderer: Box<dyn DeviceRenderer>,
}

/// A monitor that is driven, or was until just now.
struct ActiveOutput {
    connector: connector::Handle,
    crtc: crtc::Handle,
    presenter: QueueSender<PresenterCommand>,
    thread: JoinHandle<()>,
    monitor: LitMonitor,
}

pub(super) struct WorkerState {
    /// Pending scan requests; only the newest counts.
    scans: QueueReceiver<ScanRequest>,
    device: Option<DrmDevice>,
    driver: String,
    outputs: Vec<ActiveOutput>,
    /// Outputs whose presenters are about to end, which frees their CRTCs.
    leaving: Vec<ActiveOutput>,
}

impl WorkerState {
    pub fn new(scans: QueueReceiver<ScanRequest>) -> Self {
        WorkerState { scans, device: None, driver: String::new(), outputs: Vec::new(), leaving: Vec::new() }
    }

    /// Opens the device and reports the result.
    pub fn open(&mut self, descriptor: OwnedFd, reports: &WorkerReports) {
        match self.take_over(descriptor) {
            Ok(device) => reports.send(WorkerResult::Opened { device, driver: self.driver.clone() }),
            Err(error) => reports.send(WorkerResult::Failed(error)),
        }
    }

    fn take_over(&mut self, descriptor: OwnedFd) -> Result<DrmDeviceFd, DrmError> {
        // Several threads read its events, so no read may block.
        let flags = rustix::fs::fcntl_getfl(&descriptor);
        let set = flags.and_then(|flags| rustix::fs::fcntl_setfl(&descriptor, flags | rustix::fs::OFlags::NONBLOCK));
        set.map_err(|error| DrmError::Device {
            what: "the device's events cannot be read without blocking",
            error: error.into(),
        })?;
        let descriptor = DrmDeviceFd::new(DeviceFd::from(descriptor));
        // Keep the console's framebuffer until our first frame, so that the screen does not flicker black. The
        // presenters read the events, not Smithay's source.
        let (device, _events) =
            DrmDevice::new(descriptor, false).map_err(kms("the device cannot be used for display"))?;
        let driver = device.get_driver().map(|driver| OsString::from(driver.name()));
        self.driver = driver.map_or_else(|_| "unknown".to_owned(), |name| name.to_string_lossy().into_owned());
        tracing::info!(driver = self.driver, atomic = device.is_atomic(), "display device");
        let descriptor = device.device_fd().clone();
        self.device = Some(device);
        Ok(descriptor)
    }

    /// Another session takes the device.
    pub fn pause(&mut self) {
        // The presenters were paused already, but an earlier `resume` may have been queued behind that.
        self.outputs.iter().for_each(|output| output.presenter.send(PresenterCommand::Pause));
        self.device.iter_mut().for_each(DrmDevice::pause);
    }

    /// The device is ours again: resumes the presenters.
    pub fn resume(&mut self) {
        if let Some(Err(error)) = self.device.as_mut().map(|device| device.activate(false)) {
            tracing::error!(%error, "a display device cannot be used again");
        }
        self.resolve_crtc_conflicts();
        self.outputs.iter().for_each(|output| output.presenter.send(PresenterCommand::Resume));
    }

    /// Another session may have driven our monitors with other CRTCs. Each presenter makes its own modeset, and
    /// none of them could go first, so all outputs are switched off before.
    fn resolve_crtc_conflicts(&mut self) {
        let Some(device) = self.device.as_ref().filter(|device| device.is_atomic()) else { return };
        let ours: Vec<_> = self.outputs.iter().map(|output| (output.connector, output.crtc)).collect();
        if !connectors::have_crtc_conflict(&connectors::routes(device), &ours) {
            return;
        }
        tracing::info!("another session had the monitors on other CRTCs: all are switched off before they are lit");
        if let Err(error) = atomic::disable_all_outputs(device.device_fd()) {
            tracing::error!(%error, "monitors that another session had on other CRTCs may stay dark");
        }
    }

    /// Scans the connectors if a request is pending. A loose plug causes many requests at once, and a probe
    /// may take seconds, during which other jobs wait. So requests are merged.
    pub fn scan(&mut self, jobs: &WorkerHandle, reports: &WorkerReports) {
        // While another session has the device the request stays queued for the scan after its return.
        let Some(device) = self.device.as_ref().filter(|device| device.is_active()) else { return };
        let Some(ScanRequest { wish, mut renderer }) = std::iter::from_fn(|| self.scans.take()).last() else { return };
        let mut monitors = match connectors::connected_monitors(device, true) {
            Ok(monitors) => monitors,
            Err(error) => return reports.send(WorkerResult::ScanFailed(error)),
        };
        // Active monitors come first and keep their CRTCs: another output's commit could not take an active
        // CRTC from them.
        monitors.sort_by_key(|monitor| monitor.connector.current_encoder().is_none());
        let (mut changed, now) = (Vec::new(), MonotonicClock.now());
        // An output whose presenter has panicked is set up again.
        let mut stays = |output: &mut ActiveOutput| {
            let Some(monitor) = monitors.iter().find(|known| known.connector.handle() == output.connector) else {
                return false;
            };
            let change = output.monitor.compare(&FoundMonitor::read(device, output.connector), now);
            if let Some(change) = change {
                tracing::warn!(output = monitor.name, reason = %change, "the output is set up anew");
                changed.push((output.connector, output.monitor.clone(), change));
            } else if output.monitor.is_given_up() {
                tracing::error!(output = monitor.name, "its link fails again and again: it stays as it is");
            }
            change.is_none() && !output.thread.is_finished()
        };
        let gone: Vec<_> = self.outputs.extract_if(.., |output| !stays(output)).collect();
        for output in gone {
            let connector = output.connector;
            self.leave(output);
            reports.send(WorkerResult::Unplugged(connector));
        }
        for monitor in &monitors {
            let connector = monitor.connector.handle();
            if self.outputs.iter().any(|output| output.connector == connector) {
                reports.send(WorkerResult::Modes(connector, monitor.connector.modes().to_vec()));
                continue;
            }
            let earlier = changed.iter().find(|(known, ..)| *known == connector);
            let earlier = earlier.map(|(_, before, change)| (before.clone(), *change));
            reports.send(match self.set_up_output((monitor, earlier), &wish, renderer.as_mut(), jobs, reports) {
                Ok(plugged) => WorkerResult::Plugged(Box::new(plugged)),
                Err(error) => WorkerResult::Unusable(monitor.name.clone(), error),
            });
        }
        reports.send(WorkerResult::Scanned);
    }

    /// Ends the presenters of all outputs.
    pub fn forget_outputs(&mut self, reports: &WorkerReports) {
        for output in std::mem::take(&mut self.outputs) {
            // The message that it was plugged in may still be unread, so always send this one after it.
            reports.send(WorkerResult::Unplugged(output.connector));
            self.leave(output);
        }
    }

    fn leave(&mut self, output: ActiveOutput) {
        output.presenter.send(PresenterCommand::Unplug);
        self.outputs.iter().for_each(|other| other.presenter.send(PresenterCommand::RemovePeer(output.crtc)));
        self.leaving.push(output);
    }

    /// Waits for the presenters that are about to end, which frees their CRTCs and planes.
    fn join_leaving(&mut self) {
        for output in self.leaving.drain(..) {
            if output.thread.join().is_err() {
                tracing::error!("a presenter has panicked");
            }
        }
    }

    fn set_up_output(
        &mut self,
        (monitor, earlier): (&ConnectedMonitor, Option<(LitMonitor, MonitorChange)>),
        wish: &ModeChooser,
        renderer: &mut dyn DeviceRenderer,
        jobs: &WorkerHandle,
        reports: &WorkerReports,
    ) -> Result<(PipeProperties, ScanoutBuffers, PipeChannels), DrmError> {
        self.join_leaving();
        let Some(device) = &mut self.device else { return Err(gone()) };
        let taken: Vec<crtc::Handle> = self.outputs.iter().map(|output| output.crtc).collect();
        let name = monitor.name.clone();
        let edid = edid::read(device, monitor.connector.handle());
        let identity = edid.as_deref().and_then(edid::identify);
        let wish = wish(&name, identity.as_ref());
        let handle = connectors::crtc_for(device, monitor, &taken).ok_or(DrmError::NoCrtc { name: name.clone() })?;
        let mode = mode::choose(&name, monitor.connector.modes(), wish).or_else(|error| {
            // A wrong configuration must not leave the monitor dark.
            tracing::error!(%error, "the preferred mode is used instead");
            mode::choose(&name, monitor.connector.modes(), ConfiguredMode::default())
        })?;
        let counts_vblanks = vblank::is_counted(device, handle);
        if !counts_vblanks {
            tracing::warn!(output = name, driver = self.driver, "the driver has no vblank counter: software vsync");
        }
        let ClaimedCrtc { mut crtc, overlays, cursor } = claim_crtc(device, handle, monitor.connector.handle(), mode)?;
        let size = (mode_of(mode).width, mode_of(mode).height);
        let scanout = ScanoutAllocator::find(&mut crtc, size, &name, renderer, jobs)?;
        let rates = VariableRates::of(edid.as_deref(), crtc.atomic());
        let range =
            rates.range(&name, mode_of(mode), wish.slowest).filter(|_| enable_vrr(&mut crtc, &scanout, size, &name));
        let features = driver_features::find(device, handle, &crtc, scanout.first().as_ref(), &self.driver);
        let cursor_size = device.cursor_size();
        let cursor_size = (cursor_size.w.cast_signed(), cursor_size.h.cast_signed());
        let cursor = cursor.and_then(|claim| cursor_images(crtc.device(), claim, cursor_size));
        let gamma = Gamma::new(&crtc);
        let client = ClientPlanes::new(crtc.primary(), overlays);
        let properties = PipeProperties {
            name: name.clone(),
            connector: monitor.connector.handle(),
            millimetres: monitor.connector.size().filter(|size| size.0 > 0 && size.1 > 0),
            identity,
            modes: monitor.connector.modes().to_vec(),
            mode,
            rates,
            slowest: wish.slowest,
            range,
            has_beam: self.driver != SIMULATED,
            is_atomic: crtc.atomic().is_some(),
            counts_vblanks,
            cursor_size: cursor.as_ref().map(|(images, _)| images.size),
            gamma_size: gamma.as_ref().map(Gamma::size),
            formats: client.formats().clone(),
            features,
            device: crtc.device().clone(),
        };
        // Legacy modesetting trains links with each modeset, and does not tell.
        let is_lit = crtc.atomic().map(AtomicCrtc::lit_flag).unwrap_or_default();
        let lit = LitMonitor::new(edid, is_lit, earlier, MonotonicClock.now());
        let flipper = Flipper::new(FlipperParts {
            name,
            clock: FlipClock::new(mode_of(mode).interval(), counts_vblanks, MonotonicClock.now()),
            has_beam: properties.has_beam,
            takes_fences: fence::taken_by(&crtc),
            crtc,
            mode,
            client,
            cursor,
            gamma,
            crtc_index: vblank::crtc_index(device, handle).unwrap_or(0),
            needs_dirtyfb: properties.features.needs_dirtyfb == Some(true),
        });
        let channels = self.start_presenter(flipper, (properties.connector, handle, lit), jobs, reports)?;
        Ok((properties, scanout, channels))
    }

    /// Starts a presenter for a CRTC, and introduces it and the other presenters to each other.
    fn start_presenter(
        &mut self,
        flipper: Flipper,
        (connector, crtc, monitor): (connector::Handle, crtc::Handle, LitMonitor),
        jobs: &WorkerHandle,
        reports: &WorkerReports,
    ) -> Result<PipeChannels, DrmError> {
        let device = self.device.as_ref().ok_or_else(gone)?;
        let monotonic = device.get_driver_capability(DriverCapability::MonotonicTimestamp);
        let failed = |error| DrmError::Device { what: "the presenter's queue cannot be created", error };
        let (answers, messages) = queue().map_err(failed)?;
        let presenter_channels = PresenterChannels {
            device: device.device_fd().clone(),
            crtc,
            monotonic: monotonic.is_ok_and(|value| value == 1),
            messages: answers.clone(),
            wakeup: reports.wakeup.clone(),
        };
        let (presenter, thread) = presenter::start(flipper, presenter_channels)?;
        for other in &self.outputs {
            // Send this before its first commit, so that every presenter can forward its first event.
            other.presenter.send(PresenterCommand::AddPeer(crtc, presenter.clone()));
            presenter.send(PresenterCommand::AddPeer(other.crtc, other.presenter.clone()));
        }
        self.outputs.push(ActiveOutput { connector, crtc, presenter: presenter.clone(), thread, monitor });
        Ok(PipeChannels { presenter, messages, answers, wakeup: reports.wakeup.clone(), jobs: jobs.clone() })
    }
}

fn gone() -> DrmError {
    DrmError::Device { what: "the device is not open", error: std::io::ErrorKind::NotConnected.into() }
}

/// The CRTC and the planes of an output.
struct ClaimedCrtc {
    crtc: Crtc,
    overlays: Vec<(PlaneInfo, PlaneClaim)>,
    cursor: Option<PlaneClaim>,
}

/// Claims a CRTC and free planes.
fn claim_crtc(
    device: &mut DrmDevice,
    handle: crtc::Handle,
    connector: connector::Handle,
    mode: DrmMode,
) -> Result<ClaimedCrtc, DrmError> {
    if !device.is_atomic() {
        // Legacy modesetting has no planes besides the cursor plane, which we do not use there.
        let surface = device.create_surface(handle, mode, &[connector]).map_err(kms("no CRTC could be set up"))?;
        return Ok(ClaimedCrtc { crtc: Crtc::of_legacy(surface), overlays: Vec::new(), cursor: None });
    }
    let planes = device.planes(&handle).map_err(kms("no CRTC could be set up"))?;
    let claim = |info: &PlaneInfo| Some((info.clone(), device.claim_plane(info.handle, handle)?));
    let primary = planes.primary.iter().find_map(claim).ok_or_else(|| DrmError::Kms {
        what: "no CRTC could be set up",
        error: Box::new(smithay::backend::drm::DrmError::NoPlane),
    })?;
    let is_above = |info: &&PlaneInfo| match (info.zpos, primary.0.zpos) {
        (Some(overlay), Some(primary)) => overlay > primary,
        // Without `zpos`, overlays lie above the primary plane.
        _ => true,
    };
    let overlays = planes.overlay.iter().filter(is_above).filter_map(claim).take(MOST_OVERLAYS);
    let overlays = overlays.map(|(info, claim)| {
        // Another compositor may leave planes in another order, where the driver lets it.
        let zpos = info.zpos.filter(|_| has_fixed_position(device, info.handle));
        (PlaneInfo { zpos, ..info }, claim)
    });
    let overlays: Vec<_> = overlays.collect();
    let cursor = planes.cursor.iter().find_map(claim).map(|(_, claim)| claim);
    let ours = overlays.iter().map(|(_, claim)| claim).chain(&cursor).map(PlaneClaim::plane);
    let ours: Vec<_> = std::iter::once(primary.0.handle).chain(ours).collect();
    let unknown = |error| DrmError::Device { what: "the properties of a CRTC cannot be read", error };
    let descriptor = device.device_fd().clone();
    let mut atomic = AtomicCrtc::new(&descriptor, handle, connector, ours.into_iter(), mode).map_err(unknown)?;
    atomic.detach_at_modeset(connectors::stray_connectors(device, handle, connector));
    Ok(ClaimedCrtc { crtc: Crtc::of_atomic(descriptor, atomic, primary), overlays, cursor })
}

/// Whether the position of a plane in the stack never changes.
fn has_fixed_position(device: &DrmDevice, plane: plane::Handle) -> bool {
    let Ok(properties) = device.get_properties(plane) else { return false };
    let (ids, _) = properties.as_props_and_values();
    let mut infos = ids.iter().filter_map(|id| device.get_property(*id).ok());
    infos.any(|info| info.name().to_str() == Ok("zpos") && !info.mutable())
}

/// Enables variable refresh if the driver accepts it in a test commit. Returns whether it does.
fn enable_vrr(crtc: &mut Crtc, scanout: &ScanoutBuffers, size: (i32, i32), name: &str) -> bool {
    let config = scanout.first().map(|picture| picture.plane_config(size));
    let plane = smithay::backend::drm::PlaneState { handle: crtc.primary().handle, config };
    if let Some(atomic) = crtc.atomic_mut() {
        atomic.vrr = true;
    }
    let taken = crtc.commit(&[plane], None, CommitKind::TestLight);
    if let (Err(error), Some(atomic)) = (&taken, crtc.atomic_mut()) {
        tracing::warn!(output = name, %error, "the driver does not vary the rate");
        atomic.vrr = false;
    }
    taken.is_ok()
}

fn cursor_images(device: &DrmDeviceFd, claim: PlaneClaim, size: (i32, i32)) -> Option<(CursorImages, PlaneClaim)> {
    let images = CursorImages::new(device, claim.plane(), size)
        .inspect_err(|error| tracing::warn!(%error, "the cursor plane cannot be used: the cursor is drawn"));
    Some((images.ok()?, claim))
}
