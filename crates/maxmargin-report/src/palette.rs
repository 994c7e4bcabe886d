//! Colours, for light and for dark pages. The tests check their contrast.

/// Name of the CSS variable, colour on light pages, colour on dark pages.
pub(crate) type Colour = (&'static str, &'static str, &'static str);

/// The colours of lines and bars, in their order of use; told apart by colour-blind readers too.
pub(crate) const SERIES: [Colour; 8] = [
    ("s0", "#0a62a9", "#6db3f2"),
    ("s1", "#b84800", "#ff9b5e"),
    ("s2", "#00775a", "#4fd1a5"),
    ("s3", "#a0347e", "#f08cc8"),
    ("s4", "#7a5b00", "#e0c050"),
    ("s5", "#5b4bc4", "#b3a6ff"),
    ("s6", "#4a4f57", "#c3c8cf"),
    ("s7", "#0b6f80", "#6fd3e8"),
];

/// The page behind everything.
pub(crate) const PAGE: Colour = ("page", "#f7f6f2", "#14171a");
/// Cards and figures.
pub(crate) const CARD: Colour = ("card", "#ffffff", "#1c2024");
/// Text.
pub(crate) const INK: Colour = ("ink", "#1b1f24", "#e8eaec");
/// Less important text.
pub(crate) const MUTED: Colour = ("muted", "#565d66", "#a6aeb7");
/// Hairlines and grids, which carry no information.
pub(crate) const RULE: Colour = ("rule", "#dcdad2", "#343a41");
/// Borders of controls.
pub(crate) const EDGE: Colour = ("edge", "#83878d", "#747b84");
/// Good news.
pub(crate) const GOOD: Colour = ("good", "#0b6b3a", "#63d297");
/// A warning.
pub(crate) const WARN: Colour = ("warn", "#8a5300", "#f2b45a");
/// Bad news and errors.
pub(crate) const BAD: Colour = ("bad", "#b3261e", "#ff9189");

const PLAIN: [Colour; 9] = [PAGE, CARD, INK, MUTED, RULE, EDGE, GOOD, WARN, BAD];

/// Positive values of diverging pictures, on light and on dark pages.
const POSITIVE: [u8; 3] = [0x2f, 0x7d, 0xc8];
/// Negative values.
const NEGATIVE: [u8; 3] = [0xd9, 0x66, 0x1a];

/// Which colours a figure uses.
///
/// ```
/// assert_eq!(maxmargin_report::Theme::default(), maxmargin_report::Theme::Light);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Dark on white, for paper.
    #[default]
    Light,
    /// Light on black.
    Dark,
    /// Whatever the reader's system prefers.
    Auto,
}

/// The CSS variables of a page.
pub(crate) fn variables() -> String {
    let list = |pick: fn(&Colour) -> &'static str| {
        let mut text = String::new();
        for colour in PLAIN.iter().chain(&SERIES) {
            text.push_str(&format!("--{}:{};", colour.0, pick(colour)));
        }
        text
    };
    let rgb = |[r, g, b]: [u8; 3]| format!("{r} {g} {b}");
    let mut css = format!(
        ":root{{{}--pos:{};--neg:{};}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
        list(|colour| colour.1),
        rgb(POSITIVE),
        rgb(NEGATIVE),
        list(|colour| colour.2)
    );
    for index in 0..SERIES.len() {
        css.push_str(&format!(".c{index}{{--c:var(--s{index})}}"));
    }
    css.push('\n');
    css
}

/// The style of a figure on its own: plain colours, since many viewers know no CSS variables.
pub(crate) fn figure_style(theme: Theme) -> String {
    let rules = |pick: fn(&Colour) -> &'static str| {
        let (ink, muted, rule) = (pick(&INK), pick(&MUTED), pick(&RULE));
        let mut text = format!(
            ".paper{{fill:{}}}text{{fill:{ink}}}.tick,.dim{{fill:{muted}}}.grid{{stroke:{rule}}}\
             .axis,.guide{{stroke:{muted}}}",
            pick(&CARD)
        );
        for (index, colour) in SERIES.iter().enumerate() {
            let colour = pick(colour);
            text.push_str(&format!(
                ".line.c{index}{{stroke:{colour}}}.band.c{index},.mark.c{index}{{fill:{colour}}}"
            ));
        }
        text
    };
    let base = "text{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}.name{font-weight:600}\
                .grid,.axis,.guide{stroke-width:1;fill:none}.guide{stroke-dasharray:2 4}\
                .line{fill:none;stroke-width:2;stroke-linejoin:round}\
                .band{fill-opacity:.2}";
    match theme {
        Theme::Light => format!("{base}{}", rules(|colour| colour.1)),
        Theme::Dark => format!("{base}{}", rules(|colour| colour.2)),
        Theme::Auto => format!(
            "{base}{}@media (prefers-color-scheme:dark){{{}}}",
            rules(|colour| colour.1),
            rules(|colour| colour.2)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn contrasts_reach_wcag_aa() {
        let text = [INK, MUTED, GOOD, WARN, BAD];
        for paper in [PAGE, CARD] {
            for colour in text.iter().chain(&SERIES) {
                let light = contrast(colour.1, paper.1);
                let dark = contrast(colour.2, paper.2);
                assert!(light >= 4.5 && dark >= 4.5, "{}: {light:.2} {dark:.2}", colour.0);
            }
            assert!(contrast(EDGE.1, paper.1) >= 3.0 && contrast(EDGE.2, paper.2) >= 3.0);
        }
        for [r, g, b] in [POSITIVE, NEGATIVE] {
            let hex = format!("#{r:02x}{g:02x}{b:02x}");
            assert!(contrast(&hex, CARD.1) >= 3.0 && contrast(&hex, CARD.2) >= 3.0, "{hex}");
        }
    }
}
