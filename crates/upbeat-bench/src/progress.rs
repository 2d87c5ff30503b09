//! Progress messages of a bench.

/// Reports each run as it begins: its number, the number of runs and its title.
pub(super) struct Progress<F> {
    begun: usize,
    all: usize,
    tell: F,
}

impl<F: FnMut(&str)> Progress<F> {
    pub fn new(all: usize, tell: F) -> Self {
        Progress { begun: 0, all, tell }
    }

    /// Reports that the next run begins.
    pub fn begin(&mut self, title: &str) {
        self.begun += 1;
        (self.tell)(&format!("{} of {}: {title}", self.begun, self.all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted() {
        let mut said = Vec::new();
        let mut progress = Progress::new(2, |text: &str| said.push(text.to_owned()));
        ["a", "b"].into_iter().for_each(|title| progress.begin(title));
        assert_eq!(said, ["1 of 2: a", "2 of 2: b"]);
    }
}
