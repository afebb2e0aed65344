// One operation of an OpenAPI document: what it wants, what it answers, and a form to call it. What is in it is made when somebody opens it.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Badge } from "../ui/bits";
import type { Caller } from "./caller";
import { examplesOf } from "./example";
import { type Operation, operationsOf, securityOf, summaryOf } from "./operations";
import { type Json, members, object, resolved, text } from "./reference";
import { Folded, Schema, Words } from "./schema";
import { kind, limits } from "./shape";
import { facts, type Api } from "./state";
import { TryOperation } from "./try";
import { WantedPanel } from "./wanted_panel";

/** Characters of what is said of an operation. */
const DESCRIPTION_MAX = 50_000;

interface Shown { document: Json; api: Api; operation: Operation; caller: Signal<Caller> }

export function OperationPanel({ isOpen, wanted, ...shown }: Shown & { isOpen: boolean; wanted: number | null }) {
  const { operation: { method, path, value, place } } = shown;
  const title = <><Badge tone={value.deprecated === true ? "warn" : "accent"}>{method.toUpperCase()}</Badge> <code>{path}</code> <small>{summaryOf(value)}{value.deprecated === true && " (deprecated)"}</small></>;
  return <WantedPanel isOpen={isOpen} wanted={wanted} mark={{ "data-place": place }} title={title}>{() => <Contents {...shown} />}</WantedPanel>;
}

function Contents({ document, api, operation, caller }: Shown) {
  const { value, parameters } = operation;
  const body = object(resolved(document, value.requestBody)), needs = securityOf(document, operation);
  return (
    <div class="body stack">
      <Words most={DESCRIPTION_MAX}>{value.description}</Words>
      {(text(value.operationId) || needs.length > 0) && <p><small>{text(value.operationId) && <>Called <code>{text(value.operationId)}</code>. </>}{needs.length > 0 && <>Its document asks for: {needs.join(", or ")}.</>}</small></p>}
      {parameters.length > 0 && <Table name="Parameters" heads={["Parameter", "In", "Type", "Meaning"]}>{parameters.map((one, index) => (
        <tr key={index}><th scope="row"><code>{text(one?.name)}</code>{one?.required === true && " *"}{one?.deprecated === true && <> <Badge tone="warn">deprecated</Badge></>}</th><td>{text(one?.in)}</td><Type document={document} value={one} /><td><Words>{one?.description}</Words></td></tr>
      ))}</Table>}
      {members(body.content).length > 0 && <Folded title={`Body${body.required === true ? " *" : ""}: ${members(body.content).map(([type]) => type).join(", ")}`}>{() => <div class="stack"><Words>{body.description}</Words><Contained document={document} content={body.content} isRequest /></div>}</Folded>}
      {members(value.responses).map(([status, given]) => {
        const answer = object(resolved(document, given));
        return <Folded key={status} title={<><code>{status}</code> {text(answer.description).slice(0, 200)}</>}>{() => <Response document={document} answer={answer} />}</Folded>;
      })}
      <Callbacks document={document} callbacks={value.callbacks} />
      {facts.value?.try_it && operation.method !== "trace" && <Folded title={<strong>Try it</strong>} isKept>{() => <TryOperation document={document} api={api} operation={operation} caller={caller} />}</Folded>}
    </div>
  );
}

function Table({ name, heads, children }: { name: string; heads: string[]; children: ComponentChildren }) {
  return <div class="scroll-x" tabIndex={0} role="group" aria-label={name}><table class="plain"><thead><tr>{heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr></thead><tbody>{children}</tbody></table></div>;
}

/** Type and limits of a parameter or a header; of those with content, its type. */
function Type({ document, value }: { document: Json; value: Json }) {
  const schema = value?.schema ?? object(members(value?.content)[0]?.[1]).schema;
  return <td>{kind(document, schema)}{limits(document, schema).map((one, index) => <span key={index}> <small class="limit">{one}</small></span>)}</td>;
}

function Response({ document, answer }: { document: Json; answer: Json }) {
  const headers = members(answer.headers), links = members(answer.links);
  return (
    <div class="stack">
      {text(answer.description).length > 200 && <Words>{answer.description}</Words>}
      {headers.length > 0 && <Table name="Headers of the response" heads={["Header", "Type", "Meaning"]}>{headers.map(([name, given]) => {
        const header = object(resolved(document, given));
        return <tr key={name}><th scope="row"><code>{name}</code>{header.required === true && " *"}</th><Type document={document} value={header} /><td><Words>{header.description}</Words></td></tr>;
      })}</Table>}
      {members(answer.content).length > 0 ? <Contained document={document} content={answer.content} /> : <p>No body.</p>}
      {links.length > 0 && <p>Leads to: {links.map(([name, given]) => `${name} ${text(object(resolved(document, given)).operationId)}`.trim()).join(", ")}.</p>}
    </div>
  );
}

/** Every content type of a body: its schema, and its examples. */
function Contained({ document, content, isRequest = false }: { document: Json; content: Json; isRequest?: boolean }) {
  const budget = { left: 1000 };
  return <>{members(content).map(([type, media]) => (
    <div key={type} class="stack">
      <p><strong>{type}</strong></p>
      {object(media).schema !== undefined && <Schema document={document} schema={object(media).schema} budget={budget} />}
      {(object(media).schema !== undefined || object(media).example !== undefined || object(media).examples !== undefined) && <Folded title="Examples">{() => examplesOf(document, media, isRequest).map((one, index) => <div key={index}><p>{one.title}</p><pre class="answer" tabIndex={0}>{one.text}</pre></div>)}</Folded>}
    </div>
  ))}</>;
}

function Callbacks({ document, callbacks }: { document: Json; callbacks: Json }) {
  const named = members(callbacks);
  if (named.length === 0) return null;
  return (
    <div><p><strong>Calls back</strong></p><ul class="schema-members">{named.map(([name, given]) => (
      <li key={name}><code>{name}</code>{operationsOf(document, resolved(document, given)).map((one) => <div key={one.place}><small>{one.method.toUpperCase()} <code>{one.path}</code> {summaryOf(one.value)}</small></div>)}</li>
    ))}</ul></div>
  );
}

/** A call that the API makes: it is shown, and cannot be tried. */
export function Webhook({ document, operation: { method, path, value } }: { document: Json; operation: Operation }) {
  const body = object(resolved(document, value.requestBody));
  return (
    <Folded title={<><Badge tone="muted">{method.toUpperCase()}</Badge> <code>{path}</code> {summaryOf(value)}</>}>{() => <div class="stack">
      <Words most={DESCRIPTION_MAX}>{value.description}</Words>
      {members(body.content).length > 0 && <Contained document={document} content={body.content} />}
    </div>}</Folded>
  );
}
