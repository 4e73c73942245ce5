// The outlines of the map, loaded when a map is opened. The name contains a hash, since assets are cached for
// ever.
import { outlines } from '../../viewer/land.ts';

const paths = () => [outlines().name];
const GET = () => new Response(outlines().text);

export { GET, paths };
