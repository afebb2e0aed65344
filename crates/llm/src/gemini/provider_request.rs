//! A request for Gemini.

use super::media::media_type_of;
use crate::form::{Ask, Effort, Media, Message, Part, Reasoning, ResponseFormat, Role, ToolChoice, Unsupported};
use crate::generation::is_gemini_3_or_later;
use crate::json::{ArrayOut, ObjectOut, object};

/// What Google's documents give for calls that another model made, whose thoughts have no proof: third-generation models refuse calls without one.
const NO_PROOF: &str = "skip_thought_signature_validator";

/// Writes the body.
pub(crate) fn write_request(ask: &Ask) -> Result<Vec<u8>, Unsupported> {
    let mut body = Vec::new();
    object(&mut body, |out| write_body(out, ask))?;
    Ok(body)
}

fn write_body(out: &mut ObjectOut, ask: &Ask) -> Result<(), Unsupported> {
    if ask.parallel_tool_calls == Some(false) && !ask.tools.is_empty() {
        return Err(Unsupported::new("parallel_tool_calls", "Gemini may always call several tools at once"));
    }
    if !ask.system.is_empty() {
        out.object("systemInstruction", |out| {
            out.array("parts", |parts| ask.system.iter().for_each(|text| parts.object(|part| part.text("text", text))));
        });
    }
    let wants_proof = is_gemini_3_or_later(&ask.model);
    out.array("contents", |contents| ask.messages.iter().try_for_each(|message| write_message(contents, message, wants_proof)))?;
    if !ask.tools.is_empty() {
        write_tools(out, ask);
    }
    out.object("generationConfig", |out| write_config(out, ask))
}

fn write_tools(out: &mut ObjectOut, ask: &Ask) {
    out.array("tools", |tools| {
        tools.object(|out| {
            out.array("functionDeclarations", |functions| {
                for tool in &ask.tools {
                    functions.object(|out| {
                        out.text("name", &tool.name);
                        out.text_if("description", tool.description.as_deref());
                        out.raw("parametersJsonSchema", &tool.schema);
                    });
                }
            });
        });
    });
    let is_strict = ask.tools.iter().any(|tool| tool.strict == Some(true));
    let (mode, name) = match &ask.tool_choice {
        None | Some(ToolChoice::Auto) if is_strict => ("VALIDATED", None),
        None => return,
        Some(ToolChoice::Auto) => ("AUTO", None),
        Some(ToolChoice::None) => ("NONE", None),
        Some(ToolChoice::Required) => ("ANY", None),
        Some(ToolChoice::Named(name)) => ("ANY", Some(name)),
    };
    out.object("toolConfig", |out| {
        out.object("functionCallingConfig", |out| {
            out.text("mode", mode);
            if let Some(name) = name {
                out.array("allowedFunctionNames", |names| names.text(name));
            }
        });
    });
}

fn write_config(out: &mut ObjectOut, ask: &Ask) -> Result<(), Unsupported> {
    out.number_if("temperature", ask.temperature);
    out.number_if("topP", ask.top_p);
    out.whole_if("topK", ask.top_k);
    out.whole_if("maxOutputTokens", ask.output_tokens_max);
    if !ask.stop.is_empty() {
        out.array("stopSequences", |stop| ask.stop.iter().for_each(|text| stop.text(text)));
    }
    out.integer_if("seed", ask.seed);
    out.number_if("frequencyPenalty", ask.frequency_penalty);
    out.number_if("presencePenalty", ask.presence_penalty);
    match &ask.response_format {
        ResponseFormat::Text => {}
        ResponseFormat::Json => out.text("responseMimeType", "application/json"),
        ResponseFormat::Schema { schema, .. } => {
            out.text("responseMimeType", "application/json");
            out.raw("responseJsonSchema", schema);
        }
    }
    // Third-generation models know levels, those before numbers; -1 is as much as they like.
    let by_level = is_gemini_3_or_later(&ask.model);
    let Some(reasoning) = ask.reasoning else { return Ok(()) };
    out.object("thinkingConfig", |out| {
        out.flag("includeThoughts", reasoning != Reasoning::Off);
        match reasoning {
            Reasoning::Off if by_level => return Err(Unsupported::new("reasoning", "this model of Gemini always thinks")),
            Reasoning::Off => out.whole("thinkingBudget", 0),
            Reasoning::Adaptive if by_level => {}
            Reasoning::Adaptive => out.integer_if("thinkingBudget", Some(-1)),
            Reasoning::Effort(effort) if by_level => out.text("thinkingLevel", level(effort)),
            Reasoning::Effort(effort) => out.whole("thinkingBudget", effort.budget()),
            Reasoning::Budget(tokens) if by_level => out.text("thinkingLevel", level(Effort::of_budget(tokens))),
            Reasoning::Budget(tokens) => out.whole("thinkingBudget", tokens),
        }
        Ok(())
    })
}

fn level(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::Higher | Effort::Max => "HIGH",
    }
}

fn write_message(contents: &mut ArrayOut, message: &Message, wants_proof: bool) -> Result<(), Unsupported> {
    // Thoughts are not sent: the proofs that Gemini wants back are with the calls.
    if message.parts.iter().all(|part| matches!(part, Part::Reasoning(_))) {
        return Ok(());
    }
    contents.object(|out| {
        out.text("role", if message.role == Role::User { "user" } else { "model" });
        let mut wants_proof = wants_proof;
        out.array("parts", |parts| message.parts.iter().try_for_each(|part| write_part(parts, part, &mut wants_proof)))
    })
}

fn write_part(parts: &mut ArrayOut, part: &Part, wants_proof: &mut bool) -> Result<(), Unsupported> {
    match part {
        Part::Text(text) | Part::Document(Media::Text(text), _) => parts.object(|out| out.text("text", text)),
        Part::Image(media) | Part::Document(media, _) => write_media(parts, media),
        Part::ToolCall(call) => parts.object(|out| {
            out.object("functionCall", |out| {
                out.text("name", &call.name);
                out.raw("args", &call.arguments);
            });
            // Only the first of several calls at once has a proof.
            let proof = call.signature.as_deref().or(wants_proof.then_some(NO_PROOF));
            out.text_if("thoughtSignature", proof);
            *wants_proof = false;
        }),
        Part::ToolResult(result) => {
            if result.name.is_empty() {
                return Err(Unsupported::new(
                    "messages",
                    "a tool's result has no call before it, and Gemini wants the tool's name",
                ));
            }
            let texts = result.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
            let text: String = texts.collect();
            parts.object(|out| {
                out.object("functionResponse", |out| {
                    out.text("name", &result.name);
                    out.object("response", |out| out.text(if result.is_error { "error" } else { "output" }, &text));
                });
            });
            for part in &result.parts {
                if let Part::Image(media) | Part::Document(media, _) = part {
                    write_media(parts, media);
                }
            }
        }
        Part::Reasoning(_) | Part::Citation(_) => {}
    }
    Ok(())
}

fn write_media(parts: &mut ArrayOut, media: &Media) {
    parts.object(|out| match media {
        Media::Text(text) => out.text("text", text),
        Media::Base64 { media_type, data } => out.object("inlineData", |out| {
            out.text("mimeType", media_type);
            out.text("data", data);
        }),
        Media::Url(url) => out.object("fileData", |out| {
            out.text_if("mimeType", media_type_of(url));
            out.text("fileUri", url);
        }),
    });
}
