//! Random sequences of actions: no window is lost, and the focused window is always visible.

use proptest::prelude::*;
use upbeat::shell::spaces;
use upbeat::shell::strips::{self, Mode};
use upbeat::shell::workspaces::Place;

use super::number;
use crate::fixture::{
    ClientIndex, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_O, KEY_TAB, OUTPUT, Toplevel, World,
};

#[derive(Clone, Debug)]
enum Step {
    Open,
    Dialog(usize),
    Close(usize),
    Unmap(usize),
    Switch(u8),
    Send(usize, bool, u8),
    Activate(usize),
    Overview,
    Plug(bool),
    NextWindow,
    Fullscreen(usize),
    /// A key of [`STRIP_KEYS`] (by index) with Super.
    Key(usize, bool),
}

/// Arrows, `,`, `.`, W, R, V and T.
const STRIP_KEYS: [u32; 10] = [105, 106, 103, 108, 51, 52, 17, 19, 47, 20];

fn step() -> impl Strategy<Value = Step> {
    let (window, number) = (0..6_usize, 1..=3_u8);
    prop_oneof![
        3 => Just(Step::Open),
        1 => window.clone().prop_map(Step::Dialog),
        1 => window.clone().prop_map(Step::Close),
        1 => window.clone().prop_map(Step::Unmap),
        3 => number.clone().prop_map(Step::Switch),
        3 => (window.clone(), any::<bool>(), number).prop_map(|(window, second, number)| Step::Send(window, second, number)),
        1 => window.clone().prop_map(Step::Activate),
        1 => Just(Step::Overview),
        2 => any::<bool>().prop_map(Step::Plug),
        1 => Just(Step::NextWindow),
        1 => window.prop_map(Step::Fullscreen),
        4 => (0..STRIP_KEYS.len(), any::<bool>()).prop_map(|(key, shifted)| Step::Key(key, shifted)),
    ]
}

/// A world in which random actions are done.
struct Story {
    world: World,
    windows: Vec<(ClientIndex, Toplevel)>,
    has_second: bool,
}

impl Story {
    fn take(&mut self, step: &Step) {
        let Story { world, windows, has_second } = self;
        let count = windows.len().max(1);
        let id = |world: &World, window: usize| world.state.shell.windows().nth(window % count).map(|window| window.id);
        match *step {
            Step::Open => windows.push(world.open("window", 100, 80)),
            Step::Dialog(of) => {
                let Some((client, parent)) = windows.get(of % count) else { return };
                let dialog = world.client(*client).toplevel("dialog");
                dialog.toplevel.set_parent(Some(&parent.toplevel));
                world.settle();
                world.client(*client).answer_newest();
                world.client(*client).show(&dialog.surface, 50, 40);
                world.settle();
            }
            Step::Close(which) if !windows.is_empty() => {
                let (client, _) = windows.remove(which % count);
                world.kill(client);
            }
            Step::Unmap(which) => {
                let Some((_, window)) = windows.get(which % count) else { return };
                window.surface.attach(None, 0, 0);
                window.surface.commit();
            }
            Step::Switch(to) => {
                let Some(screen) = spaces::current_screen(&world.state) else { return };
                spaces::switch(&mut world.state, Place { screen, number: number(to) });
            }
            Step::Send(which, second, to) => {
                let Some(id) = id(world, which) else { return };
                let name = if second { "TEST-2" } else { "TEST-1" };
                let Some(screen) = world.state.shell.workspaces().screen(name) else { return };
                upbeat::shell::send_to(&mut world.state, id, Place { screen, number: number(to) });
            }
            Step::Activate(which) => {
                let id = id(world, which);
                upbeat::shell::activate(&mut world.state, id);
            }
            Step::Overview => world.chord(&[KEY_LEFT_SUPER], KEY_O),
            Step::Plug(there) if there != *has_second => {
                *has_second = there;
                match there {
                    true => world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0)),
                    false => world.unplug("TEST-2"),
                }
            }
            Step::NextWindow => world.chord(&[KEY_LEFT_ALT], KEY_TAB),
            Step::Fullscreen(which) => {
                let Some((_, window)) = windows.get(which % count) else { return };
                window.toplevel.set_fullscreen(None);
            }
            Step::Key(key, shifted) => {
                let held = [KEY_LEFT_SUPER, KEY_LEFT_SHIFT];
                world.chord(&held[..1 + usize::from(shifted)], STRIP_KEYS[key]);
            }
            Step::Close(_) | Step::Plug(_) => {}
        }
        world.settle();
    }

    fn check(&self) {
        let shell = &self.world.state.shell;
        for window in shell.windows() {
            let place = shell.workspaces().place(window.id).expect("every window is on a workspace");
            assert!(shell.workspaces().screens().any(|(screen, _)| screen == place.screen), "that can be reached");
        }
        assert!(shell.focused().is_none_or(|id| shell.is_visible(id)), "the focused window is visible");
        let keyboard = self.world.state.input.keyboard().and_then(|keyboard| keyboard.current_focus());
        let heard = keyboard.and_then(|surface| shell.window_of(&surface)).map(|window| window.id);
        assert_eq!(heard, shell.focused(), "and it has the keyboard");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_no_window_is_lost_and_the_focus_is_on_one_that_is_seen(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut story = Story { world: World::new(), windows: Vec::new(), has_second: false };
        for step in &steps {
            story.take(step);
            story.check();
        }
    }

    #[test]
    fn the_same_holds_of_strips_whatever_is_answered_to_them(steps in prop::collection::vec(step(), 1..40)) {
        let mut story = Story { world: World::new(), windows: Vec::new(), has_second: false };
        strips::set_mode(&mut story.world.state, Mode::Strip);
        for step in &steps {
            story.take(step);
            story.check();
            story.world.turn();
            story.check();
        }
    }
}
