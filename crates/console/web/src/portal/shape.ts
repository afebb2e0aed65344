// What a JSON schema says, for people: its parts (`allOf`) as one, its alternatives, its type and its limits in words.

import { type Json, MEMBERS_MAX, VALUES_MAX, list, members, named, object, resolved, text, written } from "./reference";

/** Parts of one schema that are read. */
const PARTS_MAX = 50;
/** Lists of lists that are named in a type. */
const NESTED_MAX = 3;
/** How deep it is looked for something to show. */
const LOOK_MAX = 5;

export interface Choice { how: "One of" | "Any of"; options: Json[]; /** Member whose value tells which one it is, and what it says for each option. */ member: string; values: string[] }
export interface Shape {
  /** Name of the schema in its document; empty if it has none. */
  name: string;
  /** Its own words, and those of its parts where it has none. */
  words: Record<string, Json>;
  properties: [string, Json][]; required: Set<string>; choices: Choice[];
  isList: boolean; isNullable: boolean;
}

const WORDS = ["type", "title", "description", "format", "enum", "const", "default", "example", "examples", "items", "prefixItems", "additionalProperties", "patternProperties", "not",
  "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
  "readOnly", "writeOnly", "deprecated", "contentMediaType", "contentEncoding"];

const shapes = new WeakMap<object, Shape>();

export function shapeOf(document: Json, schema: Json): Shape {
  const given = object(schema);
  const before = shapes.get(given);
  if (before) return before;
  const parts: Record<string, Json>[] = [], seen = new Set<Json>(), choices: Choice[] = [];
  let isNullable = false;
  const gather = (value: Json) => {
    if (parts.length >= PARTS_MAX) return;
    const at = object(resolved(document, value));
    // Beside a reference, a schema may say more.
    if (typeof value?.$ref === "string" && Object.keys(value).length > 1) parts.push(value);
    if (seen.has(at)) return;
    seen.add(at);
    parts.push(at);
    isNullable ||= at.nullable === true || at.type === "null" || list(at.type).includes("null");
    list(at.allOf).slice(0, PARTS_MAX).forEach(gather);
    for (const [member, how] of [["oneOf", "One of"], ["anyOf", "Any of"]] as const) {
      const all = list(at[member]).slice(0, MEMBERS_MAX);
      const options = all.filter((one) => object(resolved(document, one)).type !== "null");
      isNullable ||= options.length < all.length;
      // "This, or nothing" is one schema.
      if (options.length === 1) gather(options[0]);
      else if (options.length > 1) choices.push({ how, options, ...told(at.discriminator, options) });
    }
  };
  gather(given);
  const words = Object.fromEntries(WORDS.map((word) => [word, parts.find((part) => part[word] !== undefined)?.[word]]));
  const properties = new Map<string, Json>(), required = new Set<string>();
  for (const part of parts) {
    for (const [name, value] of members(part.properties)) if (properties.size < MEMBERS_MAX && !properties.has(name)) properties.set(name, value);
    for (const name of list(part.required).slice(0, MEMBERS_MAX)) required.add(text(name));
  }
  const isList = words.type === "array" || list(words.type).includes("array") || (words.type === undefined && words.items !== undefined);
  const shape: Shape = { name: text(words.title).slice(0, 60) || named(given), words, properties: [...properties], required, choices, isList, isNullable };
  shapes.set(given, shape);
  return shape;
}

function told(discriminator: Json, options: Json[]): { member: string; values: string[] } {
  const mapping = members(object(discriminator).mapping);
  const value = (option: Json) => mapping.find(([, to]) => text(to) !== "" && (to === option?.$ref || to === named(option)))?.[0] ?? named(option);
  const member = text(object(discriminator).propertyName);
  return { member, values: member ? options.map(value) : [] };
}

/** Schema of the members of a map, whatever their names are; `null` if it says nothing of others. */
export function ofOthers(shape: Shape): Json {
  const { additionalProperties: others } = shape.words;
  return others && typeof others === "object" ? others : others === true && shape.properties.length === 0 ? {} : null;
}

/** What was found of schemas; a schema in itself has parts. */
const insides = new WeakMap<object, boolean>();

/** Whether a schema has parts to show. */
export function hasInside(document: Json, schema: Json, looked = 0): boolean {
  const given = object(schema), known = insides.get(given);
  if (known !== undefined || looked > LOOK_MAX) return known ?? true;
  insides.set(given, true);
  const shape = shapeOf(document, schema);
  const inner = [...(shape.isList ? [shape.words.items, ...list(shape.words.prefixItems).slice(0, VALUES_MAX)] : []), ofOthers(shape)];
  const found = shape.properties.length > 0 || shape.choices.length > 0 || members(shape.words.patternProperties).length > 0 || inner.some((one) => one && typeof one === "object" && hasInside(document, one, looked + 1));
  insides.set(given, found);
  return found;
}

/** The type in words. */
export function kind(document: Json, schema: Json, nested = 0): string {
  if (schema === false) return "nothing";
  const shape = shapeOf(document, schema);
  const { type, format, const: constant } = shape.words;
  const types = (Array.isArray(type) ? type.slice(0, VALUES_MAX) : [type]).map(text).filter((one) => one && one !== "null");
  const others = ofOthers(shape);
  let words: string;
  if (constant !== undefined) words = `always ${written(constant)}`;
  else if (shape.isList) words = nested < NESTED_MAX ? `list of ${kind(document, shape.words.items, nested + 1)}` : "list";
  else if (shape.properties.length === 0 && others) words = nested < NESTED_MAX ? `map of ${kind(document, others, nested + 1)}` : "map";
  else if (shape.properties.length > 0 || types[0] === "object") words = shape.name || "object";
  else if (shape.choices[0]) words = shape.name || `${shape.choices[0].how.toLowerCase()} ${shape.choices[0].options.length}`;
  else words = types.join(" or ") || (shape.isNullable ? "" : "anything");
  const more = [format ? `(${text(format)})` : "", Array.isArray(shape.words.enum) ? `: ${shape.words.enum.slice(0, VALUES_MAX).map(written).join(", ")}${shape.words.enum.length > VALUES_MAX ? ", …" : ""}` : ""];
  return [words + (more[0] ? ` ${more[0]}` : "") + more[1], shape.isNullable ? "null" : ""].filter(Boolean).join(" or ");
}

/** Its limits, and what it is if nobody says otherwise, in words. */
export function limits(document: Json, schema: Json): string[] {
  const { words } = shapeOf(document, schema);
  const number = (value: Json) => (typeof value === "number" ? value : null);
  const range = (least: Json, most: Json, unit: string) => {
    const [from, to] = [number(least), number(most)];
    if (from !== null && to !== null) return from === to ? `${from}${unit}` : `${from} to ${to}${unit}`;
    return from !== null ? `${from} or more${unit}` : to !== null ? `at most ${to}${unit}` : "";
  };
  const above = words.exclusiveMinimum === true ? number(words.minimum) : number(words.exclusiveMinimum);
  const below = words.exclusiveMaximum === true ? number(words.maximum) : number(words.exclusiveMaximum);
  const examples = words.example !== undefined ? [words.example] : list(words.examples).slice(0, 3);
  return [
    range(words.exclusiveMinimum === true ? null : words.minimum, words.exclusiveMaximum === true ? null : words.maximum, ""),
    above !== null ? `more than ${above}` : "", below !== null ? `less than ${below}` : "",
    number(words.multipleOf) !== null ? `a multiple of ${words.multipleOf}` : "",
    range(words.minLength, words.maxLength, " characters"), text(words.pattern) ? `matches ${written(words.pattern)}` : "",
    range(words.minItems, words.maxItems, " entries"), words.uniqueItems === true ? "all different" : "", range(words.minProperties, words.maxProperties, " members"),
    text(words.contentMediaType), text(words.contentEncoding),
    words.not && typeof words.not === "object" ? `not ${kind(document, words.not)}` : "",
    words.default !== undefined ? `default ${written(words.default)}` : "",
    ...examples.map((one) => `example ${written(one)}`),
  ].filter(Boolean);
}
