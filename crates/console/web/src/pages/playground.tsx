// The playground: a prompt to a model, through the gateway's own chain with a key, and the answer as it comes, with what it took. Each request
// counts against limits and budgets, and costs what a client's costs.

import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, get, listKeys, segment } from "../call";
import * as format from "../format";
import { may } from "../session";
import { Badge, Button, ErrorBox, Fact, Facts, Field, Note, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { outcome, usd, type TailLlm } from "./llm";
import { headerOf } from "./mcp_try";
import { Result, type Tried } from "./try";

type Answered = Tried & { llm: TailLlm | null; error: string };

const KEYS_MAX = 100;
/** Bytes of an answer that are kept. */
const ANSWER_BYTES = 1 << 20;
/** How often what has come is shown; a fast model sends hundreds of pieces a second. */
const SHOW_EVERY_MS = 60;

export function Playground({ close }: { close: () => void }) {
  const known = useLoaded(() => get<{ apis: string[] }>("llm/overview"), [0]);
  const apis = known.value?.apis ?? [];
  const [api, setApi] = useState("");
  const id = api || apis[0] || "";
  const definition = useLoaded<any>(() => (id ? get(`apis/${segment(id)}`) : Promise.resolve(null)), [id]);
  if (!may("editor")) return <Dialog title="Playground" close={close}><Note>Your role can view, not send requests.</Note></Dialog>;
  return (
    <Dialog title="Playground" close={close} side>
      {known.failure ? <ErrorBox failure={known.failure} retry={known.again} /> : null}
      {definition.failure ? <ErrorBox failure={definition.failure} retry={definition.again} /> : null}
      {known.value && apis.length === 0 && <Note>No API has <code>tollgate.llm</code> yet, so there is no model to ask.</Note>}
      {apis.length > 1 && <div class="form"><Field label="API" wide><select value={id} onChange={(event) => setApi(event.currentTarget.value)}>{apis.map((one) => <option key={one} value={one}>{format.visible(one)}</option>)}</select></Field></div>}
      {id && definition.value && <Talk key={id} id={id} definition={definition.value} />}
    </Dialog>
  );
}

/** Models that the definition names; a pattern is no name. */
function modelsOf(definition: any): string[] {
  const llm = definition?.tollgate?.llm ?? {};
  const names: string[] = [...(llm.models ?? []).map((one: any) => one?.name), ...(llm.providers ?? []).flatMap((one: any) => one?.models ?? [])];
  return [...new Set(names.filter((name) => typeof name === "string" && name && !name.includes("*")))];
}

function Talk({ id, definition }: { id: string; definition: any }) {
  const models = modelsOf(definition);
  const [model, setModel] = useState(models[0] ?? "");
  const [key, setKey] = useState("");
  const [keyId, setKeyId] = useState("");
  const [prompt, setPrompt] = useState("");
  const [tokens, setTokens] = useState("400");
  const [text, setText] = useState("");
  const [first, setFirst] = useState<number | null>(null);
  const [found, setFound] = useState<Answered | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => () => running.current?.abort(), []);
  const keys = useLoaded<any[]>(() => (definition.use_keyless ? Promise.resolve([]) : listKeys({ limit: 1000 }).then((page) => page.rows.filter((one: any) => one.apis?.includes(id) || one.policies?.length).slice(0, KEYS_MAX), () => [])), [id]);
  const header = headerOf(definition);
  const path = `${String(definition.proxy?.listen_path ?? "/").replace(/\/$/, "")}/v1/chat/completions`;
  const send = async (event: Event) => {
    event.preventDefault();
    const abort = new AbortController();
    running.current = abort;
    setBusy(true); setFailure(null); setFound(null); setText(""); setFirst(null);
    const body: Record<string, unknown> = { model, stream: true, stream_options: { include_usage: true }, messages: [{ role: "user", content: prompt }] };
    if (tokens) body.max_tokens = Number(tokens);
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (key && !keyId) headers[header] = key;
    const asked = { api_id: id, method: "POST", path, host: definition.domain ?? "", headers, body: JSON.stringify(body), body_bytes: ANSWER_BYTES, key_id: keyId, key_header: header };
    const began = performance.now();
    const reader = new Reader();
    let shown = 0;
    try {
      const ended = await stream(asked, abort.signal, (piece) => {
        reader.push(piece);
        if (reader.text && !reader.begun) { reader.begun = true; setFirst(performance.now() - began); }
        if (performance.now() - shown > SHOW_EVERY_MS) { shown = performance.now(); setText(reader.text); }
      });
      setText(reader.text);
      setFound(ended);
    } catch (failed) { setText(reader.text); if (!abort.signal.aborted) setFailure(failed); } finally { setBusy(false); running.current = null; }
  };
  return (
    <>
      <form class="form" onSubmit={send}>
        {!definition.use_keyless && <Field label="Whose key" wide hint={keyId ? "The gateway sends it; it is not shown." : undefined}><select value={keyId} onChange={(event) => setKeyId(event.currentTarget.value)}><option value="">One that you paste, or none</option>{(keys.value ?? []).map((one) => <option key={one.id} value={one.id}>{format.visible(one.alias || one.id)}</option>)}</select></Field>}
        {!definition.use_keyless && !keyId && <Field label={`Key (${header})`} wide hint="Sent as a client sends it; it is not kept."><input class="mono" type="password" autocomplete="off" value={key} onInput={(event) => setKey(event.currentTarget.value)} /></Field>}
        <Field label="Model"><input class="mono" required list="models" spellcheck={false} value={model} onInput={(event) => setModel(event.currentTarget.value)} /><datalist id="models">{models.map((one) => <option key={one} value={one} />)}</datalist></Field>
        <Field label="Tokens at most"><input class="mono" {...{ inputMode: "numeric", pattern: "[1-9][0-9]{0,6}" } as {}} value={tokens} onInput={(event) => setTokens(event.currentTarget.value)} /></Field>
        <Field label="Prompt" wide><textarea rows={4} required autofocus value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit(); }} /></Field>
        <div class="row wide">{busy ? <Button icon="close" onClick={() => running.current?.abort()}>Stop</Button> : <Button kind="primary" icon="play" type="submit">Ask</Button>}<small>Goes through this gateway only, counts against limits and budgets, and costs what it costs a client. The prompt is not stored.</small></div>
      </form>
      {failure ? <ErrorBox failure={failure} /> : null}
      {(busy || text || found) && <div class="stack" role="region" aria-label="Answer" aria-busy={busy}>
        {found && found.status !== 200 && <Refusal found={found} />}
        {(busy || text) && <pre class="document answer" tabIndex={0} aria-live="polite">{text ? text.split("\n").map(format.visible).join("\n") : "Waiting for the first token"}</pre>}
        {found && <Took found={found} first={first} />}
        {found && <details><summary>The request through the gateway</summary><Result found={found} asked={id} secret={key} /></details>}
      </div>}
    </>
  );
}

/** Why there is no answer, in the words of whoever refused it. */
function Refusal({ found }: { found: Answered }) {
  const refused = found.steps.find((step) => step.decision === "refuse");
  let said = "";
  try { const body = JSON.parse(found.body); said = String(body?.error?.message ?? body?.error ?? ""); } catch { said = found.error; }
  return <div class="why bad"><p>{refused ? <>Refused by <b>{refused.name}</b>: </> : <><b>{found.status || "No answer"}</b>: </>}<Text>{said || refused?.message || found.error}</Text></p></div>;
}

function Took({ found, first }: { found: Answered; first: number | null }) {
  const llm = found.llm;
  if (!llm) return <Note>What it took is not known, because nothing is recorded (enable_analytics).{first != null && <> The first token came after {format.duration(first * 1000)}, the whole answer after {format.duration(found.took_ms * 1000)}.</>}</Note>;
  const [tone, word] = outcome(llm.outcome);
  return (
    <>
      <Facts>
        <Fact name="Outcome"><Badge tone={tone}>{word}</Badge> {llm.reason && <Text>{llm.reason}</Text>}{llm.budget && llm.outcome === "ok" && <>, ended where the budget <Text>{llm.budget}</Text> bounds it</>}{llm.finish === "length" && !llm.budget && "ended at its bound of tokens"}</Fact>
        {llm.provider && <Fact name="Answered by"><Text>{llm.provider_model}</Text> at <Text>{llm.provider}</Text></Fact>}
        <Fact name="Tokens">{format.count(llm.input_tokens)} of the prompt{llm.cached_tokens > 0 && ` (${format.count(llm.cached_tokens)} cached)`}, {format.count(llm.output_tokens)} of the answer{llm.reasoning_tokens > 0 && ` (${format.count(llm.reasoning_tokens)} reasoning)`}</Fact>
        <Fact name="Cost">{usd(llm.cost_usd)}{llm.estimated && ", estimated"}</Fact>
        <Fact name="Time">{llm.first_token_ms != null && <>{format.duration(llm.first_token_ms * 1000)} until the first token, </>}{format.duration(found.took_ms * 1000)} in all{llm.tokens_per_s != null && <>, {format.rate(llm.tokens_per_s)} tokens/s</>}</Fact>
      </Facts>
      {llm.attempts.length > 1 && <div><h3>Providers</h3><ol class="steps">{llm.attempts.map((one, at) => <li key={at} class={outcome(one.outcome)[0]}><span /><span><Text>{one.model}</Text> at <Text>{one.provider}</Text>{one.reason && <small> <Text>{one.reason}</Text></small>}</span><small>{outcome(one.outcome)[1]}</small><small>{format.duration(one.took_ms * 1000)}</small></li>)}</ol></div>}
    </>
  );
}

/** Reads the text of a streamed answer of Chat Completions. */
class Reader {
  text = "";
  begun = false;
  private rest = "";

  push(piece: string): void {
    this.rest += piece;
    const lines = this.rest.split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      try {
        const delta = JSON.parse(line.slice(5))?.choices?.[0]?.delta;
        if (typeof delta?.content === "string") this.text += delta.content;
      } catch { /* the end of the stream is no JSON */ }
    }
  }
}

/** Sends a request whose answer is seen as it comes. */
async function stream(asked: object, signal: AbortSignal, take: (piece: string) => void): Promise<Answered> {
  const response = await fetch("api/debug/stream", { method: "POST", headers: { "X-Tollgate-Console": "1", "Content-Type": "application/json" }, body: JSON.stringify(asked), signal, credentials: "same-origin", cache: "no-store" });
  if (!response.ok || !response.body) {
    const said = await response.json().catch(() => ({}));
    throw new Failure(response.status, said.message ?? said.error ?? `The gateway answered with status ${response.status}.`, said);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Failure(0, "The gateway ended the answer.");
    rest += value;
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event.slice(event.indexOf("\ndata: ") + 7);
      if (event.startsWith("event: piece")) take(JSON.parse(data));
      if (event.startsWith("event: end")) return JSON.parse(data);
    }
  }
}
