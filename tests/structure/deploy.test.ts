// The files of deploy/: they parse, and name settings, programs and metrics that exist.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { grafanaDashboard } from '../../api/ops/dashboard.ts';
import { openMetrics } from '../../api/ops/metrics.ts';
import { exists, FILES, read, tableRows } from './tree.ts';

/** A value of a parsed file; tests read what they expect there. */
// biome-ignore lint/suspicious/noExplicitAny: files of other programs.
type Parsed = any;

const yaml = (path: string): Parsed[] =>
  parseAllDocuments(read(path), { merge: true }).map((document) => {
    expect(document.errors, path).toEqual([]);
    return document.toJS();
  });

const kubernetes = FILES.filter((path) => /^deploy\/kubernetes\/.*\.yaml$/.test(path));
const objects: Parsed[] = kubernetes.flatMap(yaml);
const ofKind = (kind: string) => objects.filter((each) => each.kind === kind);
const pods = [...ofKind('Deployment'), ...ofKind('StatefulSet')].map((each) => each.spec.template);

/** Variables that programs read, other than our settings. */
const OTHERS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'NODE_ENV', 'npm_config_cache'];
const settings = [...tableRows('docs/settings.md').map(([name]) => name), ...OTHERS];
const unknown = (names: string[]) => names.filter((name) => !settings.includes(name));

/** Secrets of calls and payments, which a nightly run never uses. */
const API_ONLY = /^(ADMIN_KEYS|REDIS_URL|STRIPE_|X402_)/;

describe('compose.yaml', () => {
  const [compose] = yaml('deploy/compose.yaml') as [Parsed];
  const services = Object.entries<Parsed>(compose.services);
  const own = services.filter(([, each]) => /^register-/.test(each.image));

  test('sets settings that exist, and starts targets of the Dockerfile', () => {
    expect(own.map(([name]) => name)).toEqual(['api-1', 'api-2', 'nightly', 'bucket']);
    for (const [, { environment, build, image }] of own) {
      expect(unknown(Object.keys(environment))).toEqual([]);
      expect(read('Dockerfile')).toMatch(new RegExp(`^FROM base AS ${build?.target ?? image.slice(9)}$`, 'm'));
    }
  });

  test('has commands that are lists of texts', () => {
    const commands = services.flatMap(([, each]) => [each.command ?? [], each.healthcheck?.test ?? []]);
    expect(commands.flat().filter((each: unknown) => typeof each !== 'string')).toEqual([]);
  });

  test('takes each image of others from a variable, so that it can be pinned by digest', () => {
    const others = services
      .filter(([, { image }]) => !/^register-/.test(image))
      .map(([, { image }]) => image as string);
    expect(others).toHaveLength(4);
    for (const image of others) {
      const [, name = ''] = /^\$\{([A-Z]+_IMAGE):-[\w./-]+:[\w.-]+\}$/.exec(image) ?? [];
      expect(read('docs/scaling.md'), image).toContain(`\`${name}\``);
    }
    for (const name of ['NODE_IMAGE', 'BASE_IMAGE'])
      expect(read('Dockerfile')).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
  });

  test('gives the nightly run no secret that only the API needs', () => {
    for (const name of ['nightly', 'bucket'])
      expect(Object.keys(compose.services[name].environment).filter((each) => API_ONLY.test(each))).toEqual([]);
    expect(compose.services['api-1'].environment).toMatchObject({
      REDIS_URL: expect.any(String),
      ADMIN_KEYS: expect.any(String),
    });
  });

  test('mounts volumes and depends on services that exist', () => {
    const mounts = services.flatMap(([, each]) => (each.volumes ?? []) as string[]).map((each) => each.split(':')[0]!);
    expect(mounts.filter((each) => !each.startsWith('.') && !(each in compose.volumes))).toEqual([]);
    expect(mounts.filter((each) => each.startsWith('.') && !exists(join('deploy', each)))).toEqual([]);
    const needed = services.flatMap(([, { depends_on = {} }]) =>
      Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
    );
    expect(needed.filter((name) => !(name in compose.services))).toEqual([]);
    for (const name of ['api-1', 'api-2']) expect(read('deploy/Caddyfile')).toContain(`${name}:8787`);
  });

  test('gives the long-running programs a read-only root, and time to stop', () => {
    for (const [name, each] of own.filter(([name]) => name !== 'bucket')) {
      expect(each, name).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] });
      expect(Number.parseInt(each.stop_grace_period, 10)).toBeGreaterThan(0);
    }
    const { environment, stop_grace_period } = compose.services['api-1'];
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(environment.DRAIN_SECONDS + 10);
  });
});

describe('the Kubernetes manifests', () => {
  const containers: Parsed[] = pods.flatMap((pod) => pod.spec.containers);

  test('set settings that exist', () => {
    const names = containers.flatMap((each) => ((each.env ?? []) as Parsed[]).map(({ name }) => name as string));
    const [config] = ofKind('ConfigMap');
    const secrets = ofKind('Secret').flatMap(({ stringData }) => Object.keys(stringData));
    expect(unknown([...names, ...Object.keys(config.data), ...secrets])).toEqual([]);
    for (const value of Object.values(config.data)) expect(value).toBeTypeOf('string');
  });

  test('give the nightly run a secret of its own, without those of the API', () => {
    const secretsOf = (name: string) =>
      containers
        .filter((each) => each.name === name)
        .flatMap(({ envFrom }) => (envFrom as Parsed[]).flatMap(({ secretRef }) => secretRef?.name ?? []));
    expect([secretsOf('api'), secretsOf('pages'), secretsOf('nightly')]).toEqual([
      ['register'],
      ['register'],
      ['register-nightly'],
    ]);
    const secret = ofKind('Secret').find(({ metadata }) => metadata.name === 'register-nightly');
    expect(Object.keys(secret.stringData).filter((each) => API_ONLY.test(each))).toEqual([]);
    expect(Object.keys(secret.stringData)).toContain('DATABASE_URL');
  });

  test('deny every connection that no policy allows, and open ports that exist', () => {
    const policies = ofKind('NetworkPolicy').map(({ spec }) => spec);
    expect(policies).toContainEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    const ports = containers.flatMap((each) => ((each.ports ?? []) as Parsed[]).map(({ name }) => name));
    const opened = policies.flatMap(({ ingress = [] }) => ingress.flatMap(({ ports: list }: Parsed) => list));
    expect(opened.map(({ port }: Parsed) => port).filter((port: string) => !ports.includes(port))).toEqual([]);
    // The address of a cloud's metadata service, which has credentials of the machine.
    const blocks = policies
      .flatMap(({ egress = [] }) => egress.flatMap(({ to = [] }: Parsed) => to))
      .filter(({ ipBlock }: Parsed) => ipBlock.cidr === '0.0.0.0/0');
    expect(blocks.length).toBeGreaterThan(0);
    for (const { ipBlock } of blocks) expect(ipBlock.except).toContain('169.254.0.0/16');
  });

  test('list every file in kustomization.yaml but the example', () => {
    const [{ resources }] = ofKind('Kustomization');
    const files = kubernetes.map((path) => path.replace('deploy/kubernetes/', ''));
    expect([...resources].sort()).toEqual(files.filter((name) => !/^kustomization|example/.test(name)).sort());
  });

  test('select pods that exist, and route to services that exist', () => {
    const labels = pods.map(({ metadata }) => metadata.labels as Record<string, string>);
    const selects = (selector: Record<string, string>) =>
      labels.some((each) => Object.entries(selector).every(([name, value]) => each[name] === value));
    const selectors = [
      ...ofKind('Service').map(({ spec }) => spec.selector),
      ...ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
    ];
    expect(selectors.filter((selector) => !selects(selector))).toEqual([]);
    const names = ofKind('Service').map(({ metadata }) => metadata.name);
    const [ingress] = ofKind('Ingress');
    for (const { backend, path } of ingress.spec.rules[0].http.paths)
      expect(names, path).toContain(backend.service.name);
  });

  test('run without rights on a read-only root, and mount every volume that they name', () => {
    for (const pod of pods) {
      expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 });
      const claims = ofKind('StatefulSet').flatMap(({ spec }) => spec.volumeClaimTemplates as Parsed[]);
      const volumes = [
        ...pod.spec.volumes.map(({ name }: Parsed) => name),
        ...claims.map((each) => each.metadata.name),
      ];
      for (const { securityContext, volumeMounts } of pod.spec.containers) {
        expect(securityContext).toEqual({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        });
        for (const { name } of volumeMounts) expect(volumes).toContain(name);
        expect(volumeMounts.map(({ mountPath }: Parsed) => mountPath)).toContain('/tmp');
      }
    }
  });

  test('probe the API, and give it time to drain', () => {
    for (const pod of pods)
      for (const { image, env, ...probes } of pod.spec.containers.filter(
        ({ image }: Parsed) => image === 'register-api',
      )) {
        expect(probes.readinessProbe.httpGet.path).toBe('/readyz');
        expect(probes.livenessProbe.httpGet.path).toBe('/healthz');
        const drain = Number(env.find(({ name }: Parsed) => name === 'DRAIN_SECONDS').value);
        // The pod is not ready before the port closes.
        expect(drain).toBeGreaterThan(probes.readinessProbe.periodSeconds * probes.readinessProbe.failureThreshold);
        expect(pod.spec.terminationGracePeriodSeconds, image).toBeGreaterThan(drain + 10);
      }
  });
});

describe('the systemd units', () => {
  const units = FILES.filter((path) => /^deploy\/systemd\/.*\.service$/.test(path));

  test('start programs that exist, with settings that exist', () => {
    expect(units).toHaveLength(2);
    for (const path of units) {
      const [, program = ''] =
        /^ExecStart=\/opt\/register\/node_modules\/\.bin\/node .*?(\S+\.ts)$/m.exec(read(path)) ?? [];
      expect(exists(program), `${path}: ${program}`).toBe(true);
      const names = [...read(path).matchAll(/^Environment=(.*)$/gm)].flatMap(([, list = '']) =>
        list.split(' ').map((each) => each.split('=')[0]!),
      );
      expect(unknown(names)).toEqual([]);
    }
  });
});

describe('monitoring', () => {
  let metrics: Set<string>;
  const documented = tableRows('docs/scaling.md').map(([name]) => name);

  beforeAll(async () => {
    const { recordCall, text } = openMetrics(() => ({
      queue: async () => ({ running: 0, waiting: 0 }),
      datasets: [],
      redis: true,
      storage: { up: true, waiting: {} },
      packs: [],
      badNights: async () => 0,
    }));
    recordCall({ operation: 'a', dataset: 'b', channel: 'rest', outcome: 'ok', seconds: 1, eur: 0 });
    metrics = new Set([...(await text()).text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  });

  /** Names of metrics in an expression that do not exist. */
  const missing = (expression: string) =>
    (expression.match(/\b(register|nodejs|process)_\w+/g) ?? [])
      .map((name) => name.replace(/_(bucket|count|sum)$/, ''))
      .filter((name) => !metrics.has(name) || (name.startsWith('register_') && !documented.includes(name)));

  test('alert rules use metrics that exist, and name an action', () => {
    const [{ groups }] = yaml('deploy/prometheus/alerts.yaml') as [Parsed];
    const rules = groups.flatMap((group: Parsed) => group.rules);
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, expr, annotations, labels } of rules) {
      expect(missing(expr), alert).toEqual([]);
      expect(expr).toMatch(/register|nodejs/);
      expect(annotations).toEqual({ summary: expect.any(String), action: expect.any(String) });
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      // Each alert fires in the test of the rules.
      expect(read('deploy/prometheus/alerts.test.yaml')).toMatch(new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`));
    }
  });

  test('promtool accepts the alert rules and their test', (context) => {
    try {
      execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    } catch {
      context.skip('no promtool');
    }
    const root = join(import.meta.dirname, '../..');
    execFileSync('promtool', ['check', 'rules', 'deploy/prometheus/alerts.yaml'], { cwd: root, stdio: 'pipe' });
    execFileSync('promtool', ['test', 'rules', 'deploy/prometheus/alerts.test.yaml'], { cwd: root, stdio: 'pipe' });
  });

  test('the dashboard uses metrics that exist', () => {
    const { panels } = grafanaDashboard() as { panels: Parsed[] };
    expect(panels.length).toBeGreaterThan(10);
    for (const { title, targets } of panels) for (const { expr } of targets) expect(missing(expr), title).toEqual([]);
    const shown = panels.flatMap(({ targets }) => targets.map(({ expr }: Parsed) => expr as string)).join(' ');
    expect(documented.filter((name) => name?.startsWith('register_') && !shown.includes(name))).toEqual([]);
  });
});
