//! Each test stops a change at every step, or lets every step fail, and looks at what is on the disk afterwards.

use super::{FileChange, FileSet, FileSetFault, LOCK_NAME, Settled};
use crate::disk::{Disk, SystemDisk};
use crate::journal::JournalPhase;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the operation number `at` goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    /// The process ends before the operation.
    Crash,
    /// The process ends in the middle of a write.
    TornWrite,
    /// Only this operation fails.
    Failure,
}

/// A disk on which one operation goes wrong.
struct FaultyDisk {
    disk: SystemDisk,
    mishap: Mishap,
    at: usize,
    count: usize,
}

impl FaultyDisk {
    fn new(mishap: Mishap, at: usize) -> Self {
        FaultyDisk { disk: SystemDisk::default(), mishap, at, count: 0 }
    }

    fn step(&mut self) -> io::Result<bool> {
        let number = self.count;
        self.count += 1;
        let is_dead = number > self.at && self.mishap != Mishap::Failure;
        match number == self.at {
            _ if is_dead => Err(io::Error::other("the process is gone")),
            true if self.mishap == Mishap::TornWrite => Ok(true),
            true => Err(io::Error::other("a mishap")),
            false => Ok(false),
        }
    }

    fn whole_step(&mut self) -> io::Result<()> {
        if self.step()? { Err(io::Error::other("a mishap")) } else { Ok(()) }
    }
}

impl Disk for FaultyDisk {
    fn write(&mut self, path: &Path, content: &[u8], like: &Path) -> io::Result<()> {
        if self.step()? {
            self.disk.write(path, &content[..content.len() / 2], like)?;
            return Err(io::Error::other("half of it is written"));
        }
        self.disk.write(path, content, like)
    }

    fn link(&mut self, path: &Path, second: &Path) -> io::Result<()> {
        self.whole_step()?;
        self.disk.link(path, second)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole_step()?;
        self.disk.rename(from, to)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.whole_step()?;
        self.disk.remove(path)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.whole_step()?;
        self.disk.sync()
    }
}

type Contents = BTreeMap<String, Vec<u8>>;

/// All files below a directory, but for the lock.
fn contents(root: &Path) -> Contents {
    let mut found = Contents::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.file_name().unwrap() != LOCK_NAME {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn fill(root: &Path, files: &Contents) {
    for (name, content) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn texts(files: &[(&str, &str)]) -> Contents {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

/// Replaces, adds and removes files in two directories, one of which does not exist yet.
fn example() -> (Contents, Vec<(&'static str, Option<&'static str>)>, Contents) {
    let old = texts(&[("apps/a.json", "old a"), ("apps/b.json", "old b"), ("apps/c.json", "c")]);
    let changes = vec![
        ("apps/a.json", Some("new a, which is longer")),
        ("apps/b.json", None),
        ("apps/d.json", Some("d")),
        ("policies/p.json", Some("p")),
        ("apps/missing.json", None),
    ];
    let new =
        texts(&[("apps/a.json", "new a, which is longer"), ("apps/c.json", "c"), ("apps/d.json", "d"), ("policies/p.json", "p")]);
    (old, changes, new)
}

fn changes_in(root: &Path, changes: &[(&str, Option<&str>)]) -> Vec<FileChange> {
    let change = |(name, text): &(&str, Option<&str>)| FileChange {
        path: root.join(name),
        content: text.map(|text| text.as_bytes().to_vec()),
    };
    changes.iter().map(change).collect()
}

#[test]
fn all_files_change() {
    let (old, changes, new) = example();
    let root = tempfile::tempdir().unwrap();
    fill(root.path(), &old);
    let set = FileSet::new(root.path().join("apps"));
    set.lock().unwrap().apply(&changes_in(root.path(), &changes)).unwrap();
    assert_eq!(contents(root.path()), new);
    assert_eq!(set.settle().unwrap(), Settled::Nothing);
}

#[test]
fn many_files_change() {
    let root = tempfile::tempdir().unwrap();
    let set = FileSet::new(root.path());
    let change = |number: usize| FileChange { path: root.path().join(format!("{number}.json")), content: Some(vec![7; number]) };
    set.lock().unwrap().apply(&(0..300).map(change).collect::<Vec<_>>()).unwrap();
    let now = contents(root.path());
    assert_eq!(now.len(), 300);
    assert!((0..300).all(|number| now[&format!("{number}.json")].len() == number));
}

/// Stops after each step, then settles: everything is as before, or everything is as wanted. Settling may be interrupted too.
#[test]
fn a_crash_at_any_step_leaves_the_old_files_or_the_new_ones() {
    let (old, changes, new) = example();
    for mishap in [Mishap::Crash, Mishap::TornWrite] {
        let mut seen = (0, 0);
        for at in 0.. {
            let root = tempfile::tempdir().unwrap();
            fill(root.path(), &old);
            let set = FileSet::new(root.path().join("apps"));
            let mut disk = FaultyDisk::new(mishap, at);
            let outcome = set.lock().unwrap().apply_on(&changes_in(root.path(), &changes), &mut disk);
            if disk.count <= at {
                assert!(outcome.is_ok());
                break;
            }
            for second in 0.. {
                let mut disk = FaultyDisk::new(mishap, second);
                let settled = super::change::settle(&root.path().join("apps"), &mut disk);
                if disk.count <= second {
                    settled.unwrap_or_else(|fault| panic!("{mishap:?} at {at}, {second}: {fault}"));
                    break;
                }
            }
            let now = contents(root.path());
            assert!(now == old || now == new, "{mishap:?} at {at}: {now:?}");
            assert!(outcome.is_err() || now == new, "{mishap:?} at {at}: reported as made");
            if now == old {
                seen.0 += 1
            } else {
                seen.1 += 1
            }
            assert_eq!(set.settle().unwrap(), Settled::Nothing);
        }
        assert!(seen.0 > 5 && seen.1 > 5, "{mishap:?}: {seen:?}");
    }
}

#[test]
fn an_operation_that_fails_leaves_the_old_files() {
    let (old, changes, new) = example();
    for at in 0.. {
        let root = tempfile::tempdir().unwrap();
        fill(root.path(), &old);
        let set = FileSet::new(root.path().join("apps"));
        let mut disk = FaultyDisk::new(Mishap::Failure, at);
        let outcome = set.lock().unwrap().apply_on(&changes_in(root.path(), &changes), &mut disk);
        if disk.count <= at {
            break;
        }
        match outcome {
            Err(FileSetFault::Unchanged { .. }) => assert_eq!(contents(root.path()), old, "{at}"),
            // Only what the change leaves behind could not be removed.
            Ok(()) => {
                set.settle().unwrap();
                assert_eq!(contents(root.path()), new, "{at}");
            }
            Err(FileSetFault::Interrupted { .. }) => {
                assert_ne!(set.settle().unwrap(), Settled::Nothing, "{at}");
                let now = contents(root.path());
                assert!(now == old || now == new, "{at}: {now:?}");
            }
            Err(other) => panic!("{at}: {other}"),
        }
    }
}

#[test]
fn a_file_that_cannot_be_replaced_leaves_all_files_as_they_were() {
    let root = tempfile::tempdir().unwrap();
    fill(root.path(), &texts(&[("a.json", "a"), ("z.json/in the way", "")]));
    let before = contents(root.path());
    let set = FileSet::new(root.path());
    let changes = changes_in(root.path(), &[("a.json", Some("new")), ("b.json", Some("new")), ("z.json", Some("new"))]);
    let fault = set.lock().unwrap().apply(&changes).unwrap_err();
    assert!(matches!(&fault, FileSetFault::Unchanged { path, .. } if path.ends_with("z.json")), "{fault}");
    assert_eq!(contents(root.path()), before);
}

#[test]
fn a_file_that_is_named_twice_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let changes = changes_in(root.path(), &[("a.json", Some("1")), ("a.json", None)]);
    let fault = FileSet::new(root.path()).lock().unwrap().apply(&changes).unwrap_err();
    assert!(matches!(fault, FileSetFault::Unusable(path) if path.ends_with("a.json")));
}

#[test]
fn what_is_not_a_journal_is_named_and_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    fill(root.path(), &texts(&[("a.json", "a")]));
    let journal = JournalPhase::Committed.path(root.path());
    fs::write(&journal, "{").unwrap();
    let set = FileSet::new(root.path());
    let is_named = |fault: FileSetFault| matches!(fault, FileSetFault::Journal(path) if path == journal);
    assert!(is_named(set.settle().unwrap_err()));
    assert!(is_named(set.lock().unwrap().apply(&changes_in(root.path(), &[("a.json", None)])).unwrap_err()));
    assert_eq!(fs::read(root.path().join("a.json")).unwrap(), b"a");
}

#[test]
fn two_changes_wait_for_each_other() {
    let root = tempfile::tempdir().unwrap();
    let set = FileSet::new(root.path());
    let write = |text: String| {
        let change =
            |number: usize| FileChange { path: root.path().join(format!("{number}")), content: Some(text.clone().into_bytes()) };
        set.lock().unwrap().apply(&(0..20).map(change).collect::<Vec<_>>()).unwrap();
    };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || (0..5).for_each(|turn| write(format!("{writer}.{turn}"))));
        }
        for _ in 0..200 {
            if let Some(_whole) = set.read_lock() {
                let now: Vec<Vec<u8>> = contents(root.path()).into_values().collect();
                assert!(now.windows(2).all(|pair| pair[0] == pair[1]), "{now:?}");
            }
        }
    });
    assert_eq!(contents(root.path()).len(), 20);
}

#[test]
fn a_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    fill(root.path(), &texts(&[("a.json", "a")]));
    let path = root.path().join("a.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    FileSet::new(root.path()).lock().unwrap().apply(&changes_in(root.path(), &[("a.json", Some("b"))])).unwrap();
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// The contents of a file before and after.
type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Up to eight files, each with an old and a new content, or none.
fn any_files() -> impl Strategy<Value = Vec<Sides>> {
    let content = || proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40));
    proptest::collection::vec((content(), content()), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_that_is_stopped_anywhere_is_whole(files in any_files(), at in 0_usize..60, torn in any::<bool>()) {
        let root = tempfile::tempdir().unwrap();
        let name = |number: usize| format!("{}/{number}", if number.is_multiple_of(3) { "x" } else { "y" });
        let side = |old: bool| -> Contents {
            let all = files.iter().enumerate();
            all.filter_map(|(number, (before, after))| Some((name(number), if old { before } else { after }.clone()?))).collect()
        };
        let (old, new) = (side(true), side(false));
        fill(root.path(), &old);
        let change = |(number, (_, after)): (usize, &Sides)| FileChange { path: root.path().join(name(number)), content: after.clone() };
        let changes: Vec<FileChange> = files.iter().enumerate().map(change).collect();
        let set = FileSet::new(root.path().join("journal"));
        let mishap = if torn { Mishap::TornWrite } else { Mishap::Crash };
        let made = set.lock().unwrap().apply_on(&changes, &mut FaultyDisk::new(mishap, at)).is_ok();
        set.settle().unwrap();
        let now = contents(root.path());
        prop_assert!(now == new || (now == old && !made), "{:?}", now);
    }
}

/// Paths outside tests are never relative, but they may be.
#[test]
fn a_relative_path_has_a_directory() {
    let directories = ["a.json", "b/a.json", "/a.json"].map(|path| super::directory_of(&PathBuf::from(path)).to_owned());
    assert_eq!(directories, [".", "b", "/"].map(PathBuf::from));
}

#[test]
fn a_set_keeps_its_identity_and_a_copy_has_another_one() {
    let (root, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let change = |root: &Path| FileSet::new(root).lock().unwrap().apply(&changes_in(root, &[("a.json", Some("b"))])).unwrap();
    assert_eq!(FileSet::new(root.path()).identity(), None);
    change(root.path());
    let identity = FileSet::new(root.path()).identity().unwrap();
    change(root.path());
    assert_eq!(FileSet::new(root.path()).identity().as_ref(), Some(&identity));
    fs::copy(root.path().join(LOCK_NAME), copy.path().join(LOCK_NAME)).unwrap();
    assert_eq!(FileSet::new(copy.path()).identity(), None);
    change(copy.path());
    assert!(FileSet::new(copy.path()).identity().is_some_and(|own| own != identity));
    // An earlier version has left an empty file.
    fs::write(root.path().join(LOCK_NAME), "").unwrap();
    change(root.path());
    assert!(FileSet::new(root.path()).identity().is_some());
}
