//! Random sequences of actions: no window is lost, and the focused window is always visible.

use proptest::prelude::*;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat::shell::workspace_actions;
use upbeat::shell::workspaces::WorkspaceId;

use super::number;
use crate::fixture::{
    ClientIndex, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_O, KEY_TAB, OUTPUT, TestToplevel, TestWorld,
};

#[derive(Clone, Debug)]
enum WorkspaceAction {
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
    /// A list of names of [`NAME_LISTS`] (by index).
    Names(usize),
}

/// Lists of names of workspaces, one after the other in a session.
const NAME_LISTS: [&[&str]; 4] = [&[], &["mail"], &["mail", "music"], &["music", "mail"]];

/// Arrows, `,`, `.`, W, R, V and T.
const STRIP_KEYS: [u32; 10] = [105, 106, 103, 108, 51, 52, 17, 19, 47, 20];

fn step() -> impl Strategy<Value = WorkspaceAction> {
    let (window, number) = (0..6_usize, prop_oneof![3 => 1..=3_u8, 2 => 10..=11_u8]);
    prop_oneof![
        3 => Just(WorkspaceAction::Open),
        1 => window.clone().prop_map(WorkspaceAction::Dialog),
        1 => window.clone().prop_map(WorkspaceAction::Close),
        1 => window.clone().prop_map(WorkspaceAction::Unmap),
        3 => number.clone().prop_map(WorkspaceAction::Switch),
        3 => (window.clone(), any::<bool>(), number).prop_map(|(window, second, number)| WorkspaceAction::Send(window, second, number)),
        1 => window.clone().prop_map(WorkspaceAction::Activate),
        1 => Just(WorkspaceAction::Overview),
        2 => any::<bool>().prop_map(WorkspaceAction::Plug),
        1 => Just(WorkspaceAction::NextWindow),
        1 => window.prop_map(WorkspaceAction::Fullscreen),
        2 => (0..NAME_LISTS.len()).prop_map(WorkspaceAction::Names),
        4 => (0..STRIP_KEYS.len(), any::<bool>()).prop_map(|(key, shifted)| WorkspaceAction::Key(key, shifted)),
    ]
}

/// A world in which random actions are done.
struct RandomSession {
    world: TestWorld,
    windows: Vec<(ClientIndex, TestToplevel)>,
    has_second: bool,
}

impl RandomSession {
    fn apply(&mut self, step: &WorkspaceAction) {
        let RandomSession { world, windows, has_second } = self;
        let count = windows.len().max(1);
        let id =
            |world: &TestWorld, window: usize| world.state.shell.windows().nth(window % count).map(|window| window.id);
        match *step {
            WorkspaceAction::Open => windows.push(world.open("window", 100, 80)),
            WorkspaceAction::Dialog(of) => {
                let Some((client, parent)) = windows.get(of % count) else { return };
                let dialog = world.client(*client).toplevel("dialog");
                dialog.toplevel.set_parent(Some(&parent.toplevel));
                world.settle();
                world.client(*client).ack_newest_configure();
                world.client(*client).commit_buffer(&dialog.surface, 50, 40);
                world.settle();
            }
            WorkspaceAction::Close(which) if !windows.is_empty() => {
                let (client, _) = windows.remove(which % count);
                world.kill(client);
            }
            WorkspaceAction::Unmap(which) => {
                let Some((_, window)) = windows.get(which % count) else { return };
                window.surface.attach(None, 0, 0);
                window.surface.commit();
            }
            // A number without a name.
            WorkspaceAction::Switch(to) | WorkspaceAction::Send(_, _, to)
                if number(to) > world.state.shell.workspaces().last_number() => {}
            WorkspaceAction::Switch(to) => {
                let Some(screen) = workspace_actions::current_screen(&world.state) else { return };
                workspace_actions::switch(&mut world.state, WorkspaceId { screen, number: number(to) });
            }
            WorkspaceAction::Send(which, second, to) => {
                let Some(id) = id(world, which) else { return };
                let name = if second { "TEST-2" } else { "TEST-1" };
                let Some(screen) = world.state.shell.workspaces().screen(name) else { return };
                upbeat::shell::send_to(&mut world.state, id, WorkspaceId { screen, number: number(to) });
            }
            WorkspaceAction::Activate(which) => {
                let id = id(world, which);
                upbeat::shell::activate(&mut world.state, id);
            }
            WorkspaceAction::Overview => world.chord(&[KEY_LEFT_SUPER], KEY_O),
            WorkspaceAction::Plug(there) if there != *has_second => {
                *has_second = there;
                match there {
                    true => world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0)),
                    false => world.unplug("TEST-2"),
                }
            }
            WorkspaceAction::NextWindow => world.chord(&[KEY_LEFT_ALT], KEY_TAB),
            WorkspaceAction::Fullscreen(which) => {
                let Some((_, window)) = windows.get(which % count) else { return };
                window.toplevel.set_fullscreen(None);
            }
            WorkspaceAction::Key(key, shifted) => {
                let held = [KEY_LEFT_SUPER, KEY_LEFT_SHIFT];
                world.chord(&held[..1 + usize::from(shifted)], STRIP_KEYS[key]);
            }
            WorkspaceAction::Names(list) => world.name_workspaces(NAME_LISTS[list]),
            WorkspaceAction::Close(_) | WorkspaceAction::Plug(_) => {}
        }
        world.settle();
    }

    fn check(&self) {
        let shell = &self.world.state.shell;
        for window in shell.windows() {
            let place = shell.workspaces().place(window.id).expect("every window is on a workspace");
            assert!(shell.workspaces().screens().any(|(screen, _)| screen == place.screen), "that can be reached");
            assert!(place.number <= shell.workspaces().last_number(), "a workspace that exists");
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
    fn random_actions_lose_no_window_and_keep_a_visible_focus(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut story = RandomSession { world: TestWorld::new(), windows: Vec::new(), has_second: false };
        for step in &steps {
            story.apply(step);
            story.check();
        }
    }

    #[test]
    fn random_actions_on_strips_lose_no_window_and_keep_a_visible_focus(steps in prop::collection::vec(step(), 1..40)) {
        let mut story = RandomSession { world: TestWorld::new(), windows: Vec::new(), has_second: false };
        tiling::set_mode(&mut story.world.state, TilingMode::Strip);
        for step in &steps {
            story.apply(step);
            story.check();
            story.world.turn();
            story.check();
        }
    }
}
