//! What can be read off the names of models: generations whose APIs differ. Names may have a vendor's name, a region or a path before them.

/// Claude before 4.6 wants a number of tokens to think with; later ones decide themselves, and refuse a number.
pub(crate) fn thinks_by_budget(model: &str) -> bool {
    const OLD: &[&str] = &[
        "claude-2",
        "claude-3",
        "claude-opus-4-0",
        "claude-opus-4-1",
        "claude-opus-4-2",
        "claude-opus-4-5",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2",
    ];
    const LAST: &[&str] = &["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4@", "claude-sonnet-4@"];
    OLD.iter().chain(LAST).any(|name| model.contains(name))
}

/// From its third generation on, Gemini thinks by levels and wants proofs of its thoughts back.
pub(crate) fn is_gemini_3_or_later(model: &str) -> bool {
    let number = model
        .split_once("gemini-")
        .and_then(|(_, rest)| rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok());
    number.is_some_and(|number| number >= 3)
}

/// Whether a model may think without showing it, so that an answer may have taken more than its text says.
pub fn hides_thoughts(model: &str) -> bool {
    const BEGINNINGS: &[&str] = &["o1", "o3", "o4", "gpt-5", "gemini-2.5", "gemini-3", "gpt-oss"];
    let name = model.rsplit(['/', ':']).next().unwrap_or(model);
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests;
