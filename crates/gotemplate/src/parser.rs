//! Parses tokens into a syntax tree, with Go's grammar. An error has its line.

use crate::arguments::{Function, FunctionBody};
use crate::ast::{Branch, LiteralValue, Operand, Pipeline, PipelineCommand, TemplateNode, VariableSlot};
use crate::functions::{function, refusal};
use crate::lexer::{self, Lexeme, PlacedToken};
use crate::pattern::TemplatePattern;
use crate::{ParseError, Template, number};
use std::collections::HashMap;

/// Maximum nesting of blocks and parentheses. Parsing and rendering recurse this deep; each level takes well below a KiB of stack.
const NESTING_MAX: usize = 100;

type Parsed<T> = Result<T, ParseError>;

/// What ended a list of nodes.
enum ListEnd {
    /// The end of the text.
    Eof,
    /// `{{end}}`, which is consumed.
    End,
    /// `{{else`; the rest is not consumed.
    Else,
}

struct Parser {
    tokens: Vec<PlacedToken>,
    /// The position of the next token.
    at: usize,
    line: usize,
    variables: Vec<String>,
    ranges: usize,
    depth: usize,
    defined: HashMap<String, Vec<TemplateNode>>,
}

pub(crate) fn parse(text: &str) -> Parsed<Template> {
    let tokens = lexer::tokens(text)?;
    let variables = vec!["$".to_owned()];
    let mut parser = Parser { tokens, at: 0, line: 1, variables, ranges: 0, depth: 0, defined: HashMap::new() };
    let mut main = Vec::new();
    match parser.list(&mut main, true)? {
        ListEnd::Eof => Ok(Template { main, defined: parser.defined }),
        ListEnd::End => Err(parser.error("unexpected {{end}}")),
        ListEnd::Else => Err(parser.error("unexpected {{else}}")),
    }
}

impl Parser {
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line, message: message.into() }
    }

    fn next(&mut self) -> Option<Lexeme> {
        let placed = self.tokens.get(self.at)?;
        self.at += 1;
        self.line = placed.line;
        Some(placed.token.clone())
    }

    fn peek(&self) -> Option<&Lexeme> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn take(&mut self, token: &Lexeme) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.next();
        }
        found
    }

    fn spaces(&mut self) {
        while self.take(&Lexeme::Space) {}
    }

    /// The next token that is not white space.
    fn word(&mut self) -> Option<Lexeme> {
        self.spaces();
        self.next()
    }

    fn close(&mut self, context: &str) -> Parsed<()> {
        match self.word() {
            Some(Lexeme::Close) => Ok(()),
            other => Err(self.error(format!("unexpected {} in {context}", told(other.as_ref())))),
        }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(self.error(format!("more than {NESTING_MAX} blocks or parentheses inside each other")));
        }
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    /// Nodes up to `{{end}}`, `{{else}}` (whose rest is not consumed) or the end of the text.
    fn list(&mut self, nodes: &mut Vec<TemplateNode>, top: bool) -> Parsed<ListEnd> {
        loop {
            match self.next() {
                None => return Ok(ListEnd::Eof),
                Some(Lexeme::Text(text)) => nodes.push(TemplateNode::Text(text)),
                _ => {
                    self.spaces();
                    let keyword = match self.peek() {
                        Some(Lexeme::Word(word)) => word.clone(),
                        _ => String::new(),
                    };
                    if keyword == "end" || keyword == "else" {
                        self.next();
                        if keyword == "else" {
                            return Ok(ListEnd::Else);
                        }
                        self.close("end")?;
                        return Ok(ListEnd::End);
                    }
                    if keyword == "define" && top {
                        self.next();
                        self.define()?;
                        continue;
                    }
                    nodes.extend(self.action(&keyword)?);
                }
            }
        }
    }

    fn action(&mut self, keyword: &str) -> Parsed<Option<TemplateNode>> {
        match keyword {
            "if" | "with" | "range" => {
                self.next();
                self.nested(|parser| parser.control(keyword).map(Some))
            }
            "template" => {
                self.next();
                let name = self.template_name("template clause")?;
                let argument = self.template_argument("template clause")?;
                Ok(Some(TemplateNode::Template { name, line: self.line, argument }))
            }
            "block" => {
                self.next();
                self.nested(Self::block).map(Some)
            }
            "break" | "continue" => {
                self.next();
                self.close(keyword)?;
                if self.ranges == 0 {
                    return Err(self.error(format!("{{{{{keyword}}}}} outside {{{{range}}}}")));
                }
                Ok(Some(if keyword == "break" { TemplateNode::Break } else { TemplateNode::Continue }))
            }
            "define" => Err(self.error("unexpected {{define}} in command")),
            _ => {
                let pipeline = self.pipeline("command", &Lexeme::Close)?;
                // A declaration prints nothing.
                Ok(Some(TemplateNode::Print(pipeline)))
            }
        }
    }

    /// `if`, `with` or `range`, after the keyword.
    fn control(&mut self, keyword: &str) -> Parsed<TemplateNode> {
        let visible = self.variables.len();
        let pipeline = self.pipeline(keyword, &Lexeme::Close)?;
        let declared = self.variables.len();
        let is_range = keyword == "range";
        self.ranges += usize::from(is_range);
        let mut body = Vec::new();
        let end = self.list(&mut body, false)?;
        self.ranges -= usize::from(is_range);
        self.variables.truncate(declared);
        let mut otherwise = Vec::new();
        match end {
            ListEnd::Eof => return Err(self.error("unexpected EOF")),
            ListEnd::End => {}
            ListEnd::Else => self.otherwise(keyword, &mut otherwise)?,
        }
        self.variables.truncate(visible);
        let branch = Branch { pipeline, body, otherwise };
        Ok(match keyword {
            "if" => TemplateNode::If(branch),
            "with" => TemplateNode::With(branch),
            _ => TemplateNode::Range(branch),
        })
    }

    /// The rest after `{{else`: another condition, or a list of nodes.
    fn otherwise(&mut self, keyword: &str, nodes: &mut Vec<TemplateNode>) -> Parsed<()> {
        self.spaces();
        if keyword != "range" && self.take(&Lexeme::Word(keyword.to_owned())) {
            nodes.push(self.nested(|parser| parser.control(keyword))?);
            return Ok(());
        }
        self.close("else")?;
        match self.list(nodes, false)? {
            ListEnd::End => Ok(()),
            ListEnd::Else => Err(self.error("expected end; found {{else}}")),
            ListEnd::Eof => Err(self.error("unexpected EOF")),
        }
    }

    fn template_name(&mut self, context: &str) -> Parsed<String> {
        match self.word() {
            Some(Lexeme::String(name)) => Ok(name),
            other => Err(self.error(format!("unexpected {} in {context}", told(other.as_ref())))),
        }
    }

    fn template_argument(&mut self, context: &str) -> Parsed<Option<Pipeline>> {
        self.spaces();
        if self.take(&Lexeme::Close) {
            return Ok(None);
        }
        self.pipeline(context, &Lexeme::Close).map(Some)
    }

    fn define(&mut self) -> Parsed<()> {
        let name = self.template_name("define clause")?;
        self.close("define clause")?;
        self.nested(|parser| parser.definition(name))
    }

    /// `{{block "name" pipeline}}`: defines a template and uses it.
    fn block(&mut self) -> Parsed<TemplateNode> {
        let name = self.template_name("block clause")?;
        let line = self.line;
        let argument = self.template_argument("block clause")?;
        self.definition(name.clone())?;
        Ok(TemplateNode::Template { name, line, argument })
    }

    /// The nodes of a nested template, up to its `{{end}}`.
    fn definition(&mut self, name: String) -> Parsed<()> {
        let variables = std::mem::replace(&mut self.variables, vec!["$".to_owned()]);
        let ranges = std::mem::take(&mut self.ranges);
        let mut body = Vec::new();
        match self.list(&mut body, false)? {
            ListEnd::End => {}
            ListEnd::Else => return Err(self.error("unexpected {{else}} in define clause")),
            ListEnd::Eof => return Err(self.error("unexpected EOF")),
        }
        self.variables = variables;
        self.ranges = ranges;
        // As in Go, a non-empty definition replaces an empty one.
        let is_empty =
            |body: &[TemplateNode]| body.iter().all(|node| matches!(node, TemplateNode::Text(text) if text.trim().is_empty()));
        match self.defined.get(&name) {
            Some(known) if !is_empty(known) && !is_empty(&body) => {
                return Err(self.error(format!("multiple definition of template {name:?}")));
            }
            Some(_) if is_empty(&body) => {}
            _ => {
                self.defined.insert(name, body);
            }
        }
        Ok(())
    }

    /// A pipeline up to `end`, which is consumed.
    fn pipeline(&mut self, context: &str, end: &Lexeme) -> Parsed<Pipeline> {
        self.spaces();
        let line = self.tokens.get(self.at).map_or(self.line, |placed| placed.line);
        let (names, assigns) = self.declarations(context)?;
        let mut commands = Vec::new();
        loop {
            commands.push(self.command(context)?);
            match self.next() {
                Some(Lexeme::Pipe) => {}
                Some(token) if token == *end => break,
                other => return Err(self.error(format!("unexpected {} in {context}", told(other.as_ref())))),
            }
        }
        let later = commands.iter().skip(1).find(|command| !matches!(command.operand, Operand::Function(_)));
        if later
            .is_some_and(|command| !matches!(command.operand, Operand::Field(_) | Operand::Variable(..) | Operand::Parenthesis(..)))
        {
            return Err(self.error("non executable command in a later stage of a pipeline"));
        }
        let mut variables = Vec::new();
        for name in names {
            variables.push(if assigns { self.variable(&name)? } else { self.declare(name) });
        }
        Ok(Pipeline { line, variables, commands })
    }

    /// `$x :=`, `$x =` or, in a `range`, `$i, $x :=`. A variable that is only used is left for the command.
    fn declarations(&mut self, context: &str) -> Parsed<(Vec<String>, bool)> {
        let tokens = self.tokens.get(self.at..).unwrap_or_default();
        let mut ahead = tokens.iter().map(|placed| &placed.token).filter(|token| **token != Lexeme::Space);
        let mut names = Vec::new();
        let assigns = loop {
            let Some(Lexeme::Variable(name)) = ahead.next() else { return Ok((Vec::new(), false)) };
            names.push(name.clone());
            match ahead.next() {
                Some(Lexeme::Declare) => break false,
                Some(Lexeme::Assign) => break true,
                Some(Lexeme::Comma) if context == "range" && names.len() < 2 => {}
                Some(Lexeme::Comma) => return Err(self.error(format!("too many declarations in {context}"))),
                _ => return Ok((Vec::new(), false)),
            }
        };
        while !matches!(self.next(), Some(Lexeme::Declare | Lexeme::Assign) | None) {}
        Ok((names, assigns))
    }

    fn declare(&mut self, name: String) -> VariableSlot {
        self.variables.push(name);
        self.variables.len() - 1
    }

    fn variable(&self, name: &str) -> Parsed<VariableSlot> {
        let found = self.variables.iter().rposition(|known| known == name);
        found.ok_or_else(|| self.error(format!("undefined variable {name:?}")))
    }

    /// An operand and its arguments, up to a pipe or the end of the pipeline.
    fn command(&mut self, context: &str) -> Parsed<PipelineCommand> {
        let mut operands = Vec::new();
        loop {
            self.spaces();
            match self.operand()? {
                Some(operand) => operands.push(operand),
                None => break,
            }
            if !matches!(self.peek(), Some(Lexeme::Space | Lexeme::Pipe | Lexeme::Close | Lexeme::RightParenthesis)) {
                let other = self.next();
                return Err(self.error(format!("unexpected {} in operand", told(other.as_ref()))));
            }
        }
        let mut operands = operands.into_iter();
        let Some(operand) = operands.next() else { return Err(self.error(format!("missing value for {context}"))) };
        let arguments: Vec<_> = operands.collect();
        if let Operand::Nil = operand {
            return Err(self.error("nil is not a command"));
        }
        if !arguments.is_empty() && matches!(operand, Operand::Dot | Operand::Constant(_)) {
            return Err(self.error("can't give arguments to what is no function"));
        }
        let pattern = self.pattern(&operand, &arguments)?;
        Ok(PipelineCommand { operand, arguments, pattern })
    }

    /// Compiles the regular expression of a search, if it stands in the template.
    fn pattern(&self, operand: &Operand, arguments: &[Operand]) -> Parsed<Option<Box<TemplatePattern>>> {
        let (Operand::Function(function), Some(Operand::Constant(LiteralValue::String(text)))) = (operand, arguments.first())
        else {
            return Ok(None);
        };
        if !matches!(function.body, FunctionBody::Search(_)) {
            return Ok(None);
        }
        let compiled = TemplatePattern::written(text).map_err(|why| self.error(format!("{}: {why}", function.name)))?;
        Ok(Some(Box::new(compiled)))
    }

    fn operand(&mut self) -> Parsed<Option<Operand>> {
        let operand = match self.peek() {
            Some(Lexeme::Word(_)) => {
                let Some(Lexeme::Word(word)) = self.next() else { return Ok(None) };
                self.named(&word)?
            }
            Some(Lexeme::Dot) => Operand::Dot,
            Some(Lexeme::Field(_)) => return Ok(Some(Operand::Field(self.fields()))),
            Some(Lexeme::Variable(_)) => {
                let Some(Lexeme::Variable(name)) = self.next() else { return Ok(None) };
                let slot = self.variable(&name)?;
                return Ok(Some(Operand::Variable(slot, self.fields())));
            }
            Some(Lexeme::Number(_)) => {
                let Some(Lexeme::Number(text)) = self.next() else { return Ok(None) };
                let number = number::literal(&text).ok_or_else(|| self.error(format!("bad number syntax: {text:?}")))?;
                return self.without_fields(Operand::Constant(number));
            }
            Some(Lexeme::Character(_)) => {
                let Some(Lexeme::Character(character)) = self.next() else { return Ok(None) };
                return self.without_fields(Operand::Constant(LiteralValue::Int(i64::from(u32::from(character)))));
            }
            Some(Lexeme::String(_)) => {
                let Some(Lexeme::String(text)) = self.next() else { return Ok(None) };
                return self.without_fields(Operand::Constant(LiteralValue::String(text)));
            }
            Some(Lexeme::LeftParenthesis) => {
                self.next();
                let inner = self.nested(|parser| parser.pipeline("parenthesized pipeline", &Lexeme::RightParenthesis))?;
                return Ok(Some(Operand::Parenthesis(Box::new(inner), self.fields())));
            }
            _ => return Ok(None),
        };
        if let Operand::Dot = operand {
            self.next();
        }
        self.without_fields(operand)
    }

    /// `.A.B`, as long as it continues.
    fn fields(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(Lexeme::Field(_)) = self.peek() {
            if let Some(Lexeme::Field(name)) = self.next() {
                names.push(name);
            }
        }
        names
    }

    fn without_fields(&mut self, operand: Operand) -> Parsed<Option<Operand>> {
        match (self.peek(), operand) {
            (Some(Lexeme::Field(_)), Operand::Function(function)) => {
                // `f.Name` is a field of the result of `f`.
                let call = PipelineCommand { operand: Operand::Function(function), arguments: Vec::new(), pattern: None };
                let inner = Pipeline { line: self.line, variables: Vec::new(), commands: vec![call] };
                Ok(Some(Operand::Parenthesis(Box::new(inner), self.fields())))
            }
            (Some(Lexeme::Field(name)), _) => {
                let message = format!("unexpected . after term, before {name:?}");
                Err(self.error(message))
            }
            (_, operand) => Ok(Some(operand)),
        }
    }

    fn named(&self, word: &str) -> Parsed<Operand> {
        Ok(match word {
            "true" => Operand::Constant(LiteralValue::Bool(true)),
            "false" => Operand::Constant(LiteralValue::Bool(false)),
            "nil" => Operand::Nil,
            _ => {
                let known: Option<&'static Function> = function(word);
                let unknown = || match refusal(word) {
                    Some(why) => self.error(format!("function {word:?} not defined: {why}")),
                    None => self.error(format!("function {word:?} not defined")),
                };
                Operand::Function(known.ok_or_else(unknown)?)
            }
        })
    }
}

/// The description of a token in an error.
fn told(token: Option<&Lexeme>) -> String {
    match token {
        None => "EOF".to_owned(),
        Some(Lexeme::Close) => "\"}}\"".to_owned(),
        Some(Lexeme::Word(word)) => format!("<{word}>"),
        Some(Lexeme::Field(name)) => format!("<.{name}>"),
        Some(Lexeme::Variable(name)) => format!("<{name}>"),
        Some(Lexeme::Number(text)) => format!("{text:?}"),
        Some(Lexeme::String(text)) => format!("{text:?}"),
        Some(other) => format!("{other:?}").to_lowercase(),
    }
}
