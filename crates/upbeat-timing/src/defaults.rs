//! Every default of the timing core, with its unit, its reason and the command that chose it.
//!
//! This is the only place: estimators, pacers, packing, pre-executor, virtualizer, refresh rate, prediction, scrolling,
//! the configuration and the simulator read these constants. `docs/DEFAULTS.md` shows what the commands print. Loads are
//! made by seed, so that each command gives the same figures on every machine, except those of `bench latency`.
//!
//! What is no choice but a definition, a limit of a data structure or a property of a device stays where it is used.

use super::settings::{AheadSettings, EstimatorKind, MissBudget, PredictionLimits, TwoShot};
use crate::time::Span;

// --- Running ahead: `upbeat simulate --load A --load E --frames 100000` ----------------------------------------------

/// Our own animations: 5 buffers, and commands for 4 frames more. On load A 4 buffers lose 77 % fewer refreshes than
/// triple-buffered vsync, 5 lose 89 %, 7 lose 96 %, and 15 MB each at 2560 × 1440; with run-ahead 4 the 5 buffers reach
/// 97 %, for kilobytes.
pub const ANIMATION: AheadSettings = AheadSettings::buffers(5).with_run_ahead(4);
/// Refreshes by which the first frame of motion that answers no input is shown later, to fill the queue first. Flings of
/// 30 frames, 5 buffers: 79 → 91 % fewer drops (`--animation 30`); 7 buffers without it: 83 %.
pub const START_DELAY: u8 = 1;
/// Frames of our own animations that are rendered ahead: one fewer than the five buffers of D-VSync's figure 10, of which
/// one is on screen. A frame may then take four refreshes before anybody sees it.
pub const OWN_FRAMES_AHEAD: u8 = 4;
/// Latches in a row that found nothing but our own motion before it is rendered ahead: a client that draws along makes
/// every frame that was rendered before its next one wrong.
pub const CALM_LATCHES: u32 = 2;
/// With nothing unforeseen for so long, what was drawn ahead is latched as soon as it can be: who watches loses no frame
/// to a compositor that wakes late. The price is paid by the first input after that, whose answer may be a refresh later.
pub const CALM_AFTER: Span = Span::from_seconds(3);
/// Finished stale frames that stay after a supersede. One covers a fresh frame that is late; a second one would be shown
/// only where the fresh one is two refreshes late, and is then older by two.
pub const INSURANCE: u8 = 1;
/// An animation that is behind catches up by at most one part in so many of an interval per frame: a change of speed of
/// 3 %, which nobody sees, where a skipped refresh is a visible jump (D-VSync 5.1).
pub const CATCH_UP_PARTS: i64 = 32;
/// A clock that is further off than this is set right at once: catching up would take seconds.
pub const RESYNCHRONISE: Span = Span::from_millis(100);

// --- Just in time: `upbeat simulate --suite estimators` --------------------------------------------------------------

/// The share of frames that may be late while nobody touches the window: 0.06 refreshes a second at 60 Hz.
pub const FREE_RUNNING_MISS: MissBudget = MissBudget::per_mille(1);
/// The same while a button or a finger is down. Below it the heavy-tailed profile pays 5 ms for half a percent.
pub const INTERACTIVE_MISS: MissBudget = MissBudget::per_mille(10);
/// The estimator of a new kind of cost. It keeps its budget on every profile without a step size to tune; regression
/// gains a millisecond where costs come in bursts, and is there to be chosen.
pub const ESTIMATOR: EstimatorKind = EstimatorKind::WindowTail;
/// Insurance and second shot of two-shot rendering: 1 to 4 ms of latency for 1.2 to 1.9 renders a frame, so that it is
/// off unless asked for.
pub const TWO_SHOT: TwoShot = TwoShot { insurance: MissBudget::per_mille(10), second: MissBudget::per_mille(500) };
/// A second shot must bring input that is this much newer: one event of a slow mouse is 8 ms, one of a fast one 1 ms.
pub const SECOND_SHOT_WORTH: Span = Span::from_micros(1_500);

/// Frames that a client's cost is remembered for: about four seconds at 60 Hz. Below `1/N` a window knows no quantile.
pub const COST_WINDOW: usize = 256;
/// Frames for a client's CPU time, in which the slow change of a load shows first.
pub const CPU_WINDOW: usize = 64;
/// Frames that the cost of composing is remembered for: about two seconds at 60 Hz.
pub const COMPOSE_WINDOW: usize = 128;
/// The cost of composing before anything was measured: three times what an empty 1080p frame takes. First frames touch new
/// memory and take longer, but a window's first content would have to be there half an interval before it is seen.
pub const FIRST_COMPOSE: Span = Span::from_micros(1_500);
/// The share of composed frames that may be late. All windows of the output pay for each.
pub const COMPOSE_MISS: MissBudget = MissBudget::per_mille(1);

/// The rarest event that a window of some hundred frames can tell from a hiccup; the margin takes care of the rest.
pub const RAREST_KNOWN: MissBudget = MissBudget::per_mille(20);
/// What a client's untroubled margin falls to: jitter of timers and sockets that no window of costs shows (`upbeat
/// bench latency`, flat load: callback→light p99 − p50 of 0.02 ms in the guest, 0.1 to 0.3 on a quiet machine).
pub const CLIENT_FLOOR: Span = Span::from_micros(150);
/// The same for composing, where all windows pay for a miss.
pub const COMPOSE_FLOOR: Span = Span::from_micros(350);
/// Share of the excess over the floor that a frame in time takes off a margin: half-life 88 frames, 1.5 s at 60 Hz.
pub const MARGIN_DECAY: i64 = 128;
/// No single miss raises a margin by more: an outlier of a second must not cost a second.
pub const LARGEST_JUMP: Span = Span::from_millis(1);
/// A margin stays within this share of an interval: beyond it, waiting costs more than missing.
pub const LARGEST_MARGIN_SHARE: i64 = 4;
/// The part of its excess that a miss adds to a [`TailMargin`](super::estimator::TailMargin), numerator and
/// denominator. With a half, one outlier does not rule, and the second one in a row is already covered.
pub const TAIL_JUMP: (i64, i64) = (1, 2);
/// The part of that margin that a frame in time takes away: 1/256, half-life 177 frames, three seconds at 60 Hz.
pub const TAIL_DECAY: i64 = 256;

/// How long after the last interrupting event a window still counts as touched: longer than the pause between two
/// strokes, shorter than reading.
pub const LINGER: Span = Span::from_millis(400);
/// A callback at the refresh waits for the flip event of that refresh and for what it sets off: the same wake-up serves
/// both, and the client does not compete with it.
pub const AFTER_REFRESH: Span = Span::from_micros(300);

/// Before the beam comes to what is written in place, and after it has left: for jitter of timers and sockets, and for what
/// the phase may be off.
pub const WRITE_MARGIN: Span = Span::from_micros(250);
/// What writing 200 × 200 pixels takes before it was measured: half of the millisecond that Presto 4.1 has for output in place.
pub const FIRST_WRITE: Span = Span::from_micros(500);
/// Writes that are remembered, half a second at 60 Hz: a write that is late costs a refresh, and one hiccup is not for ever.
pub const WRITE_WINDOW: usize = 32;

// --- Packing: `upbeat simulate --clients 10`, and `upbeat bench latency --windows 10` --------------------------------

/// The most by which a batch may take longer than its clients' CPU times add up to, in thousandths: what takes longer
/// was held up by something else.
pub const LARGEST_STRETCH: i64 = 3_000;
/// The share of a newer batch in that factor, one in so many.
pub const STRETCH_SHARE: i64 = 8;

// --- Input prediction: `upbeat simulate --strokes FILE...` -----------------------------------------------------------

/// 33 ms (two refreshes at 60 Hz; at 50 ms errors double), 12 px (a finger hides that much), 3 samples.
pub const PREDICTION: PredictionLimits =
    PredictionLimits { horizon: Span::from_millis(33), error: 12.0, samples: 3, worth: 1.0 };
/// The same for views that fingers pull: 4 px, since what is shown beyond them has to come back (at 12 px one in a hundred guesses
/// went 12 to 28 px too far on four of eleven recordings), and 6 samples, since hands that only just began are guessed worse
/// than not at all.
pub const SCROLL_PREDICTION: PredictionLimits =
    PredictionLimits { horizon: Span::from_millis(33), error: 4.0, samples: 6, worth: 1.0 };
/// The same for what clients are told of pointers, fingers and pens: as above, and they have to be better than none by more, so that
/// a device that jumps is doubted at once. On all 17 recordings the 95th percentile of the error is then at most 1 px above
/// that of none, 8 to 32 ms ahead; on average the error is 0.58 of that of none 16 ms ahead.
pub const DEVICE_PREDICTION: PredictionLimits =
    PredictionLimits { horizon: Span::from_millis(33), error: 4.0, samples: 6, worth: 0.6 };
/// The furthest that such a prediction goes beyond the last report, in pixels: what is shown too far has to come back, and a
/// finger hides no more. It costs little: without it the share above is 0.53, and one in a hundred predictions on three
/// recordings goes up to 20 px too far.
pub const DEVICE_REACH: f64 = 12.0;
/// Predictions that were off by less than this lately (root mean square, pixels) are made without asking whether making
/// none would have been better: near a resting hand both are right, and which is more so is noise.
pub const PREDICTION_UNDOUBTED: f64 = 2.0;
/// The time that a line is fitted to: short, because a hand changes direction within a tenth of a second.
pub const LINEAR_WINDOW: Span = Span::from_millis(40);
/// The time that a parabola is fitted to: longer, because an acceleration is a small difference of noisy numbers.
pub const QUADRATIC_WINDOW: Span = Span::from_millis(70);
/// Seconds that an acceleration is trusted for; after it the motion goes on straight.
pub const ACCELERATION_HORIZON: f64 = 0.020;

// --- Scrolling: `upbeat simulate --suite papers` (SCAR, table 2) --------------------------------------------------------

/// Pixels that the views of a client may have rendered together: the screen of a large monitor twice, 64 MB.
pub const SCROLL_BUDGET: i64 = 16_000_000;
/// The most that an axis is extended by, in lengths of the view: SCAR's N = 2.5, beyond which memory grows and renders
/// hardly fall.
pub const MOST_EXTENSION: f64 = 1.5;
/// The same of a view that would else meet the end of what is there before its next render is done: 5000 px/s over a window of
/// 1000 rows with renders of 0.3 s.
pub const MOST_FAST_EXTENSION: f64 = 4.0;
/// The part of a view at each end that may show the last row of what is there, stretched: a fling at 1000 px/s gains a third of
/// a second in a view of 1300 pixels, and what is read is in the middle.
pub const MOST_STRETCH: f64 = 0.25;
/// The part of the extension that lies ahead when the view moves; the rest is for turning round.
pub const EXTENSION_AHEAD: f64 = 0.75;
