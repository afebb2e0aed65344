//! What becomes of the configurations in folders: `cargo run -p tollgate-import --example shares -- nginx=FOLDER kong=FOLDER`. Each folder has files
//! of one gateway; printed are a row of a table with the shares by use, files that are refused, and the names that are missed most.
//! What a file refers to and the collection does not have (an included file, a certificate, a list of users) is counted apart: nothing is known of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tollgate_import::{ForeignFormat, MovedOutcome, OutcomeCounts, ReportedItem, import};

/// Names that are printed of each outcome that is not the best.
const NAMES_SHOWN: usize = 60;

fn main() {
    println!(
        "| from | files | uses | carried over | needs no setting | approximated | not carried over | no work of a gateway | alike, of all | alike, of a gateway's work | mean of files |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut details = Vec::new();
    for argument in std::env::args().skip(1) {
        let Some((name, folder)) = argument.split_once('=') else { continue };
        let Some(format) = ForeignFormat::ALL.into_iter().find(|format| format.name() == name) else { continue };
        details.push(shares(format, Path::new(folder)));
    }
    details.iter().flatten().for_each(|line| println!("{line}"));
}

fn severity(outcome: &MovedOutcome) -> u8 {
    match outcome {
        MovedOutcome::OtherWork(_) => 0,
        MovedOutcome::BuiltIn(_) => 1,
        MovedOutcome::Carried => 2,
        MovedOutcome::Approximated(_) => 3,
        MovedOutcome::NotCarried(_) => 4,
    }
}

/// Prints the row; the result are the details.
fn shares(format: ForeignFormat, folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut counts = OutcomeCounts::default();
    let mut missed: BTreeMap<(&str, String, String), usize> = BTreeMap::new();
    let (mut read, mut absent, mut of_files, mut refused) = (0_usize, 0_usize, 0.0, Vec::new());
    for file in &files {
        match import(file, Some(format)) {
            Err(failure) => refused.push(format!("  {failure}")),
            Ok(imported) => {
                read += 1;
                let mut own = OutcomeCounts::default();
                // What holds for several routes is reported at each: the worst counts once.
                let mut items: BTreeMap<(&str, usize, &str), &ReportedItem> = BTreeMap::new();
                for item in imported.report.items() {
                    let known = items.entry((&item.file, item.line, &item.name)).or_insert(item);
                    if severity(&item.outcome) > severity(&known.outcome) {
                        *known = item;
                    }
                }
                for item in items.into_values() {
                    let (outcome, text) = match &item.outcome {
                        MovedOutcome::Carried | MovedOutcome::BuiltIn(_) => ("", ""),
                        MovedOutcome::Approximated(how) => ("approximated", how.as_str()),
                        MovedOutcome::NotCarried(why) if why.contains("cannot be read: ") => {
                            absent += 1;
                            continue;
                        }
                        MovedOutcome::NotCarried(why) => ("not carried over", why.as_str()),
                        MovedOutcome::OtherWork(what) => ("no work of a gateway", what.as_str()),
                    };
                    own.count(&item.outcome);
                    counts.count(&item.outcome);
                    let text: String = text.chars().take(90).collect();
                    *missed.entry((outcome, item.name.clone(), text)).or_default() += 1;
                }
                of_files += own.percent_alike(own.of_proxies());
            }
        }
    }
    let all: usize = counts.in_order().iter().sum();
    let shown: Vec<String> =
        counts.in_order().iter().map(|count| format!("{:.1} %", *count as f64 * 100.0 / all.max(1) as f64)).collect();
    println!(
        "| {} | {read} | {all} | {} | {:.1} % | {:.1} % | {:.1} % |",
        format.name(),
        shown.join(" | "),
        counts.percent_alike(all),
        counts.percent_alike(counts.of_proxies()),
        of_files / read.max(1) as f64
    );
    let mut lines = vec![format!(
        "{}: {} of {} files are refused; {absent} uses name what is not here",
        format.name(),
        refused.len(),
        files.len()
    )];
    lines.extend(refused);
    for outcome in ["not carried over", "approximated", "no work of a gateway"] {
        let mut list: Vec<_> = missed.iter().filter(|((of, ..), _)| *of == outcome).collect();
        list.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        lines
            .extend(list.iter().take(NAMES_SHOWN).map(|((_, name, text), count)| format!("  {count:5} {outcome}: {name}: {text}")));
    }
    lines
}
