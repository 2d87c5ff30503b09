//! The stages of frames as inline SVG: time from left to right, a row for each frame.

use std::fmt::Write;

use super::chart::COLOURS;
use crate::animation::FrameTrace;
use upbeat_timing::time::Instant;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 40.0;
const ROW: f64 = 13.0;
/// Colours of the stages, of the lines between them, and of missed refreshes.
const RECORDING: &str = COLOURS[5];
const RENDERING: &str = COLOURS[0];
const WAITING: &str = COLOURS[2];
const SHOWN: &str = COLOURS[1];
const BETWEEN: &str = "#bbbbbb";
const MISSED: &str = "#c62828";

/// The timeline of the frames; empty without frames.
pub fn render(frames: &[FrameTrace]) -> String {
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return String::new() };
    let (start, end) = (first.record_start, last.shown);
    let length = (end - start).as_nanos().max(1) as f64;
    let height = TOP + ROW * frames.len() as f64 + BOTTOM;
    let foot = height - BOTTOM;
    let px = |at: Instant| LEFT + (at - start).as_nanos() as f64 / length * (WIDTH - LEFT - RIGHT);
    let mut svg = format!(r#"<svg viewBox="0 0 {WIDTH} {height}" role="img">"#);
    legend(&mut svg);
    let mut refresh = first.shown;
    while refresh <= end {
        let x = px(refresh);
        // Writing to a String cannot fail.
        let _ = write!(svg, r#"<path d="M{x:.1} {TOP}V{foot:.1}" class="g"/>"#);
        if frames.iter().all(|frame| frame.shown != refresh) {
            mark(&mut svg, (x - 3.0, foot), (6.0, 9.0), MISSED);
        }
        refresh += first.interval;
    }
    for (row, frame) in frames.iter().enumerate() {
        let y = TOP + ROW * row as f64 + 2.0;
        let mut bar = |from, to, colour: &str, is_thin: bool| {
            let (left, right) = (px(from), px(to));
            let (top, high) = if is_thin { (y + 4.0, 1.5) } else { (y, 9.0) };
            mark(&mut svg, (left, top), ((right - left).max(0.5), high), colour);
        };
        bar(frame.record_end, frame.render_start, BETWEEN, true);
        bar(frame.render_end, frame.shown, WAITING, true);
        bar(frame.record_start, frame.record_end, RECORDING, false);
        bar(frame.render_start, frame.render_end, RENDERING, false);
        let (x, middle) = (px(frame.shown), y + 4.5);
        let _ = write!(
            svg,
            r#"<circle cx="{x:.1}" cy="{middle:.1}" r="3" fill="{SHOWN}"/><text x="{:.1}" y="{:.1}" class="y">{}</text>"#,
            LEFT - 8.0,
            y + 9.0,
            frame.number
        );
    }
    axes(&mut svg, length, foot);
    svg.push_str("</svg>");
    svg
}

fn mark(svg: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
    let _ = write!(svg, r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height}" fill="{colour}"/>"#);
}

fn legend(svg: &mut String) {
    let words = [
        (RECORDING, "recording"),
        (BETWEEN, "waits for the renderer"),
        (RENDERING, "rendering"),
        (WAITING, "waits for its refresh"),
        (SHOWN, "shown"),
        (MISSED, "refresh missed"),
    ];
    let mut x = LEFT;
    for (colour, word) in words {
        mark(svg, (x, 2.0), (11.0, 9.0), colour);
        let _ = write!(svg, r#"<text x="{:.1}" y="11" class="s">{word}</text>"#, x + 15.0);
        x += 30.0 + 6.0 * word.len() as f64;
    }
}

/// Adds milliseconds below and frame numbers on the left. `length` is in nanoseconds.
fn axes(svg: &mut String, length: f64, foot: f64) {
    let millis = length / 1e6;
    let step =
        [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3].into_iter().find(|step| millis / step <= 12.0).unwrap_or(millis);
    let mut tick = 0.0;
    while tick <= millis {
        let x = LEFT + tick / millis * (WIDTH - LEFT - RIGHT);
        let _ = write!(
            svg,
            r#"<path d="M{x:.1} {foot:.1}v4" class="a"/><text x="{x:.1}" y="{:.1}" class="n">{tick:.0}</text>"#,
            foot + 20.0
        );
        tick += step;
    }
    let (middle, right) = ((LEFT + WIDTH - RIGHT) / 2.0, WIDTH - RIGHT);
    let _ = write!(
        svg,
        r#"<path d="M{LEFT} {TOP}V{foot:.1}H{right}" class="a"/><text x="{middle:.1}" y="{:.1}" class="n">milliseconds</text><text transform="translate(11 {:.1}) rotate(-90)" class="n">frame</text>"#,
        foot + 36.0,
        (TOP + foot) / 2.0
    );
}
