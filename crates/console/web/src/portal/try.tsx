// A form for an operation: its parameters and its body, filled in with what the document gives, and what the API answers. Nothing that comes back is
// ever markup.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import * as format from "../format";
import { Badge, Button, Copy, ErrorBox, Field, Note } from "../ui/bits";
import { type WrittenBody, initial, startOf, withBody } from "./body";
import { type Caller, KeyField, keyOf } from "./caller";
import type { Operation } from "./operations";
import { type Json, VALUES_MAX, list, members, object, resolved, text, written } from "./reference";
import { type Answer, type Given, type Prepared, curl, isAsked, isReachable, prepare, send, typeOf } from "./request";
import { kind, shapeOf } from "./shape";
import { base, type Api } from "./state";

export function TryOperation({ document, api, operation, caller }: { document: Json; api: Api; operation: Operation; caller: Signal<Caller> }) {
  const parameters = operation.parameters.filter((one) => isAsked(api, one));
  const requestBody = object(resolved(document, operation.value.requestBody));
  // Browsers send no body with these.
  const content = ["get", "head"].includes(operation.method) ? [] : members(requestBody.content);
  const [given, setGiven] = useState<string[]>(() => parameters.map((one) => initial(document, one)));
  const [type, setType] = useState(content[0]?.[0] ?? "");
  const [body, setBody] = useState<WrittenBody>(() => startOf(document, content[0]?.[0] ?? "", content[0]?.[1]));
  const choose = (next: string) => { setType(next); setBody(startOf(document, next, content.find(([one]) => one === next)?.[1])); };
  const values: Given[] = parameters.map((parameter, index) => ({ parameter, value: given[index] ?? "" }));
  const isRequired = requestBody.required === true;
  const key = keyOf(caller.value);
  const prepared = (secret: string): Prepared => withBody(prepare(document, api, operation.method, operation.path, values, secret), type, body);
  return (
    <CallForm api={api} caller={caller} secret={key} prepared={prepared}>
      {parameters.length > 0 && <div class="form">{parameters.map((parameter, index) => (
        <Input key={index} document={document} name={text(parameter?.name)} place={text(parameter?.in)} schema={parameter?.schema} isRequired={parameter?.required === true || parameter?.in === "path"} value={given[index] ?? ""} change={(value) => setGiven(given.map((old, at) => (at === index ? value : old)))} />
      ))}</div>}
      {content.length > 1 && <Field label="Type of the body"><select value={type} onChange={(event) => choose(event.currentTarget.value)}>{content.map(([one]) => <option key={one}>{one}</option>)}</select></Field>}
      {body.fields
        ? <div class="form">{body.fields.map((field, index) => {
          const change = (value: string | File | null) => setBody({ ...body, fields: body.fields?.map((old, at) => (at === index ? { ...old, value } : old)) });
          return field.isFile
            ? <Field key={field.name} label={labelled(field.name, field.isRequired)} hint="a file"><input type="file" required={field.isRequired} onChange={(event) => change(event.currentTarget.files?.[0] ?? null)} /></Field>
            : <Input key={field.name} document={document} name={field.name} place="" schema={field.schema} isRequired={field.isRequired} value={typeof field.value === "string" ? field.value : ""} change={change} />;
        })}</div>
        : content.length > 0 && (body.file !== undefined
          ? <Field label={labelled(`Body: ${type}`, isRequired)}><input type="file" required={isRequired} onChange={(event) => setBody({ ...body, file: event.currentTarget.files?.[0] ?? null })} /></Field>
          : <Field label={labelled(`Body: ${type}`, isRequired)}><textarea class="mono" spellcheck={false} rows={Math.min(16, Math.max(4, body.text.split("\n").length))} required={isRequired} value={body.text} onInput={(event) => setBody({ ...body, text: event.currentTarget.value })} /></Field>)}
      {values.some(({ parameter, value }) => parameter?.in === "cookie" && value) && <Note>Browsers do not let pages send cookies to an API: the curl line has them.</Note>}
    </CallForm>
  );
}

/** A form that sends a request with the caller's key, with the same request for a terminal. */
export function CallForm({ api, caller, secret, prepared, children }: { api: Api; caller: Signal<Caller>; secret: string; prepared: (secret: string) => Prepared; children: ComponentChildren }) {
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    setAnswer(null);
    try { setAnswer(await send(prepared(secret))); } catch (failed) { setFailure(failed); } finally { setBusy(false); }
  };
  let command = "", shown = "", fault: unknown = null;
  try {
    command = curl(prepared(secret || "YOUR_KEY"));
    // The key is not on the screen.
    shown = curl(prepared(secret ? "********" : "YOUR_KEY"));
  } catch (failed) { fault = failed; }
  return (
    <form class="stack try" onSubmit={(event) => void submit(event)}>
      <KeyField api={api} caller={caller} />
      {children}
      {fault !== null && <Note tone="warn" icon="alert">{(fault as Error).message}</Note>}
      {command && <pre class="line"><code>{shown}</code><Copy text={command} label="Copy the curl line" /></pre>}
      {isReachable(api)
        ? <p class="row"><Button type="submit" kind="primary" icon="play" disabled={busy}>{busy ? "Sending" : "Send"}</Button><small>A real call: it counts against the limits of your key.</small></p>
        : <Note>This API has a host of its own, which pages of the portal do not call. Use the curl line.</Note>}
      <div role="status">{answer && <p class="row"><Badge tone={answer.status >= 500 ? "bad" : answer.status >= 400 ? "warn" : "ok"}>{answer.status}</Badge><span>{answer.words} in {format.duration(answer.ms * 1000)}, {answer.isCut && "more than "}{format.bytes(answer.bytes)}</span></p>}</div>
      {failure !== null && <ErrorBox failure={failure} />}
      {answer && <Answered answer={answer} />}
    </form>
  );
}

function Answered({ answer }: { answer: Answer }) {
  const plain = (words: string) => words.split(/([\n\t])/).map((one) => (one === "\n" || one === "\t" ? one : format.visible(one))).join("");
  return (
    <div class="stack" role="group" aria-label="Answer">
      <details><summary>{answer.headers.length} headers that this page may read</summary><pre class="answer" tabIndex={0}>{answer.headers.map(([name, value]) => plain(`${name}: ${value}`)).join("\n")}</pre></details>
      {answer.text === null ? <p>The body is no text, and not shown.</p> : answer.text ? <pre class="answer" tabIndex={0}>{plain(answer.text)}</pre> : <p>There is no body.</p>}
      {answer.isCut && <small>The rest of the body is not shown.</small>}
    </div>
  );
}

const labelled = (name: string, isRequired: boolean): string => `${name}${isRequired ? " *" : ""}`;

/** An input that fits a schema. */
function Input({ document, name, place, schema, isRequired, value, change }: { document: Json; name: string; place: string; schema: Json; isRequired: boolean; value: string; change: (value: string) => void }) {
  const { words } = shapeOf(document, schema);
  const type = typeOf(document, schema);
  const options = list(words.enum).length > 0 ? list(words.enum).slice(0, VALUES_MAX * 5).map(written) : type === "boolean" ? ["true", "false"] : [];
  const what = [place, kind(document, schema).slice(0, 80)].filter(Boolean).join(", ");
  const own = { required: isRequired, value, class: "mono", spellcheck: false };
  const typed = (event: { currentTarget: { value: string } }) => change(event.currentTarget.value);
  return (
    <Field label={labelled(name, isRequired)} hint={type === "array" ? `${what}; one a line` : type === "object" ? `${what}; JSON` : what}>
      {options.length > 0 && type !== "array"
        ? <select required={isRequired} value={value} onChange={typed}>{(!isRequired || !value) && <option value="">{isRequired ? "" : "not sent"}</option>}{value && !options.includes(value) && <option>{value}</option>}{options.map((one) => <option key={one}>{one}</option>)}</select>
        : type === "array" || type === "object" ? <textarea rows={2} {...own} onInput={typed} />
          : <input {...own} inputMode={type === "integer" ? "numeric" : type === "number" ? "decimal" : undefined} onInput={typed} />}
    </Field>
  );
}

/** GraphQL: a query with its variables. */
export function TryQuery({ api, caller }: { api: Api; caller: Signal<Caller> }) {
  const [query, setQuery] = useState("{\n  __typename\n}");
  const [variables, setVariables] = useState("");
  const prepared = (secret: string): Prepared => {
    let values: unknown;
    try { values = variables.trim() ? JSON.parse(variables) : undefined; } catch { throw new Error("The variables must be JSON."); }
    const content = JSON.stringify({ query, ...(values !== undefined && { variables: values }) });
    const own = prepare({}, api, "post", "/", [], secret);
    return { ...own, url: base(api), headers: [...own.headers, ["Content-Type", "application/json"]], body: content, curl: [`--data-raw ${format.shell(content)}`] };
  };
  return (
    <CallForm api={api} caller={caller} secret={keyOf(caller.value)} prepared={prepared}>
      <Field label="Query"><textarea class="mono" spellcheck={false} rows={8} required value={query} onInput={(event) => setQuery(event.currentTarget.value)} /></Field>
      <Field label="Variables" hint="JSON, such as { &quot;id&quot;: 7 }; may be empty"><textarea class="mono" spellcheck={false} rows={3} value={variables} onInput={(event) => setVariables(event.currentTarget.value)} /></Field>
    </CallForm>
  );
}
