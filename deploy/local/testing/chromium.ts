import { existsSync } from "node:fs";
import { join } from "node:path";
import { canInstallDebianPackages, installDebianPackagesWithApt } from "../debian-packages.ts";
import { LocalCommandUserError } from "../terminal.mjs";

/** The headless shell comes first, because it needs about half of the CPU time of the whole browser. */
const chromiumPrograms = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/** Paths of Chromium on macOS, where applications are not in PATH. */
const macChromiumPaths = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Flags with which Chromium runs without a GPU and as root, and sends no network requests of its own. */
export const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Returns the path of Chromium for browser tests: the value of CHROMIUM, or the path of an installed Chromium, or
 * undefined if there is none.
 */
export function findChromium(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(":").filter(Boolean);
  return [
    ...chromiumPrograms.flatMap((program) => folders.map((folder) => join(folder, program))),
    ...macChromiumPaths,
  ].find(existsSync);
}

/**
 * Installs Chromium if it is missing and this process is root on Debian.
 *
 * @throws `LocalCommandUserError` that states what to install.
 */
export async function ensureChromiumInstalled(): Promise<void> {
  if (findChromium() === undefined && canInstallDebianPackages())
    await installDebianPackagesWithApt("Installing Chromium with apt-get", ["chromium-headless-shell"]);
  if (findChromium() === undefined)
    throw new LocalCommandUserError("The browser tests need Chromium. Install it, or set its path in CHROMIUM.");
}
