//! Charts as inline SVG.

use std::fmt::Write;

/// Colours of series, readable on white, told apart by most colour-blind readers (Okabe and Ito).
pub const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#a08c00"];

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;

/// An axis of a chart.
#[derive(Clone, Copy, Debug)]
pub struct ChartAxis<'a> {
    pub low: f64,
    pub high: f64,
    /// Logarithmic; both ends must be positive.
    pub log: bool,
    pub label: &'a str,
}

impl ChartAxis<'_> {
    fn way(&self, value: f64) -> f64 {
        let way = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        way.clamp(0.0, 1.0)
    }

    /// About six round numbers; powers and halves of ten on a logarithmic axis.
    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let mut ticks = Vec::new();
            let mut decade = 10_f64.powf(self.low.log10().floor());
            while decade <= self.high * 1.0001 {
                ticks.extend([1.0, 2.0, 5.0].map(|step| step * decade));
                decade *= 10.0;
            }
            ticks.retain(|tick| (self.low * 0.999..=self.high * 1.001).contains(tick));
            return ticks;
        }
        let rough = (self.high - self.low) / 6.0;
        let decade = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

/// A chart under construction.
pub struct Chart<'a> {
    x: ChartAxis<'a>,
    y: ChartAxis<'a>,
    body: String,
    legend: Vec<(String, &'static str)>,
}

impl<'a> Chart<'a> {
    pub fn new(x: ChartAxis<'a>, y: ChartAxis<'a>) -> Self {
        Chart { x, y, body: String::new(), legend: Vec::new() }
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + self.x.way(x) * (WIDTH - LEFT - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.way(y) * (HEIGHT - TOP - BOTTOM)
    }

    fn colour(&mut self, name: &str) -> &'static str {
        if let Some((_, colour)) = self.legend.iter().find(|(other, _)| other == name) {
            return colour;
        }
        let colour = COLOURS[self.legend.len() % COLOURS.len()];
        self.legend.push((name.to_owned(), colour));
        colour
    }

    /// Adds a line through points, with a mark at each if `marks`.
    pub fn line(&mut self, name: &str, points: &[(f64, f64)], marks: bool) {
        let colour = self.colour(name);
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{:.1},{:.1}", self.px(*x), self.py(*y))).collect();
        let _ = write!(
            self.body,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="1.8"/>"#,
            path.join(" ")
        );
        if marks {
            for (x, y) in points {
                let (x, y) = (self.px(*x), self.py(*y));
                let _ = write!(self.body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#);
            }
        }
    }

    /// Adds a bar from the axis to `y`, between two x, with a number on it.
    pub fn bar(&mut self, name: &str, from: f64, to: f64, y: f64, label: &str) {
        let colour = self.colour(name);
        let (left, right, top, bottom) = (self.px(from), self.px(to), self.py(y), self.py(self.y.low));
        let _ = write!(
            self.body,
            r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" fill="{colour}"/>"#,
            (right - left).max(0.5),
            (bottom - top).max(0.0)
        );
        if !label.is_empty() {
            let (x, y) = ((left + right) / 2.0, top - 3.0);
            let _ = write!(self.body, r#"<text x="{x:.1}" y="{y:.1}" class="n">{}</text>"#, escape(label));
        }
    }

    /// Adds a label under the x axis.
    pub fn category(&mut self, x: f64, label: &str) {
        let (x, y) = (self.px(x), HEIGHT - BOTTOM + 15.0);
        let _ = write!(self.body, r#"<text x="{x:.1}" y="{y:.1}" class="n">{}</text>"#, escape(label));
    }

    /// Adds a dashed vertical line with a label at its foot.
    pub fn marker(&mut self, x: f64, label: &str) {
        let (x, top, bottom) = (self.px(x), TOP, HEIGHT - BOTTOM);
        let _ = write!(
            self.body,
            r#"<path d="M{x:.1} {top}V{bottom}" class="d"/><text x="{:.1}" y="{:.1}" class="s">{}</text>"#,
            x + 4.0,
            bottom - 8.0,
            escape(label)
        );
    }

    /// The finished SVG; with `categories` the x axis has no numbers.
    pub fn finish(self, categories: bool) -> String {
        let mut svg = format!(r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">"#);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in self.y.ticks() {
            let y = self.py(tick);
            let _ = write!(
                svg,
                r#"<path d="M{LEFT} {y:.1}H{right}" class="g"/><text x="{:.1}" y="{:.1}" class="y">{}</text>"#,
                LEFT - 6.0,
                y + 4.0,
                short(tick)
            );
        }
        if !categories {
            for tick in self.x.ticks() {
                let x = self.px(tick);
                let _ = write!(
                    svg,
                    r#"<path d="M{x:.1} {bottom}v4" class="a"/><text x="{x:.1}" y="{:.1}" class="n">{}</text>"#,
                    bottom + 16.0,
                    short(tick)
                );
            }
        }
        svg.push_str(&self.body);
        let _ = write!(svg, r#"<path d="M{LEFT} {TOP}V{bottom}H{right}" class="a"/>"#);
        let middle = (LEFT + right) / 2.0;
        let _ = write!(
            svg,
            r#"<text x="{middle:.1}" y="{:.1}" class="n">{}</text><text transform="translate(13 {:.1}) rotate(-90)" class="n">{}</text>"#,
            HEIGHT - 8.0,
            escape(self.x.label),
            (TOP + bottom) / 2.0,
            escape(self.y.label)
        );
        for (index, (name, colour)) in self.legend.iter().enumerate() {
            let y = TOP + 8.0 + 18.0 * index as f64;
            let _ = write!(
                svg,
                r#"<rect x="{:.1}" y="{:.1}" width="11" height="11" fill="{colour}"/><text x="{:.1}" y="{:.1}" class="s">{}</text>"#,
                right + 12.0,
                y - 9.0,
                right + 28.0,
                y + 1.0,
                escape(name)
            );
        }
        svg.push_str("</svg>");
        svg
    }
}

/// A number rounded to its meaningful digits.
fn short(value: f64) -> String {
    let text = if value.abs() >= 10.0 || value == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, log: bool) -> ChartAxis<'static> {
        ChartAxis { low, high, log, label: "x" }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(axis(0.0, 100.0, false).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(axis(0.2, 20.0, true).ticks(), [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!([0.0, 0.5, 20.0, 1.25].map(short), ["0", "0.5", "20", "1.25"]);
    }

    #[test]
    fn names_are_escaped_and_each_has_one_colour() {
        let mut chart = Chart::new(axis(0.0, 1.0, false), axis(0.0, 1.0, false));
        chart.line("a<b", &[(0.0, 0.0), (1.0, 1.0)], false);
        chart.bar("a<b", 0.0, 0.5, 1.0, "");
        let svg = chart.finish(false);
        assert_eq!(svg.matches("a&lt;b").count(), 1);
        assert!(!svg.contains("a<b"));
    }
}
