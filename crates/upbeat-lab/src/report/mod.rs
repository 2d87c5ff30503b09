//! Results for people: a table on the terminal, and an HTML page with charts.

pub mod cells;
pub mod chart;
pub mod html;
pub mod table;
mod timeline;
