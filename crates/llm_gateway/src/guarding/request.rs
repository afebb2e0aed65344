//! Guards of requests, in their order. What one takes out, the next does not see.

use super::verdict::Verdict;
use crate::answer::AnswerBody;
use crate::asked::Asked;
use crate::figures::GuardOutcome;
use crate::guards::{Guard, GuardCheck, Placeholders, is_larger, refusal};
use crate::llm_server::LlmServer;
use http::Response;
use hyper::body::Bytes;
use std::sync::Arc;
use tollgate_llm::{Fault, FaultKind, TextKind, request_texts, spliced, text_at};
use tollgate_model::api::GuardAction;

/// Requests of more bytes are looked at on threads of their own: it takes longer than a millisecond.
const BRIEF_BYTES_MAX: usize = 64 << 10;

/// What a guard found in a request.
enum Look {
    Fine,
    /// What it does not want, and more about it.
    Found(&'static str),
    /// The request without it.
    Changed(Vec<u8>),
}

impl LlmServer {
    /// The request as it may go on, and what was taken out of it.
    ///
    /// # Errors
    /// The response of the guard that refuses it.
    pub(crate) async fn guard_request(
        self: &Arc<Self>,
        mut asked: Asked,
    ) -> Result<(Asked, Arc<Placeholders>), Response<AnswerBody>> {
        let mut placeholders = Placeholders::default();
        let acts = |guard: &Arc<Guard>| !guard.terms.dry_run && guard.terms.action != GuardAction::Report;
        if asked.is_form() && self.guards.request.iter().any(acts) {
            let why = "guards of this API cannot look into forms with files";
            return Err(crate::answer::fault(asked.form, &Fault::new(FaultKind::InvalidRequest, why), None));
        }
        for guard in &self.guards.request {
            guard.figures.add(GuardOutcome::Checked);
            if let GuardCheck::Moderation(terms) = &guard.terms.check {
                let texts =
                    request_texts(&asked.body).iter().map(|place| text_at(&asked.body, &place.range).into_owned()).collect();
                match terms.verdict(self, &asked.facts.alias, "request", texts).await {
                    Verdict::Fine => {}
                    Verdict::Flagged => {
                        if guard.matches(&self.terms.api, "request") && guard.refuses() {
                            return Err(refusal::response(guard, asked.form, &refusal::told(guard, "request", "")));
                        }
                    }
                    Verdict::Unknown => {
                        guard.figures.add(GuardOutcome::Failed);
                        if terms.refuses_on_failure && guard.refuses() && !guard.terms.dry_run {
                            return Err(refusal::response(guard, asked.form, &refusal::silent(guard)));
                        }
                    }
                }
                continue;
            }
            let look;
            (look, placeholders) = looked(guard, &asked.body, placeholders).await;
            let why = match look {
                Look::Fine => continue,
                Look::Found(why) => why,
                Look::Changed(_) => "",
            };
            if !guard.matches(&self.terms.api, "request") {
                continue;
            }
            match (guard.terms.action, look) {
                (GuardAction::Report, _) => {}
                (GuardAction::Redact, Look::Changed(body)) => {
                    let form = asked.form;
                    let read =
                        Asked::read(asked.surface, form, asked.headers, Bytes::from(body), (asked.facts, asked.report, asked.core));
                    asked = read.map_err(|why| crate::answer::fault(form, &why, None))?;
                }
                _ => return Err(refusal::response(guard, asked.form, &refusal::told(guard, "request", why))),
            }
        }
        Ok((asked, Arc::new(placeholders)))
    }
}

/// Looks at a request, where that holds up nobody.
async fn looked(guard: &Arc<Guard>, body: &Bytes, mut placeholders: Placeholders) -> (Look, Placeholders) {
    if body.len() <= BRIEF_BYTES_MAX {
        let look = look(guard, body, &mut placeholders);
        return (look, placeholders);
    }
    let (guard, body) = (guard.clone(), body.clone());
    let looking = tokio::task::spawn_blocking(move || {
        let look = look(&guard, &body, &mut placeholders);
        (look, placeholders)
    });
    // It does not end but by itself.
    looking.await.unwrap_or((Look::Found(""), Placeholders::default()))
}

fn look(guard: &Guard, body: &[u8], placeholders: &mut Placeholders) -> Look {
    let places = request_texts(body);
    let mut texts = places.iter().map(|place| (place, text_at(body, &place.range)));
    match &guard.terms.check {
        GuardCheck::Size { bytes_max, tokens_max } => {
            let bytes = texts.map(|(_, text)| text.len() as u64).sum();
            if is_larger(bytes, *bytes_max, *tokens_max) { Look::Found(": it is too long") } else { Look::Fine }
        }
        GuardCheck::Without(patterns) => {
            let is_one = texts.any(|(_, text)| patterns.iter().any(|pattern| pattern.is_match(&text)));
            if is_one { Look::Fine } else { Look::Found("") }
        }
        GuardCheck::Patterns(patterns) if guard.terms.action == GuardAction::Redact && !guard.terms.dry_run => {
            let mut changes = Vec::new();
            let mut is_noted = !placeholders.is_empty();
            for (place, text) in texts {
                let mut found: Vec<_> =
                    patterns.iter().flat_map(|pattern| pattern.find_from(&text, 0).map(move |range| (range, pattern))).collect();
                if found.is_empty() || place.kind == TextKind::Thought {
                    continue;
                }
                if !std::mem::replace(&mut is_noted, true) {
                    places.iter().for_each(|place| placeholders.note_taken(&text_at(body, &place.range)));
                }
                // The first one counts, and of two at one place the longer one.
                found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
                let (mut new, mut at) = (String::with_capacity(text.len()), 0);
                for (range, pattern) in found {
                    if range.end <= at {
                        continue;
                    }
                    // Of two that overlap, the second one takes out what is left of it.
                    let range = range.start.max(at)..range.end;
                    let Some(name) = text.get(range.clone()).and_then(|text| placeholders.name_of(text, pattern.label())) else {
                        return Look::Found(": there is too much to be taken out");
                    };
                    new.push_str(text.get(at..range.start).unwrap_or_default());
                    new.push_str(&name);
                    at = range.end;
                }
                new.push_str(text.get(at..).unwrap_or_default());
                changes.push((place.range.clone(), new));
            }
            if changes.is_empty() { Look::Fine } else { Look::Changed(spliced(body, &changes)) }
        }
        GuardCheck::Patterns(patterns) => {
            let is_found = texts.any(|(_, text)| patterns.iter().any(|pattern| pattern.is_match(&text)));
            if is_found { Look::Found("") } else { Look::Fine }
        }
        GuardCheck::Schema | GuardCheck::Moderation(_) => Look::Fine,
    }
}

#[cfg(test)]
mod tests;
