// Addresses and citations of contract section 2.
import { expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { attributionFor, datasetAttribution, licenseText, recordUrl } from './links.ts';
import { loadPack } from './load.ts';

verifies('record.url', 'record.attribution-url');

const BASE = 'https://register.example';

test('the citation of a record ends with its page', async () => {
  const pack = await loadPack('tests/packs/tools');
  expect(recordUrl(BASE, 'tools', 'nordwerk-fs-210')).toBe(`${BASE}/datasets/tools/nordwerk-fs-210`);
  expect(attributionFor(pack, BASE, 'nordwerk-fs-210', 'Folding saw 210')).toBe(
    'Folding saw 210. Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools/nordwerk-fs-210',
  );
  expect(attributionFor(pack, BASE, 'nordwerk-fs-210')).toBe(
    'Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools/nordwerk-fs-210',
  );
});

test('answers about the dataset cite the dataset; a full stop is not doubled', async () => {
  const pack = await loadPack('tests/packs/harbours');
  expect(pack.attribution.endsWith('.')).toBe(true);
  expect(datasetAttribution(pack, BASE)).toBe(
    'Harbours on no chart. Fictional data of the dataset register’s own tests. https://register.example/datasets/harbours',
  );
  expect(licenseText(pack)).toBe('CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)');
});
