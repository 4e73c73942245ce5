// `npm run fleet`: a register on several machines under load and faults, and a report. `--short`: a selection
// in three minutes, without the report. `--only <pattern>`: scenarios whose name matches it. `--minutes <n>`: none starts
// later. `--data <DATA_DIR>`: stores the releases of a real register in place of all that, and measures them.
import { parseArgs } from 'node:util';
import { lostThings, play, type Result } from './director.ts';
import { killAll } from './programs.ts';
import { failuresOf } from './reconcile.ts';
import { reportText } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import { openWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    plain: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '40' },
  },
});

const began = performance.now();
const print = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}`);

async function fleet(): Promise<number> {
  const world = await openWorld({ plain: values.plain || values.short }).catch(async (error: Error) => {
    await killAll();
    throw error;
  });
  try {
    for (const line of world.described) print(line);
    const results: Result[] = [];
    const left: string[] = [];
    for (const scenario of SCENARIOS) {
      if (values.short && !scenario.short) continue;
      if (values.only !== undefined && !new RegExp(values.only).test(scenario.name)) continue;
      const reason = scenario.impossible?.(world) ?? null;
      if (reason !== null) {
        print(`— ${scenario.name}: left out, ${reason}`);
        left.push(`${scenario.name}: ${reason}`);
        continue;
      }
      if (performance.now() - began > Number(values.minutes) * 60_000) {
        left.push(`${scenario.name}: no time was left`);
        continue;
      }
      print(`— ${scenario.name}`);
      results.push(await play(world, scenario, print));
    }
    print('— what is lost');
    const lost = await lostThings(world);
    for (const [kind, things] of Object.entries(lost))
      print(`  ${kind}: ${things.length === 0 ? 'none' : things.slice(0, 10).join('; ')}`);
    const failures =
      results.reduce((sum, { counts, failures: more }) => sum + failuresOf(counts) + more.length, 0) +
      Object.values(lost).flat().length;
    const seconds = (performance.now() - began) / 1000;
    if (!values.short) console.log(reportText({ world, results, lost, left, seconds }));
    print(`${results.length} scenarios, ${failures} counts that must be 0 and are not`);
    return failures;
  } finally {
    await world.end();
  }
}

process.on('SIGINT', () => void killAll().then(() => process.exit(130)));
if (values.data !== undefined) {
  const { measureReal } = await import('./real.ts');
  const { end } = await import('./real-machines.ts');
  try {
    await measureReal(values.data);
  } finally {
    await end();
  }
} else {
  const failures = await fleet();
  process.exit(failures === 0 ? 0 : 1);
}
