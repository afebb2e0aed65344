// One key: its state, what it may call and how often, what is left of its quota; extend, deactivate, reset, revoke.

import { useState } from "preact/hooks";
import { Failure, ask, call, get, listKeys, query, segment } from "../call";
import * as format from "../format";
import { link, route, go } from "../route";
import { isScoped, may } from "../session";
import { Ago, Badge, Button, Empty, ErrorBox, Fact, Facts, Field, LinkButton, Meter, Note, Panel, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { KeyBudgets } from "./budgets";
import { SPANS, limit, short } from "./keys";

export function KeyPage() {
  const [, id = ""] = route.value.parts;
  const loaded = useLoaded(() => found(id), [id]);
  const path = loaded.value?.path ?? "";
  const seen = useLoaded(async () => (path && !isScoped() ? await last(path) : null), [path]);
  const [doing, setDoing] = useState<"extend" | "revoke" | "policies" | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const can = may("editor");
  if (loaded.failure && !loaded.value) {
    return loaded.failure instanceof Failure && loaded.failure.status === 404 ? <Empty icon="key" title={loaded.failure.message === "Key is not found" ? "There is no such key." : loaded.failure.message}>It may have been revoked, or have expired.<br /><LinkButton href={link(["keys"], { q: route.value.query.get("alias") ?? undefined })}>{route.value.query.get("alias") ? "Keys with this alias" : "All keys"}</LinkButton></Empty> : <ErrorBox failure={loaded.failure} retry={loaded.again} />;
  }
  if (!loaded.value) return null;
  const { value: key, etag } = loaded.value;
  const expired = key.expires > 0 && key.expires * 1000 < Date.now();
  const rights: [string, any][] = Object.entries(key.access_rights ?? {});
  const policies: string[] = key.apply_policies ?? (key.apply_policy_id ? [key.apply_policy_id] : []);
  const patch = async (change: object, words: string, extra = "") => {
    setFailure(null);
    try {
      await call("PATCH", `${path}${extra}`, change, etag ? { headers: { "If-Match": etag } } : {});
      say("ok", words);
      loaded.again();
      setDoing(null);
    } catch (failed) {
      if (failed instanceof Failure && failed.status === 412) { loaded.again(); setFailure(new Failure(412, "Somebody else changed this key since it was shown. Their version is shown now; try again.")); } else setFailure(failed);
      setDoing(null);
    }
  };
  const revoke = async () => {
    try { await call("DELETE", path); say("ok", "The key is revoked. The next request with it is refused."); go("#/keys"); } catch (failed) { setFailure(failed); setDoing(null); }
  };
  return (
    <>
      <p class="crumbs"><a href="#/keys">Keys</a><Icon name="right" /><span class="mono"><Text>{short(id)}</Text></span></p>
      <div class="page-head"><h1><Text>{key.alias || "Key without alias"}</Text></h1>
        {expired ? <Badge tone="warn">expired</Badge> : key.is_inactive ? <Badge tone="muted">inactive</Badge> : <Badge tone="ok">active</Badge>}
        <LinkButton icon="tail" kind="quiet" href={refusals(id, key.alias, path)}>Why refused?</LinkButton>
        {can && <><Button icon="clock" data-key="e" onClick={() => setDoing("extend")}>Extend</Button><Button onClick={() => void patch({ is_inactive: !key.is_inactive }, key.is_inactive ? "The key is active." : "The key is inactive: its requests are refused until you activate it.")}>{key.is_inactive ? "Activate" : "Deactivate"}</Button><Button kind="danger" onClick={() => setDoing("revoke")}>Revoke</Button></>}
      </div>
      {!can && <p class="list-end">Your role can view keys, not change them.</p>}
      {failure ? <ErrorBox failure={failure} /> : null}
      <div class="two">
        <Panel title="Limits"><div class="body">
          <Facts>
            <Fact name="Rate">{key.rate > 0 ? `${format.count(key.rate)} per ${key.per} s` : "no limit"}</Fact>
            {(key.limits ?? []).map((one: any, at: number) => <Fact key={at} name="and">{`${format.count(one.rate)} per ${one.per} s`}</Fact>)}
            <Fact name="Quota">{key.quota_max > 0 ? <span class="row"><Meter used={key.quota_max - key.quota_remaining} max={key.quota_max} /><small>renews <Ago at={key.quota_renews} /></small>{can && <Button kind="quiet" onClick={() => void patch({}, "The quota starts anew.", "&reset=quota")}>Reset</Button>}</span> : "no quota"}</Fact>
            <Fact name="Expires">{key.expires > 0 ? <><Ago at={key.expires} /> <small>{format.full(key.expires)}</small></> : "never"}</Fact>
            <Fact name="Policies">{policies.length ? policies.map((policy, at) => <span key={policy}>{at > 0 && ", "}<a href={link(["policies"], { open: policy })}><Text>{policy}</Text></a></span>) : "none: its limits are its own"}</Fact>
            {key.throttle_retry_limit > 0 && <Fact name="Throttle">{key.throttle_retry_limit} tries, every {key.throttle_interval} s</Fact>}
          </Facts>
        </div></Panel>
        <Panel title="Key"><div class="body">
          <Facts>
            <Fact name="Id"><Text mono>{id}</Text></Fact>
            {!isScoped() && <Fact name="Last seen">{seen.value ? <Ago at={seen.value} /> : seen.failure ? <small>usage is not recorded</small> : seen.waiting ? format.UNKNOWN : "never, as far as usage is kept"}</Fact>}
            <Fact name="Organisation"><Text>{key.org_id || "none"}</Text></Fact>
            <Fact name="Created">{key.date_created ? <Text>{key.date_created}</Text> : format.UNKNOWN}</Fact>
            <Fact name="Tags">{key.tags?.length ? <Text>{key.tags.join(", ")}</Text> : "none"}</Fact>
            {Object.entries(key.meta_data ?? {}).map(([name, value]) => <Fact key={name} name={format.visible(name)}><Text>{typeof value === "string" ? value : JSON.stringify(value)}</Text></Fact>)}
          </Facts>
        </div></Panel>
      </div>
      <Panel title="May call" note={`${rights.length} ${rights.length === 1 ? "API" : "APIs"}`}>
        {rights.length === 0 ? <div class="empty small">No API: every request with it is refused.</div> : (
          <table class="plain"><thead><tr><th scope="col">API</th><th scope="col">Versions</th><th scope="col">Only these paths</th><th scope="col">Limit of its own</th></tr></thead>
            <tbody>{rights.map(([api, right]) => <tr key={api}><th scope="row"><a href={link(["apis", api])}><Text>{right.api_name || api}</Text></a></th><td><Text>{(right.versions ?? []).join(", ")}</Text></td>
              <td>{right.allowed_urls?.length ? <Text mono>{right.allowed_urls.map((one: any) => `${(one.methods ?? []).join(",")} ${one.url}`).join("; ")}</Text> : "all"}</td><td>{right.limit?.rate > 0 || right.limit?.quota_max > 0 ? limit(right.limit) : "the key's"}</td></tr>)}</tbody></table>)}
      </Panel>
      {!isScoped() && <KeyBudgets path={path} own={key.llm_budgets ?? []} can={can} save={(budgets) => patch({ llm_budgets: budgets.length ? budgets : null }, "The budgets are saved. They hold from the next request on.")} />}
      {doing === "extend" && <Extend expires={key.expires} close={() => setDoing(null)} save={(expires) => void patch({ expires }, expires ? `Valid until ${format.full(expires)}.` : "Valid until revoked.")} />}
      {doing === "revoke" && <Dialog title="Revoke this key?" close={() => setDoing(null)} footer={<><Button onClick={() => setDoing(null)}>Keep it</Button><Button kind="danger" onClick={() => void revoke()}>Revoke</Button></>}><p>The next request with <b><Text>{key.alias || short(id)}</Text></b> is refused, on every gateway. This cannot be undone; a new key is a new secret.</p></Dialog>}
    </>
  );
}

/** A key by its id of the lists, or by the hash that records and the live tail have, or, where hashes lead nowhere, by its alias. */
async function found(id: string) {
  const alias = route.peek().query.get("alias");
  for (const path of [`keys/${segment(id)}?by=id`, `keys/${segment(id)}?hashed=true`]) {
    try { return { ...(await ask("GET", path)), path }; } catch (failure) {
      if (!(failure instanceof Failure) || ![400, 404].includes(failure.status)) throw failure;
    }
  }
  const page = alias ? await listKeys({ q: alias, limit: 1000 }) : { rows: [] };
  const rows = page.rows.filter((row: any) => (row.hash ? row.hash === id : row.alias === alias));
  if (rows.length !== 1) throw new Failure(404, rows.length ? `${rows.length} keys have this alias.` : "There is no such key.");
  const path = `keys/${segment(rows[0].id)}?${rows[0].by}`;
  return { ...(await ask("GET", path)), path };
}

/** When a key was used last, in seconds since 1970. */
async function last(path: string): Promise<number | null> {
  const [, id = "", by = ""] = /^keys\/([^?]*)\?(.*)$/.exec(path) ?? [];
  return (await get(`usage/last_seen${query({ key: decodeURIComponent(id), by: by === "by=id" ? "id" : undefined, nodes: "all" })}`)).last_seen_unix_s;
}

/** The refusals of a key. Where its hash is not known, its alias finds them. */
function refusals(id: string, alias: string | undefined, path: string): string {
  const hash = route.peek().query.get("hash") ?? (path.includes("hashed") || !path.includes(segment(id)) ? id : undefined);
  return link(["live"], hash ? { key: hash } : alias ? { alias } : { key: id });
}

function Extend({ expires = 0, save, close }: { expires?: number; save: (expires: number) => void; close: () => void }) {
  const [span, setSpan] = useState(30 * 86400);
  const from = Math.max(expires, Date.now() / 1000);
  const until = span ? Math.round(from + span) : 0;
  return (
    <Dialog title="Extend this key" close={close} footer={<><Button onClick={close}>Cancel</Button><Button kind="primary" onClick={() => save(until)}>Extend</Button></>}>
      {expires > 0 ? null : <Note>It does not expire now. This gives it an end.</Note>}
      <Field label="By"><select value={span} onChange={(event) => setSpan(Number(event.currentTarget.value))}>{SPANS.map(([seconds, name]) => <option key={seconds} value={seconds}>{name}</option>)}<option value={0}>without end</option></select></Field>
      <p>Until: <b>{until ? format.full(until) : "revoked"}</b></p>
    </Dialog>
  );
}
