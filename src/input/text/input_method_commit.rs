//! The pending state of an input method until its commit; values are checked, because clients rely on them.

use super::field::{FieldSurrounding, MOST_TEXT};

/// The content of one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputMethodCommit {
    /// The preedit string, with its caret or selection (bytes); without one the caret is hidden.
    pub preedit: Option<(String, Option<(usize, usize)>)>,
    /// The committed text.
    pub text: String,
    /// How much text before and after the caret is deleted (bytes).
    pub deleted: (u32, u32),
}

impl InputMethodCommit {
    /// Sets the preedit string, with the caret from `begin` to `end`.
    pub fn preedit(&mut self, text: String, begin: i32, end: i32) {
        let within = |position: i32| usize::try_from(position).ok().filter(|at| text.is_char_boundary(*at));
        let caret = within(begin).zip(within(end));
        self.preedit = Some((text, caret)).filter(|(text, _)| !text.is_empty());
    }

    /// How much of `surrounding` is deleted: no more than there is, and only whole characters. For a field that does
    /// not send its text, no more than such a text can be long.
    pub fn deleted_of(&self, surrounding: Option<&FieldSurrounding>) -> (u32, u32) {
        let (before, after) = self.deleted;
        let Some(FieldSurrounding { text, cursor, .. }) = surrounding else {
            let most = MOST_TEXT as u32;
            return (before.min(most), after.min(most));
        };
        let from = (0..=*cursor).rev().find(|at| cursor - at >= before as usize && text.is_char_boundary(*at));
        let to = (*cursor..=text.len()).find(|at| at - cursor >= after as usize && text.is_char_boundary(*at));
        let length = |from: usize, to: usize| u32::try_from(to - from).unwrap_or(u32::MAX);
        (length(from.unwrap_or(0), *cursor), length(*cursor, to.unwrap_or(text.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_whole_characters_of_existing_text_are_deleted(
            text in "[aé水😀]{0,12}", place in 0..13_usize, before: u32, after: u32, small in 0..8_u32,
        ) {
            let cursor = text.char_indices().map(|(at, _)| at).nth(place).unwrap_or(text.len());
            let around = FieldSurrounding { text: text.clone(), cursor, anchor: cursor };
            for deleted in [(before, after), (small, small), (before, small)] {
                let (less, more) = InputMethodCommit { deleted, ..InputMethodCommit::default() }.deleted_of(Some(&around));
                let (from, to) = (cursor - less as usize, cursor + more as usize);
                prop_assert!(text.is_char_boundary(from) && text.is_char_boundary(to));
                prop_assert!(from == 0 || less >= deleted.0);
                prop_assert!(to == text.len() || more >= deleted.1);
            }
        }

        #[test]
        fn caret_outside_the_preedit_string_is_hidden(text in "[aé水]{0,6}", begin: i32, end in -2..20_i32) {
            let mut composed = InputMethodCommit::default();
            composed.preedit(text.clone(), begin, end);
            if let Some((_, Some((begin, end)))) = composed.preedit {
                prop_assert!(text.is_char_boundary(begin) && text.is_char_boundary(end));
            }
        }
    }

    #[test]
    fn empty_preedit_string_is_none() {
        let mut composed = InputMethodCommit::default();
        composed.preedit("は".to_owned(), 3, 3);
        assert_eq!(composed.preedit, Some(("は".to_owned(), Some((3, 3)))));
        composed.preedit("は".to_owned(), -1, -1);
        assert_eq!(composed.preedit, Some(("は".to_owned(), None)));
        composed.preedit(String::new(), 0, 0);
        assert_eq!(composed.preedit, None);
    }
}
