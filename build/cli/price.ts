// `npm run pack -- price <dataset>`: proposes the prices of a dataset from the records of its newest release, the
// operations that it sells and a target revenue. Nothing is written.
import { parseArgs } from 'node:util';
import { priceList } from '../../api/contract/pricing.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { plural, printEuro } from '../../api/render/print.ts';
import { BOUNDS } from '../../data/input/parse-values.ts';
import { paths } from '../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import { commandLine } from '../../data/model/program.ts';
import { type Pack, PRICED, type PricedOperation } from '../../packs/define/model.ts';
import { alignedColumns } from './from/report.ts';

/** Paid calls a month without `--calls`. */
const CALLS = 10_000;

/** Bounds of a price in EUR: a pack allows six decimals, and at most 100. */
const LEAST = 0.000001;
const MOST = 100;

/**
 * The assumed share of calls, and what one is worth in reads of one record. Searches and statistics read the whole
 * dataset: they are worth `growth` more for each tenfold of its records. The ratios are those of the bundled packs.
 */
const ASSUMED: Record<PricedOperation, { percent: number; worth: number; growth?: number }> = {
  search: { percent: 40, worth: 1, growth: 1 / 3 },
  get: { percent: 30, worth: 1 },
  facts: { percent: 5, worth: 2 },
  prices: { percent: 5, worth: 1 },
  compare: { percent: 10, worth: 3 },
  stats: { percent: 10, worth: 1, growth: 1 },
};

/** The price of one kind of call in EUR, now and as proposed, and its share of all calls. */
export interface ProposedPrice {
  name: PricedOperation;
  share: number;
  now: number;
  proposed: number;
}

/**
 * Proposes a price for each kind of call that the dataset sells, so that the calls of a month yield about the target.
 *
 * @param records records of the dataset
 * @param target EUR a month
 * @param calls paid calls a month, at least 1
 */
export function proposePrices(
  pack: Pack,
  { records, target, calls }: { records: number; target: number; calls: number },
): ProposedPrice[] {
  const tenfolds = Math.log10(Math.max(1, records));
  const sold = priceList(OPERATIONS, pack).map(({ name, eur }) => {
    const { percent, worth, growth = 0 } = ASSUMED[name];
    return { name, percent, worth: worth + growth * tenfolds, now: eur };
  });
  const percents = sold.reduce((sum, { percent }) => sum + percent, 0);
  const reads = calls * sold.reduce((sum, { percent, worth }) => sum + (percent / percents) * worth, 0);
  return sold
    .map(({ name, percent, worth, now }) => {
      // Two digits are enough for a price; a pack allows six decimals.
      const proposed = Number(Number(((target * worth) / reads).toPrecision(2)).toFixed(6));
      return { name, share: percent / percents, now, proposed: Math.min(MOST, Math.max(LEAST, proposed)) };
    })
    .sort((a, b) => PRICED.indexOf(a.name) - PRICED.indexOf(b.name));
}

/** Arguments and surroundings of the command. */
interface PriceContext {
  args: string[];
  /** DATA_DIR, as an absolute path. */
  dataDir: string;
  log: (line: string) => void;
}

/**
 * Prints the assumption, the proposed prices, what they and the current ones yield, and the block for `pack.ts`. Returns
 * the exit code: 0, 1 without a release, 2 for wrong arguments.
 */
export async function pricePack(pack: Pack, { args, dataDir, log }: PriceContext): Promise<number> {
  const options = { target: { type: 'string' }, calls: { type: 'string', default: String(CALLS) } } as const;
  const { values } = parseArgs({ args, options });
  const [target, calls] = [Number(values.target), Number(values.calls)];
  if (!(target > 0 && Number.isFinite(target) && calls > 0 && Number.isInteger(calls))) {
    log('--target <EUR per month> must be a number above 0, and --calls <per month> a whole number of at least 1');
    return 2;
  }
  const release = await currentRelease(dataDir, pack.id);
  if (release === null) {
    log(`${pack.id} has no release to count; ${commandLine('nightly', `--only ${pack.id}`)} builds one`);
    return 1;
  }
  const { records } = await readManifest(paths.release(dataDir, pack.id, release));
  const prices = proposePrices(pack, { records, target, calls });
  log(`${pack.id} has ${plural(records, 'record')}. Target: ${printEuro(target)} a month.`);
  log(`Assumed: ${plural(calls, 'paid call')} a month, in these shares; a batch is a call for each id.`);
  log('');
  for (const line of alignedColumns(priceRows(prices, calls))) log(line);
  log('');
  const yielded = monthlyYield(prices, calls, 'proposed');
  if (Math.abs(yielded / target - 1) > 0.1)
    log(
      `The target needs prices outside ${LEAST.toFixed(6)} to ${MOST} EUR, the bounds of a pack: assume other --calls.`,
    );
  const { search = 0, get = 0 } = Object.fromEntries(prices.map(({ name, proposed }) => [name, proposed]));
  const pages = Math.ceil(records / BOUNDS.limit);
  log(
    `Every record once then costs ${printEuro(pages * search)} by search (${plural(BOUNDS.limit, 'record')} a page), ${printEuro(records * get)} one by one.`,
  );
  log('For pack.ts, which was not changed:');
  log(`  prices: { ${prices.map(({ name, proposed }) => `${name}: ${printPrice(proposed)}`).join(', ')} },`);
  return 0;
}

function priceRows(prices: readonly ProposedPrice[], calls: number): string[][] {
  const monthly = (price: ProposedPrice, of: 'now' | 'proposed') => monthlyYield([price], calls, of).toFixed(2);
  const rows = prices.map((price) => [
    price.name,
    `${Math.round(price.share * 1000) / 10} %`,
    printPrice(price.now),
    printPrice(price.proposed),
    monthly(price, 'now'),
    monthly(price, 'proposed'),
  ]);
  const [now, proposed] = (['now', 'proposed'] as const).map((of) => monthlyYield(prices, calls, of).toFixed(2));
  return [
    ['price', 'calls', 'EUR now', 'EUR proposed', 'a month now', 'a month proposed'],
    ...rows,
    ['total', '100 %', '', '', now!, proposed!],
  ];
}

/** EUR a month of these calls. */
const monthlyYield = (prices: readonly ProposedPrice[], calls: number, of: 'now' | 'proposed'): number =>
  prices.reduce((sum, price) => sum + price.share * calls * price[of], 0);

/** A price without exponent. */
const printPrice = (eur: number): string => eur.toFixed(6).replace(/\.?0+$/, '');
