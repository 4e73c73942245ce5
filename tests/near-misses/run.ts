// Sends near misses to a running register and prints the share of good answers: node tests/near-misses/run.ts
// <base URL> <key> [count] [seed]
import { requester } from './ask.ts';
import { nearMisses } from './cases.ts';
import { failure, judge, type MissVerdict, report } from './judge.ts';
import { readWorld } from './world.ts';

const [base = '', key = '', count = '500', seed = '1'] = process.argv.slice(2);

const ask = requester(base, key);
const verdicts: MissVerdict[] = [];
for (const near of nearMisses(await readWorld(ask), Number(count), Number(seed))) verdicts.push(await judge(ask, near));
for (const verdict of verdicts) if (!verdict.passed) console.log(failure(verdict));
console.log(report(verdicts));
