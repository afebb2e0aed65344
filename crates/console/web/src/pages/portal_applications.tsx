// Applications of the portal with their plans and keys, and the requests among them that wait for a decision.

import { useState } from "preact/hooks";
import { call, get, segment } from "../call";
import * as format from "../format";
import { link, refine, route } from "../route";
import { may } from "../session";
import { Ago, Badge, Button, Empty, ErrorBox, Fact, Facts, Field, Meter, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, here } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";

type State = "requested" | "approved" | "rejected" | "suspended";
interface Key { id: string; tail: string; made_by: string; created_unix_s: number; ends_unix_s: number }
interface Grant { id: string; product: string; plan: string; state: State; developer: string; reason: string; asked_unix_s: number; decided_unix_s: number; answer: string; keys: Key[] }
interface Application { id: string; name: string; team: string; team_name: string; created_unix_s: number; grants: Grant[] }
interface Asked { application: Application; grant: Grant }
interface Used { id: string; requests: number; good: number; last_used_unix_s: number | null; state: { quota_max: number; quota_remaining: number; is_suspended: boolean } | null }
interface Product { id: string; name: string; plans: { id: string; name: string; policy: string }[] }

const WORDS: Record<State, [string, Tone]> = { requested: ["waits", "warn"], approved: ["approved", "ok"], rejected: ["rejected", "muted"], suspended: ["suspended", "bad"] };
const ANSWER_CHARS_MAX = 1000;

function StateBadge({ state }: { state: State }) { const [word, tone] = WORDS[state]; return <Badge tone={tone}>{word}</Badge>; }

/** Rows that have the text of the filter somewhere in these words. */
export function matching<R>(rows: R[], words: (row: R) => string[]): R[] {
  const q = (route.value.query.get("q") ?? "").toLowerCase();
  return q ? rows.filter((row) => words(row).some((word) => word.toLowerCase().includes(q))) : rows;
}

const fetchApplications = () => get<Application[]>("portal/applications");
const fetchProducts = () => get<Product[]>("portal/products");

export function PortalRequests() {
  const applications = useLoaded(fetchApplications, [0]);
  const [open, setOpen] = useState<Asked | null>(null);
  const state = route.value.query.get("state") ?? "requested";
  const all = (applications.value ?? []).flatMap((application) => application.grants.map((grant) => ({ application, grant })));
  const waiting = all.filter((one) => one.grant.state === "requested").length;
  const chosen = state === "all" ? all : all.filter((one) => one.grant.state === state);
  const rows = matching(chosen, (one) => [one.application.name, one.application.team_name, one.grant.developer, one.grant.product, one.grant.plan]).sort((one, other) => other.grant.asked_unix_s - one.grant.asked_unix_s);
  return (
    <>
      <div class="toolbar">
        <label class="row">Show <select aria-label="State" value={state} onChange={(event) => refine({ state: event.currentTarget.value })}><option value="requested">waiting</option><option value="approved">approved</option><option value="suspended">suspended</option><option value="rejected">rejected</option><option value="all">all</option></select></label>
        <Filter label="Filter requests" placeholder="Application, team, developer, product" />
        {applications.value && <small role="status">{waiting === 0 ? "None waits." : `${format.count(waiting)} ${waiting === 1 ? "waits" : "wait"} for a decision.`}</small>}
      </div>
      {!may("editor") && <p class="list-end">Your role can view requests, not decide about them.</p>}
      <Table<Asked> label="Requests" list={{ ...here(rows), done: !!applications.value, failure: applications.failure, reload: applications.again }} id={(one) => `${one.application.id} ${one.grant.id}`} open={setOpen}
        empty={<Empty icon="ok" title={state === "requested" ? "No request waits for a decision." : "There is no such request."}>{state === "requested" ? "Plans whose requests need an approval are decided here." : null}</Empty>}
        columns={[
          { id: "application", name: "Application", grow: true, show: (one) => <button type="button" class="as-link" onClick={() => setOpen(one)}><Text>{one.application.name}</Text></button> },
          { id: "state", bare: true, name: "State", show: (one) => <StateBadge state={one.grant.state} /> },
          { id: "asked", name: "Asked", show: (one) => <Ago at={one.grant.asked_unix_s} /> },
          { id: "product", name: "Product", show: (one) => <Text>{one.grant.product}</Text> },
          { id: "plan", name: "Plan", show: (one) => <Text>{one.grant.plan}</Text> },
          { id: "who", name: "Developer", show: (one) => <Text>{one.grant.developer || "gone"}</Text> },
          { id: "reason", name: "Reason", wide: true, show: (one) => <Text>{one.grant.reason}</Text> },
        ]} />
      {open && <Decision asked={open} close={() => setOpen(null)} changed={applications.again} />}
    </>
  );
}

/** A plan of an application: the decision about it, and another plan. */
function Decision({ asked: { application, grant }, close, changed }: { asked: Asked; close: () => void; changed: () => void }) {
  const products = useLoaded(fetchProducts, [0]);
  const [plan, setPlan] = useState(grant.plan);
  const [answer, setAnswer] = useState("");
  const [failure, setFailure] = useState<unknown>(null);
  const product = products.value?.find((one) => one.id === grant.product);
  const plans = product?.plans ?? [];
  const can = may("editor");
  const send = async (state: State | undefined, done: string) => {
    setFailure(null);
    try {
      await call("PATCH", `portal/applications/${segment(application.id)}/grants/${segment(grant.id)}`, { ...(state && { state }), ...(plan !== grant.plan && { plan }), answer });
      say("ok", done);
      changed();
      close();
    } catch (failed) { setFailure(failed); }
  };
  const moved = plan !== grant.plan;
  const buttons = {
    requested: <><Button kind="danger" disabled={!answer.trim()} title={answer.trim() ? undefined : "Write the reason first"} onClick={() => void send("rejected", "Rejected. The developer reads the reason.")}>Reject</Button><Button kind="primary" onClick={() => void send("approved", "Approved. The developer can make keys.")}>Approve</Button></>,
    approved: <><Button kind="danger" onClick={() => void send("suspended", "Suspended. Its keys are refused from the next request.")}>Suspend</Button><Button kind="primary" disabled={!moved} onClick={() => void send(undefined, "Plan changed. Its keys have the new limits from the next request.")}>Change the plan</Button></>,
    suspended: <Button kind="primary" onClick={() => void send("approved", "It goes on. Its keys are served from the next request.")}>Let it go on</Button>,
    rejected: <Button kind="primary" onClick={() => void send("approved", "Approved. The developer can make keys.")}>Approve</Button>,
  }[grant.state];
  return (
    <Dialog title={`${format.visible(application.name)}: ${format.visible(product?.name ?? grant.product)}`} close={close} footer={<><Button onClick={close}>Close</Button>{can && buttons}</>}>
      {failure ? <ErrorBox failure={failure} /> : null}
      <Facts>
        <Fact name="State"><StateBadge state={grant.state} /></Fact>
        <Fact name="Developer"><Text>{grant.developer || "gone"}</Text></Fact><Fact name="Team"><Text>{application.team_name}</Text></Fact>
        <Fact name="Asked"><Ago at={grant.asked_unix_s} /></Fact>{grant.decided_unix_s > 0 && <Fact name="Decided"><Ago at={grant.decided_unix_s} /></Fact>}
        <Fact name="Reason"><Text>{grant.reason || "none"}</Text></Fact>{grant.answer && <Fact name="Answer"><Text>{grant.answer}</Text></Fact>}
        <Fact name="Keys">{format.count(grant.keys.length)}</Fact>
      </Facts>
      {can && <div class="form">
        <Field label="Plan" wide hint={moved ? "The keys it has get the limits of this plan." : undefined}><select value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>{!plans.some((one) => one.id === grant.plan) && <option value={grant.plan}>{grant.plan}</option>}{plans.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</select></Field>
        <Field label="Answer" wide hint={grant.state === "requested" ? "The developer reads it. A rejection needs a reason." : "The developer reads it."}><textarea rows={3} maxLength={ANSWER_CHARS_MAX} value={answer} onInput={(event) => setAnswer(event.currentTarget.value)} /></Field>
      </div>}
    </Dialog>
  );
}

/** The page of a key, or of an OAuth client in its place. */
const place = (id: string): string => (id.startsWith("oauth-client/") ? link(["clients"], { q: id.split("/")[1] }) : link(["keys", id]));

export function PortalApplications() {
  const applications = useLoaded(fetchApplications, [0]);
  const open = route.value.query.get("open");
  const rows = matching(applications.value ?? [], (one) => [one.name, one.team_name, one.id, ...one.grants.flatMap((grant) => [grant.product, grant.developer, ...grant.keys.map((key) => key.id)])]);
  const found = applications.value?.find((one) => one.id === open);
  return (
    <>
      <div class="toolbar"><Filter label="Filter applications" placeholder="Application, team, product, developer, key" /></div>
      <Table<Application> label="Applications" list={{ ...here(rows), done: !!applications.value, failure: applications.failure, reload: applications.again }} id={(one) => one.id} open={(one) => refine({ open: one.id })}
        empty={<Empty icon="portal" title={route.value.query.get("q") ? "No application matches." : "There is no application yet."}>{route.value.query.get("q") ? null : "Developers make them at the portal, and ask for plans of products."}</Empty>}
        columns={[
          { id: "name", name: "Application", grow: true, show: (one) => <a href={link(["portal", "applications"], { open: one.id })}><Text>{one.name}</Text></a> },
          { id: "team", name: "Team", show: (one) => <Text>{one.team_name}</Text> },
          { id: "made", name: "Made", show: (one) => <Ago at={one.created_unix_s} /> },
          { id: "keys", name: "Keys", number: true, show: (one) => format.count(one.grants.reduce((sum, grant) => sum + grant.keys.length, 0)) },
          { id: "plans", name: "Plans", wide: true, show: (one) => one.grants.map((grant) => <span key={grant.id} class="row"><Text>{`${grant.product} ${grant.plan}`}</Text> <StateBadge state={grant.state} /></span>) },
        ]} />
      {found && <OneApplication key={found.id} application={found} close={() => refine({ open: undefined })} changed={applications.again} />}
    </>
  );
}

/** Who uses what: the plans of an application, each with its keys, their calls of 30 days and their last use. */
function OneApplication({ application, close, changed }: { application: Application; close: () => void; changed: () => void }) {
  const usage = useLoaded(() => get<{ keys: Used[]; more: number }>(`portal/applications/${segment(application.id)}/usage`), [application.id]);
  const [deciding, setDeciding] = useState<Grant | null>(null);
  const used = (id: string) => usage.value?.keys.find((one) => one.id === id);
  if (deciding) return <Decision asked={{ application, grant: deciding }} close={() => setDeciding(null)} changed={changed} />;
  return (
    <Dialog title={format.visible(application.name)} close={close} wide footer={<Button onClick={close}>Close</Button>}>
      {usage.failure ? <ErrorBox failure={usage.failure} retry={usage.again} /> : null}
      <Facts><Fact name="Team"><Text>{application.team_name}</Text></Fact><Fact name="Made"><Ago at={application.created_unix_s} /></Fact></Facts>
      {application.grants.length === 0 && <Empty icon="policy" title="It has asked for no plan." />}
      {application.grants.map((grant) => (
        <section key={grant.id} class="panel">
          <header><h2><Text>{grant.product}</Text><small><Text>{grant.plan}</Text></small> <StateBadge state={grant.state} /></h2><div class="actions"><Button onClick={() => setDeciding(grant)}>{grant.state === "requested" ? "Decide" : "Change"}</Button></div></header>
          {grant.keys.length === 0 ? <div class="empty small">No key.</div> : <div class="scroll-x" tabIndex={0} role="group" aria-label={`Keys of ${format.visible(grant.product)}`}><table class="plain"><thead><tr><th scope="col">Key</th><th scope="col">Made by</th><th scope="col" class="number">Calls, 30 d</th><th scope="col">Last use</th><th scope="col">Quota</th><th scope="col">Ends</th></tr></thead><tbody>
            {grant.keys.map((key) => { const use = used(key.id); return (
              <tr key={key.id}><th scope="row"><a href={place(key.id)}>…<Text mono>{key.tail}</Text></a>{use?.state?.is_suspended && <Badge tone="bad">suspended</Badge>}</th><td><Text>{key.made_by || "gone"}</Text></td><td class="number">{use ? format.count(use.requests) : format.UNKNOWN}</td><td><Ago at={use?.last_used_unix_s} /></td>
                <td>{use?.state && use.state.quota_max > 0 ? <Meter used={use.state.quota_max - use.state.quota_remaining} max={use.state.quota_max} /> : "none"}</td><td>{key.ends_unix_s ? <Ago at={key.ends_unix_s} /> : "never"}</td></tr>); })}
          </tbody></table></div>}
        </section>
      ))}
      {!!usage.value?.more && <small>The calls of {format.count(usage.value.more)} more keys are not shown; each key has its own page.</small>}
    </Dialog>
  );
}
