//! The window's Wayland protocols: globals, buffers, callbacks, presentation times and input.

use std::error::Error;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::time::{ClockId, clock_gettime};
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::{
    wl_buffer, wl_callback, wl_compositor, wl_keyboard, wl_pointer, wl_registry, wl_seat, wl_shm, wl_shm_pool,
    wl_surface,
};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::presentation_time::client::{wp_presentation, wp_presentation_feedback};
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

use crate::canvas::Canvas;
use crate::scene::DemoScene;

/// Size in pixels if the compositor leaves it to the client.
const SIZE: (i32, i32) = (960, 600);

/// The refresh interval in seconds until the compositor sends the true one.
const USUAL_INTERVAL: f64 = 1.0 / 60.0;

/// Evdev codes of the used keys.
const ESCAPE: u32 = 1;
const Q: u32 = 16;
const UP: u32 = 103;
const DOWN: u32 = 108;

/// Change of the tempo by a key, in beats a minute.
const TEMPO_STEP: f64 = 6.0;

/// The time in seconds on the clock of `wp_presentation`.
pub fn clock(id: u32) -> f64 {
    let realtime = id == ClockId::Realtime as u32;
    let time = clock_gettime(if realtime { ClockId::Realtime } else { ClockId::Monotonic });
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// A buffer that the compositor may be reading.
struct DemoBuffer {
    file: File,
    buffer: wl_buffer::WlBuffer,
    busy: bool,
}

/// The window and its state.
pub struct DemoWindow {
    compositor: wl_compositor::WlCompositor,
    shm: wl_shm::WlShm,
    presentation: Option<wp_presentation::WpPresentation>,
    surface: wl_surface::WlSurface,
    toplevel: xdg_toplevel::XdgToplevel,
    size: (i32, i32),
    buffers: Vec<DemoBuffer>,
    canvas: Canvas,
    scene: DemoScene,
    clock_id: u32,
    /// The last refresh that showed a frame, in seconds.
    shown: Option<f64>,
    interval: f64,
    /// Numbers of drawn, shown and discarded frames.
    counts: [u32; 3],
    configured: bool,
    callback_pending: bool,
    open: bool,
}

impl DemoWindow {
    /// Binds the globals and opens the window.
    pub fn open(connection: &Connection, queue: &mut EventQueue<Self>) -> Result<Self, Box<dyn Error>> {
        let (globals, mut setup) = registry_queue_init::<GlobalsSetup>(connection)?;
        setup.roundtrip(&mut GlobalsSetup)?;
        let handle = queue.handle();
        let compositor: wl_compositor::WlCompositor = globals.bind(&handle, 4..=6, ())?;
        let shell: xdg_wm_base::XdgWmBase = globals.bind(&handle, 1..=6, ())?;
        // Without a seat there is no input; without presentation times `next_light` uses only the clock.
        let _: Option<wl_seat::WlSeat> = globals.bind(&handle, 1..=7, ()).ok();
        let surface = compositor.create_surface(&handle, ());
        let toplevel = shell.get_xdg_surface(&surface, &handle, ()).get_toplevel(&handle, ());
        toplevel.set_title("Upbeat".to_owned());
        toplevel.set_app_id("upbeat.demo".to_owned());
        surface.commit();
        Ok(DemoWindow {
            compositor,
            shm: globals.bind(&handle, 1..=1, ())?,
            presentation: globals.bind(&handle, 1..=2, ()).ok(),
            surface,
            toplevel,
            size: SIZE,
            buffers: Vec::new(),
            canvas: Canvas::new(0, 0),
            scene: DemoScene::new(),
            clock_id: ClockId::Monotonic as u32,
            shown: None,
            interval: USUAL_INTERVAL,
            counts: [0; 3],
            configured: false,
            callback_pending: false,
            open: true,
        })
    }

    pub fn is_open(&self) -> bool {
        self.open
    }

    pub fn clock_id(&self) -> u32 {
        self.clock_id
    }

    /// Prints the numbers of frames.
    pub fn report(&self) {
        let [drawn, shown, discarded] = self.counts;
        println!("demo: {drawn} frames drawn, {shown} shown, {discarded} thrown away");
    }

    /// When a frame that is drawn now will be light, in seconds.
    fn next_light(&self) -> f64 {
        let now = clock(self.clock_id);
        let Some(shown) = self.shown else { return now + self.interval };
        let passed = ((now - shown) / self.interval).floor();
        shown + (passed + 1.0) * self.interval
    }

    fn draw(&mut self, handle: &QueueHandle<Self>) -> Result<(), Box<dyn Error>> {
        let (width, height) = self.size;
        if (self.canvas.width, self.canvas.height) != (width as usize, height as usize) {
            self.canvas = Canvas::new(width as usize, height as usize);
            self.buffers.drain(..).for_each(|old| old.buffer.destroy());
            let opaque = self.compositor.create_region(handle, ());
            opaque.add(0, 0, width, height);
            self.surface.set_opaque_region(Some(&opaque));
            opaque.destroy();
        }
        let light = self.next_light();
        self.scene.draw(&mut self.canvas, light);
        let at = match self.buffers.iter().position(|buffer| !buffer.busy) {
            Some(at) => at,
            None => {
                self.buffers.push(self.new_buffer(handle)?);
                self.buffers.len() - 1
            }
        };
        let buffer = &mut self.buffers[at];
        buffer.file.write_all_at(self.canvas.bytes(), 0)?;
        buffer.busy = true;
        self.surface.attach(Some(&buffer.buffer), 0, 0);
        self.surface.damage_buffer(0, 0, width, height);
        self.surface.frame(handle, ());
        if let Some(presentation) = &self.presentation {
            presentation.feedback(&self.surface, handle, ());
        }
        self.surface.commit();
        self.callback_pending = true;
        self.counts[0] += 1;
        Ok(())
    }

    fn new_buffer(&self, handle: &QueueHandle<Self>) -> Result<DemoBuffer, Box<dyn Error>> {
        let (width, height) = self.size;
        let bytes = width * height * 4;
        let file = File::from(memfd_create("upbeat demo", MemfdFlags::CLOEXEC)?);
        file.set_len(bytes as u64)?;
        let pool = self.shm.create_pool(file.as_fd(), bytes, handle, ());
        let buffer = pool.create_buffer(0, width, height, width * 4, wl_shm::Format::Xrgb8888, handle, ());
        pool.destroy();
        Ok(DemoBuffer { file, buffer, busy: false })
    }

    fn draw_or_close(&mut self, handle: &QueueHandle<Self>) {
        if let Err(error) = self.draw(handle) {
            eprintln!("demo: {error}");
            self.open = false;
        }
    }

    fn key(&mut self, key: u32) {
        let now = clock(self.clock_id);
        match key {
            ESCAPE | Q => self.open = false,
            UP => self.scene.change_tempo(TEMPO_STEP, now),
            DOWN => self.scene.change_tempo(-TEMPO_STEP, now),
            _ => {}
        }
    }
}

impl Dispatch<wl_callback::WlCallback, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        _: &wl_callback::WlCallback,
        _: wl_callback::Event,
        (): &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        window.callback_pending = false;
        window.draw_or_close(handle);
    }
}

impl Dispatch<xdg_surface::XdgSurface, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        surface: &xdg_surface::XdgSurface,
        event: xdg_surface::Event,
        (): &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            // The first frame, and the first of a new size, cannot wait for a callback.
            let resized = (window.canvas.width as i32, window.canvas.height as i32) != window.size;
            if !window.configured || (resized && !window.callback_pending) {
                window.configured = true;
                window.draw_or_close(handle);
            }
        }
    }
}

impl Dispatch<xdg_toplevel::XdgToplevel, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        _: &xdg_toplevel::XdgToplevel,
        event: xdg_toplevel::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            xdg_toplevel::Event::Configure { width, height, .. } if width > 0 && height > 0 => {
                window.size = (width, height);
            }
            xdg_toplevel::Event::Close => {
                window.toplevel.destroy();
                window.open = false;
            }
            _ => {}
        }
    }
}

impl Dispatch<wp_presentation::WpPresentation, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        _: &wp_presentation::WpPresentation,
        event: wp_presentation::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wp_presentation::Event::ClockId { clk_id } = event {
            window.clock_id = clk_id;
        }
    }
}

impl Dispatch<wp_presentation_feedback::WpPresentationFeedback, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        _: &wp_presentation_feedback::WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, .. } => {
                let seconds = u64::from(tv_sec_hi) << 32 | u64::from(tv_sec_lo);
                window.shown = Some(seconds as f64 + f64::from(tv_nsec) / 1e9);
                if refresh > 0 {
                    window.interval = f64::from(refresh) / 1e9;
                }
                window.counts[1] += 1;
            }
            wp_presentation_feedback::Event::Discarded => window.counts[2] += 1,
            _ => {}
        }
    }
}

impl Dispatch<wl_buffer::WlBuffer, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        released: &wl_buffer::WlBuffer,
        _: wl_buffer::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        for buffer in window.buffers.iter_mut().filter(|buffer| buffer.buffer.id() == released.id()) {
            buffer.busy = false;
        }
    }
}

impl Dispatch<wl_seat::WlSeat, ()> for DemoWindow {
    fn event(
        _: &mut Self,
        seat: &wl_seat::WlSeat,
        event: wl_seat::Event,
        (): &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(capabilities) } = event {
            if capabilities.contains(wl_seat::Capability::Pointer) {
                seat.get_pointer(handle, ());
            }
            if capabilities.contains(wl_seat::Capability::Keyboard) {
                seat.get_keyboard(handle, ());
            }
        }
    }
}

impl Dispatch<wl_pointer::WlPointer, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        _: &wl_pointer::WlPointer,
        event: wl_pointer::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wl_pointer::Event::Enter { surface_x: x, surface_y: y, .. }
            | wl_pointer::Event::Motion { surface_x: x, surface_y: y, .. } => {
                window.scene.pointer = Some((x as f32, y as f32));
            }
            wl_pointer::Event::Leave { .. } => window.scene.pointer = None,
            wl_pointer::Event::Button { state: WEnum::Value(wl_pointer::ButtonState::Pressed), .. } => {
                window.scene.click(clock(window.clock_id));
            }
            _ => {}
        }
    }
}

impl Dispatch<wl_keyboard::WlKeyboard, ()> for DemoWindow {
    fn event(
        window: &mut Self,
        _: &wl_keyboard::WlKeyboard,
        event: wl_keyboard::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_keyboard::Event::Key { key, state: WEnum::Value(wl_keyboard::KeyState::Pressed), .. } = event {
            window.key(key);
        }
    }
}

impl Dispatch<xdg_wm_base::XdgWmBase, ()> for DemoWindow {
    fn event(
        _: &mut Self,
        shell: &xdg_wm_base::XdgWmBase,
        event: xdg_wm_base::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            shell.pong(serial);
        }
    }
}

delegate_noop!(DemoWindow: ignore wl_compositor::WlCompositor);
delegate_noop!(DemoWindow: ignore wayland_client::protocol::wl_region::WlRegion);
delegate_noop!(DemoWindow: ignore wl_shm::WlShm);
delegate_noop!(DemoWindow: ignore wl_shm_pool::WlShmPool);
delegate_noop!(DemoWindow: ignore wl_surface::WlSurface);

/// Dispatch state until the globals are known.
struct GlobalsSetup;

impl Dispatch<wl_registry::WlRegistry, GlobalListContents> for GlobalsSetup {
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
