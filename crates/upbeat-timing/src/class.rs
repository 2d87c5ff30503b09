//! Classifies a client by its behaviour: how it responds to frame callbacks.
//!
//! A frame callback means different things to different clients:
//!
//! ```text
//!  draws      callback ──work──► commit                  later callback, fresher content, later commit
//!  gated      work ──► (waits) callback ► commit         drawn already: the callback only releases the frame
//!  own clock  ────── waits for its own moment ► commit   a later callback changes nothing but the measured "cost"
//!  queued     commits with fifo barriers or time stamps; the queue paces it
//! ```
//!
//! Two facts separate these classes. The first is CPU time: *draws* burns it between callback and commit, *gated*
//! between commit and the next callback. Each frame has one vote, so that a few slow frames (shader compilation,
//! another busy process) do not outweigh the rest. CPU time outside the callback is never an accident. CPU time inside
//! may be one: when the compositor is held up and reads a commit late, a gated client is already drawing its next
//! frame.
//!
//! ```text
//!  gated, read late:   callback ► commit ─work─► read        inside: work of the next frame; outside: nothing
//! ```
//!
//! A film of 24 or 30 pictures a second also waits for its own clock: longer than a refresh and nearly idle, every
//! time. A client that another process draws for looks the same, but rarely every time. If it does, the
//! [guard](super::pacer) finds out that its frames come sooner when its callbacks come sooner.
//!
//! The second fact is the slope. Over callbacks sent at different moments of a refresh, the measured cost of *draws* is
//! flat (slope 0). The cost of *own clock* falls one for one (slope −1), because its commit does not depend on the
//! callback.

use super::pacing::ClientClass;
use crate::time::Span;

/// Frames observed before a client is classified.
const MINIMUM_FRAMES: u32 = 8;
/// The factor by which each new frame reduces the weight of older frames: 0.5^(1/32), so that they count half after 32.
/// Written out because computing the power would cost more than the rest of an update.
const KEEP: f64 = 0.978_572_062_087_700_1;
/// The callbacks' moments must vary by this much (standard deviation), otherwise a slope means nothing.
const MINIMUM_SPREAD_MS: f64 = 0.7;
/// Slopes below this are nearer to −1 than to 0.
const OWN_CLOCK_SLOPE: f64 = -0.6;
/// A client with more than this share of commits outside any callback runs on its own clock.
const UNASKED_SHARE: f64 = 0.7;
/// A gated client answers a callback within this time, even on a busy machine: it has no work left.
const GATED_ANSWER_MS: f64 = 5.0;
/// A gated client needs less CPU time than this between callback and commit.
const GATED_INSIDE_MS: f64 = 1.0;
/// A gated client burns more CPU time outside the callback than this part of its CPU time inside. Inside it only hands
/// a frame over (with software rendering it copies the frame: half of the work for a small window). Clients that draw
/// burn at most a quarter outside (weston-simple-shm, which reads its events there).
const GATED_RATIO: f64 = 0.5;
/// A client becomes gated when more than this share of its frames looks gated. Measured: 0.7 to 0.8 for
/// weston-simple-egl during builds, 0.3 on two cores with seven busy jobs; 0 for weston-simple-shm.
const GATED_SHARE: f64 = 0.3;
/// A gated client stops being gated when less than this share of its frames looks gated.
const NOT_GATED_SHARE: f64 = 0.15;
/// A client waits for its own clock when more than this share of its frames wait long with an idle CPU.
const WAITS_SHARE: f64 = 0.9;
/// CPU time of a frame below this is accounting noise.
const MINIMUM_CPU_MS: f64 = 0.05;

/// The measurements of one frame that the classifier uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameEvidence {
    /// When the callback was sent, counted from the refresh before its target.
    pub callback_offset: Span,
    /// Time from sending the callback to reading the commit.
    pub answer: Span,
    /// CPU time of the client between callback and commit, where the system can tell.
    pub cpu_inside: Option<Span>,
    /// CPU time of the client between the previous commit and this callback, where the system can tell.
    pub cpu_outside: Option<Span>,
    /// The client answered more than a refresh after its callback, and was nearly idle meanwhile.
    pub waited: bool,
}

/// Exponentially weighted sums over frames. Fixed size, without allocation.
#[derive(Clone, Debug, Default)]
pub struct ClientClassifier {
    weight: f64,
    offset: f64,
    answer: f64,
    offset_squared: f64,
    offset_answer: f64,
    inside: f64,
    cpu_weight: f64,
    /// Weighted frames that look like frames of a gated client.
    looks_gated: f64,
    gated: bool,
    /// Weighted frames with [`FrameEvidence::waited`].
    waited: f64,
    /// Share of commits that no callback preceded.
    unsolicited: f64,
    unasked_weight: f64,
    queued: f64,
    frames: u32,
    commits: u32,
    /// The class that the sums give. Cached because it is read several times a frame and changes only with a commit.
    class: ClientClass,
}

impl ClientClassifier {
    /// Learns from a frame that answered a callback.
    pub fn observe(&mut self, frame: FrameEvidence) {
        let (x, y) = (frame.callback_offset.as_millis_f64(), frame.answer.as_millis_f64());
        for (sum, value) in [
            (&mut self.weight, 1.0),
            (&mut self.offset, x),
            (&mut self.answer, y),
            (&mut self.offset_squared, x * x),
            (&mut self.offset_answer, x * y),
            (&mut self.waited, f64::from(u8::from(frame.waited))),
        ] {
            *sum = *sum * KEEP + value;
        }
        if let (Some(inside), Some(outside)) = (frame.cpu_inside, frame.cpu_outside) {
            self.cpu_weight = self.cpu_weight * KEEP + 1.0;
            let (inside, outside) = (inside.as_millis_f64(), outside.as_millis_f64());
            self.inside = self.inside * KEEP + inside;
            self.looks_gated = self.looks_gated * KEEP + f64::from(u8::from(looks_gated(y, inside, outside)));
        }
        self.frames = self.frames.saturating_add(1);
        self.commit(true, false);
    }

    /// Learns from a commit with new content that no callback preceded. `queued`: it carried a fifo barrier or a
    /// time stamp.
    pub fn observe_unsolicited(&mut self, queued: bool) {
        self.commit(false, queued);
    }

    fn commit(&mut self, asked: bool, queued: bool) {
        self.unasked_weight = self.unasked_weight * KEEP + 1.0;
        self.unsolicited = self.unsolicited * KEEP + f64::from(u8::from(!asked));
        self.queued = self.queued * KEEP + f64::from(u8::from(queued));
        self.commits = self.commits.saturating_add(1);
        self.gated = self.is_gated();
        self.class = self.judge();
    }

    /// How the answer time changes with the callback's moment: 0 for a client that draws, −1 for a client with its
    /// own clock. `None` until the callbacks' moments have varied enough.
    pub fn slope(&self) -> Option<f64> {
        if self.frames < MINIMUM_FRAMES {
            return None;
        }
        let mean_x = self.offset / self.weight;
        let variance = self.offset_squared / self.weight - mean_x * mean_x;
        if variance < MINIMUM_SPREAD_MS * MINIMUM_SPREAD_MS {
            return None;
        }
        let covariance = self.offset_answer / self.weight - mean_x * (self.answer / self.weight);
        Some(covariance / variance)
    }

    /// The class according to the frames so far.
    pub const fn class(&self) -> ClientClass {
        self.class
    }

    fn judge(&self) -> ClientClass {
        if self.commits < MINIMUM_FRAMES {
            return ClientClass::Unknown;
        }
        if self.queued > 0.5 * self.unasked_weight {
            return ClientClass::Queued;
        }
        if self.unsolicited > UNASKED_SHARE * self.unasked_weight {
            return ClientClass::OwnClock;
        }
        if self.frames < MINIMUM_FRAMES {
            return ClientClass::Unknown;
        }
        if self.gated {
            return ClientClass::Gated;
        }
        let has_own_rhythm = self.slope().is_some_and(|slope| slope < OWN_CLOCK_SLOPE) && self.waits();
        if has_own_rhythm || self.waited > WAITS_SHARE * self.weight {
            return ClientClass::OwnClock;
        }
        ClientClass::Draws
    }

    /// Whether the client answers at once and works at other times.
    fn is_gated(&self) -> bool {
        let share = if self.gated { NOT_GATED_SHARE } else { GATED_SHARE };
        self.looks_gated > share * self.cpu_weight
    }

    /// Whether the client takes longer than it computes. Where CPU time is unknown, only the slope decides.
    fn waits(&self) -> bool {
        self.cpu_weight < 1.0 || self.inside / self.cpu_weight < 0.5 * self.answer / self.weight
    }
}

/// Whether a frame was drawn before its callback, which only released it (all in milliseconds).
fn looks_gated(answer: f64, inside: f64, outside: f64) -> bool {
    let at_once = answer < GATED_ANSWER_MS && inside < GATED_INSIDE_MS;
    at_once && outside > MINIMUM_CPU_MS && outside > GATED_RATIO * inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: f64) -> Span {
        Span::from_millis_f64(millis)
    }

    fn feed(
        classifier: &mut ClientClassifier,
        offsets: &[f64],
        answer: impl Fn(f64) -> f64,
        inside: f64,
        outside: f64,
    ) {
        for offset in offsets.iter().cycle().take(40) {
            classifier.observe(FrameEvidence {
                callback_offset: ms(*offset),
                answer: ms(answer(*offset)),
                cpu_inside: Some(ms(inside)),
                cpu_outside: Some(ms(outside)),
                waited: false,
            });
        }
    }

    #[test]
    fn each_class_is_recognised_by_its_behaviour() {
        let offsets = [0.2, 4.0, 9.0, 12.0];
        let mut draws = ClientClassifier::default();
        feed(&mut draws, &offsets, |_| 2.0, 1.9, 0.05);
        assert_eq!(draws.class(), ClientClass::Draws);
        assert!(draws.slope().unwrap().abs() < 0.01);

        let mut gated = ClientClassifier::default();
        feed(&mut gated, &offsets, |_| 0.2, 0.1, 3.0);
        assert_eq!(gated.class(), ClientClass::Gated);

        let mut own_clock = ClientClassifier::default();
        feed(&mut own_clock, &offsets, |offset| 14.0 - offset, 0.5, 0.5);
        assert_eq!(own_clock.class(), ClientClass::OwnClock);
        assert!((own_clock.slope().unwrap() + 1.0).abs() < 0.01);

        let mut free = ClientClassifier::default();
        (0..20).for_each(|_| free.observe_unsolicited(false));
        assert_eq!(free.class(), ClientClass::OwnClock);

        let mut queued = ClientClassifier::default();
        (0..20).for_each(|_| queued.observe_unsolicited(true));
        assert_eq!(queued.class(), ClientClass::Queued);
    }

    #[test]
    fn client_that_always_waits_has_its_own_clock_and_client_that_sometimes_waits_draws() {
        for (waits_in_eight, class) in [(8, ClientClass::OwnClock), (6, ClientClass::Draws)] {
            let mut classifier = ClientClassifier::default();
            for number in 0..200 {
                let waited = number % 8 < waits_in_eight;
                let answer = ms(if waited { 33.0 } else { 6.0 });
                let cpu = Some(ms(1.5));
                classifier.observe(FrameEvidence {
                    answer,
                    waited,
                    cpu_inside: cpu,
                    cpu_outside: cpu,
                    ..FrameEvidence::default()
                });
            }
            assert_eq!(classifier.class(), class, "{waits_in_eight} of 8");
        }
    }

    #[test]
    fn older_frames_count_half_after_32_newer_ones() {
        assert!((KEEP.powi(32) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_said_before_there_is_evidence() {
        let mut classifier = ClientClassifier::default();
        assert_eq!(classifier.class(), ClientClass::Unknown);
        feed(&mut classifier, &[4.0], |_| 2.0, 1.9, 0.0);
        assert_eq!(classifier.slope(), None);
    }

    #[test]
    fn a_cheap_client_that_draws_is_not_taken_for_a_gated_one() {
        let mut classifier = ClientClassifier::default();
        feed(&mut classifier, &[4.0, 9.0], |_| 0.3, 0.25, 0.01);
        assert_eq!(classifier.class(), ClientClass::Draws);
    }

    /// Measured frames of a client, from a CSV recording.
    fn recorded(csv: &str) -> Vec<FrameEvidence> {
        let frames = csv.lines().filter(|line| !line.starts_with('#'));
        let frames = frames.map(|line| line.split(',').map(|value| ms(value.parse().unwrap())).collect::<Vec<_>>());
        let evidence = |frame: Vec<Span>| FrameEvidence {
            callback_offset: frame[0],
            answer: frame[1],
            cpu_inside: Some(frame[2]),
            cpu_outside: Some(frame[3]),
            waited: false,
        };
        frames.map(evidence).collect()
    }

    proptest::proptest! {
        /// A run may begin anywhere, also with misleading frames.
        #[test]
        fn a_gated_client_is_known_for_one_in_every_run_and_one_that_draws_is_never_taken_for_it(start in 0_usize..200) {
            for (csv, gated) in [
                (include_str!("../../../tests/data/classes/simple-egl-1.csv"), true),
                (include_str!("../../../tests/data/classes/simple-egl-2.csv"), true),
                (include_str!("../../../tests/data/classes/simple-shm.csv"), false),
            ] {
                let frames = recorded(csv);
                let mut classifier = ClientClassifier::default();
                for (number, frame) in frames.iter().cycle().skip(start % frames.len()).take(200).enumerate() {
                    classifier.observe(*frame);
                    let known = number >= 24;
                    proptest::prop_assert!(!known || (classifier.class() == ClientClass::Gated) == gated, "frame {number}");
                }
            }
        }
    }

    #[test]
    fn a_client_that_changes_its_ways_is_judged_anew() {
        let mut classifier = ClientClassifier::default();
        feed(&mut classifier, &[0.2, 9.0], |_| 0.2, 0.1, 3.0);
        for _ in 0..6 {
            feed(&mut classifier, &[0.2, 9.0], |_| 4.0, 3.9, 0.1);
        }
        assert_eq!(classifier.class(), ClientClass::Draws);
    }
}
