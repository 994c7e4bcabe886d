//! Positions of joints, one person per line.

use crate::error::DataError;
use crate::fields::tabs;
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::lines::Lines;
use crate::number::parse_value;

/// The largest distance of a joint from 0, in pixels. Distances between larger numbers could overflow.
const FURTHEST: f64 = 1e9;

/// The position of a joint in pixels.
///
/// ```
/// use maxmargin_io::Joint;
/// let (a, b) = (Joint { x: 1.0, y: 2.0, flag: 0.0 }, Joint { x: 4.0, y: 6.0, flag: 1.0 });
/// assert_eq!(a.distance(&b), 5.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Joint {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    /// Additional data, usually whether the joint is hidden.
    pub flag: f64,
}

impl Joint {
    /// The distance between two joints.
    pub fn distance(&self, other: &Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

/// A person.
///
/// See [`read_poses`].
#[derive(Debug, Clone, PartialEq)]
pub struct Pose {
    /// The name of the image.
    pub name: String,
    /// All joints in the order of the file.
    pub joints: Vec<Joint>,
}

/// Reads people, one per line: a name, then for each joint `x,y,flag`, all between tabs. Blank lines
/// and lines that begin with `#` are skipped.
///
/// ```
/// use maxmargin_io::{Lines, read_poses};
///
/// let text = "#image\tjoints\nim0001\t473.95,552.63,0\t475.46,503.5,1\n";
/// let poses = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
/// assert_eq!((poses[0].name.as_str(), poses[0].joints[1].y), ("im0001", 503.5));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
///
/// # Errors
/// The input cannot be read, a joint is not three finite numbers or lies further than 10⁹ pixels from 0, people have
/// different numbers of joints, or there are none; the message names file, line and what was expected.
pub fn read_poses(mut lines: Lines) -> Result<Vec<Pose>, DataError> {
    let mut poses: Vec<Pose> = Vec::new();
    while lines.advance()? {
        let mut fields = tabs(lines.line());
        let Some((_, name)) = fields.next().filter(|(_, name)| !name.starts_with('#')) else {
            continue;
        };
        let mut joints = Vec::new();
        for (at, text) in fields {
            let wrong = || lines.unexpected(at, "`x,y,flag` of finite numbers", text);
            let numbers: Result<Vec<f64>, _> = text.split(',').map(parse_value).collect();
            let numbers = numbers.map_err(|_| wrong())?;
            let &[x, y, flag] = numbers.as_slice() else { return Err(wrong()) };
            if x.abs().max(y.abs()) > FURTHEST {
                return Err(lines.unexpected(at, "a joint from -1e9 to 1e9 pixels", text));
            }
            joints.push(Joint { x, y, flag });
        }
        let expected = poses.first().map_or(joints.len(), |first| first.joints.len());
        if joints.is_empty() {
            let expected = "a name and then `x,y,flag` for each joint, between tabs";
            return Err(lines.unexpected(0, expected, lines.line()));
        }
        if joints.len() != expected {
            let expected = format!("{expected} joints, as the first person has");
            return Err(lines.unexpected(0, expected, &joints.len().to_string()));
        }
        poses.push(Pose { name: name.to_owned(), joints });
    }
    if poses.is_empty() {
        return Err(DataError::Nothing {
            file: lines.file().to_owned(),
            what: "people".to_owned(),
        });
    }
    Ok(poses)
}

/// Fingerprint of poses.
///
/// ```
/// use maxmargin_io::{Lines, pose_fingerprint, read_poses};
///
/// let read = |text: &'static str| read_poses(Lines::from_reader("people.tsv", text.as_bytes())?);
/// let (one, two) = (read("a\t0,0,0\t1,2,0\n")?, read("a\t0,0,0\t1,3,0\n")?);
/// assert_ne!(pose_fingerprint(&one), pose_fingerprint(&two));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
pub fn pose_fingerprint(people: &[Pose]) -> Fingerprint {
    let mut fingerprinter = Fingerprinter::for_records("poses");
    for pose in people {
        let joints = pose.joints.iter().flat_map(|joint| [joint.x, joint.y, joint.flag]);
        fingerprinter.add_record([pose.name.as_str()], joints);
    }
    fingerprinter.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("", "p.tsv: there are no people"),
            ("#only\n\n", "p.tsv: there are no people"),
            ("a\t1,2\n", "p.tsv:1:3: expected `x,y,flag` of finite numbers, found `1,2`"),
            ("a\t1,nan,0\n", "p.tsv:1:3: expected `x,y,flag` of finite numbers, found `1,nan,0`"),
            (
                "a\t1,2,0\t3,-1e308,0\n",
                "p.tsv:1:9: expected a joint from -1e9 to 1e9 pixels, found `3,-1e308,0`",
            ),
            (
                "a\t1,2,0\nb\n",
                "p.tsv:2:1: expected a name and then `x,y,flag` for each joint, between tabs, found `b`",
            ),
            (
                "a\t1,2,0\nb\t1,2,0\t1,2,0\n",
                "p.tsv:2:1: expected 1 joints, as the first person has, found `2`",
            ),
        ] {
            let lines = Lines::from_reader("p.tsv", text.as_bytes()).unwrap();
            assert_eq!(read_poses(lines).unwrap_err().to_string(), message);
        }
    }
}
