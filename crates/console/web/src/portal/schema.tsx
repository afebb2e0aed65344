// A JSON schema for people. It is hostile input: references lead only to places in its document, and everything has a bound.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** How deep a schema is shown. */
const DEPTH_MAX = 6;
/** Members of an object that are shown. */
export const MEMBERS_MAX = 100;
/** Members that are shown of a body with all that is in it: references multiply. */
const BODY_MEMBERS_MAX = 1000;

/** Characters of a reference that is followed, values of a list and characters of one that are shown. */
const REFERENCE_CHARS_MAX = 500;
const VALUES_MAX = 20;
const VALUE_CHARS_MAX = 200;

export type Json = any;

export function Schema({ document, schema, depth = 0, budget = { left: BODY_MEMBERS_MAX } }: { document: Json; schema: Json; depth?: number; budget?: { left: number } }) {
  const shown = resolved(document, schema);
  if (!shown || typeof shown !== "object" || depth > DEPTH_MAX || budget.left <= 0) return <p>…</p>;
  const inner = shown.type === "array" ? resolved(document, shown.items) : shown;
  const members = Object.entries(object(inner?.properties)).slice(0, MEMBERS_MAX);
  budget.left -= members.length;
  const required = new Set(list(inner?.required));
  if (members.length === 0) return <p><code>{kind(document, shown)}</code> {text(shown.description)}</p>;
  return (
    <ul class="schema-members">
      {shown.type === "array" && <li>A list of:</li>}
      {members.map(([name, member]) => {
        const value = resolved(document, member);
        const nested = Object.keys(object((value?.type === "array" ? resolved(document, value.items) : value)?.properties)).length > 0;
        return <li key={name}><code>{name}</code>{required.has(name) && " *"} <small>{kind(document, value)}</small> {text(value?.description)}{nested && <Schema document={document} schema={value} depth={depth + 1} budget={budget} />}</li>;
      })}
    </ul>
  );
}

/** What a reference leads to, if it is a place in the document. */
export function resolved(document: Json, value: Json): Json {
  let at = value;
  for (let steps = 0; steps < 10; steps++) {
    const reference = at?.$ref;
    if (typeof reference !== "string") return at;
    if (!reference.startsWith("#/") || reference.length > REFERENCE_CHARS_MAX) return { description: reference.slice(0, REFERENCE_CHARS_MAX) };
    at = reference.slice(2).split("/").reduce((inside: Json, part) => {
      const name = part.replace(/~1/g, "/").replace(/~0/g, "~");
      return inside && typeof inside === "object" && Object.hasOwn(inside, name) ? inside[name] : undefined;
    }, document);
  }
  return undefined;
}

export function kind(document: Json, schema: Json): string {
  const shown = resolved(document, schema);
  if (!shown || typeof shown !== "object") return "";
  const type = Array.isArray(shown.type) ? shown.type.slice(0, VALUES_MAX).map(written).join(" or ") : text(shown.type);
  const values = Array.isArray(shown.enum) ? `: ${shown.enum.slice(0, VALUES_MAX).map(written).join(", ")}` : "";
  if (shown.type === "array") return `list of ${text(resolved(document, shown.items)?.type) || "anything"}`;
  return `${type || "any"}${shown.format ? ` (${text(shown.format)})` : ""}${values}`;
}

export function object(value: Json): Record<string, Json> { return value && typeof value === "object" && !Array.isArray(value) ? value : {}; }
export function list(value: Json): Json[] { return Array.isArray(value) ? value : []; }
export function text(value: Json): string { return typeof value === "string" ? value : ""; }

/** A value as text. What has a text of its own could be anything. */
function written(value: Json): string {
  if (typeof value === "string") return value.slice(0, VALUE_CHARS_MAX);
  try {
    return JSON.stringify(value).slice(0, VALUE_CHARS_MAX);
  } catch {
    return "…"; // too deep
  }
}

/** What is made only when somebody opens it. */
export function Folded({ title, children }: { title: ComponentChildren; children: () => ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return <details onToggle={(event) => setOpen(event.currentTarget.open)}><summary>{title}</summary>{isOpen && children()}</details>;
}
