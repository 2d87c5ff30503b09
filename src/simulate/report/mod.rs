//! Results for people: a table on the terminal, a page with pictures.

pub mod chart;
pub mod html;
pub mod table;
