//! Draws bar charts for a terminal, and as an SVG picture.

use std::fmt::Write;

use graphiti_proto::methods::stats::StatsRow;

use crate::screen::line;

/// Length, in columns, of the longest bar on a narrow screen.
const NARROW: u64 = 10;
/// Length, in columns, of the longest bar on a wide screen.
const WIDE: u64 = 20;
/// Minimum width, in columns, of a wide screen.
const WIDE_SCREEN: usize = 100;

/// Bars for values. The largest value has the longest bar.
pub(super) struct Bars {
    most: u64,
    width: u64,
}

impl Bars {
    /// Creates bars for a screen with this number of columns.
    pub(super) fn new(values: impl Iterator<Item = u64>, columns: usize) -> Bars {
        let width = if columns >= WIDE_SCREEN { WIDE } else { NARROW };
        Bars { most: values.max().unwrap_or(0).max(1), width }
    }

    /// Returns the bar of a value, rounded down to eighths of a column. A value above 0 has at
    /// least one eighth.
    pub(super) fn bar(&self, value: u64) -> String {
        const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = u128::from(value) * u128::from(self.width) * 8 / u128::from(self.most);
        let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(value > 0));
        format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
    }
}

/// Draws the time and the number of sessions of each row.
pub(super) fn svg(title: &str, rows: &[StatsRow]) -> String {
    const ROW: usize = 20;
    const LABEL: usize = 180;
    const BAR: usize = 400;
    let most = rows.iter().map(|row| row.seconds).max().unwrap_or(0).max(1);
    let height = ROW * (rows.len() + 2);
    let width = LABEL + BAR + 160;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>text {{ fill: #222 }} rect {{ fill: #3a7ca5 }} @media (prefers-color-scheme: dark) \
         {{ text {{ fill: #ddd }} rect {{ fill: #7fc8f8 }} }}</style>\n\
         <title>{0}</title>\n<text x=\"8\" y=\"16\" font-weight=\"bold\">{0}</text>\n",
        escaped(title)
    );
    for (at, row) in rows.iter().enumerate() {
        let top = ROW * (at + 1) + 4;
        let base = top + 13;
        let length = u128::from(row.seconds) * BAR as u128 / u128::from(most);
        let name = escaped(row.name.rsplit('/').next().unwrap_or_default());
        let hours = row.seconds / 3_600;
        let minutes = row.seconds / 60 % 60;
        let sessions = row.sessions;
        let end = LABEL + usize::try_from(length).unwrap_or(BAR) + 6;
        // Writing to a string cannot fail.
        let _ = writeln!(
            picture,
            "<text x=\"8\" y=\"{base}\">{name}</text><rect x=\"{LABEL}\" y=\"{top}\" width=\"{length}\" height=\"16\"/>\
             <text x=\"{end}\" y=\"{base}\">{hours} h {minutes:02} min, {sessions}</text>"
        );
    }
    picture.push_str("</svg>");
    picture
}

fn escaped(text: &str) -> String {
    let text = line(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_relative_to_the_largest_value() {
        let bars = Bars::new([0, 1, 80, 160, 1_000_000].into_iter(), 120);
        assert_eq!(bars.bar(0), "");
        assert_eq!(bars.bar(1), "▏");
        assert_eq!(bars.bar(1_000_000), "█".repeat(20));
        assert_eq!(bars.bar(525_000), format!("{}▌", "█".repeat(10)));
        assert_eq!(Bars::new([].into_iter(), 80).bar(0), "");
    }

    #[test]
    fn a_picture_has_a_bar_for_each_row_and_escapes_markup() {
        let row = |name: &str, seconds| StatsRow {
            name: name.to_owned(),
            seconds,
            sessions: 2,
            ..StatsRow::default()
        };
        let picture = svg("Work & <more>", &[row("/w/<script>", 3_600), row("b\"", 0)]);
        assert_eq!(picture.matches("<rect").count(), 2);
        assert!(picture.contains("Work &amp; &lt;more&gt;") && !picture.contains("<script"));
        assert!(picture.contains("width=\"400\"") && picture.contains("1 h 00 min, 2"));
    }
}
