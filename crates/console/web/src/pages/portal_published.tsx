// What the portal offers: products with their plans, and pages. Drafts are seen here alone.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, ask, call, get, segment } from "../call";
import * as format from "../format";
import { link, refine, route } from "../route";
import { may } from "../session";
import { Badge, Button, Empty, ErrorBox, Field, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, here } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { matching } from "./portal_applications";

interface Published { id: string; is_public: boolean; is_draft: boolean; order: number }
interface Plan { id: string; name: string; summary: string; policy: string; approval: "manual" | "automatic"; price?: Price }
interface Price { currency: string; per_month: string; per_call: string; free_calls: number }
interface Product extends Published { name: string; summary: string; description: string; apis: string[]; plans: Plan[] }
interface PortalPage extends Published { title: string; text: string }

const NO_PRODUCT: Product = { id: "", name: "", summary: "", description: "", apis: [], plans: [], is_public: false, is_draft: true, order: 0 };
const NO_PAGE: PortalPage = { id: "", title: "", text: "", is_public: true, is_draft: true, order: 0 };
const NO_PLAN: Plan = { id: "", name: "", summary: "", policy: "", approval: "manual" };

/** An id as the portal takes it, made of a name. */
const plainId = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);

function Seen({ one }: { one: Published }) {
  return one.is_draft ? <Badge tone="warn">draft</Badge> : one.is_public ? <Badge tone="ok">public</Badge> : <Badge tone="accent">for developers</Badge>;
}

export function Products() {
  const list = useLoaded(() => get<Product[]>("portal/products"), [0]);
  const apis = useLoaded(() => get("list/apis?limit=500"), [0]);
  const policies = useLoaded(() => get("list/policies?limit=500"), [0]);
  return <List<Product> what="product" list={list} icon="api" empty={NO_PRODUCT} named={(one) => one.name} words={(one) => [one.id, one.name, ...one.apis]} none="Developers see products: APIs with plans. A plan is a policy for the keys that they get."
    more={[
      { id: "apis", name: "APIs", show: (one: Product) => <Text>{one.apis.join(", ")}</Text> },
      { id: "plans", name: "Plans", show: (one: Product) => <Text>{one.plans.map((plan) => plan.name).join(", ")}</Text> },
    ]}
    fields={(one, set, can) => <>
      <Field label="Summary" wide><input disabled={!can} maxLength={300} value={one.summary} onInput={(event) => set({ ...one, summary: event.currentTarget.value })} /></Field>
      <Choices label="APIs" can={can} chosen={one.apis} all={(apis.value?.rows ?? []).map((api: any) => [api.id, api.name || api.id, api.listen_path])} set={(chosen) => set({ ...one, apis: chosen })} />
      <Plans plans={one.plans} policies={policies.value?.rows ?? []} can={can} set={(plans) => set({ ...one, plans })} />
      <Field label="Description" wide hint="Markdown. HTML is shown as text."><textarea rows={8} readOnly={!can} value={one.description} onInput={(event) => set({ ...one, description: event.currentTarget.value })} /></Field>
    </>} />;
}

export function PortalPages() {
  const list = useLoaded(() => get<PortalPage[]>("portal/pages"), [0]);
  return <List<PortalPage> what="page" list={list} icon="portal" empty={NO_PAGE} named={(one) => one.title} words={(one) => [one.id, one.title, one.text]} none="Pages stand beside the catalogue: how to begin, terms, whom to ask."
    more={[{ id: "order", name: "Place", number: true, show: (one: PortalPage) => format.count(one.order) }]}
    fields={(one, set, can) => <Field label="Text" wide hint="Markdown. HTML is shown as text. Links lead to web pages, mail addresses and places of the portal, such as #/pages/start."><textarea rows={14} readOnly={!can} value={one.text} onInput={(event) => set({ ...one, text: event.currentTarget.value })} /></Field>} />;
}

interface ListProps<P extends Published> {
  what: "product" | "page"; list: ReturnType<typeof useLoaded<P[]>>; icon: "api" | "portal"; empty: P; none: string;
  named: (one: P) => string; words: (one: P) => string[]; more: { id: string; name: string; number?: boolean; show: (one: P) => ComponentChildren }[];
  fields: (one: P, set: (one: P) => void, can: boolean) => ComponentChildren;
}

function List<P extends Published>(props: ListProps<P>) {
  const { what, list, icon, empty, named, words, more } = props;
  const q = route.value.query;
  const can = may("editor");
  const open = list.value?.find((one) => one.id === q.get("open"));
  const part = `${what}s`;
  return (
    <>
      <div class="toolbar"><Filter label={`Filter ${part}`} placeholder="Name or id" />{can && <Button icon="plus" kind="primary" class="push" data-key="n" onClick={() => refine({ new: "1" })}>New {what}</Button>}</div>
      {!can && <p class="list-end">Your role can view {part}, not change them.</p>}
      <Table<P> label={part} list={{ ...here(matching(list.value ?? [], words)), done: !!list.value, failure: list.failure, reload: list.again }} id={(one) => one.id} open={(one) => refine({ open: one.id })}
        empty={<Empty icon={icon} title={q.get("q") ? `No ${what} matches.` : `There is no ${what} yet.`}>{q.get("q") ? null : props.none}</Empty>}
        columns={[
          { id: "name", name: "Name", grow: true, show: (one) => <a href={link(["portal", part], { open: one.id })}><Text>{named(one)}</Text></a> },
          { id: "seen", bare: true, name: "Seen by", show: (one) => <Seen one={one} /> },
          { id: "id", name: "Id", show: (one) => <Text mono>{one.id}</Text> },
          ...more,
        ]} />
      {open && <Editor key={open.id} {...props} stored={open} close={() => refine({ open: undefined })} />}
      {q.get("new") && can && <Editor {...props} stored={empty} close={() => refine({ new: undefined })} />}
    </>
  );
}

/** Reads what is to be changed, with its version: the list may be old. */
function Editor<P extends Published>(props: ListProps<P> & { stored: P; close: () => void }) {
  const { what, stored, close } = props;
  const fresh = useLoaded(() => (stored.id ? ask<P>("GET", `portal/${what}s/${segment(stored.id)}`) : Promise.resolve({ value: stored, etag: null, text: "" })), [stored.id]);
  if (fresh.failure) return <Dialog title={stored.id} close={close}><ErrorBox failure={fresh.failure} retry={fresh.again} /></Dialog>;
  return fresh.value ? <Fields {...props} stored={fresh.value.value} etag={fresh.value.etag} /> : null;
}

function Fields<P extends Published>({ what, list, stored, etag, named, fields, close }: ListProps<P> & { stored: P; etag: string | null; close: () => void }) {
  const [one, set] = useState(stored);
  const [failure, setFailure] = useState<unknown>(null);
  const [removing, setRemoving] = useState(false);
  const can = may("editor");
  const isNew = !stored.id;
  const id = isNew ? one.id || plainId(named(one)) : stored.id;
  const address = `portal/${what}s/${segment(id)}`;
  const nameOf = what === "product" ? "name" : "title";
  const version = etag ? { headers: { "If-Match": etag } } : {};
  const refuse = (action: string, failed: unknown) => {
    const isOld = failed instanceof Failure && failed.status === 412;
    setFailure(isOld ? new Failure(412, `Not ${action}: somebody else changed this ${what} since it was opened. Close it and open it again to see their version.`) : failed);
  };
  useEffect(() => { if (failure) document.querySelector("dialog .content")?.scrollTo(0, 0); }, [failure]);
  const save = async (is_draft: boolean, done: string) => {
    setFailure(null);
    if (isNew && list.value?.some((other) => other.id === id)) { setFailure(`There is a ${what} with the id ${id}.`); return; }
    try { await call("PUT", address, { ...one, id, is_draft }, version); say("ok", done); list.again(); close(); } catch (failed) { refuse("saved", failed); }
  };
  const remove = async () => { try { await call("DELETE", address, undefined, version); say("ok", `The ${what} is deleted.`); list.again(); close(); } catch (failed) { setRemoving(false); refuse("deleted", failed); } };
  if (removing) return <Dialog title={`Delete this ${what}?`} close={() => setRemoving(false)} footer={<><Button onClick={() => setRemoving(false)}>Keep it</Button><Button kind="danger" onClick={() => void remove()}>Delete</Button></>}><p>{what === "product" ? "It leaves the catalogue. Keys that were made for it are served further, but nobody can rotate them. To hide it and keep that, withdraw it instead." : "Its address leads nowhere from then on."}</p></Dialog>;
  const ready = !!id && !!named(one).trim();
  return (
    <Dialog title={isNew ? `New ${what}` : format.visible(named(stored))} close={close} wide
      footer={<><span>{!isNew && can && <Button icon="trash" kind="quiet" onClick={() => setRemoving(true)}>Delete</Button>}</span><Button onClick={close}>Close</Button>
        {can && (one.is_draft
          ? <><Button disabled={!ready} onClick={() => void save(true, "Saved as a draft: only operators see it.")}>Save the draft</Button><Button kind="primary" disabled={!ready} onClick={() => void save(false, "Published.")}>Publish</Button></>
          : <><Button onClick={() => void save(true, "Withdrawn. Keys that were made for it go on.")}>Withdraw</Button><Button kind="primary" disabled={!ready || one === stored} onClick={() => void save(false, "Saved.")}>Save</Button></>)}</>}>
      <div class="form">
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        <Field label={what === "product" ? "Name" : "Title"}><input autofocus={isNew} disabled={!can} maxLength={300} value={named(one)} onInput={(event) => set({ ...one, [nameOf]: event.currentTarget.value })} /></Field>
        <Field label="Id" hint="In addresses. It can't be changed later."><input class="mono" disabled={!can || !isNew} placeholder={plainId(named(one))} value={one.id} onInput={(event) => set({ ...one, id: plainId(event.currentTarget.value) })} /></Field>
        <Field label="Place in the list"><input type="number" step={1} disabled={!can} value={one.order} onInput={(event) => set({ ...one, order: Math.trunc(Number(event.currentTarget.value)) })} /></Field>
        <label class="choice"><input type="checkbox" disabled={!can} checked={one.is_public} onChange={() => set({ ...one, is_public: !one.is_public })} />Seen without signing in</label>
        {fields(one, set, can)}
      </div>
    </Dialog>
  );
}

function Choices({ label, all, chosen, set, can }: { label: string; all: [string, string, string][]; chosen: string[]; set: (chosen: string[]) => void; can: boolean }) {
  const gone = chosen.filter((id) => !all.some(([known]) => known === id)).map((id): [string, string, string] => [id, id, "unknown"]);
  return (
    <div class="field wide" role="group" aria-label={label}><span>{label}</span><div class="choices">{[...all, ...gone].map(([id, name, note]) => (
      <label key={id} class="choice"><input type="checkbox" disabled={!can} checked={chosen.includes(id)} onChange={() => set(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])} /><Text>{name}</Text><small class="mono"><Text>{note}</Text></small></label>))}</div></div>
  );
}

const NO_PRICE: Price = { currency: "EUR", per_month: "", per_call: "", free_calls: 0 };

/** What a plan costs on invoices. */
function PriceFields({ price, set }: { price: Price | undefined; set: (price: Price | undefined) => void }) {
  const text = (label: string, name: "currency" | "per_month" | "per_call", hint?: string) => price && <Field label={label} hint={hint}><input value={price[name]} maxLength={20} inputMode={name === "currency" ? undefined : "decimal"} onInput={(event) => set({ ...price, [name]: event.currentTarget.value.trim() })} /></Field>;
  return (
    <>
      <label class="choice"><input type="checkbox" checked={!!price} onChange={() => set(price ? undefined : NO_PRICE)} />It has a price</label>
      {price && <>
        {text("Currency", "currency", "Three letters.")}
        {text("Price of a month", "per_month", "Such as 49.00; empty for nothing.")}
        {text("Price of a call", "per_call", "Such as 0.002; empty for nothing.")}
        <Field label="Free calls in a month"><input type="number" min={0} step={1} value={price.free_calls} onInput={(event) => set({ ...price, free_calls: Math.max(0, Math.trunc(Number(event.currentTarget.value))) })} /></Field>
      </>}
    </>
  );
}

/** The plans of a product; each is a policy. */
function Plans({ plans, policies, set, can }: { plans: Plan[]; policies: any[]; set: (plans: Plan[]) => void; can: boolean }) {
  const change = (at: number, members: Partial<Plan>) => set(plans.map((plan, index) => (index === at ? { ...plan, ...members } : plan)));
  return (
    <>
      <h3>Plans</h3>
      {plans.map((plan, at) => (
        <fieldset key={at} class="field wide" disabled={!can}><legend class="sr">Plan {at + 1}</legend><div class="form">
          <Field label="Plan's name"><input value={plan.name} maxLength={300} onInput={(event) => { const name = event.currentTarget.value; change(at, { name, ...(plan.id === "" || plan.id === plainId(plan.name) ? { id: plainId(name) } : {}) }); }} /></Field>
          <Field label="Plan's id"><input class="mono" value={plan.id} onInput={(event) => change(at, { id: plainId(event.currentTarget.value) })} /></Field>
          <Field label="Policy"><select value={plan.policy} onChange={(event) => change(at, { policy: event.currentTarget.value })}><option value="">choose one</option>{plan.policy && !policies.some((one) => one.id === plan.policy) && <option value={plan.policy}>{plan.policy}</option>}{policies.map((one) => <option key={one.id} value={one.id}>{one.name || one.id}</option>)}</select></Field>
          <Field label="Requests are approved"><select value={plan.approval} onChange={(event) => change(at, { approval: event.currentTarget.value as Plan["approval"] })}><option value="manual">by an operator</option><option value="automatic">at once</option></select></Field>
          <PriceFields price={plan.price} set={(price) => change(at, { price })} />
          <Field label="What it gives" wide><input value={plan.summary} maxLength={300} onInput={(event) => change(at, { summary: event.currentTarget.value })} /></Field>
          {can && <div class="field wide"><Button icon="trash" kind="quiet" onClick={() => set(plans.filter((_, index) => index !== at))}>Remove this plan</Button></div>}
        </div></fieldset>
      ))}
      {can && <div class="field wide"><Button icon="plus" onClick={() => set([...plans, NO_PLAN])}>Add a plan</Button></div>}
    </>
  );
}
