import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestLiveOrderInput } from "@pragma/order-live/testing/order-fixtures";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

let testLocation: TestLocation;
let site: ConsoleUnderTest;
let receiver: Server;
let signingSecret: string;
/** The bodies that the endpoint received, as text. */
const receivedBodies: string[] = [];
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: ["webhooks:write", "orders:write"] });
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      receivedBodies.push(Buffer.concat(chunks).toString());
      response.writeHead(204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const recipient = await testLocation.create<{ id: string; signingSecret: string }>("/v1/recipients", {
    name: "Stock",
  });
  signingSecret = recipient.signingSecret;
  const endpointUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/pragma`;
  await testLocation.create("/v1/webhooks", { recipientId: recipient.id, endpointUrl, events: ["order.paid"] });
  await sendPaidOrder();
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(async () => {
  await site?.close();
  receiver?.close();
});

const countDeliveries = async () => {
  const { meta } = await testLocation.getJson<{ meta: { totalCount: number } }>(
    "/v1/webhooks/deliveries?state=succeeded",
  );
  return meta.totalCount;
};

/** Sends a paid order, and waits until the message about it is delivered. */
async function sendPaidOrder(): Promise<void> {
  const before = await countDeliveries();
  await testLocation.create("/v1/orders-live/", [createTestLiveOrderInput({ isPaid: true })]);
  await eventually("the message to be delivered", async () => (await countDeliveries()) > before);
}

async function openFirstDelivery(): Promise<{ page: Page; errors: string[]; close(): Promise<void> }> {
  const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/webhooks/deliveries");
  return site.openView(`/webhooks/deliveries/${data.at(-1)?.id}`, { apiKey: testLocation.key });
}

describe("the signature of a delivery", () => {
  const check = async (page: Page, { secret, body = "" }: { secret: string; body?: string }) => {
    const form = page.getByRole("region", { name: "Check the signature" });
    await form.getByLabel("Secret of the recipient").fill(secret);
    await form.getByLabel("Body that your endpoint received").fill(body);
    await form.getByRole("button", { name: "Check" }).click();
    return form.getByRole("status");
  };

  it("is checked in the browser with the secret, which is neither sent nor stored", async () => {
    const { page, errors, close } = await openFirstDelivery();
    await page.getByText("Signed headers").waitFor();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(`${request.url()} ${request.postData() ?? ""}`));
    const status = await check(page, { secret: signingSecret });
    await status.getByText("Valid: this secret signed the message.").waitFor();
    await (await check(page, { secret: signingSecret, body: receivedBodies[0] ?? "" })).getByText("Valid").waitFor();
    expect(requests.join("\n")).not.toContain(signingSecret);
    const stored = await page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])");
    expect(stored).not.toContain(signingSecret.slice(6));
    expect(errors).toEqual([]);
    await close();
  });

  it("states which part is wrong: the secret, its beginning, its end, or the body", async () => {
    const { page, close } = await openFirstDelivery();
    await page.getByText("Signed headers").waitFor();
    const expectResult = async (input: { secret: string; body?: string }, message: RegExp) =>
      (await check(page, input)).getByText(message).waitFor();
    await expectResult({ secret: `whsec_${btoa("another secret")}` }, /^Wrong secret/);
    await expectResult({ secret: signingSecret.slice(6) }, /its beginning whsec_ is missing/);
    await expectResult({ secret: `${signingSecret.slice(0, -2)}!` }, /^The secret is incomplete/);
    const parsedBody = JSON.stringify(JSON.parse(receivedBodies[0] ?? ""), null, 1);
    await expectResult({ secret: signingSecret, body: parsedBody }, /^Wrong body: .* at character 2:/);
    await close();
  });

  it("has no violations", async () => {
    const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/webhooks/deliveries");
    await checkView(site, `/webhooks/deliveries/${data.at(-1)?.id}`, testLocation.key, async (page) => {
      await page.getByText("Signed headers").click();
      const status = await check(page, { secret: signingSecret });
      await status.getByText("Valid").waitFor();
    });
  });
});

describe("the deliveries", () => {
  it("appear as they are sent, newest first, and are announced together", async () => {
    const { page, errors, close } = await site.openView("/webhooks/deliveries", { apiKey: testLocation.key });
    await page.getByText("Live", { exact: true }).waitFor();
    const rows = page.getByRole("rowheader");
    await rows.first().waitFor();
    const before = await rows.count();
    const newestBefore = await rows.first().getByRole("link").getAttribute("href");
    await sendPaidOrder();
    await sendPaidOrder();
    await expect.poll(() => rows.count(), { timeout: 5_000 }).toBe(before + 2);
    expect(await rows.nth(2).getByRole("link").getAttribute("href")).toBe(newestBefore);
    await page
      .getByRole("status")
      .filter({ hasText: "2 new deliveries" })
      .waitFor({ state: "attached", timeout: 15_000 });
    expect(errors).toEqual([]);
    await close();
  });

  it("have their filters in one line, and the URL of their endpoint in one", async () => {
    const { page, close } = await site.openView("/webhooks/deliveries", { apiKey: testLocation.key });
    await page.getByRole("rowheader").first().waitFor();
    const from = await page.getByLabel("From", { exact: true }).boundingBox();
    const state = await page.getByLabel("State").boundingBox();
    expect(from?.y).toBeCloseTo(state?.y ?? 0, 0);
    expect(from?.height).toBeCloseTo(state?.height ?? 0, 0);
    const endpoint = page.getByRole("row").nth(1).getByTitle(/^http/);
    expect((await endpoint.boundingBox())?.width).toBeLessThanOrEqual(256);
    await close();
  });

  it("show on a phone the columns that it lacks, on request", async () => {
    const { page, close } = await site.openView("/webhooks/deliveries", { apiKey: testLocation.key, width: 390 });
    const shown = page.locator("thead th").filter({ visible: true });
    await shown.first().waitFor();
    expect(await shown.allTextContents()).toEqual(["Event", "State", "Created"]);
    await page.getByRole("button", { name: "More columns: Next attempt, Endpoint" }).click();
    expect(await shown.allTextContents()).toEqual(["Event", "State", "Created", "Next attempt", "Endpoint"]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.getByRole("button", { name: "Fewer columns" }).click();
    expect(await shown.allTextContents()).toEqual(["Event", "State", "Created"]);
    await page.setViewportSize({ width: 1_280, height: 900 });
    await expect.poll(() => page.getByText("More columns").isVisible()).toBe(false);
    await close();
  });

  it("stay as they are while updates are paused", async () => {
    const { page, close } = await site.openView("/webhooks/deliveries", { apiKey: testLocation.key });
    const rows = page.getByRole("rowheader");
    await rows.first().waitFor();
    await page.getByRole("button", { name: "Pause updates" }).click();
    await page.getByText("Paused", { exact: true }).waitFor();
    const before = await rows.count();
    await sendPaidOrder();
    await page.waitForTimeout(3_000);
    expect(await rows.count()).toBe(before);
    await page.getByRole("button", { name: "Resume updates" }).click();
    await expect.poll(() => rows.count(), { timeout: 5_000 }).toBe(before + 1);
    await close();
  });

  it("have no violations", async () => {
    await checkView(site, "/webhooks/deliveries", testLocation.key, (page) => page.getByRole("table").waitFor());
  });
});
