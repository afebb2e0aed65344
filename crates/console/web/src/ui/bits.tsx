// Small parts that all pages share: states in words and colour, times, copying, panels, what a page shows when there is nothing to show.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "../call";
import * as format from "../format";
import { say } from "./toast";
import { Icon, type IconName } from "./icons";

export type Tone = "ok" | "warn" | "bad" | "muted" | "accent";

/** A state: a colour and always a word. */
export function Badge({ tone, children, title }: { tone: Tone; children: ComponentChildren; title?: string }) {
  return <span class={`badge ${tone}`} title={title}>{children}</span>;
}

export function Button({ icon, children, kind = "plain", ...rest }: { icon?: IconName; children?: ComponentChildren; kind?: "plain" | "primary" | "danger" | "quiet" } & Record<string, any>) {
  return <button type="button" {...rest} class={`button ${kind} ${children ? "" : "square"} ${rest.class ?? ""}`}>{icon && <Icon name={icon} />}{children}</button>;
}

export function LinkButton({ icon, children, kind = "plain", ...rest }: { icon?: IconName; children?: ComponentChildren; kind?: "plain" | "primary" | "quiet"; href: string } & Record<string, any>) {
  return <a {...rest} class={`button ${kind} ${rest.class ?? ""}`}>{icon && <Icon name={icon} />}{children}</a>;
}

export function Panel({ title, note, actions, children, class: classes = "", id }: { title?: ComponentChildren; note?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; class?: string; id?: string }) {
  return (
    <section class={`panel ${classes}`} id={id}>
      {title && <header><h2>{title}{note && <small>{note}</small>}</h2>{actions && <div class="actions">{actions}</div>}</header>}
      {children}
    </section>
  );
}

/** A moment, with the full date on hover; refreshed while it is recent. */
export function Ago({ at }: { at: number | null | undefined }) {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((turn) => turn + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  return at ? <time title={format.full(at)}>{format.ago(at)}</time> : <>{format.UNKNOWN}</>;
}

/** Text from outside: control and bidirectional characters are shown, not obeyed. */
export function Text({ children, mono }: { children: unknown; mono?: boolean }) {
  const text = format.visible(children);
  return <bdi class={mono ? "mono" : undefined}>{text}</bdi>;
}

export async function copy(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("ok", `${what}.`);
  } catch {
    say("bad", "The browser does not allow copying here. Select the text and copy it by hand.");
  }
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  return <Button icon="copy" kind="quiet" aria-label={label} title={label} onClick={() => void copy(text)} />;
}

/** Why there is nothing, and what to do next. */
export function Empty({ icon = "info", title, children }: { icon?: IconName; title: string; children?: ComponentChildren }) {
  return <div class="empty"><Icon name={icon} /><strong>{title}</strong>{children && <div>{children}</div>}</div>;
}

/** The gateway's words, and a way to try again. */
export function ErrorBox({ failure, retry, since }: { failure: unknown; retry?: () => void; since?: number }) {
  const words = failure instanceof Error ? failure.message : String(failure);
  const role = failure instanceof Failure && failure.kind === "role";
  return (
    <div class={`note ${role ? "warn" : "bad"}`} role="alert">
      <Icon name="alert" />
      <div><Text>{words}</Text>{since && <> Shown is the state of <Ago at={since} />.</>}</div>
      {retry && <Button icon="refresh" onClick={retry}>Retry</Button>}
    </div>
  );
}

export function Note({ tone = "muted", icon = "info", children, actions }: { tone?: Tone; icon?: IconName; children: ComponentChildren; actions?: ComponentChildren }) {
  return <div class={`note ${tone}`}><Icon name={icon} /><div>{children}</div>{actions}</div>;
}

/** A share of a quota as a bar, with its figures in words. */
export function Meter({ used, max, label }: { used: number; max: number; label?: string }) {
  const share = max > 0 ? Math.min(1, Math.max(0, used / max)) : 0;
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "ok";
  return (
    <span class="meter" title={label}>
      <span class={`bar ${tone}`} aria-hidden="true"><span style={{ width: `${share * 100}%` }} /></span>
      <span>{format.count(used)} of {format.count(max)} used</span>
    </span>
  );
}

export function Field({ label, hint, error, children, wide }: { label: string; hint?: ComponentChildren; error?: string | null | undefined; children: ComponentChildren; wide?: boolean }) {
  return <label class={`field ${wide ? "wide" : ""} ${error ? "invalid" : ""}`}><span>{label}</span>{children}{error ? <em class="bad" role="alert">{error}</em> : hint ? <em>{hint}</em> : null}</label>;
}

/** Names and values, as a list of two columns. */
export function Facts({ children }: { children: ComponentChildren }) { return <dl class="facts">{children}</dl>; }
export function Fact({ name, children }: { name: string; children: ComponentChildren }) { return <><dt>{name}</dt><dd>{children}</dd></>; }

/** A thin line over the page, shown when waiting takes longer than 300 ms. */
export function Waiting({ on }: { on: boolean }) { return on ? <div class="waiting" role="progressbar" aria-label="Loading" /> : null; }
