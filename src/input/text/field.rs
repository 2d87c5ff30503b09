//! One text field of a client (`zwp_text_input_v3`): its pending and its committed state.

use smithay::reexports::wayland_protocols::wp::text_input::zv3::server::zwp_text_input_v3::{
    ChangeCause, ContentHint, ContentPurpose,
};
use smithay::utils::{Logical, Rectangle};

/// The text around the caret; positions are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surrounding {
    /// Without the preedit string.
    pub text: String,
    /// Where the caret is.
    pub cursor: usize,
    /// The other end of the selection; at the caret if there is none.
    pub anchor: usize,
}

/// The longest surrounding text that the protocol allows (bytes).
pub const MOST_TEXT: usize = 4000;

impl Surrounding {
    /// `None` if a position does not lie within the text, or if the text is too long: it cannot be relied on.
    pub fn new(text: String, cursor: i32, anchor: i32) -> Option<Self> {
        let within = |position: i32| usize::try_from(position).ok().filter(|at| text.is_char_boundary(*at));
        let (cursor, anchor) = (within(cursor)?, within(anchor)?);
        (text.len() <= MOST_TEXT).then_some(Surrounding { text, cursor, anchor })
    }
}

/// The committed state of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// The text around its caret, if it was set.
    pub surrounding: Option<Surrounding>,
    /// Why the text changed.
    pub cause: ChangeCause,
    /// The hint and the purpose, if they were set.
    pub content: Option<(ContentHint, ContentPurpose)>,
    /// The rectangle of the caret (surface coordinates), if it was set.
    pub caret: Option<Rectangle<i32, Logical>>,
}

impl Default for Stated {
    fn default() -> Self {
        Stated { surrounding: None, cause: ChangeCause::InputMethod, content: None, caret: None }
    }
}

/// The state that was set since the last commit.
#[derive(Debug, Default)]
struct Pending {
    /// Whether the field is enabled or disabled, if that was requested.
    enables: Option<bool>,
    /// The input method has typed since `enable`.
    is_typed_since: bool,
    surrounding: Option<Option<Surrounding>>,
    cause: Option<ChangeCause>,
    content: Option<(ContentHint, ContentPurpose)>,
    caret: Option<Rectangle<i32, Logical>>,
}

/// The effect of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Nothing,
    /// The field is enabled, with fresh state.
    Enabled,
    /// The field is disabled.
    Disabled,
    /// The state of an enabled field changed.
    Changed,
}

/// The double-buffered state of a field.
#[derive(Debug, Default)]
pub struct FieldState {
    /// Commits so far: `done` carries this number.
    pub commits: u32,
    pending: Pending,
    /// The committed state; `None`: the field is not enabled.
    current: Option<Stated>,
}

impl FieldState {
    /// The committed state while it is enabled.
    pub const fn stated(&self) -> Option<&Stated> {
        self.current.as_ref()
    }

    /// `enable`: resets the state.
    pub fn enable(&mut self) {
        self.pending = Pending { enables: Some(true), ..Pending::default() };
    }

    /// The client was sent text of the input method.
    pub const fn typed(&mut self) {
        self.pending.is_typed_since = true;
    }

    pub fn disable(&mut self) {
        self.pending.enables = Some(false);
    }

    /// `set_surrounding_text`; `None` if the values were invalid.
    pub fn surround(&mut self, surrounding: Option<Surrounding>) {
        self.pending.surrounding = Some(surrounding);
    }

    /// The request `set_text_change_cause`.
    pub const fn because(&mut self, cause: ChangeCause) {
        self.pending.cause = Some(cause);
    }

    /// The request `set_content_type`.
    pub const fn is_for(&mut self, hint: ContentHint, purpose: ContentPurpose) {
        self.pending.content = Some((hint, purpose));
    }

    /// The request `set_cursor_rectangle`.
    pub const fn caret(&mut self, rect: Rectangle<i32, Logical>) {
        self.pending.caret = Some(rect);
    }

    /// Applies the pending state. Has no effect on a field without focus (`is_heard` is false). A field cannot be
    /// enabled while another one is (`is_alone` is false).
    pub fn commit(&mut self, is_heard: bool, is_alone: bool) -> Outcome {
        self.commits = self.commits.wrapping_add(1);
        let said = std::mem::take(&mut self.pending);
        if !is_heard {
            return Outcome::Nothing;
        }
        let was_on = self.current.is_some();
        let outcome = match said.enables {
            Some(true) if is_alone => {
                self.current = Some(Stated::default());
                // GTK 3 enables a field again with each click, and commits only when other state changes. It does not
                // mean that the text typed in between is to be forgotten.
                if was_on && said.is_typed_since { Outcome::Changed } else { Outcome::Enabled }
            }
            Some(false) if was_on => {
                self.current = None;
                Outcome::Disabled
            }
            _ if was_on => Outcome::Changed,
            _ => Outcome::Nothing,
        };
        if let Some(current) = &mut self.current {
            current.surrounding = said.surrounding.unwrap_or_else(|| current.surrounding.take());
            current.cause = said.cause.unwrap_or(ChangeCause::InputMethod);
            current.content = said.content.or(current.content);
            current.caret = said.caret.or(current.caret);
        }
        outcome
    }

    /// The field lost the focus: it must be enabled and described again.
    pub fn forget(&mut self) {
        (self.pending, self.current) = (Pending::default(), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, at: i32) -> Option<Surrounding> {
        Surrounding::new(text.to_owned(), at, at)
    }

    #[test]
    fn what_is_said_counts_from_the_commit_on_and_enabling_again_forgets_it() {
        let mut field = FieldState::default();
        field.enable();
        field.is_for(ContentHint::Latin, ContentPurpose::Url);
        field.surround(around("word", 4));
        assert_eq!(field.stated(), None);
        assert_eq!(field.commit(true, true), Outcome::Enabled);
        assert_eq!(field.stated().unwrap().content, Some((ContentHint::Latin, ContentPurpose::Url)));
        field.because(ChangeCause::Other);
        field.surround(around("words", 5));
        assert_eq!(field.commit(true, true), Outcome::Changed);
        let stated = field.stated().unwrap();
        assert_eq!((&stated.surrounding, stated.cause), (&around("words", 5), ChangeCause::Other));
        assert!(stated.content.is_some(), "the content type stays");
        assert_eq!(field.commit(true, true), Outcome::Changed);
        assert_eq!(field.stated().unwrap().cause, ChangeCause::InputMethod, "a cause counts once");
        field.enable();
        assert_eq!(field.commit(true, true), Outcome::Enabled);
        assert_eq!(field.stated(), Some(&Stated::default()));
        field.disable();
        assert_eq!((field.commit(true, true), field.commits), (Outcome::Disabled, 5));
    }

    #[test]
    fn what_is_typed_between_enabling_again_and_its_commit_is_not_forgotten() {
        let mut field = FieldState::default();
        field.enable();
        field.typed();
        assert_eq!(field.commit(true, true), Outcome::Enabled, "nothing was typed into it before");
        field.surround(around("word", 4));
        field.commit(true, true);
        field.enable();
        field.typed();
        assert_eq!(field.commit(true, true), Outcome::Changed);
        assert_eq!(field.stated(), Some(&Stated::default()), "its properties are reset");
        field.typed();
        field.enable();
        assert_eq!(field.commit(true, true), Outcome::Enabled, "it was typed before");
    }

    #[test]
    fn without_focus_commits_are_counted_and_nothing_else() {
        let mut field = FieldState::default();
        field.enable();
        assert_eq!((field.commit(false, true), field.commits), (Outcome::Nothing, 1));
        assert_eq!(field.commit(true, true), Outcome::Nothing, "the earlier request has no effect");
    }

    #[test]
    fn one_field_of_all_is_typed_into() {
        let mut field = FieldState::default();
        field.enable();
        assert_eq!(field.commit(true, false), Outcome::Nothing);
        assert_eq!(field.stated(), None);
    }

    #[test]
    fn a_text_whose_positions_lie_outside_of_it_or_within_a_letter_is_none() {
        assert!(around("né", 3).is_some() && around("né", 1).is_some());
        for at in [-1, 2, 4, i32::MAX] {
            assert_eq!(around("né", at), None, "{at}");
        }
        assert_eq!(Surrounding::new("né".to_owned(), 0, 2), None);
        assert_eq!(Surrounding::new("n".repeat(MOST_TEXT + 1), 0, 0), None);
    }
}
