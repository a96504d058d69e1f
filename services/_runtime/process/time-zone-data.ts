import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../observability/logger.ts";

/** The version of the IANA time zone data in Node.js, such as `2025c`, with which all local times are computed. */
export const timeZoneDataVersion: string = process.versions.tz ?? "unknown";

/** Where Linux and macOS store the time zone data of the system, which Node.js does not use. */
const systemFolders = ["/usr/share/zoneinfo", "/var/db/timezone/zoneinfo"];

/** The files that contain the version. Debian only has the first one, which begins with `# version 2025b`. */
const versionFiles = ["tzdata.zi", "+VERSION"];

/** Returns the version of the time zone data of the system; null if the system has none. */
export async function readSystemTimeZoneDataVersion(
  folders: readonly string[] = systemFolders,
): Promise<string | null> {
  for (const folder of folders)
    for (const file of versionFiles) {
      const text = await readFile(join(folder, file), "utf8").catch(() => "");
      const [, version] = /^(?:# version )?(\d{4}[a-z]{1,2})\b/.exec(text) ?? [];
      if (version !== undefined) return version;
    }
  return null;
}

/** Logs a warning if the time zone data of the system is newer than that of Node.js, which then computes old rules. */
export async function warnOfOldTimeZoneData(
  log: Pick<Logger, "warn">,
  { version = timeZoneDataVersion, folders = systemFolders }: { version?: string; folders?: readonly string[] } = {},
): Promise<void> {
  const systemVersion = await readSystemTimeZoneDataVersion(folders);
  // After `2025z` comes `2025za`. The version of Node.js can be unknown.
  if (systemVersion === null || version === "unknown" || systemVersion <= version) return;
  log.warn(
    { timeZoneData: version, systemTimeZoneData: systemVersion },
    'Node.js has older time zone data than the system: local times of zones whose rules changed since are wrong. Update Node.js, then see the runbook "Time zone data" in docs/operations.md',
  );
}
