//! Writing and opening converted files.

use super::header::{Array, FIRST, Header, MAGIC, VERSION, aligned, sum_of};
use super::reader::ConvertedReader;
use crate::atomic::{SaveError, atomic_write};
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::names::Names;
use maxmargin::model::chain::{SequenceColumns, Sequences};
use maxmargin::model::{Column, Offsets};
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Writes a data set to a file that is used without being parsed. [`read_by_name`](crate::read_by_name) returns
/// such data sets.
///
/// # Errors
/// The file cannot be written.
///
/// ```
/// use maxmargin_io::{Lines, Source, open_reader, read_by_name, read_training, save_converted};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("pets.data");
/// let open = || open_reader(Lines::from_reader("pets.txt", "noun\tw=cat\n".as_bytes())?, None);
/// save_converted(&path, read_by_name(open()?)?)?;
/// assert_eq!(read_training(Source::File(path).open(None)?)?, read_training(open()?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_converted(path: impl AsRef<Path>, data: Dataset) -> Result<(), SaveError> {
    let path = path.as_ref();
    let fail = |reason: io::Error| SaveError { path: path.into(), reason };
    let Dataset { sequences, labels, attributes, fingerprint, format, template } = data;
    let columns = sequences.into_columns();
    let (label_text, label_ends) = flat(&labels);
    let (attribute_text, attribute_ends) = flat(&attributes);
    let parts: [(&str, usize, &[u8]); 11] = [
        offsets("sequences", &columns.sequences),
        offsets("tokens", &columns.tokens),
        ("attributes", 4, bytemuck::cast_slice(&columns.attributes)),
        ("values", 8, bytemuck::cast_slice(&columns.values)),
        ("labels", 4, bytemuck::cast_slice(&columns.labels)),
        ("weights", 8, bytemuck::cast_slice(&columns.weights)),
        ("costs", 8, bytemuck::cast_slice(&columns.costs)),
        ("label-text", 1, label_text.as_bytes()),
        ("label-ends", 8, bytemuck::cast_slice(&label_ends)),
        ("attribute-text", 1, attribute_text.as_bytes()),
        ("attribute-ends", 8, bytemuck::cast_slice(&attribute_ends)),
    ];
    if cfg!(target_endian = "big") {
        let why = "converted files are little-endian, which this machine is not";
        return Err(fail(io::Error::new(io::ErrorKind::Unsupported, why)));
    }
    let (mut arrays, mut start) = (Vec::new(), 0);
    for (name, width, bytes) in parts {
        let (name, length) = (name.to_owned(), bytes.len());
        arrays.push(Array { name, width, start, length, sum: sum_of(bytes) });
        start = aligned(start + length).unwrap_or(usize::MAX);
    }
    let header = Header { format, fingerprint, template, arrays };
    let mut header = serde_json::to_vec(&header).map_err(|error| fail(io::Error::other(error)))?;
    let length = aligned(FIRST + header.len()).unwrap_or(usize::MAX) - FIRST;
    header.resize(length, b' ');
    atomic_write(path, |to| {
        let mut write = || {
            to.write_all(MAGIC)?;
            to.write_all(&[VERSION])?;
            to.write_all(&(header.len() as u64).to_le_bytes())?;
            to.write_all(&xxhash_rust::xxh3::xxh3_64(&header).to_le_bytes())?;
            to.write_all(&header)?;
            for (_, _, bytes) in parts {
                to.write_all(bytes)?;
                let rest = aligned(bytes.len()).unwrap_or(bytes.len()) - bytes.len();
                to.write_all(&vec![0; rest])?;
            }
            Ok(())
        };
        write().map_err(fail)
    })
}

/// All names back to back, and the end of each.
fn flat(names: &Names) -> (String, Vec<u64>) {
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(names.len()));
    for name in names.iter() {
        text.push_str(name);
        ends.push(text.len() as u64);
    }
    (text, ends)
}

fn offsets<'a>(name: &'static str, offsets: &'a Offsets) -> (&'static str, usize, &'a [u8]) {
    match offsets {
        Offsets::Short(short) => (name, 4, bytemuck::cast_slice(short)),
        Offsets::Long(long) => (name, 8, bytemuck::cast_slice(long)),
    }
}

/// Whether a path is a converted file, of any version. Only regular files can be.
pub(crate) fn is_converted(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == *MAGIC
}

/// Opens a converted file.
pub(crate) fn open_converted(path: &Path) -> Result<ConvertedReader, DataError> {
    let file = path.display().to_string();
    let map = File::open(path).and_then(|open| map(&open));
    let map = match map {
        Ok(map) => Arc::new(map),
        Err(error) => return Err(DataError::Read { file, error }),
    };
    let data = Opened::new(map).and_then(Opened::dataset);
    match data {
        Ok(data) => Ok(ConvertedReader::new(file, data)),
        Err(why) => Err(DataError::Converted { file, why }),
    }
}

/// Maps a file into memory.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the memory is only ever read, as bytes or as numbers for which all bytes are valid. Every number was
    // checked before safe code uses it as an index, and safe code checks again. Rust cannot rule out that another
    // program changes the file meanwhile. We write converted files under another name and then rename them, so we
    // never change a file that is open. If another program cuts or overwrites the file in place, the reader gets
    // wrong numbers, a panic or a bus error, as with any mapped file, but it never writes to memory through the
    // map.
    unsafe { Mmap::map(file) }
}

/// A file whose header is valid.
struct Opened {
    map: Arc<Mmap>,
    header: Header,
    /// Where the arrays begin.
    base: usize,
}

impl Opened {
    fn new(map: Arc<Mmap>) -> Result<Self, String> {
        let breaks_off = || "it breaks off".to_owned();
        let first = map.get(..FIRST).ok_or_else(breaks_off)?;
        if first[MAGIC.len()] != VERSION {
            let found = first[MAGIC.len()];
            return Err(format!(
                "it has the layout {found}, where this version knows {VERSION}; convert the data again"
            ));
        }
        if cfg!(target_endian = "big") {
            return Err("converted files are little-endian, which this machine is not".into());
        }
        let number = |at: usize| {
            let bytes = first.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u64::from_le_bytes).ok_or_else(breaks_off)
        };
        let length = usize::try_from(number(16)?).map_err(|_| breaks_off())?;
        let base = FIRST.checked_add(length).ok_or_else(breaks_off)?;
        let header = map.get(FIRST..base).ok_or_else(breaks_off)?;
        if xxhash_rust::xxh3::xxh3_64(header) != number(24)? {
            return Err("the check sum of its head is wrong".into());
        }
        let header = serde_json::from_slice(header).map_err(|error| error.to_string())?;
        if aligned(base) != Some(base) {
            return Err("its arrays begin at an odd place".into());
        }
        Ok(Self { map, header, base })
    }

    /// The place of an array, and the width of its items. The range lies within the file.
    fn find(&self, name: &str) -> Result<(Range<usize>, usize), String> {
        let array = self.header.arrays.iter().find(|array| array.name == name);
        let array = array.ok_or_else(|| format!("the array {name} is missing"))?;
        let start = self.base.checked_add(array.start);
        let range = start.and_then(|start| Some(start..start.checked_add(array.length)?));
        let range = range.filter(|range| range.end <= self.map.len());
        let range = range.ok_or_else(|| format!("the array {name} lies beyond its end"))?;
        if aligned(array.start) != Some(array.start) || array.length % array.width.max(1) != 0 {
            return Err(format!("the array {name} lies at an odd place"));
        }
        if sum_of(&self.map[range.clone()]) != array.sum {
            return Err(format!("the check sum of the array {name} is wrong"));
        }
        Ok((range, array.width))
    }

    /// An array, which is used in place.
    fn column<T>(&self, name: &str) -> Result<Column<T>, String>
    where
        T: bytemuck::Pod + Send + Sync,
    {
        let (range, width) = self.find(name)?;
        if width != size_of::<T>() {
            return Err(format!("the items of the array {name} have {width} bytes"));
        }
        let map = self.map.clone();
        Ok(Column::shared(Arc::new(Mapped { map, range, items: PhantomData })))
    }

    fn offsets(&self, name: &str) -> Result<Offsets, String> {
        match self.find(name)?.1 {
            4 => Ok(Offsets::Short(self.column(name)?)),
            _ => Ok(Offsets::Long(self.column(name)?)),
        }
    }

    fn names(&self, what: &str) -> Result<Names, String> {
        let (text, ends) = (format!("{what}-text"), format!("{what}-ends"));
        let wrong = || format!("the names of the {what}s are wrong");
        let text: Column<u8> = self.column(&text)?;
        let text = std::str::from_utf8(&text).map_err(|_| wrong())?;
        let ends: Column<u64> = self.column(&ends)?;
        let (mut names, mut start) = (Names::new(), 0);
        if ends.len() > Names::MOST {
            return Err(wrong());
        }
        for (at, &end) in ends.iter().enumerate() {
            let end = usize::try_from(end).map_err(|_| wrong())?;
            let name = text.get(start..end).ok_or_else(wrong)?;
            if names.intern(name) as usize != at {
                return Err(wrong());
            }
            start = end;
        }
        if start != text.len() { Err(wrong()) } else { Ok(names) }
    }

    fn dataset(self) -> Result<Dataset, String> {
        let (labels, attributes) = (self.names("label")?, self.names("attribute")?);
        let columns = SequenceColumns {
            sequences: self.offsets("sequences")?,
            tokens: self.offsets("tokens")?,
            attributes: self.column("attributes")?,
            values: self.column("values")?,
            labels: self.column("labels")?,
            weights: self.column("weights")?,
            costs: self.column("costs")?,
        };
        let below = |list: &[u32], bound: usize| list.iter().all(|&item| (item as usize) < bound);
        if !below(&columns.labels, labels.len()) || !below(&columns.attributes, attributes.len()) {
            return Err("a label or an attribute has no name".into());
        }
        let sequences = Sequences::from_columns(columns).map_err(|error| error.to_string())?;
        if sequences.is_empty() {
            return Err("it holds nothing".into());
        }
        let Header { format, fingerprint, template, .. } = self.header;
        Ok(Dataset { sequences, labels, attributes, fingerprint, format, template })
    }
}

/// A part of a mapped file as numbers.
struct Mapped<T> {
    map: Arc<Mmap>,
    range: Range<usize>,
    items: PhantomData<T>,
}

impl<T: bytemuck::Pod> AsRef<[T]> for Mapped<T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        // Pages begin at multiples of far more than the width of a number, and the range was checked.
        bytemuck::cast_slice(&self.map[self.range.clone()])
    }
}
