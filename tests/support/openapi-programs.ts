// An OpenAPI document in other programs: a strict linter, and the clients of two generators in the compiler.
import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { generateSource } from 'oazapfts';
import { generateApi } from 'swagger-typescript-api';

const { resolve } = createRequire(import.meta.url);

/** Rules of the linter that are off, and why. */
const OFF = {
  // Each dataset has its own paths beside the paths of all datasets; fixed segments are matched before parameters.
  'no-ambiguous-paths': 'off',
  // The authorization endpoint of OAuth always redirects.
  'operation-2xx-response': 'off',
};

/** The problems that the linter finds with its strictest rules, one line each. `folder` is for its files. */
export function lintProblems(document: object, folder: string): string[] {
  const files = { document: join(folder, 'openapi.json'), config: join(folder, 'redocly.yaml') };
  writeFileSync(files.document, JSON.stringify(document));
  writeFileSync(files.config, JSON.stringify({ extends: ['recommended-strict'], telemetry: 'off', rules: OFF }));
  const program = join(dirname(resolve('@redocly/cli/package.json')), 'bin/cli.js');
  const args = ['lint', files.document, '--config', files.config, '--format', 'json', '--max-problems', '1000'];
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    maxBuffer: 2 ** 28,
  });
  try {
    const { problems } = JSON.parse(stdout) as {
      problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
    };
    return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
  } catch {
    throw new Error(`the linter did not run: ${stderr}`);
  }
}

/**
 * Writes a client by each generator to `folder`, as swagger.ts and oazapfts.ts, and compiles them with the other
 * modules there to `folder/made`. Throws with the compiler's errors.
 */
export async function compileClients(document: object, folder: string): Promise<void> {
  const { files } = await generateApi({ spec: structuredClone(document) as never, output: false, silent: true });
  writeFileSync(join(folder, 'swagger.ts'), files.map(({ fileContent }) => fileContent).join('\n'));
  const path = join(folder, 'generated.json');
  writeFileSync(path, JSON.stringify(document));
  writeFileSync(join(folder, 'oazapfts.ts'), await generateSource(path));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const options = { strict: true, target: 'esnext', module: 'nodenext', rewriteRelativeImportExtensions: true };
  const compilerOptions = {
    ...options,
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: [],
    outDir: 'made',
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(folder, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
