//! The words of faults. Where Tyk has its own sentence for a fault, clients and alerts may know it, so it is said in these words; all others
//! are said as the library says them.

/// Patterns of the library's sentences, with `{}` for names, and Tyk's sentences with the names' places.
const SENTENCES: &[(&str, &str)] = &[
    ("type {} does not have a field {}", "field: {1} not defined on type: {0}"),
    ("cannot find fragment {} in this document", "fragment: {0} undefined"),
    ("fragment {} must be used in an operation", "fragment: {0} defined but not used"),
    ("{} fragment cannot reference itself", "fragment spread: {0} forms fragment cycle"),
    ("cannot find type {} in this document", "Unknown type \"{0}\"."),
    ("the argument {} is not supported by {}", "Unknown argument \"{0}\" on field \"{1}\"."),
    ("the operation {} is defined multiple times in the document", "operation name must be unique: {0}"),
    ("the fragment {} is defined multiple times in the document", "fragment: {0} must be unique per document"),
    ("the argument {} is provided multiple times", "argument: {0} must be unique"),
    (
        "anonymous operation cannot be selected when the document contains other operations",
        "anonymous operation name the only operation in a graphql document",
    ),
];

/// A fault of the library in Tyk's words, if Tyk has any.
pub(crate) fn worded(message: &str) -> String {
    let mut pattern = String::with_capacity(message.len());
    let mut names = Vec::new();
    for (index, part) in message.split('`').enumerate() {
        if index % 2 == 0 {
            pattern.push_str(part);
        } else {
            pattern.push_str("{}");
            names.push(part);
        }
    }
    if let Some(name) = pattern.strip_prefix("cannot find directive {}").and(names.first()) {
        return format!("directive: {} undefined", name.trim_start_matches('@'));
    }
    if let ("the required argument {} is not provided", Some((field, argument))) =
        (pattern.as_str(), names.first().and_then(|place| place.split_once('(')))
    {
        let (field, argument) = (field.rsplit('.').next().unwrap_or(field), argument.trim_end_matches([')', ':']));
        return format!("argument: {argument} is required on field: {field} but missing");
    }
    let Some((_, sentence)) = SENTENCES.iter().find(|(known, _)| *known == pattern) else { return message.to_owned() };
    names.iter().enumerate().fold((*sentence).to_owned(), |text, (index, name)| text.replace(&format!("{{{index}}}"), name))
}

#[cfg(test)]
mod tests;
