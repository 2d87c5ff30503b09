//! One text field of a client (`zwp_text_input_v3`): its pending and its committed state.

use smithay::reexports::wayland_protocols::wp::text_input::zv3::server::zwp_text_input_v3::{
    ChangeCause, ContentHint, ContentPurpose,
};
use smithay::utils::{Logical, Rectangle};

/// The text around the caret; positions are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSurrounding {
    /// Without the preedit string.
    pub text: String,
    /// Where the caret is.
    pub cursor: usize,
    /// The other end of the selection; at the caret if there is none.
    pub anchor: usize,
}

/// The longest surrounding text that the protocol allows (bytes).
pub const MOST_TEXT: usize = 4000;

impl FieldSurrounding {
    /// `None` if a position does not lie within the text, or if the text is too long: it cannot be relied on.
    pub fn new(text: String, cursor: i32, anchor: i32) -> Option<Self> {
        let within = |position: i32| usize::try_from(position).ok().filter(|at| text.is_char_boundary(*at));
        let (cursor, anchor) = (within(cursor)?, within(anchor)?);
        (text.len() <= MOST_TEXT).then_some(FieldSurrounding { text, cursor, anchor })
    }
}

/// The committed state of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProperties {
    /// The text around its caret, if it was set.
    pub surrounding: Option<FieldSurrounding>,
    /// Why the text changed.
    pub cause: ChangeCause,
    /// The hint and the purpose, if they were set.
    pub content: Option<(ContentHint, ContentPurpose)>,
    /// The rectangle of the caret (surface coordinates), if it was set.
    pub caret: Option<Rectangle<i32, Logical>>,
}

impl Default for FieldProperties {
    fn default() -> Self {
        FieldProperties { surrounding: None, cause: ChangeCause::InputMethod, content: None, caret: None }
    }
}

/// The state that was set since the last commit.
#[derive(Debug, Default)]
struct PendingField {
    /// Whether the field is enabled or disabled, if that was requested.
    enables: Option<bool>,
    /// The input method has typed since `enable`.
    is_typed_since: bool,
    surrounding: Option<Option<FieldSurrounding>>,
    cause: Option<ChangeCause>,
    content: Option<(ContentHint, ContentPurpose)>,
    caret: Option<Rectangle<i32, Logical>>,
}

/// The effect of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldChange {
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
    pending: PendingField,
    /// The committed state; `None`: the field is not enabled.
    current: Option<FieldProperties>,
}

impl FieldState {
    /// The committed state while it is enabled.
    pub const fn properties(&self) -> Option<&FieldProperties> {
        self.current.as_ref()
    }

    /// `enable`: resets the state.
    pub fn enable(&mut self) {
        self.pending = PendingField { enables: Some(true), ..PendingField::default() };
    }

    /// The client was sent text of the input method.
    pub const fn note_typed(&mut self) {
        self.pending.is_typed_since = true;
    }

    pub fn disable(&mut self) {
        self.pending.enables = Some(false);
    }

    /// `set_surrounding_text`; `None` if the values were invalid.
    pub fn set_surrounding(&mut self, surrounding: Option<FieldSurrounding>) {
        self.pending.surrounding = Some(surrounding);
    }

    /// The request `set_text_change_cause`.
    pub const fn set_cause(&mut self, cause: ChangeCause) {
        self.pending.cause = Some(cause);
    }

    /// The request `set_content_type`.
    pub const fn set_content_type(&mut self, hint: ContentHint, purpose: ContentPurpose) {
        self.pending.content = Some((hint, purpose));
    }

    /// The request `set_cursor_rectangle`.
    pub const fn set_caret(&mut self, rect: Rectangle<i32, Logical>) {
        self.pending.caret = Some(rect);
    }

    /// Applies the pending state. Has no effect on a field without focus (`is_heard` is false). A field cannot be
    /// enabled while another one is (`is_alone` is false).
    pub fn commit(&mut self, is_heard: bool, is_alone: bool) -> FieldChange {
        self.commits = self.commits.wrapping_add(1);
        let pending = std::mem::take(&mut self.pending);
        if !is_heard {
            return FieldChange::Nothing;
        }
        let was_on = self.current.is_some();
        let outcome = match pending.enables {
            Some(true) if is_alone => {
                self.current = Some(FieldProperties::default());
                // GTK 3 enables a field again with each click, and commits only when other state changes. It does not
                // mean that the text typed in between is to be forgotten.
                if was_on && pending.is_typed_since { FieldChange::Changed } else { FieldChange::Enabled }
            }
            Some(false) if was_on => {
                self.current = None;
                FieldChange::Disabled
            }
            _ if was_on => FieldChange::Changed,
            _ => FieldChange::Nothing,
        };
        if let Some(current) = &mut self.current {
            current.surrounding = pending.surrounding.unwrap_or_else(|| current.surrounding.take());
            current.cause = pending.cause.unwrap_or(ChangeCause::InputMethod);
            current.content = pending.content.or(current.content);
            current.caret = pending.caret.or(current.caret);
        }
        outcome
    }

    /// The field lost the focus: it must be enabled and described again.
    pub fn forget(&mut self) {
        (self.pending, self.current) = (PendingField::default(), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, at: i32) -> Option<FieldSurrounding> {
        FieldSurrounding::new(text.to_owned(), at, at)
    }

    #[test]
    fn state_is_applied_by_commit_and_reset_by_enable() {
        let mut field = FieldState::default();
        field.enable();
        field.set_content_type(ContentHint::Latin, ContentPurpose::Url);
        field.set_surrounding(around("word", 4));
        assert_eq!(field.properties(), None);
        assert_eq!(field.commit(true, true), FieldChange::Enabled);
        assert_eq!(field.properties().unwrap().content, Some((ContentHint::Latin, ContentPurpose::Url)));
        field.set_cause(ChangeCause::Other);
        field.set_surrounding(around("words", 5));
        assert_eq!(field.commit(true, true), FieldChange::Changed);
        let stated = field.properties().unwrap();
        assert_eq!((&stated.surrounding, stated.cause), (&around("words", 5), ChangeCause::Other));
        assert!(stated.content.is_some(), "the content type stays");
        assert_eq!(field.commit(true, true), FieldChange::Changed);
        assert_eq!(field.properties().unwrap().cause, ChangeCause::InputMethod, "a cause counts once");
        field.enable();
        assert_eq!(field.commit(true, true), FieldChange::Enabled);
        assert_eq!(field.properties(), Some(&FieldProperties::default()));
        field.disable();
        assert_eq!((field.commit(true, true), field.commits), (FieldChange::Disabled, 5));
    }

    #[test]
    fn text_typed_between_a_second_enable_and_its_commit_is_kept() {
        let mut field = FieldState::default();
        field.enable();
        field.note_typed();
        assert_eq!(field.commit(true, true), FieldChange::Enabled, "nothing was typed into it before");
        field.set_surrounding(around("word", 4));
        field.commit(true, true);
        field.enable();
        field.note_typed();
        assert_eq!(field.commit(true, true), FieldChange::Changed);
        assert_eq!(field.properties(), Some(&FieldProperties::default()), "its properties are reset");
        field.note_typed();
        field.enable();
        assert_eq!(field.commit(true, true), FieldChange::Enabled, "it was typed before");
    }

    #[test]
    fn without_focus_commits_are_counted_and_nothing_else() {
        let mut field = FieldState::default();
        field.enable();
        assert_eq!((field.commit(false, true), field.commits), (FieldChange::Nothing, 1));
        assert_eq!(field.commit(true, true), FieldChange::Nothing, "the earlier request has no effect");
    }

    #[test]
    fn only_one_field_is_enabled() {
        let mut field = FieldState::default();
        field.enable();
        assert_eq!(field.commit(true, false), FieldChange::Nothing);
        assert_eq!(field.properties(), None);
    }

    #[test]
    fn surrounding_text_with_invalid_positions_is_rejected() {
        assert!(around("né", 3).is_some() && around("né", 1).is_some());
        for at in [-1, 2, 4, i32::MAX] {
            assert_eq!(around("né", at), None, "{at}");
        }
        assert_eq!(FieldSurrounding::new("né".to_owned(), 0, 2), None);
        assert_eq!(FieldSurrounding::new("n".repeat(MOST_TEXT + 1), 0, 0), None);
    }
}
