// Reads a GraphQL schema in its definition language, as somebody else wrote it: it is hostile input, so everything has a bound, nothing is nested by
// the call stack, and what is not well-formed is left out. Types are named by texts; whoever follows one looks it up.

/** Characters of a schema that is read; a longer one is shown as it is. */
const CHARS_MAX = 1_000_000;
const TYPES_MAX = 1_000;
/** Fields of a type, arguments of a field, values of an enumeration, members of a union. */
export const ENTRIES_MAX = 300;
/** Characters of a default value or a type. */
const WRITTEN_CHARS_MAX = 300;

export type TypeKind = "type" | "interface" | "input" | "enum" | "union" | "scalar";
export interface Argument { name: string; description: string; /** As written, such as `[Order!]!`. */ type: string; value: string; /** Why it should not be used; `null` if it may be. */ deprecated: string | null }
export interface SchemaField extends Argument { args: Argument[] }
/** `fields` of an enumeration are its values, which have no type; `members` are types of a union, or the interfaces of a type. */
export interface SchemaType { kind: TypeKind; name: string; description: string; fields: SchemaField[]; members: string[] }
export interface ReadSchema { types: SchemaType[]; /** Types at which operations begin, in the order query, mutation, subscription. */ roots: string[]; isCut: boolean }

interface Token { text: string; /** The text of a string; `null` for everything else. */ string: string | null }

/** Everything but strings. No part of it can match in two ways, so that it never looks at a character twice. */
const TOKEN = /[\s,\uFEFF]+|#[^\n]*|\.\.\.|[A-Za-z_][A-Za-z0-9_]*|-?[0-9][0-9.eE+-]*|[^]/y;
const NAME = /^[A-Za-z_]/;
const KINDS = new Set<string>(["type", "interface", "input", "enum", "union", "scalar"]);
const CLOSING: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** `null` if it is too long. */
export function readSchema(text: string): ReadSchema | null {
  if (text.length > CHARS_MAX) return null;
  const at = new Reader(text), found = new Map<string, SchemaType>(), roots: Record<string, string> = {};
  let isCut = false;
  while (at.token) {
    const description = at.description();
    const isMore = at.takes("extend");
    const word = at.take();
    if (word === "schema") { at.directives(); at.block("{", () => { const [operation, type] = [at.take(), at.after(":")]; if (type && /^(query|mutation|subscription)$/.test(operation)) roots[operation] = type; }); continue; }
    if (word === "directive") { at.skipDirective(); continue; }
    if (!KINDS.has(word) || !NAME.test(at.text)) continue;
    const name = at.take(), type: SchemaType = found.get(name) ?? { kind: word as TypeKind, name, description: "", fields: [], members: [] };
    if (!isMore && description) type.description = description;
    if (found.size >= TYPES_MAX && !found.has(name)) isCut = true;
    else found.set(name, type);
    if (at.takes("implements")) at.names(type.members, "&");
    at.directives();
    if (word === "union" && at.takes("=")) at.names(type.members, "|");
    at.block("{", () => { const field = at.field(); if (field && type.fields.length < ENTRIES_MAX) type.fields.push(field); else if (field) isCut = true; });
  }
  const named = ["query", "mutation", "subscription"].map((operation) => roots[operation] ?? (Object.keys(roots).length === 0 ? operation[0]!.toUpperCase() + operation.slice(1) : ""));
  return { types: [...found.values()], roots: named.filter((name) => found.has(name)), isCut };
}

/** The name in a type, such as `Order` in `[Order!]!`. */
export const nameIn = (type: string): string => type.replace(/[^A-Za-z0-9_]/g, "");

class Reader {
  token: Token | null = null;
  private place = 0;

  constructor(private readonly source: string) { this.next(); }

  get text(): string { return this.token?.string === null ? this.token.text : ""; }

  private next(): void {
    this.token = null;
    while (this.token === null && this.place < this.source.length) {
      if (this.source[this.place] === "\"") { this.token = this.string(); continue; }
      TOKEN.lastIndex = this.place;
      const text = TOKEN.exec(this.source)?.[0] ?? this.source[this.place]!;
      this.place += text.length;
      if (!/^[\s,\uFEFF#]/.test(text)) this.token = { text, string: null };
    }
  }

  /** The string that begins here. One without an end takes its line with it, or all that follows if it is a block. */
  private string(): Token {
    const from = this.place, { source } = this;
    if (source.startsWith("\"\"\"", from)) {
      let end = source.indexOf("\"\"\"", from + 3);
      while (end > 0 && source[end - 1] === "\\") end = source.indexOf("\"\"\"", end + 3);
      this.place = end < 0 ? source.length : end + 3;
      return { text: source.slice(from, this.place), string: blockOf(source.slice(from + 3, end < 0 ? source.length : end)) };
    }
    let at = from + 1;
    while (at < source.length && source[at] !== "\"" && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
    this.place = Math.min(at + 1, source.length);
    const inside = source.slice(from + 1, at).replace(/\\(["\\/])/g, "$1").replace(/\\n/g, "\n").replace(/\\[bfrt]/g, " ");
    return { text: source.slice(from, this.place), string: inside };
  }

  /** The present token, which it passes. */
  take(): string { const { text } = this; this.next(); return text; }

  takes(text: string): boolean { if (this.text !== text) return false; this.next(); return true; }

  description(): string { const text = this.token?.string ?? ""; if (this.token && this.token.string !== null) this.next(); return text; }

  /** What stands behind a sign, if that is here. */
  after(sign: string): string { return this.takes(sign) ? this.take() : ""; }

  names(into: string[], sign: string): void {
    this.takes(sign);
    while (NAME.test(this.text)) {
      const name = this.take();
      if (into.length < ENTRIES_MAX && !into.includes(name)) into.push(name);
      if (!this.takes(sign) && sign === "|") return;
    }
  }

  /** Everything between a sign and its counterpart, entry by entry. An entry that reads nothing loses its token, so that there is an end. */
  block(sign: "{" | "(", entry: () => void): void {
    if (!this.takes(sign)) return;
    while (this.token && this.text !== CLOSING[sign]) {
      const before = this.place, was = this.token;
      entry();
      if (this.place === before && this.token === was) this.next();
    }
    this.next();
  }

  field(): SchemaField | null {
    const one = this.argument(true);
    return one && { ...one, args: this.lastArguments };
  }

  private lastArguments: Argument[] = [];

  private argument(isField: boolean): Argument | null {
    const description = this.description();
    if (!NAME.test(this.text)) return null;
    const name = this.take(), args: Argument[] = [];
    if (isField) this.block("(", () => { const one = this.argument(false); if (one && args.length < ENTRIES_MAX) args.push(one); });
    const type = this.takes(":") ? this.type() : "";
    const value = this.takes("=") ? this.value() : "";
    const deprecated = this.directives();
    this.lastArguments = args;
    return { name, description, type, value, deprecated };
  }

  private type(): string {
    let text = "";
    while (this.token && (/^[[\]!]$/.test(this.text) || (NAME.test(this.text) && !/[A-Za-z0-9_]/.test(text)))) {
      const is = this.take();
      if (text.length < WRITTEN_CHARS_MAX) text += is;
    }
    return text;
  }

  /** A value as it is written. */
  private value(): string {
    let text = "", depth = 0;
    do {
      const token = this.token?.text ?? "";
      if (token in CLOSING) depth++;
      else if (Object.values(CLOSING).includes(token)) { if (depth === 0) break; depth--; }
      if (text.length < WRITTEN_CHARS_MAX) text += (/[\w"\]}]$/.test(text) && /^[\w"$[{-]/.test(token) ? ", " : "") + (token === ":" ? ": " : token);
      this.next();
    } while (this.token && depth > 0);
    return text.slice(0, WRITTEN_CHARS_MAX);
  }

  /** Passes directives. Returns why something is deprecated, if one of them says so. */
  directives(): string | null {
    let deprecated: string | null = null;
    while (this.takes("@")) {
      const isDeprecated = this.take() === "deprecated";
      if (isDeprecated) deprecated ??= "";
      this.block("(", () => {
        const name = this.take();
        if (!this.takes(":")) return;
        const said = this.token?.string;
        if (isDeprecated && name === "reason" && said) deprecated = said;
        this.value();
      });
    }
    return deprecated;
  }

  /** `directive @name(args) repeatable on PLACE | PLACE`. */
  skipDirective(): void {
    this.takes("@");
    this.take();
    this.block("(", () => { this.argument(false); });
    this.takes("repeatable");
    if (this.takes("on")) this.names([], "|");
  }
}

/** The text of a block without the indentation that its lines have in common. */
function blockOf(text: string): string {
  const lines = text.replaceAll("\\\"\"\"", "\"\"\"").split(/\r\n|[\n\r]/);
  const deep = lines.slice(1).filter((line) => line.trim()).reduce((least, line) => Math.min(least, line.length - line.trimStart().length), 1000);
  return lines.map((line, index) => (index === 0 ? line.trimStart() : line.slice(deep))).join("\n").trim();
}
