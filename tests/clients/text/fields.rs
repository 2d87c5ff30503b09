//! Text fields: their state as the input method receives it, and text that it commits into them.

use wayland_protocols::wp::text_input::zv3::client::zwp_text_input_v3::{ChangeCause, ContentHint, ContentPurpose};

use super::{InputMethodStage, field, method, run_turn, text_events};
use crate::fixture::TestWorld;
use crate::fixture::content::RED;
use crate::fixture::layers::{
    Layer,
    zwlr_layer_surface_v1::{Anchor, KeyboardInteractivity},
};

#[test]
fn preedit_and_commit_reach_the_field_with_its_serial() {
    let mut desk = InputMethodStage::new();
    desk.field.set_surrounding_text("word".to_owned(), 4, 4);
    desk.field.set_text_change_cause(ChangeCause::Other);
    desk.field.set_content_type(ContentHint::Latin, ContentPurpose::Url);
    desk.field.commit();
    assert_eq!(desk.typist(), ["around word 4 4", "cause 1", "for 256 5", "done"]);
    desk.method.set_preedit_string("は".to_owned(), 3, 3);
    assert_eq!(desk.writer(), ["done 2"], "nothing else counts before it is committed");
    desk.method.commit(2);
    assert_eq!(desk.writer(), ["preedit は 3 3", "done 2"]);
    desk.method.delete_surrounding_text(2, 9);
    desk.method.commit_string("葉".to_owned());
    desk.method.commit(2);
    assert_eq!(desk.writer(), ["delete 2 0", "commit 葉", "done 2"], "no more is deleted than the text has");
    desk.field.disable();
    desk.field.commit();
    assert_eq!(desk.typist(), ["deactivate", "done"]);
    assert_eq!(desk.types("late", 3), ["done 3"]);
}

#[test]
fn late_input_method_receives_the_field_state() {
    let mut world = TestWorld::rendered();
    let (writer, _) = world.open("letter", 200, 100);
    let field = field(&mut world, writer, "");
    assert_eq!(text_events(&mut world, writer), ["enter"]);
    field.enable();
    field.set_surrounding_text("here".to_owned(), 1, 2);
    field.commit();
    run_turn(&mut world);
    let typist = world.connect();
    let method = method(&mut world, typist);
    assert_eq!(text_events(&mut world, typist), ["activate", "around here 1 2", "cause 0", "done"]);
    method.commit_string("x".to_owned());
    method.commit(1);
    assert_eq!(text_events(&mut world, writer), ["done 1", "commit x", "done 1"]);
}

#[test]
fn a_second_input_method_is_unavailable_and_the_first_works_on() {
    let mut desk = InputMethodStage::new();
    let other = desk.world.connect();
    let second = method(&mut desk.world, other);
    assert_eq!(text_events(&mut desk.world, other), ["unavailable"]);
    second.commit_string("from the second method".to_owned());
    second.commit(0);
    let _grab = super::grab(&mut desk.world, other, &second);
    super::popup(&mut desk.world, other, &second, (20, 10), RED);
    assert!(text_events(&mut desk.world, other).is_empty(), "it gets no other event");
    assert!(desk.writer().is_empty());
    desk.world.kill(other);
    assert_eq!(desk.types("x", 1), ["commit x", "done 1"]);
    // A second input method of the same client is unavailable too.
    let _again = method(&mut desk.world, desk.typist);
    assert_eq!(desk.typist(), ["unavailable"]);
    desk.world.kill(desk.typist);
    let next = desk.world.connect();
    let _method = method(&mut desk.world, next);
    assert_eq!(text_events(&mut desk.world, next), ["activate", "done"]);
}

#[test]
fn text_for_a_field_is_not_committed_into_the_next() {
    let mut desk = InputMethodStage::new();
    // The input method knows the first field alone (serial 1) when the user goes to another field.
    let (chat, _) = desk.world.open("chat", 200, 100);
    let other = field(&mut desk.world, chat, "");
    other.enable();
    other.commit();
    desk.world.settle();
    desk.method.commit_string("secret".to_owned());
    desk.method.commit(1);
    assert_eq!(text_events(&mut desk.world, chat), ["enter", "done 1"]);
    assert_eq!(desk.writer(), ["leave"]);
    assert_eq!(desk.typist(), ["deactivate", "done", "activate", "done"]);
    for stale in [0, 1, 2, 4, u32::MAX] {
        desk.types("secret", stale);
    }
    assert!(text_events(&mut desk.world, chat).is_empty());
    desk.types("hello", 3);
    assert_eq!(text_events(&mut desk.world, chat), ["commit hello", "done 1"]);
    // Text is not lost if the input method does not know the newest state of the same field.
    other.set_surrounding_text("hello".to_owned(), 5, 5);
    other.commit();
    run_turn(&mut desk.world);
    desk.types("!", 3);
    assert_eq!(text_events(&mut desk.world, chat), ["done 2", "commit !", "done 2"]);
}

#[test]
fn all_text_inputs_of_a_client_receive_enter_and_leave() {
    let mut desk = InputMethodStage::new();
    let second = field(&mut desk.world, desk.writer, "second ");
    assert_eq!(desk.writer(), ["second enter"]);
    second.enable();
    second.commit();
    assert!(desk.typist().is_empty(), "another field has the focus");
    assert_eq!(desk.types("a", 1), ["second done 1", "commit a", "done 1"]);
    desk.field.disable();
    desk.field.commit();
    second.enable();
    second.commit();
    assert_eq!(desk.typist(), ["deactivate", "done", "activate", "done"]);
    assert_eq!(desk.types("b", 3), ["done 2", "second done 2", "second commit b", "second done 2"]);
    let (other, _) = desk.world.open("other", 200, 100);
    assert_eq!(desk.writer(), ["leave", "second leave"]);
    assert_eq!(desk.typist(), ["deactivate", "done"]);
    second.enable();
    second.commit();
    assert!(desk.typist().is_empty(), "without focus nothing counts");
    desk.world.kill(other);
    assert_eq!(desk.writer(), ["enter", "second enter"]);
    desk.field.enable();
    desk.field.commit();
    assert_eq!(desk.typist(), ["activate", "done"]);
    assert_eq!(desk.types("c", 5), ["done 3", "commit c", "done 3"], "commits without focus are counted");
    desk.field.destroy();
    assert_eq!(desk.typist(), ["deactivate", "done"]);
}

#[test]
fn re_enabled_field_starts_with_empty_state() {
    let mut desk = InputMethodStage::new();
    desk.field.set_surrounding_text("old".to_owned(), 0, 0);
    desk.field.commit();
    desk.typist();
    desk.field.enable();
    desk.field.commit();
    assert_eq!(desk.typist(), ["deactivate", "done", "activate", "done"]);
    assert_eq!(desk.types("x", 2), ["done 2", "done 3"]);
    assert_eq!(desk.types("x", 4), ["commit x", "done 3"]);
}

#[test]
fn gtk_3_click_does_not_end_the_composition() {
    let mut desk = InputMethodStage::new();
    // Without a commit, because GTK 3 commits only when the caret moves.
    desk.field.enable();
    assert_eq!(desk.types("n", 1), ["commit n", "done 1"]);
    desk.field.set_cursor_rectangle(24, 28, 0, 30);
    desk.field.commit();
    let heard = desk.typist();
    assert_eq!(heard, ["done"], "it is the same field");
    assert_eq!(desk.types("i", 2), ["done 2", "commit i", "done 2"]);
}

#[test]
fn layer_surfaces_can_have_text_fields() {
    let mut desk = InputMethodStage::new();
    let launcher = desk.world.connect();
    let entry = field(&mut desk.world, launcher, "");
    desk.world.map_layer(launcher, Layer::Top, RED, |layer| {
        layer.set_size(100, 50);
        layer.set_anchor(Anchor::Top);
        layer.set_keyboard_interactivity(KeyboardInteractivity::Exclusive);
    });
    assert_eq!(text_events(&mut desk.world, launcher), ["enter"]);
    entry.enable();
    entry.commit();
    assert_eq!(desk.typist(), ["deactivate", "done", "activate", "done"]);
    assert_eq!(desk.writer(), ["leave"]);
    desk.types("foot", 3);
    assert_eq!(text_events(&mut desk.world, launcher), ["done 1", "commit foot", "done 1"]);
}

#[test]
fn preedit_is_cleared_when_the_input_method_dies() {
    let mut desk = InputMethodStage::new();
    desk.method.set_preedit_string("half".to_owned(), 0, 4);
    desk.method.commit(1);
    assert_eq!(desk.writer(), ["preedit half 0 4", "done 1"]);
    desk.world.kill(desk.typist);
    assert_eq!(desk.writer(), ["done 1"], "which takes it away");
}

#[test]
fn input_method_is_deactivated_when_the_client_dies() {
    let mut desk = InputMethodStage::new();
    desk.world.kill(desk.writer);
    assert_eq!(desk.typist(), ["deactivate", "done"]);
    desk.method.commit_string("x".to_owned());
    desk.method.commit(2);
    assert!(desk.typist().is_empty());
}

#[test]
fn input_method_receives_a_fields_state_once_a_turn() {
    let mut desk = InputMethodStage::new();
    for at in 0..100 {
        desk.field.set_surrounding_text("x".repeat(100), at, at);
        desk.field.commit();
    }
    let told = desk.typist();
    assert!(told.len() <= 9 && told.last().is_some_and(|last| last == "done"), "{told:?}");
    assert!(told.iter().any(|words| words.ends_with(" 99 99")));
}

#[test]
fn invalid_text_input_values_are_ignored() {
    let mut desk = InputMethodStage::new();
    for (cursor, anchor) in [(-1, 0), (0, 9), (i32::MAX, i32::MIN), (2, 2)] {
        desk.field.set_surrounding_text("né".to_owned(), cursor, anchor);
        desk.field.set_cursor_rectangle(i32::MIN, i32::MAX, i32::MIN, i32::MAX);
        desk.field.commit();
        assert_eq!(desk.typist(), ["done"]);
    }
    desk.method.set_preedit_string("né".to_owned(), 2, 700);
    desk.method.delete_surrounding_text(u32::MAX, u32::MAX);
    desk.method.commit(5);
    let answers = ["done 2", "done 3", "done 4", "done 5"];
    assert_eq!(desk.writer(), [&answers[..], &["delete 4000 4000", "preedit né -1 -1", "done 5"]].concat());
}

#[test]
fn commits_of_a_focused_field_are_answered_once_in_a_turn_with_the_newest_number() {
    let mut world = TestWorld::rendered();
    let (writer, _) = world.open("letter", 200, 100);
    let field = field(&mut world, writer, "");
    text_events(&mut world, writer);
    field.enable();
    field.commit();
    field.set_cursor_rectangle(1, 2, 3, 4);
    field.commit();
    assert_eq!(text_events(&mut world, writer), ["done 2"], "also without an input method");
    field.disable();
    field.commit();
    assert_eq!(text_events(&mut world, writer), ["done 3"]);
    let (other, _) = world.open("other", 200, 100);
    text_events(&mut world, writer);
    field.commit();
    assert!(text_events(&mut world, writer).is_empty(), "the field was left");
    world.kill(other);
}

#[test]
fn preedit_is_kept_by_the_answer_to_a_commit() {
    let mut desk = InputMethodStage::new();
    desk.method.set_preedit_string("half".to_owned(), 0, 4);
    desk.method.commit(1);
    assert_eq!(desk.writer(), ["preedit half 0 4", "done 1"]);
    desk.field.set_cursor_rectangle(1, 2, 3, 4);
    desk.field.commit();
    assert_eq!(desk.writer(), ["preedit half 0 4", "done 2"]);
    desk.method.commit_string("whole".to_owned());
    desk.method.commit(2);
    assert_eq!(desk.writer(), ["commit whole", "done 2"]);
    desk.field.commit();
    assert_eq!(desk.writer(), ["done 3"], "nothing is composed any more");
    desk.method.set_preedit_string("half".to_owned(), 0, 4);
    desk.method.commit(3);
    desk.writer();
    desk.field.disable();
    desk.field.commit();
    assert_eq!(desk.writer(), ["done 4"], "a field that is enabled anew begins empty");
}
