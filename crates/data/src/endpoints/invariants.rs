//! Invariants of endpoint matching, for any patterns and any path: the matcher finds exactly what each pattern's own expression finds. The
//! fuzzer calls it, and so do the tests, with the same corpus.

use crate::endpoints::{Hits, PatternBuilder};
use regex::Regex;
use std::sync::Arc;
use tollgate_pattern::PatternRules;

/// Most patterns of one input; each is compiled twice.
const PATTERNS_MAX: usize = 32;

/// The first line selects the pattern rules by letters. Each further line is a pattern, and the last one a path, in which a tab stands for
/// a line end.
pub(super) fn matching(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines: Vec<&str> = text.lines().take(PATTERNS_MAX + 2).collect();
    let Some(path) = lines.pop().map(|path| path.replace('\t', "\n")) else { return };
    let Some((letters, patterns)) = lines.split_first() else { return };
    let rules = PatternRules { prefix: letters.contains('p'), suffix: letters.contains('s'), ignore_case: letters.contains('i') };
    let behind = path.char_indices().nth(1).and_then(|(at, _)| path.get(at..)).unwrap_or_default();
    let forms = [behind, path.as_str()];

    let mut builder = PatternBuilder::new(rules, Arc::default());
    let mut expected = [Vec::new(), Vec::new()];
    // Enough patterns to make the matcher search for literal texts.
    let others = ["/other/1", "/other/2", "/other/[0-9]", "/other/{id}/x", "^$"];
    for (index, pattern) in patterns.iter().chain(&others).enumerate() {
        let ignore_case = index % 5 == 4;
        let Ok(expression) = rules.expression(pattern, ignore_case) else {
            assert!(builder.add(pattern, ignore_case).is_err(), "{pattern:?}");
            continue;
        };
        let number = match (Regex::new(&expression), builder.add(pattern, ignore_case)) {
            (Ok(regex), Ok(number)) => {
                for (form, expected) in forms.iter().zip(&mut expected) {
                    if regex.is_match(form) {
                        expected.push(number);
                    }
                }
                number
            }
            // Both reject patterns that are too large, at different sizes.
            (_, Err(error)) if error.contains("when compiled") || error.contains("KiB") => continue,
            (Err(regex::Error::CompiledTooBig(_)), _) => continue,
            (Err(_), Err(_)) => continue,
            (Err(error), Ok(_)) => panic!("{expression:?} is taken: {error}"),
            (Ok(_), Err(error)) => panic!("{expression:?} is refused: {error}"),
        };
        alone(rules, pattern, ignore_case, forms, expected.each_ref().map(|expected| expected.contains(&number)));
    }
    for expected in &mut expected {
        expected.sort_unstable();
        expected.dedup();
    }
    builder.decide_access();
    let mut hits = Hits::default();
    builder.build().unwrap().find(forms[0], Some(forms[1]), &mut hits);
    assert_eq!([hits.patterns(), hits.of_whole_path()], expected, "{patterns:?} in {forms:?} with {rules:?}");
}

/// A single pattern, for which the matcher does not search literal texts.
fn alone(rules: PatternRules, pattern: &str, ignore_case: bool, forms: [&str; 2], expect: [bool; 2]) {
    let mut builder = PatternBuilder::new(rules, Arc::default());
    builder.add(pattern, ignore_case).unwrap();
    builder.decide_access();
    let mut hits = Hits::default();
    builder.build().unwrap().find(forms[0], Some(forms[1]), &mut hits);
    let found = [hits.patterns(), hits.of_whole_path()].map(|found| !found.is_empty());
    assert_eq!(found, expect, "{pattern:?} in {forms:?} with {rules:?}");
}
