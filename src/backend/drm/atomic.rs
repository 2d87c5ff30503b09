//! Commits of one CRTC through atomic modesetting. Smithay's share a lock between all outputs of a device, and hold it
//! while a mode is switched; here each output has the little that a commit needs for itself.

use std::os::fd::AsRawFd;

use smithay::backend::drm::{DrmDeviceFd, PlaneConfig, PlaneState};
use smithay::reexports::drm::control::atomic::AtomicModeReq;
use smithay::reexports::drm::control::{
    AtomicCommitFlags, Device, Mode as DrmMode, RawResourceHandle, connector, crtc, framebuffer, plane, property,
};

use super::property::{Blob, Properties};
use super::told::{Say, Told};
use crate::real_time::unhurried;
use upbeat_record::faults;

/// The values of an object's properties have 16 bits after the point.
const FIXED_POINT: f64 = 65_536.0;
/// Not turned, in the bits of `rotation`.
const UPRIGHT: property::RawValue = 1;
/// Not translucent, in `alpha`.
const OPAQUE: property::RawValue = 0xffff;
/// There is nothing to wait for, in `IN_FENCE_FD`.
const NO_FENCE: property::RawValue = property::RawValue::MAX;

/// The kind of a cursor plane, in `type`: `DRM_PLANE_TYPE_CURSOR`.
const CURSOR: property::RawValue = 2;

/// What a commit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commit {
    /// Show the planes at the next refresh; says when that is done. Does not wait for it.
    Flip,
    /// Light the output, with its mode. May wait as long as that takes.
    Light,
    /// Would a flip be taken?
    TestFlip,
    /// Would the output be lit?
    TestLight,
}

/// A property of the CRTC that goes with one commit, and its value.
pub(super) type Extra = (property::Handle, property::RawValue);

/// One CRTC with its connector and all planes that it may use.
pub(super) struct Atomic {
    device: DrmDeviceFd,
    crtc: Properties,
    connector: Properties,
    planes: Vec<(plane::Handle, Properties)>,
    /// The mode that it is lit with.
    mode: Blob,
    /// Whether the rate is to vary.
    pub vrr: bool,
    /// Connectors without a monitor that the CRTC drove before it was ours.
    strays: Vec<Properties>,
    /// Planes that may show something.
    lit: Vec<plane::Handle>,
    /// What the kernel has, so that a flip says only what is new.
    told: Told,
}

impl Atomic {
    /// A CRTC that is not lit yet. Asks for what has to be known: to be called on the worker.
    pub fn new(
        device: &DrmDeviceFd,
        crtc: crtc::Handle,
        connector: connector::Handle,
        planes: impl Iterator<Item = plane::Handle>,
        mode: DrmMode,
    ) -> std::io::Result<Self> {
        let planes = planes.map(|plane| Ok((plane, Properties::of(device, plane)?)));
        let planes = planes.collect::<std::io::Result<Vec<_>>>()?;
        Ok(Atomic {
            lit: planes.iter().map(|(plane, _)| *plane).collect(),
            device: device.clone(),
            crtc: Properties::of(device, crtc)?,
            connector: Properties::of(device, connector)?,
            planes,
            mode: Blob::of(device, &mode)?,
            vrr: false,
            strays: Vec::new(),
            told: Told::default(),
        })
    }

    /// These are not to be driven any more once it is lit.
    pub fn leave(&mut self, strays: Vec<Properties>) {
        self.strays = strays;
    }

    /// What the CRTC has.
    pub fn crtc(&self) -> &Properties {
        &self.crtc
    }

    /// What the connector has.
    pub fn connector(&self) -> &Properties {
        &self.connector
    }

    /// Whether a plane has the property `name`.
    pub fn plane_has(&self, plane: plane::Handle, name: &str) -> bool {
        self.plane(plane).is_some_and(|properties| properties.handle(name).is_some())
    }

    /// It is lit with `mode` the next time.
    pub fn set_mode(&mut self, mode: DrmMode) -> std::io::Result<()> {
        // The kernel keeps the old one for as long as it is in force.
        self.mode = Blob::of(&self.device, &mode)?;
        Ok(())
    }

    /// Somebody else had the device: any plane may show something.
    pub fn reset(&mut self) {
        self.lit = self.planes.iter().map(|(plane, _)| *plane).collect();
        self.told.forget();
    }

    /// Whether the CRTC can vary its rate.
    pub fn has_vrr(&self) -> bool {
        self.crtc.handle("VRR_ENABLED").is_some()
    }

    /// Shows `planes`, or asks whether it could. A flip says what differs from the commit before it; all else, and what
    /// follows a commit that failed, says everything.
    pub fn commit(&mut self, planes: &[PlaneState<'_>], extra: Option<Extra>, commit: Commit) -> std::io::Result<()> {
        let told = if commit == Commit::Flip { std::mem::take(&mut self.told) } else { Told::default() };
        let lights = matches!(commit, Commit::Light | Commit::TestLight);
        let forgotten = if lights { self.forgotten(planes) } else { Vec::new() };
        let request = self.request(planes, extra, lights, &told, &forgotten);
        let flags = match commit {
            Commit::Flip => AtomicCommitFlags::NONBLOCK | AtomicCommitFlags::PAGE_FLIP_EVENT,
            // Some drivers fail in interesting ways if they are not waited for.
            Commit::Light => AtomicCommitFlags::ALLOW_MODESET | AtomicCommitFlags::PAGE_FLIP_EVENT,
            Commit::TestFlip => AtomicCommitFlags::TEST_ONLY,
            Commit::TestLight => AtomicCommitFlags::TEST_ONLY | AtomicCommitFlags::ALLOW_MODESET,
        };
        if matches!(commit, Commit::TestFlip | Commit::TestLight) {
            return match lights {
                true => unhurried(|| submit(&self.device, flags, request.0)),
                false => submit(&self.device, flags, request.0),
            };
        }
        // Until the kernel has taken it nothing is known: an error leaves it at that.
        self.told = Told::default();
        if lights {
            unhurried(|| submit(&self.device, flags, request.0))?;
        } else {
            submit(&self.device, flags, request.0)?;
        }
        self.told = told;
        self.told.learn(planes, self.vrr);
        self.lit.retain(|lit| planes.iter().all(|state| state.handle != *lit));
        self.lit.extend(planes.iter().filter(|state| state.config.is_some()).map(|state| state.handle));
        if lights {
            self.lit.retain(|lit| !forgotten.contains(lit));
            self.strays.clear();
        }
        Ok(())
    }

    /// What of `planes` differs from what was told, and `forgotten` dark. `lights`: with the mode.
    fn request(
        &self,
        planes: &[PlaneState<'_>],
        extra: Option<Extra>,
        lights: bool,
        told: &Told,
        forgotten: &[plane::Handle],
    ) -> Request {
        let mut request = Request(AtomicModeReq::new());
        // A commit that says nothing at all would be one of no CRTC, and nobody would hear of it.
        let mut is_named = false;
        for state in planes {
            let Some(properties) = self.plane(state.handle) else { continue };
            // Of all pictures only the cursor's are never drawn anew while they are shown.
            let say = told.say(state, properties.value("type") != Some(CURSOR));
            match &state.config {
                _ if say == Say::Nothing => continue,
                Some(config) if say == Say::Picture => flip(&mut request, properties, config),
                Some(config) if say == Say::Part => {
                    flip(&mut request, properties, config);
                    request.set(properties, "SRC_Y", fixed(config.src.loc.y));
                }
                Some(config) => self.show(&mut request, properties, config),
                None => darken(&mut request, properties),
            }
            is_named = true;
        }
        if lights || !is_named || !told.knows_vrr(self.vrr) {
            request.set(&self.crtc, "ACTIVE", 1);
            request.set(&self.crtc, "VRR_ENABLED", u64::from(self.vrr));
        }
        if let Some((property, value)) = extra {
            request.0.add_raw_property(self.crtc.object(), property, value);
        }
        if lights {
            request.set(&self.crtc, "MODE_ID", self.mode.value());
            request.set(&self.connector, "CRTC_ID", number(self.crtc.object()));
            self.strays.iter().for_each(|stray| request.set(stray, "CRTC_ID", 0));
        }
        forgotten.iter().filter_map(|plane| self.plane(*plane)).for_each(|plane| darken(&mut request, plane));
        request
    }

    /// Switches it off, with all that it shows.
    pub fn clear(&mut self) -> std::io::Result<()> {
        let mut request = Request(AtomicModeReq::new());
        for plane in &self.lit {
            if let Some(properties) = self.plane(*plane) {
                darken(&mut request, properties);
            }
        }
        request.set(&self.connector, "CRTC_ID", 0);
        // A CRTC without a mode has no connector: one that is switched off before it was ever lit may have the console's.
        self.strays.iter().for_each(|stray| request.set(stray, "CRTC_ID", 0));
        request.set(&self.crtc, "ACTIVE", 0);
        request.set(&self.crtc, "MODE_ID", 0);
        request.set(&self.crtc, "VRR_ENABLED", 0);
        self.told.forget();
        unhurried(|| submit(&self.device, AtomicCommitFlags::ALLOW_MODESET, request.0))?;
        self.lit.clear();
        self.strays.clear();
        Ok(())
    }

    /// Switches one plane off.
    pub fn clear_plane(&mut self, plane: plane::Handle) -> std::io::Result<()> {
        let mut request = Request(AtomicModeReq::new());
        if let Some(properties) = self.plane(plane) {
            darken(&mut request, properties);
        }
        self.told.forget_plane(plane);
        submit(&self.device, AtomicCommitFlags::empty(), request.0)?;
        self.lit.retain(|lit| *lit != plane);
        Ok(())
    }

    /// Planes that may show something, of another session as a rule, and of which `planes` says nothing. Not the primary one,
    /// which comes first: what is lit without it some drivers refuse.
    fn forgotten(&self, planes: &[PlaneState<'_>]) -> Vec<plane::Handle> {
        let primary = self.planes.first().map(|(plane, _)| *plane);
        let is_told = |plane: plane::Handle| planes.iter().any(|state| state.handle == plane);
        self.lit.iter().copied().filter(|plane| Some(*plane) != primary && !is_told(*plane)).collect()
    }

    fn plane(&self, wanted: plane::Handle) -> Option<&Properties> {
        self.planes.iter().find(|(plane, _)| *plane == wanted).map(|(_, properties)| properties)
    }

    fn show(&self, request: &mut Request, plane: &Properties, config: &PlaneConfig<'_>) {
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

/// Switches everything off, in one commit: CRTCs and connectors that have to change places cannot do so one by one. To be
/// called on the worker.
pub(super) fn darken_all(device: &DrmDeviceFd) -> std::io::Result<()> {
    let resources = device.resource_handles()?;
    let mut request = Request(AtomicModeReq::new());
    for connector in resources.connectors() {
        request.set(&Properties::of(device, *connector)?, "CRTC_ID", 0);
    }
    for plane in device.plane_handles()? {
        darken(&mut request, &Properties::of(device, plane)?);
    }
    for crtc in resources.crtcs() {
        let crtc = Properties::of(device, *crtc)?;
        request.set(&crtc, "ACTIVE", 0);
        request.set(&crtc, "MODE_ID", 0);
    }
    submit(device, AtomicCommitFlags::ALLOW_MODESET, request.0)
}

/// The one way to the kernel.
fn submit(device: &DrmDeviceFd, flags: AtomicCommitFlags, request: AtomicModeReq) -> std::io::Result<()> {
    faults::check_commit()?;
    device.atomic_commit(flags, request)
}

struct Request(AtomicModeReq);

/// Another picture where the plane lies already. The kernel forgets fence and damage after each commit.
fn flip(request: &mut Request, plane: &Properties, config: &PlaneConfig<'_>) {
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

impl Request {
    /// Objects that lack the property are as they are.
    fn set(&mut self, of: &Properties, name: &str, value: property::RawValue) {
        if let Some(property) = of.handle(name) {
            self.0.add_raw_property(of.object(), property, value);
        }
    }
}

fn darken(request: &mut Request, plane: &Properties) {
    request.set(plane, "CRTC_ID", 0);
    request.set(plane, "FB_ID", 0);
}

fn number(handle: RawResourceHandle) -> property::RawValue {
    u64::from(handle.get())
}
