// The frame of the pages where people sign in and decide: the look of the site, and headers that let nothing else in.
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';

/** A piece of a page; values put into it are escaped. */
export type Piece = ReturnType<typeof html>;

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5c4d'/%3E%3Cpath d='M4 5h8M4 8h8M4 11h5' stroke='%23fff' stroke-width='1.4'/%3E%3C/svg%3E";

/** Colours, type and rules are those of site/style.css; the page stands alone, so that it loads nothing. */
const STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#fbfaf6,#151513);--sheet:light-dark(#fff,#1d1d1a);--ink:light-dark(#1d1c1a,#ece9e1);--quiet:light-dark(#5c5952,#a9a498);--rule:light-dark(#ddd8cc,#36342e);--edge:light-dark(#827c6f,#7d786c);--accent:light-dark(#0b5c4d,#74d2b9);--on-accent:light-dark(#fff,#10231f);--warn:light-dark(#85450a,#e7b06c);--wrong:light-dark(#9b1c1c,#f2a19a);--serif:"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua",Georgia,"DejaVu Serif",serif;--mono:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:36rem;padding:0 clamp(1rem,4vw,2.5rem) 3rem;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header{padding-block:1.1rem;border-bottom:3px double var(--rule);font:600 1.15rem/1.4 var(--serif)}
header a{color:inherit;text-decoration:none}
h1,h2{font-family:var(--serif);font-weight:600;line-height:1.2;text-wrap:balance}
h1{margin:1.75rem 0 1rem;font-size:clamp(1.6rem,1.3rem + 1.6vw,2.1rem);letter-spacing:-.01em}
h2{margin:0 0 .3rem;font-size:1.15rem}
p{margin:0 0 1rem}
a{color:var(--accent);text-underline-offset:.18em}
code{font-family:var(--mono);font-size:.9em}
pre{margin:0 0 1rem;padding:.8rem 1rem;overflow-x:auto;border:1px solid var(--rule);border-radius:6px;background:var(--sheet);white-space:pre-wrap}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:2px}
dl{margin:0 0 1.25rem;border-block:1px solid var(--rule)}
dl div{display:grid;gap:0 1rem;padding:.6rem 0}
dl div+div{border-top:1px dotted var(--rule)}
dt,.quiet{color:var(--quiet);font-size:.9rem}
dd{margin:0;font-variant-numeric:tabular-nums}
ul{margin:0 0 1.25rem;padding-left:1.2rem}
label{display:block;margin-bottom:.3rem;font-weight:600}
input{width:100%;padding:.6rem .75rem;border:1px solid var(--edge);border-radius:4px;background:var(--sheet);color:inherit;font:1rem/1.5 var(--mono)}
input[aria-invalid]{border-color:var(--wrong)}
.money{display:flex;align-items:center;gap:.6rem}
.money input{width:9rem}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
button{padding:.6rem 1.1rem;min-height:2.75rem;border:1px solid var(--accent);border-radius:4px;background:var(--accent);color:var(--on-accent);font:600 1rem/1.5 inherit;font-family:inherit;cursor:pointer}
button.second{background:none;color:var(--accent)}
button.link{min-height:0;padding:0;border:0;background:none;color:var(--accent);font-weight:400;text-decoration:underline;text-underline-offset:.18em}
.warn,.wrong{margin:0 0 1.25rem;padding:.1rem 0 .1rem 1rem;border-left:3px solid var(--warn)}
.wrong{border-color:var(--wrong);color:var(--wrong);font-weight:600}
.hint{margin:.4rem 0 0;color:var(--quiet);font-size:.9rem}
.item{padding-block:1.1rem;border-top:1px solid var(--rule)}
footer{margin-top:2.5rem;padding-top:1rem;border-top:3px double var(--rule);color:var(--quiet);font-size:.9rem}
@media (width>=30rem){dl div{grid-template-columns:9rem 1fr}}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Headers of every page: nothing is stored, loaded or framed. No `form-action`: browsers hold it against the redirect to the
 * client too. The referrer policy keeps `Origin` on our own forms, by which they are told from those of other sites.
 */
export const PAGE_HEADERS: Record<string, string> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** A whole page as text. */
export function page(base_url: string, title: string, body: Piece, footer?: Piece): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Dataset Register</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
</head>
<body>
<header><a href="${base_url}/">Dataset Register</a></header>
<main>
<h1>${title}</h1>
${body}
</main>
${footer === undefined ? '' : html`<footer>${footer}</footer>`}
</body>
</html>
`);
}
