// The definition of an API as a form and as JSON. Both change one text with one undo; 400 ms after the last change the gateway checks it.
// A save shows first what changes, and says when somebody else was faster.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Answer, Failure, ask, call, get, query, segment, type Problem } from "../call";
import type { Placed } from "../editor/editor";
import * as format from "../format";
import * as json from "../json";
import * as live from "../live";
import { guard, refine, route } from "../route";
import { isScoped, may, reread, session } from "../session";
import { Badge, Button, ErrorBox, Note, Panel, Text, copy } from "../ui/bits";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";
import { DefinitionForm } from "./form";
import { Icon } from "../ui/icons";
import { narrow } from "../ui/screen";
import { say } from "../ui/toast";

/** Steps back that are kept. */
const STEPS_MAX = 200;
/** Changes closer together than this are one step back. */
const STEP_MS = 700;
const CHECK_MS = 400;
const LEVELS: Record<Problem["level"], string> = { error: "Error", warning: "Warning", note: "Note", ignored: "Without effect" };

interface Past { text: string; back: string[]; forth: string[]; at: number }

/** The document under edit with its steps back. */
function useDocument(start: string) {
  const [past, set] = useState<Past>({ text: start, back: [], forth: [], at: 0 });
  return {
    text: past.text, canUndo: past.back.length > 0, canRedo: past.forth.length > 0,
    change: (text: string) => set((old) => {
      if (text === old.text) return old;
      const now = performance.now();
      return { text, back: now - old.at < STEP_MS && old.back.length ? old.back : [...old.back, old.text].slice(-STEPS_MAX), forth: [], at: now };
    }),
    undo: () => set((old) => (old.back.length ? { text: old.back.at(-1)!, back: old.back.slice(0, -1), forth: [...old.forth, old.text], at: 0 } : old)),
    redo: () => set((old) => (old.forth.length ? { text: old.forth.at(-1)!, back: [...old.back, old.text], forth: old.forth.slice(0, -1), at: 0 } : old)),
    restart: (text: string) => set({ text, back: [], forth: [], at: 0 }),
  };
}

export function Definition({ id, stored, reload }: { id: string; stored: Answer<any>; reload: () => void }) {
  const [base, setBase] = useState({ text: json.layout(stored.text), etag: stored.etag });
  const document_ = useDocument(base.text);
  const { text } = document_;
  const [problems, setProblems] = useState<Problem[]>([]);
  const [checked, setChecked] = useState<string | null>(null);
  const [checkFailure, setCheckFailure] = useState<unknown>(null);
  const [saving, setSaving] = useState(false);
  const [conflict, setConflict] = useState<any>(null);
  const [after, setAfter] = useState<{ text: string; at: number } | null>(null);
  const [reveal, setReveal] = useState<{ at: number; turn: number }>();
  const writable = session.value?.writable.apis ?? false;
  const readOnly = narrow.value || !may("editor") || !writable;
  const view = narrow.value ? "json" : route.value.query.get("view") ?? "both";
  const dirty = text !== base.text;
  useEffect(() => {
    guard.value = dirty ? () => confirm("Leave without saving? The changes are lost.") : null;
    const leave = (event: BeforeUnloadEvent) => { if (dirty) event.preventDefault(); };
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  }, [dirty]);
  useEffect(() => () => { guard.value = null; }, []);
  const tree = useMemo(() => json.read(text), [text]);
  useEffect(() => {
    if (json.isFault(tree)) {
      setProblems([{ level: "error", path: "$", message: tree.message, ...json.place(text, tree.at) }]);
      setChecked(text);
      return;
    }
    const control = new AbortController();
    const timer = setTimeout(() => {
      call("POST", `check/api${query({ id })}`, text, { signal: control.signal }).then(
        (found) => { setProblems(found.problems); setChecked(text); setCheckFailure(null); },
        (failure) => { if (!control.signal.aborted) { setCheckFailure(failure); setChecked(text); } });
    }, CHECK_MS);
    return () => { clearTimeout(timer); control.abort(); };
  }, [text]);
  const placed: (Placed & { path: string; line: number })[] = useMemo(() => problems.map((problem) => {
    if (json.isFault(tree)) return { ...problem, from: tree.at, to: tree.at + 1, line: json.place(text, tree.at).line };
    const { node, nameFrom } = json.find(tree, json.steps(problem.path));
    const from = nameFrom ?? node.from;
    return { ...problem, from, to: node.kind === "value" ? node.to : from + 1, line: json.place(text, from).line };
  }), [problems, tree]);
  const errors = problems.filter((one) => one.level === "error").length;
  const turn = useRef(0);
  const jump = (at: number) => { if (view === "form") refine({ view: "both" }); setReveal({ at, turn: ++turn.current }); };
  const store = async (etag: string | null, content = text): Promise<void> => {
    try {
      const answer = await ask("PUT", `apis/${segment(id)}`, content, etag ? { headers: { "If-Match": etag } } : {});
      await reread();
      const fresh = await ask("GET", `apis/${segment(id)}`);
      const previous = base.text;
      setBase({ text: json.layout(fresh.text), etag: fresh.etag ?? answer.etag });
      document_.restart(json.layout(fresh.text));
      setConflict(null);
      setSaving(false);
      setAfter({ text: previous, at: Date.now() / 1000 });
      say("ok", `Saved. ${answer.value.shared || alone() ? "It serves from the next request." : `Only ${format.visible(answer.value.node ?? session.value?.node)} has it: these gateways do not share definitions.`}`);
      reload();
    } catch (failure) {
      if (failure instanceof Failure && failure.status === 412) { const changes = await get(`list/changes${query({ q: id, limit: 50 })}`).then((page) => page.rows.filter((row: any) => row.kind === "api" && row.target === id), () => []); setSaving(false); setConflict({ changes, ...failure.body, text: json.layout(json.textAt(failure.text, ["current"])) }); return; }
      throw failure;
    }
  };
  return (
    <>
      <div class="editor-bar">
        {!narrow.value && <span class="segments" role="group" aria-label="View">{(["form", "both", "json"] as const).map((one) => <button key={one} type="button" aria-pressed={view === one} onClick={() => refine({ view: one })}>{one === "json" ? "JSON" : one === "form" ? "Form" : "Both"}</button>)}</span>}
        {checked !== text ? <Badge tone="muted">checking</Badge> : checkFailure ? <Badge tone="warn" title={(checkFailure as Error).message}>not checked</Badge> : errors ? <Badge tone="bad">{errors} {errors === 1 ? "error" : "errors"}</Badge> : <Badge tone="ok">valid</Badge>}
        {dirty && <Badge tone="accent">changed</Badge>}
        {!readOnly && <><Button icon="undo" kind="quiet" aria-label="Undo" title="Undo (Ctrl-Z)" disabled={!document_.canUndo} onClick={document_.undo} /><Button icon="redo" kind="quiet" aria-label="Redo" disabled={!document_.canRedo} onClick={document_.redo} /></>}
        <Button icon="copy" kind="quiet" onClick={() => void copy(text, "JSON copied")}>Copy JSON</Button>
        {!readOnly && <Button kind="primary" disabled={!dirty || errors > 0} title={errors ? "Errors must be corrected first" : undefined} onClick={() => setSaving(true)}>Save</Button>}
      </div>
      {readOnly && <Note>{narrow.value ? "Definitions are read-only on narrow screens." : !may("editor") ? "Your role can view definitions, not change them." : "This gateway's definitions come from a read-only place, such as a ConfigMap or Git. Change them there; this page checks and copies."}</Note>}
      {after && <After id={id} saved={after} undo={() => void store(base.etag, after.text).then(() => setAfter(null), (failure) => say("bad", failure.message))} close={() => setAfter(null)} />}
      <div class={`editor ${view === "both" ? "" : "single"}`}>
        {view !== "json" && <DefinitionForm text={text} change={document_.change} readOnly={readOnly} problems={problems} broken={json.isFault(tree)} />}
        <div class="stack">
          {view !== "form" && <Code text={text} label="Definition as JSON" readOnly={readOnly} problems={placed} change={document_.change} undo={document_.undo} redo={document_.redo} save={() => { if (dirty && !errors) setSaving(true); }} reveal={reveal} />}
          {checkFailure ? <ErrorBox failure={checkFailure} /> : null}
          {placed.length > 0 && (
            <Panel title="Problems" note={errors ? `${errors === 1 ? "1 error prevents" : `${errors} errors prevent`} saving` : "none prevents saving"}>
              <ul class="problems">{placed.map((one, index) => (
                <li key={index} class={one.level === "error" ? "bad" : one.level === "warning" ? "warn" : "muted"}>
                  <Icon name={one.level === "ignored" || one.level === "note" ? "info" : "alert"} /><button type="button" onClick={() => jump(one.from)}>Line {one.line}, {format.visible(one.path)}</button>
                  <p><b>{LEVELS[one.level]}: </b><Text>{one.message}</Text></p>
                </li>))}
              </ul>
            </Panel>
          )}
        </div>
      </div>
      {saving && <Save old={base.text} text={text} save={() => store(base.etag)} close={() => setSaving(false)} />}
      {conflict && <Conflict conflict={conflict} mine={text} base={base.text} close={() => setConflict(null)}
        theirs={() => { setBase({ text: conflict.text, etag: conflict.etag }); document_.restart(conflict.text); setConflict(null); }}
        merge={() => { setBase({ text: conflict.text, etag: conflict.etag }); setConflict(null); say("warn", "Your text is kept and now compares with the stored one. Look at the differences before you save."); }} />}
    </>
  );
}

export function Diff({ old, now, label = "What changes" }: { old: string; now: string; label?: string }) {
  const rows = json.lines(old, now);
  return <div class="diff" role="group" aria-label={label} tabIndex={0}>{rows.length === 0 ? <div><span /><span>no difference</span></div> : rows.map((row, at) => (
    <div key={at} class={row.kind === "skip" ? "skip-lines" : row.kind}><span aria-label={row.kind === "add" ? "added" : row.kind === "del" ? "removed" : undefined}>{row.kind === "add" ? "+" : row.kind === "del" ? "-" : ""}</span><span>{format.visible(row.text)}</span></div>))}</div>;
}

const alone = (): boolean => live.gateways.value === 1;

/** Which gateways a save changes. */
export function affected(): string {
  const number = live.gateways.value;
  if (number === 1) return "It serves from the next request; open connections are kept.";
  if (session.value?.shared_definitions) return `All ${number} gateways load it within seconds.`;
  return `Only ${format.visible(session.value?.node)} gets it; ${number === 2 ? "the other one keeps its files" : `the other ${number - 1} keep their files`} (tollgate.shared_definitions is off).`;
}

function Save({ old, text, save, close }: { old: string; text: string; save: () => Promise<void>; close: () => void }) {
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const run = () => { setBusy(true); setFailure(null); save().catch(setFailure).finally(() => setBusy(false)); };
  return (
    <Dialog title="Save these changes?" close={close} wide footer={<><span>{affected()}</span><Button onClick={close}>Back</Button><Button kind="primary" autofocus disabled={busy} onClick={run}>{busy ? "Saving" : "Save"}</Button></>}>
      {failure ? <Note tone="bad" icon="alert">Not saved. <Text>{(failure as Error).message.replace(/^Not saved\. /, "")}</Text> The previous version still serves.</Note> : null}
      <Diff old={old} now={text} />
    </Dialog>
  );
}

function Conflict({ conflict, mine, base, theirs, merge, close }: { conflict: any; mine: string; base: string; theirs: () => void; merge: () => void; close: () => void }) {
  const last = conflict.changes?.[0];
  return (
    <Dialog title="Somebody else saved first" close={close} wide footer={<><span /><Button onClick={theirs}>Take theirs</Button><Button kind="primary" onClick={merge}>Keep mine and compare</Button></>}>
      <Note tone="warn" icon="alert">Not saved. {last ? <><b><Text>{last.user === "secret" ? "Somebody with the control secret" : last.user || "Somebody"}</Text></b> changed this definition at {format.moment(last.time, true)}.</> : "This definition was changed since you opened it."} Nothing of yours is lost.</Note>
      <h3>Their changes</h3>
      <Diff old={base} now={conflict.text} label="Their changes" />
      <h3>Yours against what is stored now</h3>
      <Diff old={conflict.text} now={mine} label="Your changes" />
    </Dialog>
  );
}

/** The minute after a save: this API's errors beside a way back. */
function After({ id, saved, undo, close }: { id: string; saved: { at: number }; undo: () => void; close: () => void }) {
  void live.tick.value;
  const series = live.apis.get(id);
  const age = Date.now() / 1000 - saved.at;
  useEffect(() => { const timer = setTimeout(close, 60_000); return () => clearTimeout(timer); }, []);
  const before = mean(series, saved.at - 60, saved.at), since = mean(series, saved.at + 2, Infinity);
  const worse = since != null && since > (before ?? 0) + 0.01;
  return <Note tone={worse ? "bad" : "ok"} icon={worse ? "alert" : "ok"} actions={<><Button icon="undo" onClick={undo}>Undo this save</Button><Button icon="close" kind="quiet" aria-label="Close" onClick={close} /></>}>
    Saved {format.span(Math.max(1, age))} ago. {isScoped() ? "The live tail shows what fails since." : <>Failed since: <b>{since == null ? "no request yet" : format.percent(since)}</b>; in the minute before: {before == null ? "no request" : format.percent(before)}.</>}</Note>;
}

function mean(series: live.Series | undefined, from: number, to: number): number | null {
  if (!series) return null;
  let requests = 0, failed = 0;
  series.times.forEach((time, at) => { if (time > from && time <= to) { requests += series.columns.requests![at] ?? 0; failed += series.columns.server_errors![at] ?? 0; } });
  return requests ? failed / requests : null;
}
