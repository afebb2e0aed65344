//! What is said of the parts of an Ingress.

/// What became of one annotation, or of another part of an Ingress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportLine {
    /// The annotation, or the path of the member.
    pub subject: String,
    pub outcome: ReportOutcome,
    /// What it became, or why it has no effect.
    pub reason: String,
}

/// How much of something is carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportOutcome {
    Carried,
    Approximated,
    NotCarried,
    /// Not carried over, and the paths of the Ingress answer 503 for it.
    Closed,
}
