// A panel of a reference to which links lead. What is in it is made when somebody opens it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** `wanted` counts how often a link has led to it, and is `null` if another one is wanted: it is opened, and comes into sight. `mark` is what it is found by. */
export function WantedPanel({ isOpen, wanted, mark, title, children }: { isOpen: boolean; wanted: number | null; mark: Record<`data-${string}`, string>; title: ComponentChildren; children: () => ComponentChildren }) {
  const element = useRef<HTMLDetailsElement>(null);
  const [open, setOpen] = useState(isOpen);
  const [wasOpen, note] = useState(isOpen);
  useEffect(() => {
    if (wanted === null || !element.current) return;
    element.current.open = true;
    element.current.scrollIntoView({ block: "start" });
    element.current.querySelector("summary")?.focus({ preventScroll: true });
  }, [wanted]);
  return (
    <details class="panel operation" ref={element} open={open} {...mark} onToggle={(event) => { if (event.target === event.currentTarget) { setOpen(event.currentTarget.open); note(true); } }}>
      <summary><h3>{title}</h3></summary>
      {wasOpen && children()}
    </details>
  );
}
