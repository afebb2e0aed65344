// Calls with the session's cookie: of the console to the control API, and of the portal to its own endpoints. It knows no page; when the session has
// ended it says so through `ended`.

import { signal } from "@preact/signals";

/** The header by which an endpoint knows that its own page calls. */
export const own = { header: "X-Tollgate-Console" };

/** Set when the gateway says that nobody is signed in any more; the shell shows the sign-in again. */
export const ended = signal(false);

export interface Problem { level: "error" | "warning" | "note" | "ignored"; path: string; message: string; line?: number; column?: number }

/** What the gateway answered instead of doing what was asked, or that it did not answer. */
export class Failure extends Error {
  constructor(readonly status: number, message: string, readonly body: any = {}, readonly text = "") { super(message); }
  get kind(): string { return this.body?.cause ?? ""; }
  get problems(): Problem[] { return this.body?.problems ?? []; }
}

export interface Options { headers?: Record<string, string>; signal?: AbortSignal; byItself?: boolean }
export interface Answer<T> { value: T; etag: string | null; /** As it came: numbers that JavaScript cannot hold are whole here. */ text: string }

/** One call, with the version of what it returned. `byItself`: the page asks without a person, so it does not keep the session alive. */
export async function ask<T = any>(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { [own.header]: "1", ...options.headers };
  if (options.byItself) headers["X-Tollgate-Idle"] = "1";
  let content: string | undefined;
  if (body !== undefined) {
    headers["Content-Type"] ??= "application/json";
    content = typeof body === "string" ? body : JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(`api/${path}`, { method, headers, body: content, signal: options.signal, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Failure(0, "The gateway does not answer. It may be restarting, or the connection is down.");
  }
  const text = await response.text();
  let value: any = text;
  try { value = JSON.parse(text); } catch { /* some answers are plain text */ }
  if (response.ok) return { value, etag: response.headers.get("etag"), text };
  const failure = new Failure(response.status, words(response.status, value), value, text);
  if (failure.kind === "signed_out" && path !== "session") ended.value = true;
  throw failure;
}

export async function call<T = any>(method: string, path: string, body?: unknown, options?: Options): Promise<T> {
  return (await ask<T>(method, path, body, options)).value;
}

export const get = <T = any>(path: string, options?: Options): Promise<T> => call<T>("GET", path, undefined, options);

function words(status: number, value: any): string {
  if (typeof value === "object" && value) {
    const said = value.message ?? value.error;
    if (typeof said === "string" && said) return said;
  }
  return typeof value === "string" && value.trim() && value.length < 200 ? value.trim() : `The gateway answered with status ${status}.`;
}

/** Longest text that cannot be a whole key: the gateway's own keys have 32 characters or more. */
const NO_KEY_MAX = 24;

/** Whether a text may be a whole key, a secret. A hash of 64 digits is none. */
export function mayBeKey(text: string): boolean { return text.length > NO_KEY_MAX && !/\s/.test(text) && !/^[0-9a-f]{64}$/.test(text); }

/** A page of keys. A search for what may be a whole key, a secret, travels in a body and never in an address. */
export async function listKeys(members: Record<string, string | number | undefined>, options: Options = {}): Promise<any> {
  const q = String(members.q ?? "");
  if (!mayBeKey(q)) return get(`list/keys${query(members)}`, options);
  try {
    return await call("POST", "list/keys", members, options);
  } catch (failure) {
    if (failure instanceof Failure && failure.status === 405) throw new Failure(405, "A whole key cannot be searched here. Search for its alias, its policy or the beginning of its id.");
    throw failure;
  }
}

/** A query string without empty members. */
export function query(members: Record<string, string | number | boolean | undefined | null>): string {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : "";
}

export const segment = (text: string): string => encodeURIComponent(text);
