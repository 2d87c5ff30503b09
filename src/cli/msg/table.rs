//! Aligned text tables.

use std::fmt;

use upbeat_timing::time::Span;

/// A table of text. A column whose heading starts with a space is right-aligned, because numbers read best that way.
pub(super) struct TextTable {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new(headings: &[&'static str]) -> Self {
        TextTable { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with one cell per heading.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize, heading: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).chain([heading.trim().chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<_> = self.headings.iter().enumerate().map(|(at, heading)| width(at, heading)).collect();
        let headings: Vec<_> = self.headings.iter().map(|heading| heading.trim().to_owned()).collect();
        for row in [&headings].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for ((cell, width), heading) in row.iter().zip(&widths).zip(&self.headings) {
                let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
                let (before, after) = if heading.starts_with(' ') { (pad.as_str(), "") } else { ("", pad.as_str()) };
                line.extend([before, cell, after, "  "]);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A client's name for itself, without characters that a terminal would take for commands.
pub(super) fn printable(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter }).collect()
}

pub(super) fn millis(span: Span) -> String {
    format!("{:.2}", span.as_millis_f64())
}
