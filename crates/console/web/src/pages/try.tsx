// Try it: sends one request through this gateway's chain, and shows what each middleware decided, how long it took, and what went
// upstream. It counts against limits.

import { useState } from "preact/hooks";
import { call } from "../call";
import * as format from "../format";
import { may } from "../session";
import { Badge, Button, ErrorBox, Field, Note, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";

export function TryIt({ id, definition, close }: { id: string; definition: any; close: () => void }) {
  const [method, setMethod] = useState("GET");
  const [path, setPath] = useState<string>(definition?.proxy?.listen_path ?? "/");
  const [key, setKey] = useState("");
  const [headers, setHeaders] = useState("");
  const [body, setBody] = useState("");
  const [found, setFound] = useState<any>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const header = definition?.auth?.auth_header_name || "Authorization";
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    const lines = headers.split("\n").map((line) => /^\s*([^:]+):\s*(.*)$/.exec(line)).filter((match) => match != null);
    try {
      setFound(await call("POST", "debug", { api_id: id, method, path, headers: { ...Object.fromEntries(lines.map((match) => [match[1], match[2]])), ...(key ? { [header]: key } : {}) }, body }));
    } catch (failed) { setFailure(failed); } finally { setBusy(false); }
  };
  if (!may("editor")) return <Dialog title="Try it" close={close}><Note>Your role can view, not send requests.</Note></Dialog>;
  return (
    <Dialog title="Try it" close={close} side>
      <form class="form" onSubmit={send}>
        <Field label="Method"><select value={method} onChange={(event) => setMethod(event.currentTarget.value)}>{["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((one) => <option key={one}>{one}</option>)}</select></Field>
        {!definition?.use_keyless ? <Field label={`Key (${header})`}><input class="mono" type="password" autocomplete="off" value={key} onInput={(event) => setKey(event.currentTarget.value)} /></Field> : <span />}
        <Field label="Path" wide><input class="mono" autofocus value={path} onInput={(event) => setPath(event.currentTarget.value)} /></Field>
        <Field label="Headers, one a line" wide><textarea rows={2} value={headers} onInput={(event) => setHeaders(event.currentTarget.value)} placeholder="Accept: application/json" /></Field>
        {!["GET", "HEAD"].includes(method) && <Field label="Body" wide><textarea rows={4} value={body} onInput={(event) => setBody(event.currentTarget.value)} /></Field>}
        <div class="row" style={{ gridColumn: "1 / -1" }}><Button kind="primary" icon="play" type="submit" disabled={busy}>{busy ? "Sending" : "Send"}</Button><small>Goes through this gateway only, and counts against limits.</small></div>
      </form>
      {failure ? <ErrorBox failure={failure} /> : null}
      {found && (
        <div class="stack">
          <div class="row"><Badge tone={found.status >= 500 ? "bad" : found.status >= 400 ? "warn" : "ok"}>{found.status}</Badge><span>{found.took_ms == null ? "" : `in ${format.duration(found.took_ms * 1000)}`}</span></div>
          <ol class="steps">{(found.steps ?? []).map((step: any, at: number) => (
            <li key={at} class={step.decision === "refuse" ? "bad" : step.decision === "reply" ? "accent" : "ok"}><Icon name={step.decision === "refuse" ? "alert" : "ok"} /><span>{step.name}{step.cause && <> <Badge tone="bad">{step.cause}</Badge></>}</span><small>{step.decision}</small><small>{format.duration(step.us)}</small></li>))}</ol>
          {found.upstream && <div><h3>What went upstream</h3><pre class="document">{format.visible(`${found.upstream.method} ${found.upstream.path}  ->  ${found.upstream.target}`)}{"\n"}{found.upstream.headers.map(([name, value]: [string, string]) => `${name}: ${format.visible(value)}`).join("\n")}</pre></div>}
          <div><h3>Response</h3><pre class="document">{(found.headers ?? []).map(([name, value]: [string, string]) => `${name}: ${format.visible(value)}`).join("\n")}{"\n\n"}{String(found.body ?? "").split("\n").map(format.visible).join("\n")}</pre>{found.body_truncated && <small>The rest of the body is not shown.</small>}</div>
        </div>)}
    </Dialog>
  );
}

export { Text };
