// Markdown as elements. The library only reads it: no markup is ever made of text, so HTML in a document is shown as it was written, and links lead to
// pages and mail addresses alone.

import { type Token, type Tokens, lexer } from "marked";
import type { ComponentChildren } from "preact";

/** Longer texts are shown as they are: reading them could hold up the page. */
const CHARS_MAX = 300_000;

export function Markdown({ text }: { text: string }) {
  if (text.length > CHARS_MAX) return <pre class="markdown">{text}</pre>;
  return <div class="markdown">{blocks(levelled(lexer(text)))}</div>;
}

/** The words of a text, without its marks. */
export function plain(text: string): string {
  if (text.length > CHARS_MAX) return text;
  return words(lexer(text)).replace(/\s+/g, " ").trim();
}

function words(tokens: Token[]): string {
  return tokens.map((token) => {
    switch (token.type) {
      case "list": return (token as Tokens.List).items.map((item) => words(item.tokens)).join(" ");
      case "table": return [(token as Tokens.Table).header, ...(token as Tokens.Table).rows].flat().map((cell) => words(cell.tokens)).join(" ");
      case "space": case "hr": case "br": case "def": return " ";
      default: return "tokens" in token && token.tokens ? words(token.tokens) + (BLOCKS.includes(token.type) ? " " : "") : "text" in token ? decoded(String(token.text)) + (BLOCKS.includes(token.type) ? " " : "") : token.raw;
    }
  }).join("");
}

/** Kinds that stand in lines of their own. */
const BLOCKS = ["heading", "paragraph", "code", "blockquote", "html"];

/** The headings one below the other: the page has its own first heading, and no level is left out, whatever the author has chosen. */
function levelled(tokens: Token[]): Token[] {
  const open: number[] = [];
  return tokens.map((token) => {
    if (token.type !== "heading") return token;
    while (open.length > 0 && (open.at(-1) ?? 0) >= token.depth) open.pop();
    open.push(token.depth);
    return { ...token, depth: open.length };
  });
}

function blocks(tokens: Token[]): ComponentChildren { return tokens.map(block); }

function block(token: Token, index: number): ComponentChildren {
  switch (token.type) {
    case "heading": return heading(token as Tokens.Heading, index);
    case "paragraph": return <p key={index}>{spans((token as Tokens.Paragraph).tokens)}</p>;
    case "text": return <span key={index}>{(token as Tokens.Text).tokens ? spans((token as Tokens.Text).tokens ?? []) : decoded((token as Tokens.Text).text)}</span>;
    case "code": return <pre key={index} tabIndex={0}><code>{(token as Tokens.Code).text}</code></pre>;
    case "blockquote": return <blockquote key={index}>{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case "hr": return <hr key={index} />;
    case "list": {
      const list = token as Tokens.List;
      const items = list.items.map((item, at) => <li key={at}>{blocks(item.tokens)}</li>);
      return list.ordered ? <ol key={index} start={Number(list.start) || 1}>{items}</ol> : <ul key={index}>{items}</ul>;
    }
    case "table": {
      const table = token as Tokens.Table;
      return (
        <div key={index} class="scroll-x" tabIndex={0} role="region" aria-label="Table"><table class="plain">
          <thead><tr>{table.header.map((cell, at) => <th key={at} scope="col">{spans(cell.tokens)}</th>)}</tr></thead>
          <tbody>{table.rows.map((row, at) => <tr key={at}>{row.map((cell, place) => <td key={place}>{spans(cell.tokens)}</td>)}</tr>)}</tbody>
        </table></div>
      );
    }
    case "html": return <p key={index}>{(token as Tokens.HTML).text}</p>;
    case "space": case "def": return null;
    default: return <p key={index}>{token.raw}</p>;
  }
}

function heading(token: Tokens.Heading, index: number): ComponentChildren {
  const inside = spans(token.tokens);
  if (token.depth <= 1) return <h2 key={index}>{inside}</h2>;
  return token.depth === 2 ? <h3 key={index}>{inside}</h3> : <h4 key={index}>{inside}</h4>;
}

function spans(tokens: Token[]): ComponentChildren { return tokens.map(span); }

function span(token: Token, index: number): ComponentChildren {
  switch (token.type) {
    case "strong": return <strong key={index}>{spans((token as Tokens.Strong).tokens)}</strong>;
    case "em": return <em key={index} class="stressed">{spans((token as Tokens.Em).tokens)}</em>;
    case "del": return <del key={index}>{spans((token as Tokens.Del).tokens)}</del>;
    case "codespan": return <code key={index}>{(token as Tokens.Codespan).text}</code>;
    case "br": return <br key={index} />;
    case "link": {
      const { href, tokens } = token as Tokens.Link;
      const to = safe(href);
      return to ? <a key={index} href={to} rel="noreferrer">{spans(tokens)}</a> : <span key={index}>{spans(tokens)}</span>;
    }
    // Images would be requests to other servers; those of data are shown.
    case "image": return (token as Tokens.Image).href.startsWith("data:image/") ? <img key={index} src={(token as Tokens.Image).href} alt={(token as Tokens.Image).text} /> : <span key={index}>{(token as Tokens.Image).text}</span>;
    case "escape": case "text": return <span key={index}>{decoded((token as Tokens.Text).text)}</span>;
    default: return <span key={index}>{token.raw}</span>;
  }
}

/** Where a link may lead: to web pages, mail addresses, and places of the portal. */
export function safe(href: string): string | null {
  if (href.startsWith("#/")) return href;
  try {
    const url = new URL(href);
    return ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const NAMED: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&nbsp;": "\u00a0" };
function decoded(text: string): string { return text.replace(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (one) => NAMED[one] ?? one); }
