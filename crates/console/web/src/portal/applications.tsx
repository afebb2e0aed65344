// Applications of one's teams: their plans, and the keys of each.

import { useState } from "preact/hooks";
import { call, get } from "../call";
import * as format from "../format";
import { go, link } from "../route";
import { Ago, Badge, Button, Empty, ErrorBox, Field, LinkButton, Panel, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { NewKey, forget, remember, type Made } from "./keys";
import { later } from "./lazily";
import { Usage, type Used, endOf, usagePath } from "./usage";
import { developer, type Application, type Grant, type Key, type Product, type Team } from "./state";

const STATES: Record<Grant["state"], [Tone, string]> = { requested: ["warn", "waits for approval"], approved: ["ok", "approved"], rejected: ["bad", "rejected"], suspended: ["bad", "suspended"] };

const Costs = later("Costs");

const hasPrice = (product: Product): boolean => product.plans.some((plan) => plan.price !== null);

export function Applications() {
  const found = useLoaded(() => get<{ applications: Application[] }>("applications"), []);
  const teams = useLoaded(() => get<{ teams: Team[] }>("teams"), []);
  const products = useLoaded(() => get<{ products: Product[] }>("products"), []);
  const [adds, setAdds] = useState(false);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const list = found.value?.applications;
  const team = (id: string) => teams.value?.teams.find((one) => one.id === id)?.name ?? "";
  return (
    <>
      <div class="page-head"><h1>Applications</h1>{products.value?.products.some(hasPrice) && <LinkButton href="#/invoices">Invoices</LinkButton>}<Button icon="plus" onClick={() => setAdds(true)}>New application</Button></div>
      {list?.length === 0 && <Empty icon="key" title="No applications yet"><LinkButton href="#/">Find an API</LinkButton></Empty>}
      <ul class="cards">{list?.map((one) => (
        <li key={one.id} class="panel card">
          <h2><a href={link(["applications", one.id])}><bdi>{one.name}</bdi></a></h2>
          <p><small>{team(one.team)}</small></p>
          <p>{one.grants.map((grant) => <Badge key={grant.id} tone={STATES[grant.state][0]}>{grant.product}: {STATES[grant.state][1]}</Badge>)}</p>
        </li>
      ))}</ul>
      {adds && teams.value && <Add teams={teams.value.teams} close={() => setAdds(false)} />}
    </>
  );
}

function Add({ teams, close }: { teams: Team[]; close: () => void }) {
  const [refused, setRefused] = useState<unknown>(null);
  const send = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try {
      const made = await call<Application>("POST", "applications", { team: String(form.get("team")), name: String(form.get("name")) });
      go(link(["applications", made.id]));
    } catch (failure) { setRefused(failure); }
  };
  return (
    <Dialog title="New application" close={close}>
      <form class="stack" onSubmit={send}>
        {refused !== null && <ErrorBox failure={refused} />}
        <Field label="Name"><input name="name" maxLength={100} required autofocus /></Field>
        <Field label="Team"><select name="team">{teams.map((team) => <option key={team.id} value={team.id}>{team.name}</option>)}</select></Field>
        <p class="row end"><Button type="submit" kind="primary">Create</Button></p>
      </form>
    </Dialog>
  );
}

export function ApplicationPage({ id }: { id: string }) {
  const found = useLoaded(() => get<Application>(`applications/${encodeURIComponent(id)}`), [id, developer.value?.id]);
  const products = useLoaded(() => get<{ products: Product[] }>("products"), []);
  const used = useLoaded<Used>(() => (found.value?.grants.some((grant) => grant.keys.length > 0) ? get(usagePath(found.value)) : Promise.resolve({ keys: [], unrecorded: [] })), [id, found.value]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const application = found.value;
  if (!application) return null;
  const remove = async () => {
    if (!confirm(`Remove ${application.name}? Its keys stop working at once.`)) return;
    try { await call("DELETE", `applications/${id}`); go("#/applications"); } catch (failure) { say("bad", (failure as Error).message); }
  };
  return (
    <>
      <div class="page-head"><h1><bdi>{application.name}</bdi></h1><Button kind="danger" icon="trash" onClick={() => void remove()}>Remove</Button></div>
      {application.grants.length === 0 && <Empty icon="key" title="No plans yet"><LinkButton href="#/">Find an API</LinkButton></Empty>}
      {application.grants.map((grant) => <GrantPanel key={grant.id} application={application} grant={grant} product={products.value?.products.find((one) => one.id === grant.product)} used={used.value} again={found.again} />)}
      {application.grants.some((grant) => grant.keys.length > 0) && <Usage application={application} found={used} />}
      {products.value?.products.some((product) => hasPrice(product) && application.grants.some((grant) => grant.product === product.id)) && <Costs application={application} />}
    </>
  );
}

function GrantPanel({ application, grant, product, used, again }: { application: Application; grant: Grant; product: Product | undefined; used: Used | null; again: () => void }) {
  const [made, setMade] = useState<Made | null>(null);
  const [rotated, setRotated] = useState<Key | null>(null);
  const path = `applications/${application.id}/grants/${grant.id}`;
  const run = async (work: () => Promise<unknown>) => {
    try { await work(); again(); } catch (failure) { say("bad", (failure as Error).message); }
  };
  const shown = (key: Made) => setMade(remember(key, grant.product, application.name));
  const add = () => run(async () => shown(await call<Made>("POST", `${path}/keys`)));
  const remove = (key: Key) => { if (confirm(`Remove the key that ends with ${key.tail}? It stops working at once.`)) void run(async () => { await call("DELETE", `${path}/keys/${key.id}`); forget(key.id); }); };
  const giveUp = () => { if (confirm("Give this plan up? Its keys stop working at once.")) void run(() => call("DELETE", path)); };
  const plan = product?.plans.find((one) => one.id === grant.plan)?.name ?? grant.plan;
  const [tone, words] = STATES[grant.state];
  return (
    <Panel title={product?.name ?? grant.product} note={plan} actions={<><Badge tone={tone}>{words}</Badge>{grant.state === "approved" && <Button icon="plus" onClick={() => void add()}>New key</Button>}{grant.state !== "suspended" && <Button kind="quiet" icon="trash" aria-label={`Give up ${product?.name ?? grant.product}`} onClick={giveUp} />}</>}>
      {grant.answer && <p class="body">The answer says: <bdi>{grant.answer}</bdi></p>}
      <ul class="body rows">{grant.keys.map((key) => (
        <li key={key.id}>
          <div><code>…{key.tail}</code><small>made <Ago at={key.created_unix_s} /><Ends at={endOf(key, used)} /></small></div>
          {key.ends_unix_s === 0 && grant.state === "approved" && <Button icon="refresh" onClick={() => setRotated(key)}>Rotate</Button>}
          <Button kind="quiet" icon="trash" aria-label={`Remove the key that ends with ${key.tail}`} onClick={() => remove(key)} />
        </li>
      ))}
      {grant.keys.length === 0 && grant.state === "approved" && <li>There are no keys yet.</li>}</ul>
      {made && <NewKey made={made} api={product?.apis[0]} close={() => setMade(null)} />}
      {rotated && <Rotate path={`${path}/keys/${rotated.id}/rotate`} close={() => setRotated(null)} done={(key) => { setRotated(null); shown(key); again(); }} />}
    </Panel>
  );
}

/** When a key ends, if it does. */
function Ends({ at }: { at: number }) {
  if (at <= 0) return null;
  return <>, {at * 1000 < Date.now() ? "ended" : "ends"} <Ago at={at} /> ({format.full(at)})</>;
}

function Rotate({ path, close, done }: { path: string; close: () => void; done: (made: Made) => void }) {
  const [refused, setRefused] = useState<unknown>(null);
  const send = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try { done(await call<Made>("POST", path, { overlap_s: Number(form.get("overlap")) })); } catch (failure) { setRefused(failure); }
  };
  return (
    <Dialog title="Rotate the key" close={close}>
      <form class="stack" onSubmit={send}>
        {refused !== null && <ErrorBox failure={refused} />}
        <Field label="The old key goes on working for"><select name="overlap"><option value="3600">an hour</option><option value="86400" selected>a day</option><option value="604800">a week</option><option value="2592000">30 days</option><option value="0">no time</option></select></Field>
        <p class="row end"><Button type="submit" kind="primary">Make a new key</Button></p>
      </form>
    </Dialog>
  );
}
