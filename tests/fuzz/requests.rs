//! Generates random requests: any request that the interfaces allow, of any object, mixed with meaningful sequences.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use wayland_backend::protocol::{AllowNull, ArgumentType, Interface};

use crate::descriptors::Descriptor;
use crate::interfaces;
use crate::play::CONFIGURATIONS;
use crate::raw_connection::{InterfaceObjects, RawConnection};
use crate::script::{Argument, ByteChange, ObjectName, RawRequest, ScriptKind, ScriptStep};
use crate::sequences::LETTERS;

pub const CLIENTS: usize = 3;
/// Largest number of requests between two turns of the loop, and, rarely, [`LONG_BURST`].
const BURST: u32 = 64;
const LONG_BURST: u32 = 400;
/// At this many objects of an interface, destructors are as likely as other requests. With fewer objects they are less
/// likely, since the objects that a global creates are reached only while the global's object exists.
const MANY: u32 = 40;
/// Requests mostly go to this many of the newest objects of an interface.
const NEWEST: usize = 6;
const EXTREMES: [u32; 9] =
    [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x0001_0000, 0x7fff_ff00, 0xffff_8000, 0x4000_0000];
const TEXTS: [&str; 6] = ["", "text/plain", "a\u{1b}[31mb", "../../etc", "ä\u{202e}語", "org.example.App"];
/// Refresh rates of the second output (mHz).
const RATES: [u32; 4] = [60_000, 24_000, 59_940, 165_000];

pub struct Generator {
    pub rng: StdRng,
    kind: ScriptKind,
    /// Count of names in use.
    named: u32,
    /// Steps that are generated but not yet returned.
    ahead: Vec<ScriptStep>,
    burst: u32,
    /// Per interface and opcode: how often it was sent, and how often that ended the client.
    asked: BTreeMap<(&'static str, u16), (u32, u32)>,
    newest: Vec<(usize, &'static str, u16)>,
    unplugged: bool,
    dark: bool,
}

impl Generator {
    pub fn new(kind: ScriptKind, seed: u64) -> Self {
        let rng = StdRng::seed_from_u64(seed);
        let (asked, newest) = (BTreeMap::new(), Vec::new());
        Generator { rng, kind, named: 0, ahead: Vec::new(), burst: 0, asked, newest, unplugged: false, dark: false }
    }

    pub fn name(&mut self) -> u32 {
        self.named += 1;
        self.named
    }

    /// `client` was ended by one of the newest requests, with an error of interface `by`.
    pub fn ended(&mut self, client: usize, by: &str) {
        for (of, interface, opcode) in &self.newest {
            if *of == client && *interface == by {
                self.asked.entry((interface, *opcode)).or_default().1 += 1;
            }
        }
    }

    pub fn next(&mut self, clients: &[Option<RawConnection>]) -> ScriptStep {
        if let Some(step) = self.ahead.pop() {
            return self.counted(step);
        }
        if self.burst == 0 {
            let most = if self.rng.random_ratio(1, 50) { LONG_BURST } else { BURST };
            self.burst = self.rng.random_range(1..most);
            self.newest.clear();
            return if self.rng.random_ratio(1, 4) { self.outside() } else { ScriptStep::Turn };
        }
        let client = self.rng.random_range(0..CLIENTS);
        let Some(wire) = &clients[client] else {
            self.burst = 0;
            return ScriptStep::Connect(client);
        };
        if self.rng.random_ratio(1, 3_000) {
            return ScriptStep::Leave(client);
        }
        if self.kind == ScriptKind::Bytes && self.rng.random_ratio(1, 40) {
            return ScriptStep::Mangle(client, self.rng.random(), self.change());
        }
        let bound = wire.objects.len() > 2;
        if !bound || self.rng.random_ratio(1, 60) {
            self.bind(client, wire, bound);
        } else if self.rng.random_ratio(1, 24) {
            let steps = self.generate_sequence(client, wire);
            self.ahead.extend(steps.into_iter().rev());
        } else if let Some(request) = self.any(client, wire) {
            self.ahead.push(ScriptStep::Request(client, request));
        }
        match self.ahead.pop() {
            Some(step) => self.counted(step),
            None => ScriptStep::Turn,
        }
    }

    fn counted(&mut self, step: ScriptStep) -> ScriptStep {
        self.burst = self.burst.saturating_sub(1);
        step
    }

    fn change(&mut self) -> ByteChange {
        match self.rng.random_range(0..6) {
            0 => ByteChange::Word(self.word()),
            1 => ByteChange::Insert(self.word()),
            2 => ByteChange::Remove(self.rng.random_range(1..12)),
            _ => ByteChange::Flip(1 << self.rng.random_range(0..8)),
        }
    }

    fn outside(&mut self) -> ScriptStep {
        let rng = &mut self.rng;
        match rng.random_range(0..24) {
            0..10 => ScriptStep::Pass(rng.random_range(1..30)),
            10..14 => ScriptStep::Point(rng.random_range(0..640), rng.random_range(0..180)),
            14..16 => ScriptStep::Button(rng.random()),
            // Letters only, since they trigger no shortcuts.
            16..18 => ScriptStep::Key(rng.random_range(LETTERS), rng.random()),
            18 => ScriptStep::Scroll(rng.random_range(-3..4)),
            19 => ScriptStep::Touch(rng.random_range(0..3), rng.random_range(0..640), rng.random_range(0..180)),
            20 => ScriptStep::Lift(rng.random_range(0..3)),
            _ if rng.random_ratio(8, 10) => ScriptStep::Turn,
            _ => self.outputs(),
        }
    }

    /// A step that changes outputs or the configuration.
    fn outputs(&mut self) -> ScriptStep {
        match self.rng.random_range(0..4) {
            0 => {
                self.unplugged = !self.unplugged;
                if self.unplugged { ScriptStep::Unplug } else { ScriptStep::Plug }
            }
            1 => {
                self.dark = !self.dark;
                ScriptStep::Light(!self.dark)
            }
            2 => ScriptStep::Rate(RATES[self.rng.random_range(0..RATES.len())]),
            _ => ScriptStep::Reload(self.rng.random_range(0..CONFIGURATIONS.len())),
        }
    }

    /// Binds a global, or all of them.
    fn bind(&mut self, client: usize, wire: &RawConnection, one: bool) {
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
            let request =
                RawRequest { to: ObjectName::Registry, opcode: 0, called: format!("bind {interface}"), arguments };
            self.ahead.push(ScriptStep::Request(client, request));
        }
    }

    fn any(&mut self, client: usize, wire: &RawConnection) -> Option<RawRequest> {
        let asked = |family: &&InterfaceObjects| {
            let interface = family.interface;
            !family.names.is_empty() && !interface.requests.is_empty() && interface.name != "wl_registry"
        };
        let count = wire.families.values().filter(asked).count();
        let chosen = self.rng.random_range(0..count);
        let family = wire.families.values().filter(asked).nth(chosen)?;
        let interface = family.interface;
        let (name, version) = self.object_of(wire, interface)?;
        let count = family.names.len() as u32;
        for _ in 0..4 {
            let opcode = self.rng.random_range(0..interface.requests.len()) as u16;
            let request = &interface.requests[usize::from(opcode)];
            let (asked, ended) = self.asked.get(&(interface.name, opcode)).copied().unwrap_or_default();
            let kept = request.is_destructor && count < MANY && !self.rng.random_ratio(count, MANY);
            let deadly = !self.rng.random_ratio(4 + asked, 4 + asked + 60 * ended);
            // No second `get_registry`: the fuzzer handles one registry a connection.
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

    /// One of a client's objects, mostly a recent object, and its version.
    fn object_of(&mut self, wire: &RawConnection, interface: &Interface) -> Option<(ObjectName, u32)> {
        let all = wire.family(interface.name);
        let newest = if self.rng.random_ratio(3, 4) { all.len().saturating_sub(NEWEST) } else { 0 };
        let name = all.get(self.rng.random_range(newest..all.len().max(newest + 1)))?;
        Some((name.clone(), wire.objects.get(name)?.version))
    }

    fn fill(
        &mut self,
        wire: &RawConnection,
        to: ObjectName,
        interface: &'static Interface,
        opcode: u16,
    ) -> Option<RawRequest> {
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
        Some(RawRequest { to, opcode, called: format!("{}.{}", interface.name, request.name), arguments })
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

    pub fn text(&mut self) -> String {
        if self.rng.random_ratio(1, 20) {
            return "long ".repeat(self.rng.random_range(1..600));
        }
        TEXTS[self.rng.random_range(0..TEXTS.len())].to_owned()
    }

    fn file(&mut self) -> Descriptor {
        let sizes = [0, 1, 4_095, 4_096, 65_536, 400_000];
        let bytes = sizes[self.rng.random_range(0..sizes.len())];
        match self.rng.random_range(0..26) {
            0..8 => Descriptor::Memory(bytes),
            8 => Descriptor::Sealed(bytes),
            9 => Descriptor::Cut(bytes),
            10 => Descriptor::Fixed(bytes),
            11 => Descriptor::Deleted(bytes),
            12 => Descriptor::Keymap,
            13 => Descriptor::Pipe,
            14 => Descriptor::FullPipe,
            15 | 16 => Descriptor::SilentPipe,
            17 => Descriptor::OpenPipe,
            18 => Descriptor::Socket,
            19 => Descriptor::SilentSocket,
            20 | 21 => Descriptor::Listener,
            22 => Descriptor::Event,
            23 => Descriptor::Null,
            24 => [Descriptor::Zeroes, Descriptor::Full][self.rng.random_range(0..2)],
            _ => Descriptor::Directory,
        }
    }
}
