import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const siteApp = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
  "site-app.mjs",
);

type CreateSiteApp = (options: { folder: string; environment: Record<string, string> }) => {
  request(path: string, init?: RequestInit): Promise<Response>;
};

const builtText = "https://docs.pragma.example/docs/webhooks http://127.0.0.1:4000/v2 https://api.pragma.example/v1";
const files = [
  "index.html",
  "404.html",
  "llms.txt",
  "docs/webhooks.md",
  "openapi.json",
  "sitemap.xml",
  "assets/main.js",
];

let folder: string;
let createSiteApp: CreateSiteApp;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pragma-site-"));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), builtText);
  }
  createSiteApp = ((await import(pathToFileURL(siteApp).href)) as { createDocumentationSiteApp: CreateSiteApp })
    .createDocumentationSiteApp;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function fetchText(
  path: string,
  { environment = {}, headers = {} }: { environment?: Record<string, string>; headers?: Record<string, string> },
): Promise<string> {
  return (await createSiteApp({ folder, environment }).request(path, { headers })).text();
}

describe("the documentation site", () => {
  it.each(files)("shows the configured URLs in %s", async (file) => {
    const environment = { DOCS_URL: "https://docs.bistro.example/docs", PUBLIC_URL: "https://pos.bistro.example/" };
    expect(await fetchText(`/${file}`, { environment })).toBe(
      "https://docs.bistro.example/docs/webhooks https://pos.bistro.example/v2 https://pos.bistro.example/v1",
    );
  });

  it("shows the host of the request if no URL is configured", async () => {
    const shownSite = async (headers: Record<string, string>) =>
      (await fetchText("/llms.txt", { headers })).split("/docs/")[0];
    expect(await shownSite({ host: "localhost:3001" })).toBe("http://localhost:3001");
    expect(await shownSite({ host: "docs.example", "x-forwarded-proto": "https" })).toBe("https://docs.example");
    expect(await shownSite({ host: "<script>" })).toBe("https://docs.pragma.example");
    expect(await fetchText("/llms.txt", { headers: { host: "localhost:3001" } })).toContain("http://127.0.0.1:4000/v2");
  });

  it("serves Markdown as text, with an ETag of the text that it sends", async () => {
    const app = createSiteApp({ folder, environment: {} });
    const responses = await Promise.all(
      ["one.example", "other.example"].map((host) => app.request("/docs/webhooks.md", { headers: { host } })),
    );
    const [one, other] = responses.map((response) => response.headers.get("etag"));
    expect(one).not.toBe(other);
    for (const response of responses) {
      expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
      expect(response.headers.has("content-length")).toBe(false);
    }
    const unchanged = await app.request("/docs/webhooks.md", {
      headers: { host: "one.example", "if-none-match": one ?? "" },
    });
    expect(unchanged.status).toBe(304);
  });
});
