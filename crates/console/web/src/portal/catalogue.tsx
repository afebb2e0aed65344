// The catalogue, and a product with its plans.

import { useState } from "preact/hooks";
import { call, get, segment } from "../call";
import { count } from "../format";
import { go, link } from "../route";
import { Badge, Button, Empty, ErrorBox, Field, Panel } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { NewKey, remember, type Made } from "./keys";
import { fetched, later } from "./lazily";
import { developer, type Application, type Plan, type Price, type Product } from "./state";

const Markdown = later("Markdown");
const KINDS: Record<string, string> = { openapi: "OpenAPI", graphql: "GraphQL", mcp: "MCP" };

export function Catalogue() {
  const found = useLoaded(() => get<{ products: Product[] }>("products"), [developer.value?.id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const products = found.value?.products;
  return (
    <>
      <h1 class="page">APIs</h1>
      {products?.length === 0 && <Empty icon="api" title="Nothing is published yet">{!developer.value && <>Some APIs may be shown only to those who <a href="#/sign-in">sign in</a>.</>}</Empty>}
      <ul class="cards">
        {products?.map((product) => (
          <li key={product.id} class="panel card">
            <h2><a href={link(["products", product.id])}>{product.name}</a></h2>
            <p>{product.summary}</p>
            <p>{product.apis.map((api) => <Badge key={api.id} tone="muted">{KINDS[api.kind] ?? api.name}</Badge>)}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

export function ProductPage({ id }: { id: string }) {
  // The description stands above the plans: it must not push them away when somebody is about to choose one.
  const found = useLoaded(async () => {
    const renderer = fetched().catch(() => {}), product = await get<Product>(`products/${segment(id)}`);
    if (product.description) await renderer;
    return product;
  }, [id, developer.value?.id]);
  const [asked, setAsked] = useState<Plan | null>(null);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const product = found.value;
  if (!product) return null;
  return (
    <>
      <h1 class="page">{product.name}</h1>
      {product.summary && <p class="lead">{product.summary}</p>}
      {product.description && <Panel class="prose"><Markdown text={product.description} /></Panel>}
      <Panel title="Plans">
        <ul class="body rows">
          {product.plans.map((plan) => (
            <li key={plan.id}>
              <div><strong>{plan.name}</strong><small>{plan.summary}</small>{plan.price && <small>{inWords(plan.price)}</small>}</div>
              {!plan.is_automatic && <Badge tone="muted">needs approval</Badge>}
              <Button kind="primary" onClick={() => (developer.value ? setAsked(plan) : go("#/sign-in"))}>Choose {plan.name}</Button>
            </li>
          ))}
          {product.plans.length === 0 && <li>There are no plans to choose from.</li>}
        </ul>
      </Panel>
      <Panel title="APIs">
        <ul class="body rows">{product.apis.map((api) => (
          <li key={api.id}><div><strong>{api.name}</strong><small><code>{api.listen_path}</code></small></div><Badge tone="muted">{KINDS[api.kind] ?? "HTTP"}</Badge><a href={link(["products", product.id, "apis", api.id])}>Documentation of {api.name}</a></li>
        ))}</ul>
      </Panel>
      {asked && <Ask product={product} plan={asked} close={() => setAsked(null)} />}
    </>
  );
}

/** What a plan costs. */
function inWords({ currency, per_month, per_call, free_calls }: Price): string {
  const is = (amount: string) => /[1-9]/.test(amount);
  const calls = free_calls > 0 ? `a call after ${count(free_calls)} free ones in a month` : "a call";
  return [is(per_month) && `${per_month} ${currency} a month`, is(per_call) && `${per_call} ${currency} ${calls}`].filter(Boolean).join(", ") || "free of charge";
}

/** Asks for a plan, with an application that there is or a new one, and shows the key if there is one at once. */
function Ask({ product, plan, close }: { product: Product; plan: Plan; close: () => void }) {
  const found = useLoaded(() => get<{ applications: Application[] }>("applications"), [plan.id]);
  const [made, setMade] = useState<(Made & { application: string }) | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const applications = found.value?.applications.filter((one) => !one.grants.some((grant) => grant.product === product.id && grant.state !== "rejected"));
  if (made) return <NewKey made={made} api={product.apis[0]} close={() => go(link(["applications", made.application]))} />;
  const send = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setRefused(null);
    try {
      const chosen = String(form.get("application") ?? "");
      const { id: application, name } = applications?.find((one) => one.id === chosen) ?? await call<Application>("POST", "applications", { team: developer.value?.teams[0], name: String(form.get("name") ?? "") });
      const { grant } = await call<{ grant: string }>("POST", `applications/${application}/grants`, { product: product.id, plan: plan.id, reason: String(form.get("reason") ?? "") });
      if (!plan.is_automatic) return go(link(["applications", application]));
      const key = remember(await call<Made>("POST", `applications/${application}/grants/${grant}/keys`), product.id, name);
      setMade({ ...key, application });
    } catch (failure) {
      setRefused(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={`${product.name}: ${plan.name}`} close={close}>
      <form class="stack" onSubmit={send}>
        {refused !== null && <ErrorBox failure={refused} />}
        {applications && applications.length > 0 && <Field label="Application"><select name="application">{applications.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}<option value="">A new one</option></select></Field>}
        <Field label="Name of a new application"><input name="name" maxLength={100} value={`My ${product.name} application`} required /></Field>
        {!plan.is_automatic && <Field label="What do you need it for?"><textarea name="reason" rows={3} maxLength={1000} /></Field>}
        <p class="row end"><Button type="submit" kind="primary" disabled={busy || !found.value}>{plan.is_automatic ? "Get a key" : "Ask for access"}</Button></p>
      </form>
    </Dialog>
  );
}
