import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDemoLocationCredentials, writeDemoLocationCredentials } from "./demo-location.ts";

const access = {
  locationId: "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11",
  apiKey: "pragma_secret",
  siteApiKey: "pragma_site",
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "demo-file-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("the demo file", () => {
  it("contains the data that was written, in a folder that is created for it", async () => {
    const file = join(folder, "new", "demo.json");
    await writeDemoLocationCredentials(file, access);
    expect(await readDemoLocationCredentials(file)).toEqual(access);
    expect(await readdir(join(folder, "new"))).toEqual(["demo.json"]);
  });

  it("is readable only by its owner, even if it was public before", async () => {
    const file = join(folder, "demo.json");
    await writeFile(file, "{}", { mode: 0o644 });
    await writeDemoLocationCredentials(file, access);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it.each(["", "{", "{}", '{"locationId":"no uuid","apiKey":"x","siteApiKey":"y"}'])(
    "is treated as missing if its content is %j",
    async (text) => {
      const file = join(folder, "demo.json");
      await writeFile(file, text);
      expect(await readDemoLocationCredentials(file)).toBeNull();
    },
  );

  it("is null if it does not exist, and throws if it cannot be read", async () => {
    expect(await readDemoLocationCredentials(join(folder, "none.json"))).toBeNull();
    await expect(readDemoLocationCredentials(folder)).rejects.toThrow("EISDIR");
  });
});
