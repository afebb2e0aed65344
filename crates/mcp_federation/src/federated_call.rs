//! What the data path and the federation tell each other of a call beside its messages: what its caller may call elsewhere, and the code of the error in
//! its response, which may come long after the status.

use crate::outside::CallerRights;
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};

/// One call.
#[derive(Default)]
pub struct FederatedCall {
    /// The code of the error that its client got; 0 for none.
    code: AtomicI32,
    /// What its caller may call of the gateway's own APIs; `None` for all that they let pass.
    pub(crate) rights: Option<Box<dyn CallerRights>>,
}

impl FederatedCall {
    /// A call of a caller with these rights.
    pub fn new(rights: Option<Box<dyn CallerRights>>) -> Self {
        FederatedCall { rights, ..FederatedCall::default() }
    }

    /// The client gets an error.
    pub(crate) fn note(&self, code: i64) {
        self.code.store(i32::try_from(code).unwrap_or_default(), Ordering::Release);
    }

    /// The code of the error that the client got; `None` for none.
    pub fn error(&self) -> Option<i32> {
        Some(self.code.load(Ordering::Acquire)).filter(|code| *code != 0)
    }
}

impl fmt::Debug for FederatedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FederatedCall").field("code", &self.code).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::FederatedCall;

    #[test]
    fn an_error_is_told_if_it_has_a_code() {
        let (one, other) = (FederatedCall::default(), FederatedCall::default());
        one.note(-32004);
        other.note(i64::MAX);
        assert_eq!((one.error(), other.error()), (Some(-32004), None));
    }
}
