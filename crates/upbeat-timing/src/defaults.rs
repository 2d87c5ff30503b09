//! Every default of the timing core, with its unit, its reason and the command that chose it.
//!
//! All defaults are here: estimators, pacers, packing, pre-executor, virtualizer, refresh rate, prediction, scrolling,
//! the configuration and the simulator read these constants. `docs/DEFAULTS.md` shows the output of the commands. Loads
//! are generated from seeds, so that each command gives the same figures on every machine, except those of `bench
//! latency`.
//!
//! Definitions, limits of data structures and properties of devices are not choices and stay where they are used.

use super::settings::{AheadSettings, EstimatorKind, MissBudget, PredictionLimits, TwoShot};
use crate::time::Span;

// --- Running ahead: `upbeat simulate --load A --load E --frames 100000` ----------------------------------------------

/// Our own animations: 5 buffers, and recorded commands for 4 frames more. On load A, 4 buffers lose 77 % fewer
/// refreshes than triple-buffered vsync, 5 lose 89 % fewer, 7 lose 96 % fewer; each buffer takes 15 MB at 2560 × 1440.
/// With run-ahead 4 the 5 buffers reach 97 %, for kilobytes.
pub const ANIMATION: AheadSettings = AheadSettings::buffers(5).with_run_ahead(4);
/// Refreshes by which the first frame of a non-interactive animation is delayed, so that the queue fills first. Flings
/// of 30 frames, 5 buffers: 79 → 91 % fewer drops (`--animation 30`); 7 buffers without it: 83 %.
pub const START_DELAY: u8 = 1;
/// Frames of our own animations that are rendered ahead: one fewer than the five buffers of D-VSync's figure 10,
/// because one buffer is on screen. A frame may then take four refreshes before its absence is visible.
pub const OWN_FRAMES_AHEAD: u8 = 4;
/// Latches in a row without any cause but our own animation before it is rendered ahead. A client that draws at the
/// same time would invalidate every frame that was rendered ahead of its next commit.
pub const CALM_LATCHES: u32 = 2;
/// After this time without an unforeseen event, frames that were drawn ahead are latched as soon as possible, so that a
/// compositor that wakes late loses no frame. The price: the response to the first input after that may be a refresh
/// later.
pub const CALM_AFTER: Span = Span::from_seconds(3);
/// Finished stale frames that stay after a supersede. One covers a fresh frame that is late. A second would be shown
/// only if the fresh frame is two refreshes late, and would be two refreshes old.
pub const INSURANCE: u8 = 1;
/// An animation that is behind catches up by at most 1/32 of an interval per frame. Such a change of speed of 3 % is
/// invisible, whereas a skipped refresh is a visible jump (D-VSync 5.1).
pub const CATCH_UP_PARTS: i64 = 32;
/// A clock that is off by more than this is corrected at once: catching up would take seconds.
pub const RESYNCHRONISE: Span = Span::from_millis(100);

// --- Just in time: `upbeat simulate --suite estimators` --------------------------------------------------------------

/// The share of late frames allowed while the user does not interact with the window: 0.06 refreshes a second at 60 Hz.
pub const FREE_RUNNING_MISS: MissBudget = MissBudget::per_mille(1);
/// The same while a button or a finger is down. With a smaller budget the heavy-tailed profile pays 5 ms for half a
/// percent.
pub const INTERACTIVE_MISS: MissBudget = MissBudget::per_mille(10);
/// The estimator for costs without a specific choice. It keeps its budget on every profile without a step size to tune.
/// Regression gains a millisecond where costs come in bursts, and can be configured.
pub const ESTIMATOR: EstimatorKind = EstimatorKind::WindowTail;
/// Insurance and second shot of two-shot rendering: 1 to 4 ms less latency for 1.2 to 1.9 renders a frame, so it is off
/// unless configured.
pub const TWO_SHOT: TwoShot = TwoShot { insurance: MissBudget::per_mille(10), second: MissBudget::per_mille(500) };
/// A second shot must show input that is newer by at least this: a slow mouse sends an event every 8 ms, a fast mouse
/// every 1 ms.
pub const SECOND_SHOT_WORTH: Span = Span::from_micros(1_500);

/// Frames for which a client's cost is remembered: about four seconds at 60 Hz. A window of N frames cannot tell
/// quantiles below `1/N`.
pub const COST_WINDOW: usize = 256;
/// Frames for which a client's CPU time is remembered: fewer, because a slow change of load shows there first.
pub const CPU_WINDOW: usize = 64;
/// Frames for which the cost of composing is remembered: about two seconds at 60 Hz.
pub const COMPOSE_WINDOW: usize = 128;
/// The cost of composing before any measurement: three times the cost of an empty 1080p frame. First frames touch new
/// memory and take longer, but a larger value would require a window's first content half an interval before it is
/// seen.
pub const FIRST_COMPOSE: Span = Span::from_micros(1_500);
/// The share of composed frames that may be late. Each late frame affects all windows of the output.
pub const COMPOSE_MISS: MissBudget = MissBudget::per_mille(1);

/// The smallest quantile that a window of some hundred frames can tell from a hiccup; the margin covers the rest.
pub const RAREST_KNOWN: MissBudget = MissBudget::per_mille(20);
/// The lowest margin of a client: jitter of timers and sockets that no window of costs shows (`upbeat bench latency`,
/// flat load: callback→light p99 − p50 of 0.02 ms in the guest, 0.1 to 0.3 on a quiet machine).
pub const CLIENT_FLOOR: Span = Span::from_micros(150);
/// The lowest margin of composing, where a miss affects all windows.
pub const COMPOSE_FLOOR: Span = Span::from_micros(350);
/// A frame in time lowers a margin by this fraction of its excess over the floor (1/128): half-life 88 frames, 1.5 s at
/// 60 Hz.
pub const MARGIN_DECAY: i64 = 128;
/// No single miss raises a margin by more than this: an outlier of a second must not cost a second.
pub const LARGEST_JUMP: Span = Span::from_millis(1);
/// A margin stays within this share of an interval: beyond it, waiting costs more than missing.
pub const LARGEST_MARGIN_SHARE: i64 = 4;
/// The part of its excess that a miss adds to a [`TailMargin`](super::estimator::TailMargin), numerator and
/// denominator. With a half, a single outlier does not dominate, and a second in a row is covered already.
pub const TAIL_JUMP: (i64, i64) = (1, 2);
/// A frame in time lowers that margin by this fraction (1/256): half-life 177 frames, three seconds at 60 Hz.
pub const TAIL_DECAY: i64 = 256;

/// How long after the last interrupting event a window still counts as interactive: longer than the pause between two
/// strokes, shorter than reading.
pub const LINGER: Span = Span::from_millis(400);
/// A callback at the refresh waits this long for the flip event of that refresh and the work it triggers: one wake-up
/// serves both, so that the client does not compete with it for the CPU.
pub const AFTER_REFRESH: Span = Span::from_micros(300);

/// Kept free before the beam reaches a rectangle that is written in place, and after it has left: for jitter of timers
/// and sockets and for errors of the phase.
pub const WRITE_MARGIN: Span = Span::from_micros(250);
/// The assumed duration of a write of 200 × 200 pixels before any measurement: half of the millisecond that Presto 4.1
/// allows for output in place.
pub const FIRST_WRITE: Span = Span::from_micros(500);
/// Writes that are remembered: half a second at 60 Hz. A late write costs a refresh, but a single hiccup must not count
/// for ever.
pub const WRITE_WINDOW: usize = 32;
/// Planned writes of which the delay is remembered: two seconds at 60 Hz, so that one in a hundred may be later than
/// planned for. That one is seen a refresh later.
pub const DELAY_WINDOW: usize = 128;
/// The longest delay that planned writes allow for: a thread that is busy for longer composes. If every write allowed for
/// that, all content would be as old as whole frames.
pub const MOST_DELAY: Span = Span::from_millis(1);

// --- Packing: `upbeat simulate --clients 10`, and `upbeat bench latency --windows 10` --------------------------------

/// The most by which a batch may take longer than the sum of its clients' CPU times, in thousandths. A longer batch was
/// delayed by other work.
pub const LARGEST_STRETCH: i64 = 3_000;
/// The weight of a new batch in that factor (1/8).
pub const STRETCH_SHARE: i64 = 8;

// --- Input prediction: `upbeat simulate --strokes FILE...` -----------------------------------------------------------

/// 33 ms (two refreshes at 60 Hz; at 50 ms errors double), 12 px (a finger hides that much), 3 samples.
pub const PREDICTION: PredictionLimits =
    PredictionLimits { horizon: Span::from_millis(33), error: 12.0, samples: 3, worth: 1.0 };
/// Limits for views that fingers drag: 4 px, since content beyond them has to come back (at 12 px one in a hundred
/// predictions overshot by 12 to 28 px on four of eleven recordings); 6 samples, since predictions at the start of a
/// motion are worse than none.
pub const SCROLL_PREDICTION: PredictionLimits =
    PredictionLimits { horizon: Span::from_millis(33), error: 4.0, samples: 6, worth: 1.0 };
/// Limits for windows that are moved by a pointer: they must beat "no prediction" by more, so that a device that jumps
/// is distrusted at once.
pub const DRAG_PREDICTION: PredictionLimits =
    PredictionLimits { horizon: Span::from_millis(33), error: 4.0, samples: 6, worth: 0.6 };
/// The furthest ahead of its last report that a pointer, a finger or a pen is predicted: two refreshes at 60 Hz.
pub const DEVICE_HORIZON: Span = Span::from_millis(33);
/// Predicted pixels that are shown whole. Further ones are shown in part ([`DEVICE_SHARE_BEYOND`]): content that
/// overshoots has to come back, and a finger hides this much.
pub const DEVICE_KNEE: f64 = 12.0;
/// The share of a distance beyond [`DEVICE_KNEE`] that is shown. Of 0.5 to 1.0 the largest share at which one in a
/// hundred predictions of the recorded mice, pens and touch screens overshoots by at most 12 px, 16 ms ahead.
pub const DEVICE_SHARE_BEYOND: f64 = 0.6;
/// An overshoot of more pixels than this lowers the reach of a device.
pub const DEVICE_OVERSHOOT: f64 = 16.0;
/// A device of which less than this share of the predicted distances came true is not predicted.
pub const DEVICE_LEAST_SHARE: f64 = 0.4;
/// Predictions whose recent error is below this (root mean square, pixels) are used without a comparison with "no
/// prediction": near a resting hand both are right, and the difference is noise.
pub const PREDICTION_UNDOUBTED: f64 = 2.0;
/// The time span that a line is fitted to: short, because a hand changes direction within a tenth of a second.
pub const LINEAR_WINDOW: Span = Span::from_millis(40);
/// The time span that a parabola is fitted to: longer, because an acceleration is a small difference of noisy numbers.
pub const QUADRATIC_WINDOW: Span = Span::from_millis(70);
/// Seconds for which an acceleration is trusted; after that the prediction continues in a straight line.
pub const ACCELERATION_HORIZON: f64 = 0.020;

// --- Scrolling: `upbeat simulate --suite papers` (SCAR, table 2) --------------------------------------------------------

/// Pixels that all views of a client may keep rendered together: twice the screen of a large monitor, 64 MB.
pub const SCROLL_BUDGET: i64 = 16_000_000;
/// The most that an axis is extended by, in lengths of the view: SCAR's N = 2.5, beyond which memory grows and the
/// number of renders hardly falls.
pub const MOST_EXTENSION: f64 = 1.5;
/// The same for a view that would otherwise reach the end of its rendered content before the next render is done: 5000
/// px/s over a window of 1000 rows with renders of 0.3 s.
pub const MOST_FAST_EXTENSION: f64 = 4.0;
/// The part of a view at each end that may show the last rendered row stretched. A fling at 1000 px/s gains a third of
/// a second in a view of 1300 pixels, and the user reads in the middle.
pub const MOST_STRETCH: f64 = 0.25;
/// The part of the extension that lies ahead while the view moves; the rest covers a change of direction.
pub const EXTENSION_AHEAD: f64 = 0.75;
