//! Drawing with pixels: lines of any width, filled shapes, all with smooth edges.
//!
//! That is all a plot needs, and it is little enough to be written here rather than to depend on a
//! library for it. Only the four operations and square roots are used, so that all machines draw the
//! same pixels.

/// Lines, each from point to point; where shapes are filled, each is closed.
pub(crate) type Pieces = Vec<Vec<[f64; 2]>>;

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// A picture to draw on. Points are given in units of the layout, of which each has `scale` pixels.
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    scale: f64,
    origin: [f64; 2],
    pub(crate) pixels: Vec<Rgb>,
    /// How much of each pixel the shape in hand covers.
    cover: Vec<f32>,
}

/// Pixels from a first to one past a last.
struct Area {
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
}

/// Each row of pixels is looked at along this many lines.
const LINES: usize = 4;

impl Canvas {
    /// A picture of `size` units whose upper left corner is the point `origin`.
    pub(crate) fn new(size: [f64; 2], origin: [f64; 2], scale: f64, paper: Rgb) -> Self {
        let [width, height] = size.map(|length| ((length * scale).round() as usize).max(1));
        let (pixels, cover) = (vec![paper; width * height], vec![0.0; width * height]);
        Self { width, height, scale, origin, pixels, cover }
    }

    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        [(point[0] - self.origin[0]) * self.scale, (point[1] - self.origin[1]) * self.scale]
    }

    /// The pixels within `margin` of some points.
    fn area(&self, points: impl IntoIterator<Item = [f64; 2]>, margin: f64) -> Area {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in points {
            for k in 0..2 {
                low[k] = low[k].min(point[k]);
                high[k] = high[k].max(point[k]);
            }
        }
        // Casts end at the ends of what can be counted, and an empty set gives an empty area.
        let from = |k: usize, end: usize| ((low[k] - margin).floor().max(0.0) as usize).min(end);
        let to = |k: usize, end: usize| ((high[k] + margin).ceil().max(0.0) as usize).min(end);
        Area {
            columns: from(0, self.width)..to(0, self.width),
            rows: from(1, self.height)..to(1, self.height),
        }
    }

    /// Draws lines with a round pen.
    pub(crate) fn stroke(&mut self, pieces: &[Vec<[f64; 2]>], width: f64, colour: Rgb) {
        let placed: Pieces = pieces
            .iter()
            .map(|piece| piece.iter().map(|&point| self.place(point)).collect())
            .collect();
        let radius = 0.5 * width * self.scale;
        for piece in &placed {
            match piece[..] {
                [dot] => self.cover_segment(dot, dot, radius),
                _ => piece.windows(2).for_each(|ends| self.cover_segment(ends[0], ends[1], radius)),
            }
        }
        let area = self.area(placed.into_iter().flatten(), radius + 1.0);
        self.paint(&area, colour, 1.0);
    }

    /// What a pen covers on its way along a segment; where it has been before, no more than once.
    fn cover_segment(&mut self, from: [f64; 2], to: [f64; 2], radius: f64) {
        let way = [to[0] - from[0], to[1] - from[1]];
        let length_sq = way[0] * way[0] + way[1] * way[1];
        let area = self.area([from, to], radius + 1.0);
        for row in area.rows {
            for column in area.columns.clone() {
                let point = [column as f64 + 0.5 - from[0], row as f64 + 0.5 - from[1]];
                let along = if length_sq > 0.0 {
                    ((point[0] * way[0] + point[1] * way[1]) / length_sq).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let off = [point[0] - along * way[0], point[1] - along * way[1]];
                let distance = (off[0] * off[0] + off[1] * off[1]).sqrt();
                let covered = (radius + 0.5 - distance).clamp(0.0, (2.0 * radius).min(1.0)) as f32;
                let cover = &mut self.cover[row * self.width + column];
                *cover = cover.max(covered);
            }
        }
    }

    /// Fills shapes; what several of them share is filled once.
    pub(crate) fn fill(&mut self, pieces: &[Vec<[f64; 2]>], colour: Rgb, opacity: f64) {
        let placed: Pieces = pieces
            .iter()
            .map(|piece| piece.iter().map(|&point| self.place(point)).collect())
            .collect();
        let area = self.area(placed.iter().flatten().copied(), 1.0);
        // Where edges cross each line, and whether they do so downwards.
        let mut crossings = vec![Vec::new(); area.rows.len() * LINES];
        for piece in &placed {
            for (at, &from) in piece.iter().enumerate() {
                let to = piece[(at + 1) % piece.len()];
                let (upper, lower) = if from[1] < to[1] { (from, to) } else { (to, from) };
                let line = |y: f64| ((y - area.rows.start as f64) * LINES as f64 - 0.5).ceil();
                let (first, last) = (line(upper[1]).max(0.0), line(lower[1]));
                for index in first as usize..(last.max(0.0) as usize).min(crossings.len()) {
                    let y = area.rows.start as f64 + (index as f64 + 0.5) / LINES as f64;
                    let share = (y - upper[1]) / (lower[1] - upper[1]);
                    let x = upper[0] + share * (lower[0] - upper[0]);
                    crossings[index].push((x, from[1] < to[1]));
                }
            }
        }
        for (index, line) in crossings.iter_mut().enumerate() {
            line.sort_by(|a, b| a.0.total_cmp(&b.0));
            let row = area.rows.start + index / LINES;
            let cover = &mut self.cover[row * self.width..][..self.width];
            let mut winding = 0;
            for pair in line.windows(2) {
                winding += if pair[0].1 { 1 } else { -1 };
                if winding != 0 {
                    cover_span(cover, pair[0].0, pair[1].0);
                }
            }
        }
        self.paint(&area, colour, opacity);
    }

    /// Lays colour on what is covered, which then is covered no more.
    fn paint(&mut self, area: &Area, colour: Rgb, opacity: f64) {
        for row in area.rows.clone() {
            for at in row * self.width + area.columns.start..row * self.width + area.columns.end {
                let share = opacity as f32 * self.cover[at].min(1.0);
                self.cover[at] = 0.0;
                if share > 0.0 {
                    for (old, new) in self.pixels[at].iter_mut().zip(colour) {
                        let (below, above) = (f32::from(*old), f32::from(new));
                        *old = (below + share * (above - below)).round() as u8;
                    }
                }
            }
        }
    }
}

/// Adds what one of the lines through a row of pixels covers between two places.
fn cover_span(cover: &mut [f32], from: f64, to: f64) {
    let (from, to) = (from.max(0.0), to.min(cover.len() as f64));
    if from >= to {
        return;
    }
    let weight = 1.0 / LINES as f32;
    let first = from as usize;
    for (at, pixel) in cover.iter_mut().enumerate().take(to.ceil() as usize).skip(first) {
        let inside = to.min(at as f64 + 1.0) - from.max(at as f64);
        *pixel += weight * inside as f32;
    }
}

/// Cuts lines into dashes, given as the lengths of dash and gap in turn. The pen is round: a dash is
/// shorter by its width, so that it ends where it should.
pub(crate) fn dashed(pieces: &[Vec<[f64; 2]>], pattern: &[f64], pen: f64) -> Pieces {
    let whole: f64 = pattern.iter().sum();
    if !(whole > 0.0 && pattern.iter().all(|length| *length > 0.0)) {
        return pieces.to_vec();
    }
    let mut dashes = Vec::new();
    for piece in pieces {
        let (mut turn, mut left) = (0, pattern[0]);
        let mut dash: Vec<[f64; 2]> = piece.first().copied().into_iter().collect();
        for ends in piece.windows(2) {
            let way = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]];
            let length = (way[0] * way[0] + way[1] * way[1]).sqrt();
            let mut done = 0.0;
            while length - done > left {
                done += left;
                let share = done / length;
                let point = [ends[0][0] + share * way[0], ends[0][1] + share * way[1]];
                if turn % 2 == 0 {
                    dash.push(point);
                    dashes.push(trimmed(std::mem::take(&mut dash), 0.5 * pen));
                } else {
                    dash = vec![point];
                }
                turn = (turn + 1) % pattern.len();
                left = pattern[turn];
            }
            left -= length - done;
            if turn % 2 == 0 {
                dash.push(ends[1]);
            }
        }
        if dash.len() > 1 {
            dashes.push(trimmed(dash, 0.5 * pen));
        }
    }
    dashes
}

/// A line without its first and last `off`; what is too short becomes a dot in its middle.
fn trimmed(line: Vec<[f64; 2]>, off: f64) -> Vec<[f64; 2]> {
    let distance =
        |a: [f64; 2], b: [f64; 2]| ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
    let length: f64 = line.windows(2).map(|ends| distance(ends[0], ends[1])).sum();
    let (from, to) =
        if length <= 2.0 * off { (0.5 * length, 0.5 * length) } else { (off, length - off) };
    let mut kept = Vec::new();
    let mut before = 0.0;
    for ends in line.windows(2) {
        let long = distance(ends[0], ends[1]);
        let at = |place: f64| {
            let share = if long > 0.0 { (place - before) / long } else { 0.0 };
            [0, 1].map(|k| ends[0][k] + share * (ends[1][k] - ends[0][k]))
        };
        let (first, last) = (from.max(before), to.min(before + long));
        if first <= last {
            if kept.is_empty() {
                kept.push(at(first));
            }
            kept.push(at(last));
        }
        before += long;
    }
    if kept.is_empty() { line } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Rgb = [0, 0, 0];
    const PAPER: Rgb = [255, 255, 255];

    fn canvas(scale: f64) -> Canvas {
        Canvas::new([10.0, 10.0], [0.0, 0.0], scale, PAPER)
    }

    /// How much ink there is, in units of area.
    fn ink(canvas: &Canvas) -> f64 {
        let dark = |pixel: &Rgb| f64::from(255 - pixel[0]) / 255.0;
        canvas.pixels.iter().map(dark).sum::<f64>() / (canvas.scale * canvas.scale)
    }

    #[test]
    fn shapes_cover_their_areas() {
        for scale in [1.0, 2.0, 8.0] {
            let mut picture = canvas(scale);
            picture.fill(&[vec![[1.2, 1.0], [6.7, 1.0], [6.7, 5.0], [1.2, 5.0]]], INK, 1.0);
            assert!((ink(&picture) - 5.5 * 4.0).abs() < 0.1, "{scale}: {}", ink(&picture));
            let mut picture = canvas(scale);
            picture.fill(&[vec![[5.0, 1.0], [9.0, 9.0], [1.0, 9.0]]], INK, 0.5);
            assert!((ink(&picture) - 16.0).abs() < 0.3, "{scale}: {}", ink(&picture));
            let mut picture = canvas(scale);
            picture.stroke(&[vec![[2.0, 5.0], [8.0, 5.0]]], 2.0, INK);
            let area = 6.0 * 2.0 + std::f64::consts::PI;
            assert!((ink(&picture) - area).abs() < 0.2, "{scale}: {}", ink(&picture));
        }
    }

    #[test]
    fn what_shapes_share_is_filled_once() {
        let square = vec![[1.0, 1.0], [5.0, 1.0], [5.0, 5.0], [1.0, 5.0]];
        let mut picture = canvas(1.0);
        picture.fill(&[square.clone(), square], INK, 0.5);
        assert!((ink(&picture) - 8.0).abs() < 0.1, "{}", ink(&picture));
        let mut picture = canvas(1.0);
        picture.stroke(&[vec![[2.0, 5.0], [8.0, 5.0], [2.0, 5.0]]], 1.0, [100, 100, 100]);
        assert!(picture.pixels.iter().all(|pixel| pixel[0] >= 100));
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        let mut picture = canvas(2.0);
        picture.fill(&[vec![[-50.0, -50.0], [50.0, -50.0], [50.0, 50.0], [-50.0, 50.0]]], INK, 1.0);
        assert!(picture.pixels.iter().all(|pixel| *pixel == INK));
        let mut picture = canvas(2.0);
        picture.stroke(&[vec![[-90.0, -9.0], [-90.0, 99.0]]], 3.0, INK);
        picture.fill(&[], INK, 1.0);
        picture.stroke(&[vec![]], 3.0, INK);
        assert!(picture.pixels.iter().all(|pixel| *pixel == PAPER));
    }

    #[test]
    fn dashes_have_their_lengths() {
        let line = vec![vec![[0.0, 0.0], [4.0, 0.0], [4.0, 7.0]]];
        let dashes = dashed(&line, &[3.0, 2.0], 0.0);
        let expected = [
            vec![[0.0, 0.0], [3.0, 0.0]],
            vec![[4.0, 1.0], [4.0, 4.0]],
            vec![[4.0, 6.0], [4.0, 7.0]],
        ];
        assert_eq!(dashes, expected);
        assert_eq!(dashed(&line, &[], 1.0), line);
        // With a pen as wide as they are long, dashes are dots.
        for dash in dashed(&[vec![[0.0, 0.0], [9.0, 0.0]]], &[2.0, 3.0], 2.0) {
            assert!(dash.iter().all(|point| *point == dash[0]), "{dash:?}");
        }
    }
}
