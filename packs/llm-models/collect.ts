// Collects AI model prices with the reader of each source. Packages are parsed as files and never run.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector, z } from 'dataset-register/pack';
import { genaiPageAt, readGenai } from './genai.ts';
import { devUpdatedAt } from './models-dev.ts';
import { piGeneratedAt, readPi } from './pi-ai.ts';
import { PACKAGES } from './pins.ts';
import { withProminence } from './prominence.ts';
import { readTokenlens } from './tokenlens.ts';

export default defineCollector({
  read(reading, context) {
    if (reading.source === 'tokenlens') return readTokenlens(reading, context);
    const records = reading.source === 'pi-ai' ? readPi(reading) : readGenai(reading, context);
    return withProminence(records, reading, context);
  },

  /** genai-prices has public tags for some versions only; the address of pi-ai contains its version. */
  confirmedUrl(url, { source, to }) {
    if (source !== 'genai-prices') return undefined;
    return genaiPageAt(url, to);
  },

  /** genai-prices contains no date, so the registry's is used. */
  async observedAt(folder) {
    const { name } = z
      .object({ name: z.string() })
      .parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
    if (name === PACKAGES['pi-ai']) return piGeneratedAt(folder);
    return name === PACKAGES.tokenlens ? devUpdatedAt(folder) : null;
  },
});
