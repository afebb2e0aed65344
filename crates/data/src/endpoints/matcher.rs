//! Finds the patterns of a version that a path matches. One pass searches for the literal texts that patterns need; only patterns whose
//! text was found are matched, each by itself. The cost of a look-up is the path's length and the few candidates, however many patterns
//! there are.

use super::Hits;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_pattern::{Literal, PatternCharge, PatternPool, PooledPattern, Requirement};

/// Up to this many patterns, each is matched directly: searching for literal texts would take longer.
const UNSORTED_MAX: usize = 4;

/// The patterns of one version.
#[derive(Debug)]
pub struct EndpointMatcher {
    patterns: Vec<Arc<PooledPattern>>,
    /// Whether paths are also matched with their listen path.
    decides_access: bool,
    /// Patterns that are candidates for every path.
    always: Vec<u32>,
    texts: Option<NeededTexts>,
}

/// The literal texts that patterns need.
#[derive(Debug)]
struct NeededTexts {
    search: AhoCorasick,
    /// The patterns that need a text, indexed by the text's number.
    patterns: Vec<Box<[u32]>>,
    _charge: PatternCharge,
}

impl EndpointMatcher {
    /// Makes a matcher; its patterns are numbered by index. `Err` says why there is none.
    pub fn new(patterns: Vec<Arc<PooledPattern>>, decides_access: bool, pool: &PatternPool) -> Result<Self, String> {
        if patterns.len() <= UNSORTED_MAX {
            let always = (0u32..).zip(&patterns).map(|(number, _)| number).collect();
            return Ok(EndpointMatcher { patterns, decides_access, always, texts: None });
        }
        let mut always = Vec::new();
        let mut by_text: HashMap<Literal, Vec<u32>> = HashMap::new();
        let needs = Needs::count(&patterns);
        for (number, pattern) in (0u32..).zip(&patterns) {
            match needs.rarest(pattern) {
                None => always.push(number),
                Some(requirement) => {
                    for literal in &requirement.0 {
                        by_text.entry(literal.clone()).or_default().push(number);
                    }
                }
            }
        }
        let texts = if by_text.is_empty() { None } else { Some(NeededTexts::new(by_text, pool)?) };
        Ok(EndpointMatcher { patterns, decides_access, always, texts })
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Finds all patterns that match a path after its listen path. `whole` is the path with it, if it has one; only access depends on that.
    pub fn find(&self, path: &str, whole: Option<&str>, hits: &mut Hits) {
        let mut patterns = std::mem::take(&mut hits.patterns);
        let mut of_whole_path = std::mem::take(&mut hits.of_whole_path);
        self.find_in(path, hits, &mut patterns);
        of_whole_path.clear();
        if self.decides_access
            && let Some(whole) = whole
        {
            self.find_in(whole, hits, &mut of_whole_path);
        }
        (hits.patterns, hits.of_whole_path) = (patterns, of_whole_path);
    }

    /// Finds all patterns that match the method of a call, and any name of what it is for, each written as a path.
    pub fn find_call(&self, method: &str, names: &[String], hits: &mut Hits) {
        let [mut of_method, mut of_primitive] = std::mem::take(&mut hits.of_call);
        self.find_in(method, hits, &mut of_method);
        of_primitive.clear();
        for name in names {
            let mut found = Vec::new();
            self.find_in(name, hits, &mut found);
            of_primitive.append(&mut found);
        }
        hits.of_call = [of_method, of_primitive];
    }

    /// The patterns that match one form of a path, in ascending order.
    fn find_in(&self, path: &str, hits: &mut Hits, found: &mut Vec<u32>) {
        found.clear();
        hits.candidates.clear();
        hits.candidates.extend(&self.always);
        if let Some(texts) = &self.texts {
            texts.find(path, hits);
        }
        let fits = |number: &u32| self.patterns.get(*number as usize).is_some_and(|pattern| pattern.is_match(path));
        found.extend(hits.candidates.iter().copied().filter(fits));
    }
}

impl NeededTexts {
    fn new(by_text: HashMap<Literal, Vec<u32>>, pool: &PatternPool) -> Result<Self, String> {
        let any_case = by_text.keys().any(|literal| literal.any_case);
        let (literals, patterns): (Vec<Literal>, Vec<Vec<u32>>) = by_text.into_iter().unzip();
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(any_case)
            // The other kinds are faster for some paths and take ten times the memory.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .prefilter(false)
            .build(literals.iter().map(|literal| &literal.text))
            .map_err(|error| error.to_string())?;
        let charge = pool.charge(search.memory_usage())?;
        Ok(NeededTexts { search, patterns: patterns.into_iter().map(Vec::into_boxed_slice).collect(), _charge: charge })
    }

    /// Adds the patterns whose text occurs in a path.
    fn find(&self, path: &str, hits: &mut Hits) {
        hits.texts.clear();
        hits.texts.extend(self.search.find_overlapping_iter(path).map(|found| found.pattern().as_u32()));
        hits.texts.sort_unstable();
        hits.texts.dedup();
        let patterns = hits.texts.iter().filter_map(|text| self.patterns.get(*text as usize));
        hits.candidates.extend(patterns.flat_map(|patterns| patterns.iter()));
        hits.candidates.sort_unstable();
        hits.candidates.dedup();
    }
}

/// How many patterns need each literal text.
struct Needs<'p>(HashMap<&'p Literal, usize>);

impl<'p> Needs<'p> {
    fn count(patterns: &'p [Arc<PooledPattern>]) -> Self {
        let mut counts = HashMap::new();
        for literal in patterns.iter().flat_map(|pattern| pattern.requirements()).flat_map(|requirement| requirement.0.iter()) {
            *counts.entry(literal).or_default() += 1;
        }
        Needs(counts)
    }

    /// The requirement that the fewest patterns share; among equals, the longest one, because it is found most rarely.
    fn rarest<'a>(&self, pattern: &'a PooledPattern) -> Option<&'a Requirement> {
        let others = |requirement: &Requirement| {
            let counts = requirement.0.iter().map(|literal| self.0.get(literal).copied().unwrap_or_default());
            (counts.sum::<usize>(), Reverse(requirement.shortest()))
        };
        pattern.requirements().iter().min_by_key(|requirement| others(requirement))
    }
}
