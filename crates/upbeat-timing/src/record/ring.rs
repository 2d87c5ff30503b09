//! A ring buffer of fixed size: the last values of anything, without allocation.

/// A ring of the last `N` values. A new value replaces the oldest.
#[derive(Clone, Debug)]
pub struct Ring<T, const N: usize> {
    slots: [T; N],
    /// The number of values ever pushed.
    pushed: u64,
}

impl<T: Copy + Default, const N: usize> Ring<T, N> {
    /// An empty ring; does not allocate.
    pub fn new() -> Self {
        Ring { slots: [T::default(); N], pushed: 0 }
    }

    /// Adds a value, which replaces the oldest when the ring is full.
    pub fn push(&mut self, value: T) {
        if N > 0 {
            self.slots[(self.pushed % N as u64) as usize] = value;
            self.pushed += 1;
        }
    }

    /// The number of values, at most `N`.
    pub fn len(&self) -> usize {
        self.pushed.min(N as u64) as usize
    }

    /// Whether no value was ever pushed.
    pub fn is_empty(&self) -> bool {
        self.pushed == 0
    }

    /// The newest value, if any.
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }

    /// All values, from the oldest to the newest.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        let len = self.len();
        let oldest = (self.pushed - len as u64) as usize;
        (0..len).map(move |at| &self.slots[(oldest + at) % N])
    }

    /// The newest value that `matches`, to be completed: the light of a frame comes later than its record.
    pub fn newest_mut(&mut self, matches: impl Fn(&T) -> bool) -> Option<&mut T> {
        let at = (0..self.len()).map(|back| self.slot_from_newest(back)).find(|at| matches(&self.slots[*at]))?;
        Some(&mut self.slots[at])
    }

    fn slot_from_newest(&self, back: usize) -> usize {
        ((self.pushed - 1 - back as u64) % N as u64) as usize
    }
}

impl<T: Copy + Default, const N: usize> Default for Ring<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_newest_in_order() {
        let mut ring = Ring::<u32, 4>::new();
        assert!(ring.is_empty() && ring.last().is_none() && ring.iter().next().is_none());
        for value in 0..10 {
            ring.push(value);
        }
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [6, 7, 8, 9]);
        assert_eq!(ring.last(), Some(&9));
    }

    #[test]
    fn completing_finds_the_newest_match_only() {
        let mut ring = Ring::<(u32, bool), 4>::new();
        for key in [1, 2, 1, 3] {
            ring.push((key, false));
        }
        ring.newest_mut(|(key, _)| *key == 1).unwrap().1 = true;
        assert_eq!(ring.iter().filter(|(_, done)| *done).count(), 1);
        assert_eq!(ring.iter().nth(2), Some(&(1, true)));
        assert!(ring.newest_mut(|(key, _)| *key == 9).is_none());
    }
}
