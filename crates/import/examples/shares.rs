//! What becomes of the configurations in folders: `cargo run -p tollgate-import --example shares -- nginx=FOLDER kong=FOLDER`. Each folder has files
//! of one gateway; printed are the shares of items that are carried over, approximated and not, and the names that are missed most.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tollgate_import::{ForeignFormat, MovedOutcome, import};

/// Names that are printed of each outcome that is not the best.
const NAMES_SHOWN: usize = 40;

fn main() {
    for argument in std::env::args().skip(1) {
        let Some((name, folder)) = argument.split_once('=') else { continue };
        let Some(format) = ForeignFormat::ALL.into_iter().find(|format| format.name() == name) else { continue };
        shares(format, Path::new(folder));
    }
}

fn shares(format: ForeignFormat, folder: &Path) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut counts = [0_usize; 3];
    let mut missed: BTreeMap<(&str, String, String), usize> = BTreeMap::new();
    let (mut read, mut refused) = (0, Vec::new());
    for file in &files {
        match import(file, Some(format)) {
            Err(failure) => refused.push(failure.to_string()),
            Ok(imported) => {
                read += 1;
                for item in imported.report.items() {
                    let [carried, approximated, not] = &mut counts;
                    let (count, outcome, text) = match &item.outcome {
                        MovedOutcome::Carried => (carried, "", ""),
                        MovedOutcome::Approximated(how) => (approximated, "approximated", how.as_str()),
                        MovedOutcome::NotCarried(why) => (not, "not carried over", why.as_str()),
                    };
                    *count += 1;
                    let text: String = text.chars().take(90).collect();
                    *missed.entry((outcome, item.name.clone(), text)).or_default() += 1;
                }
            }
        }
    }
    let all = counts.iter().sum::<usize>().max(1);
    let [carried, approximated, not] = counts.map(|count| format!("{:.1} %", count as f64 * 100.0 / all as f64));
    println!(
        "{}: {read} of {} files, {all} items: {carried} carried over, {approximated} approximated, {not} not",
        format.name(),
        files.len()
    );
    refused.iter().for_each(|why| println!("  {why}"));
    for outcome in ["not carried over", "approximated"] {
        let mut list: Vec<_> = missed.iter().filter(|((of, ..), _)| *of == outcome).collect();
        list.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        list.iter().take(NAMES_SHOWN).for_each(|((_, name, text), count)| println!("  {count:5} {outcome}: {name}: {text}"));
    }
}
