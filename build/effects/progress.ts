// What the nightly run shows of its work: a bar that redraws itself on a terminal, plain lines anywhere else.

export interface Progress {
  /** Begins a step of a dataset, such as `llm-models`, `collect`. */
  step: (dataset: string, step: string) => void;
  /** How far the step is: `done` of `total` (null: nobody knows) records, facts, pages… Shown a few times a second at most. */
  at: (done: number, total: number | null, unit: string) => void;
  /** A line that stays. */
  note: (text: string) => void;
  /** A line that stays and tells of a failure. */
  warn: (text: string) => void;
  /** Clears what is unfinished on the screen. */
  end: () => void;
}

/** Where the lines go, and how wide the place is; `columns` undefined: not a terminal. */
export interface Screen {
  write: (text: string) => void;
  columns?: number | undefined;
  /** Milliseconds of a clock that only orders redraws. */
  ticks: () => number;
}

const BAR = 24;
const count = (n: number) => n.toLocaleString('en-US');

/** Milliseconds between two showings of `at`: a terminal redraws, a log keeps every line. */
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
      const told = total === null ? `${count(done)} ${unit}` : `${count(done)} of ${count(total)} ${unit}`;
      if (!terminal) return line(`${title}: ${told}`);
      const filled = total ? Math.round(Math.min(1, done / total) * BAR) : 0;
      const bar = total ? `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ` : '';
      draw(`${title} ${bar}${told}`);
    },
    note: line,
    warn: (text) => line(`! ${text}`),
    end: clear,
  };
}

/** Shows nothing; for tests and for `--if-missing` with nothing to do. */
export const silent: Progress = { step() {}, at() {}, note() {}, warn() {}, end() {} };
