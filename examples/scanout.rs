//! A window whose buffers a display can scan out: dumb buffers of its device, passed by `zwp_linux_dmabuf_v1`.
//!
//! It draws a given number of frames, each after the callback of the frame before, and stays open. It reports how many
//! frames reached the screen without a copy. It also reports how many such buffers were released while still on screen.
//!
//! With `--late` each frame is committed some milliseconds before its picture is finished. Points on a timeline tell
//! when it is finished, and when the compositor has released it (`wp_linux_drm_syncobj_v1`). Then the example reports
//! how many frames were on screen before they were finished, and waits for a buffer's release point before it draws
//! into it again.
//!
//! ```text
//! cargo run --example scanout -- --device /dev/dri/card0 --size 320x240 --frames 60
//! ```

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use upbeat_bench::device::{DumbBuffer, Timeline};
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::{wl_buffer, wl_callback, wl_compositor, wl_registry, wl_surface};
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::linux_dmabuf::zv1::client::{zwp_linux_buffer_params_v1, zwp_linux_dmabuf_v1};
use wayland_protocols::wp::linux_drm_syncobj::v1::client::{
    wp_linux_drm_syncobj_manager_v1, wp_linux_drm_syncobj_surface_v1, wp_linux_drm_syncobj_timeline_v1,
};
use wayland_protocols::wp::presentation_time::client::{wp_presentation, wp_presentation_feedback};
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

/// A buffer on screen, a buffer on its way there, a buffer to draw into.
const BUFFERS: usize = 3;
/// `XRGB8888`, row by row, as in `drm_fourcc.h`.
const FORMAT: u32 = u32::from_le_bytes(*b"XR24");
const LINEAR: u32 = 0;
/// Tolerance for a buffer's release before the event that the next buffer is on screen, because both are sent together.
const AT_ONCE: Duration = Duration::from_millis(2);

/// A window whose buffers a display can scan out.
#[derive(Parser)]
struct ScanoutArgs {
    /// The display device that owns the buffers
    #[arg(long, default_value = "/dev/dri/card0")]
    device: PathBuf,
    /// Width and height in pixels
    #[arg(long, default_value = "320x240", value_parser = size)]
    size: (i32, i32),
    /// How many frames are drawn
    #[arg(long, default_value_t = 60)]
    frames: u32,
    /// Fill the screen; `size` must be the output's size
    #[arg(long)]
    fullscreen: bool,
    /// Commit each frame this many milliseconds before it is finished, with explicit synchronisation
    #[arg(long, value_name = "MS")]
    late: Option<u64>,
}

fn size(text: &str) -> Result<(i32, i32), String> {
    let numbers = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let valid = |side: &i32| (1..=16384).contains(side);
    numbers.filter(|(width, height)| valid(width) && valid(height)).ok_or_else(|| "expected WIDTHxHEIGHT".to_owned())
}

/// Draws moving stripes, so that no two frames look the same.
fn draw(picture: &mut DumbBuffer, frame: u32) {
    let row = picture.stride() as usize / size_of::<u32>();
    for (y, row) in picture.pixels_mut().chunks_exact_mut(row).enumerate() {
        for (x, pixel) in row.iter_mut().enumerate() {
            let (red, green, blue) = (x as u32 + frame * 4, y as u32 + frame * 2, (x ^ y) as u32);
            *pixel = (red & 0xff) << 16 | (green & 0xff) << 8 | (blue & 0xff);
        }
    }
}

/// A timeline that is imported into the compositor: a point for each frame, counted from 1.
struct ImportedTimeline {
    timeline: Arc<Timeline<Arc<File>>>,
    object: wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1,
}

impl ImportedTimeline {
    fn new(
        manager: &wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1,
        device: &Arc<File>,
        queue: &QueueHandle<ScanoutWindow>,
    ) -> std::io::Result<Self> {
        let timeline = Timeline::new(device.clone())?;
        let object = manager.import_timeline(timeline.shared().as_fd(), queue, ());
        Ok(ImportedTimeline { timeline: Arc::new(timeline), object })
    }
}

/// State of explicit synchronisation.
struct ExplicitSyncPoints {
    /// Signalled when a frame is finished.
    acquire: ImportedTimeline,
    /// Signalled when the compositor has released a frame.
    release: ImportedTimeline,
    surface: wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1,
    late: Duration,
    /// When each frame is finished, on the compositor's clock.
    finished: Vec<Duration>,
    /// Number of frames that were on screen before they were finished.
    unfinished: u32,
}

impl ExplicitSyncPoints {
    /// Sets the points of the next frame, which is committed now and finished later.
    fn commit(&mut self, frame: u32) {
        let point = frame + 1;
        self.surface.set_acquire_point(&self.acquire.object, 0, point);
        self.surface.set_release_point(&self.release.object, 0, point);
        let (timeline, late) = (self.acquire.timeline.clone(), self.late);
        self.finished.push(now() + late);
        std::thread::spawn(move || {
            std::thread::sleep(late);
            if let Err(error) = timeline.signal(u64::from(point)) {
                eprintln!("a point cannot be signalled: {error}");
            }
        });
    }

    /// Number of frames that the compositor has released.
    fn released(&self) -> std::io::Result<u64> {
        self.release.timeline.reached()
    }
}

/// The monotonic clock.
fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

struct ScanoutWindow {
    explicit: Option<ExplicitSyncPoints>,
    pictures: Vec<DumbBuffer>,
    buffers: Vec<wl_buffer::WlBuffer>,
    /// The compositor uses the buffer.
    held: [bool; BUFFERS],
    surface: wl_surface::WlSurface,
    presentation: wp_presentation::WpPresentation,
    options: ScanoutArgs,
    configured: bool,
    /// The frame callback is done.
    wanted: bool,
    drawn: u32,
    answered: u32,
    uncopied: u32,
    /// Frame number in each buffer.
    shows: [u32; BUFFERS],
    frames: Vec<ScanoutFrame>,
    /// Number of buffers that were released while still on screen.
    early: u32,
}

/// Result of a frame.
#[derive(Clone, Default)]
struct ScanoutFrame {
    uncopied: bool,
    back: Option<Instant>,
}

impl ScanoutWindow {
    fn draw(&mut self, queue: &QueueHandle<Self>) -> anyhow::Result<()> {
        if let Some(explicit) = &self.explicit {
            let released = explicit.released()?;
            for (held, shown) in self.held.iter_mut().zip(self.shows) {
                *held &= u64::from(shown) >= released;
            }
        }
        let Some(free) = self.held.iter().position(|held| !held) else { return Ok(()) };
        if !self.wanted || !self.configured || self.drawn == self.options.frames {
            return Ok(());
        }
        draw(&mut self.pictures[free], self.drawn);
        self.held[free] = true;
        self.shows[free] = self.drawn;
        (self.wanted, self.drawn) = (false, self.drawn + 1);
        self.surface.attach(Some(&self.buffers[free]), 0, 0);
        self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        self.surface.frame(queue, ());
        self.presentation.feedback(&self.surface, queue, self.shows[free]);
        if let Some(explicit) = &mut self.explicit {
            explicit.commit(self.shows[free]);
        }
        self.surface.commit();
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let options = ScanoutArgs::parse();
    let device = OpenOptions::new().read(true).write(true).open(&options.device);
    let device = Arc::new(device.with_context(|| options.device.display().to_string())?);
    let (width, height) = (options.size.0.unsigned_abs(), options.size.1.unsigned_abs());
    let pictures = (0..BUFFERS).map(|_| DumbBuffer::new(&device, (width, height))).collect::<Result<Vec<_>, _>>()?;

    let connection = Connection::connect_to_env()?;
    let (globals, mut events) = registry_queue_init::<ScanoutWindow>(&connection)?;
    let queue = events.handle();
    let compositor: wl_compositor::WlCompositor = globals.bind(&queue, 4..=6, ())?;
    let shell: xdg_wm_base::XdgWmBase = globals.bind(&queue, 1..=6, ())?;
    let presentation = globals.bind(&queue, 1..=1, ())?;
    let dmabuf: zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1 =
        globals.bind(&queue, 3..=4, ()).context("the compositor has no zwp_linux_dmabuf_v1")?;
    let (width, height) = options.size;
    let buffers = pictures.iter().enumerate().map(|(index, picture)| {
        let params = dmabuf.create_params(&queue, ());
        params.add(picture.memory().as_fd(), 0, 0, picture.stride(), LINEAR, LINEAR);
        params.create_immed(width, height, FORMAT, zwp_linux_buffer_params_v1::Flags::empty(), &queue, index)
    });
    let buffers = buffers.collect();
    let surface = compositor.create_surface(&queue, ());
    let shell_surface = shell.get_xdg_surface(&surface, &queue, ());
    let toplevel = shell_surface.get_toplevel(&queue, ());
    toplevel.set_title("scanout".to_owned());
    toplevel.set_app_id("scanout".to_owned());
    if options.fullscreen {
        toplevel.set_fullscreen(None);
    }
    surface.commit();
    let explicit = match options.late.map(Duration::from_millis) {
        None => None,
        Some(late) => {
            let manager =
                globals.bind(&queue, 1..=1, ()).context("the compositor has no wp_linux_drm_syncobj_manager_v1")?;
            let timelines = [(); 2].map(|()| ImportedTimeline::new(&manager, &device, &queue));
            let [acquire, release] = timelines.map(|timeline| timeline.context("the device has no timelines"));
            let surface = manager.get_surface(&surface, &queue, ());
            let (acquire, release) = (acquire?, release?);
            Some(ExplicitSyncPoints { acquire, release, surface, late, finished: Vec::new(), unfinished: 0 })
        }
    };
    let mut window = ScanoutWindow {
        explicit,
        pictures,
        buffers,
        held: [false; BUFFERS],
        surface,
        presentation,
        options,
        configured: false,
        wanted: true,
        drawn: 0,
        answered: 0,
        uncopied: 0,
        shows: [0; BUFFERS],
        frames: Vec::new(),
        early: 0,
    };
    window.frames.resize(window.options.frames as usize, ScanoutFrame::default());
    let mut told = false;
    loop {
        events.blocking_dispatch(&mut window)?;
        window.draw(&queue)?;
        if !told && window.answered == window.options.frames {
            let ScanoutWindow { uncopied, answered, early, .. } = window;
            println!("{uncopied} of {answered} frames uncopied, {early} buffers back early");
            if let Some(explicit) = &window.explicit {
                println!("{} frames shown unfinished, {} released", explicit.unfinished, explicit.released()?);
            }
            told = true;
        }
    }
}

impl Dispatch<wl_buffer::WlBuffer, usize> for ScanoutWindow {
    fn event(
        window: &mut Self,
        _: &wl_buffer::WlBuffer,
        event: wl_buffer::Event,
        index: &usize,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_buffer::Event::Release = event {
            // With explicit synchronisation only the release point counts.
            window.held[*index] &= window.explicit.is_some();
            window.frames[window.shows[*index] as usize].back = Some(Instant::now());
        }
    }
}

impl Dispatch<wl_callback::WlCallback, ()> for ScanoutWindow {
    fn event(
        window: &mut Self,
        _: &wl_callback::WlCallback,
        _: wl_callback::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        window.wanted = true;
    }
}

impl Dispatch<wp_presentation_feedback::WpPresentationFeedback, u32> for ScanoutWindow {
    fn event(
        window: &mut Self,
        _: &wp_presentation_feedback::WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        frame: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wp_presentation_feedback::Event::Presented { flags: WEnum::Value(flags), tv_sec_lo, tv_nsec, .. } => {
                window.answered += 1;
                if let Some(explicit) = &mut window.explicit {
                    let shown = Duration::new(tv_sec_lo.into(), tv_nsec);
                    explicit.unfinished += u32::from(shown < explicit.finished[*frame as usize]);
                }
                let uncopied = flags.contains(wp_presentation_feedback::Kind::ZeroCopy);
                window.uncopied += u32::from(uncopied);
                window.frames[*frame as usize].uncopied = uncopied;
                // The frame before was on screen until now.
                let before = frame.checked_sub(1).map(|before| &window.frames[before as usize]);
                let back = before.filter(|before| before.uncopied).and_then(|before| before.back);
                window.early += u32::from(back.is_some_and(|back| back.elapsed() > AT_ONCE));
            }
            wp_presentation_feedback::Event::Discarded => window.answered += 1,
            _ => {}
        }
    }
}

impl Dispatch<xdg_surface::XdgSurface, ()> for ScanoutWindow {
    fn event(
        window: &mut Self,
        surface: &xdg_surface::XdgSurface,
        event: xdg_surface::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            window.configured = true;
        }
    }
}

impl Dispatch<xdg_toplevel::XdgToplevel, ()> for ScanoutWindow {
    fn event(
        _: &mut Self,
        _: &xdg_toplevel::XdgToplevel,
        event: xdg_toplevel::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_toplevel::Event::Close = event {
            std::process::exit(0);
        }
    }
}

impl Dispatch<xdg_wm_base::XdgWmBase, ()> for ScanoutWindow {
    fn event(
        _: &mut Self,
        shell: &xdg_wm_base::XdgWmBase,
        event: xdg_wm_base::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            shell.pong(serial);
        }
    }
}

impl Dispatch<wl_registry::WlRegistry, GlobalListContents> for ScanoutWindow {
    fn event(
        _: &mut Self,
        _: &wl_registry::WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

delegate_noop!(ScanoutWindow: wl_compositor::WlCompositor);
delegate_noop!(ScanoutWindow: ignore wl_surface::WlSurface);
delegate_noop!(ScanoutWindow: ignore wp_presentation::WpPresentation);
delegate_noop!(ScanoutWindow: ignore zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1);
delegate_noop!(ScanoutWindow: ignore zwp_linux_buffer_params_v1::ZwpLinuxBufferParamsV1);
delegate_noop!(ScanoutWindow: wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1);
delegate_noop!(ScanoutWindow: wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1);
delegate_noop!(ScanoutWindow: wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1);
