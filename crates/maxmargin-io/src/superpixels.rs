//! Images divided into superpixels: graphs of regions with features.

use crate::error::{DataError, quote};
use crate::fields::blanks;
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::lines::Lines;
use crate::number::{parse_index, parse_value};
use maxmargin::model::InputError;
use maxmargin::model::potts::{PottsGraphs, contrasts};

/// The features that are made from the numbers of a file of superpixels.
///
/// ```
/// use maxmargin_io::SuperpixelFeatures;
/// assert_eq!(SuperpixelFeatures::default().widths.len(), 5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SuperpixelFeatures {
    /// An edge gets one attribute for each of these: the length of the common boundary, in units of
    /// the side of an average superpixel, times exp(−colour distance / width). Infinity stands for
    /// the plain length.
    pub widths: Vec<f64>,
    /// Whether a node gets an additional attribute, after its others, that is always 1.
    pub bias: bool,
}

impl Default for SuperpixelFeatures {
    fn default() -> Self {
        Self { widths: vec![0.05, 0.1, 0.2, 0.4, f64::INFINITY], bias: true }
    }
}

/// The data of one image in a file of superpixels, besides its graph.
///
/// ```
/// use maxmargin_io::{Lines, SuperpixelFeatures, read_superpixels};
///
/// let text = "G cow test 2 3 1 0\nN 6 4 .5\n";
/// let lines = Lines::from_reader("cow.txt", text.as_bytes())?;
/// let data = read_superpixels(lines, None, &SuperpixelFeatures::default())?;
/// let image = &data.images[0];
/// assert_eq!((image.name.as_str(), image.width, image.pixels[0]), ("cow", 3, (6, 4)));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperpixelImage {
    /// Its name.
    pub name: String,
    /// The part of the data that it belongs to, such as `train`.
    pub split: String,
    /// Height in pixels.
    pub height: u64,
    /// Width in pixels.
    pub width: u64,
    /// For every node, its number of pixels, and the number of these that are foreground.
    pub pixels: Vec<(u64, u64)>,
}

/// Images as labelled graphs: label 1 is foreground, 0 is background, weights of nodes are their
/// numbers of pixels.
///
/// See [`read_superpixels`].
#[derive(Debug, Clone, PartialEq)]
pub struct Superpixels {
    /// One graph per image.
    pub graphs: PottsGraphs,
    /// The images, in the same order.
    pub images: Vec<SuperpixelImage>,
}

/// Reads images that were divided into superpixels, one after the other, of one split or of all.
///
/// ```text
/// #G name split H W nodes edges | N size_px fg_px f1..fn | E i j boundary_len colour_dist (0-based)
/// G horse001 train 236 320 160 430
/// N 773 0 .409 .152 …
/// E 0 1 20 .089
/// ```
///
/// * A line `G` begins an image: its name, its split, height and width in pixels, and how many nodes
///   and edges follow.
/// * A line `N` is a superpixel: its number of pixels, the number of these that belong to the foreground, and its
///   features. All nodes of a file have the same number of features. A node is foreground (label 1) if most of its
///   pixels are.
/// * A line `E` joins two superpixels of the image, numbered from 0: the length of their common boundary in pixels,
///   and the distance of their colours.
/// * Blank lines and lines that begin with `#` are skipped.
///
/// ```
/// use maxmargin_io::{Lines, SuperpixelFeatures, read_superpixels};
///
/// let text = "G cow train 2 4 2 1\nN 4 4 .5 1\nN 4 1 .25 0\nE 0 1 2 .1\n";
/// let lines = Lines::from_reader("cow.txt", text.as_bytes())?;
/// let features = SuperpixelFeatures { widths: vec![f64::INFINITY], bias: true };
/// let data = read_superpixels(lines, Some("train"), &features)?;
/// let graph = data.graphs.graph(0);
/// assert_eq!((graph.labels(), graph.edges()), (&[1, 0][..], &[(0, 1)][..]));
/// assert_eq!(graph.node(1).values, [0.25, 0.0, 1.0]);
/// assert!(graph.edge(0).values.is_empty()); // the boundary is as long as a side: 1
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
///
/// # Errors
/// If the input cannot be read, if a line does not have this layout, or if there is no image of the split. The
/// message names file, line and what was expected.
pub fn read_superpixels(
    lines: Lines,
    split: Option<&str>,
    features: &SuperpixelFeatures,
) -> Result<Superpixels, DataError> {
    let data = Superpixels { graphs: PottsGraphs::new(), images: Vec::new() };
    let mut reader = Reader { lines, features, features_per_node: None, data, splits: Vec::new() };
    while reader.next_line()? {
        reader.read_image(split)?;
    }
    if reader.data.images.is_empty() {
        let file = reader.lines.file().to_owned();
        let what = match split {
            Some(split) if !reader.splits.is_empty() => {
                format!(
                    "images of the split {}; there are {}",
                    quote(split),
                    reader.splits.join(", ")
                )
            }
            _ => "images".to_owned(),
        };
        return Err(DataError::Nothing { file, what });
    }
    Ok(reader.data)
}

impl Superpixels {
    /// Fingerprint of the graphs.
    ///
    /// ```
    /// use maxmargin_io::{Lines, SuperpixelFeatures, read_superpixels};
    ///
    /// let read = |text: &'static str| {
    ///     let lines = Lines::from_reader("cow.txt", text.as_bytes())?;
    ///     read_superpixels(lines, None, &SuperpixelFeatures::default())
    /// };
    /// let (one, two) = (read("G cow test 2 3 1 0\nN 6 4 .5\n")?, read("G cow test 2 3 1 0\nN 6 2 .5\n")?);
    /// assert_ne!(one.fingerprint(), two.fingerprint());
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn fingerprint(&self) -> Fingerprint {
        let mut fingerprinter = Fingerprinter::for_records("superpixels");
        for (graph, image) in self.graphs.iter().zip(&self.images) {
            let labels = graph.labels().iter().map(|&label| f64::from(label));
            fingerprinter.add_record([image.name.as_str()], labels);
            for v in 0..graph.nodes() {
                let pairs = graph.node(v).pairs().flat_map(|(a, value)| [f64::from(a), value]);
                fingerprinter.add_record([], [graph.node_weight(v)].into_iter().chain(pairs));
            }
            for (e, &(a, b)) in graph.edges().iter().enumerate() {
                let pairs = graph.edge(e).pairs().flat_map(|(a, value)| [f64::from(a), value]);
                fingerprinter.add_record([], [a, b].map(f64::from).into_iter().chain(pairs));
            }
        }
        fingerprinter.finish()
    }

    /// Returns the images that are kept.
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let images = self.images.iter().enumerate().filter(|(i, _)| keep(*i));
        let images = images.map(|(_, image)| image.clone()).collect();
        Self { graphs: self.graphs.select(keep), images }
    }
}

struct Reader<'a> {
    lines: Lines,
    features: &'a SuperpixelFeatures,
    /// The number of features of the first node.
    features_per_node: Option<usize>,
    data: Superpixels,
    /// All splits that were seen.
    splits: Vec<String>,
}

impl Reader<'_> {
    /// Goes to the next line that is neither blank nor a comment.
    fn next_line(&mut self) -> Result<bool, DataError> {
        while self.lines.advance()? {
            if blanks(self.lines.line()).next().is_some_and(|(_, first)| !first.starts_with('#')) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the image whose first line is the current one.
    fn read_image(&mut self, wanted: Option<&str>) -> Result<(), DataError> {
        let (lines, layout) = (&self.lines, "`G name split height width nodes edges`");
        let fields: Vec<(usize, &str)> = blanks(lines.line()).collect();
        let &[(_, "G"), (_, name), (_, split), height, width, nodes, edges] = fields.as_slice()
        else {
            return Err(lines.unexpected(0, layout, lines.line()));
        };
        let [height, width, nodes, edges] = [
            length(lines, height, "the height of the image")?,
            length(lines, width, "the width of the image")?,
            count(lines, nodes, "the number of nodes")?,
            count(lines, edges, "the number of edges")?,
        ];
        let side = ((height * width) as f64 / nodes.max(1) as f64).sqrt();
        let image = SuperpixelImage {
            name: name.to_owned(),
            split: split.to_owned(),
            height,
            width,
            pixels: Vec::new(),
        };
        let place = lines.place(0);
        if !self.splits.contains(&image.split) {
            self.splits.push(image.split.clone());
        }
        let keep = wanted.is_none_or(|wanted| wanted == image.split);
        let mut image = image;
        for node in 0..nodes {
            let what = format!("node {node} of {nodes} of the image {}", quote(&image.name));
            self.member(&what)?;
            let pixels = self.read_node(keep)?;
            image.pixels.push(pixels);
        }
        for edge in 0..edges {
            let what = format!("edge {edge} of {edges} of the image {}", quote(&image.name));
            self.member(&what)?;
            self.read_edge(nodes, side, keep)?;
        }
        if keep {
            let wrong = |error: InputError| DataError::Syntax {
                place,
                expected: "an image with nodes".to_owned(),
                found: error.to_string(),
            };
            self.data.graphs.end_graph(1.0).map_err(wrong)?;
            self.data.images.push(image);
        }
        Ok(())
    }

    /// Goes to the next line, which must exist.
    fn member(&mut self, what: &str) -> Result<(), DataError> {
        if self.next_line()? { Ok(()) } else { Err(self.lines.unexpected(0, what, "")) }
    }

    fn read_node(&mut self, keep: bool) -> Result<(u64, u64), DataError> {
        let lines = &self.lines;
        let mut fields = blanks(lines.line());
        let (Some((_, "N")), Some(size), Some(foreground)) =
            (fields.next(), fields.next(), fields.next())
        else {
            return Err(lines.unexpected(0, "`N pixels foreground features…`", lines.line()));
        };
        let at = foreground.0;
        let pixels = count(lines, size, "the number of pixels")?;
        let foreground = count(lines, foreground, "the number of foreground pixels")?;
        if foreground > pixels {
            let expected = format!("at most {pixels} foreground pixels");
            return Err(lines.unexpected(at, expected, &foreground.to_string()));
        }
        let mut values = Vec::new();
        for (at, text) in fields {
            let wrong = |expected| {
                lines.unexpected(at, format!("{expected} as feature {}", values.len() + 1), text)
            };
            values.push(parse_value(text).map_err(wrong)?);
        }
        let expected = *self.features_per_node.get_or_insert(values.len());
        if values.len() != expected {
            let wanted = format!("{expected} features, as the first node has");
            return Err(lines.unexpected(0, wanted, &values.len().to_string()));
        }
        if self.features.bias {
            values.push(1.0);
        }
        if keep {
            let label = u32::from(foreground > pixels - foreground);
            let attributes = (0..).zip(values);
            let added = self.data.graphs.push_node(attributes, label, pixels as f64);
            added.map_err(|error| lines.unexpected(0, "a node", &error.to_string()))?;
        }
        Ok((pixels, foreground))
    }

    fn read_edge(&mut self, nodes: u64, side: f64, keep: bool) -> Result<(), DataError> {
        let lines = &self.lines;
        let fields: Vec<(usize, &str)> = blanks(lines.line()).collect();
        let &[(_, "E"), a, b, length, distance] = fields.as_slice() else {
            let layout = "`E node node boundary_length colour_distance`";
            return Err(lines.unexpected(0, layout, lines.line()));
        };
        let mut ends = [0; 2];
        for (end, (at, text)) in ends.iter_mut().zip([a, b]) {
            let node = parse_index(text).filter(|&node| node < nodes);
            let expected = format!("a node from 0 to {}", nodes.saturating_sub(1));
            *end = node.ok_or_else(|| lines.unexpected(at, expected, text))? as u32;
        }
        if ends[0] == ends[1] {
            return Err(lines.unexpected(b.0, "another node than the first", b.1));
        }
        let amount = |(at, text): (usize, &str)| {
            let wrong = |expected| lines.unexpected(at, format!("{expected}, at least 0"), text);
            match parse_value(text) {
                Ok(value) if value >= 0.0 => Ok(value),
                Ok(_) => Err(wrong("a number")),
                Err(expected) => Err(wrong(expected)),
            }
        };
        let (length, distance) = (amount(length)?, amount(distance)?);
        if keep {
            let attributes = contrasts(length / side, distance, &self.features.widths);
            let added = self.data.graphs.push_edge(ends[0], ends[1], attributes);
            added.map_err(|error| lines.unexpected(0, "an edge", &error.to_string()))?;
        }
        Ok(())
    }
}

/// Reads a whole number that is so small that sums and products of such numbers cannot overflow.
fn count(lines: &Lines, (at, text): (usize, &str), what: &str) -> Result<u64, DataError> {
    let number = parse_index(text).ok_or_else(|| lines.unexpected(at, what, text))?;
    if number > u64::from(u32::MAX) {
        return Err(lines.unexpected(at, format!("{what}, below 2³²"), text));
    }
    Ok(number)
}

/// Reads the length of a side of an image in pixels.
fn length(lines: &Lines, field: (usize, &str), what: &str) -> Result<u64, DataError> {
    match count(lines, field, what)? {
        0 => Err(lines.unexpected(field.0, format!("{what}, 1 or more"), field.1)),
        length => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, split: Option<&str>) -> Result<Superpixels, String> {
        let lines = Lines::from_reader("file", text.to_owned().into_bytes().leak() as &[u8]);
        read_superpixels(lines.unwrap(), split, &SuperpixelFeatures::default())
            .map_err(|error| error.to_string())
    }

    const TWO: &str = "#comment\nG a train 2 2 2 1\nN 2 2 1 2\nN 2 1 3 4\nE 0 1 2 0\n\n\
                       G b test 1 1 1 0\nN 1 0 5 6\n";

    #[test]
    fn splits_are_chosen() {
        assert_eq!(read(TWO, None).unwrap().graphs.len(), 2);
        let test = read(TWO, Some("test")).unwrap();
        assert_eq!((test.graphs.len(), test.images[0].name.as_str()), (1, "b"));
        assert_eq!(test.graphs.graph(0).node(0).values, [5.0, 6.0, 1.0]);
        // A tie is background.
        assert_eq!(read(TWO, None).unwrap().graphs.graph(0).labels(), [1, 0]);
        let error = read(TWO, Some("dev")).unwrap_err();
        assert_eq!(error, "file: there are no images of the split `dev`; there are train, test");
        assert_eq!(read("", None).unwrap_err(), "file: there are no images");
    }

    #[test]
    fn mistakes_are_named() {
        let image = "G a train 2 2 2 1\n";
        for (text, message) in [
            (
                "N 1 1 1\n",
                "file:1:1: expected `G name split height width nodes edges`, found `N 1 1 1`",
            ),
            ("G a train 2 x 2 1\n", "file:1:13: expected the width of the image, found `x`"),
            ("G a t 0 2 2 1\n", "file:1:7: expected the height of the image, 1 or more, found `0`"),
            (
                "G a t 9 4294967296 2 1\n",
                "file:1:9: expected the width of the image, below 2³², found `4294967296`",
            ),
            (
                "G a train 2 2 0 0\n",
                "file:1:1: expected an image with nodes, found a graph needs at least one node",
            ),
            (
                "G a train 2 2 2 1\nN 1 0 .5\n",
                "file:2:1: expected node 1 of 2 of the image `a`, found nothing",
            ),
            (
                "G a t 2 2 1 0\nN 1 2 .5\n",
                "file:2:5: expected at most 1 foreground pixels, found `2`",
            ),
            (
                "G a t 2 2 1 0\nN 1 1 .5 nan\n",
                "file:2:10: expected a finite number as feature 2, found `nan`",
            ),
            (
                "G a t 2 2 2 0\nN 1 1 .5 1\nN 1 1 2\n",
                "file:3:1: expected 2 features, as the first node has, found `1`",
            ),
        ] {
            assert_eq!(read(text, None).unwrap_err(), message);
        }
        for (edge, message) in [
            ("E 0 2 1 1", "file:4:5: expected a node from 0 to 1, found `2`"),
            ("E 1 1 1 1", "file:4:5: expected another node than the first, found `1`"),
            ("E 0 1 -1 1", "file:4:7: expected a number, at least 0, found `-1`"),
            (
                "E 0 1 1",
                "file:4:1: expected `E node node boundary_length colour_distance`, found `E 0 1 1`",
            ),
        ] {
            let text = format!("{image}N 1 1 1\nN 1 1 1\n{edge}\n");
            assert_eq!(read(&text, None).unwrap_err(), message);
        }
    }
}
