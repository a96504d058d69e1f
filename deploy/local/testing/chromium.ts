import { existsSync } from "node:fs";
import { join } from "node:path";
import { canInstallDebianPackages, installDebianPackages } from "../find-servers.ts";
import { UserFacingError } from "../terminal.mjs";

const chromiumPrograms = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Where systems put it that keep no programs of people in PATH. */
const macChromiumPaths = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** How it is started: without a screen, also as root, and asking the network for nothing of its own. */
export const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The path of this machine's Chromium, for browser tests: the one that CHROMIUM names, else one that is installed. */
export function findChromium(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(":").filter(Boolean);
  return [
    ...folders.flatMap((folder) => chromiumPrograms.map((program) => join(folder, program))),
    ...macChromiumPaths,
  ].find(existsSync);
}

/**
 * Installs Chromium as root on Debian, when there is none.
 *
 * @throws Failure saying what to install.
 */
export async function ensureChromium(): Promise<void> {
  if (findChromium() === undefined && canInstallDebianPackages())
    await installDebianPackages("Installing Chromium with apt-get", ["chromium"]);
  if (findChromium() === undefined)
    throw new UserFacingError("The browser tests need Chromium. Install it, or give its path in CHROMIUM.");
}
