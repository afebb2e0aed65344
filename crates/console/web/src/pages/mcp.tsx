// The tools, resources and prompts of an MCP proxy: the servers behind it and how they do, what each thing is, who uses it, why it is
// withheld, and agreeing to what a server now says of a tool.

import { useEffect, useState } from "preact/hooks";
import { Failure, ask, call, get, query, segment } from "../call";
import * as format from "../format";
import * as json from "../json";
import * as live from "../live";
import { link, refine, route } from "../route";
import { isScoped, may, reread, session } from "../session";
import { Ago, Badge, Button, Copy, Empty, ErrorBox, Fact, Facts, Note, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, here, useList } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { affected } from "./definition";
import { McpClients } from "./mcp_clients";
import { ListWithKey, TryTool } from "./mcp_try";
import { Lines, pretty, row, type Kind, type Primitive } from "./primitive";

interface Process { running: boolean; started_unix_s: number | null; restarts: number; ended_unix_s: number | null; end: string }
interface Server {
  name: string; kind: "url" | "command" | "api"; place: string; state: "not_asked" | "there" | "missing"; fault: string; since_unix_s: number | null;
  asked_unix_s: number | null; version: string; has_sessions: boolean | null; tools: number; withheld: number; changed: number; prompts: number; resources: number; process: Process | null;
}
/** What was counted of one thing; p99 is not known where requests are only counted. */
interface Use { hits: number; errors: number; p99_ms: number | null }

const SPANS: [string, string][] = [["1h", "1 h"], ["24h", "24 h"], ["7d", "7 d"]];
/** Things whose use is fetched: as many as usage tells apart. */
const ROWS = 1000;
const STATES: Record<Server["state"], [Tone, string]> = { not_asked: ["muted", "not asked yet"], there: ["ok", "there"], missing: ["bad", "not there"] };
const SHOWN: Record<Primitive["state"], [Tone, string]> = { changed: ["bad", "changed, withheld"], hidden: ["warn", "withheld"], shown: ["ok", "shown"] };
/** How usage and definitions name what a call is for. */
const PREFIXES: [string, Kind][] = [["/mcp-tool:", "tool"], ["/mcp-prompt:", "prompt"], ["/mcp-resource:", "resource"], ["/json-rpc-method:", "method"]];
const pathOf = (kind: Kind, name: string): string => `${PREFIXES.find(([, one]) => one === kind)?.[0] ?? ""}${name}`;

export function McpTools({ id, definition }: { id: string; definition: any }) {
  const q = route.value.query;
  const isFederation = !!definition?.tollgate?.mcp;
  const last = SPANS.some(([one]) => one === q.get("last")) ? q.get("last")! : "24h";
  const [open, setOpen] = useState<Primitive | null>(null);
  const [trying, setTrying] = useState<Primitive | "" | null>(null);
  const [listing, setListing] = useState(false);
  // Counts what was agreed to here.
  const [version, setVersion] = useState(0);
  const [listed, setListed] = useState<Primitive[] | null>(null);
  const list = useList<Primitive>(isFederation ? "primitives" : null, { api: id, q: q.get("q") ?? undefined, sort: q.get("sort") ?? "state" });
  const used = useUse(id, last);
  const words = (q.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row: Primitive) => words.every((word) => [row.name, row.kind, row.description, row.server].some((text) => text.toLowerCase().includes(word)));
  // Of a proxy for one server, the gateway knows what was called and what it has just listed with a key.
  const called = isFederation ? [] : calledRows(used.uses);
  const known = listed && [...listed, ...called.filter((row) => !listed.some((one) => one.kind === row.kind && one.name === row.name))];
  const shown = known ? here(known.filter(fits)) : isFederation ? list : here(called.filter(fits));
  const use = (row: Primitive): Use | undefined => used.uses?.get(pathOf(row.kind, row.name));
  // Templates are not called; what is made of them is.
  const figure = (show: (use: Use) => any, none = "0") => (row: Primitive) => { const found = row.kind === "template" ? undefined : use(row); return found ? show(found) : used.uses && row.kind !== "template" ? none : format.UNKNOWN; };
  // Tools are tried as requests are, which is not for operators with a scope.
  const editor = may("editor") && !isScoped();
  return (
    <>
      {isFederation && <Servers id={id} version={version} changed={list.reload} />}
      <div class="toolbar">
        <Filter label="Filter tools, resources and prompts" placeholder="Name, server, description" />
        <div class="segments" role="group" aria-label="Calls of the past">{SPANS.map(([one, name]) => <button key={one} type="button" aria-pressed={last === one} onClick={() => refine({ last: one })}>{name}</button>)}</div>
        {editor && <><Button class="push" icon="refresh" onClick={() => setListing(true)}>List with a key</Button><Button icon="play" kind="primary" onClick={() => setTrying("")}>Try a tool</Button></>}
      </div>
      {used.failure ? <ErrorBox failure={used.failure} /> : null}
      {used.now && <Note>Usage is not recorded (enable_analytics), so calls are those that were counted since somebody looked, of the past 10 minutes at most.</Note>}
      {definition?.do_not_track && <Note tone="warn" icon="alert">Requests of this proxy are not recorded (do_not_track), so nobody knows who calls what.</Note>}
      {used.missing.length > 0 && <Note tone="warn" icon="alert">Calls are without those of {used.missing.map(format.visible).join(", ")}.</Note>}
      {listed && <Note actions={<Button icon="close" kind="quiet" aria-label="Back" onClick={() => setListed(null)} />}>This is what a client with that key sees.</Note>}
      {!listed && !isFederation && <Note>The gateway does not keep what this server offers. Shown is what was called{editor ? "; list the rest with a key." : "."}</Note>}
      <Table<Primitive> label="Tools, resources and prompts" list={shown} id={(row) => row.id} open={setOpen} order={isFederation && !listed ? "state" : undefined} tone={(row) => (row.changed ? "expired" : undefined)}
        empty={<Empty icon="api" title={words.length ? "Nothing matches." : isFederation ? "Nothing is known yet." : "Nothing was called."}>{words.length ? null : isFederation ? "Servers are asked what they offer when a client comes." : null}</Empty>}
        columns={[
          { id: "name", name: "Name", sort: isFederation && !listed ? "name" : undefined, grow: true, show: (row) => <a href="#" onClick={(event) => { event.preventDefault(); setOpen(row); }}><Text>{row.name}</Text></a> },
          { id: "state", bare: true, name: "State", sort: isFederation && !listed ? "state" : undefined, show: (row) => (row.server || listed ? row.kind === "method" ? null : <Badge tone={SHOWN[row.state][0]}>{SHOWN[row.state][1]}</Badge> : <Badge tone="muted">called</Badge>) },
          { id: "kind", name: "Kind", sort: isFederation && !listed ? "kind" : undefined, show: (row) => row.kind },
          ...(isFederation && !listed ? [{ id: "server", name: "Server", sort: "server", show: (row: Primitive) => <Text>{row.server}</Text> }] : []),
          { id: "calls", name: "Calls", number: true, show: figure((found) => format.count(found.hits)) },
          { id: "errors", name: "Failed", number: true, show: figure((found) => <span class={found.errors ? "bad" : ""}>{format.count(found.errors)}</span>) },
          { id: "p99", name: "p99", number: true, show: figure((found) => (found.p99_ms == null ? format.UNKNOWN : format.percentile(found.p99_ms * 1000, 3e7)), format.UNKNOWN) },
          { id: "description", name: "Description", wide: true, show: (row: Primitive) => <span title={format.visible(row.description)}><Text>{row.description}</Text></span> },
        ]} />
      {definition?.tollgate?.authorization_proxy && <McpClients id={id} />}
      {open && <One id={id} row={open} last={last} now={used.now} use={use(open)} close={() => setOpen(null)} tryIt={() => { setTrying(open); setOpen(null); }} agreed={() => { setOpen(null); setVersion(version + 1); list.reload(); }} />}
      {trying !== null && <TryTool id={id} definition={definition} chosen={trying === "" ? undefined : trying.name} close={() => setTrying(null)} />}
      {listing && <ListWithKey id={id} definition={definition} close={() => setListing(false)} found={(rows) => { setListed(rows); setListing(false); }} />}
    </>
  );
}

/** What was called of a proxy for one server. */
function calledRows(uses: Map<string, Use> | null): Primitive[] {
  return [...(uses ?? [])].flatMap(([path]) => {
    const found = PREFIXES.find(([prefix]) => path.startsWith(prefix));
    if (!found) return [];
    const [prefix, kind] = found;
    return [row(kind, path.slice(prefix.length), {})];
  });
}

/** The use of everything, by path: recorded, else as counted now. */
function useUse(id: string, last: string): { uses: Map<string, Use> | null; now: boolean; failure: unknown; missing: string[] } {
  const turn = Math.floor(live.tick.value / 10);
  const found = useLoaded(async () => {
    try {
      const usage = await get(`usage${query({ by: "path", api_id: id, top: ROWS, last, nodes: "all" })}`, { byItself: true });
      return { rows: usage.rows, missing: usage.missing ?? [], now: false };
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.status !== 404) throw failure;
      const top = await get(`top${query({ by: "path", api: id, window: 600, k: 256, nodes: "all" })}`, { byItself: true });
      return { rows: top.rows.map((one: any) => ({ value: one.value, hits: one.requests, errors: one.refused + one.server_errors, p99_ms: null })), missing: top.missing ?? [], now: true };
    }
  }, [`${id} ${last}`, turn]);
  const uses = found.value && new Map<string, Use>(found.value.rows.map((one: any) => [String(one.value), one]));
  return { uses, now: found.value?.now ?? false, failure: found.value ? null : found.failure, missing: found.value?.missing ?? [] };
}

function Servers({ id, version, changed }: { id: string; version: number; changed: () => void }) {
  const gateways = live.now.value?.nodes ?? [];
  const node = route.value.query.get("node") ?? "";
  const turn = Math.floor(live.tick.value / 3);
  const loaded = useLoaded(() => get(`mcps/${segment(id)}/servers${query({ node })}`, { byItself: true }), [`${id} ${node}`, turn, version]);
  const [busy, setBusy] = useState(false);
  const [open, setOpen] = useState<Server | null>(null);
  const servers: Server[] = loaded.value?.servers ?? [];
  const read = servers.map((one) => one.asked_unix_s ?? 0).reduce((one, other) => Math.max(one, other), 0);
  // Lists that were read anew are other rows.
  useEffect(() => { if (read && !node) changed(); }, [read]);
  const asking = async () => {
    setBusy(true);
    try { loaded.replace(await call("POST", `mcps/${segment(id)}/servers`)); changed(); } catch (failure) { say("bad", (failure as Error).message); } finally { setBusy(false); }
  };
  const isOther = !!node && node !== session.value?.node;
  const missing = servers.filter((one) => one.state === "missing");
  const changedTools = servers.reduce((sum, one) => sum + one.changed, 0);
  return (
    <section class="stack" aria-label="Servers behind this proxy">
      <div class="page-head"><h2>Servers <small>{loaded.value ? <>as <Text>{loaded.value.node}</Text> knows them</> : "loading"}</small></h2>
        {gateways.length > 1 && <label class="row">gateway <select aria-label="Gateway" value={node || session.value?.node} onChange={(event) => refine({ node: event.currentTarget.value === session.value?.node ? undefined : event.currentTarget.value })}>{gateways.map((one) => <option key={one} value={one}>{format.visible(one)}</option>)}</select></label>}
        {may("editor") && <Button icon="refresh" class="push" disabled={busy || isOther} title={isOther ? "Only the gateway of this console can be told to ask" : "Asks all servers what they offer"} onClick={() => void asking()}>{busy ? "Asking" : "Ask now"}</Button>}</div>
      {loaded.failure ? <ErrorBox failure={loaded.failure} retry={loaded.again} since={loaded.at ?? undefined} /> : null}
      {missing.map((one) => <Note key={one.name} tone="bad" icon="alert"><b><Text>{one.name}</Text></b> is not there since {format.moment(one.since_unix_s, true)}: <Text>{one.fault}</Text>. Its tools are left out.</Note>)}
      {changedTools > 0 && <Note tone="bad" icon="alert">{changedTools === 1 ? "One tool is" : `${changedTools} tools are`} withheld because {changedTools === 1 ? "its server says" : "their servers say"} something else than what was agreed to. Open {changedTools === 1 ? "it" : "them"} and read what models would be told.</Note>}
      {isOther && <Note>The tools below are as this console's gateway, <Text>{session.value?.node}</Text>, has read them.</Note>}
      {loaded.value && <Table<Server> label="Servers" list={here(servers)} id={(one) => one.name} open={setOpen} empty={<Empty icon="info" title="There is no server." />} tone={(one) => (one.state === "missing" ? "expired" : undefined)}
        columns={[
          { id: "name", name: "Server", grow: true, show: (one) => <><a href="#" onClick={(event) => { event.preventDefault(); setOpen(one); }}><Text>{one.name}</Text></a> <small><Text mono>{one.place}</Text></small></> },
          { id: "state", bare: true, name: "State", show: (one) => <Badge tone={STATES[one.state][0]}>{STATES[one.state][1]}</Badge> },
          { id: "since", name: "Since", show: (one) => <Ago at={one.since_unix_s} /> },
          { id: "asked", name: "Asked", show: (one) => (one.asked_unix_s ? <Ago at={one.asked_unix_s} /> : "never") },
          { id: "tools", name: "Tools", number: true, show: (one) => (one.asked_unix_s ? <>{format.count(one.tools)}{one.withheld > 0 && <>, <span class="bad">{format.count(one.withheld)} withheld</span></>}</> : format.UNKNOWN) },
          { id: "version", name: "Protocol", show: (one) => <>{one.version || format.UNKNOWN}{one.has_sessions === false && <small> without sessions</small>}</> },
          { id: "process", name: "Process", wide: true, show: (one) => (!one.process ? "" : one.process.running ? <>runs{one.process.restarts > 0 && `, ${restarts(one.process)}`}</> : one.process.started_unix_s ? <span class="bad">ended</span> : "not started") },
        ]} />}
      {open && <Dialog title={format.visible(open.name)} close={() => setOpen(null)}>
        <Facts>
          <Fact name="State"><Badge tone={STATES[open.state][0]}>{STATES[open.state][1]}</Badge> {open.since_unix_s && <>since {format.full(open.since_unix_s)}</>}</Fact>
          {open.fault && <Fact name="Why"><Text>{open.fault}</Text></Fact>}
          <Fact name="Asked last">{open.asked_unix_s ? format.full(open.asked_unix_s) : "never; it is when a client comes"}</Fact>
          <Fact name={open.kind === "url" ? "URL" : open.kind === "api" ? "API" : "Program"}>{open.kind === "api" ? <a href={link(["apis", open.place])}><Text>{open.place}</Text></a> : <Text mono>{open.place}</Text>}</Fact>
          <Fact name="Protocol">{open.version || "not known"}{open.has_sessions != null && (open.has_sessions ? ", with sessions" : ", without sessions")}</Fact>
          <Fact name="Tools">{format.count(open.tools)} shown, {format.count(open.withheld)} withheld</Fact>
          <Fact name="Prompts, resources">{format.count(open.prompts)}, {format.count(open.resources)}</Fact>
          {open.process && <Fact name="Process">{open.process.running ? <>runs since {format.full(open.process.started_unix_s)}, {restarts(open.process)}</> : open.process.started_unix_s ? "does not run" : "was not started yet"}{open.process.ended_unix_s && <><br />ended last at {format.full(open.process.ended_unix_s)}: <Text>{open.process.end}</Text></>}</Fact>}
          <Fact name="Seen by"><Text>{loaded.value?.node}</Text></Fact>
        </Facts>
      </Dialog>}
    </section>
  );
}

const restarts = (process: Process): string => (process.restarts === 1 ? "1 restart" : `${format.count(process.restarts)} restarts`);

/** One tool, resource or prompt, with who uses it. */
function One({ id, row, last, now, use, close, tryIt, agreed }: { id: string; row: Primitive; last: string; now: boolean; use: Use | undefined; close: () => void; tryIt: () => void; agreed: () => void }) {
  const [agreeing, setAgreeing] = useState(false);
  const whole = useLoaded(async () => {
    if (!row.server) return row;
    const page = await get(`list/primitives${query({ api: id, name: row.name, limit: 1000 })}`);
    return (page.rows as Primitive[]).find((one) => one.id === row.id) ?? null;
  }, [row.id]);
  const keys = useLoaded(() => (now || row.kind === "template" ? Promise.resolve(null) : get(`usage${query({ by: "key", api_id: id, path: pathOf(row.kind, row.name), last, top: 20, nodes: "all" })}`)), [row.id]);
  const one = whole.value ?? row;
  const mayPin = may("editor") && !!session.value?.writable.apis;
  const callers: any[] = keys.value?.rows ?? [];
  const isStale = whole.value === null && !whole.waiting && !whole.failure;
  if (agreeing) return <Agree id={id} row={one} close={() => setAgreeing(false)} agreed={agreed} />;
  return (
    <Dialog title={format.visible(row.name)} close={close} side footer={<>
      {one.changed && mayPin && <Button kind="primary" disabled={!whole.value} onClick={() => setAgreeing(true)}>Agree to what it says now</Button>}
      {!one.changed && !one.pin && one.state === "shown" && one.digest && mayPin && <Button disabled={!whole.value} onClick={() => setAgreeing(true)}>Pin what it says</Button>}
      {row.kind === "tool" && row.state === "shown" && may("editor") && !isScoped() && <Button icon="play" kind={one.changed ? "plain" : "primary"} onClick={tryIt}>Try it</Button>}</>}>
      {one.withheld && <div class={`why ${one.changed ? "bad" : "warn"}`}><p>Clients do not see it: <Text>{one.withheld}</Text>.</p></div>}
      {one.changed && !may("editor") && <Note>Your role can view this, not agree to it.</Note>}
      {isStale && <Note tone="warn" icon="alert">The server does not offer it any more.</Note>}
      <Facts>
        <Fact name="Kind">{one.kind}{one.title && <>, <Text>{one.title}</Text></>}</Fact>
        {one.server && <Fact name="Server"><Text>{one.server}</Text>{one.own_name !== one.name && <>, where it is <Text mono>{one.own_name}</Text></>}</Fact>}
        {one.digest && <Fact name="Digest"><Text mono>{one.digest}</Text> <Copy text={one.digest} label="Copy the digest" /></Fact>}
        {one.digest && <Fact name="Agreed to">{one.pin ? one.pin === one.digest ? "this digest" : <Text mono>{one.pin}</Text> : "anything: it has no pin"}</Fact>}
        <Fact name={`Calls, ${now ? "now" : SPANS.find(([span]) => span === last)?.[1] ?? last}`}>{use ? `${format.count(use.hits)}, ${format.count(use.errors)} failed${use.p99_ms == null ? "" : `, p99 ${format.percentile(use.p99_ms * 1000, 3e7)}`}` : row.kind === "template" ? "counted for each resource" : "none"}{use && use.hits > 0 && <><br /><small>Failed are answers with a status from 400 on. What a tool itself calls an error has the status 200.</small></>}</Fact>
      </Facts>
      {one.description && <div><h3>What models are told</h3><p class="told"><Lines>{one.description}</Lines></p></div>}
      {keys.failure ? <ErrorBox failure={keys.failure} retry={keys.again} /> : null}
      {callers.length > 0 && <div><h3>Who uses it</h3><table class="plain"><thead><tr><th scope="col">Key</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Failed</th><th scope="col" class="number">p99</th></tr></thead>
        <tbody>{callers.map((caller) => <tr key={caller.value}><th scope="row">{caller.value && caller.value !== "_other" ? <a href={link(["keys", String(caller.value)], { alias: caller.alias })}><Text>{caller.alias || String(caller.value).slice(0, 12)}</Text></a> : caller.value ? "other keys" : "without a key"}</th><td class="number">{format.count(caller.hits)}</td><td class={`number ${caller.errors ? "bad" : ""}`}>{format.count(caller.errors)}</td><td class="number">{format.percentile(caller.p99_ms * 1000, 3e7)}</td></tr>)}</tbody></table></div>}
      {whole.failure ? <ErrorBox failure={whole.failure} retry={whole.again} /> : null}
      {one.entry && <details><summary>The whole entry</summary><pre class="document" tabIndex={0}>{pretty(one.entry)}</pre></details>}
    </Dialog>
  );
}

/** Writes the digest of what the server says now into the definition. */
function Agree({ id, row, close, agreed }: { id: string; row: Primitive; close: () => void; agreed: () => void }) {
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const agree = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await pin(id, row);
      say("ok", <>Clients see <b>{format.visible(row.own_name)}</b> as long as its server says this.</>);
      agreed();
    } catch (failed) { setFailure(failed); setBusy(false); }
  };
  const told = { title: row.entry?.title, description: row.entry?.description, inputSchema: row.entry?.inputSchema, outputSchema: row.entry?.outputSchema, annotations: row.entry?.annotations };
  return (
    <Dialog title={row.changed ? "Agree to what the server says now?" : "Pin what the server says?"} close={close} wide footer={<><span>{affected()} The servers are asked anew.</span><Button onClick={close}>Back</Button><Button kind="primary" disabled={busy} onClick={() => void agree()}>{busy ? "Saving" : row.changed ? "Agree" : "Pin"}</Button></>}>
      {failure ? <Note tone="bad" icon="alert">Not saved. <Text>{(failure as Error).message}</Text></Note> : null}
      <p>{row.changed ? "Clients and their models get this again once you agree. A server can put orders to models into a description: read it." : "From then on clients do not see the tool while its server says anything else."} The definition gets <code>digest</code> of <b><Text>{row.own_name}</Text></b> at <b><Text>{row.server}</Text></b>; nothing else changes.</p>
      {row.description && <p class="told"><Lines>{String(row.entry?.description ?? row.description)}</Lines></p>}
      <pre class="document" tabIndex={0}>{pretty(told)}</pre>
      <Facts>{row.pin && <Fact name="Agreed to so far"><Text mono>{row.pin}</Text></Fact>}<Fact name="Now"><Text mono>{row.digest}</Text></Fact></Facts>
    </Dialog>
  );
}

async function pin(id: string, row: Primitive): Promise<void> {
  // A document defines the proxy, or a classic definition does.
  let place = `mcps/${segment(id)}`, members: (string | number)[] = ["x-tollgate", "mcp", "servers"];
  const stored = await ask("GET", place).catch((failure) => {
    if (!(failure instanceof Failure) || failure.status !== 400) throw failure;
    [place, members] = [`apis/${segment(id)}`, ["tollgate", "mcp", "servers"]];
    return ask("GET", place);
  });
  const servers = members.reduce<any>((value, member) => value?.[member], stored.value);
  const index = Array.isArray(servers) ? servers.findIndex((one) => one?.name === row.server) : -1;
  if (index < 0) throw new Error("The definition has no such server any more.");
  const text = json.set(stored.text, [...members, index, "tools", row.own_name, "digest"], row.digest);
  if (text === stored.text) throw new Error("The definition has another form than expected; change it as JSON.");
  try {
    await ask("PUT", place, text, stored.etag ? { headers: { "If-Match": stored.etag } } : {});
  } catch (failure) {
    if (failure instanceof Failure && failure.status === 412) throw new Error("Somebody else changed the definition in this moment. Look at the tool again, then agree.");
    throw failure;
  }
  await reread();
  // The definition is another one now: nobody has asked its servers.
  await call("POST", `mcps/${segment(id)}/servers`).catch(() => {});
}
