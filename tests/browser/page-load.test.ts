import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocumentationSiteUnderTest, startSiteInBrowser } from "./documentation-site.ts";
import { measurePageLoad, type PageLoad } from "./measure-page-load.ts";

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

const pages = [
  "/",
  "/docs/getting-started",
  "/docs/push-a-till",
  "/docs/requests",
  "/docs/webhooks",
  "/docs/errors",
  "/api/",
  "/api/get-report",
  "/api/push-till-v-2",
  "/operators/",
];

// Only the soak measures pages, because this takes a minute and depends on how busy the machine is.
describe.runIf(process.env.CHECK_ALL_PAGES === "true")("a page", () => {
  it.each(pages)("at %s transfers at most 400 KB, and 500 KB with prefetched files", async (path) => {
    const { ownBytes, totalBytes } = await measure(path, { isSlowPhone: false });
    expect(ownBytes).toBeLessThanOrEqual(400_000);
    expect(totalBytes).toBeLessThanOrEqual(500_000);
  });

  it.each(pages)(
    "at %s shows its content within 1.5 seconds on a slow phone",
    async (path) => {
      // The fastest of three attempts counts, because other processes on the machine can only make the page slower.
      const times: number[] = [];
      for (let attempt = 0; attempt < 3 && !times.some((time) => time <= 1500); attempt++)
        times.push((await measure(path, { isSlowPhone: true })).largestContentMs);
      expect(Math.min(...times)).toBeLessThanOrEqual(1500);
    },
    60_000,
  );
});

async function measure(path: string, options: { isSlowPhone: boolean }): Promise<PageLoad> {
  const context = await documentationSite.createContext();
  try {
    return await measurePageLoad(context, `${documentationSite.url}${path}`, options);
  } finally {
    await context.close();
  }
}
