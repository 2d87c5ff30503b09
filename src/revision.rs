//! A change counter: users of a value compare it to see whether the value changed.

/// Advances with each change of a value. Code that kept an earlier revision can tell whether anything changed since,
/// without looking at the value itself.
///
/// It is only compared. It is no id, no count to be shown, and never sent to a client: serials of protocols wrap
/// around, and this does not (with a change in each nanosecond 64 bits last for 584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision(u64);

impl Revision {
    /// The value changed, or may have.
    pub const fn advance(&mut self) {
        self.0 += 1;
    }

    /// Number of changes since `earlier`; `None` if `earlier` lies ahead and so belongs to another value.
    pub fn changes_since(self, earlier: Revision) -> Option<usize> {
        usize::try_from(self.0.checked_sub(earlier.0)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advancing_changes_the_revision_and_counts() {
        let before = Revision::default();
        let mut now = before;
        assert_eq!((now, now.changes_since(before)), (before, Some(0)));
        now.advance();
        now.advance();
        assert_ne!(now, before);
        assert_eq!((now.changes_since(before), before.changes_since(now)), (Some(2), None));
    }
}
