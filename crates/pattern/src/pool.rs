//! The patterns of the whole gateway, each stored once for all APIs, policies and keys, and their memory limit.

use super::Pattern;
use super::expression::{Expression, Groups};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Most memory of all patterns and their search tables. A hundred thousand endpoints take less than a fifth of it.
const BYTES_MAX: usize = 256 << 20;
/// Number of patterns from which on unused ones are searched and dropped.
const SWEPT_MIN: usize = 1_024;

/// Compiled patterns, each kept while it is in use.
#[derive(Debug)]
pub struct PatternPool {
    patterns: Mutex<PoolEntries>,
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
}

#[derive(Debug)]
struct PoolEntries {
    by_expression: HashMap<Box<str>, Weak<PooledPattern>>,
    /// Number of patterns at which unused ones are dropped.
    sweep_at: usize,
}

/// A pattern of a pool.
#[derive(Debug)]
pub struct PooledPattern {
    pattern: Pattern,
    _charge: PatternCharge,
}

/// An expression with groups. It counts towards a pool's memory but is not shared, because no two endpoints have the same one.
#[derive(Debug)]
pub struct GroupExpression {
    expression: Expression,
    _charge: PatternCharge,
}

/// A share of a pool's memory; dropping it frees the share.
#[derive(Debug)]
pub struct PatternCharge {
    bytes: usize,
    pool: Arc<AtomicUsize>,
}

impl Default for PatternPool {
    fn default() -> Self {
        PatternPool::with_bytes_max(BYTES_MAX)
    }
}

impl PatternPool {
    /// Makes a pool with a memory limit.
    pub fn with_bytes_max(bytes_max: usize) -> Self {
        let patterns = Mutex::new(PoolEntries { by_expression: HashMap::new(), sweep_at: SWEPT_MIN });
        PatternPool { patterns, bytes: Arc::default(), bytes_max }
    }

    /// The pattern of an expression, compiled on first use. `Err` says why it is unusable.
    pub fn get(&self, expression: &str) -> Result<Arc<PooledPattern>, String> {
        if let Some(known) = self.known(expression) {
            return Ok(known);
        }
        // Compiles without the lock, because threads that serve requests look up known patterns.
        self.add(expression, Pattern::compile(expression)?)
    }

    /// The pattern of an expression, if it is known or compiles quickly.
    pub fn get_quickly(&self, expression: &str) -> Option<Arc<PooledPattern>> {
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

    /// Compiles an expression in Go's syntax whose groups are needed. `Err` says why it is unusable.
    pub fn with_groups(&self, expression: &str) -> Result<GroupExpression, String> {
        super::check_length(expression)?;
        let translated = tollgate_re2::translate(expression).map_err(|error| format!("not a valid pattern: {error}"))?;
        let (expression, _) = Expression::compile(&translated, Groups::Kept)?;
        let charge = self.charge(expression.bytes())?;
        Ok(GroupExpression { expression, _charge: charge })
    }

    /// The pattern of an expression, if it is in use.
    pub fn known(&self, expression: &str) -> Option<Arc<PooledPattern>> {
        let patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        patterns.by_expression.get(expression).and_then(Weak::upgrade)
    }

    /// Reserves memory of the pool.
    pub fn charge(&self, bytes: usize) -> Result<PatternCharge, String> {
        let charge = PatternCharge { bytes, pool: self.bytes.clone() };
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before + bytes > self.bytes_max {
            true => Err(format!("the patterns of all APIs and keys take more than {} MiB", self.bytes_max >> 20)),
            false => Ok(charge),
        }
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Number of patterns in use.
    #[allow(clippy::len_without_is_empty, reason = "a figure")]
    pub fn len(&self) -> usize {
        let patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        patterns.by_expression.values().filter(|pattern| pattern.strong_count() > 0).count()
    }

    /// Drops unused patterns.
    pub fn purge(&self) {
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
