//! What a search finds, as it was computed last: documents are large, and change seldom.

use crate::refusal::PortalRefusal;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Versions of what is published, and of the APIs in service.
pub(crate) type SearchVersions = (Option<String>, u64);

/// The answers for all versions that are asked for one after the other.
#[derive(Default)]
pub(crate) struct SearchIndex(Mutex<Option<(SearchVersions, SearchAnswers)>>);

/// Answers as JSON.
#[derive(Clone)]
pub(crate) struct SearchAnswers {
    /// For everybody.
    pub public: Arc<str>,
    /// For those who are signed in.
    pub all: Arc<str>,
}

impl SearchIndex {
    /// The answers of these versions, which were read before `compute` reads anything. While one caller computes, others wait for the same.
    pub(crate) async fn answers(
        &self,
        versions: SearchVersions,
        compute: impl Future<Output = Result<SearchAnswers, PortalRefusal>>,
    ) -> Result<SearchAnswers, PortalRefusal> {
        let mut known = self.0.lock().await;
        if let Some((_, answers)) = known.as_ref().filter(|(of, _)| *of == versions) {
            return Ok(answers.clone());
        }
        let answers = compute.await?;
        *known = Some((versions, answers.clone()));
        Ok(answers)
    }
}
