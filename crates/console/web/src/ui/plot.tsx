// Plots over time, on uPlot; the only file that knows it. Time runs to the right, values start at 0, gaps stay gaps, changes and restarts
// are marked. Each plot can be read as a table.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import * as format from "../format";
import type { Mark } from "../live";
import { Button } from "./bits";
import { dark, narrow } from "./screen";

export interface Line { name: string; values: (number | null)[]; color: string; fill?: boolean; dash?: boolean }
export interface PlotProps {
  title: string; unit: string; times: number[]; lines: Line[]; show: (value: number | null) => string; marks?: Mark[]; log?: boolean; height?: number;
  /** First and last moment; otherwise those of the data. */
  span?: [number, number]; zoom?: (from: number, to: number) => void; floor?: number; bars?: boolean; extra?: ComponentChildren;
}

/** Rows of a plot's table; more moments are thinned out. */
const TABLE_ROWS_MAX = 60;
/** Plots that move their cursors together. */
const together = uPlot.sync("time");

export function token(name: string): string { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888"; }

export function Plot(props: PlotProps) {
  const { title, unit, lines, times, show } = props;
  const [asTable, setTable] = useState(false);
  const legend = <ul class="legend">{lines.map((line) => <li key={line.name}><i style={{ background: token(line.color) }} aria-hidden="true" />{line.name} <b>{show(last(line.values))}</b></li>)}</ul>;
  return (
    <figure class={`plot panel ${props.extra ? "with-extra" : ""}`}>
      <header>
        <h2>{title}<small>{unit}</small></h2>{props.extra}
        {!props.extra && legend}
        <Button icon="table" kind="quiet" aria-pressed={asTable} aria-label={`${title} as a table`} title="Show as a table" onClick={() => setTable(!asTable)} />
      </header>
      {props.extra && legend}
      {asTable ? <Values {...props} /> : times.length ? <Canvas key={`${dark.value}${lines.length}`} {...props} /> : <div class="empty small">No samples yet.</div>}
    </figure>
  );
}

/** A legend in a line of its own takes from the plot, so that neighbours stay level. */
const height = (props: PlotProps): number => (props.height ?? 176) - (props.extra && !narrow.value ? 20 : 0);

function last(values: (number | null)[]): number | null {
  for (let at = values.length - 1; at >= Math.max(0, values.length - 5); at -= 1) if (values[at] != null) return values[at]!;
  return null;
}

function Values({ lines, times, show }: PlotProps) {
  const step = Math.max(1, Math.ceil(times.length / TABLE_ROWS_MAX));
  const rows = times.map((_, at) => at).filter((at) => (times.length - 1 - at) % step === 0).reverse();
  return (
    <div class="scroll" tabIndex={0}>
      <table class="plain"><thead><tr><th scope="col">Time ({format.offset()})</th>{lines.map((line) => <th key={line.name} scope="col" class="number">{line.name}</th>)}</tr></thead>
        <tbody>{rows.map((at) => <tr key={at}><th scope="row">{format.clock(times[at], true)}</th>{lines.map((line) => <td key={line.name} class="number">{show(line.values[at] ?? null)}</td>)}</tr>)}</tbody></table>
    </div>
  );
}

function Canvas(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const current = useRef(props);
  current.current = props;
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const width = () => Math.max(200, element.clientWidth);
    const text = token("muted"), grid = token("line");
    const tip = document.createElement("div");
    tip.className = "plot-tip";
    tip.hidden = true;
    const options: uPlot.Options = {
      width: width(), height: height(props), legend: { show: false }, padding: [8, 8, 0, 0],
      cursor: { sync: { key: together.key }, drag: { x: !!props.zoom, y: false, setScale: false }, points: { size: 6 }, y: false },
      scales: {
        x: { time: true, range: (_, low, high) => current.current.span ?? [low, high] },
        y: props.log
          ? { distr: 3, range: (_, low, high) => [10 ** Math.floor(Math.log10(Math.max(low || 1, props.floor ?? 1))), 10 ** Math.ceil(Math.log10(Math.max(high || 10, 10 * (props.floor ?? 1))))] }
          : { range: (_, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
      },
      axes: [
        { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "11px system-ui", size: 22, gap: 4, space: 70, values: (_, splits, _a, _b, step) => splits.map((at) => step >= 86400 ? format.date(at).slice(5) : format.clock(at, step < 60)) },
        { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "11px system-ui", size: 56, gap: 4, space: 28, ...(props.unit.startsWith("B") ? { incrs: Array.from({ length: 40 }, (_, power) => 2 ** power) } : {}), ...(props.log ? { splits: (_, _axis, low, high) => decades(low, high) } : {}), values: (_, splits) => splits.map((value) => value == null ? "" : short(value, props)) },
      ],
      series: [{}, ...props.lines.map((line) => ({
        label: line.name, stroke: token(line.color), width: 1.5, dash: line.dash ? [4, 3] : undefined, points: { show: false }, spanGaps: false,
        fill: line.fill ? `${token(line.color)}22` : undefined, paths: props.bars ? uPlot.paths.bars!({ size: [0.85, 60] }) : undefined,
      }))],
      hooks: {
        draw: [(drawn) => drawMarks(drawn, current.current.marks ?? [])],
        setCursor: [(drawn) => showTip(drawn, tip, current.current)],
        setSelect: [(drawn) => {
          const { left, width } = drawn.select;
          if (width > 4) current.current.zoom?.(drawn.posToVal(left, "x"), drawn.posToVal(left + width, "x"));
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
      },
    };
    const made = plot.current = new uPlot(options, data(props), element);
    made.over.append(tip);
    const observer = new ResizeObserver(() => made.setSize({ width: width(), height: height(current.current) }));
    observer.observe(element);
    return () => { observer.disconnect(); made.destroy(); plot.current = null; };
  }, []);
  useEffect(() => { plot.current?.setData(data(props)); });
  return <div class="canvas" ref={host} role="img" aria-label={`${props.title}, ${props.unit}: ${props.lines.map((line) => `${line.name} ${props.show(last(line.values))}`).join(", ")}`} />;
}

function data({ times, lines, log, floor }: PlotProps): uPlot.AlignedData {
  // A logarithm has no 0: what lies below the scale is drawn at its lower edge.
  return [times, ...lines.map((line) => (log ? line.values.map((value) => (value == null ? null : Math.max(value, floor ?? 1))) : line.values))];
}

function short(value: number, props: PlotProps): string {
  if (props.unit.includes("ms") || props.log) return format.duration(value);
  if (props.unit.startsWith("B")) return format.bytes(value);
  return value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)));
}

/** The lines of a logarithmic scale: the powers of ten, and between few of them their doubles and fives. */
function decades(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low) + 1e-9), last = Math.ceil(Math.log10(high) - 1e-9);
  const steps = last - first <= 1 ? [1, 2, 5] : last - first === 2 ? [1, 3] : [1];
  return Array.from({ length: last - first + 1 }, (_, at) => steps.map((step) => step * 10 ** (first + at))).flat().filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

function drawMarks(plot: uPlot, marks: Mark[]): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  let taken = Infinity;
  // Words that would stand on each other are left out, the older ones.
  for (const mark of [...marks].reverse()) {
    const x = plot.valToPos(mark.unix_s, "x", true);
    if (x < left || x > left + width) continue;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = token(mark.kind === "config_failed" ? "bad" : "muted");
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.font = `${10 * devicePixelRatio}px system-ui`;
    const word = mark.kind === "restart" ? "start" : mark.kind === "config" ? "config" : "config failed";
    const room = ctx.measureText(word).width + 4 * devicePixelRatio;
    ctx.textAlign = x + room > left + width ? "right" : "left";
    const from = ctx.textAlign === "left" ? x : x - room;
    if (from + room <= taken && from >= left) {
      ctx.fillText(word, x + (ctx.textAlign === "left" ? 3 : -3) * devicePixelRatio, top + 9 * devicePixelRatio);
      taken = from;
    }
    ctx.restore();
  }
}

function showTip(plot: uPlot, tip: HTMLElement, { times, lines, show }: PlotProps): void {
  const at = plot.cursor.idx;
  const inside = plot.cursor.left != null && plot.cursor.left >= 0 && at != null;
  tip.hidden = !inside;
  if (!inside || at == null) return;
  tip.replaceChildren();
  const time = document.createElement("b");
  time.textContent = `${format.moment(times[at], true)}`;
  tip.append(time);
  for (const line of lines) {
    const row = document.createElement("span");
    const dot = document.createElement("i");
    dot.style.background = token(line.color);
    row.append(dot, `${line.name} ${show(line.values[at] ?? null)}`);
    tip.append(row);
  }
  const left = plot.cursor.left ?? 0;
  tip.style.left = left > plot.over.clientWidth / 2 ? "" : `${left + 12}px`;
  tip.style.right = left > plot.over.clientWidth / 2 ? `${plot.over.clientWidth - left + 12}px` : "";
}

/** A tiny line for a row of a list. */
export function Spark({ values, tone = "accent" }: { values: (number | null)[]; tone?: string }) {
  const kept = values.slice(-60);
  const high = Math.max(...kept.map((value) => value ?? 0), 0);
  if (!high) return <svg class="spark" viewBox="0 0 60 16" aria-hidden="true" />;
  const path = kept.map((value, at) => (value == null ? "" : `${at === 0 || kept[at - 1] == null ? "M" : "L"}${(at * 60) / Math.max(1, kept.length - 1)} ${15 - (value / high) * 14}`)).join("");
  return <svg class={`spark ${tone}`} viewBox="0 0 60 16" preserveAspectRatio="none" aria-hidden="true"><path d={path} /></svg>;
}
