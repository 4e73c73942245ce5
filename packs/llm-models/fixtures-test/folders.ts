// Writes the hand-written inputs as unpacked packages for the collector.
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CollectContext, Reading } from '../../define/model.ts';
import { PACKAGES } from '../pins.ts';

const fixture = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');

/** A model that only the oldest version of genai-prices lists. */
const GONE = 'const E = [{ id: "example-ai", models: [{ id: "orion-old", prices: { input_mtok: 4 } }] }];';

const OLDEST = { 'genai-prices': '0.0.22', 'pi-ai': '0.84.0', tokenlens: '1.3.0' };

async function filesOf(source: keyof typeof PACKAGES, version: string): Promise<Record<string, string>> {
  const name = JSON.stringify({ name: PACKAGES[source], version });
  if (source === 'genai-prices') {
    const text = version === OLDEST[source] ? GONE : await fixture('genai-prices.js.txt');
    return { 'package.json': name, 'dist/index.js': text };
  }
  if (source === 'tokenlens') {
    return { 'package.json': name, 'dist/providers/example-ai.js': await fixture('tokenlens.js.txt') };
  }
  const models = await fixture(version === OLDEST[source] ? 'pi-ai-0.84.0.json' : 'pi-ai-1.5.2.json');
  return {
    'package.json': name,
    'dist/providers/data/.manifest.json': '{"schemaVersion":6,"generatedAt":"2026-11-10T12:05:37.628Z","files":{}}',
    'dist/providers/data/example-ai.json': models,
  };
}

/** Readings of the fixtures and their context. `logged` collects log lines. */
export async function readings() {
  const root = await mkdtemp(join(tmpdir(), 'llm-models-'));
  const logged: string[] = [];
  const unpack = async (source: keyof typeof PACKAGES, version: string): Promise<string> => {
    const folder = join(root, source, version);
    for (const [file, text] of Object.entries(await filesOf(source, version))) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    return folder;
  };
  const sourceOf = (pkg: string) =>
    (Object.keys(PACKAGES) as (keyof typeof PACKAGES)[]).find((id) => PACKAGES[id] === pkg)!;
  const context: CollectContext = {
    folder: (pkg, version) => unpack(sourceOf(pkg), version),
    log: (message) => void logged.push(message),
  };
  const reading = async (
    source: keyof typeof PACKAGES,
    version: string,
    observed_at = '2026-09-23T10:11:04Z',
  ): Promise<Reading> => ({
    source,
    package: PACKAGES[source],
    version,
    observed_at,
    date_source: 'tag',
    folder: await unpack(source, version),
  });
  return { context, reading, logged, root };
}
