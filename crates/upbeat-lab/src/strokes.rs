//! Recorded strokes, and the errors of predictions of them.

use std::path::Path;

use super::tally::Summary;
use upbeat_timing::input_prediction::{
    DeviceHistory, ErrorTracked, HoldLastPosition, Kalman, Linear, PositionSample, PredictionLimits, Predictor,
    Quadratic,
};
use upbeat_timing::time::{Instant, Span};

/// Horizons of the predictions, in milliseconds.
pub const HORIZONS: [f64; 4] = [8.0, 16.0, 33.0, 50.0];
/// Device units are scaled so that the recording's larger side has this many pixels.
const SCREEN_PIXELS: f64 = 1_000.0;
/// A longer gap between two samples ends a stroke.
const STROKE_GAP: Span = Span::from_millis(100);

/// A recording: strokes of samples in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct StrokeRecording {
    pub name: String,
    /// Each from touching down to lifting (or to a pause).
    pub strokes: Vec<Vec<PositionSample>>,
    /// Pixels per device unit.
    pub scale: f64,
}

impl StrokeRecording {
    /// Times of the samples since the first. Where time goes back, another recording begins: it follows without a gap.
    pub fn moments(&self) -> Vec<Span> {
        let mut moments: Vec<Span> = Vec::new();
        let mut before: Option<Instant> = None;
        for sample in self.strokes.iter().flatten() {
            let gap = before.map_or(Span::ZERO, |before| sample.at - before).max(Span::ZERO);
            moments.push(moments.last().map_or(Span::ZERO, |last| *last) + gap);
            before = Some(sample.at);
        }
        moments
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StrokeError {
    /// The file cannot be opened.
    #[error("{path}: {source}")]
    Unreadable { path: String, source: std::io::Error },
    /// A line is not `t_us,x,y,state`.
    #[error("{path}:{line}:{column}: {what}")]
    Malformed {
        path: String,
        /// Counted from one.
        line: usize,
        /// Counted from one.
        column: usize,
        what: String,
    },
}

/// Largest valid number: a day in microseconds. A larger number is neither a time nor a position on a screen.
const LARGEST: f64 = 86_400e6;

/// Reads a recording with the columns `t_us,x,y,state`.
pub fn read(path: &Path) -> Result<StrokeRecording, StrokeError> {
    let name = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|source| StrokeError::Unreadable { path: name.clone(), source })?;
    let title = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    parse(&text, &name, title)
}

/// Parses the text of a recording.
///
/// # Errors
/// With the line and column of an invalid sample; also if no sample follows the header.
pub fn parse(text: &str, path: &str, name: String) -> Result<StrokeRecording, StrokeError> {
    let malformed = |line, column, what| StrokeError::Malformed { path: path.to_owned(), line, column, what };
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let head = lines.next().map(|(index, line)| (index, line.trim_start_matches('\u{feff}').trim()));
    match head {
        Some((_, COLUMNS)) => {}
        Some((index, found)) => {
            return Err(malformed(index + 1, 1, format!("expected the columns `{COLUMNS}`, found `{found}`")));
        }
        None => return Err(malformed(1, 1, "the file is empty".to_owned())),
    }
    let mut strokes: Vec<Vec<PositionSample>> = Vec::new();
    let mut is_up = true;
    let mut before = Instant::ZERO;
    for (index, line) in lines {
        let (sample, state) = sample(line).map_err(|(column, what)| malformed(index + 1, column, what))?;
        // Time goes back where another recording begins.
        let starts = is_up || state == "down" || sample.at < before || sample.at - before > STROKE_GAP;
        match strokes.last_mut() {
            Some(stroke) if !starts => stroke.push(sample),
            _ => strokes.push(vec![sample]),
        }
        (is_up, before) = (state == "up", sample.at);
    }
    if strokes.is_empty() {
        return Err(malformed(1, 1, "no sample follows the header".to_owned()));
    }
    let scale = scale(&mut strokes);
    Ok(StrokeRecording { name, strokes, scale })
}

const COLUMNS: &str = "t_us,x,y,state";

/// A sample and its state; on error the column and the problem.
fn sample(line: &str) -> Result<(PositionSample, &str), (usize, String)> {
    let mut column = 1;
    let mut fields = line.split(',').map(|field| {
        let at = column;
        column += field.chars().count() + 1;
        (at, field.trim())
    });
    let mut next =
        || fields.next().ok_or_else(|| (line.chars().count().max(1), format!("the line ends before `{COLUMNS}`")));
    let mut number = |lowest: f64| {
        let (at, field) = next()?;
        let number = field.parse::<f64>().ok().filter(|number| (lowest..=LARGEST).contains(number));
        number.ok_or_else(|| (at, format!("expected a number for `{COLUMNS}`, found `{field}`")))
    };
    let (micros, x, y) = (number(0.0)?, number(-LARGEST)?, number(-LARGEST)?);
    let (_, state) = next()?;
    Ok((PositionSample { at: Instant::from_nanos(1_000_000_000 + (micros * 1e3) as u64), x, y }, state))
}

/// Converts device units to pixels, and returns the factor. Mouse counts are pixels already; other devices are scaled
/// by the size of the recording.
fn scale(strokes: &mut [Vec<PositionSample>]) -> f64 {
    let larger = larger_side(strokes);
    let factor = if larger > 2.0 * SCREEN_PIXELS { SCREEN_PIXELS / larger } else { 1.0 };
    for sample in strokes.iter_mut().flatten() {
        sample.x *= factor;
        sample.y *= factor;
    }
    factor
}

/// The larger of the width and the height that the samples cover.
fn larger_side(strokes: &[Vec<PositionSample>]) -> f64 {
    let samples = || strokes.iter().flatten();
    let extent = |value: fn(&PositionSample) -> f64| {
        let (low, high) = samples().map(value).fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        (high - low).max(0.0)
    };
    extent(|sample| sample.x).max(extent(|sample| sample.y))
}

/// Names of the compared predictors.
pub const PREDICTORS: [&str; 5] = ["none", "linear", "quadratic", "kalman", "limited"];

/// The errors of a predictor on a recording at each of [`HORIZONS`], in pixels. Each sample of each stroke is one test;
/// the true position is interpolated between the two samples around the target time.
pub fn evaluate(recording: &StrokeRecording, predictor: &str) -> [Summary; HORIZONS.len()] {
    match predictor {
        "linear" => evaluate_with(recording, &mut Linear::new()),
        "quadratic" => evaluate_with(recording, &mut Quadratic::new()),
        "kalman" => evaluate_with(recording, &mut Kalman::new()),
        "limited" => evaluate_with(recording, &mut LimitedPredictor::new()),
        _ => evaluate_with(recording, &mut HoldLastPosition::default()),
    }
}

/// The linear predictor as the compositor uses it: with its limits, and the last position where it gives no prediction.
struct LimitedPredictor {
    tracked: ErrorTracked<Linear>,
    last: HoldLastPosition,
}

impl LimitedPredictor {
    fn new() -> Self {
        LimitedPredictor {
            tracked: ErrorTracked::new(Linear::new(), PredictionLimits::default()),
            last: HoldLastPosition::default(),
        }
    }
}

impl Predictor for LimitedPredictor {
    fn observe(&mut self, sample: PositionSample) {
        self.tracked.observe(sample);
        self.last.observe(sample);
    }

    fn position(&self, at: Instant) -> Option<(f64, f64)> {
        self.tracked.predict(at).map(|predicted| (predicted.x, predicted.y)).or_else(|| self.last.position(at))
    }

    fn reset(&mut self) {
        self.tracked.reset();
        self.last.reset();
    }
}

fn evaluate_with(recording: &StrokeRecording, predictor: &mut impl Predictor) -> [Summary; HORIZONS.len()] {
    let mut errors: [Vec<f32>; HORIZONS.len()] = Default::default();
    for stroke in recording.strokes.iter().filter(|stroke| stroke.len() >= 5) {
        predictor.reset();
        for (index, sample) in stroke.iter().enumerate() {
            predictor.observe(*sample);
            if index < 3 {
                continue;
            }
            for (horizon, errors) in HORIZONS.iter().zip(&mut errors) {
                let at = sample.at + Span::from_millis_f64(*horizon);
                let (Some((x, y)), Some(truth)) = (predictor.position(at), position(&stroke[index..], at)) else {
                    continue;
                };
                errors.push((x - truth.0).hypot(y - truth.1) as f32);
            }
        }
    }
    errors.map(|mut errors| Summary::of(&mut errors))
}

/// Predictions are judged on recordings whose larger side has this many pixels.
const JUDGED_PIXELS: f64 = 1_280.0;
/// A device that is further than this from its report when the frame is seen has moved, in pixels.
const MOVED: f64 = 1.0;

/// Errors in pixels of the positions that clients get for a device.
#[derive(Clone, Copy, Debug)]
pub struct PredictionErrors {
    /// Error of the last report.
    pub held: Summary,
    /// Error of the prediction; of the last report where there is none.
    pub predicted: Summary,
    /// The same two of the reports after which the device moved.
    pub held_moving: Summary,
    pub predicted_moving: Summary,
    /// How far predictions lie beyond the device; 0 where they fall short.
    pub overshoot: Summary,
    /// Reports after which the device moved, and those of them with a prediction.
    pub moving: usize,
    pub told: usize,
}

/// Evaluates the compositor's prediction for the moment `horizon` after each report of a recording.
pub fn prediction_errors(recording: &StrokeRecording, horizon: Span) -> PredictionErrors {
    let (mut held, mut predicted, mut overshoot) = (Vec::new(), Vec::new(), Vec::new());
    let (mut held_moving, mut predicted_moving, mut told) = (Vec::new(), Vec::new(), 0);
    let mut device = DeviceHistory::default();
    for stroke in judged_strokes(recording) {
        device.begin();
        for (index, sample) in stroke.iter().enumerate() {
            device.observe(*sample);
            let at = sample.at + horizon;
            let Some(truth) = position(&stroke[index..], at) else { continue };
            let said = device.predict(at, sample.at, DeviceHistory::HORIZON);
            let (x, y) = said.map_or((sample.x, sample.y), |said| (said.x, said.y));
            let (off, ahead) = ((x - truth.0, y - truth.1), (x - sample.x, y - sample.y));
            let length = ahead.0.hypot(ahead.1);
            let beyond = (off.0 * ahead.0 + off.1 * ahead.1) / length.max(f64::MIN_POSITIVE);
            let (without, with) = ((sample.x - truth.0).hypot(sample.y - truth.1), off.0.hypot(off.1));
            held.push(without as f32);
            predicted.push(with as f32);
            if without >= MOVED {
                held_moving.push(without as f32);
                predicted_moving.push(with as f32);
                told += usize::from(said.is_some());
            }
            // An error backwards from the last report comes from a turn of the hand, so it is no overshoot.
            overshoot.push(beyond.clamp(0.0, length) as f32);
        }
    }
    PredictionErrors {
        held: Summary::of(&mut held),
        predicted: Summary::of(&mut predicted),
        moving: held_moving.len(),
        told,
        held_moving: Summary::of(&mut held_moving),
        predicted_moving: Summary::of(&mut predicted_moving),
        overshoot: Summary::of(&mut overshoot),
    }
}

/// The strokes on which predictions are judged, scaled to [`JUDGED_PIXELS`].
fn judged_strokes(recording: &StrokeRecording) -> Vec<Vec<PositionSample>> {
    let mut strokes = recording.strokes.clone();
    strokes.retain(|stroke| stroke.len() >= 5);
    for stroke in &mut strokes {
        // Many devices repeat the last position when the finger is lifted: the finger had moved on, nobody knows where.
        if let [.., before, last] = stroke[..]
            && (before.x, before.y) == (last.x, last.y)
        {
            stroke.pop();
        }
    }
    let factor = JUDGED_PIXELS / larger_side(&strokes).max(1.0);
    for sample in strokes.iter_mut().flatten() {
        (sample.x, sample.y) = (sample.x * factor, sample.y * factor);
    }
    strokes
}

/// The position at `at`, interpolated between two samples; `None` beyond the end of the stroke.
pub fn position(stroke: &[PositionSample], at: Instant) -> Option<(f64, f64)> {
    let next = stroke.iter().position(|sample| sample.at >= at)?;
    let (before, after) = (stroke[next.saturating_sub(1)], stroke[next]);
    let length = (after.at - before.at).as_seconds_f64();
    let way = if length > 0.0 { (at - before.at).as_seconds_f64() / length } else { 0.0 };
    Some((before.x + way * (after.x - before.x), before.y + way * (after.y - before.y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, "x.csv", "x".into()).unwrap_err().to_string()
    }

    #[test]
    fn strokes_are_cut_at_touches_pauses_and_where_a_finger_is_lifted() {
        let text = "t_us,x,y,state\n0,0,0,down\n8000,1,0,move\n900000,2,0,move\n908000,3,0,down\n916000,4,0,up\n\
                    924000,5,0,hover\n10,5,0,hover\n";
        let recording = parse(text, "x.csv", "x".into()).unwrap();
        assert_eq!(recording.strokes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 2, 1, 1]);
        assert_eq!(recording.scale, 1.0);
        let large = parse("t_us,x,y,state\n0,0,0,down\n8000,4000,0,move\n", "x.csv", "x".into()).unwrap();
        assert_eq!((large.scale, large.strokes[0][1].x), (0.25, 1_000.0));
    }

    #[test]
    fn invalid_recordings_are_rejected_with_line_and_column() {
        assert_eq!(error(""), "x.csv:1:1: the file is empty");
        assert_eq!(error("t_us,x,y,state\n"), "x.csv:1:1: no sample follows the header");
        assert_eq!(error("a,b\n1,2\n"), "x.csv:1:1: expected the columns `t_us,x,y,state`, found `a,b`");
        let after = |row: &str| error(&format!("t_us,x,y,state\n8000,0,0,down\n{row}\n"));
        assert_eq!(after("9000,up,0,down"), "x.csv:3:6: expected a number for `t_us,x,y,state`, found `up`");
        assert_eq!(after("9000,1,0"), "x.csv:3:8: the line ends before `t_us,x,y,state`");
    }

    #[test]
    fn times_and_positions_out_of_range_are_rejected() {
        for wrong in ["83101e99900", "950009999999999999999999900", "NaN", "-inf", "-1"] {
            let text = format!("t_us,x,y,state\n0,0,0,down\n{wrong},1,0,move\n");
            let expected = format!("x.csv:3:1: expected a number for `t_us,x,y,state`, found `{wrong}`");
            assert_eq!(error(&text), expected);
        }
    }

    #[test]
    fn straight_motion_is_predicted_and_standing_still_is_not_worse() {
        let mut text = String::from("t_us,x,y,state\n");
        for index in 0..60 {
            text += &format!("{},{},{},move\n", index * 8_000, index * 4, 100);
        }
        let recording = parse(&text, "x.csv", "x".into()).unwrap();
        let errors = |predictor| evaluate(&recording, predictor)[1].mean;
        assert!((errors("none") - 8.0).abs() < 0.1);
        assert!(errors("linear") < 0.01 && errors("quadratic") < 0.01 && errors("kalman") < 1.0);
    }
}
