// /openapi.json of the real packs: no problem for a strict linter, and clients of two generators that compile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileClients, lintProblems } from '../support/openapi-programs.ts';
import { type LiveServer, startServer } from './serve.ts';

let server: LiveServer;
let folder: string;
let document: { paths: object };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  server = await startServer();
  document = (await (await server.ask('/openapi.json')).json()) as typeof document;
});
afterAll(() => {
  server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('is valid for the linter and the compiler', async () => {
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v1/airports/changelog', '/docs']));
  expect(lintProblems(document, folder)).toEqual([]);
  await compileClients(document, folder);
});
