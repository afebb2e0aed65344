// Values that fit a schema: what its document gives as an example, or one that is made of it.

import { type Json, VALUES_MAX, laidOut, list, members, object, resolved, text } from "./reference";
import { ofOthers, shapeOf } from "./shape";

/** How deep an example goes, and of how many values it is made. */
const DEPTH_MAX = 6;
const VALUES_OF_ONE_MAX = 300;

export interface Example { title: string; text: string }

/** Examples of a body or a parameter that the document gives; one that is made of the schema if it gives none. */
export function examplesOf(document: Json, media: Json, isRequest: boolean): Example[] {
  const given = object(media);
  if (given.example !== undefined) return [{ title: "Example", text: laidOut(given.example) }];
  const named = members(given.examples).slice(0, VALUES_MAX).map(([name, one]) => ({ name, value: object(resolved(document, one)) })).filter((one) => one.value.value !== undefined);
  if (named.length > 0) return named.map(({ name, value }) => ({ title: text(value.summary) || name, text: laidOut(value.value) }));
  if (given.schema === undefined) return [];
  const made = exampleOf(document, given.schema, isRequest);
  return made === undefined ? [] : [{ title: "Example", text: laidOut(made) }];
}

/** A value that fits a schema. `undefined` if nothing is known of it. */
export function exampleOf(document: Json, schema: Json, isRequest: boolean, above: Json[] = [], budget = { left: VALUES_OF_ONE_MAX }): Json {
  const at = resolved(document, schema);
  // What is in itself would have no end.
  if (above.length > DEPTH_MAX || budget.left-- <= 0 || above.includes(at)) return undefined;
  const shape = shapeOf(document, schema);
  const { words } = shape;
  const given = [words.example, list(words.examples)[0], words.default, words.const, list(words.enum)[0]].find((one) => one !== undefined);
  if (given !== undefined) return given;
  const inner = (one: Json) => exampleOf(document, one, isRequest, [...above, at], budget);
  if (shape.isList) return [words.items === undefined ? undefined : inner(words.items)].filter((one) => one !== undefined);
  const chosen = shape.choices.map((choice) => ({ value: inner(choice.options[0]), choice }));
  const type = text(words.type) || text(list(words.type).find((one) => one !== "null"));
  if (shape.properties.length === 0 && chosen[0] && type !== "object") return withTold(chosen[0].value, chosen[0].choice);
  if (shape.properties.length > 0 || type === "object" || ofOthers(shape)) {
    const own = shape.properties.filter(([, one]) => !(isRequest ? shapeOf(document, one).words.readOnly : shapeOf(document, one).words.writeOnly)).map(([name, one]) => [name, inner(one)] as const).filter(([, value]) => value !== undefined);
    const others = shape.properties.length === 0 && chosen.length === 0 ? ofOthers(shape) : null;
    const other = others && Object.keys(others).length > 0 ? inner(others) : undefined;
    return Object.fromEntries([...own, ...chosen.flatMap(({ value, choice }) => Object.entries(object(withTold(value, choice)))), ...(other !== undefined ? [["name", other] as const] : [])]);
  }
  switch (type) {
    case "string": return ofFormat(text(words.format));
    case "integer": case "number": return typeof words.minimum === "number" ? words.minimum + (words.exclusiveMinimum === true ? 1 : 0) : typeof words.exclusiveMinimum === "number" ? words.exclusiveMinimum + 1 : 0;
    case "boolean": return true;
    default: return undefined;
  }
}

/** The value says itself which alternative it is. */
function withTold(value: Json, choice: { member: string; values: string[] }): Json {
  return choice.member && choice.values[0] && value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries([[choice.member, choice.values[0]], ...Object.entries(value).filter(([name]) => name !== choice.member)]) : value;
}

function ofFormat(format: string): string {
  switch (format) {
    case "date-time": return "2026-01-31T12:00:00Z";
    case "date": return "2026-01-31";
    case "time": return "12:00:00Z";
    case "uuid": return "3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b";
    case "email": return "ada@example.com";
    case "uri": case "url": return "https://example.com/";
    case "hostname": return "example.com";
    case "ipv4": return "192.0.2.1";
    case "ipv6": return "2001:db8::1";
    case "byte": return "AA==";
    default: return "text";
  }
}
