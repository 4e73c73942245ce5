// The output folder: which files are written, kept and deleted, and recovery after a killed run.
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { Output, writePublicFile } from './output.ts';

let root: string;
beforeEach(() => {
  root = scratch();
});

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const there = (path: string) => existsSync(join(root, path));
/** A timestamp that changes with every write, also of the same bytes. */
const stamp = (path: string) => statSync(join(root, path), { bigint: true }).ctimeNs;

/** A complete run that makes the folder contain exactly these files. */
function run(files: Record<string, string>) {
  const output = new Output(root);
  for (const [path, content] of Object.entries(files)) output.write(path, content);
  return output.finish();
}

/** The state after a killed run: changed files, the old manifest, the marker. */
function killed(files: Record<string, string>) {
  const output = new Output(root);
  for (const [path, content] of Object.entries(files)) output.write(path, content);
}

describe('a complete run', () => {
  test('writes new files, keeps equal ones, deletes removed ones', () => {
    expect(run({ 'v1/a': '1', 'v1/b': '2', 'datasets/x/r.md': '3' })).toEqual({ written: 3, unchanged: 0, deleted: 0 });
    const before = [stamp('v1/a'), stamp('v1/b')];
    expect(run({ 'v1/a': '1', 'v1/b': 'two' })).toEqual({ written: 1, unchanged: 1, deleted: 1 });
    expect(stamp('v1/a')).toBe(before[0]);
    expect(stamp('v1/b')).not.toBe(before[1]);
    expect(read('v1/b')).toBe('two');
    expect(readdirSync(root).sort()).toEqual(['.build', 'v1']);
  });

  test('a repeated run touches nothing, its own notes included', () => {
    run({ 'index.html': 'a', 'v1/b': 'b' });
    const before = ['index.html', 'v1/b', '.build', '.build/manifest.tsv'].map(stamp);
    expect(run({ 'index.html': 'a', 'v1/b': 'b' })).toEqual({ written: 0, unchanged: 2, deleted: 0 });
    expect(['index.html', 'v1/b', '.build', '.build/manifest.tsv'].map(stamp)).toEqual(before);
  });

  test('a folder deleted during the run is made again', () => {
    const output = new Output(root);
    output.write('v1/a', '1');
    rmSync(root, { recursive: true });
    output.write('datasets/x/r.md', '2');
    expect(read('datasets/x/r.md')).toBe('2');
  });

  test('a file deleted by hand is written again', () => {
    run({ 'v1/a': '1', 'v1/b': '2' });
    rmSync(join(root, 'v1/a'));
    expect(run({ 'v1/a': '1', 'v1/b': '2' })).toEqual({ written: 1, unchanged: 1, deleted: 0 });
    expect(read('v1/a')).toBe('1');
  });

  test('foreign files are never deleted', () => {
    mkdirSync(join(root, 'v1'), { recursive: true });
    writeFileSync(join(root, 'CNAME'), 'example.org');
    run({ 'v1/a': '1' });
    writeFileSync(join(root, 'v1/theirs'), 'x');
    run({ 'v1/a': '2' });
    expect([there('CNAME'), there('v1/theirs')]).toEqual([true, true]);
  });
});

describe('keys', () => {
  test('a file with an unchanged key is kept without its content', () => {
    const first = new Output(root);
    first.write('datasets/x/r.md', 'text', 'v1.t1');
    first.finish();
    const second = new Output(root);
    expect(second.keep('datasets/x/r.md', 'v2.t1')).toBe(false);
    expect(second.keep('datasets/x/r.md', 'v1.t1')).toBe(true);
    expect(second.finish()).toEqual({ written: 0, unchanged: 1, deleted: 0 });
    expect(read('datasets/x/r.md')).toBe('text');
  });

  test('all files of a key are kept together, or none of them', () => {
    const first = new Output(root);
    first.write('v1/x/a', 'a', 'answers');
    first.write('v1/x/b', 'b', 'answers');
    first.finish();
    expect(new Output(root).keepAll('answers')).toBe(true);
    expect(new Output(root).keepAll('other')).toBe(false);
    rmSync(join(root, 'v1/x/b'));
    expect(new Output(root).keepAll('answers')).toBe(false);
  });

  test('files of a folder are kept together by the end of their keys, or none of them', () => {
    const first = new Output(root);
    for (const name of ['a', 'b']) first.write(`datasets/x/${name}.md`, name, `${name}.code`);
    first.write('datasets/x/index.html', 'page', 'site.other');
    first.write('datasets/x/a/deep.md', 'deep', 'c.code');
    first.finish();
    expect(new Output(root).keepFolder('datasets/x', '.code', 3)).toBe(false);
    expect(new Output(root).keepFolder('datasets/x', '.new', 2)).toBe(false);
    const second = new Output(root);
    expect(second.keepFolder('datasets/x', '.code', 2)).toBe(true);
    expect([...second.files.keys()]).toEqual(['datasets/x/a.md', 'datasets/x/b.md']);
    expect(second.counts.unchanged).toBe(2);
    rmSync(join(root, 'datasets/x/b.md'));
    expect(new Output(root).keepFolder('datasets/x', '.code', 2)).toBe(false);
  });

  test('keepOld keeps files that were not made', () => {
    const first = new Output(root);
    for (const path of ['v1/x/a', 'v1/y/a']) first.write(path, 'a');
    first.finish();
    const second = new Output(root);
    second.keepOld((_entry, path) => path.startsWith('v1/x/'));
    expect(second.finish().deleted).toBe(1);
    expect([there('v1/x/a'), there('v1/y/a')]).toEqual([true, false]);
  });
});

describe('a streamed file', () => {
  const stream = (pieces: string[]) => {
    const output = new Output(root);
    const file = output.stream('v1/x/llms-full.txt', 'k');
    for (const piece of pieces) file.write(piece);
    file.end();
    return output.finish();
  };

  test('replaces the old one at its end, and only if it differs', () => {
    expect(stream(['ä', 'b'])).toEqual({ written: 1, unchanged: 0, deleted: 0 });
    expect(read('v1/x/llms-full.txt')).toBe('äb');
    const before = stamp('v1/x/llms-full.txt');
    expect(stream(['äb'])).toEqual({ written: 0, unchanged: 1, deleted: 0 });
    expect(stamp('v1/x/llms-full.txt')).toBe(before);
  });
});

describe('after a killed run', () => {
  test('its files are compared and corrected, unlisted ones are deleted', () => {
    run({ 'v1/a': 'old', 'v1/b': 'b', 'datasets/x/r.md': 'r' });
    killed({ 'v1/a': 'new', 'datasets/x/orphan.md': 'o' });
    writeFileSync(join(root, 'v1/b'), 'half of');
    expect(there('.build/unfinished')).toBe(true);
    const keeps = new Output(root);
    expect(keeps.keep('v1/a', '')).toBe(false);
    expect(run({ 'v1/a': 'old', 'v1/b': 'b', 'datasets/x/r.md': 'r' })).toEqual({
      written: 2,
      unchanged: 1,
      deleted: 1,
    });
    expect([read('v1/a'), read('v1/b'), there('datasets/x/orphan.md')]).toEqual(['old', 'b', false]);
    expect(there('.build/unfinished')).toBe(false);
  });

  test('without notes the files on disk are compared, and equal ones stay', () => {
    run({ 'v1/a': 'a', 'v1/b': 'b' });
    rmSync(join(root, '.build'), { recursive: true });
    expect(run({ 'v1/a': 'a' })).toEqual({ written: 0, unchanged: 1, deleted: 1 });
  });
});

test('threads may write to a folder that the run made, after the marker of an unfinished run', () => {
  const output = new Output(root);
  const folder = output.freshFolder('datasets/x');
  expect([folder, there('.build/unfinished')]).toEqual([join(root, 'datasets/x'), true]);
  writePublicFile(join(folder!, 'a.md'), 'a');
  expect(statSync(join(folder!, 'a.md')).mode & 0o777).toBe(PUBLIC_MODES.file);
  output.add('datasets/x/a.md', { bytes: 1, sha256: hash('sha256', 'a', 'hex'), key: 'k' });
  expect(output.finish()).toEqual({ written: 1, unchanged: 0, deleted: 0 });
  const second = new Output(root);
  expect(second.freshFolder('datasets/x')).toBeNull();
  expect(second.keep('datasets/x/a.md', 'k')).toBe(true);
});

test('files in a new folder are written without renames', () => {
  const output = new Output(root);
  output.write('datasets/one/first/index.html', 'first');
  const renames = stamp('.build/tmp');
  output.write('datasets/one/second.md', 'second');
  output.write('datasets/third.md', 'third');
  expect(stamp('.build/tmp')).toBe(renames);
  // A folder that existed before may have readers.
  output.write('top.md', 'top');
  expect(stamp('.build/tmp')).not.toBe(renames);
  output.finish();
  expect(['datasets/one/second.md', 'datasets/third.md', 'top.md'].map(read)).toEqual(['second', 'third', 'top']);
});
