// The tables of the documents match the results of the bench, and missed goals are marked.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Load } from './load.ts';
import { readWrk } from './load.ts';
import { DOCUMENTS, fillIn, renderPart } from './report.ts';
import { readResults } from './results.ts';

test.each(DOCUMENTS)('%s contains the tables of bench/results.json', (path) => {
  const document = readFileSync(path, 'utf8');
  expect(document).toContain('<!-- bench: ');
  expect(fillIn(document, readResults()), 'run `npm run bench -- report`').toBe(document);
});

const load = (rps: number): Load => ({ rps, p50: 1, p99: 2, bad: 0 });
const circumstances = { at: '2026-11-20T00:00:00Z', machine: 'm', load: 0, seconds: 1, rounds: 3 };

test('processor time beyond its budget is bold, less is not', () => {
  const row = { id: 'get', name: 'get', connections: 16, bytes: 1, agreed: {} };
  const loads = { service: { ...load(50), cpu: 700 }, bare: load(100), sqlite: load(25) };
  const rows = [
    { ...row, loads },
    { ...row, name: 'quick', loads: { ...loads, service: { ...load(50), cpu: 600 } } },
  ];
  const text = renderPart('questions', { ...circumstances, data: { dataset: 'd', records: 1, rows } });
  expect(text).toContain('| get | 50 | 1.00 | 2.00 | 0.50 | 2.00 |  | **0.70** (≤ 0.66) |');
  expect(text).toContain('| quick | 50 | 1.00 | 2.00 | 0.50 | 2.00 |  | 0.60 (≤ 0.66) |');
});

test('processor time of a call is a multiple of the peers', () => {
  const row = { id: 'get', name: 'get', connections: 16, bytes: 1, agreed: {} };
  const loads = {
    service: { ...load(50), cpu: 90 },
    bare: { ...load(100), cpu: 30 },
    sqlite: { ...load(70), cpu: 45 },
  };
  const text = renderPart('questions', {
    ...circumstances,
    data: { dataset: 'd', records: 1, rows: [{ ...row, loads }] },
  });
  expect(text).toContain('| 0.09 (≤ 0.66) | 3.00 | 2.00 |');
});

test('different answers are reported', () => {
  const agreed = {
    sqlite: { compared: 40, equal: 39 },
    duckdb: { compared: 40, equal: 3, differs: 'ranks otherwise' },
  };
  const row = { id: 'x', name: 'x', connections: 16, bytes: 1, agreed, loads: { service: load(1), sqlite: load(1) } };
  const text = renderPart('questions', { ...circumstances, data: { dataset: 'd', records: 1, rows: [row] } });
  expect(text).toContain('sqlite 39 of 40; duckdb 3 of 40: ranks otherwise');
});

test('the output of wrk is parsed in milliseconds', () => {
  // A share with the same last digits precedes the parsed line.
  const printed = `    Latency     1.10ms    1.20ms  20.00ms   98.50%
    Req/Sec     2.21k   120.00     2.50k    81.99%
  Latency Distribution
     50%  812.00us
     75%    1.10ms
     99%    1.34s
  2210 requests in 1.00s, 9.3MB read
  Non-2xx or 3xx responses: 7
Requests/sec:   2209.71
`;
  expect(readWrk(printed)).toEqual({ rps: 2209.71, p50: 0.812, p99: 1340, bad: 7 });
});

test('a row beyond a bound of the event-loop delay is marked', () => {
  const row = { rps: 5, first: 1, runs: 1, bad: 0 };
  const rows = [
    { ...row, name: 'quick', cpu: 1234.5, delay: { p50: 1, p99: 20, max: 100 } },
    { ...row, name: 'slow', delay: { p50: 1, p99: 21, max: 99 }, runs: 3 },
  ];
  const data = { dataset: 'd', records: 1, seconds: 1, rows, skipped: ['none (404)'], texts: [] };
  const text = renderPart('stalls', { ...circumstances, data });
  expect(text).toContain('| quick | 5.0 | 1,235 | 20.0 | 100 | 1.00 | yes |');
  expect(text).toContain('| slow | 5.0 |  | **21.0** | 99.0 | 1.00 | **no** | 3 |');
  expect(text).toContain('Not measured: none (404).');
  expect(text).toContain('1 s a run at 4 connections');
  expect(text).not.toContain('misspelt');
  const misspelt = { searches: 3, turns: [1, 2, 51], worst: '/v1/d?q=x', healthz: { aSecond: 20, p50: 5, max: 99 } };
  const more = renderPart('stalls', { ...circumstances, data: { ...data, misspelt } });
  expect(more).toContain('| longest turn of all, processor ms | **51.0** | 50.0 |');
  expect(more).toContain('| the same, longest ms | 99.0 | 100 |');
});
