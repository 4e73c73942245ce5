// GET /v1/{ds}/export: a signed link to a file with every record and value of the current release.

import { z } from 'zod';
import { EXPORT_FORMATS, type ExportFormat, exportParameters } from '../../../data/input/history-parameters.ts';
import { DataError } from '../../../data/model/errors.ts';
import { isoTime } from '../../../data/model/time.ts';
import { snapshotOf, WITHHELD_MESSAGE } from '../../../data/releases/export.ts';
import { operation } from '../../contract/operation.ts';
import { bareUrl, blocks, escapeText } from '../../render/markdown.ts';
import { aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, address, count, time } from '../common/outputs.ts';

const output = () =>
  z.object({
    format: z.enum(EXPORT_FORMATS),
    snapshot: z.string().describe('Release that the file is of'),
    url: address('The file; works without a header'),
    expires_at: time('Until then'),
    bytes: count('Size of the file'),
    sha256: z.string(),
    ...ABOUT_OUTPUT,
  });
type Export = z.infer<ReturnType<typeof output>>;

export const dataset_export = operation<{ format: ExportFormat }, Export>({
  name: 'dataset_export',
  title: 'Download a whole dataset',
  description:
    'A link to a file with every record and value, as of the last night: csv, jsonl or parquet. It works for an hour, needs no header and serves ranges.',
  rest: { method: 'GET', path: '/v1/:ds/export' },
  charge: { access: 'plan' },
  tool: {},
  docs: { group: 'dataset', tasks: [{ want: 'a file with every record and value', query: 'format={format}' }] },
  formats: ['json', 'markdown'],
  own_format: true,
  ...inputOf(exportParameters),
  output,
  run: async ({ format }, ctx) => {
    const { pack, manifest, withheld } = releaseOf(ctx);
    if (withheld) throw new DataError('unavailable', WITHHELD_MESSAGE);
    const { exports } = ctx.service ?? {};
    if (!exports) throw new DataError('unavailable', 'Exports are not offered here.');
    const { path, expires_at } = exports.link(pack.id, manifest.release, format, ctx.now);
    const body: Export = {
      format,
      snapshot: manifest.release,
      url: `${ctx.base_url}${path}`,
      expires_at: isoTime(expires_at.getTime()),
      ...snapshotOf(manifest, format),
      ...aboutDataset(pack, ctx.base_url),
    };
    return { body };
  },
  markdown: ({ format, snapshot, url, expires_at, bytes, sha256, attribution, license }) =>
    blocks(
      `Snapshot ${snapshot} as ${format}, ${bytes} bytes: ${bareUrl(url).text}`,
      `Works until ${expires_at}, without a header, also in ranges. SHA-256: ${sha256}`,
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    ),
});
