//! Does the steps of a script to a world, and looks what becomes of it.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use upbeat::protocol;
use upbeat::time::Span;

use crate::fixture::simulated::nothing;
use crate::fixture::{BUTTON_LEFT, World};
use crate::neighbour::Neighbour;
use crate::requests::{CLIENTS, Generator};
use crate::script::{Kind, Step};
use crate::wire::Wire;

/// Steps that one world sees.
pub const STEPS: usize = 10_000;
/// A turn of the loop with what one burst asks for takes no longer, on a machine that has other things to do, in a build
/// that checks everything twice. What is quadratic or waits for somebody does.
const LONGEST_TURN: Duration = Duration::from_secs(4);
/// What a client may leave behind for a moment: what is on the screen, in queues and in pools.
const DESCRIPTORS: usize = 16;
/// So long it may take until they are given back.
const GIVEN_BACK: Duration = Duration::from_millis(300);
/// The rate in mHz of the outputs.
const REFRESH: u32 = 60_000;

/// What came of a script.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub requests: u64,
    /// Clients that were ended for what they said.
    pub ended: u64,
    /// Frames of the neighbour.
    pub frames: u64,
    /// How often what was asked for, and what ended clients.
    pub kinds: BTreeMap<String, (u64, u64)>,
}

pub struct Player {
    world: World,
    neighbour: Neighbour,
    clients: Vec<Option<Wire>>,
    descriptors: BTreeMap<String, usize>,
    pub tally: Tally,
    slowest: Duration,
}

/// What is open, and how often.
fn descriptors() -> BTreeMap<String, usize> {
    let mut open = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let what = std::fs::read_link(entry.path()).unwrap_or_default().to_string_lossy().into_owned();
        let what: String = what.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        *open.entry(what).or_default() += 1;
    }
    open
}

impl Player {
    pub fn new() -> Self {
        let mut world = World::simulated(&[REFRESH, REFRESH]);
        let neighbour = Neighbour::new(&mut world);
        world.run_for(Span::from_millis(50), &mut nothing);
        let clients = (0..CLIENTS).map(|_| None).collect();
        let (descriptors, tally) = (descriptors(), Tally::default());
        Player { world, neighbour, clients, descriptors, tally, slowest: Duration::ZERO }
    }

    /// Generates a script and plays it. `record` hears of each step before it is done.
    pub fn generate(&mut self, kind: Kind, seed: u64, mut record: impl FnMut(&Step)) {
        let mut generator = Generator::new(kind, seed);
        for _ in 0..STEPS {
            let step = generator.next(&self.clients);
            record(&step);
            self.play(&step);
            for client in 0..CLIENTS {
                if let Some(interface) = self.bury(client) {
                    generator.ended(client, &interface);
                }
            }
        }
    }

    pub fn play(&mut self, step: &Step) {
        match step {
            Step::Connect(client) => {
                let (ours, theirs) = UnixStream::pair().unwrap();
                let state = &mut self.world.state;
                protocol::client::connect(&mut state.display_handle, ours, &state.rules).unwrap();
                self.clients[*client] = Some(Wire::new(theirs));
                self.turn();
                self.turn();
            }
            Step::Leave(client) => self.clients[*client] = None,
            Step::Request(client, request) => {
                let said = self.clients[*client].as_mut().is_some_and(|wire| wire.say(request));
                if said {
                    self.tally.requests += 1;
                    match self.tally.kinds.get_mut(&request.called) {
                        Some((asked, _)) => *asked += 1,
                        None => _ = self.tally.kinds.insert(request.called.clone(), (1, 0)),
                    }
                }
            }
            Step::Mangle(client, at, change) => {
                if let Some(wire) = &mut self.clients[*client] {
                    wire.mangle(*at, *change);
                }
            }
            Step::Turn => self.turn(),
            Step::Pass(millis) => self.pass(Span::from_millis(i64::from(*millis))),
            Step::Point(x, y) => self.world.point(f64::from(*x), f64::from(*y)),
            Step::Button(pressed) => self.world.button(BUTTON_LEFT, *pressed),
            Step::Key(key, pressed) => self.world.key(*key, *pressed),
            Step::Unplug => self.world.unplug("TEST-2"),
            Step::Plug => self.world.plug_at("TEST-2", REFRESH, (320, 0)),
        }
    }

    /// Forgets a client that was ended; says which interface's error it was told.
    fn bury(&mut self, client: usize) -> Option<String> {
        let wire = self.clients[client].take_if(|wire| wire.gone)?;
        self.tally.ended += 1;
        let (interface, _, said) = wire.error?;
        let words: String = said.chars().filter(|letter| !letter.is_ascii_digit()).take(60).collect();
        self.tally.kinds.entry(format!("ends: {interface}: {words}")).or_default().1 += 1;
        Some(interface)
    }

    fn turn(&mut self) {
        self.clients.iter_mut().flatten().for_each(Wire::send);
        let start = Instant::now();
        self.world.turn();
        self.slowest = self.slowest.max(start.elapsed());
        assert!(self.slowest < LONGEST_TURN, "a turn took {:?}", self.slowest);
        self.clients.iter_mut().flatten().for_each(Wire::receive);
    }

    fn pass(&mut self, span: Span) {
        self.turn();
        self.neighbour.go_on(&mut self.world);
        self.world.run_for(span, &mut nothing);
        self.clients.iter_mut().flatten().for_each(Wire::receive);
    }

    /// All clients leave: whoever stays is seen, and nothing is left of the others.
    pub fn end(mut self) -> Tally {
        self.turn();
        self.clients.iter_mut().for_each(|client| *client = None);
        self.world.button(BUTTON_LEFT, false);
        self.pass(Span::from_millis(50));
        if !self.world.state.outputs.states().any(|output| output.output.name() == "TEST-2") {
            self.play(&Step::Plug);
        }
        self.pass(Span::from_millis(50));
        self.neighbour.is_seen(&mut self.world);
        // Windows fade out, pictures are copied.
        self.world.run_for(Span::from_millis(1_500), &mut nothing);
        let left = self.world.state.surfaces.iter().count();
        assert!(left <= 2, "{left} surfaces are left, one or two are the neighbour's");
        let count = |open: &BTreeMap<String, usize>| open.values().sum::<usize>();
        // Memory is given back by a thread of its own.
        let start = Instant::now();
        let mut now = descriptors();
        while count(&now) > count(&self.descriptors) && start.elapsed() < GIVEN_BACK {
            std::thread::sleep(Duration::from_millis(5));
            now = descriptors();
        }
        let before = &self.descriptors;
        assert!(count(&now) <= count(before) + DESCRIPTORS, "descriptors are left: {before:?} before, {now:?} after");
        self.tally.frames = u64::from(self.neighbour.shown);
        self.tally
    }
}
