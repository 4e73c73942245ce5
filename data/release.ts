// An open release of one dataset: its pack, its manifest and the engine over its files.
import type { Pack } from '../packs/model.ts';
import type { Manifest } from './layout.ts';
import type { Engine } from './plan.ts';

export interface Release {
  pack: Pack;
  manifest: Manifest;
  /** Absolute path of the release folder. */
  folder: string;
  engine: Engine;
}
