// Draws the Markdown of a record's page as elements: what api/render/markdown.ts and the templates of packs
// write. Text becomes text nodes, and only web addresses become links, so no value can add markup.

/** Inline markup, in the order of precedence: escape, entity, code, link, bold, emphasis, web address. */
const INLINE =
  /\\([!-/:-@[-`{-~])|&(amp|lt|gt|quot);|`([^`]+)`|\[((?:\\.|[^\\\]])*)\]\(<?([^\s)>]+)>?\)|\*\*((?:\\.|[^\\*])+)\*\*|(?<![\w*])\*((?:\\.|[^\\*])+)\*|(https?:\/\/[^\s|<>]*[^\s|<>.,;:!?)'"])/;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

const FENCE = /^(`{3,}|~{3,})/;
const HEADING = /^(#{1,6})\s+(.*?)(?:\s+#+)?$/;
const ITEM = /^\s*(?:[-+*]|(\d{1,9})[.)])\s+/;
const ROW = /^\s*\|/;
const DELIMITER = /^\s*\|?[\s:|-]*-[\s:|-]*$/;
const QUOTE = /^>\s?/;

function element<K extends keyof HTMLElementTagNameMap>(name: K, ...children: (Node | string)[]) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function linkTo(address: string, ...children: (Node | string)[]): Node | string {
  const target = address.replaceAll('&amp;', '&');
  if (!/^https?:\/\//i.test(target)) return element('span', ...children);
  const link = element('a', ...children);
  link.href = target;
  if (new URL(target).origin !== location.origin) link.rel = 'nofollow';
  return link;
}

/** Inline Markdown as nodes. */
function inline(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let rest = text;
  for (let match = INLINE.exec(rest); match; match = INLINE.exec(rest)) {
    const [all, escaped, entity, code, label, address, bold, emphasis, bare] = match;
    if (match.index > 0) nodes.push(rest.slice(0, match.index));
    if (escaped !== undefined) nodes.push(escaped);
    else if (entity !== undefined) nodes.push(ENTITIES[entity]!);
    else if (code !== undefined) nodes.push(element('code', code));
    else if (address !== undefined) nodes.push(linkTo(address, ...inline(label ?? '')));
    else if (bold !== undefined) nodes.push(element('strong', ...inline(bold)));
    else if (emphasis !== undefined) nodes.push(element('em', ...inline(emphasis)));
    else nodes.push(linkTo(bare!, bare!.replaceAll('&amp;', '&')));
    rest = rest.slice(match.index + all.length);
  }
  if (rest !== '') nodes.push(rest);
  return nodes;
}

/** Cells of a row; an escaped bar does not separate. */
function cells(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '');
  return [...inner.matchAll(/((?:\\.|[^|\\])*)\|/g)].map(([, cell = '']) => cell.trim());
}

function table(rows: string[]): HTMLElement {
  const [head = '', , ...body] = rows;
  const names = cells(head);
  const heads = names.map((name) => {
    const cell = element('th', ...inline(name));
    cell.scope = 'col';
    return cell;
  });
  const lines = body.map((row) => element('tr', ...cells(row).map((cell) => element('td', ...inline(cell)))));
  const drawn = element('table', element('thead', element('tr', ...heads)), element('tbody', ...lines));
  const box = element('div', drawn);
  box.className = 'scroll';
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', names.join(', '));
  return box;
}

/** Markdown as block elements. */
export function drawMarkdown(text: string): HTMLElement[] {
  const lines = text.split('\n');
  const drawn: HTMLElement[] = [];
  const take = (belongs: (line: string) => boolean): string[] => {
    const end = lines.findIndex((line) => !belongs(line));
    return lines.splice(0, end < 0 ? lines.length : end);
  };
  while (lines.length > 0) {
    const [line = '', next = ''] = lines;
    const fence = FENCE.exec(line)?.[1];
    const heading = HEADING.exec(line);
    if (line.trim() === '') lines.shift();
    else if (fence !== undefined) {
      lines.shift();
      drawn.push(element('pre', element('code', take((lineText) => !lineText.startsWith(fence)).join('\n'))));
      lines.shift();
    } else if (heading) {
      lines.shift();
      drawn.push(element(`h${heading[1]!.length as 1 | 2}`, ...inline(heading[2] ?? '')));
    } else if (ROW.test(line) && DELIMITER.test(next)) drawn.push(table(take((lineText) => ROW.test(lineText))));
    else if (ITEM.test(line)) {
      const items = take((item) => ITEM.test(item)).map((item) => element('li', ...inline(item.replace(ITEM, ''))));
      drawn.push(element(/^\s*\d/.test(line) ? 'ol' : 'ul', ...items));
    } else if (QUOTE.test(line)) {
      const quoted = take((lineText) => QUOTE.test(lineText)).map((lineText) => lineText.replace(QUOTE, ''));
      drawn.push(element('blockquote', ...drawMarkdown(quoted.join('\n'))));
    } else {
      lines.shift();
      const more = take(
        (lineText) => lineText.trim() !== '' && ![HEADING, ITEM, ROW, QUOTE, FENCE].some((mark) => mark.test(lineText)),
      );
      drawn.push(element('p', ...inline([line, ...more].map((lineText) => lineText.trim()).join(' '))));
    }
  }
  return drawn;
}
