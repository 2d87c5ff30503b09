//! Plays the steps of a script in a simulated session, and checks the session afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use upbeat::backend::headless::OutputOptions;
use upbeat::config::{self, Config};
use upbeat::input::{self, InputEvent, KeyboardId, ScrollAxis, ScrollSource};
use upbeat::output::{hotplug, power};
use upbeat::render::Renderer;
use upbeat::session::apply_config;
use upbeat::shell::lock;
use upbeat::{guard, protocol};
use upbeat_timing::time::{Clock, Span};

use crate::fixture::simulated::nothing;
use crate::fixture::{BUTTON_LEFT, TestWorld};
use crate::last_step;
use crate::leak_check::LeakCheck;
use crate::limits::{Stopwatch, limit};
use crate::neighbour::Neighbour;
use crate::raw_connection::RawConnection;
use crate::requests::{CLIENTS, Generator};
use crate::resource_usage::{ResourceUsage, Slack};
use crate::script::{ScriptKind, ScriptStep};
use crate::sequences::LETTERS;
use crate::slow_reader::Sleeper;

/// Steps between two checks for leaks of clients that left.
pub const STEPS: usize = 10_000;
/// Limit for a turn of the loop with the requests of one burst, for a build with all checks, where the clock counts
/// instructions. A turn that is quadratic or waits for something exceeds it.
const LONGEST_TURN: Duration = Duration::from_secs(4);
/// Resources that may remain after clients left: content on screen, queues and pools of the outputs, and threads that
/// the session starts with the first capture or keymap.
const LEFT: Slack = Slack { descriptors: 16, mappings: 16, threads: 4, heap_bytes: u64::MAX / 2 };
/// Turns; a session that is locked for longer is unlocked by the test.
const LONGEST_LOCK: u32 = 40;
/// Object ends that one turn handles before it defers the rest.
const AT_ONCE: u32 = 4;
/// Refresh rate of the outputs (mHz).
const REFRESH: u32 = 60_000;
const SECOND: &str = "TEST-2";
/// Configurations for [`ScriptStep::Reload`]; at the end the first is loaded.
pub const CONFIGURATIONS: [&str; 6] = [
    "[scroll]\nviews = true\n[late-latch]\nfollowers = true\nfront-buffers = true\n",
    "reduced-motion = true\n",
    "pacing = \"vsync\"\n[keyboard]\nlayout = \"de\"\nrepeat-rate = 10\n",
    "pacing = \"ahead\"\n[animations]\nframes-ahead = 0\n",
    "[limits]\nsurfaces = 12\nbuffers = 20\nwindows = 4\n[scroll]\nviews = true\n[late-latch]\nfollowers = true\nfront-buffers = true\n[timing]\nin-place = true\n",
    "[privileges]\ncapture = false\nvirtual-input = false\n",
];

/// Counts of a script's run.
#[derive(Clone, Debug, Default)]
pub struct ScriptTally {
    /// Requests that the compositor read, at the least.
    pub requests: u64,
    /// Clients that were ended by a protocol error.
    pub ended: u64,
    /// Presented frames of the neighbour.
    pub frames: u64,
    /// The longest turn of the loop, in the time of [`Stopwatch`].
    pub slowest: Duration,
    /// Per request: how often it was sent, and how often it ended a client.
    pub kinds: BTreeMap<String, (u64, u64)>,
    /// Events that clients received: interface and name.
    pub events: BTreeSet<(&'static str, &'static str)>,
}

impl ScriptTally {
    pub fn add(&mut self, other: ScriptTally) {
        (self.requests, self.ended) = (self.requests + other.requests, self.ended + other.ended);
        (self.frames, self.slowest) = (self.frames + other.frames, self.slowest.max(other.slowest));
        self.events.extend(other.events);
        for (kind, (asked, ends)) in other.kinds {
            let known = self.kinds.entry(kind).or_default();
            *known = (known.0 + asked, known.1 + ends);
        }
    }
}

pub struct ScriptPlayer {
    world: TestWorld,
    neighbour: Neighbour,
    clients: Vec<Option<RawConnection>>,
    sleeper: Sleeper,
    kept: LeakCheck,
    before: ResourceUsage,
    config: Config,
    /// Turns since the session was locked.
    locked: u32,
    pub tally: ScriptTally,
}

impl ScriptPlayer {
    pub fn new() -> Self {
        let options = OutputOptions { front_buffer: true, ..OutputOptions::default() };
        let outputs = [(REFRESH, options.clone()), (REFRESH, options)];
        let mut world = TestWorld::simulated_on(&outputs, Renderer::pixman().unwrap());
        // Offer each optional protocol.
        upbeat::protocol::scroll::offer(&mut world.state, true);
        upbeat::protocol::late_latch::offer(&mut world.state, true);
        upbeat::output::clients::front_buffer::set_enabled(&mut world.state, true);
        // The cleanup after a client is spread over several turns, even if there is little of it.
        world.state.protocols.defer_ends_after(AT_ONCE);
        let neighbour = Neighbour::new(&mut world);
        let sleeper = Sleeper::new(&mut world);
        world.run_for(Span::from_millis(50), &mut nothing);
        let clients = (0..CLIENTS).map(|_| None).collect();
        ScriptPlayer {
            world,
            neighbour,
            clients,
            sleeper,
            kept: LeakCheck::default(),
            before: ResourceUsage::now(),
            config: Config::default(),
            locked: 0,
            tally: ScriptTally::default(),
        }
    }

    /// Generates a script and plays it. `record` is called with each step before it is done.
    pub fn generate(&mut self, kind: ScriptKind, seed: u64, mut record: impl FnMut(&ScriptStep)) {
        let mut generator = Generator::new(kind, seed);
        for _ in 0..STEPS {
            let step = generator.next(&self.clients);
            record(&step);
            self.play(&step);
            for client in 0..CLIENTS {
                if let Some(interface) = self.forget_ended(client) {
                    generator.ended(client, &interface);
                }
            }
        }
    }

    /// Does a step of an existing script, and forgets the clients that it ended.
    pub fn play_and_bury(&mut self, step: &ScriptStep) {
        self.play(step);
        (0..CLIENTS).for_each(|client| _ = self.forget_ended(client));
    }

    pub fn play(&mut self, step: &ScriptStep) {
        last_step::note(step);
        match step {
            ScriptStep::Connect(client) => self.connect(*client),
            ScriptStep::Leave(client) => self.leave(*client),
            ScriptStep::Request(client, request) => {
                let said = self.clients[*client].as_mut().is_some_and(|wire| wire.queue_request(request));
                if said {
                    match self.tally.kinds.get_mut(&request.called) {
                        Some((asked, _)) => *asked += 1,
                        None => _ = self.tally.kinds.insert(request.called.clone(), (1, 0)),
                    }
                }
            }
            ScriptStep::Mangle(client, at, change) => {
                if let Some(wire) = &mut self.clients[*client] {
                    wire.mangle(*at, *change);
                }
            }
            ScriptStep::Turn => self.turn(),
            ScriptStep::Pass(millis) => self.pass(Span::from_millis(i64::from(*millis))),
            ScriptStep::Unplug
            | ScriptStep::Plug
            | ScriptStep::Light(_)
            | ScriptStep::Rate(_)
            | ScriptStep::Reload(_) => self.change(step),
            ScriptStep::Point(..)
            | ScriptStep::Button(_)
            | ScriptStep::Key(..)
            | ScriptStep::Scroll(_)
            | ScriptStep::Touch(..)
            | ScriptStep::Lift(_) => {
                self.apply_input(step);
            }
        }
    }

    fn connect(&mut self, client: usize) {
        self.leave(client);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let state = &mut self.world.state;
        let known = protocol::client::connect(&mut state.display_handle, ours, &state.rules).unwrap();
        self.kept.add_client(&known);
        self.clients[client] = Some(RawConnection::new(theirs));
        self.turn();
        self.turn();
    }

    fn leave(&mut self, client: usize) {
        if let Some(wire) = self.clients[client].take() {
            self.tally.events.extend(wire.received_events);
        }
    }

    /// Input of the user.
    fn apply_input(&mut self, step: &ScriptStep) {
        let time = self.world.state.clock.now();
        let event = match *step {
            ScriptStep::Point(x, y) => {
                InputEvent::PointerPosition { time, position: (f64::from(x), f64::from(y)).into() }
            }
            ScriptStep::Button(pressed) => InputEvent::Button { time, button: BUTTON_LEFT, pressed },
            ScriptStep::Key(key, pressed) => InputEvent::Key { time, keyboard: KeyboardId::Session, key, pressed },
            ScriptStep::Scroll(steps) => {
                let vertical =
                    ScrollAxis { distance: f64::from(steps) * 15.0, v120: Some(steps * 120), ..ScrollAxis::default() };
                InputEvent::Axis { time, source: ScrollSource::Wheel, horizontal: ScrollAxis::default(), vertical }
            }
            ScriptStep::Touch(slot, x, y) => {
                InputEvent::TouchDown { time, slot, position: (f64::from(x), f64::from(y)).into() }
            }
            ScriptStep::Lift(slot) => InputEvent::TouchUp { time, slot },
            _ => return,
        };
        input::handle(&mut self.world.state, event);
        if matches!(step, ScriptStep::Touch(..) | ScriptStep::Lift(_)) {
            input::handle(&mut self.world.state, InputEvent::TouchFrame { time });
        }
    }

    /// Changes outputs or the configuration.
    fn change(&mut self, step: &ScriptStep) {
        let is_there = hotplug::by_name(&self.world.state, SECOND).is_some();
        match *step {
            ScriptStep::Unplug if is_there => self.world.unplug(SECOND),
            ScriptStep::Plug if !is_there => self.world.plug_in_at(SECOND, REFRESH, (320, 0)),
            ScriptStep::Rate(refresh) if is_there => self.world.set_refresh(SECOND, refresh),
            ScriptStep::Light(on) => {
                let outputs: Vec<_> = self.world.state.outputs.states().map(|output| output.id()).collect();
                outputs.into_iter().for_each(|output| power::set(&mut self.world.state, output, on));
            }
            ScriptStep::Reload(which) => {
                let new = config::parse(Path::new("upbeat.toml"), CONFIGURATIONS[which]).unwrap();
                apply_config::apply(&mut self.world.state, Some(&self.config), &new).unwrap();
                self.config = new;
            }
            _ => {}
        }
    }

    /// Forgets a client that was ended; returns the interface of its protocol error.
    fn forget_ended(&mut self, client: usize) -> Option<String> {
        let wire = self.clients[client].take_if(|wire| wire.gone)?;
        self.tally.ended += 1;
        self.tally.events.extend(wire.received_events);
        let (interface, _, said) = wire.error?;
        let words: String = said.chars().take_while(|letter| !letter.is_ascii_digit()).take(60).collect();
        self.tally.kinds.entry(format!("ends: {interface}: {words}")).or_default().1 += 1;
        Some(interface)
    }

    fn turn(&mut self) {
        self.unlock();
        self.clients.iter_mut().flatten().for_each(RawConnection::send);
        let watch = Stopwatch::start();
        self.world.turn();
        self.tally.slowest = self.tally.slowest.max(watch.elapsed());
        self.kept.record_surfaces(&self.world.state);
        self.sleeper.read_and_answer(&self.world);
        assert!(self.tally.slowest < limit(LONGEST_TURN), "a turn took {:?}", self.tally.slowest);
        for wire in self.clients.iter_mut().flatten() {
            wire.receive();
            // It is unknown how many of an ended client's last requests were read.
            let said = std::mem::take(&mut wire.request_count);
            self.tally.requests += if wire.gone { 0 } else { said };
        }
    }

    /// Ends a long lock: the clients that may hold it are disconnected, then the test takes over the lock and unlocks.
    fn unlock(&mut self) {
        self.locked = if self.world.state.shell.lock().takes_input() { self.locked + 1 } else { 0 };
        if self.locked > LONGEST_LOCK {
            (0..CLIENTS).for_each(|client| self.leave(client));
        }
        if !self.world.state.shell.lock().is_abandoned() {
            return;
        }
        let state = &mut self.world.state;
        let told = lock::request(state).ok().and_then(|_| state.shell.lock_mut().confirm_shown());
        assert!(told.is_some_and(|id| lock::unlock(state, id).is_ok()), "the new locker cannot unlock");
    }

    fn pass(&mut self, span: Span) {
        self.turn();
        self.neighbour.draw_next(&mut self.world);
        self.world.run_for(span, &mut nothing);
        self.clients.iter_mut().flatten().for_each(RawConnection::receive);
    }

    /// Ends all clients and asserts that the session is as in the beginning: the neighbour is shown, and nothing
    /// remains of the other clients. Returns the counts since the last call.
    pub fn end(&mut self) -> ScriptTally {
        self.turn();
        (0..CLIENTS).for_each(|client| self.leave(client));
        self.turn();
        self.play(&ScriptStep::Button(false));
        LETTERS.for_each(|key| self.play(&ScriptStep::Key(key, false)));
        (0..3).for_each(|slot| self.play(&ScriptStep::Lift(slot)));
        last_step::note(&"all clients have left: wait for keymaps");
        self.pass(Span::from_millis(50));
        // Keys of a virtual keyboard wait for its keymap, which a thread compiles, even if the client is gone.
        self.world.settle();
        self.assert_no_grabs();
        for step in [ScriptStep::Plug, ScriptStep::Rate(REFRESH), ScriptStep::Light(true), ScriptStep::Reload(0)] {
            self.play(&step);
        }
        last_step::note(&"all clients have left: wait for the neighbour's frames");
        // Workspaces and windows come to rest, in configurations that animate them.
        self.pass(Span::from_millis(1_200));
        self.neighbour.assert_new_window_is_shown(&mut self.world);
        // Closing animations end, and captures are copied.
        self.world.run_for(Span::from_millis(1_500), &mut nothing);
        let left = self.world.state.surfaces.iter().count();
        assert!(left <= 3, "{left} surfaces are left: expected one or two of the neighbour and one of the sleeper");
        let left = guard::all(&self.world.state.display_handle).len();
        assert!(left == 2, "{left} clients are left: expected the neighbour and the sleeper");
        self.kept.assert_nothing_kept(&mut self.world);
        last_step::note(&"all clients have left: count descriptors, mappings and threads");
        let (_, grown) = ResourceUsage::growth_since(&self.before, LEFT);
        assert!(grown.is_empty(), "clients that left still hold {}", grown.join("; "));
        self.tally.frames = u64::from(std::mem::take(&mut self.neighbour.shown));
        std::mem::take(&mut self.tally)
    }

    /// Ends the session. The neighbour is killed first, since the resources of a client are freed when it disconnects:
    /// clients that are connected when libwayland is destroyed are never reported as gone. In a real session the
    /// process ends anyway.
    pub fn close(mut self) {
        self.world.kill(self.neighbour.client);
        drop((self.neighbour, self.sleeper));
        self.world.run_for(Span::from_millis(50), &mut nothing);
    }

    /// Asserts that clients that are gone hold no key, grab, drag icon or popup.
    fn assert_no_grabs(&self) {
        let (input, shell) = (&self.world.state.input, &self.world.state.shell);
        let keys = input.keyboard().map(|keyboard| keyboard.pressed_keys()).unwrap_or_default();
        assert!(keys.is_empty(), "keys are stuck: {keys:?}");
        assert!(!input.pointer().is_grabbed(), "the pointer is still grabbed");
        assert!(!input.touch().is_grabbed(), "the fingers are still grabbed");
        assert!(self.world.state.surfaces.drag_icon().is_none(), "a drag icon is left");
        assert!(shell.drag().is_none(), "a window is still being dragged");
        assert!(!shell.has_popup_grab(), "a menu still has a grab");
    }
}
