// JSON as text: where each value stands, and changes to single members that leave every other byte as it was. A document that is parsed
// and written again loses the precision of large numbers and the layout; this does not.

export interface Node { kind: "object" | "array" | "value"; from: number; to: number; members?: { name: string; from: number; value: Node }[]; items?: Node[] }
export interface SyntaxFault { at: number; message: string }

/** Deeper documents are not taken apart; the gateway refuses them as well. */
const DEPTH_MAX = 200;

/** The places of all values, or where the text stops being JSON. */
export function read(text: string): Node | SyntaxFault {
  let at = 0;
  const fail = (message: string): never => { throw { at, message } as SyntaxFault; };
  const space = () => { while (at < text.length && /[ \t\r\n]/.test(text[at]!)) at += 1; };
  const string = (): string => {
    const from = at;
    at += 1;
    while (at < text.length && text[at] !== '"') {
      if (text[at]! < " ") fail("a control character or the end of the line stands inside a text; a quote may be missing");
      at += text[at] === "\\" ? 2 : 1;
    }
    if (at >= text.length) fail("a text does not end");
    at += 1;
    try { return JSON.parse(text.slice(from, at)); } catch { at = from; return fail("a text has an unknown escape"); }
  };
  const value = (depth: number): Node => {
    space();
    const from = at, first = text[at];
    if (depth > DEPTH_MAX) fail("the document is nested too deeply");
    if (first === "{") {
      const members: Node["members"] = [];
      at += 1;
      space();
      if (text[at] === "}") { at += 1; return { kind: "object", from, to: at, members }; }
      for (;;) {
        space();
        const start = at;
        if (text[at] !== '"') fail("a name in quotes is expected here");
        const name = string();
        space();
        if (text[at] !== ":") fail("a colon is missing");
        at += 1;
        members.push({ name, from: start, value: value(depth + 1) });
        space();
        if (text[at] === ",") { at += 1; continue; }
        if (text[at] === "}") { at += 1; return { kind: "object", from, to: at, members }; }
        fail(at >= text.length ? "a closing brace is missing" : "a comma or a closing brace is missing");
      }
    }
    if (first === "[") {
      const items: Node[] = [];
      at += 1;
      space();
      if (text[at] === "]") { at += 1; return { kind: "array", from, to: at, items }; }
      for (;;) {
        items.push(value(depth + 1));
        space();
        if (text[at] === ",") { at += 1; continue; }
        if (text[at] === "]") { at += 1; return { kind: "array", from, to: at, items }; }
        fail(at >= text.length ? "a closing bracket is missing" : "a comma or a closing bracket is missing");
      }
    }
    if (first === '"') { string(); return { kind: "value", from, to: at }; }
    const word = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)/.exec(text.slice(at, at + 400))?.[0];
    if (!word) fail(at >= text.length ? "the document ends too early" : "a value is expected here");
    at += word!.length;
    return { kind: "value", from, to: at };
  };
  try {
    const root = value(0);
    space();
    return at < text.length ? { at, message: "something follows the end of the document" } : root;
  } catch (fault) {
    if (typeof fault === "object" && fault && "at" in fault) return fault as SyntaxFault;
    throw fault;
  }
}

/** The same document, one member or element a line. Nothing is parsed, so every number stays as it was written. */
export function layout(text: string): string {
  let depth = 0, result = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === "{" || token === "[") { depth += 1; result += token + line(); }
    else if (token === "}" || token === "]") {
      depth -= 1;
      // Empty ones stay on their line.
      result = /[{[]\s*$/.test(result) ? result.trimEnd() + token : result + line() + token;
    } else if (token === ",") result += token + line();
    else result += token === ":" ? ": " : token;
  }
  return `${result}\n`;
}

/** The text of the value at a path; empty if there is none. */
export function textAt(text: string, path: (string | number)[]): string {
  const root = read(text);
  if (isFault(root)) return "";
  const { node, whole } = find(root, path);
  return whole ? text.slice(node.from, node.to) : "";
}

export const isFault = (found: Node | SyntaxFault): found is SyntaxFault => !("kind" in found);

/** `$.proxy.targets[0]` or `$['a.b']` as steps. */
export function steps(path: string): (string | number)[] {
  const found: (string | number)[] = [];
  for (const [, name, quoted, index] of path.matchAll(/\.([^.[\]]+)|\[["']((?:[^"'\\]|\\.)*)["']\]|\[(\d+)\]/g)) found.push(index !== undefined ? Number(index) : (quoted ?? name)!);
  return found;
}

/** The value at a path, or the nearest around it. */
export function find(root: Node, path: (string | number)[]): { node: Node; nameFrom?: number; whole: boolean } {
  let node = root, nameFrom: number | undefined;
  for (const step of path) {
    const member = typeof step === "string" || node.kind === "object" ? node.members?.find((one) => one.name === String(step)) : undefined;
    const next = member?.value ?? (typeof step === "number" ? node.items?.[step] : undefined);
    if (!next) return { node, nameFrom, whole: false };
    [node, nameFrom] = [next, member?.from];
  }
  return { node, nameFrom, whole: true };
}

/** Line and column of a place, from 1. */
export function place(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return { line, column: at - before.lastIndexOf("\n") };
}

/** The text with one member set, or removed with `undefined`; objects on the way are made. The rest of the text stays as it is. */
export function set(text: string, path: (string | number)[], value: unknown): string {
  const root = read(text);
  if (isFault(root)) return text;
  const { node, nameFrom, whole } = find(root, path);
  if (whole && value === undefined) return remove(text, root, path, nameFrom ?? node.from, node.to);
  if (whole) return text.slice(0, node.from) + written(value, indent(text, nameFrom ?? node.from)) + text.slice(node.to);
  if (value === undefined) return text;
  // The deepest object that exists gets the rest of the way.
  let depth = 0, parent: Node = root;
  for (; depth < path.length; depth += 1) {
    const step = path[depth]!;
    const next: Node | undefined = typeof step === "number" ? parent.items?.[step] : parent.members?.find((one) => one.name === step)?.value;
    if (!next) break;
    parent = next;
  }
  if (parent.kind !== "object") return text;
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const inner = `${indent(text, parent.from)}  `;
  const member = `${JSON.stringify(path[depth])}: ${written(nested, inner)}`;
  const last = parent.members?.at(-1);
  if (!last) return `${text.slice(0, parent.from)}{\n${inner}${member}\n${indent(text, parent.from)}}${text.slice(parent.to)}`;
  const gap = text.slice(parent.from + 1, parent.members![0]!.from);
  return `${text.slice(0, last.value.to)},${gap.includes("\n") ? gap : " "}${member}${text.slice(last.value.to)}`;
}

function remove(text: string, root: Node, path: (string | number)[], from: number, to: number): string {
  const parent = find(root, path.slice(0, -1)).node;
  const index = parent.members?.findIndex((one) => one.name === path.at(-1)) ?? -1;
  if (index < 0) return text;
  const next = parent.members![index + 1], before = parent.members![index - 1];
  if (next) return text.slice(0, from) + text.slice(next.from);
  return before ? text.slice(0, before.value.to) + text.slice(to) : text.slice(0, parent.from + 1) + text.slice(parent.to - 1);
}

function indent(text: string, at: number): string { return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? ""; }
function written(value: unknown, indentation: string): string { return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indentation}`); }

export function valueAt(text: string, path: string[]): any {
  const root = read(text);
  if (isFault(root)) return undefined;
  const { node, whole } = find(root, path);
  if (!whole) return undefined;
  try { return JSON.parse(text.slice(node.from, node.to)); } catch { return undefined; }
}

/** Lines of two texts, with what was taken away and added; long equal parts are left out. */
export function lines(old: string, now: string): { kind: "same" | "add" | "del" | "skip"; text: string }[] {
  const a = old.split("\n"), b = now.split("\n");
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const rows: { kind: "same" | "add" | "del" | "skip"; text: string }[] = a.slice(0, head).map((text) => ({ kind: "same", text }));
  // The table of the longest common subsequence grows with the product; beyond this all lines between count as changed.
  if (x.length * y.length > 4_000_000) rows.push(...x.map((text) => ({ kind: "del" as const, text })), ...y.map((text) => ({ kind: "add" as const, text })));
  else {
    const table = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
    for (let i = x.length - 1; i >= 0; i -= 1) for (let j = y.length - 1; j >= 0; j -= 1) table[i]![j] = x[i] === y[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) { rows.push({ kind: "same", text: x[i]! }); i += 1; j += 1; }
      else if (j >= y.length || (i < x.length && table[i + 1]![j]! >= table[i]![j + 1]!)) rows.push({ kind: "del", text: x[i++]! });
      else rows.push({ kind: "add", text: y[j++]! });
    }
  }
  rows.push(...a.slice(a.length - tail).map((text) => ({ kind: "same" as const, text })));
  const near = rows.map((_, at) => rows.slice(Math.max(0, at - 3), at + 4).some((row) => row.kind !== "same"));
  return rows.flatMap((row, at) => (near[at] ? [row] : near[at - 1] || at === 0 ? [{ kind: "skip" as const, text: "..." }] : []));
}
