//! The connection to the X server: its windows, and one pollable descriptor for the server and the ticks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::event::epoll;
use x11rb::connection::Connection as _;
use x11rb::protocol::xinput::TouchBeginEvent;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, PropMode, Screen, Visibility,
    WindowClass,
};
use x11rb::protocol::{Event, shm};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::input::{self, KeyRepeatFilter};
use super::output::X11Output;
use super::tick_timer::TickTimer;
use super::touch::{TouchPhase, TouchPoints};
use super::transport::{ShmSupport, Transport, X11WindowIds};
use super::window::X11Window;
use super::{X11Error, refresh, touch};
use crate::backend::VideoMode;
use crate::backend::nested::{ParentEvent, WindowId};
use crate::backend::timer::Timer;
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

x11rb::atom_manager! {
    /// Atoms that are interned at the start.
    Atoms:
    /// The replies to the intern requests.
    AtomsCookie {
        WM_PROTOCOLS,
        WM_DELETE_WINDOW,
        _NET_WM_NAME,
        UTF8_STRING,
    }
}

/// A connection to an X server.
///
/// The descriptor ([`AsFd`]) is readable when [`dispatch`](Self::dispatch) has work to do: the server has sent an
/// event, or a frame's tick has come.
pub struct X11Backend {
    connection: Rc<RustConnection>,
    sharing: ShmSupport,
    screen: Screen,
    /// The screen's refresh rate, in mHz.
    refresh: u32,
    atoms: Atoms,
    windows: Vec<Rc<RefCell<X11Window>>>,
    key_filter: KeyRepeatFilter,
    /// The server supports touch events.
    has_touch: bool,
    fingers: TouchPoints,
    events: VecDeque<ParentEvent>,
    tick_timer: Rc<TickTimer>,
    epoll: OwnedFd,
    last_window: u32,
}

impl X11Backend {
    /// Connects to the server that `DISPLAY` names. Blocks for its answers, so it is for the start of a session.
    pub fn connect() -> Result<Self, X11Error> {
        Self::connect_to(None)
    }

    /// Connects to the server with this name.
    pub(super) fn connect_to(display: Option<&str>) -> Result<Self, X11Error> {
        let (connection, screen) = RustConnection::connect(display)?;
        let connection = Rc::new(connection);
        let setup = connection.setup();
        let screen = setup.roots.get(screen).cloned().ok_or(X11Error::Pixels)?;
        let fits = setup.pixmap_formats.iter().any(|format| {
            format.depth == screen.root_depth && format.depth == PIXEL_DEPTH && format.bits_per_pixel == 32
        });
        if !fits {
            return Err(X11Error::Pixels);
        }
        let atoms = Atoms::new(&connection)?.reply()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer = Timer::new()?;
        epoll::add(&epoll, connection.stream(), epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let refresh = refresh::of_screen(&connection, screen.root);
        let hertz = f64::from(refresh) / 1_000.0;
        tracing::warn!(hertz, "an X server does not report when frames are shown: refreshes are software vsync");
        Ok(X11Backend {
            sharing: ShmSupport::ask(&connection),
            has_touch: touch::is_known(&connection),
            connection,
            screen,
            refresh,
            atoms,
            windows: Vec::new(),
            key_filter: KeyRepeatFilter::default(),
            fingers: TouchPoints::default(),
            events: VecDeque::new(),
            tick_timer: Rc::new(TickTimer::new(timer)),
            epoll,
            last_window: 0,
        })
    }

    /// Opens a window of `size` pixels.
    pub fn open(&mut self, name: &str, size: (i32, i32)) -> Result<X11Output, X11Error> {
        let (width, height) = (size.0.clamp(1, i32::from(i16::MAX)), size.1.clamp(1, i32::from(i16::MAX)));
        self.last_window += 1;
        let names = self.create(&format!("Upbeat – {name}"), (width as u16, height as u16))?;
        let id = WindowId(self.last_window);
        let mode = VideoMode { width, height, refresh: self.refresh };
        let transport = Transport::new(self.connection.clone(), names, self.sharing.clone());
        let window = X11Window::new(id, names, transport, mode, MonotonicClock.now());
        let window = Rc::new(RefCell::new(window));
        self.windows.push(window.clone());
        Ok(X11Output::new(name.to_owned(), window, self.tick_timer.clone()))
    }

    fn create(&self, title: &str, (width, height): (u16, u16)) -> Result<X11WindowIds, X11Error> {
        let (connection, screen, atoms) = (&self.connection, &self.screen, &self.atoms);
        let (window, context) = (connection.generate_id()?, connection.generate_id()?);
        let heard = EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::EXPOSURE
            | EventMask::VISIBILITY_CHANGE
            | EventMask::STRUCTURE_NOTIFY
            | EventMask::FOCUS_CHANGE;
        let look = CreateWindowAux::new().background_pixel(screen.black_pixel).event_mask(heard);
        let (depth, visual) = (screen.root_depth, screen.root_visual);
        let class = WindowClass::INPUT_OUTPUT;
        connection.create_window(depth, window, screen.root, 0, 0, width, height, 0, class, visual, &look)?;
        connection.create_gc(context, window, &CreateGCAux::new().graphics_exposures(0))?;
        let kinds: (Atom, Atom) = (AtomEnum::WM_NAME.into(), AtomEnum::STRING.into());
        let mode = PropMode::REPLACE;
        connection.change_property8(mode, window, kinds.0, kinds.1, title.as_bytes())?;
        connection.change_property8(mode, window, atoms._NET_WM_NAME, atoms.UTF8_STRING, title.as_bytes())?;
        connection.change_property8(mode, window, AtomEnum::WM_CLASS, AtomEnum::STRING, b"upbeat\0upbeat\0")?;
        let protocols = [atoms.WM_DELETE_WINDOW];
        connection.change_property32(mode, window, atoms.WM_PROTOCOLS, AtomEnum::ATOM, &protocols)?;
        if self.has_touch {
            touch::listen(connection, window)?;
        }
        connection.map_window(window)?;
        connection.flush()?;
        Ok(X11WindowIds { window, context, depth })
    }

    /// Reads the server's events, and reports the frames whose tick has come. On an error the server is gone.
    pub fn dispatch(&mut self) -> Result<(), X11Error> {
        let now = MonotonicClock.now();
        self.windows.iter().for_each(|window| window.borrow_mut().tick(now));
        self.tick_timer.arm(self.windows.iter().filter_map(|window| window.borrow().due()).min());
        while let Some(event) = self.connection.poll_for_event()? {
            self.handle_event(&event, now);
        }
        let events = &mut self.events;
        self.key_filter.flush(|event| events.push_back(event));
        events.extend(self.fingers.frame(now));
        Ok(())
    }

    fn handle_event(&mut self, event: &Event, now: Instant) {
        let events = &mut self.events;
        let tell = |event| events.push_back(event);
        match event {
            Event::KeyPress(key) => self.key_filter.press(key.detail, key.time, now, tell),
            Event::KeyRelease(key) => self.key_filter.release(key.detail, key.time, now, tell),
            Event::ButtonPress(press) => self.events.extend(input::button(press.detail, true, now)),
            Event::ButtonRelease(release) => self.events.extend(input::button(release.detail, false, now)),
            Event::FocusOut(_) => self.events.push_back(ParentEvent::KeyboardLeft),
            Event::MotionNotify(motion) => self.with_window(motion.event, |window, events| {
                events.push_back(input::moved(window.id, motion.event_x, motion.event_y, now));
            }),
            Event::Expose(expose) if expose.count == 0 => self.with_window(expose.window, |window, _| window.exposed()),
            Event::ConfigureNotify(configure) => self.with_window(configure.window, |window, _| {
                window.resized(configure.width, configure.height);
            }),
            Event::VisibilityNotify(change) => self.with_window(change.window, |window, events| {
                let window = window.id;
                events.push_back(match change.state {
                    Visibility::FULLY_OBSCURED => ParentEvent::Hidden { window },
                    _ => ParentEvent::Visible { window },
                });
            }),
            Event::ClientMessage(message) if message.data.as_data32()[0] == self.atoms.WM_DELETE_WINDOW => {
                self.close(message.window);
            }
            Event::DestroyNotify(gone) => self.close(gone.window),
            Event::XinputTouchBegin(touch) => self.touched(TouchPhase::Begin, touch, now),
            Event::XinputTouchUpdate(touch) => self.touched(TouchPhase::Update, touch, now),
            Event::XinputTouchEnd(touch) => self.touched(TouchPhase::End, touch, now),
            Event::ShmCompletion(read) => self.with_window(read.drawable, |window, _| window.completed(read.shmseg)),
            Event::Error(error) => self.handle_error(error),
            _ => {}
        }
    }

    fn touched(&mut self, phase: TouchPhase, touch: &TouchBeginEvent, now: Instant) {
        let window = self.windows.iter().find(|window| window.borrow().names.window == touch.event);
        let window = window.map(|window| window.borrow().id);
        let place = touch::place(touch);
        let fingers = &mut self.fingers;
        self.events.extend(window.and_then(|window| fingers.touched(phase, touch.detail, window, place, now)));
    }

    fn handle_error(&mut self, error: &x11rb::x11_utils::X11Error) {
        tracing::warn!(?error, "the X server reported an error");
        if error.extension_name.as_deref() == Some(shm::X11_EXTENSION_NAME) && self.sharing.disable() {
            tracing::warn!("frames are sent to the X server through the connection from now on");
            self.windows.iter().for_each(|window| window.borrow_mut().exposed());
        }
    }

    /// Calls `act` with the window that has this X id, if it exists.
    fn with_window(&mut self, name: u32, act: impl FnOnce(&mut X11Window, &mut VecDeque<ParentEvent>)) {
        let found = self.windows.iter().find(|window| window.borrow().names.window == name);
        if let Some(window) = found {
            act(&mut window.borrow_mut(), &mut self.events);
        }
    }

    fn close(&mut self, name: u32) {
        self.with_window(name, |window, events| events.push_back(ParentEvent::Closed { window: window.id }));
        self.windows.retain(|window| window.borrow().names.window != name);
        let _ = self.connection.destroy_window(name).map(drop);
        let _ = self.connection.flush();
    }

    /// The next event that concerns more than one output's frames.
    pub fn poll_event(&mut self) -> Option<ParentEvent> {
        self.events.pop_front()
    }
}

/// Colour bits per pixel of `XRGB8888`.
const PIXEL_DEPTH: u8 = 24;

impl AsFd for X11Backend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

#[cfg(test)]
mod tests;
