// What somebody writes into a form for an operation: how its parameters and its body begin, and how they become a request.

import * as format from "../format";
import { exampleOf, examplesOf } from "./example";
import { type Json, VALUES_MAX, laidOut, list, members, object, resolved, text, written } from "./reference";
import type { Prepared } from "./request";
import { shapeOf } from "./shape";

/** What a parameter is at first: its example, or what it is if nobody says otherwise; of what must be there, something that fits. */
export function initial(document: Json, parameter: Json): string {
  const given = object(parameter);
  if (!given.schema && given.content) return examplesOf(document, members(given.content)[0]?.[1], true)[0]?.text ?? "";
  const own = given.example ?? object(resolved(document, members(given.examples)[0]?.[1])).value;
  const { words } = shapeOf(document, given.schema);
  const value = own ?? words.example ?? list(words.examples)[0] ?? words.default ?? (given.required === true || given.in === "path" ? exampleOf(document, given.schema, true) : undefined);
  return typedAs(value);
}

const typedAs = (value: Json): string => (value === undefined || value === null ? "" : Array.isArray(value) ? value.slice(0, VALUES_MAX).map((one) => written(one)).join("\n") : laidOut(value));

export interface FormField { name: string; schema: Json; isRequired: boolean; isFile: boolean; isList: boolean; value: string | File | null }
/** A body as somebody writes it: a text, fields of a form, or a file. */
export interface WrittenBody { text: string; fields?: FormField[] | undefined; file?: File | null }

const FORMS = ["application/x-www-form-urlencoded", "multipart/form-data"];

/** The body of a content type at first. */
export function startOf(document: Json, type: string, media: Json): WrittenBody {
  const { schema } = object(media);
  const isBinary = (one: Json) => { const { words } = shapeOf(document, one); return words.format === "binary" || (text(words.contentMediaType) !== "" && !words.contentEncoding); };
  if (FORMS.includes(type.toLowerCase().split(";")[0]?.trim() ?? "")) {
    const shape = shapeOf(document, schema), example = object(object(media).example ?? exampleOf(document, schema, true));
    return { text: "", fields: shape.properties.filter(([, one]) => shapeOf(document, one).words.readOnly !== true).map(([name, one]) => ({ name, schema: one, isRequired: shape.required.has(name), isFile: isBinary(one), isList: shapeOf(document, one).isList, value: isBinary(one) ? null : typedAs(Object.hasOwn(example, name) ? example[name] : undefined) })) };
  }
  if (schema !== undefined && isBinary(schema) || /^(image|audio|video|font)\/|octet-stream|\/(pdf|zip|gzip)\b/.test(type)) return { text: "", file: null };
  const example = examplesOf(document, media, true)[0]?.text ?? "";
  // What is made of a schema is JSON.
  return { text: /json/i.test(type) || object(media).example !== undefined || object(media).examples !== undefined || !/^[{[]/.test(example) ? example : "" };
}

/** The request with its body. */
export function withBody(prepared: Prepared, type: string, body: WrittenBody): Prepared {
  const [name = ""] = type.split(";"), kindOf: [string, string] = ["Content-Type", type];
  // Entries of a list stand in lines, and are fields of the same name.
  const filled = (body.fields ?? []).flatMap(({ name: field, value, isList }) => (typeof value === "string" ? (isList ? value.split("\n") : [value]).filter(Boolean) : value ? [value] : []).map((one) => [field, one] as const));
  const typed = { ...prepared, headers: [...prepared.headers, kindOf] };
  if (!type || type.includes("*")) return prepared;
  if (body.fields && name.trim().toLowerCase() === "multipart/form-data") {
    const form = new FormData();
    for (const [field, value] of filled) form.append(field, value);
    return { ...prepared, body: form, curl: filled.map(([field, value]) => (typeof value === "string" ? `--form-string ${format.shell(`${field}=${value}`)}` : `-F ${format.shell(`${field}=@${value.name}`)}`)) };
  }
  if (body.fields) {
    const pairs = new URLSearchParams(filled.map(([field, value]) => [field, String(value)]));
    return { ...typed, body: String(pairs), curl: [`--data-raw ${format.shell(String(pairs))}`] };
  }
  if (body.file !== undefined) return body.file ? { ...typed, body: body.file, curl: [`--data-binary ${format.shell(`@${body.file.name}`)}`] } : prepared;
  return body.text ? { ...typed, body: body.text, curl: [`--data-raw ${format.shell(body.text)}`] } : prepared;
}
