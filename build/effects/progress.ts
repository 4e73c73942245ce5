// Progress of the nightly run: a bar that redraws on a terminal, plain lines elsewhere.

export interface Progress {
  /** Begins a step of a dataset, such as `llm-models`, `collect`. */
  step: (dataset: string, step: string) => void;
  /**
   * Progress of the step: `done` of `total` (null: unknown) records, facts, pages… Shown a few times a second
   * at most.
   */
  at: (done: number, total: number | null, unit: string) => void;
  /** Prints a permanent line. */
  note: (text: string) => void;
  /** Prints a permanent line about a failure. */
  warn: (text: string) => void;
  /** Clears the unfinished bar. */
  end: () => void;
}

/** Output and its width; `columns` undefined: not a terminal. */
export interface Screen {
  write: (text: string) => void;
  /** Output of warnings; `write` unless set. */
  writeError?: (text: string) => void;
  columns?: number | undefined;
  /** Milliseconds of a monotonic clock, for the interval of redraws. */
  ticks: () => number;
}

const BAR = 24;
const count = (n: number) => n.toLocaleString('en-US');

/** Milliseconds between two updates: a terminal redraws, a log keeps every line. */
const EVERY = { terminal: 100, lines: 5000 };

/** Progress on a screen. */
export function showProgress(screen: Screen): Progress {
  const terminal = screen.columns !== undefined;
  let title = '';
  let shown = screen.ticks();
  let drawn = false;
  const clear = () => {
    if (drawn) screen.write('\r\u001b[2K');
    drawn = false;
  };
  const line = (text: string) => {
    clear();
    screen.write(`${text}\n`);
  };
  const draw = (text: string) => {
    screen.write(`\r\u001b[2K${text.slice(0, (screen.columns ?? 80) - 1)}`);
    drawn = true;
  };
  return {
    step(dataset, step) {
      title = `${dataset}: ${step}`;
      shown = screen.ticks();
      if (terminal) draw(title);
      else line(title);
    },
    at(done, total, unit) {
      const now = screen.ticks();
      if (now - shown < (terminal ? EVERY.terminal : EVERY.lines)) return;
      shown = now;
      const position = total === null ? `${count(done)} ${unit}` : `${count(done)} of ${count(total)} ${unit}`;
      if (!terminal) return line(`${title}: ${position}`);
      const filled = total ? Math.round(Math.min(1, done / total) * BAR) : 0;
      const bar = total ? `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ` : '';
      draw(`${title} ${bar}${position}`);
    },
    note: line,
    warn(text) {
      clear();
      (screen.writeError ?? screen.write)(`! ${text}\n`);
    },
    end: clear,
  };
}

/** Shows nothing; for tests and for `--if-missing` with nothing to do. */
export const silentProgress: Progress = { step() {}, at() {}, note() {}, warn() {}, end() {} };
