//! Text fields (`zwp_text_input_v3`), and input methods (`zwp_input_method_v2`) that type into them.

mod fields;
mod keys;
mod popups;

use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum};
use wayland_protocols::wp::text_input::zv3::client::zwp_text_input_manager_v3::ZwpTextInputManagerV3;
use wayland_protocols::wp::text_input::zv3::client::zwp_text_input_v3::{self, ZwpTextInputV3};
use wayland_protocols_misc::zwp_input_method_v2::client::zwp_input_method_keyboard_grab_v2::{
    self, ZwpInputMethodKeyboardGrabV2,
};
use wayland_protocols_misc::zwp_input_method_v2::client::zwp_input_method_manager_v2::ZwpInputMethodManagerV2;
use wayland_protocols_misc::zwp_input_method_v2::client::zwp_input_method_v2::{self, ZwpInputMethodV2};
use wayland_protocols_misc::zwp_input_method_v2::client::zwp_input_popup_surface_v2::{self, ZwpInputPopupSurfaceV2};

use crate::fixture::client::TestClientState;
use crate::fixture::content::Xrgb8888Pixel;
use crate::fixture::dispatch::silent;
use crate::fixture::{ClientEvent, ClientIndex, TestWorld};

silent!(ZwpTextInputManagerV3, ZwpInputMethodManagerV2);

/// Prefix of a field's events, where a test has several fields.
#[derive(Clone, Debug)]
pub struct FieldName(&'static str);

impl Dispatch<ZwpTextInputV3, FieldName> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpTextInputV3,
        event: zwp_text_input_v3::Event,
        FieldName(name): &FieldName,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwp_text_input_v3::Event as Said;
        let words = match event {
            Said::Enter { .. } => "enter".to_owned(),
            Said::Leave { .. } => "leave".to_owned(),
            Said::PreeditString { text, cursor_begin, cursor_end } => {
                format!("preedit {} {cursor_begin} {cursor_end}", text.unwrap_or_default())
            }
            Said::CommitString { text } => format!("commit {}", text.unwrap_or_default()),
            Said::DeleteSurroundingText { before_length, after_length } => {
                format!("delete {before_length} {after_length}")
            }
            Said::Done { serial } => format!("done {serial}"),
            _ => return,
        };
        data.events.push(ClientEvent::InWords(format!("{name}{words}")));
    }
}

impl Dispatch<ZwpInputMethodV2, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpInputMethodV2,
        event: zwp_input_method_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwp_input_method_v2::Event as Said;
        let number = |value: u32| value;
        let words = match event {
            Said::Activate => "activate".to_owned(),
            Said::Deactivate => "deactivate".to_owned(),
            Said::SurroundingText { text, cursor, anchor } => format!("around {text} {cursor} {anchor}"),
            Said::TextChangeCause { cause } => format!("cause {}", number(cause.into())),
            Said::ContentType { hint, purpose } => format!("for {} {}", number(hint.into()), number(purpose.into())),
            Said::Done => "done".to_owned(),
            Said::Unavailable => "unavailable".to_owned(),
            _ => return,
        };
        data.events.push(ClientEvent::InWords(words));
    }
}

impl Dispatch<ZwpInputMethodKeyboardGrabV2, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpInputMethodKeyboardGrabV2,
        event: zwp_input_method_keyboard_grab_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wayland_client::protocol::wl_keyboard::KeyState;
        use zwp_input_method_keyboard_grab_v2::Event as Said;
        let words = match event {
            Said::Keymap { fd, size, .. } => {
                data.events.push(ClientEvent::Keymap(fd, size));
                "keymap".to_owned()
            }
            Said::RepeatInfo { rate, delay } => format!("repeat {rate} {delay}"),
            Said::Key { key, state, .. } => {
                format!("key {key} {}", if state == WEnum::Value(KeyState::Pressed) { "down" } else { "up" })
            }
            Said::Modifiers { mods_depressed, .. } => format!("modifiers {mods_depressed}"),
            _ => return,
        };
        data.events.push(ClientEvent::InWords(words));
    }
}

impl Dispatch<ZwpInputPopupSurfaceV2, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpInputPopupSurfaceV2,
        event: zwp_input_popup_surface_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let zwp_input_popup_surface_v2::Event::TextInputRectangle { x, y, width, height } = event else { return };
        data.events.push(ClientEvent::InWords(format!("caret {x} {y} {width} {height}")));
    }
}

/// A text field of `client`; `name` is the prefix of its events.
pub fn field(world: &mut TestWorld, client: ClientIndex, name: &'static str) -> ZwpTextInputV3 {
    let client = world.client(client);
    let manager = client.bind::<ZwpTextInputManagerV3>();
    manager.get_text_input(&client.globals().seat.clone(), &client.handle(), FieldName(name))
}

/// `client` asks to be the input method.
pub fn method(world: &mut TestWorld, client: ClientIndex) -> ZwpInputMethodV2 {
    let client = world.client(client);
    let manager = client.bind::<ZwpInputMethodManagerV2>();
    manager.get_input_method(&client.globals().seat.clone(), &client.handle(), ())
}

pub fn grab(world: &mut TestWorld, client: ClientIndex, method: &ZwpInputMethodV2) -> ZwpInputMethodKeyboardGrabV2 {
    method.grab_keyboard(&world.client(client).handle(), ())
}

/// A popup with content of one colour.
fn popup(
    world: &mut TestWorld,
    client: ClientIndex,
    method: &ZwpInputMethodV2,
    size: (i32, i32),
    colour: Xrgb8888Pixel,
) -> (WlSurface, ZwpInputPopupSurfaceV2) {
    let client = world.client(client);
    let surface = client.surface();
    let popup = method.get_input_popup_surface(&surface, &client.handle(), ());
    client.draw(&surface, 1, size, colour);
    surface.commit();
    (surface, popup)
}

/// Runs a turn of the loop.
fn run_turn(world: &mut TestWorld) {
    world.settle();
    world.turn();
    world.settle();
}

/// Text and input method events of `client` since the last call, as words.
pub fn text_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    run_turn(world);
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// A window with an enabled text field, and a client that is the input method.
struct InputMethodStage {
    world: TestWorld,
    writer: ClientIndex,
    field: ZwpTextInputV3,
    typist: ClientIndex,
    method: ZwpInputMethodV2,
}

impl InputMethodStage {
    fn new() -> Self {
        let mut world = TestWorld::rendered();
        let (writer, _) = world.open("letter", 200, 100);
        let field = field(&mut world, writer, "");
        let typist = world.connect();
        let method = method(&mut world, typist);
        let mut desk = InputMethodStage { world, writer, field, typist, method };
        desk.enable();
        desk
    }

    fn enable(&mut self) {
        self.field.enable();
        self.field.commit();
        self.writer();
        self.typist();
    }

    fn writer(&mut self) -> Vec<String> {
        text_events(&mut self.world, self.writer)
    }

    fn typist(&mut self) -> Vec<String> {
        text_events(&mut self.world, self.typist)
    }

    fn types(&mut self, text: &str, serial: u32) -> Vec<String> {
        self.method.commit_string(text.to_owned());
        self.method.commit(serial);
        self.writer()
    }
}
