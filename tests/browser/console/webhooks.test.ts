import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
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
  testLocation = await createTestLocation(product, { scopes: ["webhooks:write"] });
  receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(endpointStatus).end("the kitchen is closed"));
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  endpointUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/pragma`;
  site = await startConsoleInBrowser(product.url);
}, 120_000);
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
  await page.getByRole("listitem").filter({ hasText: "Attempt 1" }).getByText("500").waitFor();
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
  await attempt.getByText("200").waitFor({ timeout: 20_000 });
  await page.getByText("Succeeded").waitFor();
  expect(page.url()).toContain(deliveries[0]?.id);
  expect(errors).toEqual([]);
  await close();
});

it("replays the deliveries that match a filter, and states their number", async () => {
  const { page, close } = await site.openView("/webhooks/deliveries?state=succeeded&event=test", {
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
  await page.getByRole("button", { name: /^Rotate the secret of/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Rotate secret" }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  await dialog.getByText(/stops signing/).waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("has no violations", async () => {
  const { data: deliveries } = await eventually("a delivery", async () => {
    const page = await testLocation.getJson<{ data: { id: string; webhookId: string }[] }>("/v1/webhooks/deliveries");
    return page.data.length > 0 && page;
  });
  const [delivery] = deliveries;
  await checkView(site, "/webhooks", testLocation.key, (page) => page.getByText(endpointUrl).waitFor());
  await checkView(site, `/webhooks/${delivery?.webhookId}`, testLocation.key, (page) =>
    page.getByText("Webhook ID").waitFor(),
  );
  await checkView(site, "/webhooks/deliveries", testLocation.key, (page) => page.getByRole("table").waitFor());
  await checkView(site, `/webhooks/deliveries/${delivery?.id}`, testLocation.key, (page) =>
    page.getByRole("heading", { name: "Message" }).waitFor(),
  );
});
