import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readServedApiDocuments } from "./api-documents.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-documents-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("the OpenAPI documents", () => {
  it("are named in the error when they are missing", async () => {
    await writeFile(join(folder, "openapi.json"), "{}");
    await expect(readServedApiDocuments({}, folder)).rejects.toThrow(
      /openapi\.full\.json cannot be read.*npm run openapi/,
    );
  });

  it("have different entity tags", async () => {
    await writeFile(join(folder, "openapi.full.json"), '{"full":1}');
    const { openapi, full } = await readServedApiDocuments({}, folder);
    expect([String(openapi.body), String(full.body)]).toEqual(["{}", '{"full":1}']);
    expect(openapi.etag).not.toBe(full.etag);
  });

  it("contain the URLs of the installation", async () => {
    const urls = { publicUrl: "https://pos.bistro.example/", docsUrl: "https://docs.bistro.example/docs" };
    const { openapi, full } = await readServedApiDocuments(urls);
    for (const { body } of [openapi, full]) {
      const { servers, components } = JSON.parse(String(body));
      expect(servers).toMatchObject([{ url: "https://pos.bistro.example" }]);
      expect(components.schemas.Problem.example.type).toMatch(
        /^https:\/\/docs\.bistro\.example\/docs\/\w+#invalid_request$/,
      );
    }
  });
});
