//! What jaq's interpreter works on in a run: our values, and what functions see beside them.

use crate::value::JqValue;
use jaq_core::Lut;
use jaq_core::data::{DataT, HasLut};

/// What jaq's filters work on.
pub(crate) struct JqRun;

/// What functions see of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunData<'a> {
    pub lut: &'a Lut<JqRun>,
    /// Seconds since 1970.
    pub now: f64,
}

impl DataT for JqRun {
    type V<'a> = JqValue;
    type Data<'a> = RunData<'a>;
}

impl<'a> HasLut<'a, JqRun> for RunData<'a> {
    fn lut(&self) -> &'a Lut<JqRun> {
        self.lut
    }
}
