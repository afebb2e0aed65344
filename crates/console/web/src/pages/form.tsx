// The members of a definition that are changed most, as a form. Each field sets one member of the text; it never writes the others.

import { useMemo } from "preact/hooks";
import type { Problem } from "../call";
import { set, valueAt } from "../json";
import { Badge, Field, Note, Panel } from "../ui/bits";
import { BudgetForm } from "./budgets";

type Kind = "text" | "mono" | "number" | "flag" | "lines";
interface Input { path: string; name: string; kind: Kind; hint?: string; placeholder?: string; wide?: boolean; inverse?: boolean; min?: number }
interface Section { title: string; inputs: Input[] }

const SECTIONS: Section[] = [
  { title: "Basics", inputs: [
    { path: "name", name: "Name", kind: "text" },
    { path: "internal", name: "Only for other APIs (internal)", kind: "flag" },
    { path: "proxy.listen_path", name: "Listen path", kind: "mono" },
    { path: "domain", name: "Host", kind: "mono", placeholder: "any" },
    { path: "proxy.target_url", name: "Upstream", kind: "mono", wide: true },
    { path: "proxy.strip_listen_path", name: "Remove the listen path from requests", kind: "flag" },
    { path: "proxy.preserve_host_header", name: "Send the client's Host to the upstream", kind: "flag" },
  ] },
  { title: "Several upstreams", inputs: [
    { path: "proxy.enable_load_balancing", name: "Spread requests over these", kind: "flag", wide: true },
    { path: "proxy.target_list", name: "Targets, one a line", kind: "lines", wide: true },
  ] },
  { title: "Who may call", inputs: [
    { path: "use_keyless", name: "Everybody, without a key", kind: "flag" },
    { path: "strip_auth_data", name: "Remove the credentials before the upstream", kind: "flag" },
    { path: "auth.auth_header_name", name: "Header with the key", kind: "mono", placeholder: "Authorization" },
    { path: "auth.use_param", name: "Accept the key as a parameter too", kind: "flag" },
    { path: "use_basic_auth", name: "Names and passwords", kind: "flag" },
    { path: "enable_jwt", name: "JSON Web Tokens", kind: "flag" },
    { path: "enable_signature_checking", name: "Signatures (HMAC)", kind: "flag" },
    { path: "use_oauth2", name: "OAuth 2.0", kind: "flag" },
    { path: "allowed_ips", name: "Only these addresses, one a line", kind: "lines" },
    { path: "enable_ip_whitelisting", name: "Accept only the addresses above", kind: "flag" },
  ] },
  { title: "Limits", inputs: [
    { path: "global_rate_limit.rate", name: "Requests of all callers together", kind: "number", placeholder: "no limit", min: 0 },
    { path: "global_rate_limit.per", name: "per seconds", kind: "number", min: 0 },
    { path: "disable_rate_limit", name: "Rate limits of keys apply", kind: "flag", inverse: true },
    { path: "disable_quota", name: "Quotas of keys apply", kind: "flag", inverse: true },
  ] },
  { title: "More", inputs: [
    { path: "CORS.enable", name: "Answer browsers of other origins (CORS)", kind: "flag" },
    { path: "CORS.allowed_origins", name: "Allowed origins, one a line", kind: "lines" },
    { path: "cache_options.enable_cache", name: "Cache responses", kind: "flag" },
    { path: "cache_options.cache_timeout", name: "for seconds", kind: "number", min: 0 },
    { path: "do_not_track", name: "Record requests", kind: "flag", inverse: true },
    { path: "tags", name: "Tags, one a line", kind: "lines" },
  ] },
];

const LLM = "tollgate.llm";

export function DefinitionForm({ text, change, readOnly, problems, broken }: { text: string; change: (text: string) => void; readOnly: boolean; problems: Problem[]; broken: boolean }) {
  const values = useMemo(() => (broken ? null : Object.fromEntries([...SECTIONS.flatMap((section) => section.inputs).map((input) => input.path), LLM].map((path) => [path, valueAt(text, path.split("."))]))), [text, broken]);
  if (!values) return <Panel title="Form"><div class="body"><Note tone="bad" icon="alert">The text is not JSON at the moment, so the form has nothing to show. Correct the marked line, or undo.</Note></div></Panel>;
  const elsewhere = problems.filter((one) => !SECTIONS.some((section) => section.inputs.some((input) => one.path === `$.${input.path}`)));
  return (
    <Panel title="Form" note="other fields stay as they are" actions={elsewhere.length ? <Badge tone="warn">{elsewhere.length} in JSON only</Badge> : undefined}>
      <div class="body form">
        {SECTIONS.map((section) => (
          <>
            <h3>{section.title}</h3>
            {section.inputs.map((input) => <One key={input.path} input={input} value={values[input.path]} readOnly={readOnly} problem={problems.find((one) => one.path === `$.${input.path}`)}
              write={(value) => change(set(text, input.path.split("."), value))} />)}
          </>
        ))}
        {values[LLM] && <><h3>Budgets of its language models</h3><BudgetForm budgets={values[LLM].budgets ?? []} set={(list) => change(set(text, ["tollgate", "llm", "budgets"], list.length ? list : undefined))} readOnly={readOnly} holders={[["api", "all clients together"], ["key", "each key has its own"]]} /></>}
      </div>
    </Panel>
  );
}

function One({ input, value, readOnly, problem, write }: { input: Input; value: any; readOnly: boolean; problem: Problem | undefined; write: (value: unknown) => void }) {
  if (input.kind === "flag") {
    const on = input.inverse ? !value : !!value;
    return <label class={`choice ${input.wide ? "field wide" : ""}`}><input type="checkbox" checked={on} disabled={readOnly} onChange={() => write(input.inverse ? on : !on)} />{input.name}</label>;
  }
  if (input.kind === "lines") {
    const list = Array.isArray(value) ? value : [];
    if (list.some((one) => typeof one !== "string")) return <Field label={input.name} wide={input.wide} hint="Its entries are not plain texts; change them in the JSON."><input disabled value={`${list.length} entries`} /></Field>;
    return <Field label={input.name} wide={input.wide} error={problem?.message}><textarea rows={Math.min(6, Math.max(2, list.length + 1))} readOnly={readOnly} value={list.join("\n")} onChange={(event) => { const lines = event.currentTarget.value.split("\n").map((line) => line.trim()).filter(Boolean); write(lines.length || value ? lines : undefined); }} /></Field>;
  }
  return (
    <Field label={input.name} wide={input.wide} hint={input.hint} error={problem?.level === "ignored" ? undefined : problem?.message}>
      <input class={input.kind === "mono" ? "mono" : ""} {...{ type: input.kind === "number" ? "number" : "text" } as {}} min={input.min} step="any" placeholder={input.placeholder} readOnly={readOnly} value={value ?? ""} aria-invalid={problem?.level === "error" || undefined}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          if (input.kind === "number") { if (typed === "") write(undefined); else if (Number.isFinite(Number(typed))) write(Number(typed)); } else write(typed === "" && value === undefined ? undefined : typed);
        }} />
    </Field>
  );
}
