//! A random walk of clients, devices and requests: after each step the follower's picture agrees with the answers.

use rand::Rng;
use rand::seq::IndexedRandom;
use upbeat::bindings::ShortcutAction;
use upbeat::config::KeyboardOptions;
use upbeat::input::event::TouchpadGesture;
use upbeat::input::session_swipes::EnabledSwipes;
use upbeat::shell::animation::AnimationStyles;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::layouts::LayoutWish;
use upbeat_record::ipc::message::workspace::{WorkspaceNumber, WorkspaceOrder};
use upbeat_record::ipc::message::{Request, WindowMode};
use upbeat_timing::time::Span;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::Layer;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use super::EventStreamSession;
use crate::fixture::content::BLUE;
use crate::fixture::simulated::{name, nothing};
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_LEFT_SUPER};
use crate::urgency;

/// Number of random steps of a walk.
const STEPS: usize = 1_000;
/// At most this many windows are open at a time.
const MOST_WINDOWS: usize = 12;
/// At most this many bars are open at a time.
const MOST_BARS: usize = 3;
/// evdev code of the right button.
const BUTTON_RIGHT: u32 = 0x111;
/// Actions that start programs, end the session, or write files.
pub(super) const LEFT_OUT: [&str; 5] = ["run", "sh", "terminal", "end-session", "screenshot"];

/// A random action: each word of an action is equally likely, whatever the number of its arguments.
fn any_action(random: &mut impl Rng) -> String {
    let word = |action: &str| action.split(' ').next().unwrap_or_default().to_owned();
    let all: Vec<String> =
        ShortcutAction::all_spellings().filter(|action| !LEFT_OUT.contains(&word(action).as_str())).collect();
    let mut words: Vec<String> = all.iter().map(|action| word(action)).collect();
    words.dedup();
    let chosen = words.choose(random).unwrap();
    let of_word: Vec<&String> = all.iter().filter(|action| word(action) == *chosen).collect();
    (*of_word.choose(random).unwrap()).clone()
}

impl EventStreamSession {
    fn any_point(&mut self) -> (f64, f64) {
        (self.random.random_range(0.0..640.0), self.random.random_range(0.0..180.0))
    }

    fn any_number(&mut self) -> WorkspaceNumber {
        WorkspaceNumber::try_from(self.random.random_range(1..=4_u8)).unwrap()
    }

    /// Time passes.
    fn pause(&mut self) {
        let time = Span::from_millis(self.random.random_range(0..40));
        self.world.run_for(time, &mut nothing);
    }

    fn inject(&mut self, event: InputEvent) {
        let _ = self.ask(Request::Input { events: vec![event] });
        let time = Span::from_millis(self.random.random_range(0..20));
        self.world.run_for(time, &mut nothing);
        self.assert_agrees(&format!("{event:?}"));
    }

    /// Makes a random change and returns its description. A request that is not possible is refused.
    fn step(&mut self) -> String {
        let output = name(self.random.random_range(0..2));
        match self.random.random_range(0..40) {
            0..=2 if self.windows.len() < MOST_WINDOWS => self.open_window(),
            3 if !self.windows.is_empty() => {
                let place = self.random.random_range(0..self.windows.len());
                let client = self.windows[place].0;
                self.windows.retain(|(other, _)| *other != client);
                self.world.kill(client);
                "a client's end".to_owned()
            }
            4..=7 => self.answer(),
            8 | 9 => self.client_request(),
            10 => self.bar(),
            11 if self.known.outputs.len() < 2 => {
                self.world.plug_in_at(&name(1), 60_000, (320, 0));
                "a second output".to_owned()
            }
            11 => {
                self.world.unplug(&name(1));
                "the second output's end".to_owned()
            }
            12 => self.drag(BUTTON_LEFT, true),
            13 => self.drag(BUTTON_RIGHT, true),
            14 => self.drag(BUTTON_LEFT, false),
            15 => self.touch(),
            16 => self.swipe(),
            number @ 17..=25 => {
                let request = self.other_request(number, output);
                let told = format!("{request:?}");
                let _ = self.ask(request);
                told
            }
            _ => self.act(),
        }
    }

    fn other_request(&mut self, number: u32, output: String) -> Request {
        let window = self.any_window();
        match (number, window) {
            (17, Some(window)) => Request::Focus { window },
            (18, window) => {
                Request::Workspace(WorkspaceOrder { output: None, number: Some(self.any_number()), name: None, window })
            }
            (19, _) => Request::Workspace(WorkspaceOrder {
                output: Some(output),
                number: Some(self.any_number()),
                name: None,
                window: None,
            }),
            (20, _) => Request::SetScale { output, scale: self.random.random_range(1..5_u8).into() },
            (21, _) => Request::SetPosition { output, x: self.random.random_range(0..500), y: 0 },
            (22, _) => Request::SetPower { output, on: self.random.random() },
            (23, _) => {
                let transform = ["normal", "90", "flipped"].choose(&mut self.random).copied().unwrap();
                Request::SetTransform { output, transform: transform.to_owned() }
            }
            (24, Some(window)) => Request::Close { window },
            _ => Request::SetLayout { layout: LayoutWish::Next },
        }
    }

    fn act(&mut self) -> String {
        let action = any_action(&mut self.random);
        let refused = self.ask(Request::Act { action: action.clone() }).err();
        format!("{action} ({refused:?})")
    }

    fn open_window(&mut self) -> String {
        let title = format!("window {}", self.random.random_range(0..100));
        let parent = self.windows.choose(&mut self.random).cloned().filter(|_| self.random.random_ratio(1, 4));
        let opened = match parent {
            // A dialog.
            Some((client, parent)) => {
                let window = self.world.open_in(client, &title, 60, 40);
                window.toplevel.set_parent(Some(&parent.toplevel));
                (client, window)
            }
            None => {
                let size = (self.random.random_range(20..300), self.random.random_range(20..200));
                self.world.open(&title, size.0, size.1)
            }
        };
        self.windows.push(opened);
        format!("opening {title}")
    }

    /// All clients acknowledge their configures, and draw the sizes in them.
    fn answer(&mut self) -> String {
        let mut clients: Vec<ClientIndex> = self.windows.iter().map(|(client, _)| *client).collect();
        clients.dedup();
        for index in clients {
            let client = self.world.client(index);
            assert!(!client.is_disconnected(), "{}", client.error_message());
            let mut size = (0, 0);
            for event in client.take_events() {
                match event {
                    ClientEvent::ToplevelConfigure { width, height, .. } => size = (width, height),
                    ClientEvent::Configure { surface, serial } => {
                        surface.ack_configure(serial);
                        // Objects of two clients may have the same number.
                        let window = self.windows.iter().find(|(of, window)| *of == index && window.xdg == surface);
                        let (_, window) = window.expect("a configure of a known window");
                        client.commit_buffer(&window.surface, size.0.clamp(10, 400), size.1.clamp(10, 300));
                    }
                    _ => {}
                }
            }
        }
        "answers".to_owned()
    }

    fn client_request(&mut self) -> String {
        let number = self.random.random_range(0..11);
        let Some((client, window)) = self.windows.choose(&mut self.random).cloned() else {
            return "nothing".to_owned();
        };
        let toplevel = &window.toplevel;
        match number {
            0 => toplevel.set_maximized(),
            1 => toplevel.unset_maximized(),
            2 => toplevel.set_fullscreen(None),
            3 => toplevel.unset_fullscreen(),
            4 => toplevel.set_minimized(),
            5 => {
                toplevel.set_max_size(0, 0);
                toplevel.set_min_size(self.random.random_range(0..300), self.random.random_range(0..200));
            }
            6 => {
                // A window of fixed size.
                toplevel.set_min_size(50, 50);
                toplevel.set_max_size(50, 50);
            }
            7 => toplevel.set_title(format!("title {}", self.random.random_range(0..5))),
            8 => toplevel.set_app_id(format!("app {}", self.random.random_range(0..5))),
            9 => urgency::activate_with_token(&mut self.world, client, &window, None),
            _ => {
                // It is unmapped. It is mapped again when its client answers.
                window.surface.attach(None, 0, 0);
                window.surface.commit();
                self.world.settle();
                // Configures from before are void.
                self.world.client(client).take_events();
            }
        }
        window.surface.commit();
        format!("request {number} of a client")
    }

    /// A bar appears at an edge, or the oldest bar disappears.
    fn bar(&mut self) -> String {
        if self.bars.len() == MOST_BARS || !self.bars.is_empty() && self.random.random() {
            self.world.kill(self.bars.remove(0));
            return "a bar's end".to_owned();
        }
        let client = self.world.connect();
        let edge = [Anchor::Top, Anchor::Left].choose(&mut self.random).copied().unwrap();
        let layer = [Layer::Top, Layer::Bottom, Layer::Overlay].choose(&mut self.random).copied().unwrap();
        self.world.map_layer(client, layer, BLUE, |bar| {
            bar.set_anchor(edge);
            bar.set_size(20, 20);
            bar.set_exclusive_zone(20);
        });
        self.bars.push(client);
        "a bar".to_owned()
    }

    /// The pointer presses a button, with or without the modifier of the shortcuts, moves, and releases it.
    fn drag(&mut self, button: u32, with_modifier: bool) -> String {
        let (x, y) = self.any_point();
        self.inject(InputEvent::PointerMove { x, y });
        let modifier = |pressed| InputEvent::Key { key: KEY_LEFT_SUPER, pressed };
        if with_modifier {
            self.inject(modifier(true));
        }
        self.inject(InputEvent::Button { button, pressed: true });
        for _ in 0..self.random.random_range(0..4) {
            let (x, y) = self.any_point();
            self.inject(InputEvent::PointerMove { x, y });
            if self.random.random_ratio(1, 4) {
                let told = self.act();
                self.assert_agrees(&told);
            }
        }
        self.inject(InputEvent::Button { button, pressed: false });
        if with_modifier {
            self.inject(modifier(false));
        }
        format!("a drag with button {button}")
    }

    fn touch(&mut self) -> String {
        let finger = self.random.random_range(0..2);
        let (x, y) = self.any_point();
        self.inject(InputEvent::TouchDown { finger, x, y });
        for _ in 0..self.random.random_range(0..4) {
            let (x, y) = self.any_point();
            self.inject(InputEvent::TouchMove { finger, x, y });
        }
        self.inject(InputEvent::TouchUp { finger });
        "a touch".to_owned()
    }

    fn swipe(&mut self) -> String {
        let mut steps = vec![TouchpadGesture::SwipeBegin { fingers: self.random.random_range(3..5) }];
        let (dx, dy) = (self.random.random_range(-80.0..80.0), self.random.random_range(-80.0..80.0));
        let updates = self.random.random_range(0..5);
        steps.extend((0..updates).map(|_| TouchpadGesture::SwipeUpdate { delta: (dx, dy).into() }));
        steps.push(TouchpadGesture::SwipeEnd { cancelled: self.random.random() });
        for gesture in steps {
            let time = self.world.now();
            self.world.input(upbeat::input::InputEvent::Gesture { time, gesture });
            self.world.run_for(Span::from_millis(8), &mut nothing);
            self.assert_agrees("a swipe");
        }
        "a swipe".to_owned()
    }
}

impl EventStreamSession {
    /// Every window that its client believes to be in a column is in one.
    #[track_caller]
    fn assert_tiles_have_columns(&mut self, after: &str) {
        self.world.turn();
        self.apply_events();
        for window in self.known.windows.iter().filter(|window| !window.minimised) {
            let is_tile = window.layout.mode == WindowMode::Tiled;
            assert!(!is_tile || window.layout.column.is_some(), "after {after}: {window:?}");
        }
    }
}

fn walk(seed: u64, mode: TilingMode) {
    let mut scene = EventStreamSession::new(seed);
    let keys = KeyboardOptions { layout: "us,de".into(), ..Default::default() };
    upbeat::input::keyboard::configure(&mut scene.world.state, &keys).unwrap();
    *scene.world.state.input.gestures_mut() = EnabledSwipes { touchpad: true, edges: true };
    scene.world.state.shell.set_animations(AnimationStyles::default());
    tiling::set_mode(&mut scene.world.state, mode);
    scene.assert_agrees("nothing");
    for step in 0..STEPS {
        let what = scene.step();
        scene.pause();
        let what = format!("step {step} of seed {seed}: {what}");
        scene.assert_agrees(&what);
        scene.assert_tiles_have_columns(&what);
    }
    assert!(!scene.known.windows.is_empty());
}

#[test]
fn events_agree_with_requests_in_a_first_random_walk() {
    walk(1, TilingMode::Floating);
}

#[test]
fn events_agree_with_requests_in_a_second_random_walk() {
    walk(2, TilingMode::Strip);
}

#[test]
fn events_agree_with_requests_in_a_third_random_walk() {
    walk(3, TilingMode::Strip);
}
