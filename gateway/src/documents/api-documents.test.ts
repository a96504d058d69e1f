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

describe("the API documents", () => {
  it("are named in the error when they are missing", async () => {
    await writeFile(join(folder, "openapi.json"), "{}");
    await expect(readServedApiDocuments({}, folder)).rejects.toThrow(
      /openapi\.full\.json cannot be read.*npm run openapi/,
    );
  });

  it("have different entity tags", async () => {
    await writeFile(join(folder, "openapi.full.json"), '{"full":1}');
    await writeFile(join(folder, "asyncapi.json"), '{"asyncapi":1}');
    const { openapi, full, asyncapi } = await readServedApiDocuments({}, folder);
    expect([openapi, full, asyncapi].map(({ body }) => String(body))).toEqual(["{}", '{"full":1}', '{"asyncapi":1}']);
    expect(new Set([openapi.etag, full.etag, asyncapi.etag]).size).toBe(3);
  });

  it("contain the URLs of the installation", async () => {
    const urls = { publicUrl: "https://pos.bistro.example", docsUrl: "https://docs.bistro.example/docs" };
    const { openapi, full, asyncapi } = await readServedApiDocuments(urls);
    for (const { body } of [openapi, full]) {
      const { servers, components } = JSON.parse(String(body));
      expect(servers).toMatchObject([{ url: "https://pos.bistro.example" }]);
      expect(components.schemas.Problem.example.type).toMatch(
        /^https:\/\/docs\.bistro\.example\/docs\/\w+#invalid_request$/,
      );
    }
    const { info, components } = JSON.parse(String(asyncapi.body));
    expect(info.externalDocs.url).toBe("https://docs.bistro.example/docs/webhooks");
    expect(components.messages["order.paid"].externalDocs.url).toBe(
      "https://docs.bistro.example/docs/webhook-events#order-paid",
    );
    expect(String(asyncapi.body)).not.toMatch(/pragma\.example\/docs|127\.0\.0\.1/);
  });
});
