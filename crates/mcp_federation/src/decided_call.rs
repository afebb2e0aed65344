//! What the data path has decided about a call before it comes here: the last member of the line that tells who calls.

use std::fmt;

/// The words with which the member begins.
const OPEN: &str = "open";
const CLOSED: &str = "closed";

/// A decision about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecidedCall<'c> {
    /// Whether what is called looks as if it did not exist.
    pub is_closed: bool,
    /// The call that was decided about, as a header line names it, if the head alone was read.
    pub of_head: Option<&'c str>,
}

impl<'c> DecidedCall<'c> {
    /// What the member says.
    pub fn of(member: Option<&'c str>) -> Self {
        let member = member.unwrap_or_default();
        let (word, of_head) = member.split_once(' ').map_or((member, None), |(word, call)| (word, Some(call)));
        DecidedCall { is_closed: word == CLOSED, of_head }
    }
}

impl fmt::Display for DecidedCall<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_closed { CLOSED } else { OPEN })?;
        self.of_head.iter().try_for_each(|call| write!(formatter, " {call}"))
    }
}

#[cfg(test)]
mod tests {
    use super::DecidedCall;

    #[test]
    fn what_is_written_is_read() {
        for is_closed in [false, true] {
            for of_head in [None, Some("tools/call closed open")] {
                let decided = DecidedCall { is_closed, of_head };
                assert_eq!(DecidedCall::of(Some(&decided.to_string())), decided);
            }
        }
        assert_eq!(DecidedCall::of(None), DecidedCall::default());
    }
}
