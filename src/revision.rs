//! The one counter behind everything that is looked at again only after it changed.

/// Another number after each change of something. Whoever kept an earlier one knows whether anything changed since, without
/// looking at the thing itself.
///
/// It is compared, and nothing else: it is no id, no count to be shown, and never sent to a client (serials of protocols wrap
/// around, this does not: with a change in each nanosecond 64 bits last for 584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision(u64);

impl Revision {
    /// Something changed, or may have.
    pub const fn advance(&mut self) {
        self.0 += 1;
    }

    /// How many changes there were since it was `earlier`; `None` if that is the number of something else, and lies ahead.
    pub fn changes_since(self, earlier: Revision) -> Option<usize> {
        usize::try_from(self.0.checked_sub(earlier.0)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_makes_it_another_one_and_changes_are_counted() {
        let before = Revision::default();
        let mut now = before;
        assert_eq!((now, now.changes_since(before)), (before, Some(0)));
        now.advance();
        now.advance();
        assert_ne!(now, before);
        assert_eq!((now.changes_since(before), before.changes_since(now)), (Some(2), None));
    }
}
