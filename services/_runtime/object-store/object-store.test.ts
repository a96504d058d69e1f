import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { conformsToObjectStore } from "./conformance.ts";
import { openObjectStore } from "./object-store.ts";

describe("a folder", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "object-store-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  conformsToObjectStore(() => openObjectStore(pathToFileURL(folder).href));
});
