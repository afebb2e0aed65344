// Short messages about what was done, which screen readers hear; errors stay until they are closed.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "./icons";

interface Said { id: number; tone: "ok" | "bad" | "warn"; words: ComponentChildren }
/** Older messages go when there are more. */
const SHOWN_MAX = 4;
const SHOWN_MS = 6000;
const said = signal<Said[]>([]);
let last = 0;

export function say(tone: Said["tone"], words: ComponentChildren): void {
  const id = ++last;
  said.value = [...said.value, { id, tone, words }].slice(-SHOWN_MAX);
  if (tone === "ok") setTimeout(() => drop(id), SHOWN_MS);
}

function drop(id: number): void { said.value = said.value.filter((one) => one.id !== id); }

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {said.value.map((one) => (
        <div key={one.id} class={`toast ${one.tone}`}>
          <Icon name={one.tone === "ok" ? "ok" : "alert"} /><div>{one.words}</div>
          <button type="button" aria-label="Dismiss" onClick={() => drop(one.id)}><Icon name="close" /></button>
        </div>
      ))}
    </div>
  );
}
