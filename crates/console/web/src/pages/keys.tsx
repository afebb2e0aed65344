// Keys: one box finds a key, its hash or its alias; a wizard makes one; chosen keys are extended, deactivated or revoked together.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, get, mayBeKey, query, segment, type Failure } from "../call";
import * as format from "../format";
import { link, refine, route } from "../route";
import { isScoped, may } from "../session";
import { Ago, Badge, Button, Copy, Empty, ErrorBox, Field, Meter, Note, Text, copy, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";

export interface KeyRow {
  id: string; by: string; alias: string; org_id: string; policies: string[]; apis: string[]; state: "active" | "inactive" | "expired" | "bad"; expires: number; rate: number; per: number;
  quota_max: number; created: string;
  /** The name that records and the live tail use; missing if it is the id. */
  hash?: string;
}

export const STATE: Record<KeyRow["state"], Tone> = { active: "ok", inactive: "muted", expired: "warn", bad: "bad" };

export function Keys() {
  return <KeyTable fixed={{}} />;
}

export function KeyTable({ fixed }: { fixed: { api?: string; policy?: string } }) {
  const q = route.value.query;
  const [whole, setWhole] = useState("");
  const words = [whole || q.get("q"), fixed.policy].filter(Boolean).join(" ");
  const granting = useLoaded(() => (fixed.api ? get("list/policies?limit=1000") : Promise.resolve(null)), [fixed.api]);
  const givers = new Set((granting.value?.rows ?? []).filter((one: any) => one.apis.includes(fixed.api)).map((one: any) => one.id));
  const calls = (row: KeyRow) => row.apis?.includes(fixed.api!) || row.policies?.some((policy) => givers.has(policy));
  useEffect(() => () => allowances.clear(), []);
  const list = useList<KeyRow>("keys", { q: words || undefined, api: fixed.api }, fixed.api ? { keeps: calls, by: [...givers].join(" ") } : {});
  const [chosen, choose] = useState<Set<string>>(new Set());
  const [bulk, setBulk] = useState<Bulk | null>(null);
  const inner = !!(fixed.api || fixed.policy);
  // Not only those that are loaded: all that the gateway finds.
  const [all, chooseAll] = useState(false);
  const search = inner || whole ? "" : (q.get("q") ?? "").trim();
  // Rows that come after all that were there have been chosen are not chosen, but others that match can be.
  const [everyRow, noteEveryRow] = useState(false);
  useEffect(() => { chooseAll(false); noteEveryRow(list.rows.length > 0 && chosen.size === list.rows.length); }, [chosen, words]);
  const hasMore = !list.done || list.rows.length > chosen.size;
  const act = (action: Bulk["action"]) => () => setBulk({ action, select: all ? { q: search } : { ids: [...chosen] } });
  const can = may("editor");
  // Changes of many keys are not for operators with a scope.
  const chooses = can && !isScoped();
  const fresh = can && <Button icon="plus" kind="primary" data-key="n" onClick={() => refine({ new: "1", api: fixed.api })}>New key</Button>;
  return (
    <>
      <div class="page-head">{inner ? <h2 style={{ marginRight: "auto" }}>Keys that may call it</h2> : <h1>Keys{list.total != null && <small>{format.count(list.total)}</small>}</h1>}<Filter label="Search keys" placeholder="Key, hash, alias, policy" secret={{ is: mayBeKey, take: setWhole }} />{fresh}</div>
      {!can && <p class="list-end">Your role can view keys, not change them.</p>}
      <Table<KeyRow> label="Keys" list={list} id={(row) => row.id} href={to} order="id" selected={chooses ? chosen : undefined} select={chooses ? choose : undefined}
        empty={words ? <Empty icon="search" title="No key matches.">A key is found by itself, its hash, its alias or its policy.</Empty> : <Empty icon="key" title="There is no key yet.">A key says which APIs its owner may call, and how often.<br />{fresh}</Empty>}
        columns={[
          { id: "alias", name: "Alias", grow: true, show: (row) => <a href={to(row)}><Text>{row.alias || "without alias"}</Text></a> },
          { id: "state", bare: true, name: "State", show: (row) => <Badge tone={STATE[row.state]}>{row.state}</Badge> },
          { id: "id", bare: true, name: "Key", sort: "id", show: (row) => <Text mono>{short(row.id)}</Text> },
          { id: "policies", name: "Policies", show: (row) => <Text>{row.policies?.join(", ") || "none"}</Text> },
          { id: "apis", name: "APIs", show: (row) => <Text>{row.apis?.join(", ") || (row.policies?.length ? "by policy" : "none")}</Text> },
          { id: "limits", name: "Limits", show: (row) => <Limits row={row} /> },
          { id: "expires", name: "Expires", number: true, show: (row) => row.expires > 0 ? <Ago at={row.expires} /> : "never" },
        ]} />
      {chosen.size > 0 && (
        <div class="bulk" role="toolbar" aria-label="Chosen keys"><span>{all ? "All that match are chosen" : `${format.count(chosen.size)} chosen`}</span>{!all && everyRow && hasMore && search && <Button kind="quiet" onClick={() => chooseAll(true)}>Choose all that match</Button>}
          <Button onClick={act("extend")}>Extend</Button><Button onClick={act("deactivate")}>Deactivate</Button><Button onClick={act("activate")}>Activate</Button>
          <Button onClick={act("reset_quota")}>Reset quotas</Button><Button kind="danger" onClick={act("revoke")}>Revoke</Button><Button icon="close" kind="quiet" aria-label="Choose none" onClick={() => choose(new Set())} />
        </div>)}
      {bulk && <BulkDialog bulk={bulk} close={() => setBulk(null)} done={() => { setBulk(null); choose(new Set()); list.reload(); }} />}
      {q.get("new") && can && <NewKey api={q.get("api") ?? fixed.api} policy={q.get("policy") ?? undefined} close={() => { refine({ new: undefined, api: undefined, policy: undefined }); list.reload(); }} />}
    </>
  );
}

const to = (row: KeyRow): string => link(["keys", row.id], { hash: row.hash });

interface Allowance { rate: number; per: number; quota_max: number; quota_remaining: number }
/** What keys in sight may do now, policies included, until the list is fetched anew. */
const allowances = new Map<string, Allowance>();

/** What is left of the quota, or the rate. A row has only what the key has of its own; the rest is asked for once the row is in sight. */
function Limits({ row }: { row: KeyRow }) {
  const cell = useRef<HTMLSpanElement>(null);
  const [found, set] = useState(allowances.get(row.id));
  useEffect(() => {
    if (found || row.state === "bad" || !(row.policies?.length || row.quota_max > 0) || !cell.current) return;
    const watch = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      watch.disconnect();
      get<Allowance>(`keys/${segment(row.id)}?${row.by}`, { byItself: true }).then((session) => { allowances.set(row.id, session); set(session); }, () => {});
    });
    watch.observe(cell.current);
    return () => watch.disconnect();
  }, []);
  const shown = found ?? row;
  return <span ref={cell}>{row.state === "bad" ? format.UNKNOWN : found && found.quota_max > 0 ? <Meter used={found.quota_max - found.quota_remaining} max={found.quota_max} label={limit(found)} /> : !found && row.policies?.length ? <small>by policy</small> : limit(shown)}</span>;
}

export const short = (id: string): string => (id.length > 20 ? `${id.slice(0, 16)}\u2026` : id);

interface Bulk { action: "extend" | "deactivate" | "activate" | "reset_quota" | "revoke"; select: { ids: string[] } | { q: string } }
const VERBS = { extend: "Extend", deactivate: "Deactivate", activate: "Activate", reset_quota: "Reset the quotas of", revoke: "Revoke" };
export const SPANS: [number, string][] = [[86400, "1 day"], [7 * 86400, "7 days"], [30 * 86400, "30 days"], [90 * 86400, "90 days"], [365 * 86400, "1 year"]];
/** More keys than this need their number typed. */
const TYPED_ABOVE = 100;

function BulkDialog({ bulk, close, done }: { bulk: Bulk; close: () => void; done: () => void }) {
  const [seconds, setSeconds] = useState(30 * 86400);
  const [dry, setDry] = useState<any>(null);
  const [typed, setTyped] = useState("");
  const [result, setResult] = useState<any>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const body = { action: bulk.action, select: bulk.select, ...(bulk.action === "extend" ? { seconds } : {}) };
  useEffect(() => { setFailure(null); call("POST", "keys/bulk", { ...body, dry_run: true }).then(setDry, setFailure); }, [seconds]);
  const run = async () => {
    setBusy(true);
    setFailure(null);
    try {
      const found = await call("POST", "keys/bulk", { ...body, dry_run: false, ...(dry.count > TYPED_ABOVE ? { confirm: Number(typed) } : {}) });
      if (found.failed.length) setResult(found); else { say("ok", `${format.count(found.done)} ${found.done === 1 ? "key" : "keys"} changed.`); done(); }
    } catch (failed) { setFailure(failed); } finally { setBusy(false); }
  };
  const needs = dry && dry.count > TYPED_ABOVE;
  return (
    <Dialog title={`${VERBS[bulk.action]} ${dry ? format.count(dry.count) : ""} ${dry?.count === 1 ? "key" : "keys"}?`} close={result ? done : close}
      footer={result ? <Button kind="primary" onClick={done}>Close</Button> : <><Button onClick={close}>Cancel</Button><Button kind={bulk.action === "revoke" ? "danger" : "primary"} disabled={busy || !dry || (needs && typed !== String(dry.count))} onClick={() => void run()}>{VERBS[bulk.action]} {dry ? format.count(dry.count) : ""}</Button></>}>
      {failure ? <ErrorBox failure={failure} /> : null}
      {result ? <><Note tone="warn" icon="alert">{format.count(result.done)} changed, {format.count(result.failed.length + (result.failed_more ?? 0))} not:</Note><ul>{result.failed.map((one: any) => <li key={one.id}><Text mono>{one.id}</Text> <Text>{one.message}</Text></li>)}</ul></> : (
        <>
          {bulk.action === "revoke" && <p>The next request with any of them is refused. This cannot be undone.</p>}
          {bulk.action === "extend" && <Field label="By" hint="Added to the end of each; of expired ones to now."><select value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>{SPANS.map(([span, name]) => <option key={span} value={span}>{name}</option>)}</select></Field>}
          {dry && <table class="plain"><thead><tr><th scope="col">Alias</th><th scope="col">Key</th><th scope="col">State</th></tr></thead><tbody>{dry.sample.map((row: KeyRow) => <tr key={row.id}><td><Text>{row.alias}</Text></td><td><Text mono>{short(row.id)}</Text></td><td>{row.state}</td></tr>)}</tbody></table>}
          {dry && dry.count > dry.sample.length && <small>and {format.count(dry.count - dry.sample.length)} more</small>}
          {needs && <Field label={`Type ${dry.count} to go on`}><input inputMode="numeric" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} /></Field>}
        </>)}
    </Dialog>
  );
}

/** Makes a key: what it may call, by policies or by limits of its own, until when. Then it is shown, once. */
export function NewKey({ api, policy, close }: { api?: string; policy?: string; close: () => void }) {
  const [apis, setApis] = useState<any[] | null>(null);
  const [policies, setPolicies] = useState<any[] | null>(null);
  const [way, setWay] = useState<"limits" | "policies">(policy ? "policies" : "limits");
  const [chosenApis, setChosenApis] = useState<Set<string>>(new Set(api ? [api] : []));
  const [chosenPolicies, setChosenPolicies] = useState<Set<string>>(new Set(policy ? [policy] : []));
  const [alias, setAlias] = useState("");
  const [rate, setRate] = useState("10");
  const [per, setPer] = useState("60");
  const [quota, setQuota] = useState("");
  const [renewal, setRenewal] = useState(86400);
  const [life, setLife] = useState(0);
  const [custom, setCustom] = useState("");
  const [effective, setEffective] = useState<any>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [made, setMade] = useState<any>(null);
  const [busy, setBusy] = useState(false);
  const [filter, setFilter] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => { get(`list/apis${query({ q: filter, limit: 50 })}`).then((page) => { setApis(page.rows); if (!filter && page.rows.length === 1) setChosenApis((old) => (old.size ? old : new Set([page.rows[0].id]))); }, setFailure); }, filter ? 150 : 0);
    return () => clearTimeout(timer);
  }, [filter]);
  useEffect(() => { get("list/policies?limit=200").then((page) => setPolicies(page.rows), setFailure); }, []);
  const session = (): any => {
    const expires = life ? Math.round(Date.now() / 1000) + life : 0;
    const common = { org_id: "default", alias, expires };
    if (way === "policies") return { ...common, apply_policies: [...chosenPolicies], rate: 0, per: 0, quota_max: 0 };
    return { ...common, rate: Number(rate) || 0, per: Number(per) || 0, allowance: Number(rate) || 0, quota_max: quota === "" ? -1 : Number(quota), quota_renewal_rate: quota === "" ? 0 : renewal,
      access_rights: Object.fromEntries([...chosenApis].map((id) => [id, { api_id: id, api_name: apis?.find((one) => one.id === id)?.name ?? id, versions: ["Default"] }])) };
  };
  const complete = way === "policies" ? chosenPolicies.size > 0 : chosenApis.size > 0 && Number(rate) >= 0;
  const asked = JSON.stringify(session());
  useEffect(() => {
    if (!complete) { setEffective(null); return; }
    const control = new AbortController();
    const timer = setTimeout(() => { call("POST", "keys/preview", session(), { signal: control.signal }).then(setEffective, () => {}); }, 300);
    return () => { clearTimeout(timer); control.abort(); };
  }, [way === "policies" ? asked : "", complete]);
  const make = async (event: Event) => {
    event.preventDefault();
    if (!complete || busy) return;
    setBusy(true);
    setFailure(null);
    try { setMade(await call("POST", custom ? `keys/${encodeURIComponent(custom)}` : "keys/create", session())); } catch (failed) { setFailure(failed as Failure); } finally { setBusy(false); }
  };
  if (made) return <Made made={made} api={apis?.find((one) => chosenApis.has(one.id)) ?? apis?.find((one) => effective?.access_rights?.[one.id])} close={close} />;
  const toggle = (set: Set<string>, id: string) => { const next = new Set(set); if (!next.delete(id)) next.add(id); return next; };
  const rights = Object.keys(effective?.access_rights ?? {});
  return (
    <Dialog title="New key" close={close} wide footer={<><span>{complete ? "" : way === "policies" ? "Choose a policy." : "Choose an API."}</span><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "new-key" }} disabled={!complete || busy}>Make the key</Button></>}>
      <form id="new-key" class="form" onSubmit={make}>
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        <Field label="Alias" hint="Whose key it is; shown in lists, records and the live tail."><input autofocus value={alias} maxLength={200} onInput={(event) => setAlias(event.currentTarget.value)} placeholder="acme" /></Field>
        <Field label="Valid"><select value={life} onChange={(event) => setLife(Number(event.currentTarget.value))}><option value={0}>until revoked</option>{SPANS.map(([span, name]) => <option key={span} value={span}>for {name}</option>)}</select></Field>
        <div class="field wide"><span>Rights and limits</span><div class="segments" role="group" aria-label="Rights and limits"><button type="button" aria-pressed={way === "limits"} onClick={() => setWay("limits")}>of its own</button><button type="button" aria-pressed={way === "policies"} onClick={() => setWay("policies")}>from policies</button></div></div>
        {way === "policies" ? (
          <div class="field wide"><span>Policies</span>{policies?.length === 0 ? <Note>There is no policy yet. Give this key limits of its own, or <a href={link(["policies"], { new: "1" })}>make a policy</a>.</Note> : <div class="choices">{policies?.map((one) => <label key={one.id} class="choice"><input type="checkbox" checked={chosenPolicies.has(one.id)} onChange={() => setChosenPolicies(toggle(chosenPolicies, one.id))} /><Text>{one.name || one.id}</Text><small>{limit(one)}</small></label>)}</div>}</div>
        ) : (
          <>
            <div class="field wide"><span>APIs that it may call</span>
              {(apis?.length ?? 0) > 8 || filter ? <input type="search" aria-label="Filter APIs" placeholder="Filter" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} /> : null}
              {apis?.length === 0 && !filter ? <Note>There is no API yet.</Note> : !apis ? <small>Loading</small> : <div class="choices">{apis.map((one) => <label key={one.id} class="choice"><input type="checkbox" checked={chosenApis.has(one.id)} onChange={() => setChosenApis(toggle(chosenApis, one.id))} /><Text>{one.name || one.id}</Text><small class="mono"><Text>{one.listen_path}</Text></small></label>)}</div>}</div>
            <Field label="Requests" hint={Number(rate) === 0 ? "No limit." : undefined}><input type="number" min={0} step="any" value={rate} onInput={(event) => setRate(event.currentTarget.value)} /></Field>
            <Field label="in seconds"><input type="number" min={0} step="any" value={per} onInput={(event) => setPer(event.currentTarget.value)} /></Field>
            <Field label="Quota"><input type="number" min={1} placeholder="no quota" value={quota} onInput={(event) => setQuota(event.currentTarget.value)} /></Field>
            <Field label="renewed every"><select value={renewal} disabled={quota === ""} onChange={(event) => setRenewal(Number(event.currentTarget.value))}><option value={3600}>hour</option><option value={86400}>day</option><option value={604800}>week</option><option value={2592000}>30 days</option></select></Field>
          </>)}
        <Field label="Key" wide hint="Empty: the gateway makes a random one, which is best."><input class="mono" autocomplete="off" spellcheck={false} value={custom} placeholder="made by the gateway" onInput={(event) => setCustom(event.currentTarget.value)} /></Field>
        {way === "policies" && effective && <div class="field wide"><Note tone="ok" icon="ok">In effect: {rights.length} {rights.length === 1 ? "API" : "APIs"} (<Text>{rights.slice(0, 5).join(", ")}</Text>), {limit(effective)}.</Note></div>}
      </form>
    </Dialog>
  );
}

export function limit(one: { rate?: number; per?: number; quota_max?: number; quota_renewal_rate?: number }): string {
  const parts = [one.rate && one.rate > 0 ? `${format.count(one.rate)} per ${one.per} s` : "no rate limit"];
  if (one.quota_max && one.quota_max > 0) parts.push(`quota ${format.count(one.quota_max)}${one.quota_renewal_rate ? ` per ${format.span(one.quota_renewal_rate)}` : ""}`);
  return parts.join(", ");
}

function Made({ made, api, close }: { made: any; api: any; close: () => void }) {
  const header = api?.auth_header || "Authorization";
  const curl = `curl -i -H ${format.shell(`${header}: ${made.key}`)} ${format.shell(`${location.protocol}//${location.host}${api?.listen_path ?? "/"}`)}`;
  return (
    <Dialog title="The key is valid" close={close} footer={<Button kind="primary" onClick={close}>Done</Button>}>
      <div class="secret-once">
        <Note tone="warn" icon="alert">{made.key_hash ? "This is the only time it is shown. The gateway keeps only its hash." : "Copy it now; it is a secret and not shown in lists."}</Note>
        <div class="line"><code class="big-code" data-test="secret">{made.key}</code><Button icon="copy" onClick={() => void copy(made.key, "Key copied")}>Copy</Button></div>
        {made.key_hash && <small>Its hash, by which lists and records name it: <code>{made.key_hash}</code></small>}
        <div class="field"><span>Use it</span><div class="line"><code>{curl}</code><Copy text={curl} label="Copy the command" /></div></div>
      </div>
    </Dialog>
  );
}
