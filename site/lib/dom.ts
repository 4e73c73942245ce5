// Elements of the page. All external text is set as text, never as HTML.

/** The element with an id. */
export const byId = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

/**
 * Creates an element with properties and children.
 *
 * @example
 * ```ts
 * createElement('a', { href: '/docs' }, 'Documentation');
 * ```
 */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Creates an SVG element with attributes and children. */
export function createSvg(name: string, attributes: Record<string, string | number>, ...content: Node[]): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...content);
  return element;
}

/** Copies a text, and shows the result on the button for a moment. */
export async function copyWithFeedback(button: HTMLElement, text: string): Promise<void> {
  const label = button.textContent;
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not allowed',
  );
  setTimeout(() => {
    button.textContent = label;
  }, 1500);
}
