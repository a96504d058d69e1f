import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type DocumentationSiteUnderTest, startSiteInBrowser } from "./documentation-site.ts";

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

it("the webhook test vector is valid as the page prints it", async () => {
  const { page, close } = await documentationSite.openTab("/docs/webhook-receivers");
  const blocks: string[] = await page.evaluate(
    "[...document.querySelectorAll('#test-vector ~ * pre, #test-vector ~ pre')].map((block) => block.innerText)",
  );
  await close();
  const [headerLines = "", body = "", hmacSecret = "", signingSecret = ""] = blocks.map((text) =>
    text.replace(/\n$/, ""),
  );
  const headers = Object.fromEntries(headerLines.split("\n").map((line) => line.split(": ") as [string, string]));
  const toSigningSecret = (secret: string) => `whsec_${Buffer.from(secret).toString("base64")}`;
  expect(signingSecret).toBe(toSigningSecret(hmacSecret));
  vi.useFakeTimers({ now: Number(headers["webhook-timestamp"]) * 1_000, toFake: ["Date"] });
  try {
    expect(new StandardWebhook(signingSecret).verify(body, headers)).toMatchObject({ meta: { event: "test" } });
  } finally {
    vi.useRealTimers();
  }
});
