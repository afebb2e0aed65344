// A client of the Model Context Protocol. In the console its requests go through the gateway's own chain, as `debug` sends them: what refuses one is
// told with it. In the portal they go to the API. It begins a session, or speaks the version without sessions to servers that have none.

import { call } from "./call";
import type { Tried } from "./pages/try";

/** What a proxy is asked with. */
export interface Caller { api: string; path: string; host: string; header: string; key: string; /** The id of a key that the gateway sends in its place. */ keyId: string }
/** What is read of an answer. */
export interface Reply { status: number; headers: [string, string][]; body: string; body_truncated: boolean; steps: { decision: string }[]; upstream: { status: number } | null }
/** Sends a body with these headers. */
export type Transport<R extends Reply> = (method: string, body: string, headers: Record<string, string>) => Promise<R>;
/** One request and what came of it; `message` is the response, if there is one. */
export interface Exchange<R extends Reply = Tried> { tried: R; message: any; fault: string }

/** Versions with sessions, and without. */
const LEGACY = "2025-11-25", MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";
const CLIENT = { name: "tollgate-console", version: "1" };
/** Bytes of an answer; what is longer cannot be read as a whole. */
export const ANSWER_BYTES = 1 << 20;
/** Pages of a list. */
const PAGES_MAX = 10;

/** An exchange that did not bring what the next one needs. */
export class Refused<R extends Reply = Tried> extends Error {
  constructor(readonly exchange: Exchange<R>) { super(exchange.fault || `It answered ${exchange.tried.status}.`); }
}

/** Through the gateway's own chain. */
export function throughDebug({ api, path, host, header, key, keyId }: Caller): Transport<Tried> {
  return (method, body, lines) => {
    const headers = key && !keyId ? { ...lines, [header]: key } : lines;
    return call("POST", "debug", { api_id: api, method, path, host, headers, body, body_bytes: ANSWER_BYTES, key_id: keyId, key_header: header });
  };
}

export class McpClient<R extends Reply = Tried> {
  private session: string | null = null;
  private version: string | null = null;
  private ids = 0;

  constructor(private readonly transport: Transport<R>) {}

  /** Calls a method; the session is begun first. `params` is JSON as text, so that numbers stay as they were typed. */
  async ask(method: string, params: Record<string, string>, name?: string): Promise<Exchange<R>> {
    if (!this.version) await this.begin();
    return this.send(method, params, name);
  }

  /** All entries of a list. */
  async list(method: string, member: string): Promise<any[]> {
    const entries: any[] = [];
    let cursor: unknown;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const exchange = await this.ask(method, cursor === undefined ? {} : { cursor: JSON.stringify(cursor) });
      // A server without this kind of thing says that it knows no such method.
      if (exchange.message?.error?.code === -32601) return entries;
      if (!exchange.message?.result) throw new Refused(exchange);
      const found = exchange.message.result[member];
      // Not spread into arguments: there may be more of them than those can be.
      if (Array.isArray(found)) for (const one of found) if (one && typeof one === "object") entries.push(one);
      cursor = exchange.message.result.nextCursor ?? undefined;
      if (cursor === undefined) break;
    }
    return entries;
  }

  /** Ends the session. */
  end(): void {
    if (this.session) void this.post("DELETE", "", {}).catch(() => {});
    this.session = this.version = null;
  }

  private async begin(): Promise<void> {
    const params = { protocolVersion: `"${LEGACY}"`, capabilities: "{}", clientInfo: JSON.stringify(CLIENT) };
    const begun = await this.send("initialize", params);
    if (begun.message?.result) {
      this.session = header(begun.tried, "mcp-session-id");
      this.version = String(begun.message.result.protocolVersion ?? LEGACY);
      await this.post("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, {});
      return;
    }
    // What a rule refuses, it refuses in every version.
    if (begun.tried.steps.some((step) => step.decision === "refuse") || !begun.tried.upstream?.status) throw new Refused(begun);
    this.version = MODERN;
    const found = await this.send("server/discover", {});
    if (!found.message?.result) { this.version = null; throw new Refused(begun); }
  }

  private async send(method: string, params: Record<string, string>, name?: string): Promise<Exchange<R>> {
    const id = ++this.ids;
    const lines: Record<string, string> = {};
    const members = { ...params };
    if (this.version === MODERN) {
      members._meta = JSON.stringify({ [`${META}protocolVersion`]: MODERN, [`${META}clientInfo`]: CLIENT, [`${META}clientCapabilities`]: {} });
      lines["Mcp-Method"] = method;
      if (name !== undefined) lines["Mcp-Name"] = encoded(name);
    }
    const written = Object.entries(members).map(([member, text]) => `${JSON.stringify(member)}:${text}`).join(",");
    const tried = await this.post("POST", `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{${written}}}`, lines);
    return { tried, ...read(tried, id) };
  }

  private post(method: string, body: string, lines: Record<string, string>): Promise<R> {
    const headers: Record<string, string> = { Accept: "application/json, text/event-stream", ...lines };
    if (body) headers["Content-Type"] = "application/json";
    if (this.session) headers["Mcp-Session-Id"] = this.session;
    if (this.version) headers["MCP-Protocol-Version"] = this.version;
    return this.transport(method, body, headers);
  }
}

function header(tried: Reply, name: string): string | null { return tried.headers.find(([own]) => own.toLowerCase() === name)?.[1] ?? null; }

/** A text as a header line of the version without sessions. */
function encoded(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

/** The response to a request, alone or among the events of a stream. */
function read(tried: Reply, id: number): { message: any; fault: string } {
  if (tried.body_truncated) return { message: null, fault: "The answer is longer than can be shown here." };
  const kind = header(tried, "content-type") ?? "";
  const texts = kind.startsWith("text/event-stream") ? events(tried.body) : [tried.body];
  for (const text of texts) {
    try {
      const message = JSON.parse(text);
      if (message?.id === id || (message?.error && texts.length === 1)) return { message, fault: message.error ? String(message.error.message ?? "") : "" };
    } catch { /* not a message */ }
  }
  return { message: null, fault: tried.body.trim() ? "The answer is no message of the protocol." : "There is no answer." };
}

function events(text: string): string[] {
  return text.split(/\r?\n\r?\n/).map((event) => event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, "")).join("\n")).filter(Boolean);
}
