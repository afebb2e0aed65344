// The icons, drawn for this console: strokes on a grid of 16.

const PATHS = {
  overview: "M2 9l3-4 3 3 3-5 3 4M2 13.5h12",
  api: "M2 4.5h12M2 8h12M2 11.5h12M5 3v3M10 6.5v3M7 10v3",
  key: "M10.5 2a3.5 3.5 0 1 1-2.6 5.9L2.5 13.3h2.7v-2h2v-2M11 5.4v.1",
  policy: "M8 1.7l5.2 2v4.1c0 3.2-2.2 5.4-5.2 6.5-3-1.1-5.2-3.3-5.2-6.5v-4.1zM5.8 8l1.6 1.6 2.9-3.1",
  client: "M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.8 14c.4-2.6 2.4-4 5.2-4s4.8 1.4 5.2 4",
  certificate: "M3 2.5h10v7H3zM5 5h6M5 7h3M10.5 9.5v4.5l-1.5-1-1.5 1V9.5",
  usage: "M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6M13.5 13.5v-11",
  model: "M8 1.8l1.5 4.7 4.7 1.5-4.7 1.5-1.5 4.7-1.5-4.7-4.7-1.5 4.7-1.5zM12.8 1.8v2.4M11.6 3h2.4",
  portal: "M2 3h12v10H2zM2 6h12M4 4.5h.1M5.8 9.5h4.4M8 8v3",
  tail: "M2 3.5h8M2 7h12M2 10.5h9M2 14h5",
  system: "M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.1M5 11.3h.1M8 4.8h3M8 11.3h3",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  menu: "M2 4h12M2 8h12M2 12h12",
  plus: "M8 3v10M3 8h10",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.900.9M11.7 11.7l.900.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.7A5.6 5.6 0 0 1 6.3 3a5.6 5.6 0 1 0 6.7 6.7z",
  alert: "M8 2L1.8 13.2h12.4zM8 6.2v3.3M8 11.4v.1",
  ok: "M3 8.5l3.2 3.2L13 4.8",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.7M8 5v.1",
  right: "M6 3.5L10.5 8 6 12.5",
  down: "M3.5 6L8 10.5 12.5 6",
  up: "M3.5 10L8 5.5 12.5 10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  edit: "M10.5 2.8l2.7 2.7L6 12.7l-3.300.600.6-3.3z",
  play: "M4.5 2.8l8.5 5.2-8.5 5.2z",
  pause: "M5 3v10M11 3v10",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.3 1.5",
  undo: "M6 3L2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",
  redo: "M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",
  out: "M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6",
  table: "M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 3v10",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",
  more: "M3 8h.1M8 8h.1M13 8h.1",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6L13.5 6M13.5 2.5V6H10",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d={PATHS[name]} /></svg>;
}

export function Logo() {
  return <svg class="logo" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="3" /><path d="M3.5 12.5V6.5M12.5 12.5V6.5M2.5 6h11M8 6v2.5" /></svg>;
}
