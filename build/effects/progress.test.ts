// Output for people: a progress bar on a terminal, lines elsewhere.
import { expect, test } from 'vitest';
import { showProgress } from './progress.ts';

function screen(columns?: number) {
  let now = 0;
  const written: string[] = [];
  const progress = showProgress({ write: (text) => void written.push(text), columns, ticks: () => now });
  const wait = (ms: number) => {
    now += ms;
  };
  return { progress, written, wait };
}

test('lines: steps and notes at once, progress every five seconds', () => {
  const { progress, written, wait } = screen();
  progress.step('tools', 'collect');
  progress.at(1, 10, 'records');
  wait(4999);
  progress.at(5, 10, 'records');
  wait(1);
  progress.at(12_345, null, 'facts');
  progress.note('done');
  progress.warn('late');
  progress.end();
  expect(written).toEqual(['tools: collect\n', 'tools: collect: 12,345 facts\n', 'done\n', '! late\n']);
});

test('a terminal: one line that redraws within its width and is cleared before notes', () => {
  const { progress, written, wait } = screen(60);
  progress.step('tools', 'collect');
  wait(100);
  progress.at(5, 10, 'records');
  progress.at(6, 10, 'records');
  progress.note('done');
  const clear = '\r\u001b[2K';
  expect(written).toEqual([
    `${clear}tools: collect`,
    `${clear}tools: collect [############............] 5 of 10 records`,
    clear,
    'done\n',
  ]);
  wait(100);
  progress.at(1, 2, 'x'.repeat(100));
  expect(written.at(-1)).toHaveLength(clear.length + 59);
  progress.end();
  expect(written.at(-1)).toBe(clear);
});
