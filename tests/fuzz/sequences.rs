//! Request sequences in a valid order, with input of the user: windows, menus, drags, selections, virtual keyboards,
//! captures of the screen. The client may die in the middle of a sequence.

use rand::Rng;

use crate::descriptors::{self, Descriptor};
use crate::interfaces;
use crate::raw_connection::RawConnection;
use crate::requests::Generator;
use crate::script::{Argument, ObjectName, RawRequest, ScriptStep};

const SIDES: [u32; 5] = [1, 8, 40, 100, 320];
/// Size of one output; see the fixture.
pub const SCREEN: (u32, u32) = (320, 180);
/// One in this many sequences ends in the middle with the client's death.
const DEATHS: u32 = 8;
/// The value of `wl_keyboard.keymap_format.xkb_v1`.
const XKB_V1: u32 = 1;
/// Letter keys, as evdev codes.
pub const LETTERS: std::ops::Range<u32> = 16..26;
const BUTTON_LEFT: u32 = 0x110;

/// The steps of one client, in order.
pub struct Plot<'a> {
    client: usize,
    pub wire: &'a RawConnection,
    pub steps: Vec<ScriptStep>,
}

impl Plot<'_> {
    /// Adds a request, looked up by its name.
    pub fn ask(&mut self, to: &ObjectName, of: &str, called: &str, arguments: Vec<Argument>) -> Option<()> {
        let interface = interfaces::called(of)?;
        let opcode = interface.requests.iter().position(|request| request.name == called)? as u16;
        let request = RawRequest { to: to.clone(), opcode, called: format!("{of}.{called}"), arguments };
        self.steps.push(ScriptStep::Request(self.client, request));
        Some(())
    }

    pub fn bound(&self, interface: &str) -> Option<ObjectName> {
        self.wire.family(interface).first().cloned()
    }

    /// Waits until the requests so far are answered.
    pub fn wait(&mut self) {
        self.steps.extend([ScriptStep::Turn, ScriptStep::Turn]);
    }

    /// The user presses the left button at this place of the first output.
    pub fn press(&mut self, (x, y): (i32, i32)) {
        self.steps.extend([ScriptStep::Point(x, y), ScriptStep::Button(true), ScriptStep::Turn]);
    }
}

pub fn words<const COUNT: usize>(words: [u32; COUNT]) -> Vec<Argument> {
    words.map(Argument::Word).to_vec()
}

pub fn object(name: &ObjectName) -> Argument {
    Argument::Object(Some(name.clone()))
}

impl Generator {
    /// A meaningful sequence of requests.
    pub fn generate_sequence(&mut self, client: usize, wire: &RawConnection) -> Vec<ScriptStep> {
        let mut plot = Plot { client, wire, steps: Vec::new() };
        // A sequence that lacks an object stops there; its steps so far are used.
        let _ = match self.rng.random_range(0..26) {
            0..3 => self.window(&mut plot),
            3..6 => self.content(&mut plot),
            6 => self.subsurface(&mut plot),
            7 | 8 => self.popup(&mut plot),
            9 => self.types(&mut plot),
            10 => self.points(&mut plot),
            11 => self.drag(&mut plot),
            12 => self.selection(&mut plot),
            13 => self.picture(&mut plot),
            14 => self.moves(&mut plot),
            15 => self.lock(&mut plot),
            16 => self.constraint(&mut plot),
            17 => self.layer(&mut plot),
            18 => self.recording(&mut plot),
            19 => self.field(&mut plot),
            20 => self.composes(&mut plot),
            21 => self.copies(&mut plot),
            22 => self.lists(&mut plot),
            23 => self.arranges(&mut plot),
            24 => self.scrolls(&mut plot),
            _ => self.primary(&mut plot),
        };
        let mut steps = plot.steps;
        if !steps.is_empty() && self.rng.random_ratio(1, DEATHS) {
            let at = self.rng.random_range(0..steps.len());
            steps.truncate(at + 1);
            steps.push(ScriptStep::Leave(client));
        }
        steps
    }

    pub fn place(&mut self) -> (i32, i32) {
        (self.rng.random_range(0..320), self.rng.random_range(0..180))
    }

    pub fn one_of(&mut self, plot: &Plot<'_>, interface: &str) -> Option<ObjectName> {
        let all = plot.wire.family(interface);
        (!all.is_empty()).then(|| all[self.rng.random_range(0..all.len())].clone())
    }

    /// The first object of an interface; if there is none, it is created from a seat by the request `called`.
    pub fn device(&mut self, plot: &mut Plot<'_>, interface: &str, called: &str) -> Option<ObjectName> {
        if let Some(known) = plot.bound(interface) {
            return Some(known);
        }
        let (seat, name) = (plot.bound("wl_seat")?, self.name());
        plot.ask(&seat, "wl_seat", called, vec![Argument::New(name)])?;
        plot.wait();
        Some(ObjectName::Made(name))
    }

    fn data_device(&mut self, plot: &mut Plot<'_>) -> Option<ObjectName> {
        if let Some(known) = plot.bound("wl_data_device") {
            return Some(known);
        }
        let (manager, seat, name) = (plot.bound("wl_data_device_manager")?, plot.bound("wl_seat")?, self.name());
        let made = vec![Argument::New(name), object(&seat)];
        plot.ask(&manager, "wl_data_device_manager", "get_data_device", made)?;
        Some(ObjectName::Made(name))
    }

    pub fn source(&mut self, plot: &mut Plot<'_>) -> Option<ObjectName> {
        let (manager, name) = (plot.bound("wl_data_device_manager")?, self.name());
        plot.ask(&manager, "wl_data_device_manager", "create_data_source", vec![Argument::New(name)])?;
        let source = ObjectName::Made(name);
        for _ in 0..self.rng.random_range(1..4) {
            plot.ask(&source, "wl_data_source", "offer", vec![Argument::Text(Some(self.text()))])?;
        }
        Some(source)
    }

    // --- content ------------------------------------------------------------------------------------------------------

    pub fn buffer(&mut self, plot: &mut Plot<'_>, (width, height): (u32, u32)) -> Option<ObjectName> {
        let shm = plot.bound("wl_shm")?;
        let bytes = width * height * 4;
        let file = match self.rng.random_range(0..10) {
            0 => Descriptor::Cut(bytes),
            1 => Descriptor::Fixed(bytes),
            2 => Descriptor::Deleted(bytes),
            _ => Descriptor::Memory(bytes),
        };
        let (pool, buffer) = (self.name(), self.name());
        let made = vec![Argument::New(pool), Argument::File(file), Argument::Word(bytes)];
        plot.ask(&shm, "wl_shm", "create_pool", made)?;
        let format = self.rng.random_range(0..2);
        let made = [Argument::New(buffer)].into_iter().chain(words([0, width, height, width * 4, format])).collect();
        plot.ask(&ObjectName::Made(pool), "wl_shm_pool", "create_buffer", made)?;
        if self.rng.random() {
            plot.ask(&ObjectName::Made(pool), "wl_shm_pool", "destroy", Vec::new())?;
        }
        Some(ObjectName::Made(buffer))
    }

    pub fn show(&mut self, plot: &mut Plot<'_>, surface: &ObjectName) -> Option<()> {
        let size = (SIDES[self.rng.random_range(0..5)], SIDES[self.rng.random_range(0..5)]);
        let buffer = self.buffer(plot, size)?;
        plot.ask(surface, "wl_surface", "attach", vec![object(&buffer), Argument::Word(0), Argument::Word(0)])?;
        plot.ask(surface, "wl_surface", "damage", words([0, 0, 320, 320]))?;
        if self.rng.random() {
            plot.ask(surface, "wl_surface", "frame", vec![Argument::New(self.name())])?;
        }
        plot.ask(surface, "wl_surface", "commit", Vec::new())
    }

    fn content(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let surface = self.one_of(plot, "wl_surface")?;
        self.show(plot, &surface)
    }

    pub fn surface(&mut self, plot: &mut Plot<'_>) -> Option<ObjectName> {
        let (compositor, name) = (plot.bound("wl_compositor")?, self.name());
        plot.ask(&compositor, "wl_compositor", "create_surface", vec![Argument::New(name)])?;
        Some(ObjectName::Made(name))
    }

    fn subsurface(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, parent) = (plot.bound("wl_subcompositor")?, self.one_of(plot, "wl_surface")?);
        let (surface, name) = (self.surface(plot)?, self.name());
        let made = vec![Argument::New(name), object(&surface), object(&parent)];
        plot.ask(&manager, "wl_subcompositor", "get_subsurface", made)?;
        if self.rng.random() {
            plot.ask(&ObjectName::Made(name), "wl_subsurface", "set_desync", Vec::new())?;
        }
        self.show(plot, &surface)
    }

    /// A lock of the session, for a while.
    fn lock(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, output) = (plot.bound("ext_session_lock_manager_v1")?, self.one_of(plot, "wl_output")?);
        let (lock, role) = (self.name(), self.name());
        plot.ask(&manager, "ext_session_lock_manager_v1", "lock", vec![Argument::New(lock)])?;
        let surface = self.surface(plot)?;
        let made = vec![Argument::New(role), object(&surface), object(&output)];
        plot.ask(&ObjectName::Made(lock), "ext_session_lock_v1", "get_lock_surface", made)?;
        plot.wait();
        plot.ask(&ObjectName::Made(role), "ext_session_lock_surface_v1", "ack_configure", vec![Argument::Configure])?;
        let buffer = self.buffer(plot, SCREEN)?;
        plot.ask(&surface, "wl_surface", "attach", vec![object(&buffer), Argument::Word(0), Argument::Word(0)])?;
        plot.ask(&surface, "wl_surface", "commit", Vec::new())?;
        plot.wait();
        let ends = if self.rng.random_ratio(1, 4) { "destroy" } else { "unlock_and_destroy" };
        plot.steps.push(ScriptStep::Pass(50));
        plot.ask(&ObjectName::Made(lock), "ext_session_lock_v1", ends, Vec::new())
    }

    // --- windows and menus --------------------------------------------------------------------------------------------

    fn xdg_surface(&mut self, plot: &mut Plot<'_>, surface: &ObjectName) -> Option<ObjectName> {
        let (base, name) = (plot.bound("xdg_wm_base")?, self.name());
        plot.ask(&base, "xdg_wm_base", "get_xdg_surface", vec![Argument::New(name), object(surface)])?;
        Some(ObjectName::Made(name))
    }

    fn answered(&mut self, plot: &mut Plot<'_>, surface: &ObjectName, xdg: &ObjectName) -> Option<()> {
        plot.ask(surface, "wl_surface", "commit", Vec::new())?;
        plot.wait();
        plot.ask(xdg, "xdg_surface", "ack_configure", vec![Argument::Configure])?;
        self.show(plot, surface)
    }

    fn window(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let surface = self.surface(plot)?;
        let xdg = self.xdg_surface(plot, &surface)?;
        plot.ask(&xdg, "xdg_surface", "get_toplevel", vec![Argument::New(self.name())])?;
        self.answered(plot, &surface, &xdg)
    }

    /// A menu, which may have a grab.
    fn popup(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (base, parent) = (plot.bound("xdg_wm_base")?, self.one_of(plot, "xdg_surface")?);
        let (made, popup) = (self.name(), self.name());
        let positioner = ObjectName::Made(made);
        plot.ask(&base, "xdg_wm_base", "create_positioner", vec![Argument::New(made)])?;
        plot.ask(&positioner, "xdg_positioner", "set_size", words([30, 20]))?;
        plot.ask(&positioner, "xdg_positioner", "set_anchor_rect", words([5, 5, 10, 10]))?;
        let surface = self.surface(plot)?;
        let xdg = self.xdg_surface(plot, &surface)?;
        let arguments = vec![Argument::New(popup), object(&parent), object(&positioner)];
        plot.ask(&xdg, "xdg_surface", "get_popup", arguments)?;
        if self.rng.random() {
            self.device(plot, "wl_pointer", "get_pointer")?;
            plot.press(self.place());
            let seat = plot.bound("wl_seat")?;
            plot.ask(&ObjectName::Made(popup), "xdg_popup", "grab", vec![object(&seat), Argument::Serial(0)])?;
        }
        self.answered(plot, &surface, &xdg)
    }

    /// A window that the user moves or resizes.
    fn moves(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        self.device(plot, "wl_pointer", "get_pointer")?;
        let (window, seat) = (self.one_of(plot, "xdg_toplevel")?, plot.bound("wl_seat")?);
        plot.press(self.place());
        let mut arguments = vec![object(&seat), Argument::Serial(0)];
        if self.rng.random() {
            plot.ask(&window, "xdg_toplevel", "move", arguments)?;
        } else {
            arguments.push(Argument::Word(self.rng.random_range(1..11)));
            plot.ask(&window, "xdg_toplevel", "resize", arguments)?;
        }
        let (x, y) = self.place();
        plot.steps.extend([ScriptStep::Turn, ScriptStep::Point(x, y), ScriptStep::Pass(17), ScriptStep::Button(false)]);
        Some(())
    }

    // --- input
    // --------------------------------------------------------------------------------------------------------

    /// Keys of a virtual keyboard; some keys stay down.
    fn types(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, seat) = (plot.bound("zwp_virtual_keyboard_manager_v1")?, plot.bound("wl_seat")?);
        let name = self.name();
        let (keyboard, made) = (ObjectName::Made(name), vec![object(&seat), Argument::New(name)]);
        plot.ask(&manager, "zwp_virtual_keyboard_manager_v1", "create_virtual_keyboard", made)?;
        let length = Argument::Word(descriptors::keymap().len() as u32);
        let given = vec![Argument::Word(XKB_V1), Argument::File(Descriptor::Keymap), length];
        plot.ask(&keyboard, "zwp_virtual_keyboard_v1", "keymap", given)?;
        for _ in 0..self.rng.random_range(1..6) {
            let (key, state) = (self.rng.random_range(LETTERS), self.rng.random_range(0..2));
            plot.ask(&keyboard, "zwp_virtual_keyboard_v1", "key", words([0, key, state]))?;
        }
        plot.steps.push(ScriptStep::Pass(5));
        Some(())
    }

    /// A virtual pointer, whose button may stay down.
    fn points(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, seat) = (plot.bound("zwlr_virtual_pointer_manager_v1")?, plot.bound("wl_seat")?);
        let name = self.name();
        let (pointer, made) = (ObjectName::Made(name), vec![object(&seat), Argument::New(name)]);
        plot.ask(&manager, "zwlr_virtual_pointer_manager_v1", "create_virtual_pointer", made)?;
        for _ in 0..self.rng.random_range(1..4) {
            let (x, y) = self.place();
            let there = [0, x as u32, y as u32, 2 * SCREEN.0, SCREEN.1];
            plot.ask(&pointer, "zwlr_virtual_pointer_v1", "motion_absolute", words(there))?;
            let pressed = [0, BUTTON_LEFT, self.rng.random_range(0..2)];
            plot.ask(&pointer, "zwlr_virtual_pointer_v1", "button", words(pressed))?;
            plot.ask(&pointer, "zwlr_virtual_pointer_v1", "frame", Vec::new())?;
        }
        Some(())
    }

    fn drag(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        self.device(plot, "wl_pointer", "get_pointer")?;
        let (device, source) = (self.data_device(plot)?, self.source(plot)?);
        let (origin, icon) = (self.one_of(plot, "wl_surface")?, self.surface(plot)?);
        plot.ask(&source, "wl_data_source", "set_actions", words([self.rng.random_range(0..8)]))?;
        plot.press(self.place());
        let (source, icon) = if self.rng.random() { (Some(source), Some(icon)) } else { (None, None) };
        let begun = vec![Argument::Object(source), object(&origin), Argument::Object(icon), Argument::Serial(0)];
        plot.ask(&device, "wl_data_device", "start_drag", begun)?;
        for _ in 0..3 {
            let (x, y) = self.place();
            plot.steps.extend([ScriptStep::Turn, ScriptStep::Point(x, y)]);
        }
        plot.steps.push(ScriptStep::Button(self.rng.random_ratio(1, 4)));
        Some(())
    }

    /// A selection, and a client that asks for it.
    fn selection(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        self.device(plot, "wl_keyboard", "get_keyboard")?;
        let (device, source) = (self.data_device(plot)?, self.source(plot)?);
        plot.steps.extend([
            ScriptStep::Key(LETTERS.start, true),
            ScriptStep::Key(LETTERS.start, false),
            ScriptStep::Turn,
        ]);
        plot.ask(&device, "wl_data_device", "set_selection", vec![object(&source), Argument::Serial(0)])?;
        plot.wait();
        let offer = plot.wire.family("wl_data_offer").last().cloned()?;
        let wanted = vec![Argument::Text(Some("text/plain".to_owned())), Argument::File(Descriptor::OpenPipe)];
        plot.ask(&offer, "wl_data_offer", "receive", wanted)
    }

    /// A capture of the screen, in the right size.
    fn picture(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let manager = plot.bound("zwlr_screencopy_manager_v1")?;
        let (output, name) = (self.one_of(plot, "wl_output")?, self.name());
        let asked = vec![Argument::New(name), Argument::Word(self.rng.random_range(0..2)), object(&output)];
        plot.ask(&manager, "zwlr_screencopy_manager_v1", "capture_output", asked)?;
        plot.wait();
        let buffer = self.buffer(plot, SCREEN)?;
        let called = if self.rng.random() { "copy" } else { "copy_with_damage" };
        plot.ask(&ObjectName::Made(name), "zwlr_screencopy_frame_v1", called, vec![object(&buffer)])
    }

    /// The pointer is locked, or confined to a window.
    fn constraint(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, surface) = (plot.bound("zwp_pointer_constraints_v1")?, self.one_of(plot, "wl_surface")?);
        let pointer = self.device(plot, "wl_pointer", "get_pointer")?;
        let called = if self.rng.random() { "lock_pointer" } else { "confine_pointer" };
        let lifetime = Argument::Word(self.rng.random_range(1..3));
        let made =
            vec![Argument::New(self.name()), object(&surface), object(&pointer), Argument::Object(None), lifetime];
        plot.ask(&manager, "zwp_pointer_constraints_v1", called, made)?;
        let (x, y) = self.place();
        plot.steps.extend([ScriptStep::Turn, ScriptStep::Point(x, y)]);
        Some(())
    }
}
