/** Rounds are snapshots; eight at least, which a verdict needs (12). In warm-up rounds caches fill (5). Growth a round: '512B/round'. */
export interface GrowthOptions { rounds?: number; warmup?: number; budget?: string; /** also look for what holds it (true) */ holder?: boolean; }
/** Fails with MemoryGrowth if snapdiff judges that what `body` leaves grows by more than the budget. Gives the gate's answer. */
export function expectNoGrowth(body: () => unknown | Promise<unknown>, options?: GrowthOptions): Promise<object>;
/** Sampling profiles after each round, oldest first. */
export function profiles(body: () => unknown | Promise<unknown>, folder: string, options?: { rounds?: number; warmup?: number }): Promise<string[]>;
/** Heap snapshots at equal steps, oldest first. */
export function snapshots(body: () => unknown | Promise<unknown>, folder: string, options?: { count?: number; every?: number; warmup?: number }): Promise<string[]>;
/** The file of the program. */
export function program(): string;
export class MemoryGrowth extends Error { answer: object; }
