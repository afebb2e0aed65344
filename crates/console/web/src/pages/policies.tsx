// Policies: rights and limits that keys share. A change says first how many keys it concerns.

import { useEffect, useState } from "preact/hooks";
import { type Problem, call, get, segment, ask, Failure } from "../call";
import * as format from "../format";
import * as json from "../json";
import { link, refine, route } from "../route";
import { isScoped, may, reread, session } from "../session";
import { Badge, Button, Empty, ErrorBox, Field, LinkButton, Note, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { BudgetForm, type LlmBudget, fault } from "./budgets";
import { Diff, affected } from "./definition";
import { limit } from "./keys";

interface PolicyRow { id: string; name: string; state: string; apis: string[]; rate: number; per: number; quota_max: number; quota_renewal_rate: number; partitions?: string[]; keys?: number | null }

export function Policies() {
  const q = route.value.query;
  const list = useList<PolicyRow>("policies", { q: q.get("q") ?? undefined, sort: q.get("sort") ?? "name" });
  const can = may("editor") && session.value?.writable.policies;
  const open = q.get("open");
  return (
    <>
      <div class="page-head"><h1>Policies{list.total != null && <small>{format.count(list.total)}</small>}</h1><Filter label="Filter policies" placeholder="Name or id" />{can && <Button icon="plus" kind="primary" data-key="n" onClick={() => refine({ new: "1" })}>New policy</Button>}</div>
      {!can && <p class="list-end">{may("editor") ? "Policies cannot be written here: there is no folder for them (policies.policy_path), or it is read-only." : "Your role can view policies, not change them."}</p>}
      <Table<PolicyRow> label="Policies" list={list} id={(one) => one.id} open={(one) => refine({ open: one.id })} order="name"
        empty={<Empty icon="policy" title={q.get("q") ? "No policy matches." : "There is no policy yet."}>{q.get("q") ? null : "A policy gives many keys the same rights and limits; changing it changes all of them at once."}</Empty>}
        columns={[
          { id: "name", name: "Name", sort: "name", grow: true, show: (one) => <a href={link(["policies"], { open: one.id })}><Text>{one.name || one.id}</Text></a> },
          { id: "state", bare: true, name: "State", show: (one) => <Badge tone={one.state === "active" ? "ok" : "muted"}>{one.state}</Badge> },
          { id: "id", name: "Id", sort: "id", show: (one) => <Text mono>{one.id}</Text> },
          { id: "apis", name: "APIs", show: (one) => <Text>{one.apis.join(", ")}</Text> },
          { id: "limits", name: "Limits", show: limit },
          { id: "keys", name: "Keys", number: true, show: (one) => <a href={link(["keys"], { q: one.id })}>{one.keys == null ? "its keys" : format.count(one.keys)}</a> },
        ]} />
      {open && <Policy key={open} id={open} close={() => refine({ open: undefined })} changed={list.reload} can={!!can} />}
      {q.get("new") && can && <Policy id={null} close={() => refine({ new: undefined })} changed={list.reload} can />}
    </>
  );
}

const FRESH = (): any => ({ id: "", name: "", active: true, org_id: "default", rate: 100, per: 60, quota_max: -1, quota_renewal_rate: 0, key_expires_in: 0, access_rights: {}, partitions: { quota: false, rate_limit: false, acl: false } });

function Policy({ id, close, changed, can }: { id: string | null; close: () => void; changed: () => void; can: boolean }) {
  const stored = useLoaded(() => (id ? ask("GET", `policies/${segment(id)}`) : Promise.resolve({ value: null, etag: null, text: JSON.stringify(FRESH()) })), [id]);
  // What a change of all its keys would concern is how many it has; such changes are not for operators with a scope.
  const number_ = useLoaded(() => (id && may("editor") && !isScoped() ? call("POST", "keys/bulk", { action: "activate", select: { policy: id }, dry_run: true }) : Promise.resolve({ count: id ? null : 0 })), [id]);
  const keys: number | null = number_.value?.count ?? null;
  const base = stored.value ? json.layout(stored.value.text) : null;
  const [edited, setEdited] = useState<string | null>(null);
  const [apis, setApis] = useState<any[]>([]);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  const [step, setStep] = useState<"edit" | "save" | "delete">("edit");
  const text = edited ?? base ?? "";
  const set = (path: string, value: unknown) => setEdited(json.set(text, path.split("."), value));
  const value = (path: string) => json.valueAt(text, path.split("."));
  useEffect(() => { get("list/apis?limit=200").then((page) => setApis(page.rows), () => {}); }, []);
  useEffect(() => {
    if (!edited) return;
    const control = new AbortController();
    const timer = setTimeout(() => { call("POST", "check/policy", edited, { signal: control.signal }).then((found) => setProblems(found.problems), () => {}); }, 400);
    return () => { clearTimeout(timer); control.abort(); };
  }, [edited]);
  if (stored.failure) return stored.failure instanceof Failure && stored.failure.status === 404 ? <Dialog title="Policy" close={close}><Empty icon="policy" title="There is no such policy." /></Dialog> : <Dialog title="Policy" close={close}><ErrorBox failure={stored.failure} retry={stored.again} /></Dialog>;
  if (!stored.value || base == null) return null;
  const errors = problems.filter((one) => one.level === "error");
  const plain = String(value("name") ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const save = async () => {
    setFailure(null);
    try {
      if (id) await call("PUT", `policies/${segment(id)}`, text, stored.value!.etag ? { headers: { "If-Match": stored.value!.etag! } } : {});
      else await call("POST", "policies", json.set(text, ["id"], plain || `policy-${Date.now().toString(36)}`), { headers: { "If-None-Match": "*" } });
      await reread();
      say("ok", `Policy saved. It applies to ${keys == null ? "its keys" : `${format.count(keys)} ${keys === 1 ? "key" : "keys"}`} from the next request.`);
      changed();
      close();
    } catch (failed) {
      setStep("edit");
      setFailure(failed instanceof Failure && failed.status === 412 ? new Failure(412, "Not saved: somebody else changed this policy since it was opened. Close it and open it again to see their version.") : failed);
    }
  };
  const remove = async () => {
    try { await call("DELETE", `policies/${segment(id!)}`); await reread(); say("ok", "Policy deleted."); changed(); close(); } catch (failed) { setFailure(failed); setStep("edit"); }
  };
  const concerned = keys == null ? "The number of its keys is not known." : `${format.count(keys)} ${keys === 1 ? "key has" : "keys have"} this policy.`;
  if (step === "delete") return <Dialog title="Delete this policy?" close={() => setStep("edit")} footer={<><Button onClick={() => setStep("edit")}>Keep it</Button><Button kind="danger" onClick={() => void remove()}>Delete</Button></>}><p>{concerned} {keys === 0 ? "" : "Their requests are refused until they get another."}</p></Dialog>;
  if (step === "save") return <Dialog title="Save this policy?" close={() => setStep("edit")} wide footer={<><span>{concerned} {affected()}</span><Button onClick={() => setStep("edit")}>Back</Button><Button kind="primary" autofocus onClick={() => void save()}>Save</Button></>}><Diff old={id ? base : ""} now={text} /></Dialog>;
  const rights: Record<string, any> = value("access_rights") ?? {};
  const budgets: LlmBudget[] = value("llm_budgets") ?? [];
  const number = (path: string, label: string, none: string, empty: number) => (
    <Field label={label} error={problems.find((one) => one.path === `$.${path}`)?.message}><input type="number" min={0} step="any" disabled={!can} placeholder={none} value={value(path) > 0 ? value(path) : ""} onInput={(event) => set(path, event.currentTarget.value === "" ? empty : Number(event.currentTarget.value))} /></Field>);
  return (
    <Dialog title={id ? format.visible(value("name") || id) : "New policy"} close={close} wide
      footer={<><span>{id && <LinkButton icon="key" kind="quiet" href={link(["keys"], { q: id })}>{keys == null ? "Its keys" : `${format.count(keys)} ${keys === 1 ? "key" : "keys"}`}</LinkButton>}{id && can && <Button icon="trash" kind="quiet" onClick={() => setStep("delete")}>Delete</Button>}</span><Button onClick={close}>Close</Button>{can && <Button kind="primary" disabled={!edited || edited === base || errors.length > 0 || !value("name") || !!fault(budgets)} onClick={() => (id ? setStep("save") : void save())}>{id ? "Save" : "Make the policy"}</Button>}</>}>
      <div class="form">
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        <Field label="Name"><input autofocus disabled={!can} value={value("name") ?? ""} onInput={(event) => set("name", event.currentTarget.value)} /></Field>
        <label class="choice"><input type="checkbox" disabled={!can} checked={!!value("active")} onChange={() => set("active", !value("active"))} />Active</label>
        {number("rate", "Requests", "no limit", 0)}{number("per", "in seconds", "60", 0)}{number("quota_max", "Quota", "no quota", -1)}{number("quota_renewal_rate", "renewed every, seconds", "never", 0)}{number("key_expires_in", "New keys expire after, seconds", "never", 0)}
        <div class="field wide"><span>APIs</span><div class="choices">{[...apis, ...Object.keys(rights).filter((one) => !apis.some((api) => api.id === one)).map((one) => ({ id: one, name: one, listen_path: "unknown API" }))].map((api) => (
          <label key={api.id} class="choice"><input type="checkbox" disabled={!can} checked={api.id in rights} onChange={() => set(`access_rights.${api.id}`, api.id in rights ? undefined : { api_id: api.id, api_name: api.name, versions: ["Default"] })} /><Text>{api.name || api.id}</Text><small class="mono"><Text>{api.listen_path}</Text></small></label>))}</div></div>
        <div class="field wide"><span>Applies to keys</span><div class="row">{[["acl", "rights"], ["rate_limit", "rate"], ["quota", "quota"]].map(([part, name]) => <label key={part} class="choice"><input type="checkbox" disabled={!can} checked={!!value(`partitions.${part}`)} onChange={() => set(`partitions.${part}`, !value(`partitions.${part}`))} />only its {name}</label>)}</div><em>None chosen: all of it.</em></div>
        <details class="field wide" open={budgets.length > 0}><summary>Budgets of language models{budgets.length > 0 && `: ${budgets.length}`}</summary>
          <div class="form"><BudgetForm budgets={budgets} set={(list) => set("llm_budgets", list.length ? list : undefined)} readOnly={!can} holders={[["key", "each key has its own"], ["policy", "all its keys together"]]} /></div></details>
        {problems.filter((one) => one.level !== "ignored").map((one) => <div key={one.path} class="field wide"><Note tone={one.level === "error" ? "bad" : "warn"} icon="alert"><code>{one.path}</code> <Text>{one.message}</Text></Note></div>)}
      </div>
    </Dialog>
  );
}
