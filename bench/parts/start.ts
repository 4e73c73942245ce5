// Start time of a service over existing releases, and its memory: at the start, and after a mixed load.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { drawValues } from '../draw.ts';
import { measureLoad } from '../load.ts';
import { benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

export interface Start {
  /** Datasets that the service opens, and records of all of them. */
  datasets: string[];
  /** Milliseconds from spawn to the first answer with a record, and until everything is loaded; medians. */
  first: number;
  warm: number;
  /** Resident memory in MB: when warm, after a mixed load, and at the peak. */
  rss: { warm: number; loaded: number; peak: number };
  /** Bytes of the packed index per record, without and with bodies, for the largest dataset. */
  index: { dataset: string; records: number; columns: number; bodies: number };
}

export async function benchStart(subject: Subject, scratch: string, seconds: number): Promise<Start> {
  const times: { first: number; warm: number }[] = [];
  for (let i = 0; i < 3; i += 1) {
    const service = await startService(subject, scratch);
    times.push({ first: service.started, warm: service.warm });
    await service.stop();
  }
  const service = await startService(subject, scratch);
  const warm = service.memory()?.now ?? 0;
  const questions = benchQuestionsFor(subject, await drawValues(subject));
  for (const { service: paths } of questions)
    await measureLoad({ base: service.base, paths, headers: OPERATOR_HEADERS, connections: 16, seconds });
  const { now = 0, peak = 0 } = service.memory() ?? {};
  await service.stop();
  const { records } = subject.manifest;
  const size = (file: string) => statSync(join(subject.folder, file)).size / records;
  return {
    datasets: readdirSync(join(subject.dataDir, 'releases')),
    first: middle(times.map((time) => time.first)),
    warm: middle(times.map((time) => time.warm)),
    rss: { warm, loaded: now, peak },
    index: { dataset: subject.dataset, records, columns: size('index/columns.bin'), bodies: size('records.jsonl') },
  };
}

function middle(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
