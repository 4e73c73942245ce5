// The editor of the console: a text area, which becomes CodeMirror at its first focus. Without it, the text
// area remains.
import type { EditorTable, TextEditor } from './names.ts';

/** Opens the editor over a text area. `onRun` is called by Ctrl+Enter. */
export function openEditor(area: HTMLTextAreaElement, tables: readonly EditorTable[], onRun: () => void): TextEditor {
  const plain: TextEditor = {
    get text() {
      return area.value;
    },
    set text(text) {
      area.value = text;
    },
    insert: (text) => {
      area.focus();
      area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
    },
    focus: () => area.focus(),
  };
  let editor = plain;
  area.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onRun();
  });
  area.addEventListener(
    'focus',
    async () => {
      try {
        const { openCodeMirror } = await import('./codemirror.ts');
        editor = openCodeMirror(area, tables, onRun);
      } catch {
        // Offline, or a browser without the required features: the text area works without it.
      }
    },
    { once: true },
  );
  return {
    get text() {
      return editor.text;
    },
    set text(text) {
      editor.text = text;
    },
    insert: (text) => editor.insert(text),
    focus: () => editor.focus(),
  };
}
