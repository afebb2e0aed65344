//! Receives a request's body. What has come is counted as its sender's before there is more, so that many that are sent at once fill no memory.

use crate::asked::{REQUEST_BYTES_MAX, UPLOAD_BYTES_MAX};
use crate::llm_server::LlmServer;
use crate::surface::Surface;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use tollgate_llm::{Fault, FaultKind};
use tollgate_outbound::{Holder, Share};

/// A share is taken for so many bytes at once.
const STEP: usize = 64 << 10;
pub(crate) const TOO_MUCH: &str = "too many large requests and answers are under way";

impl LlmServer {
    /// The whole body, and the memory that its request has.
    ///
    /// # Errors
    /// It is too large, was cut, or its sender has too much of the memory.
    pub(crate) async fn received(
        &self,
        surface: &Surface,
        holder: &Holder,
        mut body: Incoming,
    ) -> Result<(Bytes, Vec<Share>), Fault> {
        let bytes_max = if matches!(surface, Surface::Media(_)) { UPLOAD_BYTES_MAX } else { REQUEST_BYTES_MAX };
        let take =
            |bytes: usize| self.shares.take(holder.clone(), bytes).ok_or_else(|| Fault::new(FaultKind::Overloaded, TOO_MUCH));
        let (mut all, mut shares, mut counted) = (Vec::new(), Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Fault::new(FaultKind::InvalidRequest, "the request was cut"))?;
            let Some(bytes) = frame.data_ref() else { continue };
            if all.len() + bytes.len() > bytes_max {
                return Err(Fault::new(FaultKind::TooLarge, format!("the request has more than {bytes_max} bytes")));
            }
            // A buffer that grows is there twice for a moment.
            while counted < 2 * (all.len() + bytes.len()) {
                shares.push(take(2 * STEP)?);
                counted += 2 * STEP;
            }
            all.extend_from_slice(bytes);
        }
        shares.push(take(memory_of(surface, &all).saturating_sub(counted))?);
        Ok((Bytes::from(all), shares))
    }
}

/// What a request takes of memory at most, about: it is there as it came, as it goes, and in the one form, where each value takes this.
fn memory_of(surface: &Surface, body: &[u8]) -> usize {
    const COPIES: usize = 4;
    const VALUE: usize = 96;
    if matches!(surface, Surface::Media(_)) {
        return COPIES * body.len();
    }
    let values = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    COPIES * body.len() + VALUE * values
}
