import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readSystemTimeZoneDataVersion, warnOfOldTimeZoneData } from "./time-zone-data.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zoneinfo-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("readSystemTimeZoneDataVersion", () => {
  it.each([
    ["tzdata.zi", "# version 2026f\n# This zic input file is in the public domain.\n", "2026f"],
    ["+VERSION", "2026c\n", "2026c"],
    ["tzdata.zi", "# version unknown\n", null],
  ])("reads %s", async (file, text, version) => {
    await writeFile(join(folder, file), text);
    expect(await readSystemTimeZoneDataVersion([join(folder, "missing"), folder])).toBe(version);
  });
});

describe("warnOfOldTimeZoneData", () => {
  it.each([
    ["2026f", "2025c"],
    ["2026a", "2025z"],
    ["2025za", "2025z"],
  ])("names both versions if the system has %s and Node.js has %s", async (systemVersion, version) => {
    await writeFile(join(folder, "tzdata.zi"), `# version ${systemVersion}\n`);
    const log = { warn: vi.fn() };
    await warnOfOldTimeZoneData(log, { version, folders: [folder] });
    expect(log.warn).toHaveBeenCalledExactlyOnceWith(
      { timeZoneData: version, systemTimeZoneData: systemVersion },
      expect.stringContaining("Update Node.js"),
    );
  });

  it.each(["2026f", "2026g", "unknown"])("logs nothing if Node.js has %s", async (version) => {
    await writeFile(join(folder, "tzdata.zi"), "# version 2026f\n");
    const log = { warn: vi.fn() };
    await warnOfOldTimeZoneData(log, { version, folders: [folder] });
    await warnOfOldTimeZoneData(log, { version, folders: [] });
    expect(log.warn).not.toHaveBeenCalled();
  });
});
