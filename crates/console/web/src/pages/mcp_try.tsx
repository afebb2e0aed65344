// Trying a tool of an MCP proxy: a form made of the schema of its arguments, sent with a key through the gateway's own chain, and what came
// of it. Each request counts against limits.

import { useEffect, useRef, useState } from "preact/hooks";
import { listKeys } from "../call";
import * as format from "../format";
import { McpClient, Refused, throughDebug, type Exchange } from "../mcp_client";
import { may } from "../session";
import { Button, ErrorBox, Field, Note, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { Lines, pretty, row, type Primitive } from "./primitive";
import { Result } from "./try";

/** Arguments of one form; a tool with more has them as JSON. */
const FIELDS_MAX = 40;

/** The header with the key, as the definition says it. */
export function headerOf(definition: any): string {
  const places = [definition?.auth, ...Object.values(definition?.auth_configs ?? {})] as any[];
  return places.map((place) => place?.auth_header_name).find((name) => typeof name === "string" && name) ?? "Authorization";
}

interface Asking { key: string; keyId: string; path: string }

/** Keys that are offered; others are found by pasting them. */
const KEYS_MAX = 100;

/** A client for what is typed; another key or path is another one. */
function useClient(id: string, definition: any) {
  const [asking, setAsking] = useState<Asking>({ key: "", keyId: "", path: definition?.proxy?.listen_path ?? "/" });
  const client = useRef<{ made: McpClient; by: string } | null>(null);
  useEffect(() => () => client.current?.made.end(), []);
  const take = (): McpClient => {
    const by = JSON.stringify(asking);
    if (client.current?.by !== by) {
      client.current?.made.end();
      client.current = { by, made: new McpClient(throughDebug({ api: id, path: asking.path, host: definition?.domain ?? "", header: headerOf(definition), key: asking.key, keyId: asking.keyId })) };
    }
    return client.current!.made;
  };
  /** A session that a server no longer knows is begun anew with the next request. */
  const drop = () => { client.current?.made.end(); client.current = null; };
  return { asking, setAsking, take, drop };
}

function CallerFields({ id, definition, asking, change }: { id: string; definition: any; asking: Asking; change: (asking: Asking) => void }) {
  const keys = useLoaded<any[]>(() => (definition?.use_keyless ? Promise.resolve([]) : listKeys({ limit: 1000 }).then((page) => page.rows.filter((one: any) => one.apis?.includes(id) || one.policies?.length).slice(0, KEYS_MAX), () => [])), [id]);
  return (
    <>
      {!definition?.use_keyless && <Field label="Whose key" wide hint={asking.keyId ? "The gateway sends it; it is not shown." : undefined}><select value={asking.keyId} onChange={(event) => change({ ...asking, keyId: event.currentTarget.value })}><option value="">One that you paste, or none</option>{(keys.value ?? []).map((one) => <option key={one.id} value={one.id}>{format.visible(one.alias || one.id)}</option>)}</select></Field>}
      {!definition?.use_keyless && !asking.keyId && <Field label={`Key (${headerOf(definition)})`} wide hint="Sent as a client sends it; it is not kept."><input class="mono" type="password" autocomplete="off" value={asking.key} onInput={(event) => change({ ...asking, key: event.currentTarget.value })} /></Field>}
      <details class="field wide"><summary>Path</summary><Field label="Path of the endpoint"><input class="mono" required spellcheck={false} value={asking.path} onInput={(event) => change({ ...asking, path: event.currentTarget.value })} /></Field></details>
    </>
  );
}

const LISTS: [string, string, Primitive["kind"], string][] = [["tools/list", "tools", "tool", "name"], ["prompts/list", "prompts", "prompt", "name"], ["resources/list", "resources", "resource", "uri"], ["resources/templates/list", "resourceTemplates", "template", "uriTemplate"]];

/** Asks, as a client with a key, what there is. */
export function ListWithKey({ id, definition, close, found }: { id: string; definition: any; close: () => void; found: (rows: Primitive[]) => void }) {
  const { asking, setAsking, take, drop } = useClient(id, definition);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const list = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      const rows = new Map<string, Primitive>();
      for (const [method, member, kind, name] of LISTS) {
        for (const entry of await take().list(method, member)) {
          if (typeof entry[name] === "string") { const made = row(kind, entry[name], entry); rows.set(made.id, made); }
        }
      }
      found([...rows.values()]);
    } catch (failed) { setFailure(failed); setBusy(false); drop(); }
  };
  return (
    <Dialog title="List with a key" close={close} side>
      <form class="form" onSubmit={list}>
        <CallerFields id={id} definition={definition} asking={asking} change={setAsking} />
        <div class="row wide"><Button kind="primary" type="submit" disabled={busy}>{busy ? "Asking" : "List"}</Button><small>Takes some requests, which count against limits and quotas.</small></div>
      </form>
      <Failed failure={failure} id={id} secret={asking.key} />
    </Dialog>
  );
}

/** Why there is no list: which rule refused it, or what the server said. */
function Failed({ failure, id, secret }: { failure: unknown; id: string; secret: string }) {
  if (!failure) return null;
  if (!(failure instanceof Refused)) return <ErrorBox failure={failure} />;
  return <div class="stack"><Verdict exchange={failure.exchange} /><Result found={failure.exchange.tried} asked={id} secret={secret} /></div>;
}

export function TryTool({ id, definition, chosen, close }: { id: string; definition: any; chosen?: string; close: () => void }) {
  const { asking, setAsking, take, drop } = useClient(id, definition);
  const [tools, setTools] = useState<any[] | null>(null);
  const [name, setName] = useState(chosen ?? "");
  const [text, setText] = useState("{}");
  const [isWhole, setWhole] = useState(false);
  const [values, setValues] = useState<Map<string, string>>(new Map());
  const [found, setFound] = useState<{ exchange: Exchange; tool: string } | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState("");
  const outcome = useRef<HTMLDivElement>(null);
  useEffect(() => outcome.current?.scrollIntoView({ block: "nearest" }), [found, failure]);
  const tool = tools?.find((one) => one.name === name);
  const fields = fieldsOf(tool?.inputSchema);
  const asJson = isWhole || !fields;
  const choose = (next: string) => { setName(next); setValues(new Map()); setText("{}"); setFound(null); };
  const run = async (what: string, work: () => Promise<void>) => {
    setBusy(what);
    setFailure(null);
    try { await work(); } catch (failed) { setFailure(failed); } finally { setBusy(""); }
  };
  const list = () => run("list", async () => {
    try {
      const listed = (await take().list("tools/list", "tools")).filter((one) => typeof one.name === "string");
      setTools(listed);
      if (!listed.some((one) => one.name === name)) choose(chosen ?? listed[0]?.name ?? "");
    } catch (failed) { drop(); throw failed; }
  });
  const send = (event: Event) => {
    event.preventDefault();
    void run("call", async () => {
      const written = asJson ? text.trim() || "{}" : argumentsOf(fields!, values);
      check(written);
      const call = () => take().ask("tools/call", { name: JSON.stringify(name), arguments: written }, name);
      let exchange: Exchange;
      try { exchange = await call(); } catch (failed) { if (failed instanceof Refused) drop(); throw failed; }
      // A server may have forgotten the session.
      if (exchange.tried.status === 404) { drop(); exchange = await call(); }
      setFound({ exchange, tool: name });
    });
  };
  // Without a key there is nothing to wait for.
  useEffect(() => { if (definition?.use_keyless) void list(); }, []);
  if (!may("editor")) return <Dialog title="Try a tool" close={close}><Note>Your role can view, not send requests.</Note></Dialog>;
  return (
    <Dialog title="Try a tool" close={close} side>
      <form class="form" onSubmit={(event) => { event.preventDefault(); void list(); }}>
        <CallerFields id={id} definition={definition} asking={asking} change={(next) => { setAsking(next); setTools(null); }} />
        <div class="row wide"><Button type="submit" kind={tools ? "plain" : "primary"} icon="refresh" disabled={!!busy}>{busy === "list" ? "Asking" : tools ? "List the tools again" : "List the tools"}</Button><small>All requests go through this gateway only, and count against limits and quotas.</small></div>
      </form>
      {tools?.length === 0 && <Note tone="warn" icon="alert">A client with this key sees no tool. One that it does not see can be called by its name all the same.</Note>}
      <form class="form" onSubmit={send}>
        {tools && tools.length > 0 ? <Field label="Tool" wide><select value={name} onChange={(event) => choose(event.currentTarget.value)}>{!tool && name && <option value={name}>{`${format.visible(name)} (not listed)`}</option>}{tools.map((one) => <option key={one.name} value={one.name}>{format.visible(one.name)}</option>)}</select></Field>
          : <Field label="Tool" wide hint="List the tools to choose one, and for a form of its arguments."><input class="mono" required spellcheck={false} value={name} onInput={(event) => choose(event.currentTarget.value)} /></Field>}
        {typeof tool?.description === "string" && tool.description && <p class="wide told"><Lines>{tool.description}</Lines></p>}
        {fields && fields.length > 0 && <label class="choice wide"><input type="checkbox" checked={isWhole} onChange={() => { if (!isWhole) { try { setText(JSON.stringify(JSON.parse(argumentsOf(fields, values)), null, 2)); } catch { setText("{}"); } } setWhole(!isWhole); }} /> Arguments as JSON</label>}
        {asJson ? <Field label="Arguments as JSON" wide><textarea class="mono" rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} /></Field>
          : fields!.map((field) => <Argument key={field.name} field={field} value={values.get(field.name) ?? ""} change={(value) => setValues(new Map(values).set(field.name, value))} />)}
        <div class="row wide"><Button kind="primary" icon="play" type="submit" disabled={!!busy || !name}>{busy === "call" ? "Calling" : "Call"}</Button></div>
      </form>
      <div class="stack" ref={outcome}>
      <Failed failure={failure} id={id} secret={asking.key} />
      {found && !failure && <div class="stack" role="region" aria-label="What came of it"><Verdict exchange={found.exchange} /><Content result={found.exchange.message?.result} />
        <details><summary>The request through the gateway</summary><Result found={found.exchange.tried} asked={id} secret={asking.key} /></details></div>}
      </div>
    </Dialog>
  );
}

/** What came of a request, in a sentence. */
function Verdict({ exchange }: { exchange: Exchange }) {
  const { tried, message, fault } = exchange;
  const refused = tried.steps.find((step) => step.decision === "refuse");
  const error = message?.error;
  const isError = message?.result?.isError === true;
  const tone = error || refused || !message ? "bad" : isError ? "warn" : "ok";
  return (
    <div class={`why ${tone}`}>
      <p>{refused ? <>Refused by <b>{refused.name}</b>: <Text>{refused.message || refused.cause.replaceAll("_", " ")}</Text></> : error ? <>Error <b>{String(error.code)}</b>: <Text>{String(error.message ?? "")}</Text></> : !message ? <>No result: <Text>{fault}</Text></> : isError ? "The tool says that it failed" : "Done"} <small>({tried.status ? `status ${tried.status}` : "no answer"} in {format.duration(tried.took_ms * 1000)}, at <Text>{tried.node}</Text>{refused && error && <>, JSON-RPC error {String(error.code)}</>})</small></p>
      {error?.data !== undefined && !refused && <pre class="document" tabIndex={0}>{pretty(error.data)}</pre>}
    </div>
  );
}

/** The result of a call. */
function Content({ result }: { result: any }) {
  if (!result) return null;
  const parts: any[] = Array.isArray(result.content) ? result.content : [];
  return (
    <>
      {parts.length > 0 && <div><h3>Result</h3>{parts.map((part, at) => <pre key={at} class="document" tabIndex={0}>{part?.type === "text" ? String(part.text).split("\n").map(format.visible).join("\n") : typeof part?.data === "string" ? `${format.visible(part.type)}, ${format.visible(part.mimeType)}, ${format.bytes(part.data.length * 0.75)}` : pretty(part)}</pre>)}</div>}
      {result.structuredContent !== undefined && <div><h3>Structured result</h3><pre class="document" tabIndex={0}>{pretty(result.structuredContent)}</pre></div>}
      {!parts.length && result.structuredContent === undefined && <div><h3>Result</h3><pre class="document" tabIndex={0}>{pretty(result)}</pre></div>}
    </>
  );
}

interface ArgumentField { name: string; kind: "text" | "number" | "flag" | "choice" | "json"; required: boolean; hint: string; choices: unknown[]; whole: boolean }

/** The arguments of a schema as fields; nothing if a form cannot stand for it. */
function fieldsOf(schema: any): ArgumentField[] | null {
  const properties = schema?.properties;
  if (!properties || typeof properties !== "object" || Array.isArray(properties) || (schema.type && schema.type !== "object")) return null;
  const entries = Object.entries<any>(properties);
  if (entries.length > FIELDS_MAX) return null;
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  return entries.map(([name, one]) => {
    const choices: unknown[] = Array.isArray(one?.enum) ? one.enum : [];
    const kind = choices.length ? "choice" : one?.type === "string" ? "text" : one?.type === "number" || one?.type === "integer" ? "number" : one?.type === "boolean" ? "flag" : "json";
    return { name, kind, choices, required: required.has(name), whole: one?.type === "integer", hint: typeof one?.description === "string" ? one.description : "" };
  });
}

function Argument({ field, value, change }: { field: ArgumentField; value: string; change: (value: string) => void }) {
  const label = `${format.visible(field.name)}${field.required ? "" : " (optional)"}`;
  const hint = field.hint ? <Text>{field.hint}</Text> : undefined;
  const type = (event: Event) => change((event.currentTarget as HTMLInputElement).value);
  switch (field.kind) {
    case "flag": return <Field label={label} hint={hint} wide><select value={value} onChange={type}><option value="">{field.required ? "choose" : "not given"}</option><option value="true">true</option><option value="false">false</option></select></Field>;
    case "choice": return <Field label={label} hint={hint} wide><select value={value} required={field.required} onChange={type}><option value="">{field.required ? "choose" : "not given"}</option>{field.choices.map((one, at) => <option key={at} value={JSON.stringify(one)}>{format.visible(typeof one === "string" ? one : JSON.stringify(one))}</option>)}</select></Field>;
    case "json": return <Field label={`${label}, JSON`} hint={hint} wide><textarea class="mono" rows={3} spellcheck={false} value={value} onInput={type} /></Field>;
    case "number": return <Field label={label} hint={hint} wide><input {...{ inputMode: "decimal" } as {}} class="mono" required={field.required} value={value} onInput={type} /></Field>;
    default: return <Field label={label} hint={hint} wide><textarea rows={1} spellcheck={false} value={value} onInput={type} /></Field>;
  }
}

/** The arguments as JSON; numbers stay as they were typed. */
function argumentsOf(fields: ArgumentField[], values: Map<string, string>): string {
  const members = fields.flatMap((field) => {
    const typed = values.get(field.name) ?? "";
    if (!typed && !(field.required && field.kind === "text")) return [];
    if (field.kind === "number" && !/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(typed)) throw new Error(`${format.visible(field.name)} is no number: ${format.visible(typed)}`);
    if (field.kind === "json") { try { JSON.parse(typed); } catch { throw new Error(`${format.visible(field.name)} is no JSON`); } }
    return [`${JSON.stringify(field.name)}:${field.kind === "text" ? JSON.stringify(typed) : typed.trim()}`];
  });
  return `{${members.join(",")}}`;
}

function check(text: string): void {
  let value: unknown;
  try { value = JSON.parse(text); } catch (failure) { throw new Error(`The arguments are no JSON: ${(failure as Error).message}`); }
  if (typeof value !== "object" || !value || Array.isArray(value)) throw new Error("The arguments must be a JSON object.");
}
