// A JSON schema for people. It is hostile input: references lead only to places in its document, and everything has a bound.

/** How deep a schema is shown. */
const DEPTH_MAX = 6;
/** Members of an object that are shown. */
export const MEMBERS_MAX = 100;
/** Members that are shown of a body with all that is in it: references multiply. */
const BODY_MEMBERS_MAX = 1000;

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
    if (!reference.startsWith("#/")) return { description: reference };
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
  const type = Array.isArray(shown.type) ? shown.type.join(" or ") : text(shown.type);
  const values = Array.isArray(shown.enum) ? `: ${shown.enum.slice(0, 20).map(String).join(", ")}` : "";
  if (shown.type === "array") return `list of ${text(resolved(document, shown.items)?.type) || "anything"}`;
  return `${type || "any"}${shown.format ? ` (${text(shown.format)})` : ""}${values}`;
}

export function object(value: Json): Record<string, Json> { return value && typeof value === "object" && !Array.isArray(value) ? value : {}; }
export function list(value: Json): Json[] { return Array.isArray(value) ? value : []; }
export function text(value: Json): string { return typeof value === "string" ? value : ""; }
