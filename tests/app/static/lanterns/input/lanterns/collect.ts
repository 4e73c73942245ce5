// Reads the Almanac: an array of lanterns.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector, type Value } from 'dataset-register/pack';

type Lantern = { name: string; town: string } & Record<string, Value>;

export default defineCollector({
  async *read({ folder, version }) {
    for (const lantern of JSON.parse(await readFile(join(folder, 'lanterns.json'), 'utf8')) as Lantern[]) {
      const { name, town } = lantern;
      const source_url = `https://almanac.example/${version}/${encodeURIComponent(town)}`;
      yield { identity: { name, town }, values: lantern, source_url, evidence: `${name}, ${town}` };
    }
  },
});
