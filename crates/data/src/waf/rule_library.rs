//! Rules in files: found, read and compiled once for all APIs that use the same.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;
use tollgate_model::api::WafRules;
use tollgate_model::config::WafSettings;
use tollgate_model::readable_files::note;
use tollgate_waf::{RuleFiles, RuleProblem, Ruleset};

/// Largest file of rules: those of the Core Rule Set have up to 150 KB.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Most files of one set.
const FILES_MAX: usize = 1_000;
/// Most problems of rules that are reported.
const PROBLEMS_MAX: usize = 10;
/// Folders of a release in which its rules are.
const FOLDERS: [&str; 3] = ["", "rules", "@owasp_crs"];
/// The settings of a release, which come before its rules: the operator's own, else the release's.
const SETUPS: [&str; 3] = ["crs-setup.conf", "crs-setup.conf.example", "@crs-setup.conf.example"];

/// The name of an API's own text in problems.
const OWN_TEXT: &str = "tollgate.waf.rules";

/// Files as they are, in order, and an API's own text. What changes makes another set.
type RulesetKey = (Vec<(PathBuf, u64, Option<SystemTime>)>, String);

/// What a set is compiled from, in order.
enum RuleSource<'t> {
    /// Of the release, which nobody has changed.
    Released(PathBuf),
    File(PathBuf),
    Text(&'t str),
}

/// Rules, and what is in their files and does nothing, for whoever wrote it.
pub(super) struct CompiledRules {
    pub rules: Ruleset,
    pub notes: Vec<String>,
}

/// Compiled rules by their files, as long as an API uses them. A reload that leaves the files as they are keeps them.
#[derive(Default)]
pub struct RuleLibrary(Mutex<HashMap<RulesetKey, Weak<CompiledRules>>>);

impl RuleLibrary {
    /// The rules of an API; or the place and the reason of what cannot be used.
    pub(super) fn ruleset(&self, settings: &WafSettings, written: &WafRules) -> Result<Arc<CompiledRules>, (String, String)> {
        let own = own_files(settings, &written.rule_files)?;
        let unusable = |why: String| ("$.tollgate.waf".to_owned(), why);
        let text = written.rules.as_str();
        let rules = match settings.rules.as_os_str().is_empty() || !written.core_rules {
            true if !written.core_rules && (!own.is_empty() || !text.is_empty()) => Vec::new(),
            true if !written.core_rules => {
                return Err(unusable("there are no rules: without core_rules it needs rules or rule_files".to_owned()));
            }
            true if own.is_empty() && text.is_empty() => {
                let why = "there are no rules: `tollgate.waf.rules` of the configuration names no directory";
                return Err(unusable(why.to_owned()));
            }
            true => Vec::new(),
            false => release_files(&settings.rules).map_err(|why| unusable(format!("{}: {why}", settings.rules.display())))?,
        };
        let sources = in_order(rules, own, text);
        let key = (key(&sources).map_err(unusable)?, text.to_owned());
        self.get(key, &sources).map_err(unusable)
    }

    fn get(&self, key: RulesetKey, sources: &[RuleSource<'_>]) -> Result<Arc<CompiledRules>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, rules| rules.strong_count() > 0);
        if let Some(rules) = known.get(&key).and_then(Weak::upgrade) {
            return Ok(rules);
        }
        let rules = Arc::new(compile(sources)?);
        known.insert(key, Arc::downgrade(&rules));
        Ok(rules)
    }
}

/// Settings of the release, own rules, rules of the release.
fn in_order(rules: Vec<PathBuf>, own: Vec<PathBuf>, text: &str) -> Vec<RuleSource<'_>> {
    let is_setup = |path: &PathBuf| path.file_name().is_some_and(|name| SETUPS.iter().any(|setup| name == *setup));
    let (setup, rules): (Vec<_>, Vec<_>) = rules.into_iter().partition(is_setup);
    let text = Some(RuleSource::Text(text)).filter(|_| !text.is_empty());
    let files = |list: Vec<PathBuf>| list.into_iter().map(RuleSource::File);
    let (chosen, examples): (Vec<_>, Vec<_>) = setup.into_iter().partition(|path| path.ends_with(SETUPS[0]));
    let released = |list: Vec<PathBuf>| list.into_iter().map(RuleSource::Released);
    files(chosen).chain(released(examples)).chain(files(own)).chain(text).chain(released(rules)).collect()
}

fn own_files(settings: &WafSettings, names: &[String]) -> Result<Vec<PathBuf>, (String, String)> {
    let place = |index: usize| format!("$.tollgate.waf.rule_files[{index}]");
    if !names.is_empty() && settings.own_rules.as_os_str().is_empty() {
        return Err((place(0), "`tollgate.waf.own_rules` of the configuration names no directory".to_owned()));
    }
    let own = |(index, name): (usize, &String)| {
        let path = settings.own_rules.join(name);
        // A definition is compiled again when its rules have changed, or are there at last.
        note(&path);
        // A link must not lead out of the directory.
        let is_below = match (path.canonicalize(), settings.own_rules.canonicalize()) {
            (Ok(path), Ok(directory)) => path.starts_with(directory),
            _ => return Err((place(index), format!("{} cannot be read", path.display()))),
        };
        if is_below { Ok(path) } else { Err((place(index), format!("{} is not below own_rules", path.display()))) }
    };
    names.iter().enumerate().map(own).collect()
}

/// The files of a release, by name.
fn release_files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for folder in FOLDERS.iter().map(|folder| directory.join(folder)) {
        note(&folder);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder != directory.join("") => continue,
            Err(error) => return Err(format!("cannot be read: {error}")),
        };
        for entry in entries {
            let path = entry.map_err(|error| format!("cannot be read: {error}"))?.path();
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // Configurations of engines are not rules.
            if matches!(extension, "conf" | "data") && !name.contains("-recommended") || SETUPS.contains(&name) {
                files.push(path);
            }
            if files.len() > FILES_MAX {
                return Err(format!("has more than {FILES_MAX} files"));
            }
        }
    }
    let is_named = |path: &PathBuf, name: &str| path.file_name().is_some_and(|known| known == name);
    if let Some(chosen) = SETUPS.iter().position(|setup| files.iter().any(|path| is_named(path, setup))) {
        let others: Vec<&str> = SETUPS.iter().skip(chosen + 1).copied().collect();
        files.retain(|path| !others.iter().any(|other| is_named(path, other)));
    }
    files.iter().for_each(|path| note(path));
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    if files.is_empty() { Err("has no rules".to_owned()) } else { Ok(files) }
}

fn key(sources: &[RuleSource<'_>]) -> Result<Vec<(PathBuf, u64, Option<SystemTime>)>, String> {
    let files = sources.iter().filter_map(|source| match source {
        RuleSource::Released(path) | RuleSource::File(path) => Some(path),
        RuleSource::Text(_) => None,
    });
    let one = |path: &PathBuf| {
        let about = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if about.len() > FILE_BYTES_MAX {
            return Err(format!("{} is larger than {FILE_BYTES_MAX} bytes", path.display()));
        }
        Ok((path.clone(), about.len(), about.modified().ok()))
    };
    files.map(one).collect()
}

fn compile(sources: &[RuleSource<'_>]) -> Result<CompiledRules, String> {
    let mut read = RuleFiles::default();
    let mut released = HashSet::new();
    for source in sources {
        let path = match source {
            RuleSource::Released(path) | RuleSource::File(path) => path,
            RuleSource::Text(text) => {
                read.add(OWN_TEXT, (*text).to_owned());
                continue;
            }
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let RuleSource::Released(_) = source {
            released.insert(name.clone());
        }
        let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        read.add(&name, String::from_utf8_lossy(&text).into_owned());
    }
    let rules = Ruleset::compile(&read).map_err(|problems| shown(&problems).join("; "))?;
    let own = rules.without_effect().iter().filter(|problem| !released.contains(&problem.file)).cloned();
    let notes = shown(&own.collect::<Vec<_>>());
    Ok(CompiledRules { rules, notes })
}

/// Problems in words, the first ones and how many more there are.
fn shown(problems: &[RuleProblem]) -> Vec<String> {
    let mut shown: Vec<String> = problems.iter().take(PROBLEMS_MAX).map(ToString::to_string).collect();
    let rest = problems.len().saturating_sub(PROBLEMS_MAX);
    if rest > 0 {
        shown.push(format!("and {rest} more"));
    }
    shown
}
