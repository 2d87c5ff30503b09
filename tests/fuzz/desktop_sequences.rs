//! Request sequences of desktop programs, in a valid order: bars, recorders, text fields and input methods, clipboard
//! managers, taskbars, output managers, scroll views.

use rand::Rng;

use crate::descriptors::Descriptor;
use crate::requests::Generator;
use crate::script::{Argument, ObjectName, ScriptStep};
use crate::sequences::{LETTERS, Plot, SCREEN, object, words};

/// Values of `zwlr_layer_surface_v1.anchor` are below this: 15 is all four edges.
const ALL_EDGES: u32 = 16;

/// The `commit` serial of an input method counts the text field's commits.
const COMMITS: u32 = 4;
/// Requests of `zwlr_foreign_toplevel_handle_v1` without arguments.
const WISHES: [&str; 6] =
    ["set_maximized", "unset_maximized", "set_minimized", "unset_minimized", "unset_fullscreen", "close"];
/// Width and height of a document, in pixels.
const DOCUMENT: u32 = 2_000;

fn text(said: &str) -> Argument {
    Argument::Text(Some(said.to_owned()))
}

impl Generator {
    /// A layer surface (bar, prompt or wallpaper), which may ask for keyboard focus.
    pub fn layer(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let shell = plot.bound("zwlr_layer_shell_v1")?;
        let output = if self.rng.random() { self.one_of(plot, "wl_output") } else { None };
        let (surface, name) = (self.surface(plot)?, self.name());
        let (layer, role) = (self.rng.random_range(0..4), ObjectName::Made(name));
        let made =
            vec![Argument::New(name), object(&surface), Argument::Object(output), Argument::Word(layer), text("bar")];
        plot.ask(&shell, "zwlr_layer_shell_v1", "get_layer_surface", made)?;
        let zone = self.rng.random_range(0..60);
        plot.ask(&role, "zwlr_layer_surface_v1", "set_size", words([80, 30]))?;
        plot.ask(&role, "zwlr_layer_surface_v1", "set_anchor", words([self.rng.random_range(0..ALL_EDGES)]))?;
        plot.ask(&role, "zwlr_layer_surface_v1", "set_exclusive_zone", words([zone]))?;
        let keyboard = self.rng.random_range(0..3);
        plot.ask(&role, "zwlr_layer_surface_v1", "set_keyboard_interactivity", words([keyboard]))?;
        plot.ask(&surface, "wl_surface", "commit", Vec::new())?;
        plot.wait();
        plot.ask(&role, "zwlr_layer_surface_v1", "ack_configure", vec![Argument::Configure])?;
        self.show(plot, &surface)?;
        plot.steps.push(ScriptStep::Pass(20));
        if self.rng.random() {
            plot.ask(&role, "zwlr_layer_surface_v1", "destroy", Vec::new())?;
        }
        Some(())
    }

    /// A recording of an output: several captures in a row.
    pub fn recording(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let sources = "ext_output_image_capture_source_manager_v1";
        let manager = plot.bound("ext_image_copy_capture_manager_v1")?;
        let (makes, output) = (plot.bound(sources)?, self.one_of(plot, "wl_output")?);
        let (source, session) = (self.name(), self.name());
        plot.ask(&makes, sources, "create_source", vec![Argument::New(source), object(&output)])?;
        let cursors = self.rng.random_range(0..2);
        let asked = vec![Argument::New(session), object(&ObjectName::Made(source)), Argument::Word(cursors)];
        plot.ask(&manager, "ext_image_copy_capture_manager_v1", "create_session", asked)?;
        plot.wait();
        let session = ObjectName::Made(session);
        for _ in 0..self.rng.random_range(1..4) {
            let name = self.name();
            let frame = ObjectName::Made(name);
            let buffer = self.buffer(plot, SCREEN)?;
            plot.ask(&session, "ext_image_copy_capture_session_v1", "create_frame", vec![Argument::New(name)])?;
            plot.ask(&frame, "ext_image_copy_capture_frame_v1", "attach_buffer", vec![object(&buffer)])?;
            let all = words([0, 0, SCREEN.0, SCREEN.1]);
            plot.ask(&frame, "ext_image_copy_capture_frame_v1", "damage_buffer", all)?;
            plot.ask(&frame, "ext_image_copy_capture_frame_v1", "capture", Vec::new())?;
            plot.steps.push(ScriptStep::Pass(self.rng.random_range(1..40)));
            plot.ask(&frame, "ext_image_copy_capture_frame_v1", "destroy", Vec::new())?;
        }
        plot.ask(&session, "ext_image_copy_capture_session_v1", "destroy", Vec::new())
    }

    /// A text field that is entered, sends its text, and is left.
    pub fn field(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let of = "zwp_text_input_v3";
        let input = match self.one_of(plot, of) {
            Some(known) => known,
            None => self.made_with_seat(plot, "zwp_text_input_manager_v3", "get_text_input")?,
        };
        plot.ask(&input, of, "enable", Vec::new())?;
        let around = self.text();
        let at = Argument::Word(self.rng.random_range(0..=around.len()) as u32);
        plot.ask(&input, of, "set_surrounding_text", vec![Argument::Text(Some(around)), at.clone(), at])?;
        plot.ask(&input, of, "set_cursor_rectangle", words([10, 10, 2, 12]))?;
        plot.ask(&input, of, "commit", Vec::new())?;
        plot.wait();
        if self.rng.random_ratio(1, 3) {
            plot.ask(&input, of, "disable", Vec::new())?;
            plot.ask(&input, of, "commit", Vec::new())?;
        }
        Some(())
    }

    /// An input method, which may grab the keyboard and show a popup at the caret.
    pub fn composes(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let of = "zwp_input_method_v2";
        let method = match self.one_of(plot, of) {
            Some(known) => known,
            None => self.made_with_seat(plot, "zwp_input_method_manager_v2", "get_input_method")?,
        };
        plot.wait();
        if self.rng.random_ratio(1, 3) {
            let (surface, popup) = (self.surface(plot)?, Argument::New(self.name()));
            plot.ask(&method, of, "get_input_popup_surface", vec![popup, object(&surface)])?;
            self.show(plot, &surface)?;
        }
        if self.rng.random_ratio(1, 3) {
            plot.ask(&method, of, "grab_keyboard", vec![Argument::New(self.name())])?;
            plot.steps.extend([
                ScriptStep::Key(LETTERS.start, true),
                ScriptStep::Key(LETTERS.start, false),
                ScriptStep::Turn,
            ]);
        }
        plot.ask(&method, of, "set_preedit_string", vec![text("にほn"), Argument::Word(0), Argument::Word(7)])?;
        plot.ask(&method, of, "commit_string", vec![Argument::Text(Some(self.text()))])?;
        plot.ask(&method, of, "delete_surrounding_text", words([self.rng.random_range(0..5), 0]))?;
        plot.ask(&method, of, "commit", words([self.rng.random_range(0..COMMITS)]))
    }

    /// A clipboard manager: it receives each selection, reads it, and sets a selection of its own.
    pub fn copies(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, device, source, offer) = if self.rng.random() {
            (
                "zwlr_data_control_manager_v1",
                "zwlr_data_control_device_v1",
                "zwlr_data_control_source_v1",
                "zwlr_data_control_offer_v1",
            )
        } else {
            (
                "ext_data_control_manager_v1",
                "ext_data_control_device_v1",
                "ext_data_control_source_v1",
                "ext_data_control_offer_v1",
            )
        };
        let (bound, seat) = (plot.bound(manager)?, plot.bound("wl_seat")?);
        let known = match self.one_of(plot, device) {
            Some(known) => known,
            None => {
                let name = self.name();
                plot.ask(&bound, manager, "get_data_device", vec![Argument::New(name), object(&seat)])?;
                ObjectName::Made(name)
            }
        };
        plot.wait();
        if let Some(newest) = plot.wire.family(offer).last().cloned() {
            plot.ask(&newest, offer, "receive", vec![text("text/plain"), Argument::File(Descriptor::OpenPipe)])?;
        }
        let name = self.name();
        plot.ask(&bound, manager, "create_data_source", vec![Argument::New(name)])?;
        for _ in 0..self.rng.random_range(1..60) {
            plot.ask(&ObjectName::Made(name), source, "offer", vec![Argument::Text(Some(self.text()))])?;
        }
        let called = if self.rng.random() { "set_selection" } else { "set_primary_selection" };
        plot.ask(&known, device, called, vec![object(&ObjectName::Made(name))])
    }

    /// A primary selection: marked text, for a middle click.
    pub fn primary(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let (manager, device) = ("zwp_primary_selection_device_manager_v1", "zwp_primary_selection_device_v1");
        self.device(plot, "wl_keyboard", "get_keyboard")?;
        let (bound, seat) = (plot.bound(manager)?, plot.bound("wl_seat")?);
        let (known, source) = (self.name(), self.name());
        plot.ask(&bound, manager, "get_device", vec![Argument::New(known), object(&seat)])?;
        plot.ask(&bound, manager, "create_source", vec![Argument::New(source)])?;
        plot.ask(&ObjectName::Made(source), "zwp_primary_selection_source_v1", "offer", vec![text("text/plain")])?;
        plot.steps.extend([
            ScriptStep::Key(LETTERS.start, true),
            ScriptStep::Key(LETTERS.start, false),
            ScriptStep::Turn,
        ]);
        let set = vec![object(&ObjectName::Made(source)), Argument::Serial(0)];
        plot.ask(&ObjectName::Made(known), device, "set_selection", set)
    }

    /// A taskbar: it sends a request to a window's handle, or the window changes its title.
    pub fn lists(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let of = "zwlr_foreign_toplevel_handle_v1";
        if let Some(window) = self.one_of(plot, "xdg_toplevel") {
            plot.ask(&window, "xdg_toplevel", "set_title", vec![Argument::Text(Some(self.text()))])?;
        }
        let handle = self.one_of(plot, of)?;
        match self.rng.random_range(0..4) {
            0 => {
                let seat = plot.bound("wl_seat")?;
                plot.ask(&handle, of, "activate", vec![object(&seat)])?;
            }
            1 => {
                let output = self.one_of(plot, "wl_output");
                plot.ask(&handle, of, "set_fullscreen", vec![Argument::Object(output)])?;
            }
            _ => {
                let wish = WISHES[self.rng.random_range(0..WISHES.len())];
                plot.ask(&handle, of, wish, Vec::new())?;
            }
        }
        if self.rng.random_ratio(1, 8) {
            let manager = plot.bound("zwlr_foreign_toplevel_manager_v1")?;
            plot.ask(&manager, "zwlr_foreign_toplevel_manager_v1", "stop", Vec::new())?;
        }
        plot.wait();
        Some(())
    }

    /// Outputs are moved, transformed and scaled. (The client uses the last `done` serial; it may be outdated by then.)
    pub fn arranges(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let manager = plot.bound("zwlr_output_manager_v1")?;
        let heads = plot.wire.family("zwlr_output_head_v1").to_vec();
        let name = self.name();
        let configuration = ObjectName::Made(name);
        let made = vec![Argument::New(name), Argument::Configure];
        plot.ask(&manager, "zwlr_output_manager_v1", "create_configuration", made)?;
        for head in heads {
            let name = self.name();
            let it = ObjectName::Made(name);
            let enabled = vec![Argument::New(name), object(&head)];
            plot.ask(&configuration, "zwlr_output_configuration_v1", "enable_head", enabled)?;
            let (x, y) = self.place();
            match self.rng.random_range(0..3) {
                0 => {
                    plot.ask(&it, "zwlr_output_configuration_head_v1", "set_position", words([x as u32, y as u32]))?;
                }
                1 => {
                    let turn = self.rng.random_range(0..8);
                    plot.ask(&it, "zwlr_output_configuration_head_v1", "set_transform", words([turn]))?;
                }
                _ => {
                    let scale = 256 * self.rng.random_range(1..3);
                    plot.ask(&it, "zwlr_output_configuration_head_v1", "set_scale", words([scale]))?;
                }
            }
        }
        let called = if self.rng.random() { "apply" } else { "test" };
        plot.ask(&configuration, "zwlr_output_configuration_v1", called, Vec::new())?;
        plot.steps.push(ScriptStep::Pass(20));
        plot.ask(&configuration, "zwlr_output_configuration_v1", "destroy", Vec::new())
    }

    /// A scroll view, scrolled by its client and by the wheel.
    pub fn scrolls(&mut self, plot: &mut Plot<'_>) -> Option<()> {
        let of = "upbeat_scroll_view_v1";
        let (manager, parent) = (plot.bound("upbeat_scroll_manager_v1")?, self.one_of(plot, "wl_surface")?);
        let (subs, surface, sub) = (plot.bound("wl_subcompositor")?, self.surface(plot)?, self.name());
        let made = vec![Argument::New(sub), object(&surface), object(&parent)];
        plot.ask(&subs, "wl_subcompositor", "get_subsurface", made)?;
        let name = self.name();
        let view = ObjectName::Made(name);
        plot.ask(&manager, "upbeat_scroll_manager_v1", "get_view", vec![Argument::New(name), object(&surface)])?;
        plot.ask(&view, of, "set_document", words([0, 0, DOCUMENT, DOCUMENT]))?;
        plot.ask(&view, of, "report_offsets", words([1]))?;
        self.show(plot, &surface)?;
        plot.wait();
        let (x, y) = self.place();
        let there = words([x as u32, 10 * y as u32, self.rng.random_range(0..2), 1]);
        plot.ask(&view, of, if self.rng.random() { "scroll_to" } else { "scroll_by" }, there)?;
        plot.ask(&surface, "wl_surface", "commit", Vec::new())?;
        plot.steps.extend([
            ScriptStep::Point(x, y),
            ScriptStep::Scroll(self.rng.random_range(-3..4)),
            ScriptStep::Pass(20),
        ]);
        Some(())
    }

    /// The object that the manager `of` creates for a seat.
    fn made_with_seat(&mut self, plot: &mut Plot<'_>, of: &str, called: &str) -> Option<ObjectName> {
        let (manager, seat, name) = (plot.bound(of)?, plot.bound("wl_seat")?, self.name());
        let names = [Argument::New(name), object(&seat)];
        let arguments =
            if of == "zwp_text_input_manager_v3" { names.to_vec() } else { names.into_iter().rev().collect() };
        plot.ask(&manager, of, called, arguments)?;
        Some(ObjectName::Made(name))
    }
}
