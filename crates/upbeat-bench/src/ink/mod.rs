//! `upbeat bench ink`: the age of the ink under a hand when its row of the screen is lit, from recorded pixels.
//!
//! ```text
//!  hand      ×  ×  ×  ×  ×  ×         reports of a pen, a finger or a mouse, at their own times
//!               └────────┐
//!  client           call ─▓▓▓▓▓ commit            a dot where the hand is (or will be), and a code beside it
//!                                   │
//!  screen            ───────────────┴─ present ┬──────── rows ────────►
//!                                              └ the code's row is lit: event→row, age
//! ```
//!
//! | figure | meaning |
//! |---|---|
//! | event→row | from each report to the light of its row in the first image with it |
//! | direct | distance of the ink from the hand by the hand's speed, while the ink is lit: a check of event→row |
//! | age | age of the newest report in an image, when its row is lit for the first time |
//! | event→line 0 | event→row as if the row were the topmost: compares whole images |
//! | missed | refreshes that showed nothing new while the hand moved |
//! | backwards | images with fewer reports than the image before |
//! | position error | from the dot to the hand's position when the dot's row is lit |
//! | overshoot | how far a predicted dot lies beyond the hand |
//!
//! A row is lit when the beam reaches it: at `present` plus the time for the lines above. So slack cannot hide in a
//! figure of line 0.
//!
//! | file | content |
//! |---|---|
//! | `hand_path` | hand movements: recordings, and a generated path of 1 kHz (pure) |
//! | `hand` | a thread that plays a path with a pointer, a finger or a pen |
//! | `sheet` | the client: ink under the hand |
//! | `targets` | two frames for a refresh |
//! | `follower` | ink on a surface of its own, which follows the pointer |
//! | `beam_timing`, `front_buffer_ink` | ink in the buffer on screen, ahead of the beam |
//! | `dispatch` | the client's Wayland events |
//! | `marker` | dot and code, which identify a frame in a recording |
//! | `recorded_images` | the images of a recording |
//! | `figures` | figures from reports and images (pure) |
//! | `direct_method` | latency by the hand's speed, without report numbers (pure) |
//! | `simulated` | the same run in the simulator, from the measured costs |
//! | `driver` | the runs, each in a session of its own |

mod beam_timing;
mod direct_method;
mod dispatch;
mod driver;
mod figures;
mod follower;
mod front_buffer_ink;
mod hand;
mod hand_path;
mod marker;
mod recorded_images;
mod sheet;
mod simulated;
mod targets;

pub use driver::{InkMode, InkOptions, InkReport, table};
pub use figures::{InkRun, PixelQuantiles};
pub use sheet::{SheetError, SheetOptions, SheetReport, run};
