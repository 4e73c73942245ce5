// A report that was answered survives a killed process, and so does the count of its daily limit.
import { expect, test } from 'vitest';
import { ADMIN } from '../support/app.ts';
import { type Api, type Got, smallData, startApi } from '../support/money-processes.ts';

test('no answered report is lost, and a restart gives no new reports', async () => {
  const { dataDir, remove } = await smallData();
  let api = await startApi(dataDir);
  try {
    const operator = { Authorization: `Bearer ${ADMIN}` };
    const search = await api.ask('/v1/tools/entities?limit=1', operator);
    const { items } = JSON.parse(search.body) as { items: { slug: string }[] };
    const report = (to: Api, message: string) =>
      to.ask(
        `/v1/tools/entities/${items[0]!.slug}/reports`,
        { 'Content-Type': 'application/json' },
        'POST',
        JSON.stringify({ message }),
      );
    const idOf = ({ body }: Got) => (JSON.parse(body) as { id: string }).id;
    const received: string[] = [];
    const sent = Array.from({ length: 8 }, async (_, i) => {
      const answer = await report(api, `before ${i}`).catch(() => null);
      if (answer?.status === 202) received.push(idOf(answer));
    });
    await Promise.race(sent);
    await api.kill('SIGKILL');
    await Promise.all(sent);
    expect(received.length).toBeGreaterThan(0);
    const before = received.length;
    api = await startApi(dataDir);
    for (let i = 0; i < 10; i++) {
      const answer = await report(api, `after ${i}`);
      if (answer.status === 202) received.push(idOf(answer));
      else expect(answer.status).toBe(429);
    }
    expect(received.length).toBeLessThanOrEqual(10);
    expect(received.length).toBeGreaterThan(before);
    const listed = await api.ask('/ops/review.json?limit=1000', operator);
    const ids = (JSON.parse(listed.body) as { items: { id: string }[] }).items.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(received));
  } finally {
    await api.kill('SIGKILL');
    remove();
  }
}, 60_000);
