//! A simulated GPU: it finishes frames one after another, each some time after its commit or after the previous frame.
//!
//! ```text
//!   client   CPU ▓▓ commit             CPU ▓▓ commit
//!   GPU               ▒▒▒▒▒▒▒▒▒ acquire point      ▒▒▒▒▒▒▒▒▒ acquire point
//! ```
//!
//! It takes no CPU time: a thread sleeps and then signals the frame's point on a timeline of a display device. A
//! compositor cannot tell it from a real GPU.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Dispatch, QueueHandle};
use wayland_protocols::wp::linux_drm_syncobj::v1::client::{
    wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1,
    wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1,
    wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1,
};

use crate::device::Timeline;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Bits in each half of a point: the protocol sends a point as two halves.
const HALF: u32 = 32;

/// The work of a frame.
#[derive(Debug)]
struct GpuJob {
    point: u64,
    committed: Instant,
    cost: Span,
}

#[derive(Debug)]
pub(super) struct SimulatedGpu {
    surface: WpLinuxDrmSyncobjSurfaceV1,
    acquire: WpLinuxDrmSyncobjTimelineV1,
    release: WpLinuxDrmSyncobjTimelineV1,
    released: Timeline<Arc<File>>,
    jobs: Sender<GpuJob>,
    /// Acquire point of the newest frame.
    point: u64,
}

/// Opens the device whose memory and timelines are used.
pub(super) fn open(device: &Path) -> io::Result<Arc<File>> {
    OpenOptions::new().read(true).write(true).open(device).map(Arc::new)
}

impl SimulatedGpu {
    /// A GPU for the frames of `surface`.
    pub(super) fn new<State>(
        manager: &WpLinuxDrmSyncobjManagerV1,
        surface: &WlSurface,
        device: &Arc<File>,
        handle: &QueueHandle<State>,
    ) -> io::Result<Self>
    where
        State: Dispatch<WpLinuxDrmSyncobjSurfaceV1, ()> + Dispatch<WpLinuxDrmSyncobjTimelineV1, ()> + 'static,
    {
        let (finished, released) = (Timeline::new(device.clone())?, Timeline::new(device.clone())?);
        let share = |timeline: &Timeline<_>| manager.import_timeline(timeline.shared().as_fd(), handle, ());
        let (acquire, release) = (share(&finished), share(&released));
        let (jobs, work) = channel();
        std::thread::Builder::new().name("gpu".to_owned()).spawn(move || signal_points(&finished, &work))?;
        Ok(SimulatedGpu {
            surface: manager.get_surface(surface, handle, ()),
            acquire,
            release,
            released,
            jobs,
            point: 0,
        })
    }

    /// Starts the work of the frame that is about to be committed; it takes `cost`. Returns the frame's point.
    pub(super) fn begin(&mut self, cost: Span) -> u64 {
        self.point += 1;
        let halves = |point: u64| ((point >> HALF) as u32, point as u32);
        let (high, low) = halves(self.point);
        self.surface.set_acquire_point(&self.acquire, high, low);
        self.surface.set_release_point(&self.release, high, low);
        // The thread lives as long as this sender, so sending fails only after an error of the thread.
        let _ = self.jobs.send(GpuJob { point: self.point, committed: MonotonicClock.now(), cost });
        self.point
    }

    /// Whether the compositor has signalled the release point of a frame.
    pub(super) fn is_released(&self, point: u64) -> bool {
        self.released.reached().is_ok_and(|reached| reached >= point)
    }
}

/// Finishes frames in order until the sender is dropped.
fn signal_points(timeline: &Timeline<Arc<File>>, work: &Receiver<GpuJob>) {
    take_realtime_class();
    let mut idle_since = Instant::default();
    for job in work {
        let finished = job.committed.max(idle_since) + job.cost;
        std::thread::sleep((finished - MonotonicClock.now()).max(Span::ZERO).to_duration());
        if let Err(error) = timeline.signal(job.point) {
            // The frame is never shown, so the run ends with an error that says so.
            eprintln!("a timeline point cannot be signalled: {error}");
            return;
        }
        idle_since = finished;
    }
}

/// Takes a real-time class, because a real GPU does not wait for the machine's processors.
fn take_realtime_class() {
    let wish = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel only reads the parameter, and 0 is the calling thread. Without the permission, points are a
    // little later.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wish) };
}
