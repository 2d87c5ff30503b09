//! What is asked for: anything that the interfaces allow, of any object, with now and then something that makes sense.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use wayland_backend::protocol::{AllowNull, ArgumentType, Interface};

use crate::descriptors::Descriptor;
use crate::interfaces;
use crate::script::{Argument, Change, Kind, Name, Request, Step};
use crate::wire::Wire;

/// Connections at once.
pub const CLIENTS: usize = 3;
/// Requests between two turns of the loop, at most.
const BURST: u32 = 24;
/// An interface with more objects than this is asked to end some.
const MANY: usize = 40;
/// Of the objects of an interface the newest are used mostly.
const NEWEST: usize = 6;
const EXTREMES: [u32; 9] =
    [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x0001_0000, 0x7fff_ff00, 0xffff_8000, 0x4000_0000];
const TEXTS: [&str; 6] = ["", "text/plain", "a\u{1b}[31mb", "../../etc", "ä\u{202e}語", "org.example.App"];
const SIDES: [u32; 5] = [1, 8, 40, 100, 320];

pub struct Generator {
    rng: StdRng,
    kind: Kind,
    /// Names that were given.
    named: u32,
    /// Steps that are decided.
    ahead: Vec<Step>,
    burst: u32,
    /// How often an interface was asked, and how often that ended the client.
    asked: BTreeMap<(&'static str, u16), (u32, u32)>,
    newest: Vec<(usize, &'static str, u16)>,
    unplugged: bool,
}

impl Generator {
    pub fn new(kind: Kind, seed: u64) -> Self {
        let rng = StdRng::seed_from_u64(seed);
        let (asked, newest) = (BTreeMap::new(), Vec::new());
        Generator { rng, kind, named: 0, ahead: Vec::new(), burst: 0, asked, newest, unplugged: false }
    }

    fn name(&mut self) -> u32 {
        self.named += 1;
        self.named
    }

    /// `client` was ended: by something that was asked for just now.
    pub fn ended(&mut self, client: usize, by: &str) {
        for (of, interface, opcode) in &self.newest {
            if *of == client && *interface == by {
                self.asked.entry((interface, *opcode)).or_default().1 += 1;
            }
        }
    }

    pub fn next(&mut self, clients: &[Option<Wire>]) -> Step {
        if let Some(step) = self.ahead.pop() {
            return self.counted(step);
        }
        if self.burst == 0 {
            self.burst = self.rng.random_range(1..BURST);
            self.newest.clear();
            return if self.rng.random_ratio(1, 4) { self.outside() } else { Step::Turn };
        }
        let client = self.rng.random_range(0..CLIENTS);
        let Some(wire) = &clients[client] else {
            self.burst = 0;
            return Step::Connect(client);
        };
        if self.rng.random_ratio(1, 3_000) {
            return Step::Leave(client);
        }
        if self.kind == Kind::Bytes && self.rng.random_ratio(1, 40) {
            return Step::Mangle(client, self.rng.random(), self.change());
        }
        let bound = wire.objects.len() > 2;
        if !bound || self.rng.random_ratio(1, 60) {
            self.bind(client, wire, bound);
        } else if self.rng.random_ratio(1, 16) {
            self.sense(client, wire);
        } else if let Some(request) = self.any(client, wire) {
            self.ahead.push(Step::Request(client, request));
        }
        match self.ahead.pop() {
            Some(step) => self.counted(step),
            None => Step::Turn,
        }
    }

    fn counted(&mut self, step: Step) -> Step {
        self.burst = self.burst.saturating_sub(1);
        step
    }

    fn change(&mut self) -> Change {
        match self.rng.random_range(0..6) {
            0 => Change::Word(self.word()),
            1 => Change::Insert(self.word()),
            2 => Change::Remove(self.rng.random_range(1..12)),
            _ => Change::Flip(1 << self.rng.random_range(0..8)),
        }
    }

    fn outside(&mut self) -> Step {
        let rng = &mut self.rng;
        match rng.random_range(0..12) {
            0..5 => Step::Pass(rng.random_range(1..30)),
            5..8 => Step::Point(rng.random_range(0..320), rng.random_range(0..180)),
            8 => Step::Button(rng.random()),
            // Letters: no shortcuts.
            9 => Step::Key(rng.random_range(16..26), rng.random()),
            10 => Step::Turn,
            _ if rng.random_ratio(9, 10) => Step::Turn,
            _ => {
                self.unplugged = !self.unplugged;
                if self.unplugged { Step::Unplug } else { Step::Plug }
            }
        }
    }

    /// Binds a global, or all of them.
    fn bind(&mut self, client: usize, wire: &Wire, one: bool) {
        for (_, interface, version) in &wire.globals {
            let known = interfaces::global(interface).unwrap_or_else(|| panic!("{interface} is not in interfaces.rs"));
            let count = wire.globals.len() as u32;
            if one && !self.rng.random_ratio(1, count) {
                continue;
            }
            let most = known.version.min(*version);
            let version = if self.rng.random_ratio(1, 8) { self.rng.random_range(1..=most) } else { most };
            let name = self.name();
            let arguments = vec![Argument::Bind(interface.clone(), version, name)];
            let request = Request { to: Name::Registry, opcode: 0, called: format!("bind {interface}"), arguments };
            self.ahead.push(Step::Request(client, request));
        }
    }

    fn any(&mut self, client: usize, wire: &Wire) -> Option<Request> {
        let mut kinds: Vec<&'static Interface> = wire.objects.values().map(|object| object.interface).collect();
        kinds.retain(|interface| !interface.requests.is_empty() && interface.name != "wl_registry");
        kinds.dedup_by_key(|interface| interface.name);
        kinds.sort_by_key(|interface| interface.name);
        kinds.dedup_by_key(|interface| interface.name);
        let interface = kinds[self.rng.random_range(0..kinds.len())];
        let (name, version) = self.object_of(wire, interface)?;
        let count = wire.objects.values().filter(|object| object.interface.name == interface.name).count();
        for _ in 0..4 {
            let opcode = self.rng.random_range(0..interface.requests.len()) as u16;
            let request = &interface.requests[usize::from(opcode)];
            let (asked, ended) = self.asked.get(&(interface.name, opcode)).copied().unwrap_or_default();
            let kept = request.is_destructor && count < MANY && !self.rng.random_ratio(1, 4);
            let deadly = !self.rng.random_ratio(4 + asked, 4 + asked + 60 * ended);
            // A connection has one registry, and the fuzzer understands one.
            if request.since > version || kept || deadly || (interface.name == "wl_display" && opcode == 1) {
                continue;
            }
            if let Some(request) = self.fill(wire, name.clone(), interface, opcode) {
                self.asked.entry((interface.name, opcode)).or_default().0 += 1;
                self.newest.push((client, interface.name, opcode));
                return Some(request);
            }
        }
        None
    }

    /// One of a client's objects, mostly a new one.
    fn object_of(&mut self, wire: &Wire, interface: &Interface) -> Option<(Name, u32)> {
        let all: Vec<_> = wire.objects.iter().filter(|(_, object)| object.interface.name == interface.name).collect();
        let newest = if self.rng.random_ratio(3, 4) { all.len().saturating_sub(NEWEST) } else { 0 };
        let (name, object) = all.get(self.rng.random_range(newest..all.len().max(newest + 1)))?;
        Some(((*name).clone(), object.version))
    }

    fn fill(&mut self, wire: &Wire, to: Name, interface: &'static Interface, opcode: u16) -> Option<Request> {
        let request = &interface.requests[usize::from(opcode)];
        let mut kinds = request.arg_interfaces.iter();
        let mut arguments = Vec::new();
        for kind in request.signature {
            arguments.push(match kind {
                ArgumentType::Uint if request.name == "ack_configure" => Argument::Configure,
                ArgumentType::Uint if self.rng.random_ratio(1, 5) => Argument::Serial(self.rng.random_range(0..4)),
                ArgumentType::Int | ArgumentType::Uint => Argument::Word(self.word()),
                ArgumentType::Fixed => Argument::Word(self.word().wrapping_mul(256)),
                ArgumentType::Str(null) => {
                    let text = (*null == AllowNull::No || self.rng.random_ratio(3, 4)).then(|| self.text());
                    Argument::Text(text)
                }
                ArgumentType::Array => {
                    let length = self.rng.random_range(0..40);
                    Argument::Bytes((0..length).map(|_| self.rng.random()).collect())
                }
                ArgumentType::Fd => Argument::File(self.file()),
                ArgumentType::NewId => {
                    request.child_interface?;
                    Argument::New(self.name())
                }
                ArgumentType::Object(null) => {
                    let known = kinds.next()?;
                    let nothing = *null == AllowNull::Yes && self.rng.random_ratio(1, 3);
                    let object = if nothing { None } else { self.object_of(wire, known) };
                    if object.is_none() && *null == AllowNull::No {
                        return None;
                    }
                    Argument::Object(object.map(|(name, _)| name))
                }
            });
        }
        Some(Request { to, opcode, called: format!("{}.{}", interface.name, request.name), arguments })
    }

    fn word(&mut self) -> u32 {
        match self.rng.random_range(0..20) {
            0..8 => self.rng.random_range(0..5),
            8..14 => self.rng.random_range(0..330),
            14 => self.rng.random_range(0..70_000),
            15 => 1 << self.rng.random_range(0..32),
            16 => self.rng.random_range(-300..0_i32) as u32,
            17 => self.rng.random(),
            _ => EXTREMES[self.rng.random_range(0..EXTREMES.len())],
        }
    }

    fn text(&mut self) -> String {
        if self.rng.random_ratio(1, 20) {
            return "long ".repeat(self.rng.random_range(1..600));
        }
        TEXTS[self.rng.random_range(0..TEXTS.len())].to_owned()
    }

    fn file(&mut self) -> Descriptor {
        let sizes = [0, 1, 4_095, 4_096, 65_536, 400_000];
        let bytes = sizes[self.rng.random_range(0..sizes.len())];
        match self.rng.random_range(0..16) {
            0..8 => Descriptor::Memory(bytes),
            8 => Descriptor::Sealed(bytes),
            9 => Descriptor::Cut(bytes),
            10 => Descriptor::Pipe,
            11 => Descriptor::FullPipe,
            12 => Descriptor::Socket,
            13 => Descriptor::Listener,
            14 => Descriptor::Null,
            _ => Descriptor::Directory,
        }
    }

    // --- what makes sense ---------------------------------------------------------------------------------------------

    /// Something that takes several requests in the right order.
    fn sense(&mut self, client: usize, wire: &Wire) {
        let mut steps = match self.rng.random_range(0..4) {
            0 => self.window(wire),
            1 => self.popup(wire),
            2 => self.subsurface(wire),
            _ => self.content(wire),
        };
        steps.reverse();
        self.ahead.extend(steps.into_iter().map(|step| match step {
            Some(request) => Step::Request(client, request),
            None => Step::Turn,
        }));
    }

    /// A request by its name.
    fn ask(wire: &Wire, to: &Name, of: &str, called: &str, arguments: Vec<Argument>) -> Option<Request> {
        let global = wire.objects.values().map(|object| object.interface);
        let children = |interface: &'static Interface| {
            interface.requests.iter().filter_map(|request| request.child_interface).chain([interface])
        };
        let interface = global.flat_map(children).flat_map(children).find(|interface| interface.name == of)?;
        let opcode = interface.requests.iter().position(|request| request.name == called)? as u16;
        Some(Request { to: to.clone(), opcode, called: format!("{of}.{called}"), arguments })
    }

    fn bound(wire: &Wire, interface: &str) -> Option<Name> {
        let mut all = wire.objects.iter();
        all.find(|(_, object)| object.interface.name == interface).map(|(name, _)| name.clone())
    }

    fn buffer(&mut self, wire: &Wire, steps: &mut Vec<Option<Request>>) -> Option<Name> {
        let shm = Self::bound(wire, "wl_shm")?;
        let (width, height) = (SIDES[self.rng.random_range(0..5)], SIDES[self.rng.random_range(0..5)]);
        let bytes = width * height * 4;
        let file = if self.rng.random_ratio(1, 10) { Descriptor::Cut(bytes) } else { Descriptor::Memory(bytes) };
        let (pool, buffer) = (self.name(), self.name());
        let made = vec![Argument::New(pool), Argument::File(file), Argument::Word(bytes)];
        steps.push(Some(Self::ask(wire, &shm, "wl_shm", "create_pool", made)?));
        let words = [0, width, height, width * 4, self.rng.random_range(0..2)].map(Argument::Word);
        let made = [Argument::New(buffer)].into_iter().chain(words).collect();
        steps.push(Some(Self::ask(wire, &Name::Made(pool), "wl_shm_pool", "create_buffer", made)?));
        if self.rng.random() {
            steps.push(Some(Self::ask(wire, &Name::Made(pool), "wl_shm_pool", "destroy", Vec::new())?));
        }
        Some(Name::Made(buffer))
    }

    fn show(&mut self, wire: &Wire, surface: &Name, steps: &mut Vec<Option<Request>>) -> Option<()> {
        let buffer = self.buffer(wire, steps)?;
        let attached = vec![Argument::Object(Some(buffer)), Argument::Word(0), Argument::Word(0)];
        steps.push(Some(Self::ask(wire, surface, "wl_surface", "attach", attached)?));
        let everything = [0, 0, 320, 320].map(Argument::Word).to_vec();
        steps.push(Some(Self::ask(wire, surface, "wl_surface", "damage", everything)?));
        if self.rng.random() {
            let called_back = vec![Argument::New(self.name())];
            steps.push(Some(Self::ask(wire, surface, "wl_surface", "frame", called_back)?));
        }
        steps.push(Some(Self::ask(wire, surface, "wl_surface", "commit", Vec::new())?));
        Some(())
    }

    fn content(&mut self, wire: &Wire) -> Vec<Option<Request>> {
        let mut steps = Vec::new();
        let surfaces = wire.objects.iter().filter(|(_, object)| object.interface.name == "wl_surface");
        let surfaces: Vec<_> = surfaces.map(|(name, _)| name.clone()).collect();
        if !surfaces.is_empty() {
            let surface = &surfaces[self.rng.random_range(0..surfaces.len())];
            self.show(wire, surface, &mut steps);
        }
        steps
    }

    fn surface(&mut self, wire: &Wire, steps: &mut Vec<Option<Request>>) -> Option<Name> {
        let compositor = Self::bound(wire, "wl_compositor")?;
        let name = self.name();
        steps.push(Some(Self::ask(wire, &compositor, "wl_compositor", "create_surface", vec![Argument::New(name)])?));
        Some(Name::Made(name))
    }

    fn xdg_surface(&mut self, wire: &Wire, surface: &Name, steps: &mut Vec<Option<Request>>) -> Option<Name> {
        let base = Self::bound(wire, "xdg_wm_base")?;
        let name = self.name();
        let made = vec![Argument::New(name), Argument::Object(Some(surface.clone()))];
        steps.push(Some(Self::ask(wire, &base, "xdg_wm_base", "get_xdg_surface", made)?));
        Some(Name::Made(name))
    }

    fn answered(&mut self, wire: &Wire, surface: &Name, xdg: &Name, steps: &mut Vec<Option<Request>>) -> Option<()> {
        steps.push(Some(Self::ask(wire, surface, "wl_surface", "commit", Vec::new())?));
        steps.extend([None, None]);
        steps.push(Some(Self::ask(wire, xdg, "xdg_surface", "ack_configure", vec![Argument::Configure])?));
        self.show(wire, surface, steps)
    }

    fn window(&mut self, wire: &Wire) -> Vec<Option<Request>> {
        let mut steps = Vec::new();
        let mut make = || {
            let surface = self.surface(wire, &mut steps)?;
            let xdg = self.xdg_surface(wire, &surface, &mut steps)?;
            let made = vec![Argument::New(self.name())];
            steps.push(Some(Self::ask(wire, &xdg, "xdg_surface", "get_toplevel", made)?));
            self.answered(wire, &surface, &xdg, &mut steps)
        };
        make();
        steps
    }

    fn popup(&mut self, wire: &Wire) -> Vec<Option<Request>> {
        let mut steps = Vec::new();
        let parents: Vec<_> =
            wire.objects.iter().filter(|(_, object)| object.interface.name == "xdg_surface").collect();
        let (Some(base), false) = (Self::bound(wire, "xdg_wm_base"), parents.is_empty()) else { return steps };
        let parent = parents[self.rng.random_range(0..parents.len())].0.clone();
        let make = || {
            let positioner = self.name();
            let made = vec![Argument::New(positioner)];
            steps.push(Some(Self::ask(wire, &base, "xdg_wm_base", "create_positioner", made)?));
            let positioner = Name::Made(positioner);
            for (called, words) in [("set_size", vec![30, 20]), ("set_anchor_rect", vec![5, 5, 10, 10])] {
                let words = words.into_iter().map(Argument::Word).collect();
                steps.push(Some(Self::ask(wire, &positioner, "xdg_positioner", called, words)?));
            }
            let surface = self.surface(wire, &mut steps)?;
            let xdg = self.xdg_surface(wire, &surface, &mut steps)?;
            let made = [Argument::New(self.name()), Argument::Object(Some(parent)), Argument::Object(Some(positioner))];
            steps.push(Some(Self::ask(wire, &xdg, "xdg_surface", "get_popup", made.to_vec())?));
            self.answered(wire, &surface, &xdg, &mut steps)
        };
        make();
        steps
    }

    fn subsurface(&mut self, wire: &Wire) -> Vec<Option<Request>> {
        let mut steps = Vec::new();
        let parents: Vec<_> = wire.objects.iter().filter(|(_, object)| object.interface.name == "wl_surface").collect();
        let (Some(manager), false) = (Self::bound(wire, "wl_subcompositor"), parents.is_empty()) else { return steps };
        let parent = parents[self.rng.random_range(0..parents.len())].0.clone();
        let make = || {
            let surface = self.surface(wire, &mut steps)?;
            let made =
                [Argument::New(self.name()), Argument::Object(Some(surface.clone())), Argument::Object(Some(parent))];
            steps.push(Some(Self::ask(wire, &manager, "wl_subcompositor", "get_subsurface", made.to_vec())?));
            self.show(wire, &surface, &mut steps)
        };
        make();
        steps
    }
}
