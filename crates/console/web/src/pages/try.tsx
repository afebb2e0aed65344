// Try it: sends one request through this gateway's chain, and shows what each middleware decided, how long it took, and what went
// upstream. It counts against limits.

import { useState } from "preact/hooks";
import { call } from "../call";
import * as format from "../format";
import { link } from "../route";
import { may } from "../session";
import { Badge, Button, ErrorBox, Field, Note, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";

export type Pair = [name: string, value: string];
interface Step { name: string; api_id: string; decision: "next" | "refuse" | "reply"; us: number; held_ms: number; cause: string; message: string }
export interface Tried {
  status: number; took_ms: number; node: string; api_id: string | null; api_name: string | null; routed: boolean; steps: Step[]; steps_left_out: number;
  /** `null` if nothing went upstream; a status of 0 has an error. */
  upstream: { method: string; path: string; target: string; headers: Pair[]; body_bytes: number; status: number; took_ms: number; error: string } | null;
  headers: Pair[]; body: string; body_truncated: boolean; body_base64: boolean; note: string;
}

const DECISIONS: Record<Step["decision"], [Tone, string]> = { next: ["ok", "passed on"], refuse: ["bad", "refused"], reply: ["accent", "answered"] };
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

export function TryIt({ id, definition, close }: { id: string; definition: any; close: () => void }) {
  const [method, setMethod] = useState("GET");
  const [path, setPath] = useState<string>(definition?.proxy?.listen_path ?? "/");
  const [host, setHost] = useState<string>(definition?.domain ?? "");
  const [address, setAddress] = useState("");
  const [key, setKey] = useState("");
  const [headers, setHeaders] = useState("");
  const [body, setBody] = useState("");
  const [found, setFound] = useState<Tried | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const header = definition?.auth?.auth_header_name || "Authorization";
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      const typed = read(headers);
      if (key) typed[header] = [key];
      setFound(await call("POST", "debug", { api_id: id, method, path, host, client_ip: address, headers: typed, body: takesBody(method) ? body : "" }));
    } catch (failed) { setFailure(failed); } finally { setBusy(false); }
  };
  if (!may("editor")) return <Dialog title="Try it" close={close}><Note>Your role can view, not send requests.</Note></Dialog>;
  return (
    <Dialog title="Try it" close={close} side>
      <form class="form" onSubmit={send}>
        <Field label="Method"><select value={method} onChange={(event) => setMethod(event.currentTarget.value)}>{METHODS.map((one) => <option key={one}>{one}</option>)}</select></Field>
        {!definition?.use_keyless ? <Field label={`Key (${header})`}><input class="mono" type="password" autocomplete="off" value={key} onInput={(event) => setKey(event.currentTarget.value)} /></Field> : <span />}
        <Field label="Path" wide hint="As a client sends it, with the listen path and a query."><input class="mono" autofocus required spellcheck={false} value={path} onInput={(event) => setPath(event.currentTarget.value)} /></Field>
        <Field label="Headers, one a line" wide><textarea rows={2} spellcheck={false} value={headers} onInput={(event) => setHeaders(event.currentTarget.value)} placeholder="Accept: application/json" /></Field>
        {takesBody(method) && <Field label="Body" wide><textarea rows={4} spellcheck={false} value={body} onInput={(event) => setBody(event.currentTarget.value)} /></Field>}
        <details class="field wide"><summary>Host and client's address</summary><div class="form">
          <Field label="Host"><input class="mono" value={host} placeholder="that of this console" onInput={(event) => setHost(event.currentTarget.value)} /></Field>
          <Field label="Client's address"><input class="mono" value={address} placeholder="yours" onInput={(event) => setAddress(event.currentTarget.value)} /></Field>
        </div></details>
        <div class="row wide"><Button kind="primary" icon="play" type="submit" disabled={busy}>{busy ? "Sending" : "Send"}</Button><small>Goes through this gateway only, and counts against limits and quotas.</small></div>
      </form>
      {failure ? <ErrorBox failure={failure} /> : null}
      {found && <Result found={found} asked={id} secret={key} />}
    </Dialog>
  );
}

const takesBody = (method: string): boolean => method !== "GET" && method !== "HEAD";

/** Header lines by name; a name may occur more than once. */
function read(lines: string): Record<string, string[]> {
  const found: Record<string, string[]> = Object.create(null);
  lines.split("\n").map((line) => line.trim()).filter(Boolean).forEach((line, at) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`Line ${at + 1} of the headers has no "name: value": ${line}`);
    (found[line.slice(0, colon).trim()] ??= []).push(line.slice(colon + 1).trim());
  });
  return found;
}

const tone = (status: number): Tone => (status >= 500 || !status ? "bad" : status >= 400 ? "warn" : "ok");
const shown = (headers: Pair[]): string => headers.map(([name, value]) => `${format.visible(name)}: ${format.visible(value)}`).join("\n");

/** `secret`, the key that was typed, is not repeated on the screen. */
export function Result({ found, asked, secret }: { found: Tried; asked: string; secret: string }) {
  const hidden = (headers: Pair[]): string => shown(secret ? headers.map(([name, value]) => [name, value.replaceAll(secret, "********")]) : headers);
  const last = found.steps.at(-1);
  const refused = found.steps.find((step) => step.decision === "refuse");
  return (
    <div class="stack" role="region" aria-label="Result">
      <div class={`why ${tone(found.status)}`}>
        <p><b>{found.status || "No answer"}</b> {found.took_ms != null && `in ${format.duration(found.took_ms * 1000)}`}{refused ? <>, refused by <b>{refused.name}</b>: <Text>{refused.message || refused.cause.replaceAll("_", " ")}</Text></> : last?.decision === "reply" ? <>, answered by <b>{last.name}</b> without the upstream</> : found.upstream?.error ? <>: the upstream failed, <Text>{found.upstream.error.replaceAll("_", " ")}</Text></> : found.upstream ? ", from the upstream" : ""}.</p>
      </div>
      {!found.routed && <Note tone="warn" icon="alert">No API is for this host and path, so no chain was passed.</Note>}
      {found.routed && found.api_id && found.api_id !== asked && <Note tone="warn" icon="alert">Another API took this request: <a href={link(["apis", found.api_id])}><Text>{found.api_name || found.api_id}</Text></a>.</Note>}
      {found.steps.length > 0 && <div><h3>Chain</h3><ol class="steps">{found.steps.map((step, at) => (
        <li key={at} class={DECISIONS[step.decision]?.[0]}><Icon name={step.decision === "refuse" ? "alert" : "ok"} /><span>{step.name}{step.api_id !== found.steps[0]!.api_id && <small> of <Text>{step.api_id}</Text></small>}{step.cause && <> <Badge tone="bad">{step.cause.replaceAll("_", " ")}</Badge></>}</span><small>{DECISIONS[step.decision]?.[1] ?? step.decision}</small><small>{format.duration(step.us)}{step.held_ms > 0 && `, waited ${format.duration(step.held_ms * 1000)}`}</small></li>))}</ol>
        {found.steps_left_out > 0 && <small>{format.count(found.steps_left_out)} more steps are not shown.</small>}</div>}
      {found.upstream && <div><h3>What went upstream</h3><pre class="document" tabIndex={0}>{`${found.upstream.method} ${format.visible(found.upstream.path)}\nto ${format.visible(found.upstream.target)}\n${hidden(found.upstream.headers)}${found.upstream.body_bytes ? `\n\n${format.bytes(found.upstream.body_bytes)} of body` : ""}`}</pre>
        <small>{found.upstream.error ? <Text>{found.upstream.error.replaceAll("_", " ")}</Text> : <>It answered {found.upstream.status} in {format.duration(found.upstream.took_ms * 1000)}.</>}</small></div>}
      <div><h3>What the client gets</h3><pre class="document" tabIndex={0}>{`${shown(found.headers)}\n\n${found.body_base64 ? `(not text; in base64)\n${found.body}` : found.body.split("\n").map(format.visible).join("\n")}`}</pre>{found.body_truncated && <small>The rest of the body is not shown.</small>}</div>
      <small><Text>{found.note}</Text></small>
    </div>
  );
}
