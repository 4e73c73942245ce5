// Calls of the npm client, recorded by a fake `npm`.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { scratch } from '../../tests/support/night-pack.ts';
import { npmClient } from './npm.ts';

/**
 * Puts a fake `npm` first in PATH that prints a text and exits with a code; returns a function that reads its
 * arguments.
 */
function standIn(stdout: string, { code = 0, stderr = '' } = {}): () => { args: string[]; cwd: string } {
  const folder = scratch();
  const script = join(folder, 'npm');
  const note = join(folder, 'asked.json');
  const program = [
    `require('node:fs').writeFileSync(${JSON.stringify(note)}, JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd() }));`,
    `process.stdout.write(${JSON.stringify(stdout)});`,
    `process.stderr.write(${JSON.stringify(stderr)});`,
    `process.exitCode = ${code};`,
  ];
  writeFileSync(script, `#!${process.execPath}\n${program.join('\n')}\n`);
  chmodSync(script, 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH']}`);
  return () => JSON.parse(readFileSync(note, 'utf8')) as { args: string[]; cwd: string };
}

beforeEach((context) => {
  if (process.platform === 'win32') context.skip('the stand-in is a shell script');
});

test('pack: downloads, runs no scripts, and runs outside of any project', async () => {
  const asked = standIn(JSON.stringify([{ filename: '@some/data-1.0.0.tgz' }]));
  expect(await npmClient().pack('@some/data', '1.0.0', '/into')).toBe('/into/some-data-1.0.0.tgz');
  const { args, cwd } = asked();
  expect(args.slice(0, 2)).toEqual(['pack', '@some/data@1.0.0']);
  expect(args).toEqual(expect.arrayContaining(['--json', '--ignore-scripts', '--pack-destination', '/into']));
  expect(cwd).not.toBe(process.cwd());
});

test('pack: newer clients return an object by name', async () => {
  standIn(JSON.stringify({ 'some-data': { filename: 'some-data-1.0.0.tgz' } }));
  expect(await npmClient().pack('some-data', '1.0.0', '/into')).toBe('/into/some-data-1.0.0.tgz');
});

test('newest: version, integrity and its own time', async () => {
  const time = { created: '2020-01-01', '1.0.0': '2021-01-01T00:00:00Z', '2.0.0': '2022-01-01T00:00:00Z' };
  const asked = standIn(JSON.stringify({ version: '2.0.0', 'dist.integrity': 'sha512-x', time }));
  const found = await npmClient().newest('some-data');
  expect(found).toEqual({ version: '2.0.0', integrity: 'sha512-x', published: '2022-01-01T00:00:00Z' });
  expect(asked().args.slice(0, 2)).toEqual(['view', 'some-data']);
});

test('newest: a registry without publication times', async () => {
  standIn(JSON.stringify({ version: '2.0.0', 'dist.integrity': 'sha512-x' }));
  expect((await npmClient().newest('some-data')).published).toBe(null);
});

test('reports the error of npm in one line', async () => {
  standIn(JSON.stringify({ error: { code: 'E404', summary: 'Not Found\nmore' } }), { code: 1 });
  await expect(npmClient().newest('some-data')).rejects.toThrow(/^npm: E404 Not Found$/);
  standIn('', { code: 1, stderr: 'npm error code ENOTFOUND\nnpm error network getaddrinfo ENOTFOUND\n' });
  await expect(npmClient().newest('some-data')).rejects.toThrow(/^npm error network getaddrinfo ENOTFOUND$/);
});

test('invalid names and versions never reach a command', async () => {
  for (const name of ['../x', '--registry=http://evil', 'a b', 'a;b', '@a/b/c', ''])
    await expect(npmClient().newest(name)).rejects.toThrow('is not the name of an npm package');
  for (const version of ['latest', '^1.0.0', '1.0', '1.0.0 && x', '--x'])
    await expect(npmClient().pack('a', version, '/into')).rejects.toThrow('is not an exact version');
});
