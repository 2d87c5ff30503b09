//! A first-in, first-out queue of fixed capacity: no allocation on the frame path.

/// At most `N` items in the order of arrival.
#[derive(Clone, Debug)]
pub struct FixedQueue<T, const N: usize> {
    items: [T; N],
    first: usize,
    len: usize,
}

impl<T: Copy + Default, const N: usize> FixedQueue<T, N> {
    /// An empty queue; does not allocate.
    pub fn new() -> Self {
        FixedQueue { items: [T::default(); N], first: 0, len: 0 }
    }

    /// The number of queued items.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the queue has no items.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends `item`; gives it back when the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.len == N {
            return Err(item);
        }
        self.items[(self.first + self.len) % N] = item;
        self.len += 1;
        Ok(())
    }

    /// Removes and returns the oldest item.
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.get(0)?;
        self.first = (self.first + 1) % N;
        self.len -= 1;
        Some(item)
    }

    /// The item at `index`, counted from the oldest.
    pub fn get(&self, index: usize) -> Option<&T> {
        (index < self.len).then(|| &self.items[(self.first + index) % N])
    }

    /// The items from the oldest to the newest.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len).map(move |index| &self.items[(self.first + index) % N])
    }

    /// Changes the oldest item for which `found` holds; returns whether there was one.
    pub fn update(&mut self, found: impl Fn(&T) -> bool, change: impl FnOnce(&mut T)) -> bool {
        for index in 0..self.len {
            let item = &mut self.items[(self.first + index) % N];
            if found(item) {
                change(item);
                return true;
            }
        }
        false
    }

    /// Keeps the items for which `keep` holds, in order; returns the number of removed items.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) -> usize {
        let before = self.len;
        let mut kept = 0;
        for index in 0..before {
            let item = self.items[(self.first + index) % N];
            if keep(&item) {
                self.items[(self.first + kept) % N] = item;
                kept += 1;
            }
        }
        self.len = kept;
        before - kept
    }

    /// Removes all items from the queue.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<T: Copy + Default, const N: usize> Default for FixedQueue<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_order_around_the_end_of_its_storage() {
        let mut queue = FixedQueue::<u8, 3>::new();
        for round in 0..5 {
            assert!(queue.push(round).is_ok() && queue.push(round + 100).is_ok());
            assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(round), Some(round + 100), None));
        }
        assert!([1, 2, 3].into_iter().all(|item| queue.push(item).is_ok()));
        assert_eq!(queue.push(4), Err(4));
        assert_eq!(queue.retain(|item| *item != 2), 1);
        assert!(queue.iter().eq(&[1, 3]));
        assert!(queue.update(|item| *item == 3, |item| *item = 9));
        assert_eq!(queue.get(1), Some(&9));
    }
}
