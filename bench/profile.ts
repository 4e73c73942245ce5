// `npm run bench -- profile get`: a sampling profile of the service while one question is called. Prints where
// the time goes, by function and by module, and keeps the profile for a viewer.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawValues } from './draw.ts';
import { measureLoad } from './load.ts';
import type { CpuProfile } from './process.ts';
import { benchQuestionsFor } from './questions.ts';
import { OPERATOR_HEADERS, startService } from './service.ts';
import type { Subject } from './subject.ts';

const ROOT = join(import.meta.dirname, '..');
const CONNECTIONS = 16;
/** Seconds of load before the profile, in which the code is compiled, and of the profile. */
const WARM_SECONDS = 5;
const SECONDS = 5;
const SHOWN = 40;

/** Records a profile of one question, and returns a table of its self time. Throws for an unknown question. */
export async function profileQuestion(subject: Subject, scratch: string, id: string): Promise<string> {
  const questions = benchQuestionsFor(subject, await drawValues(subject));
  const question = questions.find((benchQuestion) => benchQuestion.id === id);
  if (!question)
    throw new Error(
      `no such question: ${id}; there are ${questions.map((benchQuestion) => benchQuestion.id).join(', ')}`,
    );
  const service = await startService(subject, scratch);
  const target = { base: service.base, paths: question.service, headers: OPERATOR_HEADERS, connections: CONNECTIONS };
  try {
    await measureLoad({ ...target, seconds: WARM_SECONDS });
    const profile = await service.profile(() => measureLoad({ ...target, seconds: SECONDS }));
    const file = join(mkdtempSync(join(tmpdir(), 'profile-')), `${id}.cpuprofile`);
    writeFileSync(file, JSON.stringify(profile));
    return `${question.name}\n\n${selfTimes(profile)}\n\n${file}`;
  } finally {
    await service.stop();
  }
}

/** Names of samples in which no code of ours or Node's ran. */
const IDLE = ['(idle)', '(root)'];

function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const functions = new Map<string, number>();
  const modules = new Map<string, number>();
  let total = 0;
  samples.forEach((sample, i) => {
    const { functionName, url, lineNumber } = byId.get(sample)!;
    if (IDLE.includes(functionName)) return;
    const time = timeDeltas[i] ?? 0;
    const module = moduleOf(url) || functionName;
    const place = url === '' ? functionName : `${functionName || '(anonymous)'} ${module}:${lineNumber + 1}`;
    functions.set(place, (functions.get(place) ?? 0) + time);
    modules.set(module, (modules.get(module) ?? 0) + time);
    total += time;
  });
  const list = (title: string, times: Map<string, number>) =>
    [
      title,
      ...[...times]
        .sort(([, a], [, b]) => b - a)
        .slice(0, SHOWN)
        .map(([name, time]) => `${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`),
    ].join('\n');
  return `${list('self time by function', functions)}\n\n${list('self time by module', modules)}`;
}

/** A module as a path below the project, or its name in Node. */
const moduleOf = (url: string): string => (url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url);
