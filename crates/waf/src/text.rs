//! Texts with variables in them: `%{TX.name}`.

use crate::variable::RuleTarget;
use std::borrow::Cow;

/// Values that texts may refer to.
pub(crate) trait TextVariables {
    /// The first value that the variable selects; empty without one.
    fn first_value(&self, target: &RuleTarget) -> Vec<u8>;
}

/// A text of a rule.
#[derive(Debug, Clone)]
pub(crate) enum MacroText {
    Literal(Vec<u8>),
    Pieces(Vec<Piece>),
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Literal(Vec<u8>),
    Variable(RuleTarget),
}

impl MacroText {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("%{") {
            let Some((name, after)) = behind.split_once('}') else { break };
            pieces.push(Piece::Literal(before.as_bytes().to_vec()));
            let (collection, key) = name.split_once('.').map_or((name, None), |(collection, key)| (collection, Some(key)));
            let written = key.map_or_else(|| collection.to_owned(), |key| format!("{collection}:{key}"));
            pieces.push(Piece::Variable(RuleTarget::read(&written)?));
            rest = after;
        }
        if pieces.is_empty() {
            return Ok(MacroText::Literal(text.as_bytes().to_vec()));
        }
        pieces.push(Piece::Literal(rest.as_bytes().to_vec()));
        Ok(MacroText::Pieces(pieces))
    }

    pub(crate) fn expand(&self, variables: &dyn TextVariables) -> Cow<'_, [u8]> {
        match self {
            MacroText::Literal(text) => Cow::Borrowed(text),
            MacroText::Pieces(pieces) => Cow::Owned(pieces.iter().fold(Vec::new(), |mut text, piece| {
                match piece {
                    Piece::Literal(literal) => text.extend(literal),
                    Piece::Variable(target) => text.extend(variables.first_value(target)),
                }
                text
            })),
        }
    }
}
