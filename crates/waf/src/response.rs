//! A response taken apart into the values that rules look at.

use crate::budget::{InspectionBudget, TooMuchWork};
use crate::source::ValueSource;
use crate::values::ValueStore;

/// A response as its client will get it.
#[derive(Debug, Clone)]
pub struct InspectedResponse<'a> {
    /// Such as 200.
    pub status: u16,
    /// Such as `HTTP/1.1`.
    pub protocol: &'a str,
    /// Header lines in their order.
    pub headers: Vec<(&'a [u8], &'a [u8])>,
    /// The body, not compressed; `None` if nobody looks at it.
    pub body: Option<&'a [u8]>,
}

impl InspectedResponse<'_> {
    /// The values of the head.
    pub(crate) fn fill_head(&self, values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<(), TooMuchWork> {
        values.set(ValueSource::ResponseStatus, self.status.to_string().as_bytes());
        values.set(ValueSource::ResponseProtocol, self.protocol.as_bytes());
        for (name, value) in &self.headers {
            values.add(ValueSource::ResponseHeaders, name, value, budget)?;
            if name.eq_ignore_ascii_case(b"content-type") {
                values.set(ValueSource::ResponseContentType, value);
            }
        }
        Ok(())
    }

    /// The body as one value.
    pub(crate) fn fill_body(&self, values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<(), TooMuchWork> {
        let Some(body) = self.body else { return Ok(()) };
        values.add(ValueSource::ResponseBody, b"", body, budget)
    }
}
