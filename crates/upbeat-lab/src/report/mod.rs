//! Results for people: a table on the terminal, a page with pictures.

pub mod cells;
pub mod chart;
pub mod html;
pub mod table;
mod timeline;
