//! Atomic modesetting of one CRTC. Smithay's implementation holds a lock that all outputs of a device share while it
//! switches a mode. Here each output has its own state, so that it never waits for another output.

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smithay::backend::drm::{DrmDeviceFd, PlaneConfig, PlaneState};
use smithay::reexports::drm::control::atomic::AtomicModeReq;
use smithay::reexports::drm::control::{
    AtomicCommitFlags, Device, Mode as DrmMode, RawResourceHandle, connector, crtc, framebuffer, plane, property,
};

use super::committed_state::{CommittedState, PlaneUpdate};
use super::property::{Blob, Properties};
use crate::real_time::run_in_ordinary_class;
use upbeat_record::faults;

/// Plane coordinates are fixed-point numbers with 16 fractional bits.
const FIXED_POINT: f64 = 65_536.0;
/// `DRM_MODE_ROTATE_0`, for `rotation`.
const UPRIGHT: property::RawValue = 1;
/// Fully opaque, for `alpha`.
const OPAQUE: property::RawValue = 0xffff;
/// `DRM_MODE_LINK_STATUS_GOOD` in the kernel's `drm_mode.h`.
const LINK_GOOD: property::RawValue = 0;
/// No fence, for `IN_FENCE_FD`.
const NO_FENCE: property::RawValue = property::RawValue::MAX;

/// `DRM_PLANE_TYPE_CURSOR`, the value of `type` for a cursor plane.
const CURSOR: property::RawValue = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitKind {
    /// Show the planes at the next refresh. Does not block; the kernel sends a flip event.
    Flip,
    /// Modeset: switch the output on with its mode. May block until it is done.
    Light,
    /// Test-only: would the driver accept this flip?
    TestFlip,
    /// Test-only: would the driver accept this modeset?
    TestLight,
}

/// A CRTC property and its value, for one commit.
pub(super) type CrtcProperty = (property::Handle, property::RawValue);

/// One CRTC with its connector and all planes that it may use.
pub(super) struct AtomicCrtc {
    device: DrmDeviceFd,
    crtc: Properties,
    connector: Properties,
    planes: Vec<(plane::Handle, Properties)>,
    /// The `MODE_ID` blob of the next modeset.
    mode: Blob,
    /// Whether variable refresh is wanted.
    pub vrr: bool,
    /// Connectors without a monitor that the CRTC drove before we took it over.
    stray_connectors: Vec<Properties>,
    /// Whether the CRTC is on.
    is_lit: Arc<AtomicBool>,
    /// Planes that may be visible.
    visible_planes: Vec<plane::Handle>,
    /// The state that the kernel has, so that a flip sets only the properties that change.
    committed: CommittedState,
}

impl AtomicCrtc {
    /// A CRTC that is not switched on yet. Reads properties from the kernel, so call it on the worker.
    pub fn new(
        device: &DrmDeviceFd,
        crtc: crtc::Handle,
        connector: connector::Handle,
        planes: impl Iterator<Item = plane::Handle>,
        mode: DrmMode,
    ) -> std::io::Result<Self> {
        let planes = planes.map(|plane| Ok((plane, Properties::of(device, plane)?)));
        let planes = planes.collect::<std::io::Result<Vec<_>>>()?;
        Ok(AtomicCrtc {
            visible_planes: planes.iter().map(|(plane, _)| *plane).collect(),
            device: device.clone(),
            crtc: Properties::of(device, crtc)?,
            connector: Properties::of(device, connector)?,
            planes,
            mode: Blob::of(device, &mode)?,
            vrr: false,
            stray_connectors: Vec::new(),
            is_lit: Arc::default(),
            committed: CommittedState::default(),
        })
    }

    /// Whether the CRTC is on: a flag that is kept up to date.
    pub fn lit_flag(&self) -> Arc<AtomicBool> {
        self.is_lit.clone()
    }

    /// Detaches these connectors from the CRTC at the next modeset.
    pub fn detach_at_modeset(&mut self, strays: Vec<Properties>) {
        self.stray_connectors = strays;
    }

    pub fn crtc(&self) -> &Properties {
        &self.crtc
    }

    pub fn connector(&self) -> &Properties {
        &self.connector
    }

    /// Whether a plane has the property `name`.
    pub fn plane_has(&self, plane: plane::Handle, name: &str) -> bool {
        self.plane(plane).is_some_and(|properties| properties.handle(name).is_some())
    }

    /// The output's planes with their properties; the primary plane is the first.
    pub fn planes(&self) -> &[(plane::Handle, Properties)] {
        &self.planes
    }

    /// Sets the mode of the next modeset.
    pub fn set_mode(&mut self, mode: DrmMode) -> std::io::Result<()> {
        // The kernel keeps the blob of the current mode for as long as it is in force.
        self.mode = Blob::of(&self.device, &mode)?;
        Ok(())
    }

    /// Another session had the device, so any plane may be visible.
    pub fn reset(&mut self) {
        self.visible_planes = self.planes.iter().map(|(plane, _)| *plane).collect();
        self.committed.forget();
    }

    /// Whether the CRTC can vary its rate.
    pub fn has_vrr(&self) -> bool {
        self.crtc.handle("VRR_ENABLED").is_some()
    }

    /// Commits or tests `planes`. A flip sets only the properties that differ from the previous commit. Any other
    /// commit, and the first flip after a failed commit, sets all of them.
    pub fn commit(
        &mut self,
        planes: &[PlaneState<'_>],
        extra: Option<CrtcProperty>,
        commit: CommitKind,
    ) -> std::io::Result<()> {
        let committed =
            if commit == CommitKind::Flip { std::mem::take(&mut self.committed) } else { CommittedState::default() };
        let lights = matches!(commit, CommitKind::Light | CommitKind::TestLight);
        let leftovers = if lights { self.leftover_planes(planes) } else { Vec::new() };
        let request = self.request(planes, extra, lights, &committed, &leftovers);
        let flags = match commit {
            CommitKind::Flip => AtomicCommitFlags::NONBLOCK | AtomicCommitFlags::PAGE_FLIP_EVENT,
            // Some drivers fail in interesting ways if a modeset does not block.
            CommitKind::Light => AtomicCommitFlags::ALLOW_MODESET | AtomicCommitFlags::PAGE_FLIP_EVENT,
            CommitKind::TestFlip => AtomicCommitFlags::TEST_ONLY,
            CommitKind::TestLight => AtomicCommitFlags::TEST_ONLY | AtomicCommitFlags::ALLOW_MODESET,
        };
        if matches!(commit, CommitKind::TestFlip | CommitKind::TestLight) {
            return match lights {
                true => run_in_ordinary_class(|| submit(&self.device, flags, request.0)),
                false => submit(&self.device, flags, request.0),
            };
        }
        // On an error the kernel's state is unknown, so the state stays cleared until the commit has succeeded.
        self.committed = CommittedState::default();
        if lights {
            run_in_ordinary_class(|| submit(&self.device, flags, request.0))?;
        } else {
            submit(&self.device, flags, request.0)?;
        }
        if lights {
            self.is_lit.store(true, Ordering::Relaxed);
        }
        self.committed = committed;
        self.committed.record_commit(planes, self.vrr);
        self.visible_planes.retain(|lit| planes.iter().all(|state| state.handle != *lit));
        self.visible_planes.extend(planes.iter().filter(|state| state.config.is_some()).map(|state| state.handle));
        if lights {
            self.visible_planes.retain(|lit| !leftovers.contains(lit));
            self.stray_connectors.clear();
        }
        Ok(())
    }

    /// Builds the request: the properties of `planes` that differ from `committed`, and the `leftovers` planes switched
    /// off. `lights`: include the mode.
    fn request(
        &self,
        planes: &[PlaneState<'_>],
        extra: Option<CrtcProperty>,
        lights: bool,
        committed: &CommittedState,
        leftovers: &[plane::Handle],
    ) -> CommitRequest {
        let mut request = CommitRequest(AtomicModeReq::new());
        // A commit without any property would name no CRTC, and no flip event would follow.
        let mut is_named = false;
        for state in planes {
            let Some(properties) = self.plane(state.handle) else { continue };
            // Only the cursor's buffers are never redrawn while they are shown: for it, the same
            // framebuffer means the same pixels.
            let update = committed.needed_update(state, properties.value("type") != Some(CURSOR));
            match &state.config {
                _ if update == PlaneUpdate::Nothing => continue,
                Some(config) if update == PlaneUpdate::Framebuffer => flip(&mut request, properties, config),
                Some(config) if update == PlaneUpdate::SourceRow => {
                    flip(&mut request, properties, config);
                    request.set(properties, "SRC_Y", fixed(config.src.loc.y));
                }
                Some(config) => self.show(&mut request, properties, config),
                None => disable_plane(&mut request, properties),
            }
            is_named = true;
        }
        if lights || !is_named || !committed.has_committed_vrr(self.vrr) {
            request.set(&self.crtc, "ACTIVE", 1);
            request.set(&self.crtc, "VRR_ENABLED", u64::from(self.vrr));
        }
        if let Some((property, value)) = extra {
            request.0.add_raw_property(self.crtc.object(), property, value);
        }
        if lights {
            request.set(&self.crtc, "MODE_ID", self.mode.value());
            request.set(&self.connector, "CRTC_ID", number(self.crtc.object()));
            // After the link has failed, the kernel sets it up anew only if a modeset declares it good.
            request.set(&self.connector, "link-status", LINK_GOOD);
            self.stray_connectors.iter().for_each(|stray| request.set(stray, "CRTC_ID", 0));
        }
        leftovers.iter().filter_map(|plane| self.plane(*plane)).for_each(|plane| disable_plane(&mut request, plane));
        request
    }

    /// Switches the CRTC and all its planes off.
    pub fn clear(&mut self) -> std::io::Result<()> {
        let mut request = CommitRequest(AtomicModeReq::new());
        for plane in &self.visible_planes {
            if let Some(properties) = self.plane(*plane) {
                disable_plane(&mut request, properties);
            }
        }
        request.set(&self.connector, "CRTC_ID", 0);
        // A CRTC without a mode must have no connector. If it is switched off before our first modeset it may
        // still have the console's connectors.
        self.stray_connectors.iter().for_each(|stray| request.set(stray, "CRTC_ID", 0));
        request.set(&self.crtc, "ACTIVE", 0);
        request.set(&self.crtc, "MODE_ID", 0);
        request.set(&self.crtc, "VRR_ENABLED", 0);
        self.committed.forget();
        run_in_ordinary_class(|| submit(&self.device, AtomicCommitFlags::ALLOW_MODESET, request.0))?;
        self.is_lit.store(false, Ordering::Relaxed);
        self.visible_planes.clear();
        self.stray_connectors.clear();
        Ok(())
    }

    /// Switches one plane off.
    pub fn clear_plane(&mut self, plane: plane::Handle) -> std::io::Result<()> {
        let mut request = CommitRequest(AtomicModeReq::new());
        if let Some(properties) = self.plane(plane) {
            disable_plane(&mut request, properties);
        }
        self.committed.forget_plane(plane);
        submit(&self.device, AtomicCommitFlags::empty(), request.0)?;
        self.visible_planes.retain(|lit| *lit != plane);
        Ok(())
    }

    /// Planes that may be visible (usually from another session) and that `planes` does not name. The primary plane
    /// is excluded, because some drivers refuse a modeset without it.
    fn leftover_planes(&self, planes: &[PlaneState<'_>]) -> Vec<plane::Handle> {
        let primary = self.planes.first().map(|(plane, _)| *plane);
        let is_listed = |plane: plane::Handle| planes.iter().any(|state| state.handle == plane);
        self.visible_planes.iter().copied().filter(|plane| Some(*plane) != primary && !is_listed(*plane)).collect()
    }

    fn plane(&self, wanted: plane::Handle) -> Option<&Properties> {
        self.planes.iter().find(|(plane, _)| *plane == wanted).map(|(_, properties)| properties)
    }

    fn show(&self, request: &mut CommitRequest, plane: &Properties, config: &PlaneConfig<'_>) {
        let signed = |value: i32| i64::from(value).cast_unsigned();
        let (from, to) = (config.src, config.dst);
        let fence = config.fence.as_ref().map_or(NO_FENCE, |fence| i64::from(fence.as_raw_fd()).cast_unsigned());
        let clips = config.damage_clips.map_or(0, property::RawValue::from);
        let values = [
            ("CRTC_ID", number(self.crtc.object())),
            ("FB_ID", number(framebuffer::Handle::into(config.fb))),
            ("SRC_X", fixed(from.loc.x)),
            ("SRC_Y", fixed(from.loc.y)),
            ("SRC_W", fixed(from.size.w)),
            ("SRC_H", fixed(from.size.h)),
            ("CRTC_X", signed(to.loc.x)),
            ("CRTC_Y", signed(to.loc.y)),
            ("CRTC_W", signed(to.size.w)),
            ("CRTC_H", signed(to.size.h)),
            ("rotation", UPRIGHT),
            ("alpha", OPAQUE),
            ("IN_FENCE_FD", fence),
            ("FB_DAMAGE_CLIPS", clips),
        ];
        values.into_iter().for_each(|(name, value)| request.set(plane, name, value));
    }
}

/// Switches all outputs off in one commit: CRTCs and connectors that have to change places cannot do so one by one.
/// Call it on the worker.
pub(super) fn disable_all_outputs(device: &DrmDeviceFd) -> std::io::Result<()> {
    let resources = device.resource_handles()?;
    let mut request = CommitRequest(AtomicModeReq::new());
    for connector in resources.connectors() {
        request.set(&Properties::of(device, *connector)?, "CRTC_ID", 0);
    }
    for plane in device.plane_handles()? {
        disable_plane(&mut request, &Properties::of(device, plane)?);
    }
    for crtc in resources.crtcs() {
        let crtc = Properties::of(device, *crtc)?;
        request.set(&crtc, "ACTIVE", 0);
        request.set(&crtc, "MODE_ID", 0);
    }
    submit(device, AtomicCommitFlags::ALLOW_MODESET, request.0)
}

/// Every commit to the kernel goes through here.
fn submit(device: &DrmDeviceFd, flags: AtomicCommitFlags, request: AtomicModeReq) -> std::io::Result<()> {
    faults::check_commit()?;
    device.atomic_commit(flags, request)
}

struct CommitRequest(AtomicModeReq);

/// Sets another framebuffer; the plane's position stays. The kernel forgets fence and damage after each commit, so both
/// are set again.
fn flip(request: &mut CommitRequest, plane: &Properties, config: &PlaneConfig<'_>) {
    request.set(plane, "FB_ID", number(framebuffer::Handle::into(config.fb)));
    if let Some(fence) = &config.fence {
        request.set(plane, "IN_FENCE_FD", i64::from(fence.as_raw_fd()).cast_unsigned());
    }
    if let Some(clips) = config.damage_clips {
        request.set(plane, "FB_DAMAGE_CLIPS", property::RawValue::from(clips));
    }
}

fn fixed(value: f64) -> property::RawValue {
    (value * FIXED_POINT).round() as u64
}

impl CommitRequest {
    /// Sets a property; objects that lack it are left alone.
    fn set(&mut self, of: &Properties, name: &str, value: property::RawValue) {
        if let Some(property) = of.handle(name) {
            self.0.add_raw_property(of.object(), property, value);
        }
    }
}

fn disable_plane(request: &mut CommitRequest, plane: &Properties) {
    request.set(plane, "CRTC_ID", 0);
    request.set(plane, "FB_ID", 0);
}

fn number(handle: RawResourceHandle) -> property::RawValue {
    u64::from(handle.get())
}
