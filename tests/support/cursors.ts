// Cursors for tests without a store, with a secret of their own.
import { sealedCursors } from '../../data/input/cursor.ts';

export const cursors = sealedCursors('the secret of the tests');
