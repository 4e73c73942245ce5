// Open Graph images: a title, a few lines and a chart or a table of values, drawn as PNG by Takumi with the
// Inter font of its npm package. The same input gives the same bytes on every machine.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Node, Renderer } from '@takumi-rs/wasm/node';
import { IMAGE_SIZE } from '../../api/pages/open-graph.ts';

export interface ShareImage {
  /** Above the title. */
  kicker: string;
  title: string;
  /** Below the title. */
  detail: string;
  /** Rows of a table. */
  values: readonly { value: string; origin: string }[];
  /** A chart as SVG in the colours of the pages (`var(--plot-1)`), and its width and height. */
  chart?: { svg: string; width: number; height: number };
  /** Bars of a histogram, with the labels of both ends. */
  bars?: { counts: readonly number[]; title: string; from: string; to: string };
}

/** The light colours of site/style/1-base.css. */
const COLORS = {
  paper: '#fbfaf6',
  sheet: '#ffffff',
  ink: '#1d1c1a',
  quiet: '#5c5952',
  rule: '#ddd8cc',
  accent: '#0b5c4d',
  'plot-1': '#14705e',
  'plot-2': '#a3560f',
  'plot-land': '#e7e2d5',
  'edge-line': '#8d887b',
};
const FONTS = ['latin', 'latin-ext', 'vietnamese', 'greek', 'cyrillic'];
/** Characters that these fonts lack. */
const UNKNOWN = /[^\u0020-\u024f\u0370-\u045f\u0490-\u0491\u1e00-\u1eff\u2010-\u2027\u2030-\u203a\u20ac\u2122\u2212]/gu;

/** Text that the fonts can draw. Characters of other scripts are omitted; `instead` replaces an empty text. */
export function drawable(text: string, instead = ''): string {
  const normalized = text.normalize('NFC').replace(/\s+/g, ' ').replace(UNKNOWN, '').replace(/ {2,}/g, ' ');
  return normalized.replace(/\(\s*\)/g, '').trim() || instead;
}

type Style = NonNullable<Node['style']>;
const box = (style: Style, ...children: Node[]): Node => ({
  type: 'container',
  style: { display: 'flex', ...style },
  children,
});
/** One line, or `lines`; longer text ends in an ellipsis. */
const text = (content: string, style: Style, lines = 1): Node => ({
  type: 'text',
  text: content,
  style: { lineClamp: lines, overflow: 'hidden', textOverflow: 'ellipsis', ...style },
});

const EDGE = 64;
const WIDTH = IMAGE_SIZE.width - 2 * EDGE;

/** The picture as a tree of boxes. */
function tree({ kicker, title, detail, values, chart, bars }: ShareImage): Node {
  const size = title.length > 60 ? 44 : title.length > 30 ? 54 : 66;
  const line = (width: number) => box({ width, height: 3, backgroundColor: COLORS.sheet });
  const mark = box(
    {
      ...{ width: 34, height: 34, borderRadius: 7, backgroundColor: COLORS.accent },
      ...{ flexDirection: 'column', justifyContent: 'center', gap: 4, paddingLeft: 8 },
    },
    line(18),
    line(18),
    line(11),
  );
  const header = box(
    { alignItems: 'center', gap: 16, fontSize: 26, color: COLORS.quiet },
    mark,
    text(kicker, { flexShrink: 1 }),
  );
  const lines = [
    text(
      title,
      { fontSize: size, fontWeight: 650, lineHeight: 1.2, marginTop: 24, flexShrink: 0 },
      values.length > 0 ? 2 : 1,
    ),
    ...(detail === '' ? [] : [text(detail, { fontSize: 29, color: COLORS.quiet, marginTop: 8, flexShrink: 0 })]),
  ];
  return box(
    {
      width: '100%',
      height: '100%',
      flexDirection: 'column',
      padding: `52px ${EDGE}px 48px`,
      backgroundColor: COLORS.paper,
      color: COLORS.ink,
      fontFamily: 'Inter',
      borderTop: `12px solid ${COLORS.accent}`,
    },
    header,
    ...lines,
    box({ flexGrow: 1 }),
    ...(values.length > 0 ? [table(values)] : []),
    ...(chart ? [picture(chart)] : bars ? [histogram(bars)] : []),
  );
}

function table(values: ShareImage['values']): Node {
  const rows = values.map(({ value, origin }, i) =>
    box(
      {
        alignItems: 'center',
        gap: 24,
        padding: '14px 26px',
        ...(i > 0 ? { borderTop: `1px solid ${COLORS.rule}` } : {}),
      },
      text(value, { flexGrow: 1, flexShrink: 1, flexBasis: 0, fontSize: 31, fontWeight: 600 }),
      text(origin, { width: 410, fontSize: 21, color: COLORS.quiet, textAlign: 'right' }, 2),
    ),
  );
  return box(
    {
      flexDirection: 'column',
      backgroundColor: COLORS.sheet,
      border: `1px solid ${COLORS.rule}`,
      borderRadius: 10,
    },
    ...rows,
  );
}

function picture({ svg, width, height }: NonNullable<ShareImage['chart']>): Node {
  const colored = svg.replace(/var\(--([\w-]+)\)/g, (all, name: keyof typeof COLORS) => COLORS[name] ?? all);
  const src = new Uint8Array(Buffer.from(colored));
  const scale = Math.min(WIDTH / width, 330 / height);
  return box({ justifyContent: 'center' }, {
    type: 'image',
    src,
    width: Math.round(width * scale),
    height: Math.round(height * scale),
  } as Node);
}

function histogram({ counts, title, from, to }: NonNullable<ShareImage['bars']>): Node {
  const most = Math.max(...counts, 1);
  const bars = counts.map((count) =>
    box({
      flexGrow: 1,
      flexBasis: 0,
      height: Math.max(count > 0 ? 3 : 0, Math.round((230 * count) / most)),
      backgroundColor: COLORS['plot-1'],
    }),
  );
  return box(
    { flexDirection: 'column', gap: 10 },
    text(title, { fontSize: 24, color: COLORS.quiet }),
    box({ alignItems: 'flex-end', gap: 4, height: 230, borderBottom: `2px solid ${COLORS['edge-line']}` }, ...bars),
    box(
      { justifyContent: 'space-between', fontSize: 22, color: COLORS.quiet },
      text(from, { flexShrink: 0 }),
      text(to, { flexShrink: 0 }),
    ),
  );
}

let renderer: Promise<Renderer> | undefined;

/** Loads 4 MB of WebAssembly and 0.2 MB of fonts, at the first image. */
async function load(): Promise<Renderer> {
  const { Renderer } = await import('@takumi-rs/wasm/node');
  const made = new Renderer();
  const { resolve } = createRequire(import.meta.url);
  for (const subset of FONTS) {
    const data = readFileSync(resolve(`@fontsource-variable/inter/files/inter-${subset}-wght-normal.woff2`));
    await made.registerFont({ name: 'Inter', data });
  }
  return made;
}

/** The image as PNG. Takes 20 to 300 ms of the processor. */
export async function drawShareImage(image: ShareImage): Promise<Uint8Array<ArrayBuffer>> {
  renderer ??= load();
  const made = await renderer;
  return made.render(tree(image), { ...IMAGE_SIZE, format: 'png' });
}
