//! One display device: which monitors are plugged in, and what its driver reports.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use calloop::ping::Ping;
use smithay::backend::drm::{DrmDevice, DrmDeviceFd};
use smithay::reexports::drm::control::{Mode as DrmMode, connector, crtc};
use smithay::reexports::drm::{Device as _, VblankWaitFlags, VblankWaitTarget};
use smithay::utils::DeviceFd;

use super::connector::Monitor;
use super::output::DrmOutput;
use super::pipe::{Features, Pipe};
use super::presenter::Presenter;
use super::scanout::Drawer;
use super::{DrmError, ModeWish, connector as connectors, kms, mode};
use crate::time::Instant;

/// The kernel's display without hardware.
const SIMULATED: &str = "vkms";

/// What came of looking at the connectors again.
#[derive(Debug)]
pub enum Change {
    /// A monitor was plugged in; this drives it.
    Plugged(DrmOutput),
    /// This one is gone; its display says so itself.
    Unplugged(String),
    /// A monitor is there but cannot be used, and why.
    Unusable(String, DrmError),
}

/// A display device that is open.
pub struct Card {
    driver: String,
    device: DrmDevice,
    pipes: HashMap<connector::Handle, Rc<RefCell<Pipe>>>,
    presenter: Presenter,
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("driver", &self.driver).finish_non_exhaustive()
    }
}

impl Card {
    /// Takes over an open device node, as DRM master. `heard` is rung, from another thread, whenever an output has
    /// something to say.
    pub fn new(descriptor: OwnedFd, heard: Ping) -> Result<Self, DrmError> {
        let descriptor = DrmDeviceFd::new(DeviceFd::from(descriptor));
        // The console's framebuffer is left alone until our first frame: no flicker of black. The events are read by the
        // presenter instead of by Smithay's source.
        let (device, _events) = DrmDevice::new(descriptor, false).map_err(kms("it is no display device"))?;
        let driver = device.get_driver().map(|driver| OsString::from(driver.name()));
        let driver = driver.map_or_else(|_| "unknown".to_owned(), |name| name.to_string_lossy().into_owned());
        let presenter = Presenter::start(device.device_fd().clone(), heard)?;
        tracing::info!(driver, atomic = device.is_atomic(), "display device");
        Ok(Card { driver, device, pipes: HashMap::new(), presenter })
    }

    /// The kernel driver's name.
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// The device's number, as a [`Drawer`] is asked for it.
    pub fn number(&self) -> u64 {
        rustix::fs::fstat(self.device.device_fd()).map_or(0, |status| status.st_rdev)
    }

    /// The device, for whoever draws into its memory or waits for points on its timelines.
    pub fn device(&self) -> &DrmDeviceFd {
        self.device.device_fd()
    }

    /// Looks at the connectors: monitors that are new get an output with the mode that `wish` names for them, and buffers
    /// that `drawer` can draw into.
    pub fn scan(
        &mut self,
        wish: impl Fn(&str) -> ModeWish,
        drawer: &mut dyn Drawer,
        now: Instant,
    ) -> Result<Vec<Change>, DrmError> {
        let monitors = connectors::plugged(&self.device, true)?;
        let mut changes = Vec::new();
        self.pipes.retain(|handle, pipe| {
            let stays = monitors.iter().any(|monitor| monitor.connector.handle() == *handle);
            if !stays {
                self.presenter.remove(pipe.borrow().crtc);
                pipe.borrow_mut().unplug();
                changes.push(Change::Unplugged(pipe.borrow().name.clone()));
            }
            stays
        });
        for monitor in monitors {
            if self.pipes.contains_key(&monitor.connector.handle()) {
                continue;
            }
            changes.push(match self.drive(&monitor, wish(&monitor.name), drawer, now) {
                Ok(output) => Change::Plugged(output),
                Err(error) => Change::Unusable(monitor.name, error),
            });
        }
        Ok(changes)
    }

    fn drive(
        &mut self,
        monitor: &Monitor,
        wish: ModeWish,
        drawer: &mut dyn Drawer,
        now: Instant,
    ) -> Result<DrmOutput, DrmError> {
        let taken: Vec<crtc::Handle> = self.pipes.values().map(|pipe| pipe.borrow().crtc).collect();
        let name = monitor.name.clone();
        let crtc =
            connectors::crtc_for(&self.device, monitor, &taken).ok_or(DrmError::NoCrtc { name: name.clone() })?;
        let mode = mode::choose(&name, monitor.connector.modes(), wish).or_else(|error| {
            // A wrong configuration shall not leave the monitor dark.
            tracing::error!(%error, "the preferred mode is used instead");
            mode::choose(&name, monitor.connector.modes(), ModeWish::default())
        })?;
        let handle = monitor.connector.handle();
        let surface = self.device.create_surface(crtc, mode, &[handle]).map_err(kms("no CRTC could be set up"))?;
        let counts_vblanks = self.counts_vblanks(crtc);
        if !counts_vblanks {
            tracing::warn!(output = name, driver = self.driver, "the driver has no vblank counter: software vsync");
        }
        let size = self.device.cursor_size();
        let features = Features {
            counts_vblanks,
            is_simulated: self.driver == SIMULATED,
            cursor_size: (size.w.cast_signed(), size.h.cast_signed()),
            slowest: wish.slowest,
        };
        let pipe = Pipe::new(surface, name, &monitor.connector, features, self.presenter.waker(), drawer, now)?;
        self.presenter.add(crtc, pipe.flipper().clone());
        let pipe = Rc::new(RefCell::new(pipe));
        self.pipes.insert(handle, pipe.clone());
        Ok(DrmOutput::new(pipe))
    }

    /// Whether the kernel knows when this CRTC's last vblank was. A CRTC that is off says no, although its driver
    /// could: only a driver that cannot at all says "not supported".
    fn counts_vblanks(&self, crtc: crtc::Handle) -> bool {
        let Some(index) = self.device.crtcs().iter().position(|other| *other == crtc) else { return false };
        let reply = self.device.wait_vblank(
            VblankWaitTarget::Relative(0),
            VblankWaitFlags::empty(),
            u32::try_from(index).unwrap_or(0),
            0,
        );
        !reply.is_err_and(|error| error.raw_os_error() == Some(libc::EOPNOTSUPP))
    }

    /// Another session has the device from now on. The outputs are to be switched off before.
    pub fn pause(&mut self) {
        self.device.pause();
    }

    /// The device is ours again. The outputs are to be switched on after.
    pub fn resume(&mut self) -> Result<(), DrmError> {
        self.device.activate(false).map_err(kms("it cannot be used again"))?;
        self.pipes.values().for_each(|pipe| pipe.borrow_mut().resume());
        Ok(())
    }

    /// Whether one of its outputs is called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.pipes.values().any(|pipe| pipe.borrow().name == name)
    }

    /// Shows another of a monitor's modes.
    pub fn set_mode(&mut self, name: &str, wish: ModeWish, now: Instant) -> Result<(), DrmError> {
        let Some(pipe) = self.pipes.values().find(|pipe| pipe.borrow().name == name) else { return Ok(()) };
        let handle = pipe.borrow().connector;
        let monitors = connectors::plugged(&self.device, false)?;
        let modes: Vec<DrmMode> = monitors
            .iter()
            .find(|monitor| monitor.connector.handle() == handle)
            .map(|monitor| monitor.connector.modes().to_vec())
            .unwrap_or_default();
        let mode = mode::choose(name, &modes, wish)?;
        pipe.borrow_mut().set_mode(mode, wish.slowest, now)
    }

    /// The device was pulled out.
    pub fn unplug(&mut self) {
        for (_, pipe) in self.pipes.drain() {
            self.presenter.remove(pipe.borrow().crtc);
            pipe.borrow_mut().unplug();
        }
    }
}
