// Program of the fleet test: the S3 server as a process of its own. Arguments: folder and port. A message
// {"delay": <milliseconds>} makes it slow.
import { startS3 } from '../support/s3-server.ts';

const [folder = '', port = ''] = process.argv.slice(2);
const server = await startS3(['register'], folder, Number(port));
process.on('message', ({ delay }: { delay: number }) => server.slowDown(delay));
process.on('disconnect', () => process.exit(0));
