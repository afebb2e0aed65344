//! XML: the texts between tags, and the values of attributes. Entities that a document declares stay as they are written: nothing is fetched,
//! and nothing grows.

use super::BodyFault;
use crate::budget::InspectionBudget;
use crate::source::ValueSource;
use crate::values::ValueStore;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use tollgate_text::byte_order_mark;

pub(super) fn fill(body: &[u8], values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<(), BodyFault> {
    let mut reader = Reader::from_reader(byte_order_mark::without(body));
    let mut text: Vec<u8> = Vec::new();
    let mut has_element = false;
    loop {
        let event = reader.read_event().map_err(|error| unreadable(&error))?;
        match &event {
            Event::Text(part) => text.extend(part.as_bytes()),
            Event::CData(part) => text.extend(part.as_bytes()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => text.extend(character.encode_utf8(&mut [0; 4]).bytes()),
                _ => text.extend(entity(reference)),
            },
            Event::Comment(part) => values.add(ValueSource::XmlText, b"", part.as_bytes(), budget)?,
            _ => {
                if !text.trim_ascii().is_empty() {
                    values.add(ValueSource::XmlText, b"", &text, budget)?;
                }
                text.clear();
            }
        }
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                has_element = true;
                fill_attributes(&tag, values, budget)?;
            }
            Event::Eof if has_element => return Ok(()),
            Event::Eof => return Err(BodyFault::Unreadable("not XML: it has no element".to_owned())),
            _ => {}
        }
    }
}

fn unreadable(error: &dyn std::error::Error) -> BodyFault {
    BodyFault::Unreadable(format!("not XML: {error}"))
}

fn entity(name: &str) -> Vec<u8> {
    resolve_predefined_entity(name).map_or_else(|| format!("&{name};"), str::to_owned).into_bytes()
}

fn fill_attributes(tag: &BytesStart<'_>, values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<(), BodyFault> {
    // To find those that are there twice would take time that is quadratic in their number.
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| unreadable(&error))?;
        let written = attribute.value;
        let value = quick_xml::escape::unescape(&written).unwrap_or(Cow::Borrowed(&*written));
        values.add(ValueSource::XmlAttributes, b"", value.as_bytes(), budget)?;
    }
    Ok(())
}
