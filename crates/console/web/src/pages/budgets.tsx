// Budgets of language models: of a key what is spent of all that its requests meet, and wherever they are written, a form.

import { useState } from "preact/hooks";
import { call, get, query, segment } from "../call";
import * as format from "../format";
import { link } from "../route";
import { Ago, Button, Empty, ErrorBox, Field, Panel, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { narrow } from "../ui/screen";
import { say } from "../ui/toast";
import { usd } from "./llm";

export interface LlmBudget { name: string; max: number; unit?: string; per?: string; of?: string; soft?: boolean }
interface Shown { name: string; of: string; holder: string; max: number; unit: string; per: string; soft: boolean; spent: number | null; ends: number | null }

export const UNITS: [string, string][] = [["tokens", "tokens"], ["prompt_tokens", "prompt tokens"], ["completion_tokens", "completion tokens"], ["cached_tokens", "cached tokens"], ["reasoning_tokens", "reasoning tokens"], ["usd", "US dollars"], ["requests", "requests"]];
const PERIODS = ["minute", "hour", "day", "month"];
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** A number of a budget's units. */
export const amount = (value: number, unit: string): string => (unit === "usd" ? usd(value) : format.count(value));
/** What is counted in words, where the number does not say it. */
export const unitWords = (unit: string): string => (unit === "usd" ? "" : `${UNITS.find(([id]) => id === unit)?.[1] ?? unit} `);

/** What is wrong with a list of budgets, for people. */
export function fault(budgets: LlmBudget[]): string | null {
  const wrong = budgets.find((one) => !NAME.test(one.name));
  if (wrong) return wrong.name ? `“${format.visible(wrong.name)}” is no name: letters, digits, “-”, “_” and “.”` : "Each budget needs a name.";
  const twice = budgets.find((one, at) => budgets.findIndex((other) => other.name === one.name) !== at);
  if (twice) return `Two budgets are called “${twice.name}”.`;
  const none = budgets.find((one) => !(one.max > 0));
  return none ? `“${none.name}” needs a number above 0.` : null;
}

/** A list of budgets as a form. `holders` says whose each may be, if there is a choice. */
export function BudgetForm({ budgets, set, readOnly, holders }: { budgets: LlmBudget[]; set: (budgets: LlmBudget[]) => void; readOnly?: boolean; holders?: [string, string][] }) {
  const change = (at: number, with_: Partial<LlmBudget>) => set(budgets.map((one, index) => (index === at ? { ...one, ...with_ } : one)));
  return (
    <>
      {budgets.map((one, at) => (
        <fieldset key={at} class="field wide" disabled={readOnly}>
          <legend class="sr">Budget {at + 1}</legend><div class="form">
          <Field label="Name"><input value={one.name} maxLength={64} onInput={(event) => change(at, { name: event.currentTarget.value })} /></Field>
          <Field label="At most"><input type="number" min={0} step="any" value={one.max > 0 ? one.max : ""} onInput={(event) => change(at, { max: Number(event.currentTarget.value) })} /></Field>
          <Field label="Of"><select value={one.unit ?? "tokens"} onChange={(event) => change(at, { unit: event.currentTarget.value })}>{UNITS.map(([id, name]) => <option key={id} value={id}>{name}</option>)}</select></Field>
          <Field label="In a"><select value={one.per ?? "day"} onChange={(event) => change(at, { per: event.currentTarget.value })}>{PERIODS.map((period) => <option key={period}>{period}</option>)}</select></Field>
          {holders && <Field label="Whose"><select value={one.of ?? holders[0]![0]} onChange={(event) => change(at, { of: event.currentTarget.value })}>{[...holders, ...(one.of && !holders.some(([id]) => id === one.of) ? [[one.of, one.of]] : [])].map(([id, name]) => <option key={id} value={id}>{format.visible(name)}</option>)}</select></Field>}
          <label class="choice"><input type="checkbox" checked={!!one.soft} onChange={() => change(at, { soft: one.soft ? undefined : true })} />soft: answers that have begun may exceed it</label>
          {!readOnly && <Button icon="trash" kind="quiet" aria-label={`Remove budget ${at + 1}`} onClick={() => set(budgets.filter((_, index) => index !== at))}>Remove</Button>}
        </div></fieldset>
      ))}
      {budgets.length === 0 && <p class="field wide">No budget of its own.</p>}
      {!readOnly && budgets.length < 16 && <div class="wide"><Button icon="plus" onClick={() => set([...budgets, { name: "", max: 0, unit: "tokens", per: "month" }])}>Add a budget</Button></div>}
    </>
  );
}

/** The budgets that requests with a key meet, what is spent of them, and the key's own to change. `path` is the key's at the control API. */
export function KeyBudgets({ path, own, can, save }: { path: string; own: LlmBudget[]; can: boolean; save: (budgets: LlmBudget[]) => Promise<void> }) {
  const [, id = "", by = ""] = /^keys\/([^?]*)\?(.*)$/.exec(path) ?? [];
  const named = { key: decodeURIComponent(id), ...Object.fromEntries(new URLSearchParams(by)) };
  const loaded = useLoaded(() => get<{ budgets: Shown[] }>(`llm/budgets${query(named)}`), [path, JSON.stringify(own)]);
  const [edited, setEdited] = useState<LlmBudget[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const rows = loaded.value?.budgets ?? [];
  const reset = async (name: string) => {
    setFailure(null);
    try {
      await call("DELETE", `llm/budgets/${segment(name)}${query(named)}`);
      say("ok", "The budget begins anew.");
      loaded.again();
    } catch (failed) { setFailure(failed); }
  };
  const wrong = edited && fault(edited);
  return (
    <Panel title="Budgets of language models" class="after" actions={can && <Button onClick={() => setEdited(own)}>{own.length ? "Change its own" : "Give it one"}</Button>}>
      {failure || loaded.failure ? <ErrorBox failure={failure ?? loaded.failure} retry={() => { setFailure(null); loaded.again(); }} /> : null}
      {rows.length === 0 ? <div class="empty small">{loaded.value ? "None: models may be used as far as its limits allow." : "Loading"}</div> : (
        <div class="scroll-x" tabIndex={0}><table class="plain">
          <thead><tr><th scope="col">Budget</th>{!narrow.value && <th scope="col">Of</th>}<th scope="col" class="number">Spent</th><th scope="col" class="number">At most</th><th scope="col">Ends</th>{can && <th scope="col"><span class="sr">Reset</span></th>}</tr></thead>
          <tbody>{rows.map((one) => (
            <tr key={`${one.of} ${one.holder} ${one.name}`}>
              <th scope="row"><Text>{one.name}</Text> <small>{one.soft ? "soft" : "hard"}, {unitWords(one.unit)}a {one.per}</small></th>
              {!narrow.value && <td>{holder(one)}</td>}
              <td class={`number ${one.spent != null && one.spent >= one.max ? "bad" : ""}`}>{one.spent == null ? <small title="It depends on a claim of the request">{format.UNKNOWN}</small> : amount(one.spent, one.unit)}</td>
              <td class="number">{amount(one.max, one.unit)}</td>
              <td>{one.ends ? <Ago at={one.ends} /> : format.UNKNOWN}</td>
              {can && <td>{one.spent != null && (one.of === "key" || !one.holder) && <Button kind="quiet" aria-label={`Reset ${one.name}`} onClick={() => void reset(one.name)}>Reset</Button>}</td>}
            </tr>))}</tbody>
        </table></div>)}
      {edited && (
        <Dialog title="Its own budgets" wide close={() => setEdited(null)} footer={<><span>{wrong}</span><Button onClick={() => setEdited(null)}>Cancel</Button><Button kind="primary" disabled={!!wrong} onClick={() => void save(edited).then(() => setEdited(null))}>Save</Button></>}>
          {edited.length === 0 && <Empty title="It has none of its own.">Those of its policies, its organisation and the API hold all the same.</Empty>}
          <div class="form"><BudgetForm budgets={edited} set={setEdited} /></div>
        </Dialog>)}
    </Panel>
  );
}

/** Whose a budget is, with the way there. */
function holder({ of, holder: id }: Shown) {
  if (!id) return "the key";
  const page = of === "policy" || of === "key" ? null : of === "api" ? link(["apis", id]) : null;
  const words = of === "key" ? "the key, by" : of;
  return <>{words} {page ? <a href={page}><Text>{id}</Text></a> : <Text>{id}</Text>}</>;
}
