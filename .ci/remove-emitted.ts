// `npm run postpack`: removes the JavaScript and the declarations that prepack wrote next to the sources.
import { existsSync, globSync, rmSync } from 'node:fs';

for (const file of globSync(['config.js', '{api,build,data,packs/define}/**/*.js']))
  if (existsSync(file.replace(/\.js$/, '.ts'))) rmSync(file);
rmSync('types', { recursive: true, force: true });
