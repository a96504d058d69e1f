/** How it is started: without a screen, also as root, and asking the network for nothing of its own. */
export const chromiumFlags: string[];
/** The Chromium of this machine, for browser tests: the one that CHROMIUM names, else one that is installed. */
export function findChromium(): string | undefined;
/** Sees to it that there is one: as root on Debian it is installed when there is none. Throws a Failure that says what to install. */
export function ensureChromium(): Promise<void>;
