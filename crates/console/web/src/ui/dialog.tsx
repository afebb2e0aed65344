// Dialogs on the browser's own <dialog>, which keeps the focus inside and closes with Esc.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./bits";

export function Dialog({ title, close, children, footer, wide, side }: { title: ComponentChildren; close: () => void; children: ComponentChildren; footer?: ComponentChildren; wide?: boolean; side?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  // It is open before any other effect runs, in whatever order: who puts the focus on a field then finds it in an open dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    // The page may be gone already when a link was followed quickly.
    if (!dialog?.isConnected) return;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => { dialog.close(); before?.focus?.(); };
  }, []);
  return (
    <dialog ref={element} class={`${wide ? "wide" : ""} ${side ? "side" : ""}`} aria-label={typeof title === "string" ? title : undefined}
      onCancel={(event) => { event.preventDefault(); close(); }}
      onMouseDown={(event) => { if (event.target === element.current) close(); }}>
      <div class="dialog">
        <header><h2>{title}</h2><Button icon="close" kind="quiet" aria-label="Close" onClick={close} /></header>
        <div class="content">{children}</div>
        {footer && <footer>{footer}</footer>}
      </div>
    </dialog>
  );
}
