// The outlines of the map, loaded when a map is opened. The name contains a hash, since assets are cached for
// ever.
import { outlines } from '../../viewer/land.ts';

const files = () => [outlines(), outlines('zoomed')];
const paths = () => files().map(({ name }) => name);
const GET = ({ params }: { params: { outlines?: string } }) =>
  new Response(files().find(({ name }) => name === params.outlines)?.text);

export { GET, paths };
