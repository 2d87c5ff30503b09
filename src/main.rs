//! The `upbeat` command.

fn main() {}
