//! The patterns of the whole gateway, each once however many APIs, policies and keys have it, and what they take together.

use super::Pattern;
use super::expression::{Expression, Groups};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What all patterns and the tables over them may take. A hundred thousand endpoints take less than a fifth of it.
const BYTES_MAX: usize = 256 << 20;
/// How many patterns there are at least before those that nobody uses are looked for.
const SWEPT_MIN: usize = 1_024;

/// Compiled patterns for as long as somebody uses them.
#[derive(Debug)]
pub(crate) struct PatternPool {
    patterns: Mutex<PoolEntries>,
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
}

#[derive(Debug)]
struct PoolEntries {
    by_expression: HashMap<Box<str>, Weak<PooledPattern>>,
    /// How many there may be before unused ones are looked for.
    sweep_at: usize,
}

/// A pattern of a pool.
#[derive(Debug)]
pub(crate) struct PooledPattern {
    pattern: Pattern,
    _charge: PatternCharge,
}

/// An expression with groups. Its memory is a pool's, but it is not shared: no two endpoints have the same.
#[derive(Debug)]
pub(crate) struct GroupExpression {
    expression: Expression,
    _charge: PatternCharge,
}

/// A part of a pool's memory, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct PatternCharge {
    bytes: usize,
    pool: Arc<AtomicUsize>,
}

impl Default for PatternPool {
    fn default() -> Self {
        PatternPool::with_bytes_max(BYTES_MAX)
    }
}

impl PatternPool {
    /// A pool whose patterns take no more than this.
    pub(crate) fn with_bytes_max(bytes_max: usize) -> Self {
        let patterns = Mutex::new(PoolEntries { by_expression: HashMap::new(), sweep_at: SWEPT_MIN });
        PatternPool { patterns, bytes: Arc::default(), bytes_max }
    }

    /// The pattern of an expression, compiled if nobody has it yet. An error tells why it can't be used.
    pub(crate) fn get(&self, expression: &str) -> Result<Arc<PooledPattern>, String> {
        if let Some(known) = self.known(expression) {
            return Ok(known);
        }
        // Without the lock: threads that serve requests come for what is known.
        self.add(expression, Pattern::compile(expression)?)
    }

    /// The pattern of an expression, if somebody has it or it takes no time to compile.
    pub(crate) fn get_quickly(&self, expression: &str) -> Option<Arc<PooledPattern>> {
        self.known(expression).or_else(|| self.add(expression, Pattern::compile_quickly(expression)?).ok())
    }

    fn add(&self, expression: &str, pattern: Pattern) -> Result<Arc<PooledPattern>, String> {
        let charge = self.charge(pattern.bytes() + expression.len())?;
        let made = Arc::new(PooledPattern { pattern, _charge: charge });
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = patterns.by_expression.get(expression).and_then(Weak::upgrade) {
            return Ok(other);
        }
        if patterns.by_expression.len() >= patterns.sweep_at {
            patterns.sweep();
        }
        patterns.by_expression.insert(expression.into(), Arc::downgrade(&made));
        Ok(made)
    }

    /// An expression whose groups are asked for. An error tells why it can't be used.
    pub(crate) fn with_groups(&self, expression: &str) -> Result<GroupExpression, String> {
        super::check_length(expression)?;
        let (expression, _) = Expression::compile(expression, Groups::Kept)?;
        let charge = self.charge(expression.bytes())?;
        Ok(GroupExpression { expression, _charge: charge })
    }

    /// The pattern of an expression, if somebody has it.
    pub(crate) fn known(&self, expression: &str) -> Option<Arc<PooledPattern>> {
        let patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        patterns.by_expression.get(expression).and_then(Weak::upgrade)
    }

    /// Takes a part of what patterns may take.
    pub(crate) fn charge(&self, bytes: usize) -> Result<PatternCharge, String> {
        let charge = PatternCharge { bytes, pool: self.bytes.clone() };
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before + bytes > self.bytes_max {
            true => Err(format!("the patterns of all APIs and keys take more than {} MiB", self.bytes_max >> 20)),
            false => Ok(charge),
        }
    }

    /// Memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many patterns somebody uses.
    pub(crate) fn len(&self) -> usize {
        let patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        patterns.by_expression.values().filter(|pattern| pattern.strong_count() > 0).count()
    }

    /// Forgets what nobody uses any longer.
    pub(crate) fn purge(&self) {
        self.patterns.lock().unwrap_or_else(PoisonError::into_inner).sweep();
    }
}

impl PoolEntries {
    fn sweep(&mut self) {
        self.by_expression.retain(|_, pattern| pattern.strong_count() > 0);
        self.sweep_at = (2 * self.by_expression.len()).max(SWEPT_MIN);
    }
}

impl std::ops::Deref for PooledPattern {
    type Target = Pattern;

    #[inline]
    fn deref(&self) -> &Pattern {
        &self.pattern
    }
}

impl std::ops::Deref for GroupExpression {
    type Target = Expression;

    fn deref(&self) -> &Expression {
        &self.expression
    }
}

impl Drop for PatternCharge {
    fn drop(&mut self) {
        self.pool.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
