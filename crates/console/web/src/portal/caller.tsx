// With which key a page of the portal calls an API: one that was made since the portal was opened, or one that somebody pastes.

import type { Signal } from "@preact/signals";
import { link } from "../route";
import { Field } from "../ui/bits";
import { ownKeys, type Api } from "./state";

/** Id of an own key, and a key that was pasted; it is forgotten when the page is left. */
export interface Caller { product: string; chosen: string | null; pasted: string }

const usable = (caller: Caller) => ownKeys.value.filter((one) => one.product === caller.product);
const chosen = (caller: Caller) => (caller.chosen === null ? usable(caller).at(-1) : usable(caller).find((one) => one.id === caller.chosen));

export function keyOf(caller: Caller): string { return chosen(caller)?.key ?? caller.pasted.trim(); }

export function KeyField({ api, caller }: { api: Api; caller: Signal<Caller> }) {
  if (!api.key_header) return null;
  const what = api.token_path ? "access token" : "key";
  const own = api.token_path ? [] : usable(caller.value), one = api.token_path ? undefined : chosen(caller.value);
  return (
    <>
      {own.length > 0 && <Field label="Key"><select value={one?.id ?? ""} onChange={(event) => { caller.value = { ...caller.value, chosen: event.currentTarget.value }; }}>
        {own.map(({ id, tail, application }) => <option key={id} value={id}>…{tail} of {application}</option>)}
        <option value="">another one</option>
      </select></Field>}
      {!one && <Field label={`Your ${what}`} hint={<>It goes to the gateway alone, and is not kept. {api.token_path ? <>Tokens are given at <code>{api.token_path}</code>.</> : <>None yet? <a href={link(["products", caller.value.product])}>Choose a plan</a>.</>}</>}>
        <input name="key" type="password" autocomplete="off" maxLength={4096} required value={caller.value.pasted} onInput={(event) => { caller.value = { ...caller.value, pasted: event.currentTarget.value }; }} />
      </Field>}
    </>
  );
}
