// Requests of the portal's pages to an API, without cookies, and what came of them. A document is hostile input: none of its paths leads out of the API,
// and none of its headers takes the place of the key's.

import * as format from "../format";
import { type Json, list, members, object, resolved, text } from "./reference";
import { base, facts, type Api } from "./state";

/** Longest time for an answer. */
export const ANSWER_MS_MAX = 20_000;
/** Bytes of an answer that are shown, and of its text with spaces for reading. */
const SHOWN_BYTES_MAX = 100_000;
const LAID_OUT_CHARS_MAX = 300_000;
/** How far members are moved to the right at most. */
const LEVELS_MAX = 30;

/** A parameter of an operation with what somebody has given for it. */
export interface Given { parameter: Json; value: string }
export interface Prepared { method: string; url: string; headers: [string, string][]; body: BodyInit | null; /** Cookies, which browsers do not let pages send. */ cookies: string[]; /** The body, as arguments of curl. */ curl: string[] }
export interface Answer { status: number; words: string; ms: number; bytes: number; isCut: boolean; headers: [string, string][]; /** `null` if it is no text. */ text: string | null }

/** The headers that an API wants of a caller. */
export function keyHeaders(api: Api, key: string): [string, string][] {
  return api.key_header && key ? [[api.key_header, api.token_path ? `Bearer ${key}` : key]] : [];
}

/** Whether pages may call an API: the gateway lets them, and it is at the gateway's own address. */
export function isReachable(api: Api): boolean {
  return facts.value?.try_it === true && new URL(base(api)).origin === new URL(facts.value.gateway_url).origin;
}

/** Headers that say something of the body or of the caller: the document has no say in them. */
const OWN = ["accept", "authorization", "content-type"];

/** Whether a value is asked for a parameter. */
export function isAsked(api: Api, parameter: Json): boolean {
  const name = text(parameter?.name).toLowerCase();
  return name !== "" && !(text(parameter?.in) === "header" && (OWN.includes(name) || name === api.key_header.toLowerCase()));
}

/** Address and headers of a call.
 *  @throws what is wrong with a value, or with the document. */
export function prepare(document: Json, api: Api, method: string, path: string, given: Given[], key: string): Prepared {
  const query: string[] = [], headers: [string, string][] = [], cookies: string[] = [];
  let filled = path.replace(/[?#]/g, encodeURIComponent);
  for (const { parameter, value } of given) {
    const name = text(parameter?.name), place = text(parameter?.in);
    if (!isAsked(api, parameter) || (value === "" && place !== "path")) continue;
    const pairs = serialised(document, parameter, value);
    if (place === "path") filled = filled.replaceAll(`{${name}}`, () => pairs[0]?.[1] ?? "");
    else if (place === "query") query.push(...pairs.map(([one, words]) => `${encodeURIComponent(one)}=${words}`));
    else if (place === "cookie") cookies.push(...pairs.map(([one, words]) => `${one}=${words}`));
    else if (place === "header") headers.push([name, pairs[0]?.[1] ?? ""]);
  }
  const root = base(api), url = root.replace(/\/$/, "") + (filled.startsWith("/") ? filled : `/${filled}`);
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(filled) || !new URL(url).href.startsWith(new URL(root).href)) throw new Error("This path leads out of the API, so it is not called.");
  headers.push(...keyHeaders(api, key));
  for (const [name, value] of headers) {
    try { new Headers([[name, value]]); } catch { throw new Error(`The header ${name} cannot have this name or value.`); }
  }
  return { method: method.toUpperCase(), url: url + (query.length > 0 ? `?${query.join("&")}` : ""), headers, body: null, cookies, curl: [] };
}

/** What somebody has typed, as values of the parameter's type: entries of a list stand in lines, an object is JSON. */
function serialised(document: Json, parameter: Json, typed: string): [string, string][] {
  const name = text(parameter.name), place = text(parameter.in), plain = place === "header" || place === "cookie";
  const code = plain ? (one: string) => one : encodeURIComponent;
  const style = text(parameter.style) || (place === "query" || place === "cookie" ? "form" : "simple");
  const explodes = typeof parameter.explode === "boolean" ? parameter.explode : style === "form" || style === "deepObject";
  const before = style === "label" ? "." : style === "matrix" ? `;${encodeURIComponent(name)}=` : "";
  const type = parameter.content ? "" : typeOf(document, parameter.schema);
  if (type === "array") {
    const entries = typed.split("\n").map((one) => one.trim()).filter(Boolean).map(code);
    if (place === "query" && explodes) return entries.map((one) => [name, one]);
    const between = style === "spaceDelimited" ? "%20" : style === "pipeDelimited" ? "%7C" : ",";
    return [[name, before + entries.join(between)]];
  }
  if (type === "object") {
    let value: Json;
    try { value = JSON.parse(typed); } catch { throw new Error(`${name} must be JSON.`); }
    const pairs = members(value).map(([member, one]) => [member, code(typeof one === "string" ? one : JSON.stringify(one))] as [string, string]);
    if (place === "query" && style === "deepObject") return pairs.map(([member, one]) => [`${name}[${member}]`, one]);
    if (place === "query" && explodes) return pairs;
    return [[name, before + pairs.map(([member, one]) => code(member) + (explodes ? "=" : ",") + one).join(",")]];
  }
  return [[name, before + code(typed)]];
}

/** The type of a schema, in one word. */
export function typeOf(document: Json, schema: Json): string {
  const at = object(resolved(document, schema));
  return text(at.type) || text(list(at.type).find((one) => one !== "null")) || (at.properties ? "object" : at.items ? "array" : "");
}

/** The same call for a terminal. */
export function curl(prepared: Prepared): string {
  const lines = prepared.headers.map(([name, value]) => `-H ${format.shell(`${name}: ${value}`)}`);
  const cookies = prepared.cookies.length > 0 ? [`-b ${format.shell(prepared.cookies.join("; "))}`] : [];
  return [`curl -X ${prepared.method} ${format.shell(prepared.url)}`, ...lines, ...cookies, ...prepared.curl].join(" \\\n  ");
}

/** Sends it. The browser follows no redirect: the key would go along.
 *  @throws what to do when the browser could not reach the API. */
export async function send({ method, url, headers, body }: Prepared): Promise<Answer> {
  const from = performance.now();
  let response: Response;
  try {
    response = await fetch(url, { method, headers, ...(body !== null && { body }), credentials: "omit", referrerPolicy: "no-referrer", redirect: "manual", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } catch (failure) {
    if ((failure as Error).name === "TimeoutError") throw new Error(`There was no answer within ${ANSWER_MS_MAX / 1000} seconds.`);
    throw new Error(unreached(url));
  }
  if (response.type === "opaqueredirect") throw new Error("The API answered with a redirect, which this page does not follow. The curl line shows where it leads.");
  const type = response.headers.get("content-type") ?? "";
  const found = await beginning(response, SHOWN_BYTES_MAX);
  return { status: response.status, words: response.statusText, ms: performance.now() - from, bytes: found.bytes, isCut: found.isCut, headers: [...response.headers], text: isText(type) ? (found.isCut ? found.text : laidOut(found.text)) : null };
}

/** What somebody can do whose browser could not reach an API. */
export function unreached(url: string): string {
  return `The browser could not reach ${new URL(url).origin}, or may not read its answer. Check your network, and try the curl line in a terminal: if that works, the portal's operators must look at this API, which does not let pages of the portal read what it answers.`;
}

const isText = (type: string): boolean => /^$|^text\/|[/+](json|xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|x-ndjson|problem)\b/i.test(type);

/** The beginning of a body, without waiting for what is too long. */
export async function beginning(response: Response, most: number): Promise<{ text: string; bytes: number; isCut: boolean }> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "", bytes = 0;
  try {
    while (reader && bytes <= most) {
      const { done, value } = await reader.read();
      if (done) return { text, bytes, isCut: false };
      text += decoder.decode(bytes + value.length > most ? value.subarray(0, most - bytes) : value, { stream: true });
      bytes += value.length;
    }
  } catch { /* what there is of it is shown */ }
  void reader?.cancel().catch(() => {});
  return { text, bytes: Math.min(bytes, most), isCut: !!reader };
}

/** JSON with a member in each line. Numbers stay as they were written; what would be too long stays as it is. */
export function laidOut(body: string): string {
  try { JSON.parse(body); } catch { return body; }
  const shown: string[] = [];
  let chars = 0, level = 0, isOpened = false;
  const put = (words: string) => { shown.push(words); chars += words.length; };
  for (const [token] of body.matchAll(/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g)) {
    if (chars > LAID_OUT_CHARS_MAX) return body;
    const closes = token === "}" || token === "]";
    if (closes) level -= 1;
    if (closes !== isOpened) put(line(level));
    isOpened = token === "{" || token === "[";
    if (isOpened) level += 1;
    put(token === "," ? token + line(level) : token === ":" ? ": " : token);
  }
  return shown.join("");
}

const line = (level: number): string => `\n${"  ".repeat(Math.min(level, LEVELS_MAX))}`;
