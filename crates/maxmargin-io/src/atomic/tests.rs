use super::*;

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    atomic_write(path, |to| to.write_all(text.as_bytes()))
}

#[test]
fn new_and_existing_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let length = atomic_write(&path, |to| to.write_all(b"one").map(|()| 3)).unwrap_or(0);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), length), ("one", 3));
    write(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(names_in(folder.path()), ["a"]);
}

#[test]
fn failure_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let fail = || {
        atomic_write(&path, |to| {
            to.write_all(&[0; 100_000])?;
            Err::<(), _>(io::Error::other("no"))
        })
    };
    assert_eq!(fail().unwrap_err().to_string(), "no");
    assert_eq!(names_in(folder.path()), [""; 0]);
    write(&path, "old").unwrap();
    assert!(fail().is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names_in(folder.path()), ["a"]);
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let caught = std::panic::catch_unwind(|| {
        atomic_write::<(), io::Error>(&path, |_| std::panic::resume_unwind(Box::new(())))
    });
    assert!(caught.is_err());
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn directories_and_missing_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display();
    assert_eq!(
        write(folder.path(), "x").unwrap_err().to_string(),
        format!("{shown}: cannot be written: it is a directory")
    );
    let error = write(&folder.path().join("no/file"), "x").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(
        error.to_string().starts_with(&format!("{shown}/no/file: cannot be written: ")),
        "{error}"
    );
    let error = write(Path::new(""), "x").unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn permissions_are_those_of_any_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        write(&path, "x").unwrap();
        fs::write(&other, "x").unwrap();
        assert_eq!(mode(&path), mode(&other));
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, "y").unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn read_only_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        let error = write(&path, "new").unwrap_err().to_string();
        assert_eq!(error, format!("{}: cannot be written: it is read-only", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn links_stay_and_their_target_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        let (first, second) = (folder.path().join("first"), below.join("second"));
        symlink("below/second", &first).unwrap();
        symlink("target", &second).unwrap();
        // The target need not exist yet.
        for text in ["one", "two"] {
            write(&first, text).unwrap();
            assert!(fs::symlink_metadata(&first).unwrap().is_symlink());
            assert!(fs::symlink_metadata(&second).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(below.join("target")).unwrap(), text);
        }
        let round = folder.path().join("round");
        symlink("round", &round).unwrap();
        let error = write(&round, "x").unwrap_err().to_string();
        assert!(error.ends_with("too many symbolic links"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_killed_processes_have_left_is_cleared_by_the_next_with_the_same_target() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let prefix = prefix_of(&path);
        // No process has such a number.
        let gone = folder.path().join(format!("{prefix}4294967295-abcdef.tmp"));
        let alive = folder.path().join(format!("{prefix}{}-abcdef.tmp", std::process::id()));
        let other = folder.path().join(".maxmargin-0123456789abcdef-4294967295-abcdef.tmp");
        let unlike = folder.path().join(format!("{prefix}4294967295-abcdef.txt"));
        for file in [&gone, &alive, &other, &unlike] {
            fs::write(file, "half").unwrap();
        }
        write(&path, "whole").unwrap();
        assert!(!gone.exists());
        assert!(alive.exists() && other.exists() && unlike.exists());
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
