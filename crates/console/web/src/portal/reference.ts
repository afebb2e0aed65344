// Reading a document that somebody else wrote: values of any type, and references within the document. Nothing is followed to another place, and
// nothing is without a bound.

export type Json = any;

/** Members of an object that are read. */
export const MEMBERS_MAX = 100;
/** Characters of a reference that is followed, and references one after the other. */
const REFERENCE_CHARS_MAX = 500;
const STEPS_MAX = 10;
/** Values of a list that are shown, and characters of one of them. */
export const VALUES_MAX = 20;
const VALUE_CHARS_MAX = 200;
/** Characters of a value that is shown as a text of its own. */
const TEXT_CHARS_MAX = 20_000;

export function object(value: Json): Record<string, Json> { return value && typeof value === "object" && !Array.isArray(value) ? value : {}; }
export function list(value: Json): Json[] { return Array.isArray(value) ? value : []; }
export function text(value: Json): string { return typeof value === "string" ? value : ""; }

/** What was read of objects before: large ones are asked for again and again. */
const read = new WeakMap<object, [string, Json][]>();

/** The first members of an object. */
export function members(value: Json): [string, Json][] {
  const from = object(value);
  let found = read.get(from);
  if (!found) read.set(from, found = Object.entries(from).slice(0, MEMBERS_MAX));
  return found;
}

/** What a reference leads to, if it is a place in the document. */
export function resolved(document: Json, value: Json): Json {
  let at = value;
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const reference = at?.$ref;
    if (typeof reference !== "string") return at;
    if (reference.length > REFERENCE_CHARS_MAX || !/^#(\/|$)/.test(reference)) return { description: reference.slice(0, REFERENCE_CHARS_MAX) };
    at = reference === "#" ? document : reference.slice(2).split("/").reduce((inside: Json, part) => {
      const name = pointed(part);
      return inside && typeof inside === "object" && Object.hasOwn(inside, name) ? inside[name] : undefined;
    }, document);
  }
  return undefined;
}

/** The last part of a reference, which is the name of what it leads to. */
export function named(value: Json): string { return pointed(text(value?.$ref).slice(0, REFERENCE_CHARS_MAX).split("/").at(-1) ?? ""); }

function pointed(part: string): string {
  let name = part;
  try { name = decodeURIComponent(part); } catch { /* as it is written */ }
  return name.replace(/~1/g, "/").replace(/~0/g, "~");
}

/** A value in a line. What has a text of its own could be anything. */
export function written(value: Json): string { return typeof value === "string" ? value.slice(0, VALUE_CHARS_MAX) : inJson(value).slice(0, VALUE_CHARS_MAX); }

/** A value as a text of its own: what is a text already stays as it is. */
export function laidOut(value: Json): string {
  const whole = typeof value === "string" ? value : inJson(value, 2);
  return whole.length > TEXT_CHARS_MAX ? `${whole.slice(0, TEXT_CHARS_MAX)}…` : whole;
}

function inJson(value: Json, spaces?: number): string {
  try {
    return JSON.stringify(value, null, spaces) ?? "";
  } catch {
    return "…"; // too deep
  }
}
