//! A client that binds every global and often reads nothing for a while: a bar, a clipboard manager and a window in
//! one, as if stopped in a debugger or swapped out. No action of another client may end it.

use std::os::unix::net::UnixStream;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use upbeat::protocol;
use upbeat_timing::time::{Clock, Instant, Span};

use crate::fixture::TestWorld;
use crate::interfaces;
use crate::raw_connection::RawConnection;
use crate::script::{Argument, ObjectName, RawRequest};

/// Pauses without reading (ms), each as likely as the next.
const PAUSES: [i64; 4] = [0, 50, 200, 1_000];
/// Objects that the client creates for its seat: manager and request.
const LISTENERS: [(&str, &str); 4] = [
    ("wl_data_device_manager", "get_data_device"),
    ("zwp_primary_selection_device_manager_v1", "get_device"),
    ("zwlr_data_control_manager_v1", "get_data_device"),
    ("ext_data_control_manager_v1", "get_data_device"),
];
/// Interfaces of objects that the compositor creates, their destructor, and how many of the newest objects are kept.
const TIDIED: [(&str, &str, usize); 10] = [
    ("wl_data_offer", "destroy", 1),
    ("zwp_primary_selection_offer_v1", "destroy", 1),
    ("zwlr_data_control_offer_v1", "destroy", 2),
    ("ext_data_control_offer_v1", "destroy", 2),
    ("zwlr_foreign_toplevel_handle_v1", "destroy", 8),
    ("ext_foreign_toplevel_handle_v1", "destroy", 8),
    ("ext_workspace_group_handle_v1", "destroy", 8),
    ("ext_workspace_handle_v1", "destroy", 64),
    ("zwlr_output_mode_v1", "release", 16),
    ("zwlr_output_head_v1", "release", 8),
];
const DEVICES: [&str; 3] = ["get_pointer", "get_keyboard", "get_touch"];

pub struct Sleeper {
    wire: RawConnection,
    rng: StdRng,
    named: u32,
    /// The last configure that was acknowledged.
    answered: Option<u32>,
    wakes: Instant,
}

impl Sleeper {
    /// Connects, binds each global and opens a window.
    pub fn new(world: &mut TestWorld) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let state = &mut world.state;
        protocol::client::connect(&mut state.display_handle, ours, &state.rules).unwrap();
        let wakes = state.clock.now();
        let mut sleeper = Sleeper {
            wire: RawConnection::new(theirs),
            rng: StdRng::seed_from_u64(0),
            named: 0,
            answered: None,
            wakes,
        };
        sleeper.heard(world);
        for (_, interface, version) in sleeper.wire.globals.clone() {
            let known = interfaces::global(&interface).unwrap();
            let name = sleeper.name();
            let arguments = vec![Argument::Bind(interface, version.min(known.version), name)];
            sleeper.say(ObjectName::Registry, 0, "bind", arguments);
        }
        sleeper.heard(world);
        let seat = sleeper.wire.family("wl_seat")[0].clone();
        for called in DEVICES {
            let name = sleeper.name();
            sleeper.ask(&seat, "wl_seat", called, vec![Argument::New(name)]);
        }
        for (of, called) in LISTENERS {
            let (manager, name) = (sleeper.wire.family(of)[0].clone(), sleeper.name());
            sleeper.ask(&manager, of, called, vec![Argument::New(name), Argument::Object(Some(seat.clone()))]);
        }
        sleeper.window();
        sleeper.heard(world);
        sleeper
    }

    /// Reads and answers, unless it is paused.
    pub fn read_and_answer(&mut self, world: &TestWorld) {
        let now = world.state.clock.now();
        if now < self.wakes {
            return;
        }
        self.wire.receive();
        assert!(!self.wire.gone, "a client that read nothing for a while was ended: {:?}", self.wire.error);
        self.answer();
        self.destroy_outdated();
        self.wire.send();
        self.wakes = now + Span::from_millis(PAUSES[self.rng.random_range(0..PAUSES.len())]);
    }

    /// Runs the session until all requests are answered.
    fn heard(&mut self, world: &mut TestWorld) {
        for _ in 0..4 {
            self.wire.send();
            world.turn();
            self.wire.receive();
        }
        assert!(!self.wire.gone, "{:?}", self.wire.error);
    }

    /// Acknowledges the last configure of the window.
    fn answer(&mut self) {
        for surface in self.wire.family("xdg_surface").to_vec() {
            let newest = self.wire.configure_of(&surface);
            if newest.is_some() && newest != self.answered {
                self.answered = newest;
                self.ask(&surface, "xdg_surface", "ack_configure", vec![Argument::Configure]);
            }
        }
    }

    /// Destroys outdated objects, as every program of the kind does.
    fn destroy_outdated(&mut self) {
        for (of, gives_back, newest) in TIDIED {
            let all = self.wire.family(of).to_vec();
            let old = all.len().saturating_sub(newest);
            all[..old].iter().for_each(|object| self.ask(object, of, gives_back, Vec::new()));
        }
    }

    /// A window without content: it receives sizes and states, and draws nothing.
    fn window(&mut self) {
        let (surface, xdg, window) = (self.name(), self.name(), self.name());
        let [compositor, base] = ["wl_compositor", "xdg_wm_base"].map(|of| self.wire.family(of)[0].clone());
        self.ask(&compositor, "wl_compositor", "create_surface", vec![Argument::New(surface)]);
        let made = vec![Argument::New(xdg), Argument::Object(Some(ObjectName::Made(surface)))];
        self.ask(&base, "xdg_wm_base", "get_xdg_surface", made);
        self.ask(&ObjectName::Made(xdg), "xdg_surface", "get_toplevel", vec![Argument::New(window)]);
        self.ask(&ObjectName::Made(surface), "wl_surface", "commit", Vec::new());
    }

    fn name(&mut self) -> u32 {
        self.named += 1;
        self.named
    }

    fn ask(&mut self, to: &ObjectName, of: &str, called: &str, arguments: Vec<Argument>) {
        let interface = interfaces::called(of).unwrap();
        let opcode = interface.requests.iter().position(|request| request.name == called).unwrap();
        self.say(to.clone(), opcode as u16, called, arguments);
    }

    fn say(&mut self, to: ObjectName, opcode: u16, called: &str, arguments: Vec<Argument>) {
        self.wire.queue_request(&RawRequest { to, opcode, called: called.to_owned(), arguments });
    }
}
