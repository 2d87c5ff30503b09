//! Actions that are requested by messages: their effects as events tell them, and the reasons of refusals.

use upbeat::bindings::ShortcutAction;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_record::ipc::message::event::WindowState;
use upbeat_record::ipc::message::{Request, Response, SnappedPart, WindowMode};
use upbeat_timing::time::Span;

use super::EventStreamSession;
use super::random_walk::LEFT_OUT;
use crate::fixture::simulated::{name, nothing};

/// A session with the windows `a`, `b` and `c` in columns; `c` has the focus.
fn columns() -> EventStreamSession {
    let mut scene = EventStreamSession::new(0);
    tiling::set_mode(&mut scene.world.state, TilingMode::Strip);
    for title in ["a", "b", "c"] {
        let opened = scene.world.open(title, 100, 100);
        scene.windows.push(opened);
        scene.wait();
    }
    scene
}

impl EventStreamSession {
    fn wait(&mut self) {
        self.world.run_for(Span::from_millis(40), &mut nothing);
        self.assert_agrees("a pause");
    }

    fn try_act(&mut self, action: &str) -> Result<Response, String> {
        let answer = self.ask(Request::Act { action: action.to_owned() });
        self.wait();
        answer
    }

    #[track_caller]
    fn refusal(&mut self, action: &str) -> String {
        self.try_act(action).unwrap_err()
    }

    /// Runs an action. Returns the focused window afterwards.
    #[track_caller]
    fn run_action(&mut self, action: &str) -> WindowState {
        assert_eq!(self.try_act(action), Ok(Response::Done), "{action}");
        self.known.windows.iter().find(|window| window.focused).cloned().unwrap()
    }

    fn titled(&self, title: &str) -> WindowState {
        self.known.windows.iter().find(|window| window.title == title).cloned().unwrap()
    }
}

/// Column, row, and whether the column has tabs.
fn place(window: &WindowState) -> Option<(u32, u32, bool)> {
    window.layout.column.map(|place| (place.column, place.row, place.tabs))
}

#[test]
fn every_action_is_run_or_refused_with_a_reason() {
    for mode in [TilingMode::Floating, TilingMode::Strip] {
        let mut scene = columns();
        tiling::set_mode(&mut scene.world.state, mode);
        scene.world.plug_in_at(&name(1), 60_000, (320, 0));
        for action in ShortcutAction::all_spellings() {
            if LEFT_OUT.contains(&action.split(' ').next().unwrap_or_default()) {
                continue;
            }
            if let Err(reason) = scene.try_act(&action) {
                assert!(!reason.contains("action of a shortcut") && !reason.contains("no such action"), "{reason}");
                println!("{action}: {reason}");
            }
        }
    }
}

#[test]
fn actions_have_the_effects_that_events_tell() {
    let mut scene = columns();
    assert_eq!(["a", "b", "c"].map(|title| place(&scene.titled(title)).unwrap().0), [1, 2, 3]);
    assert_eq!(place(&scene.run_action("join left")), Some((2, 2, false)));
    assert_eq!(place(&scene.run_action("tabs")), Some((2, 2, true)));
    assert!(scene.titled("b").layout.is_hidden_tab() && !scene.titled("c").layout.is_hidden_tab());
    assert_eq!(place(&scene.run_action("tabs")), Some((2, 2, false)));
    assert_eq!(place(&scene.run_action("move left")), Some((1, 2, false)));
    let before = scene.titled("c").layout.column.unwrap().width;
    let after = scene.run_action("full-width").layout.column.unwrap().width;
    assert!(after > before || before > 300, "{before} {after}");
    let floating = scene.run_action("float");
    assert_eq!((floating.layout.mode, place(&floating)), (WindowMode::Floating, None));
    assert_eq!(scene.run_action("float").layout.mode, WindowMode::Tiled);
    assert_eq!(scene.run_action("maximise").layout.mode, WindowMode::Maximised);
    assert_eq!(scene.run_action("maximise").layout.mode, WindowMode::Tiled);
    assert_eq!(scene.run_action("fullscreen").layout.mode, WindowMode::Fullscreen);
    assert_eq!(scene.run_action("fullscreen").layout.mode, WindowMode::Tiled);
    assert_ne!(scene.run_action("minimise").title, "c");
    let minimised = scene.titled("c");
    assert!(minimised.minimised && !minimised.visible && place(&minimised).is_none(), "{minimised:?}");
    let focused = scene.run_action("layout");
    assert_eq!((focused.layout.mode, place(&focused)), (WindowMode::Floating, None));
    assert_eq!(scene.run_action("left").layout.snapped, Some(SnappedPart::Left));
    assert_eq!(scene.run_action("up").layout.snapped, Some(SnappedPart::TopLeft));
    scene.try_act("move-to-workspace 3").unwrap();
    assert_eq!(scene.known.windows.iter().filter(|it| it.workspace.is_some_and(|it| it.get() == 3)).count(), 1);
}

#[test]
fn unknown_action_is_refused_with_the_most_similar_action() {
    let mut scene = EventStreamSession::new(0);
    assert_eq!(scene.refusal("maximize"), "there is no action \"maximize\"; did you mean \"maximise\"?");
    assert_eq!(scene.refusal("tab"), "there is no action \"tab\"; did you mean \"tabs\"?");
    let focus = "there is no such action; \"focus\" is followed, for example, by left, right, up, down, first, last or floating";
    assert_eq!(scene.refusal("focus lft"), focus);
    assert!(scene.refusal("workspace 12").contains("by 1, 2, 3"));
    assert!(scene.refusal("dance").contains("\"maximise\""));
    assert!(scene.refusal(&"x".repeat(10_000)).len() < 2_000);
}

#[test]
fn action_without_an_effect_is_refused_with_the_reason() {
    let mut scene = EventStreamSession::new(0);
    assert_eq!(scene.refusal("maximise"), "no window has the focus");
    assert_eq!(scene.refusal("next-window"), "there is no window");
    assert_eq!(scene.refusal("move-with-pointer"), "no window is under the pointer");
    assert_eq!(scene.refusal("output left"), "there is no output in that direction");
    assert_eq!(scene.refusal("next-keyboard-layout"), "the keyboard has a single layout");
    assert_eq!(scene.refusal("rotation-lock"), "no output turns with the device, so there is nothing to lock");
    let opened = scene.world.open("a", 100, 100);
    scene.windows.push(opened);
    scene.wait();
    assert!(scene.refusal("tabs").contains("\"layout\" puts them in columns"));
    assert_eq!(scene.try_act("layout"), Ok(Response::Done));
    assert_eq!(scene.try_act("tabs"), Ok(Response::Done));
}
