// The HTML dialect of all pages and mails: the `html` tag of hono, which escapes every value put into it.
import { html as tag } from 'hono/html';
import { type HtmlEscapedString, raw } from 'hono/utils/html';

export { raw };

/**
 * HTML whose values are escaped. It is a String object, not a primitive: pass it on to `html`, and convert a
 * complete page with `String()`.
 */
export type Html = HtmlEscapedString;

/** A value of a template. Text is escaped, arrays are joined, booleans and null print nothing. */
type HtmlValue = Html | string | number | boolean | null | undefined | readonly HtmlValue[];

/**
 * The tag: html`<b>${'<i>'}</b>` is `<b>&lt;i&gt;</b>`. hono returns a promise only for values that have one.
 *
 * @example
 * ```ts
 * html`<td>${record.name}</td>`; // escapes the name
 * ```
 */
export const html = tag as (strings: TemplateStringsArray, ...values: HtmlValue[]) => Html;

/** Pieces with a separator of our own between them. */
export const joinHtml = (pieces: readonly Html[], separator = '\n'): Html => raw(pieces.join(separator));
