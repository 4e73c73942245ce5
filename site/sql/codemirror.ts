// CodeMirror for SQL, in a shadow root: there it adds its styles as constructed sheets, which the page's policy
// allows; in the document it would add style elements, which the policy blocks.
import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  ifNotIn,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { keywordCompletionSource, SQLDialect, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { ALLOWED_FUNCTIONS } from '../../data/sql/check.ts';
import { writtenName } from '../../data/write/sql-names.ts';
import type { EditorTable, TextEditor } from './names.ts';
import { KEYWORDS, TYPES } from './words.ts';

/** Without operators. */
const NAMED_FUNCTIONS = [...ALLOWED_FUNCTIONS].filter((name) => /^[a-z]\w*$/.test(name));
const WORDS = { keywords: KEYWORDS.join(' '), types: TYPES.join(' ') };
const DUCKDB = SQLDialect.define({
  ...WORDS,
  builtin: NAMED_FUNCTIONS.join(' '),
  operatorChars: '*+-%<>!=~/&|^:@',
  doubleDollarQuotedStrings: true,
  caseInsensitiveIdentifiers: true,
});

/** Colours of the page, which follow its light and dark scheme. */
const COLORS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--paid)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--sql-number)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.standard(tags.name), tags.typeName], color: 'var(--sql-function)' },
]);

const LOOK = EditorView.theme({
  '&': {
    minHeight: '9rem',
    maxHeight: '60vh',
    border: '1px solid var(--edge-line)',
    borderRadius: '6px',
    background: 'var(--sheet)',
    color: 'var(--ink)',
    fontSize: '0.95rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { minHeight: '8.9rem', overflow: 'auto', fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { padding: '0.8rem 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 1rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--sql-selection)',
  },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)', outline: '1px solid var(--rule)' },
  '.cm-tooltip': { border: '1px solid var(--edge-line)', background: 'var(--sheet)', color: 'var(--ink)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { maxWidth: 'min(34rem, 88vw)', fontFamily: 'var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.15rem 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { marginLeft: '0.8em', color: 'inherit', fontStyle: 'normal', fontSize: '0.85em' },
  '.cm-completionInfo': { maxWidth: '20rem', padding: '0.4rem 0.6rem', fontFamily: 'var(--sans)', fontSize: '0.85rem' },
});

/** Replaces the text area by CodeMirror, with its text, selection and focus. */
export function openCodeMirror(
  area: HTMLTextAreaElement,
  tables: readonly EditorTable[],
  onRun: () => void,
): TextEditor {
  const host = document.createElement('div');
  host.className = 'sql-editor';
  const root = host.attachShadow({ mode: 'open' });
  const run = () => {
    onRun();
    return true;
  };
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: area.value,
      selection: { anchor: area.selectionStart, head: area.selectionEnd },
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
        // Tab completes a word while suggestions are open, and otherwise leaves the editor.
        keymap.of([{ key: 'Tab', run: acceptCompletion }]),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        history(),
        highlightSpecialChars(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        sql({ dialect: DUCKDB }),
        autocompletion({
          override: [ownNames(tables), keywordCompletionSource(SQLDialect.define(WORDS), true)],
          icons: false,
        }),
        syntaxHighlighting(COLORS),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Query', spellcheck: 'false', autocapitalize: 'off' }),
        LOOK,
      ],
    }),
  });
  const focused = document.activeElement === area;
  area.after(host);
  area.hidden = true;
  if (focused) view.focus();
  document.querySelector(`label[for="${area.id}"]`)?.addEventListener('click', () => view.focus());
  const replace = (from: number, to: number, text: string) =>
    view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length } });
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(text) {
      replace(0, view.state.doc.length, text);
    },
    insert: (text) => {
      const { from, to } = view.state.selection.main;
      replace(from, to, text);
      view.focus();
    },
    focus: () => view.focus(),
  };
}

/** Completes names of tables, of the columns of the tables in the query, and of functions. */
function ownNames(tables: readonly EditorTable[]) {
  const tableNames: Completion[] = tables.map(({ name }) => ({
    label: name,
    type: 'table',
    detail: 'table',
    boost: 2,
  }));
  const functions: Completion[] = NAMED_FUNCTIONS.map((name) => ({
    label: name,
    type: 'function',
    detail: '()',
    apply: (view, _completion, from, to) =>
      view.dispatch({ changes: { from, to, insert: `${name}()` }, selection: { anchor: from + name.length + 1 } }),
  }));
  const columns = new Map(tables.map((table) => [table.name, table.columns.map(columnCompletion)]));
  const source = (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/"?[\w.]*$/);
    if (word === null || (word.text === '' && !context.explicit)) return null;
    // A number is no name.
    if (/^"?\d/.test(word.text)) return null;
    const query = context.state.doc.toString();
    const named = tables.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(query));
    const completions = (named.length > 0 ? named : tables.slice(0, 1)).flatMap(({ name }) => columns.get(name) ?? []);
    const distinct = [...new Map(completions.map((completion) => [completion.label, completion])).values()];
    // After the name of a table and a dot, and in quotes, only columns follow.
    const qualified = /^\w+\.(?=\w*$)/.exec(word.text);
    if (qualified !== null && !distinct.some(({ label }) => label.startsWith(word.text)))
      return { from: word.from + qualified[0].length, options: distinct, validFor: /^\w*$/ };
    if (word.text.startsWith('"')) return { from: word.from, options: distinct.map(quoted), validFor: /^"[\w.]*$/ };
    return { from: word.from, options: [...tableNames, ...distinct, ...functions], validFor: /^[\w.]*$/ };
  };
  return ifNotIn(['String', 'LineComment', 'BlockComment'], source);
}

function columnCompletion({ name, type, description }: EditorTable['columns'][number]): Completion {
  return { label: name, apply: writtenName(name), type: 'property', detail: type, info: description, boost: 3 };
}

const quoted = (column: Completion): Completion => ({
  ...column,
  label: `"${column.label}"`,
  apply: `"${column.label}"`,
});
