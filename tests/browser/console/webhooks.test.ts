import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestLiveOrderInput } from "@pragma/order-live/testing/order-fixtures";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

let testLocation: TestLocation;
let site: ConsoleUnderTest;
let receiver: Server;
/** The status with which the endpoint responds. */
let endpointStatus = 500;
let endpointUrl: string;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: ["webhooks:write", "orders:write"] });
  receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(endpointStatus).end("the kitchen is closed"));
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  endpointUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/pragma`;
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(async () => {
  await site?.close();
  receiver?.close();
});

it("creates an endpoint with a secret that is shown once, and sends it a test", async () => {
  const { page, errors, close } = await site.openView("/webhooks", { apiKey: testLocation.key });
  await page.getByText("There is no endpoint yet.").waitFor();
  await page.getByRole("button", { name: "Create endpoint" }).click();
  const dialog = page.getByRole("dialog", { name: "Create endpoint" });
  await dialog.getByLabel("URL").fill(endpointUrl);
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  await dialog.getByRole("button", { name: "Open endpoint" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("link", { name: "Open its delivery" }).click();
  await page.getByRole("listitem").filter({ hasText: "Attempt 1" }).getByText("500", { exact: true }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("replays a delivery, and shows the new attempt on the time line", async () => {
  const { data: deliveries } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/webhooks/deliveries");
  const { page, errors, close } = await site.openView("/webhooks/deliveries", { apiKey: testLocation.key });
  await page.getByRole("link", { name: "test" }).first().click();
  await page.getByText("the kitchen is closed").first().waitFor({ state: "attached" });
  endpointStatus = 200;
  await page.getByRole("button", { name: "Replay" }).click();
  const attempt = page.getByRole("listitem").filter({ hasText: "Replay 1, attempt 1" });
  await attempt.getByText("200", { exact: true }).waitFor({ timeout: 20_000 });
  await page.getByText("Succeeded", { exact: true }).waitFor();
  expect(page.url()).toContain(deliveries[0]?.id);
  expect(errors).toEqual([]);
  await close();
});

it("replays the deliveries that match a filter, and states their number", async () => {
  await testLocation.create("/v1/orders-live/", [createTestLiveOrderInput({ isPaid: true })]);
  await eventually("the message about the paid order to be delivered", async () => {
    const path = "/v1/webhooks/deliveries?state=succeeded&event=order.paid";
    return (await testLocation.getJson<{ data: unknown[] }>(path)).data.length === 1;
  });
  const { page, close } = await site.openView("/webhooks/deliveries?state=succeeded&event=order.paid", {
    apiKey: testLocation.key,
  });
  await page.getByRole("button", { name: "Replay all that match" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("1 delivery is sent again.").waitFor();
  await close();
});

it("pauses and resumes an endpoint, and rotates its secret with the time when the previous one ends", async () => {
  const { page, errors, close } = await site.openView("/webhooks", { apiKey: testLocation.key });
  await page.getByRole("link", { name: endpointUrl }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Active", { exact: true }).waitFor();
  await page.getByRole("link", { name: "All endpoints" }).click();
  await page.getByRole("button", { name: /^Rotate secret of/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Rotate secret" }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  await dialog.getByText(/stops signing/).waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("preselects a new recipient, and states which secret signs if an existing one is chosen", async () => {
  const { page, errors, close } = await site.openView("/webhooks", { apiKey: testLocation.key });
  await page.getByRole("button", { name: "Create endpoint" }).click();
  const dialog = page.getByRole("dialog", { name: "Create endpoint" });
  const recipient = dialog.getByLabel("Recipient");
  await recipient.waitFor();
  expect(await recipient.locator("option:checked").textContent()).toContain("New recipient");
  await recipient.selectOption({ index: 1 });
  await dialog.getByLabel("URL").fill(`${endpointUrl}/second`);
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await dialog.getByText("The existing secret of the recipient signs the messages.").waitFor();
  await dialog.getByRole("button", { name: "Open endpoint" }).click();
  await page.getByText("Webhook ID").waitFor();
  const webhookId = new URL(page.url()).pathname.split("/").at(-1);
  expect((await testLocation.request("DELETE", `/v1/webhooks/${webhookId}`)).status).toBe(204);
  expect(errors).toEqual([]);
  await close();
});

describe("without violations", () => {
  const findDelivery = async () => {
    const { data } = await testLocation.getJson<{ data: { id: string; webhookId: string }[] }>(
      "/v1/webhooks/deliveries",
    );
    return data[0] ?? { id: "", webhookId: "" };
  };

  it("lists endpoints and recipients", async () => {
    await checkView(site, "/webhooks", testLocation.key, (page) => page.getByText(endpointUrl).waitFor());
  });

  it("shows an endpoint", async () => {
    const { webhookId } = await findDelivery();
    await checkView(site, `/webhooks/${webhookId}`, testLocation.key, (page) => page.getByText("Webhook ID").waitFor());
  });

  it("lists deliveries", async () => {
    await checkView(site, "/webhooks/deliveries", testLocation.key, (page) => page.getByRole("table").waitFor());
  });

  it("shows a delivery", async () => {
    const { id } = await findDelivery();
    const path = `/webhooks/deliveries/${id}`;
    await checkView(site, path, testLocation.key, (page) => page.getByRole("heading", { name: "Message" }).waitFor());
  });
});
