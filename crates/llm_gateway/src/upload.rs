//! Receives a request's body. What has come is counted as its sender's before there is more, so that many that are sent at once fill no memory.

use crate::asked::{REQUEST_BYTES_MAX, UPLOAD_BYTES_MAX};
use crate::llm_server::LlmServer;
use crate::surface::Surface;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use tollgate_llm::{Fault, FaultKind};
use tollgate_outbound::{Holder, Share};

/// A share grows by at most so many bytes before they are there.
const AHEAD_BYTES_MAX: usize = 128 << 10;
pub(crate) const TOO_MUCH: &str = "too many large requests and answers are under way";

impl LlmServer {
    /// The whole body, and the memory that its request has.
    ///
    /// # Errors
    /// It is too large, was cut, or its sender has too much of the memory.
    pub(crate) async fn received(&self, surface: &Surface, holder: &Holder, mut body: Incoming) -> Result<(Bytes, Share), Fault> {
        let bytes_max = if matches!(surface, Surface::Media(_)) { UPLOAD_BYTES_MAX } else { REQUEST_BYTES_MAX };
        let too_much = || Fault::new(FaultKind::Overloaded, TOO_MUCH);
        let mut upload = Upload::new(self.shares.take(holder.clone(), 0).ok_or_else(too_much)?);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Fault::new(FaultKind::InvalidRequest, "the request was cut"))?;
            let Some(bytes) = frame.data_ref() else { continue };
            if upload.bytes.len() + bytes.len() > bytes_max {
                return Err(Fault::new(FaultKind::TooLarge, format!("the request has more than {bytes_max} bytes")));
            }
            upload.push(bytes).then_some(()).ok_or_else(too_much)?;
        }
        upload.end(surface).ok_or_else(too_much)
    }
}

/// What has come of a body.
struct Upload {
    bytes: Vec<u8>,
    share: Share,
    counted: usize,
}

impl Upload {
    fn new(share: Share) -> Self {
        Upload { bytes: Vec::new(), share, counted: 0 }
    }

    /// Takes the next bytes; false if their sender has too much.
    fn push(&mut self, bytes: &[u8]) -> bool {
        // A buffer that grows is there twice for a moment.
        let needed = 2 * (self.bytes.len() + bytes.len());
        if self.counted < needed {
            self.counted = needed + self.counted.min(AHEAD_BYTES_MAX);
            if !self.share.resize(self.counted) {
                return false;
            }
        }
        self.bytes.extend_from_slice(bytes);
        true
    }

    /// The whole body, with the memory that its request has.
    fn end(mut self, surface: &Surface) -> Option<(Bytes, Share)> {
        self.share.resize(memory_of(surface, &self.bytes)).then_some((Bytes::from(self.bytes), self.share))
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

#[cfg(test)]
mod tests {
    use super::Upload;
    use crate::surface::Surface;
    use tollgate_llm::ClientApi;
    use tollgate_outbound::{Holder, Shares};

    #[test]
    fn a_request_has_the_memory_that_it_needs() {
        let surface = Surface::Talk(ClientApi::OpenAiChat);
        let holder = Holder { owner: "key".to_owned(), network: None };
        let shares = Shares::new(usize::MAX, 8 << 20);
        let body = vec![b'x'; 1 << 10];
        let upload = || {
            let mut upload = Upload::new(shares.take(holder.clone(), 0)?);
            upload.push(&body).then(|| upload.end(&surface))?
        };
        let small: Vec<_> = std::iter::from_fn(upload).collect();
        assert!((1_900..=2_048).contains(&small.len()), "{} requests of 1 KiB have 8 MiB", small.len());
        drop(small);
        let mut large = Upload::new(shares.take(holder.clone(), 0).unwrap());
        let pushed = (0..).take_while(|_| large.push(&body)).count();
        assert!((3_900..=4_096).contains(&pushed), "a body of {pushed} KiB is there twice in 8 MiB");
        assert!(large.end(&surface).is_none(), "its request would need more");
    }
}
