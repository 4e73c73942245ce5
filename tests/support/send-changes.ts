// Program of a test: a process that sends the changes which subscriptions wait for, until it is killed. Arguments: the
// URL and schema of the store, the receiver, and the time in milliseconds since 1970.
import { testApp } from './app.ts';

const [databaseUrl = '', schema = '', receiver = '', time = ''] = process.argv.slice(2);
const app = await testApp({
  ...{ nights: true, records: 12, now: () => new Date(Number(time)), store: { databaseUrl, schema } },
  open_hosts: new Set([receiver]),
});
await app.sendChanges();
await app.close();
