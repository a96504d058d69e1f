import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { isNewerTimeZoneData, readSystemTimeZoneDataVersion, warnOfOldTimeZoneData } from "./time-zone-data.ts";

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

test.each([
  ["2026f", "2025c", true],
  ["2026a", "2025z", true],
  ["2025za", "2025z", true],
  ["2025c", "2025c", false],
  ["2025b", "2025c", false],
  ["2026f", "unknown", false],
])("%s is newer than %s: %s", (version, other, isNewer) => expect(isNewerTimeZoneData(version, other)).toBe(isNewer));

describe("warnOfOldTimeZoneData", () => {
  it("names both versions if the system knows better", async () => {
    await writeFile(join(folder, "tzdata.zi"), "# version 2026f\n");
    const log = { warn: vi.fn() };
    await warnOfOldTimeZoneData(log, { version: "2025c", folders: [folder] });
    expect(log.warn).toHaveBeenCalledExactlyOnceWith(
      { timeZoneData: "2025c", systemTimeZoneData: "2026f" },
      expect.stringContaining("Update Node.js"),
    );
  });

  it.each(["2026f", "2026g"])("logs nothing if Node.js has %s", async (version) => {
    await writeFile(join(folder, "tzdata.zi"), "# version 2026f\n");
    const log = { warn: vi.fn() };
    await warnOfOldTimeZoneData(log, { version, folders: [folder] });
    await warnOfOldTimeZoneData(log, { version, folders: [] });
    expect(log.warn).not.toHaveBeenCalled();
  });
});
