// Lists of any length: the gateway sorts, filters and sends pages; the next is fetched when its end comes near; only rows in sight are in
// the document. j and k move, Enter opens. On narrow screens each row is a card.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, listKeys, query } from "../call";
import { count } from "../format";
import { refine, route } from "../route";
import { Button, Empty, ErrorBox, Waiting } from "./bits";
import { Icon } from "./icons";
import { narrow } from "./screen";

/** Rows of one answer. */
const PAGE_ROWS = 100;
/** Rows that a page keeps; who needs more searches. */
const ROWS_MAX = 20_000;
/** Rows in the document beyond those in sight, on each side. */
const MARGIN_ROWS = 12;

export interface Column<R> {
  id: string; name: string; show: (row: R) => ComponentChildren;
  /** The gateway's name of the order; missing if it cannot sort by it. */
  sort?: string; number?: boolean; grow?: boolean;
  /** Not in the cards of narrow screens. */
  wide?: boolean;
  /** Speaks for itself: without its name in the cards of narrow screens. */
  bare?: boolean;
}

export interface Listed<R> { rows: R[]; total: number | null; scanned: number; searched: number | null; done: boolean; failure: unknown; waiting: boolean; more: () => void; reload: () => void; fetched: number | null }

/** Answers that are fetched for one page when rows are left out here; then the reader says whether to go on. */
const ANSWERS_MAX = 20;

/** Pages of `/tyk/list/{what}`, one after the other, or nothing; `keeps` leaves out rows that the gateway does not, and `by` changes with it. */
export function useList<R>(what: string | null, members: Record<string, string | undefined>, { keeps, by }: { keeps?: (row: R) => boolean; by?: string } = {}): Listed<R> {
  const [state, set] = useState({ rows: [] as R[], next: "", total: null as number | null, scanned: 0, searched: null as number | null, done: false, failure: null as unknown, waiting: false, fetched: null as number | null });
  const [turn, again] = useState(0);
  const asked = JSON.stringify([what, members, by]);
  const busy = useRef<AbortController | null>(null);
  const fetchPage = async (after: string, before: R[]) => {
    busy.current?.abort();
    const control = busy.current = new AbortController();
    const slow = setTimeout(() => set((old) => ({ ...old, waiting: true })), 300);
    try {
      let page: any, rows = before, scanned = 0, next = after, answers = 0;
      const limit = keeps ? 1000 : PAGE_ROWS;
      do {
        page = what === "keys"
          ? await listKeys({ ...members, limit, after: next || undefined }, { signal: control.signal })
          : await get(`list/${what}${query({ ...members, limit, after: next })}`, { signal: control.signal });
        rows = [...rows, ...(keeps ? page.rows.filter(keeps) : page.rows)];
        answers += 1;
        scanned += page.scanned ?? 0;
        next = page.next;
        // A search over many rows says how far it has come.
        if (next && !control.signal.aborted) set((old) => ({ ...old, searched: scanned, total: keeps ? null : page.total }));
      } while (next && rows.length < before.length + (keeps ? PAGE_ROWS : 1) && answers < (keeps ? ANSWERS_MAX : Infinity) && !control.signal.aborted);
      if (control.signal.aborted) return;
      set({ rows, next, total: keeps ? null : page.total, scanned, searched: null, done: !next || rows.length >= ROWS_MAX, failure: null, waiting: false, fetched: Date.now() / 1000 });
    } catch (failure) {
      if (!control.signal.aborted) set((old) => ({ ...old, failure, waiting: false, searched: null }));
    } finally {
      clearTimeout(slow);
      if (busy.current === control) busy.current = null;
    }
  };
  useEffect(() => {
    if (!what) return;
    const timer = setTimeout(() => void fetchPage("", []), turn || !members.q ? 0 : 150);
    return () => { clearTimeout(timer); busy.current?.abort(); busy.current = null; };
  }, [asked, turn]);
  return {
    ...state,
    more: () => { if (!busy.current && state.next && !state.done) void fetchPage(state.next, state.rows); },
    reload: () => again((old) => old + 1),
  };
}

interface TableProps<R> {
  label: string; columns: Column<R>[]; list: Pick<Listed<R>, "rows" | "total" | "searched" | "done" | "failure" | "waiting" | "more" | "reload" | "fetched">;
  id: (row: R) => string; open?: (row: R) => void; href?: (row: R) => string | undefined; empty: ComponentChildren;
  order?: string; selected?: Set<string>; select?: (ids: Set<string>) => void; tone?: (row: R) => string | undefined;
}

export function Table<R>({ label, columns: all, list, id, open, href, empty, order, selected, select, tone }: TableProps<R>) {
  const columns = all.filter((column) => !(column.wide && narrow.value));
  const body = useRef<HTMLTableElement>(null);
  const [range, setRange] = useState<[number, number]>([0, 60]);
  // Not state: a second key may come before the first has been drawn.
  const at = useRef(-1);
  const rowPixels = narrow.value ? 118 : 34;
  const { rows } = list;
  const windowed = rows.length > 150;
  useEffect(() => {
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowPixels) - MARGIN_ROWS);
      const last = first + Math.ceil(innerHeight / rowPixels) + 2 * MARGIN_ROWS;
      setRange((old) => (Math.abs(old[0] - first) < MARGIN_ROWS / 2 && Math.abs(old[1] - last) < MARGIN_ROWS / 2 ? old : [first, last]));
      if (last > rows.length - 30) list.more();
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => { removeEventListener("scroll", look); removeEventListener("resize", look); };
  }, [rows, rowPixels, list.done]);
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      if (event.defaultPrevented || (event as any).typing || !lettersOn(event)) return;
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (step) {
        const next = Math.max(0, Math.min(rows.length - 1, at.current + step));
        at.current = next;
        requestAnimationFrame(() => {
          const row = body.current?.querySelector<HTMLElement>(`[aria-rowindex="${next + 2}"]`);
          row?.focus({ preventScroll: true });
          row?.scrollIntoView({ block: "nearest" });
        });
        event.preventDefault();
      }
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, [rows]);
  const sort = (column: Column<R>) => {
    if (!column.sort) return;
    const now = route.value.query.get("sort") ?? order;
    refine({ sort: now === column.sort ? `-${column.sort}` : now === `-${column.sort}` ? column.sort : column.number ? `-${column.sort}` : column.sort });
  };
  const sorted = route.value.query.get("sort") ?? order ?? "";
  const [from, to] = windowed ? [Math.min(range[0], rows.length), Math.min(range[1], rows.length)] : [0, rows.length];
  const enter = (row: R) => { if (open) open(row); else { const to = href?.(row); if (to) location.hash = to; } };
  const shown = useMemo(() => rows.slice(from, to), [rows, from, to]);
  const everything = !!select && rows.length > 0 && rows.every((row) => selected?.has(id(row)));
  if (list.failure && !rows.length) return <ErrorBox failure={list.failure} retry={list.reload} />;
  if (list.done && !rows.length) return <>{empty}</>;
  const searching = list.searched == null ? null : `Searching: ${count(list.searched)}${list.total != null ? ` of ${count(list.total)}` : ""} so far.`;
  if (!rows.length && list.fetched == null) return <Empty icon="clock" title={searching ?? "Loading"} />;
  return (
    <>
      <Waiting on={list.waiting} />
      {list.failure ? <ErrorBox failure={list.failure} retry={list.reload} since={list.fetched ?? undefined} /> : null}
      <table class="list" role="table" aria-label={label} aria-rowcount={(list.total ?? rows.length) + 1} ref={body}>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {select && <th role="columnheader" class="check"><input type="checkbox" aria-label="Select all that are shown" checked={everything}
              onChange={() => select(everything ? new Set() : new Set(rows.map(id)))} /></th>}
            {columns.map((column) => (
              <th key={column.id} role="columnheader" scope="col" class={`${column.number ? "number" : ""} ${column.grow ? "grow" : ""}`}
                aria-sort={!column.sort ? undefined : sorted === column.sort ? "ascending" : sorted === `-${column.sort}` ? "descending" : "none"}>
                {column.sort ? <button type="button" onClick={() => sort(column)}>{column.name}{sorted.replace("-", "") === column.sort && <Icon name={sorted.startsWith("-") ? "down" : "up"} />}</button> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {from > 0 && <tr role="presentation" class="space"><td role="presentation" style={{ height: `${from * rowPixels}px` }} /></tr>}
          {shown.map((row, index) => {
            const name = id(row);
            return (
              <tr key={name} role="row" aria-rowindex={from + index + 2} tabIndex={-1} class={`${tone?.(row) ?? ""} ${selected?.has(name) ? "selected" : ""} ${open || href ? "opens" : ""}`}
                onFocus={() => { at.current = from + index; }}
                onKeyDown={(event) => { if (event.key === "Enter" && event.target === event.currentTarget) enter(row); }}
                onClick={(event) => { if (!(event.target as HTMLElement).closest("a,button,input,label") && !String(getSelection())) enter(row); }}>
                {select && <td role="cell" class="check"><input type="checkbox" aria-label={`Select ${name}`} checked={selected?.has(name) ?? false}
                  onChange={() => { const next = new Set(selected); if (!next.delete(name)) next.add(name); select(next); }} /></td>}
                {columns.map((column) => (
                  <td key={column.id} role="cell" data-name={column.name} class={`${column.number ? "number" : ""} ${column.grow ? "grow" : ""} ${column.bare ? "bare" : ""}`}>{column.show(row)}</td>
                ))}
              </tr>
            );
          })}
          {to < rows.length && <tr role="presentation" class="space"><td role="presentation" style={{ height: `${(rows.length - to) * rowPixels}px` }} /></tr>}
        </tbody>
      </table>
      {(rows.length > 0 || !list.done) && <p class="list-end">
        {searching && <span role="status">{searching} </span>}{list.done ? rows.length >= ROWS_MAX ? `The first ${count(rows.length)} are shown; search for others.` : `${count(rows.length)} shown${list.total != null && list.total !== rows.length ? ` of ${count(list.total)}` : ""}.`
          : <>{count(rows.length)} loaded{list.total != null ? ` of ${count(list.total)}` : ""}. <Button kind="quiet" onClick={list.more}>Load more</Button></>}
      </p>}
    </>
  );
}

/** Rows that are here already, for `Table`. */
export function here<R>(rows: R[]): TableProps<R>["list"] {
  return { rows, total: rows.length, searched: null, done: true, failure: null, waiting: false, more: () => {}, reload: () => {}, fetched: null };
}

function lettersOn(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  const types = target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && (target as HTMLInputElement).type !== "checkbox");
  return !types && !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector("dialog[open]") && localStorage.getItem("letters") !== "off";
}

/** The filter box of a list; its text is in the address. */
/** `secret` takes texts that must not be in the address. */
export function Filter({ placeholder, label, secret }: { placeholder: string; label: string; secret?: { is: (text: string) => boolean; take: (text: string) => void } }) {
  const q = route.value.query.get("q") ?? "";
  const [text, set] = useState(q);
  useEffect(() => set((typed) => (q || !secret?.is(typed.trim()) ? q : typed)), [q]);
  return (
    <label class="filter"><Icon name="search" />
      <input type="search" aria-label={label} placeholder={placeholder} value={text} autocomplete="off" spellcheck={false}
        onInput={(event) => {
          const typed = event.currentTarget.value, hidden = secret?.is(typed.trim()) ?? false;
          set(typed);
          secret?.take(hidden ? typed.trim() : "");
          refine({ q: hidden ? undefined : typed || undefined });
        }} />
    </label>
  );
}

export { Empty };
